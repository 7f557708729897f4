import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ENDPOINT_TYPES } from '../../../core/endpoints/endpoint-config.ts';
import { GUARD_ACTIONS } from '../../../core/routing/guard-rule.ts';
import { ROUTE_OUTCOMES, ROUTE_VIAS } from '../../../core/routing/route.ts';
import { releaseEmail } from '../../../operations/routing/release-email.ts';
import { explainEmailRoute, type RoutePlace } from '../../../operations/routing/routes.ts';
import { access } from '../../admission/access.ts';
import { deliveryBody, deliveryBodyOf } from '../endpoints/delivery-wire.ts';
import { errorBody, idInPath, instant, queryBoolean, type RestOptions, wireInstant } from '../shapes.ts';

const place = {
  outcome: z.enum(ROUTE_OUTCOMES).nullable().meta({
    description:
      'endpoint: it went to the endpoint; inactive: that is switched off; stored: nothing leads anywhere; blocked: a guard rule holds it back; review: a rule’s model did not answer; asking: a model is to be asked; null: it is not decided yet',
  }),
  via: z.enum(ROUTE_VIAS).nullable().meta({ description: 'what led to the endpoint' }),
  guard_rule: z
    .object({ id: z.string(), name: z.string().nullable(), action: z.enum(GUARD_ACTIONS).nullable() })
    .nullable()
    .meta({
      description: 'the rule that it fitted, or whose model did not answer; without a name when it is gone since',
    }),
  endpoint: z
    .object({
      id: z.string(),
      name: z.string().nullable(),
      type: z.enum(ENDPOINT_TYPES).nullable(),
      is_active: z.boolean().nullable(),
    })
    .nullable()
    .meta({ description: 'as it is now; without a name when it is gone since' }),
  reason: z.string().meta({ description: 'why, in whole sentences' }),
  matches: z
    .array(z.object({ criteria: z.string(), value: z.string() }))
    .meta({ description: 'what of the email fitted the rule' }),
};

const routeBody = z
  .object({
    email_id: z.string(),
    recipient: z.string().meta({ description: 'as in the envelope, plus-tag and all' }),
    ...place,
    address: z
      .object({ id: z.string(), address: z.string(), is_active: z.boolean().nullable() })
      .nullable()
      .meta({ description: 'the address that took it; null when the catch-all did' }),
    domain: z.object({ id: z.string(), domain: z.string(), is_catch_all: z.boolean().nullable() }).nullable(),
    released_at: instant.nullable().meta({ description: 'when somebody let it through' }),
    model: z
      .array(
        z.object({
          guard_rule_id: z.string(),
          match: z.boolean().nullable().meta({ description: 'null: it did not answer' }),
          reason: z.string(),
          at: instant,
          duration_ms: z.number().int(),
        }),
      )
      .meta({ description: 'what models said of it' }),
    steps: z
      .array(
        z.object({
          step: z.enum(['received', 'parsed', 'threaded', 'asked', 'routed', 'released', 'delivered']),
          at: instant.nullable(),
          duration_ms: z
            .number()
            .int()
            .nullable()
            .meta({ description: 'since the step before; of a question or a delivery since its beginning' }),
          detail: z.string(),
          delivery_id: z.string().nullable(),
        }),
      )
      .meta({ description: 'in their order; the last deliveries may be yet to come' }),
    deliveries: z.array(deliveryBody).meta({ description: 'oldest first, each with its attempts' }),
    would: z
      .object(place)
      .nullable()
      .meta({ description: 'with `now`: what would become of it by the rules and routes as they stand; null without' }),
  })
  .meta({ id: 'EmailRoute' });

const releaseAnswer = z
  .object({
    success: z.literal(true),
    message: z.string(),
    id: z.string(),
    released_at: instant,
    delivery_ids: z.array(z.string()).meta({ description: 'empty: its route leads to no active endpoint' }),
  })
  .meta({ id: 'ReleasedEmail' });

export const routeRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails/:id/route',
    {
      config: { access: access.readAccount },
      schema: {
        operationId: 'explainEmailRoute',
        summary: 'Say why a received email went where it went',
        description:
          'Which address or catch-all, which guard rule and which endpoint decided on it, and when each step was done. With `now`, also what would become of it by the rules as they stand; a retry without ids goes there.',
        tags: ['Emails'],
        params: idInPath,
        querystring: z.object({
          now: queryBoolean.default(false).meta({ description: 'whether to say what would become of it now' }),
        }),
        response: { 200: routeBody, default: errorBody },
      },
    },
    async (request) => {
      const extent = request.query.now ? 'stored and now' : 'stored';
      const route = await explainEmailRoute(contextOf(request), request.params.id, extent);
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
        deliveries: route.deliveries.map(deliveryBodyOf),
        would: route.would === null ? null : placeBody(route.would),
      };
    },
  );

  app.post(
    '/emails/:id/release',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'releaseEmail',
        summary: 'Let a received email through that is held back',
        description:
          'An email that a guard rule blocked, or that is held for review, goes the way it would go without guard rules.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: releaseAnswer, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { releasedAt, deliveryIds } = await releaseEmail(contextOf(request), id);
      const message =
        deliveryIds.length > 0
          ? 'The email is being delivered'
          : 'The email is released; its route leads to no active endpoint';
      return { success: true as const, message, id, released_at: wireInstant(releasedAt), delivery_ids: deliveryIds };
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
