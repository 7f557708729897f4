import { z } from 'zod';
import { secret, secretUrl } from '../../core/accounts/secret-fields.ts';
import { DELIVERY_STATUSES } from '../../core/endpoints/delivery.ts';
import { MAX_EVENT_PATTERNS } from '../../core/endpoints/endpoint-events.ts';
import {
  changeResendPatterns,
  listResendKinds,
  nameResendKind,
  readResendKinds,
} from '../../core/endpoints/resend-payload.ts';
import { UserError } from '../../core/shared/errors.ts';
import { graphqlOnly, restLiteral } from '../../core/shared/field-notes.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../core/shared/page.ts';
import {
  type Capability,
  defineAction,
  defineChange,
  defineDelete,
  defineList,
  defineRead,
  defineResource,
} from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import { invalid, type OperationContext } from '../context.ts';
import { type DeliverySummary, loadDeliveries, pageDeliveries, readDelivery, retryDelivery } from './deliveries.ts';
import { buildDeliveryPayloads } from './delivery-payloads.ts';
import { deleteEndpoint, rotateWebhookSecret, updateEndpoint } from './endpoint-changes.ts';
import { MAX_NAME_LENGTH } from './endpoint-types.ts';
import {
  countEndpoints,
  createEndpoint,
  type Endpoint,
  endpointNotFound,
  listEndpoints,
  loadEndpoints,
  pageEndpoints,
  validSecrets,
} from './endpoints.ts';

const target = { argument: 'id', argumentDescription: 'ID of the webhook.' } as const;
const WEBHOOKS = { type: 'webhook' } as const;
const url = text.meta({
  ...secretUrl,
  description: 'HTTPS URL that is posted to.',
  examples: ['https://hooks.example.com/mail'],
});
const kinds = z
  .array(text)
  .min(1)
  .max(MAX_EVENT_PATTERNS)
  .meta({
    description:
      'Kinds of events as the client names them, such as `email.delivery_delayed`. Kinds that never happen here, such as `email.opened`, are left out.',
    examples: [['email.received', 'email.bounced']],
  });
const status = z.enum(['enabled', 'disabled']);

/** Returns the patterns of an endpoint for kinds of the client. Throws validation for an unknown kind, and if none ever happens. */
function readEvents(given: readonly string[]): string[] {
  const { patterns, unknown } = readResendKinds(given);
  if (unknown !== null)
    throw invalid(
      `\`events[${unknown}]\` is not a kind of event. Use those of the \`resend\` client.`,
      `events[${unknown}]`,
    );
  if (patterns.length === 0)
    throw invalid(
      'None of these kinds ever happens here. Use `email.received`, `email.delivered` or `email.bounced`.',
      'events',
    );
  return patterns;
}

function changeEvents({ events }: Endpoint, given: readonly string[]): string[] {
  readEvents(given);
  return changeResendPatterns(events, given);
}

/** Throws not_found for an endpoint that is no webhook. */
async function requireWebhook(context: OperationContext, id: string): Promise<Endpoint> {
  const [endpoint] = await loadEndpoints(context, [id]);
  if (endpoint?.type !== 'webhook') throw endpointNotFound();
  return endpoint;
}

const eventTarget = {
  argument: 'eventId',
  argumentDescription: 'ID of the event.',
  parameter: 'eventId',
  owner: 'webhookId',
} as const;
/** In the path. */
const ofWebhook = z.object({ webhookId: graphqlOnly(z.string()) });
const page = z.object({
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_PAGE_SIZE)
    .default(DEFAULT_PAGE_SIZE)
    .meta({
      description: `Number of items to return, at most ${MAX_PAGE_SIZE}.`,
    }),
  after: text.optional().meta({ description: 'ID of an item. Returns the page after it.' }),
});
const event = z.object({
  id: z.string(),
  type: z.string().meta({ description: 'Kind of the event as the client names it.' }),
  createdAt: z.date(),
  status: z.enum(DELIVERY_STATUSES),
});
const webhookEvent = z
  .object({
    object: restLiteral('webhook_event'),
    ...event.shape,
    nextAttemptAt: z.date().nullable(),
    payload: z.unknown().meta({ description: 'The body as JSON. Null if what it is about is gone.' }),
  })
  .meta({ id: 'SentWebhookEvent' });
const eventList = z.object({ object: restLiteral('list'), hasMore: z.boolean(), data: z.array(event) });
const attemptList = z.object({
  object: restLiteral('list'),
  hasMore: z.boolean(),
  data: z.array(
    z.object({
      id: z.string().meta({ description: 'Number of the attempt.' }),
      httpStatusCode: z.number().int().meta({ description: '0 if there was no response.' }),
      response: z.string().meta({ description: 'The beginning of the response body, or why there was none.' }),
      sentAt: z.date(),
    }),
  ),
});

/** Throws not_found for a delivery that is not one to this webhook. */
async function requireDelivery(
  context: OperationContext,
  { webhookId, eventId }: { webhookId: string; eventId: string },
): Promise<DeliverySummary> {
  const [delivery] = await loadDeliveries(context, [eventId]);
  if (delivery?.endpointId !== webhookId || delivery.type !== 'webhook')
    throw new UserError('not_found', 'Event not found');
  return delivery;
}

function describeEvent({ id, event: posted, createdAt, status: state }: DeliverySummary): z.output<typeof event> {
  return { id, type: nameResendKind(posted?.kind ?? 'email.received'), createdAt, status: state };
}

/** Endpoints of type webhook at the paths and in the format of the `resend` client (docs/decisions/0228). */
export const resendWebhookCapability: Capability = {
  feature: 'Paths of other clients',
  what: 'Webhooks',
  tag: 'Paths of other clients',
  path: '/webhooks',
  restCase: 'snake',
  resource: defineResource<Endpoint>()({
    name: 'Webhook',
    identifier: 'endpoint',
    description: 'An endpoint of type `webhook`, in the format of the `resend` client.',
    isOfDomain: false,
    shape: z.object({
      createdAt: z.date(),
      status: status.meta({ description: '`disabled` also if Postroom disabled it.' }),
      endpoint: z.string().meta({ ...secretUrl, description: 'URL that is posted to.' }),
      events: z
        .array(z.string())
        .nullable()
        .meta({ description: 'Kinds of events as the client names them. Null for all.' }),
      signingSecret: z
        .string()
        .optional()
        .meta({ ...secret, description: 'Standard Webhooks secret. Lists leave it out.' }),
    }),
    computed: {
      status: ({ isActive }) => (isActive ? 'enabled' : 'disabled'),
      endpoint: ({ config }) => String(config['url']),
      events: ({ events }) => listResendKinds(events),
    },
    loaded: {
      signingSecret: {
        isInLists: false,
        load: async (context, rows) => rows.map((row) => validSecrets(context, row)[0]?.secret ?? ''),
      },
    },
    load: async (context, ids) =>
      (await loadEndpoints(context, ids)).map((each) => (each?.type === 'webhook' ? each : null)),
  }),
  operations: [
    defineList({
      access: 'read',
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description: 'Same as GET /endpoints with type `webhook`, in the format of the `resend` client.',
      filter: z.object({}),
      isPagedByItem: true,
      page: (context, _filter, page) => pageEndpoints(context, WEBHOOKS, page),
      count: (context) => countEndpoints(context, WEBHOOKS),
      async list(context, _filter, page) {
        const { endpoints, total } = await listEndpoints(context, WEBHOOKS, page);
        return { rows: endpoints, total };
      },
    }),
    defineRead({
      access: 'read',
      operationId: 'getWebhook',
      summary: 'Retrieve a webhook',
      description: 'Same as GET /endpoints/{id}, in the format of the `resend` client.',
      target,
      read: requireWebhook,
    }),
    defineChange({
      kind: 'create',
      access: 'endpointsAndRead',
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'Creates an endpoint whose payloads have the format of the `resend` client. `email.received` is posted for all received mail, wherever it is routed.',
      input: z.object({ endpoint: url, events: kinds }),
      inputName: 'CreateWebhook',
      example: { endpoint: 'https://hooks.example.com/mail', events: ['email.received', 'email.bounced'] },
      errors: [],
      run: (context, { endpoint, events }) =>
        createEndpoint(context, {
          name: URL.parse(endpoint)?.hostname.slice(0, MAX_NAME_LENGTH) || 'Webhook',
          type: 'webhook',
          config: { url: endpoint, payload: 'resend' },
          events: readEvents(events),
        }),
    }),
    defineChange({
      kind: 'update',
      access: 'endpointsAndRead',
      operationId: 'updateWebhook',
      summary: 'Update a webhook',
      description:
        'Omitted fields keep their values. The form of the payload stays, too, and events that the client has no name for.',
      target,
      input: z.object({
        endpoint: url.optional(),
        events: kinds.optional(),
        status: status.optional().meta({ description: '`enabled` also enables a webhook that Postroom disabled.' }),
      }),
      inputName: 'UpdateWebhook',
      example: { status: 'disabled' },
      errors: [],
      async run(context, { endpoint, events, status: wanted }, id) {
        const webhook = await requireWebhook(context, id);
        if (endpoint === undefined && events === undefined && wanted === undefined)
          throw new UserError('validation', 'At least one field must be provided: endpoint, events, status');
        return updateEndpoint(context, id, {
          configChange: endpoint === undefined ? undefined : { url: endpoint },
          events: events === undefined ? undefined : changeEvents(webhook, events),
          isActive: wanted === undefined ? undefined : wanted === 'enabled',
        });
      },
    }),
    defineDelete({
      access: 'endpoints',
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'Same as DELETE /endpoints/{id}.',
      target,
      input: z.object({}),
      errors: [],
      deleted: { description: 'A deleted webhook.', fields: [] },
      async run(context, _input, id) {
        const webhook = await requireWebhook(context, id);
        await deleteEndpoint(context, id);
        return webhook;
      },
    }),
    defineAction({
      access: 'read',
      operationId: 'listWebhookEvents',
      summary: 'List the events of a webhook',
      description: 'Returns its deliveries, newest first. The ID of an event is that of its delivery.',
      method: 'GET',
      path: '/:id/events',
      target,
      input: page,
      output: eventList,
      errors: [],
      async run(context, { limit, after }, id) {
        await requireWebhook(context, id);
        const cursor = after === undefined ? null : await requireDelivery(context, { webhookId: id, eventId: after });
        const [found = []] = await pageDeliveries(
          context,
          { kind: 'endpoint', ids: [id] },
          {},
          {
            after: cursor === null ? null : { at: cursor.createdAt, id: cursor.id },
            before: null,
            isInverted: false,
            limit: limit + 1,
          },
        );
        return { hasMore: found.length > limit, data: found.slice(0, limit).map(describeEvent) };
      },
    }),
    defineAction({
      access: 'read',
      operationId: 'getWebhookEvent',
      summary: 'Retrieve an event of a webhook',
      description: 'Returns a delivery with the body that an attempt would send now.',
      method: 'GET',
      path: '/:webhookId/events/:eventId',
      target: eventTarget,
      input: ofWebhook,
      output: webhookEvent,
      errors: [],
      async run(context, { webhookId }, eventId) {
        const delivery = await requireDelivery(context, { webhookId, eventId });
        const [payload = null] = await buildDeliveryPayloads(
          context,
          [eventId],
          ({ body }) => JSON.parse(body.toString('utf8')) as unknown,
        );
        return { ...describeEvent(delivery), nextAttemptAt: delivery.nextAttemptAt, payload };
      },
    }),
    defineAction({
      access: 'read',
      operationId: 'listWebhookEventAttempts',
      summary: 'List the attempts of an event of a webhook',
      description: 'Returns the attempts of a delivery, newest first.',
      method: 'GET',
      path: '/:webhookId/events/:eventId/attempts',
      target: eventTarget,
      input: ofWebhook.extend(page.shape),
      output: attemptList,
      errors: [],
      async run(context, { webhookId, limit, after }, eventId) {
        await requireDelivery(context, { webhookId, eventId });
        const { attemptLog } = await readDelivery(context, eventId);
        const attempts = attemptLog.toReversed().map(({ number, statusCode, responseBody, error, startedAt }) => ({
          id: String(number),
          httpStatusCode: statusCode ?? 0,
          response: responseBody ?? error ?? '',
          sentAt: startedAt,
        }));
        const at = after === undefined ? 0 : attempts.findIndex((attempt) => attempt.id === after) + 1;
        if (after !== undefined && at === 0) throw invalid('Invalid cursor', 'after');
        return { hasMore: attempts.length > at + limit, data: attempts.slice(at, at + limit) };
      },
    }),
    defineAction({
      access: 'sendAndReadAccount',
      operationId: 'replayWebhookEvent',
      summary: 'Replay an event of a webhook',
      description: 'Same as POST /deliveries/{id}/retry: a delivery that succeeded is 400.',
      method: 'POST',
      path: '/:webhookId/events/:eventId/replay',
      target: eventTarget,
      input: ofWebhook,
      output: z.object({ object: restLiteral('webhook_event'), id: z.string() }).meta({ id: 'ReplayedWebhookEvent' }),
      errors: [],
      async run(context, given, eventId) {
        await requireDelivery(context, { ...given, eventId });
        return { id: await retryDelivery(context, eventId) };
      },
    }),
    defineAction({
      access: 'endpointsAndRead',
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the signing secret of a webhook (resend)',
      description: 'Same as POST /endpoints/{id}/rotate-secret: the old secret signs for 24 hours, too.',
      method: 'POST',
      path: '/:id/signing-secret/rotate',
      target,
      input: z.object({}),
      output: 'resource',
      errors: [],
      async run(context, _input, id) {
        await requireWebhook(context, id);
        return rotateWebhookSecret(context, id, { isTokenReplaced: false });
      },
    }),
  ],
};
