import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ENDPOINT_TYPES } from '../../../core/endpoints/endpoint-config.ts';
import { GUARD_ACTIONS } from '../../../core/routing/guard-rule.ts';
import { ROUTE_OUTCOMES, ROUTE_VIAS } from '../../../core/routing/route.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { EXPLAIN_ANSWER_MS, explainRoute } from '../../../operations/routing/explain-route.ts';
import { type ExplainedRoute, explainEmailRoute, type RoutePlace } from '../../../operations/routing/routes.ts';
import { access } from '../../admission/access.ts';
import { deliveryBody, writeDelivery } from '../endpoints/deliveries.ts';
import { MAIL_BODY_LIMIT } from '../sending/outgoing-shapes.ts';
import { errorBody, idInPath, instant, queryBoolean, type RestOptions, wireInstant } from '../shapes.ts';

const place = {
  outcome: z.enum(ROUTE_OUTCOMES).nullable().meta({
    description:
      '`endpoint`: delivered to the endpoint. `inactive`: the endpoint is inactive. `stored`: there is no route. `blocked`: held by a guard rule. `review`: a rule’s language model did not respond. `asking`: waiting for a language model. Null: not decided yet.',
  }),
  via: z.enum(ROUTE_VIAS).nullable().meta({ description: 'What determined the endpoint.' }),
  guard_rule: z
    .object({ id: z.string(), name: z.string().nullable(), action: z.enum(GUARD_ACTIONS).nullable() })
    .nullable()
    .meta({
      description: 'The rule that matched or whose language model did not respond. Without a name if it was deleted.',
    }),
  endpoint: z
    .object({
      id: z.string(),
      name: z.string().nullable(),
      type: z.enum(ENDPOINT_TYPES).nullable(),
      is_active: z.boolean().nullable(),
    })
    .nullable()
    .meta({ description: 'The endpoint in its current state. Without a name if it was deleted.' }),
  reason: z.string().meta({ description: 'The reason, in full sentences.' }),
  matches: z
    .array(z.object({ criteria: z.string(), value: z.string() }))
    .meta({ description: 'What matched the rule.' }),
};

const routeBody = z
  .object({
    email_id: z.string().nullable().meta({ description: 'Null for mail that has not been received.' }),
    recipient: z.string().meta({ description: 'Envelope recipient, including the plus tag.' }),
    ...place,
    address: z
      .object({ id: z.string(), address: z.string(), is_active: z.boolean().nullable() })
      .nullable()
      .meta({ description: 'The address that received the email. Null if the catch-all did.' }),
    domain: z.object({ id: z.string(), domain: z.string(), is_catch_all: z.boolean().nullable() }).nullable(),
    released_at: instant.nullable().meta({ description: 'When a user released the email.' }),
    model: z
      .array(
        z.object({
          guard_rule_id: z.string(),
          match: z.boolean().nullable().meta({ description: 'Null if the language model did not respond.' }),
          reason: z.string(),
          at: instant,
          duration_ms: z.number().int(),
        }),
      )
      .meta({ description: 'Responses of language models.' }),
    steps: z
      .array(
        z.object({
          step: z.enum(['received', 'parsed', 'threaded', 'asked', 'routed', 'released', 'delivered']),
          at: instant.nullable(),
          duration_ms: z
            .number()
            .int()
            .nullable()
            .meta({ description: 'Time since the previous step, or duration of the question or delivery.' }),
          detail: z.string(),
          delivery_id: z.string().nullable(),
        }),
      )
      .meta({ description: 'Steps in order. The last deliveries may not have happened yet.' }),
    deliveries: z.array(deliveryBody).meta({ description: 'Deliveries, oldest first, each with its attempts.' }),
    would: z
      .object(place)
      .nullable()
      .meta({ description: 'With `now`: where the email would go by the current rules and routes. Otherwise null.' }),
  })
  .meta({ id: 'EmailRoute' });

const describedMail = z
  .object({
    to: z.string().meta({ description: 'One of your addresses.' }),
    from: z.string().nullish().meta({
      description: '`address` or `Name <address>`. The default is the From header of `raw`, or a sample address.',
    }),
    raw: z.string().nullish().meta({ description: 'A whole message (RFC 5322) that replaces the fields below.' }),
    subject: z.string().nullish(),
    text: z.string().nullish(),
    html: z.string().nullish(),
    headers: z.record(z.string(), z.string()).nullish().meta({ description: 'More headers, up to 50.' }),
  })
  .meta({ id: 'DescribedMail', examples: [{ to: 'hello@inbox.test', from: 'ann@example.org', subject: 'Invoice' }] });

export const routeRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails/:id/route',
    {
      config: { access: access.read },
      schema: {
        operationId: 'explainEmailRoute',
        summary: 'Explain the route of a received email',
        description:
          'Returns which address or catch-all, guard rule and endpoint determined where the email went, and when each step was done. With `now`, also returns where it would go by the current rules, which a retry without IDs uses.',
        tags: ['Emails'],
        params: idInPath,
        querystring: z.object({
          now: queryBoolean.default(false).meta({ description: 'Whether to include where the email would go now.' }),
        }),
        response: { 200: routeBody, default: errorBody },
      },
    },
    async (request) => {
      const extent = request.query.now ? 'stored and now' : 'stored';
      const context = contextOf(request);
      return routeBodyOf(context, await explainEmailRoute(context, request.params.id, extent));
    },
  );

  app.post(
    '/emails/explain-route',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      config: { access: access.read, answerWithinMs: EXPLAIN_ANSWER_MS },
      schema: {
        operationId: 'explainRoute',
        summary: 'Explain the route of mail that has not been received',
        description:
          'Returns where an email that you describe would go by the current rules and routes, and why. Stores nothing and asks no language model.',
        tags: ['Guard rules'],
        body: describedMail,
        response: { 200: routeBody, default: errorBody },
      },
    },
    async (request) => {
      const { to, from, raw, subject, text, html, headers } = request.body;
      const described = {
        to,
        from: from ?? null,
        raw: raw ?? null,
        subject: subject ?? null,
        text: text ?? null,
        html: html ?? null,
        headers: headers ?? null,
      };
      const context = contextOf(request);
      return routeBodyOf(context, await explainRoute(context, described));
    },
  );
};

function placeBody({ outcome, via, rule, endpoint, reason, matches }: RoutePlace) {
  return {
    outcome,
    via,
    guard_rule: rule,
    endpoint:
      endpoint === null
        ? null
        : { id: endpoint.id, name: endpoint.name, type: endpoint.type, is_active: endpoint.isActive },
    reason,
    matches,
  };
}

function routeBodyOf(
  context: OperationContext,
  route: Omit<ExplainedRoute, 'emailId'> & { emailId: string | null },
): z.infer<typeof routeBody> {
  return {
    email_id: route.emailId,
    recipient: route.recipient,
    ...placeBody(route),
    address:
      route.address === null
        ? null
        : { id: route.address.id, address: route.address.address, is_active: route.address.isActive },
    domain:
      route.domain === null
        ? null
        : { id: route.domain.id, domain: route.domain.name, is_catch_all: route.domain.isCatchAllEnabled },
    released_at: wireInstant(route.releasedAt),
    model: route.answers.map((answer) => ({
      guard_rule_id: answer.ruleId,
      match: answer.isMatch,
      reason: answer.reason,
      at: answer.at,
      duration_ms: answer.durationMs,
    })),
    steps: route.steps.map((step) => ({
      step: step.step,
      at: wireInstant(step.at),
      duration_ms: step.durationMs,
      detail: step.detail,
      delivery_id: step.deliveryId,
    })),
    deliveries: route.deliveries.map((delivery) => writeDelivery(context, delivery)),
    would: route.would === null ? null : placeBody(route.would),
  };
}
