import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { secret } from '../../../core/accounts/secret-fields.ts';
import { EVENT_KINDS } from '../../../core/events/event-kinds.ts';
import type { Pull, PullPage } from '../../../operations/context.ts';
import {
  DEFAULT_PULLED_EVENTS,
  MAX_PULLED_EVENTS,
  pullWebhookRequests,
} from '../../../operations/endpoints/webhook-requests.ts';
import { type EventKind, MAX_WAIT_SECONDS } from '../../../operations/events/events.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, instant, type RestOptions, text, wireInstant } from '../shapes.ts';
import { startOf } from './events.ts';

/** Time limit of a long poll: the wait and the work before and after it. Milliseconds. */
const ANSWER_MS = (MAX_WAIT_SECONDS + 30) * 1_000;

const pullQuery = z.object({
  after: text.optional().meta({
    description:
      'Cursor to continue after, or `latest` for new events only. By default it starts with the oldest event.',
  }),
  events: text.optional().meta({
    description:
      'Kinds of events, `*`, or prefixes such as `email.*`, separated by commas. The default is `email.received`; of an endpoint it is what the endpoint subscribes to, and can be narrowed.',
  }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_PULLED_EVENTS)
    .default(DEFAULT_PULLED_EVENTS)
    .meta({ description: 'Maximum number of events to read. A response can have fewer requests.' }),
  wait: z.coerce.number().int().min(0).max(MAX_WAIT_SECONDS).default(0).meta({
    description: 'If there are no requests, the number of seconds to wait for the first one.',
  }),
});

const webhookRequest = z
  .object({
    object: z.literal('webhook_request'),
    cursor: z.string().meta({ description: 'Cursor of the event. Continue after it when the request was delivered.' }),
    event_id: z.string(),
    kind: z.enum(Object.keys(EVENT_KINDS) as [EventKind]),
    at: instant,
    email_id: z.string().nullable(),
    headers: z.record(z.string(), z.string()).meta({
      ...secret,
      description:
        'Header fields of the request, with `webhook-signature`. They are signed at the time of the response.',
    }),
    body: z.string().meta({ ...secret, description: 'The body in Base64, because a signature covers its bytes.' }),
  })
  .meta({ id: 'WebhookRequest' });

const pulledPage = z.object({
  object: z.literal('list'),
  data: z.array(webhookRequest),
  has_more: z.boolean().meta({ description: 'Whether there may be more requests after `next_cursor`.' }),
  next_cursor: z.string().meta({ description: 'Pass this as `after` in the next request, also if `data` is empty.' }),
});

const listenerPage = pulledPage.extend({
  signing_secret: z
    .string()
    .meta({ ...secret, description: 'Standard Webhooks secret of these requests. It stays the same for an API key.' }),
});

export const webhookRequestRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/events/webhook-requests',
    {
      config: { access: access.read, answerWithinMs: ANSWER_MS },
      schema: {
        operationId: 'listWebhookRequests',
        summary: 'Pull webhook requests',
        description:
          'Returns events as the requests that a webhook with default settings would get for them, oldest first and without gaps, for programs that Postroom cannot reach. Received mail is returned once its route is decided, whatever the route is. `postroom listen` forwards them to a local server.',
        tags: ['Events'],
        querystring: pullQuery,
        response: { 200: listenerPage, 410: errorBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const page = await pullWebhookRequests(context, { ...pullOf(request.query), endpointId: null });
      return { ...pageBodyOf(page), signing_secret: page.signingSecret ?? '' };
    },
  );

  app.get(
    '/endpoints/:id/webhook-requests',
    {
      config: { access: access.read, answerWithinMs: ANSWER_MS },
      schema: {
        operationId: 'listEndpointWebhookRequests',
        summary: 'Pull the requests of a webhook',
        description:
          'Returns the requests that this webhook gets for events, oldest first and without gaps, with the same IDs, headers and bytes, and signed with its secrets. It changes no delivery: the webhook gets its requests as well.',
        tags: ['Endpoints'],
        params: idInPath,
        querystring: pullQuery,
        response: { 200: pulledPage, 410: errorBody, default: errorBody },
      },
    },
    async (request) =>
      pageBodyOf(
        await pullWebhookRequests(contextOf(request), {
          ...pullOf(request.query),
          endpointId: request.params.id,
        }),
      ),
  );
};

function pullOf({ after, events, limit, wait }: z.infer<typeof pullQuery>): Omit<Pull, 'endpointId'> {
  const patterns = events?.split(',').map((pattern) => pattern.trim()) ?? null;
  return { start: startOf(after), patterns, limit, waitMs: wait * 1_000 };
}

function pageBodyOf({ requests, nextCursor, hasMore }: PullPage): z.infer<typeof pulledPage> {
  return {
    object: 'list',
    data: requests.map(({ event, cursor, headers, body }) => ({
      object: 'webhook_request' as const,
      cursor,
      event_id: event.id,
      kind: event.kind,
      at: wireInstant(event.at),
      email_id: event.emailId,
      headers: Object.fromEntries(headers),
      body: body.toString('base64'),
    })),
    has_more: hasMore,
    next_cursor: nextCursor,
  };
}
