import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ACTION_STATUSES, ACTION_TYPES } from '../../../core/endpoints/actions.ts';
import { DELIVERY_ATTEMPT_OUTCOMES, DELIVERY_CAUSES, DELIVERY_STATUSES } from '../../../core/endpoints/delivery.ts';
import { EVENT_KINDS, type EventKind } from '../../../core/events/event-kinds.ts';
import { RECIPIENT_STATUSES } from '../../../core/smtp/delivery-status.ts';
import {
  type Delivery,
  listEmailDeliveries,
  listEndpointDeliveries,
  readDelivery,
  retryDelivery,
} from '../../../operations/endpoints/deliveries.ts';
import { retryEmail } from '../../../operations/endpoints/retries.ts';
import { access } from '../../admission/access.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  listBody,
  listOf,
  offset,
  type RestOptions,
  wireInstant,
} from '../shapes.ts';

const deliveryStatus = z.enum(DELIVERY_STATUSES);

/** Converts a delivery with all its attempts. */
export const deliveryBody = z
  .object({
    id: z.string(),
    emailId: z.string().nullable().meta({ description: 'Null for an event that is about no email.' }),
    event: z.enum(Object.keys(EVENT_KINDS) as [EventKind]).meta({
      description: 'Kind of event that is delivered: `email.received` for mail that is routed to the endpoint.',
    }),
    endpointId: z.string(),
    deliveryType: z.enum(['webhook', 'email_forward']),
    status: deliveryStatus,
    attempts: z.number().int(),
    lastAttemptAt: instant.nullable(),
    responseData: z
      .unknown()
      .meta({ description: '`error` and `statusCode` of the last attempt. Null before the first attempt.' }),
    createdAt: instant,
    completedAt: instant.nullable(),
    nextAttemptAt: instant
      .nullable()
      .meta({ description: 'Null if there is no next attempt, or while the delivery waits for earlier ones.' }),
    cause: z.enum(DELIVERY_CAUSES).meta({ description: 'What started this delivery.' }),
    attemptLog: z.array(
      z.object({
        number: z.number().int(),
        startedAt: instant,
        durationMs: z.number().int(),
        outcome: z.enum(DELIVERY_ATTEMPT_OUTCOMES),
        statusCode: z.number().int().nullable(),
        error: z.string().nullable(),
        requestHeaders: z
          .record(z.string(), z.string())
          .meta({ description: 'Request headers. Secrets are redacted.' }),
        responseBody: z.string().nullable().meta({ description: 'First 4,096 bytes of the response body.' }),
      }),
    ),
    actions: z
      .object({
        problem: z
          .object({
            place: z
              .string()
              .nullable()
              .meta({ description: 'Such as `actions[2].type`. Null if it is the whole response.' }),
            message: z.string(),
          })
          .nullable()
          .meta({ description: 'Why none of the actions ran. Null if all of them ran.' }),
        results: z
          .array(
            z.object({
              type: z.enum(ACTION_TYPES),
              status: z.enum(ACTION_STATUSES),
              message: z.string().meta({ description: 'What the action did, or why it did not run.' }),
              emailId: z.string().nullable().meta({ description: 'ID of the email that a reply or forward sends.' }),
              deliveryId: z.string().nullable().meta({ description: 'ID of the delivery that `route` created.' }),
            }),
          )
          .meta({ description: 'Results in the order of the response. Empty if the response is not valid.' }),
      })
      .nullable()
      .meta({ description: 'What became of the actions in the webhook’s response. Null if it had none.' }),
    recipients: z
      .array(
        z.object({
          address: z.string(),
          status: z.enum(RECIPIENT_STATUSES),
          code: z.number().int().nullable().meta({ description: 'SMTP reply code.' }),
          enhancedStatus: z.string().nullable().meta({ description: 'Enhanced status code (RFC 3463).' }),
          text: z.string().nullable(),
          settledAt: instant.nullable(),
        }),
      )
      .meta({ description: 'Recipients of a forwarded copy. Empty for webhooks.' }),
  })
  .meta({ id: 'Delivery' });

export function deliveryBodyOf(delivery: Delivery): z.infer<typeof deliveryBody> {
  return {
    id: delivery.id,
    emailId: delivery.emailId,
    event: delivery.event?.kind ?? 'email.received',
    endpointId: delivery.endpointId,
    deliveryType: delivery.type === 'webhook' ? 'webhook' : 'email_forward',
    status: delivery.status,
    attempts: delivery.attempts,
    lastAttemptAt: wireInstant(delivery.lastAttemptAt),
    responseData: delivery.responseData,
    createdAt: wireInstant(delivery.createdAt),
    completedAt: wireInstant(delivery.completedAt),
    nextAttemptAt: delivery.status === 'pending' ? wireInstant(delivery.nextAttemptAt) : null,
    cause: delivery.cause,
    actions: delivery.actions,
    attemptLog: delivery.attemptLog.map((attempt) => ({ ...attempt, startedAt: wireInstant(attempt.startedAt) })),
    recipients: delivery.recipients.map((recipient) => ({
      ...recipient,
      settledAt: wireInstant(recipient.settledAt),
    })),
  };
}

const listQuery = z.object({
  limit: limit(),
  offset,
  status: deliveryStatus.optional().meta({ description: 'Returns deliveries with this status only.' }),
});

export const deliveryRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/deliveries/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getDelivery',
        summary: 'Retrieve a delivery',
        description: 'Returns a delivery with all its attempts.',
        tags: ['Endpoints'],
        params: idInPath,
        response: { 200: deliveryBody, default: errorBody },
      },
    },
    async (request) => deliveryBodyOf(await readDelivery(contextOf(request), request.params.id)),
  );

  app.post(
    '/deliveries/:id/retry',
    {
      config: { access: access.sendAccount },
      schema: {
        operationId: 'retryDelivery',
        summary: 'Retry a delivery',
        description:
          'Retries an unsuccessful delivery to its endpoint: in a new delivery, or in this one while it is pending.',
        tags: ['Endpoints'],
        params: idInPath,
        response: { 200: deliveryBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const deliveryId = await retryDelivery(context, request.params.id);
      return deliveryBodyOf(await readDelivery(context, deliveryId));
    },
  );

  app.get(
    '/endpoints/:id/deliveries',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listEndpointDeliveries',
        summary: 'List the deliveries to an endpoint',
        description:
          'Returns deliveries, newest first, each with all of its attempts: the request, the response and the duration.',
        tags: ['Endpoints'],
        params: idInPath,
        querystring: listQuery,
        response: { 200: listOf(deliveryBody), default: errorBody },
      },
    },
    async (request) => {
      const { status, ...page } = request.query;
      const found = await listEndpointDeliveries(contextOf(request), request.params.id, { status }, page);
      return listBody(found.deliveries.map(deliveryBodyOf), page, found.total);
    },
  );

  app.get(
    '/emails/:id/deliveries',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listEmailDeliveries',
        summary: 'List the deliveries of a received email',
        description: 'Returns deliveries, newest first, each with all of its attempts. Sent emails have none.',
        tags: ['Emails'],
        params: idInPath,
        querystring: listQuery,
        response: { 200: listOf(deliveryBody), default: errorBody },
      },
    },
    async (request) => {
      const { status, ...page } = request.query;
      const found = await listEmailDeliveries(contextOf(request), request.params.id, { status }, page);
      return listBody(found.deliveries.map(deliveryBodyOf), page, found.total);
    },
  );
};

const retryBody = z
  .object({
    endpoint_id: z
      .string()
      .nullish()
      .meta({ description: 'ID of the endpoint. The default is where the email is routed now.' }),
    delivery_id: z.string().nullish().meta({ description: 'ID of an unsuccessful delivery of the email.' }),
  })
  .nullish()
  .meta({ id: 'RetryEmail', examples: [{ endpoint_id: 'ep_01931f3e5a7b7c1d8e2f3a4b5c6d7e8f' }] });

const retryAnswer = z
  .object({
    success: z.literal(true),
    message: z.string(),
    delivery_id: z.string(),
    delivery_ids: z.array(z.string()),
  })
  .meta({ id: 'Retry' });

export const retryRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/:id/retry',
    {
      config: { access: access.sendAccount },
      schema: {
        operationId: 'retryEmail',
        summary: 'Retry delivery of a received email',
        description:
          'Creates a new delivery, due at once. A pending delivery is attempted now instead, so that nothing is delivered twice.',
        tags: ['Emails'],
        params: idInPath,
        body: retryBody,
        response: { 200: retryAnswer, 409: errorBody, default: errorBody },
      },
    },
    async (request) => {
      const { endpoint_id: endpointId = null, delivery_id: deliveryId = null } = request.body ?? {};
      const deliveryIds = await retryEmail(contextOf(request), request.params.id, { endpointId, deliveryId });
      const [first = ''] = deliveryIds;
      return {
        success: true as const,
        message: 'The email is being delivered again',
        delivery_id: first,
        delivery_ids: deliveryIds,
      };
    },
  );
};
