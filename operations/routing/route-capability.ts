import { z } from 'zod';
import { ENDPOINT_TYPES } from '../../core/endpoints/endpoint-config.ts';
import { ROUTE_OUTCOMES, ROUTE_VIAS } from '../../core/routing/decide-route.ts';
import { graphqlOnly, graphqlText, inRest, linkTo, named, nameType, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, OF_EMAILS } from '../capability/capability.ts';
import { invalid } from '../context.ts';
import { EXPLAIN_RESPONSE_MS, explainRoute, type RouteExplanation } from './explain-route.ts';
import { guardAction, guardMatch, guardRuleType } from './guard-capability.ts';
import { explainEmailRoute, loadEmailRoutes, type RouteSummary } from './routes.ts';

const number = z.number().int();
const time = z.date().nullable();
const maybeId = z.string().nullable();

const decision = {
  outcome: graphqlText(
    oneOf(ROUTE_OUTCOMES, {
      name: 'RouteOutcome',
      description: 'What happened or would happen to a received email. Every email is stored, whatever the outcome.',
      values: {
        endpoint: 'Delivered to the endpoint.',
        inactive: 'Not delivered: the endpoint is inactive.',
        stored: 'Stored only: there is no route.',
        blocked: 'Held by a guard rule.',
        review: 'Held for review because a guard rule could not decide.',
        asking: 'Waiting for the language model of a guard rule.',
      },
    }).nullable(),
    'The outcome. Null if not decided yet.',
  ).meta({
    description:
      '`endpoint`: delivered to the endpoint. `inactive`: the endpoint is inactive. `stored`: there is no route. `blocked`: held by a guard rule. `review`: a rule’s language model did not respond. `asking`: waiting for a language model. Null: not decided yet.',
  }),
  via: graphqlText(
    oneOf(ROUTE_VIAS, {
      name: 'RouteVia',
      description: 'What determines the endpoint of an email.',
      values: {
        address: 'The endpoint of the address.',
        webhook: 'The legacy webhook of the address.',
        'catch-all': 'The catch-all of the domain.',
        'guard-rule': 'A guard rule.',
      },
    }).nullable(),
    'What determines the endpoint. Null if nothing does.',
  ).meta({ description: 'What determined the endpoint.' }),
  rule: restOnly(
    z.object({ id: z.string(), name: z.string().nullable(), action: guardAction.nullable() }).nullable(),
    'guard_rule',
  ).meta({
    description: 'The rule that matched or whose language model did not respond. Without a name if it was deleted.',
  }),
  ruleId: graphqlOnly(linkTo('GuardRule', maybeId)).meta({
    description: 'The guard rule that matched or could not decide. Null if there is none or it was deleted.',
  }),
  endpoint: restOnly(
    z
      .object({
        id: z.string(),
        name: z.string().nullable(),
        type: z.enum(ENDPOINT_TYPES).nullable(),
        isActive: z.boolean().nullable(),
      })
      .nullable(),
  ).meta({ description: 'The endpoint in its current state. Without a name if it was deleted.' }),
  endpointId: graphqlOnly(linkTo('Endpoint', maybeId)).meta({
    description: 'The endpoint in its current state. Null if there is none or it was deleted.',
  }),
  reason: z.string().meta({ description: 'The reason, in full sentences.' }),
  matches: inRest(
    z.array(guardMatch),
    z.array(z.object({ criteria: z.string(), value: z.string() })).meta({ description: 'What matched the rule.' }),
  ).meta({ description: 'What matched the rule.' }),
};

const routeDecision = nameType(z.object(decision), {
  type: 'RouteDecision',
  description: 'Where an email goes, and why.',
});

const step = z.object({
  step: graphqlText(
    oneOf(['received', 'parsed', 'threaded', 'asked', 'routed', 'released', 'delivered'], {
      name: 'RouteStepKind',
      description: 'A step in routing an email.',
      values: {
        received: 'The email was accepted.',
        parsed: 'The email was parsed.',
        threaded: 'The email was added to its thread.',
        asked: 'A language model was asked.',
        routed: 'The email was routed.',
        released: 'A user released the email.',
        delivered: 'The email was delivered or is being delivered.',
      },
    }),
    'Kind of step.',
  ),
  at: graphqlText(time, 'When the step happened. Null if it has not happened yet.'),
  durationMs: graphqlText(
    number.nullable(),
    'Time since the previous step, or duration of the question or delivery, in milliseconds. Null if unknown.',
  ).meta({ description: 'Time since the previous step, or duration of the question or delivery.' }),
  detail: graphqlText(z.string(), 'What happened, in full sentences.'),
  deliveryId: graphqlText(linkTo('Delivery', maybeId), 'For DELIVERED, the delivery. Null for other steps.'),
});

const evaluatedRule = nameType(
  z.object({
    id: linkTo('GuardRule', maybeId, 'rule').meta({
      description: 'The rule. Null if it was deleted in the meantime.',
    }),
    name: z.string().meta({ description: 'Name of the rule.' }),
    type: guardRuleType.meta({ description: 'How the rule decides.' }),
    action: guardAction.meta({ description: 'What the rule does with matching mail.' }),
    priority: number.meta({ description: 'Rules with a higher priority run first.' }),
    outcome: oneOf(['matched', 'not-matched', 'asking', 'failed', 'not-reached'], {
      name: 'EvaluatedRuleOutcome',
      description: 'Result of one guard rule.',
      values: {
        matched: 'The rule decided.',
        'not-matched': 'The rule does not match.',
        asking: 'The rule’s language model is needed to decide.',
        failed: 'The rule’s language model did not respond.',
        'not-reached': 'An earlier rule decided.',
      },
    }).meta({ description: 'Result of the rule.' }),
    matches: z.array(guardMatch).meta({ description: 'What matched.' }),
    reason: z.string().nullable().meta({
      description: 'Response of the language model. Null if the rule has none or it was not asked.',
    }),
  }),
  { type: 'EvaluatedRule', description: 'A guard rule and its result.' },
);

/** Where an email goes, and why. REST adds the deliveries (gateway/rest/routing/routes.ts). */
const route = nameType(
  graphqlText(
    z.object({
      emailId: graphqlText(linkTo('Email', maybeId), 'The email. Null if it has not been received.').meta({
        description: 'Null for mail that has not been received.',
      }),
      recipient: z.string().meta({ description: 'Envelope recipient, including the plus tag.' }),
      ...decision,
      address: restOnly(
        z.object({ id: z.string(), address: z.string(), isActive: z.boolean().nullable() }).nullable(),
      ).meta({ description: 'The address that received the email. Null if the catch-all did.' }),
      addressId: graphqlOnly(linkTo('EmailAddress', maybeId)).meta({
        description: 'Your address that receives the email. Null if the catch-all does or the address was deleted.',
      }),
      domain: restOnly(
        z
          .object({
            id: z.string(),
            name: named(z.string(), { restName: 'domain' }),
            isCatchAllEnabled: named(z.boolean().nullable(), { restName: 'is_catch_all' }),
          })
          .nullable(),
      ),
      domainId: graphqlOnly(linkTo('Domain', maybeId)).meta({
        description: 'Your domain that receives the email. Null if it was deleted.',
      }),
      releasedAt: graphqlText(time, 'When the email was released. Null if it was not released.').meta({
        description: 'When the email was released.',
      }),
      answers: restOnly(
        z.array(
          z.object({
            ruleId: named(z.string(), { restName: 'guard_rule_id' }),
            isMatch: named(z.boolean().nullable(), { restName: 'match' }).meta({
              description: 'Null if the language model did not respond.',
            }),
            reason: z.string(),
            at: z.string().meta({ format: 'date-time' }),
            durationMs: number,
          }),
        ),
        'model',
      ).meta({ description: 'Responses of language models.' }),
      steps: z
        .array(
          graphqlText(nameType(step, { type: 'RouteStep' }), 'A step that an email went through or would go through.'),
        )
        .meta({ description: 'Steps in order. The last deliveries may not have happened yet.' }),
      would: graphqlText(
        named(
          nameType(graphqlText(z.object(decision), 'Where an email would go by the current guard rules and routes.'), {
            type: 'CurrentRoute',
            interfaces: [routeDecision],
          }).nullable(),
          { graphqlName: 'now' },
        ),
        'What would happen to the email now. Returned by Query.explainRoute only, otherwise null.',
      ).meta({
        description: 'With `now`: where the email would go by the current rules and routes. Otherwise null.',
      }),
      tried: graphqlOnly(z.array(evaluatedRule)).meta({
        description: 'Every active guard rule and its result. Returned together with `now`.',
      }),
    }),
    'The steps of a received email, or of one that has not been received.',
  ),
  { id: 'EmailRoute', type: 'Route', interfaces: [routeDecision] },
);

/** Adds the IDs that GraphQL links to. */
function linkRoute(explained: RouteExplanation) {
  const { address, domain, would } = explained;
  return {
    ...explained,
    ...linkDecision(explained),
    addressId: address?.id ?? null,
    domainId: domain?.id ?? null,
    would: would && { ...would, ...linkDecision(would) },
  };
}

function linkDecision({ rule, endpoint }: RouteSummary) {
  return { ruleId: rule?.id ?? null, endpointId: endpoint?.id ?? null };
}

/** Each explanation takes several SQL statements. */
const ROUTE_COST = 100;

const optional = z.string().nullish();

/** An email that has not been received. */
const described = nameType(
  graphqlText(
    z.object({
      to: z.string().meta({ description: 'One of your addresses.' }),
      from: graphqlText(
        optional,
        '`address` or `Name <address>`. The default is the From header of raw, or a sample address.',
      ).meta({
        description: '`address` or `Name <address>`. The default is the From header of `raw`, or a sample address.',
      }),
      raw: optional.meta({ description: 'A whole message (RFC 5322) that replaces the fields below.' }),
      subject: graphqlText(optional, 'Subject. The default is none.'),
      text: graphqlText(optional, 'The plain-text body.'),
      html: graphqlText(optional, 'The HTML body.'),
      headers: restOnly(z.record(z.string(), z.string()).nullish()).meta({ description: 'More headers, up to 50.' }),
      headerList: graphqlOnly(
        z
          .array(
            nameType(
              z.object({
                name: z.string().meta({
                  description: 'Name of the header. Headers that other fields set are not allowed.',
                }),
                value: z.string().meta({ description: 'One line of up to 998 characters.' }),
              }),
              { input: 'ExplainedHeaderInput', description: 'A header of an email to explain.' },
            ),
          )
          .nullish(),
        'headers',
      ).meta({ description: 'More headers, up to 50.' }),
    }),
    'An email to explain the route of.',
  ),
  { input: 'ExplainedEmailInput' },
);

function readDescribed({ to, from, raw, subject, text, html, headers, headerList }: z.output<typeof described>) {
  const byName = headerList?.map(({ name, value }) => [name, value]);
  return {
    to,
    from: from ?? null,
    raw: raw ?? null,
    subject: subject ?? null,
    text: text ?? null,
    html: html ?? null,
    headers: byName === undefined ? (headers ?? null) : (Object.fromEntries(byName) as Record<string, string>),
  };
}

const common = { access: 'read', output: route, errors: [] } as const;

export const routeCapability: Capability = {
  feature: 'Routing',
  what: 'Explain a route',
  ...OF_EMAILS,
  operations: [
    defineAction({
      ...common,
      operationId: 'explainEmailRoute',
      summary: 'Explain the route of a received email',
      description:
        'Returns which address or catch-all, guard rule and endpoint determined where the email went, and when each step was done. With `now`, also returns where it would go by the current rules, which a retry without IDs uses.',
      method: 'GET',
      path: '/:id/route',
      target: { argument: 'id', argumentDescription: 'ID of the email.' },
      input: z.object({
        now: restOnly(z.boolean().default(false)).meta({
          description: 'Whether to include where the email would go now.',
        }),
      }),
      of: {
        type: 'Email',
        field: 'route',
        description:
          'Where the email went and why. Null for mail that was not received. Expensive: request it for single emails.',
        isNullable: true,
        isAbsent: ({ type }: { type: string }) => type !== 'received',
        cost: ROUTE_COST,
        load: async (context, ids) => (await loadEmailRoutes(context, ids)).map((found) => found && linkRoute(found)),
      },
      run: async (context, { now }, id) =>
        linkRoute(await explainEmailRoute(context, id, now ? 'stored and now' : 'stored')),
    }),
    defineAction({
      ...common,
      operationId: 'explainRoute',
      tag: 'Guard rules',
      summary: 'Explain the route of mail that has not been received',
      description:
        'Returns where an email that you describe would go by the current rules and routes, and why. Stores nothing and asks no language model.',
      respondWithinMs: EXPLAIN_RESPONSE_MS,
      method: 'POST',
      path: '/explain-route',
      input: described,
      inputName: 'DescribedMail',
      errors: [404],
      example: { to: 'hello@inbox.test', from: 'ann@example.org', subject: 'Invoice' },
      run: async (context, input) => linkRoute(await explainRoute(context, readDescribed(input))),
    }),
    defineAction({
      ...common,
      field: 'explainRoute',
      summary: 'Explain a route',
      description:
        'Explains where an email goes and why, for a received email or one you describe. Stores nothing and asks no language model.',
      respondWithinMs: EXPLAIN_RESPONSE_MS,
      method: 'GET',
      path: '',
      cost: ROUTE_COST,
      input: z.object({
        emailId: z.string().nullish().meta({ description: 'ID of a received email. Pass either this or mail.' }),
        mail: described.nullish().meta({
          description: 'An email that has not been received. Pass either this or emailId.',
        }),
      }),
      async run(context, { emailId, mail }) {
        if ((emailId == null) === (mail == null)) throw invalid('Give either emailId or mail', 'emailId');
        return linkRoute(await explainRoute(context, mail == null ? { emailId: emailId ?? '' } : readDescribed(mail)));
      },
    }),
  ],
};
