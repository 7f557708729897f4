import type { TriedRule } from '../../../core/routing/guard-judgement.ts';
import type { ROUTE_OUTCOMES, ROUTE_VIAS } from '../../../core/routing/route.ts';
import { invalid } from '../../../operations/context.ts';
import { EXPLAIN_ANSWER_MS, explainRoute, type RouteExplanation } from '../../../operations/routing/explain-route.ts';
import { guardAction, guardMatch, guardRuleType } from '../../../operations/routing/guard-capability.ts';
import { loadEmailRoutes, type RoutePlace, type RouteStep } from '../../../operations/routing/routes.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DeliveryNode, DomainNode, EmailAddressNode, EmailNode, EndpointInterface, GuardRuleNode } from '../nodes.ts';

const RouteOutcome = builder.enumType('RouteOutcome', {
  description: 'What happened or would happen to a received email. Every email is stored, whatever the outcome.',
  values: enumValues<(typeof ROUTE_OUTCOMES)[number]>({
    endpoint: 'Delivered to the endpoint.',
    inactive: 'Not delivered: the endpoint is inactive.',
    stored: 'Stored only: there is no route.',
    blocked: 'Held by a guard rule.',
    review: 'Held for review because a guard rule could not decide.',
    asking: 'Waiting for the language model of a guard rule.',
  }),
});

const RouteViaEnum = builder.enumType('RouteVia', {
  description: 'What determines the endpoint of an email.',
  values: enumValues<(typeof ROUTE_VIAS)[number]>({
    address: 'The endpoint of the address.',
    webhook: 'The legacy webhook of the address.',
    'catch-all': 'The catch-all of the domain.',
    'guard-rule': 'A guard rule.',
  }),
});

const RouteStepKind = builder.enumType('RouteStepKind', {
  description: 'A step in routing an email.',
  values: enumValues<RouteStep['step']>({
    received: 'The email was accepted.',
    parsed: 'The email was parsed.',
    threaded: 'The email was added to its thread.',
    asked: 'A language model was asked.',
    routed: 'The email was routed.',
    released: 'A user released the email.',
    delivered: 'The email was delivered or is being delivered.',
  }),
});

const EvaluatedRuleOutcome = builder.enumType('EvaluatedRuleOutcome', {
  description: 'Result of one guard rule.',
  values: enumValues<TriedRule['outcome']>({
    matched: 'The rule decided.',
    'not-matched': 'The rule does not match.',
    asking: 'The rule’s language model is needed to decide.',
    failed: 'The rule’s language model did not respond.',
    'not-reached': 'An earlier rule decided.',
  }),
});

const RouteStepRef = builder.objectRef<RouteStep>('RouteStep').implement({
  description: 'A step that an email went through or would go through.',
  fields: (t) => ({
    step: t.expose('step', { type: RouteStepKind, description: 'Kind of step.' }),
    at: t.expose('at', {
      type: 'DateTime',
      nullable: true,
      description: 'When the step happened. Null if it has not happened yet.',
    }),
    durationMs: t.exposeInt('durationMs', {
      nullable: true,
      description:
        'Time since the previous step, or duration of the question or delivery, in milliseconds. Null if unknown.',
    }),
    detail: t.exposeString('detail', { description: 'What happened, in full sentences.' }),
    delivery: t.field({
      type: DeliveryNode,
      nullable: true,
      description: 'For DELIVERED, the delivery. Null for other steps.',
      resolve: ({ deliveryId }) => deliveryId,
    }),
  }),
});

const EvaluatedRule = builder.objectRef<TriedRule>('EvaluatedRule').implement({
  description: 'A guard rule and its result.',
  fields: (t) => ({
    rule: t.field({
      type: GuardRuleNode,
      nullable: true,
      description: 'The rule. Null if it was deleted in the meantime.',
      resolve: ({ id }) => id,
    }),
    name: t.exposeString('name', { description: 'Name of the rule.' }),
    type: t.field({ type: typeFor(guardRuleType), description: 'How the rule decides.', resolve: ({ type }) => type }),
    action: t.field({
      type: typeFor(guardAction),
      description: 'What the rule does with matching mail.',
      resolve: ({ action }) => action,
    }),
    priority: t.exposeInt('priority', { description: 'Rules with a higher priority run first.' }),
    outcome: t.expose('outcome', { type: EvaluatedRuleOutcome, description: 'Result of the rule.' }),
    matches: t.field({
      type: [typeFor(guardMatch)],
      description: 'What matched.',
      resolve: ({ matches }) => matches,
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Response of the language model. Null if the rule has none or it was not asked.',
    }),
  }),
});

const RouteDecision = builder.interfaceRef<RoutePlace>('RouteDecision').implement({
  description: 'Where an email goes, and why.',
  fields: (t) => ({
    outcome: t.expose('outcome', {
      type: RouteOutcome,
      nullable: true,
      description: 'The outcome. Null if not decided yet.',
    }),
    via: t.expose('via', {
      type: RouteViaEnum,
      nullable: true,
      description: 'What determines the endpoint. Null if nothing does.',
    }),
    rule: t.field({
      type: GuardRuleNode,
      nullable: true,
      description: 'The guard rule that matched or could not decide. Null if there is none or it was deleted.',
      resolve: ({ rule }) => rule?.id ?? null,
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'The endpoint in its current state. Null if there is none or it was deleted.',
      resolve: ({ endpoint }) => endpoint?.id ?? null,
    }),
    reason: t.exposeString('reason', { description: 'The reason, in full sentences.' }),
    matches: t.field({
      type: [typeFor(guardMatch)],
      description: 'What matched the rule.',
      resolve: ({ matches }) => matches,
    }),
  }),
});

const CurrentRoute = builder.objectRef<RoutePlace>('CurrentRoute').implement({
  description: 'Where an email would go by the current guard rules and routes.',
  interfaces: [RouteDecision],
});

const RouteRef = builder.objectRef<RouteExplanation>('Route').implement({
  description: 'The steps of a received email, or of one that has not been received.',
  interfaces: [RouteDecision],
  fields: (t) => ({
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email. Null if it has not been received.',
      resolve: ({ emailId }) => emailId,
    }),
    recipient: t.exposeString('recipient', { description: 'Envelope recipient, including the plus tag.' }),
    address: t.field({
      type: EmailAddressNode,
      nullable: true,
      description: 'Your address that receives the email. Null if the catch-all does or the address was deleted.',
      resolve: ({ address }) => address?.id ?? null,
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Your domain that receives the email. Null if it was deleted.',
      resolve: ({ domain }) => domain?.id ?? null,
    }),
    releasedAt: t.expose('releasedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a user released the email. Null if it was not released.',
    }),
    steps: t.field({
      type: [RouteStepRef],
      description: 'Steps in order. The last deliveries may not have happened yet.',
      resolve: ({ steps }) => steps,
    }),
    now: t.field({
      type: CurrentRoute,
      nullable: true,
      description: 'What would happen to the email now. Returned by Query.explainRoute only, otherwise null.',
      resolve: ({ would }) => would,
    }),
    tried: t.field({
      type: [EvaluatedRule],
      description: 'Every active guard rule and its result. Returned together with `now`.',
      resolve: ({ tried }) => tried,
    }),
  }),
});

const ExplainedHeaderInput = builder.inputType('ExplainedHeaderInput', {
  description: 'A header of an email to explain.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'Name of the header. Headers that other fields set are not allowed.',
    }),
    value: t.string({ required: true, description: 'One line of up to 998 characters.' }),
  }),
});

const ExplainedEmailInput = builder.inputType('ExplainedEmailInput', {
  description: 'An email to explain the route of.',
  fields: (t) => ({
    to: t.string({ required: true, description: 'One of your addresses.' }),
    from: t.string({
      description: '`address` or `Name <address>`. The default is the From header of raw, or a sample address.',
    }),
    raw: t.string({ description: 'A whole message (RFC 5322) that replaces the fields below.' }),
    subject: t.string({ description: 'Subject. The default is none.' }),
    text: t.string({ description: 'The plain-text body.' }),
    html: t.string({ description: 'The HTML body.' }),
    headers: t.field({ type: [ExplainedHeaderInput], description: 'More headers, up to 50.' }),
  }),
});

/** Each explanation takes several SQL statements. */
const ROUTE_COST = 100;

builder.queryField('explainRoute', (t) =>
  t.field({
    type: RouteRef,
    access: access.read,
    description:
      'Explains where an email goes and why, for a received email or one you describe. Stores nothing and asks no language model.',
    complexity: ROUTE_COST,
    args: {
      emailId: t.arg.id({ description: 'ID of a received email. Pass either this or mail.' }),
      mail: t.arg({
        type: ExplainedEmailInput,
        description: 'An email that has not been received. Pass either this or emailId.',
      }),
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

const routeOf = loadByOwner(({ reads }, emailIds) => loadEmailRoutes(reads, emailIds));

builder.objectField(EmailNode, 'route', (t) =>
  t.field({
    type: RouteRef,
    nullable: true,
    description:
      'Where the email went and why. Null for mail that was not received. Expensive: request it for single emails.',
    complexity: ROUTE_COST,
    resolve: ({ id, type }, _args, context) => (type === 'received' ? routeOf(context, id, null) : null),
  }),
);
