import type { TriedRule } from '../../../core/routing/guard-judgement.ts';
import { invalid } from '../../../operations/context.ts';
import { EXPLAIN_ANSWER_MS, explainRoute, type RouteExplanation } from '../../../operations/routing/explain-route.ts';
import { explainEmailRoute, type RoutePlace, type RouteStep } from '../../../operations/routing/routes.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { DeliveryNode, DomainNode, EmailAddressNode, EmailNode, EndpointInterface, GuardRuleNode } from '../nodes.ts';
import { GuardAction, GuardRuleType } from './guard-rule.ts';
import { GuardMatchRef } from './guard-trials.ts';

const RouteOutcome = builder.enumType('RouteOutcome', {
  description: 'What became of a received mail, or would. Mail is stored whatever becomes of it.',
  values: {
    ENDPOINT: { value: 'endpoint', description: 'It goes to the endpoint.' },
    INACTIVE: { value: 'inactive', description: 'The endpoint that it was meant for is switched off.' },
    STORED: { value: 'stored', description: 'Nothing leads anywhere.' },
    BLOCKED: { value: 'blocked', description: 'A guard rule holds it back.' },
    REVIEW: { value: 'review', description: 'It could not be judged, so that a human has to.' },
    ASKING: { value: 'asking', description: 'The model of a guard rule has to say first.' },
  } as const,
});

const RouteViaEnum = builder.enumType('RouteVia', {
  description: 'What leads a mail to its endpoint.',
  values: {
    ADDRESS: { value: 'address', description: 'The endpoint of its address.' },
    WEBHOOK: { value: 'webhook', description: 'The legacy webhook of its address.' },
    CATCH_ALL: { value: 'catch-all', description: 'The catch-all of its domain.' },
    GUARD_RULE: { value: 'guard-rule', description: 'A guard rule.' },
  } as const,
});

const RouteStepKind = builder.enumType('RouteStepKind', {
  description: 'A stage of a mail’s way.',
  values: {
    RECEIVED: { value: 'received', description: 'It was accepted.' },
    PARSED: { value: 'parsed', description: 'It was read.' },
    THREADED: { value: 'threaded', description: 'It got its thread.' },
    ASKED: { value: 'asked', description: 'A model was asked about it.' },
    ROUTED: { value: 'routed', description: 'It was decided where it goes.' },
    RELEASED: { value: 'released', description: 'Somebody let it through.' },
    DELIVERED: { value: 'delivered', description: 'It was delivered, or is being.' },
  } as const,
});

const EvaluatedRuleOutcome = builder.enumType('EvaluatedRuleOutcome', {
  description: 'What came of one guard rule.',
  values: {
    MATCHED: { value: 'matched', description: 'It decided.' },
    NOT_MATCHED: { value: 'not-matched', description: 'The mail does not fit it.' },
    ASKING: { value: 'asking', description: 'Its model has to say first.' },
    FAILED: { value: 'failed', description: 'Its model did not answer.' },
    NOT_REACHED: { value: 'not-reached', description: 'Another rule decided before it was asked.' },
  } as const,
});

const RouteStepRef = builder.objectRef<RouteStep>('RouteStep').implement({
  description: 'A stage that a mail has passed, or would.',
  fields: (t) => ({
    step: t.expose('step', { type: RouteStepKind, description: 'Which stage.' }),
    at: t.expose('at', { type: 'DateTime', nullable: true, description: 'When; null: it is yet to come.' }),
    durationMs: t.exposeInt('durationMs', {
      nullable: true,
      description:
        'Milliseconds since the step before, of a question or a delivery since its beginning; null: unknown.',
    }),
    detail: t.exposeString('detail', { description: 'What happened, in whole sentences.' }),
    delivery: t.field({
      type: DeliveryNode,
      nullable: true,
      description: 'Of step DELIVERED: the delivery; null of all others.',
      resolve: ({ deliveryId }) => deliveryId,
    }),
  }),
});

const EvaluatedRule = builder.objectRef<TriedRule>('EvaluatedRule').implement({
  description: 'A guard rule, in the order in which they are asked, and what came of it.',
  fields: (t) => ({
    rule: t.field({
      type: GuardRuleNode,
      nullable: true,
      description: 'The rule; null: it is gone meanwhile.',
      resolve: ({ id }) => id,
    }),
    name: t.exposeString('name', { description: 'What you call it.' }),
    type: t.field({ type: GuardRuleType, description: 'How it decides.', resolve: ({ type }) => type }),
    action: t.field({
      type: GuardAction,
      description: 'What it does with what fits.',
      resolve: ({ action }) => action,
    }),
    priority: t.exposeInt('priority', { description: 'The highest is asked first.' }),
    outcome: t.expose('outcome', { type: EvaluatedRuleOutcome, description: 'What came of it.' }),
    matches: t.field({
      type: [GuardMatchRef],
      description: 'What of the mail fitted it.',
      resolve: ({ matches }) => matches,
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'What its model said; null: it has none, or it was not asked.',
    }),
  }),
});

const RouteDecision = builder.interfaceRef<RoutePlace>('RouteDecision').implement({
  description: 'Where a mail goes, and why.',
  fields: (t) => ({
    outcome: t.expose('outcome', {
      type: RouteOutcome,
      nullable: true,
      description: 'What becomes of it; null: it is not decided yet.',
    }),
    via: t.expose('via', {
      type: RouteViaEnum,
      nullable: true,
      description: 'What leads to the endpoint; null: nothing.',
    }),
    rule: t.field({
      type: GuardRuleNode,
      nullable: true,
      description: 'The guard rule that it fitted, or that could not decide; null: none, or it is gone.',
      resolve: ({ rule }) => rule?.id ?? null,
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'As it is now; null: none, or it is gone.',
      resolve: ({ endpoint }) => endpoint?.id ?? null,
    }),
    reason: t.exposeString('reason', { description: 'Why, in whole sentences.' }),
    matches: t.field({
      type: [GuardMatchRef],
      description: 'What of the mail fitted the rule.',
      resolve: ({ matches }) => matches,
    }),
  }),
});

const CurrentRoute = builder.objectRef<RoutePlace>('CurrentRoute').implement({
  description: 'Where a mail would go by guard rules and routes as they stand.',
  interfaces: [RouteDecision],
});

const RouteRef = builder.objectRef<RouteExplanation>('Route').implement({
  description: 'Where a received mail went, step by step, or where one would go that has not come.',
  interfaces: [RouteDecision],
  fields: (t) => ({
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email; null: it has not come.',
      resolve: ({ emailId }) => emailId,
    }),
    recipient: t.exposeString('recipient', { description: 'As in the envelope, plus-tag and all.' }),
    address: t.field({
      type: EmailAddressNode,
      nullable: true,
      description: 'Your address that takes it; null: the catch-all does, or the address is gone.',
      resolve: ({ address }) => address?.id ?? null,
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Your domain that it comes to; null: the domain is gone.',
      resolve: ({ domain }) => domain?.id ?? null,
    }),
    releasedAt: t.expose('releasedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When somebody let it through; null: nobody did.',
    }),
    steps: t.field({
      type: [RouteStepRef],
      description: 'In their order; the last deliveries may be yet to come.',
      resolve: ({ steps }) => steps,
    }),
    now: t.field({
      type: CurrentRoute,
      nullable: true,
      description: 'What would become of it now; null: that was not asked (Query.explainRoute asks).',
      resolve: ({ would }) => would,
    }),
    tried: t.field({
      type: [EvaluatedRule],
      description: 'With `now`: each active guard rule and what came of it.',
      resolve: ({ tried }) => tried,
    }),
  }),
});

const ExplainedHeaderInput = builder.inputType('ExplainedHeaderInput', {
  description: 'A header field of a mail that has not come.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Not one of those that the other fields say.' }),
    value: t.string({ required: true, description: 'One line of at most 998 characters.' }),
  }),
});

const ExplainedEmailInput = builder.inputType('ExplainedEmailInput', {
  description: 'A mail that has not come.',
  fields: (t) => ({
    to: t.string({ required: true, description: 'An address of yours.' }),
    from: t.string({ description: '`address` or `Name <address>`; absent: the From field of raw, or a sample.' }),
    raw: t.string({ description: 'A whole message (RFC 5322) instead of what follows.' }),
    subject: t.string({ description: 'Absent: none.' }),
    text: t.string({ description: 'The plain-text body.' }),
    html: t.string({ description: 'The HTML body.' }),
    headers: t.field({ type: [ExplainedHeaderInput], description: 'Further header fields, at most 50.' }),
  }),
});

/** Each is explained by itself, in several statements. */
const ROUTE_COST = 100;

builder.queryField('explainRoute', (t) =>
  t.field({
    type: RouteRef,
    access: access.readAccount,
    description:
      'Says where a mail goes and why: a stored one, or one that has not come. Nothing is stored, and models are not asked.',
    complexity: ROUTE_COST,
    args: {
      emailId: t.arg.id({ description: 'A received email of yours; either this or mail.' }),
      mail: t.arg({ type: ExplainedEmailInput, description: 'A mail that has not come; either this or emailId.' }),
    },
    resolve: (_root, { emailId, mail }, context) => {
      context.answerWithin(EXPLAIN_ANSWER_MS);
      if ((emailId == null) === (mail == null)) throw invalid('Give either emailId or mail', 'emailId');
      if (mail == null) return explainRoute(context.reads, { emailId: emailId ?? '' });
      const { to, from, raw, subject, text, html, headers } = mail;
      return explainRoute(context.reads, {
        to,
        from: from ?? null,
        raw: raw ?? null,
        subject: subject ?? null,
        text: text ?? null,
        html: html ?? null,
        headers: headers == null ? null : Object.fromEntries(headers.map(({ name, value }) => [name, value])),
      });
    },
  }),
);

builder.objectField(EmailNode, 'route', (t) =>
  t.field({
    type: RouteRef,
    nullable: true,
    description: 'Where it went and why; null for mail that was not received. Dear: ask it of single emails.',
    complexity: ROUTE_COST,
    resolve: ({ id, type }, _args, { reads }) => (type === 'received' ? explainEmailRoute(reads, id, 'stored') : null),
  }),
);
