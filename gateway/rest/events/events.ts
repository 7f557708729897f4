import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { EVENT_KINDS } from '../../../core/events/event-kinds.ts';
import type { OperationContext } from '../../../operations/context.ts';
import * as events from '../../../operations/events/events.ts';
import { access } from '../../admission/access.ts';
import { sendEventStream } from '../../http/event-stream.ts';
import { errorBody, instant, limit, type RestOptions, text, wireInstant } from '../shapes.ts';

/** Time limit of a long poll: the wait and the queries before and after it. Milliseconds. */
const ANSWER_MS = (events.MAX_WAIT_SECONDS + 15) * 1_000;

const kindList = Object.entries(EVENT_KINDS)
  .map(([kind, meaning]) => `- \`${kind}\`: ${meaning}`)
  .join('\n');

const anyKind = `(?:${Object.keys(EVENT_KINDS).join('|').replaceAll('.', '\\.')})`;
const KINDS_PATTERN = `^ *${anyKind} *(?:, *${anyKind} *)*$`;

const eventsQuery = z.object({
  after: text.optional().meta({
    description:
      'Cursor to return events after, or `latest` for new events only. By default events start with the oldest.',
  }),
  limit: limit(),
  kinds: text.optional().meta({
    pattern: KINDS_PATTERN,
    description: 'Kinds of events to return, separated by commas. The default is all.',
  }),
  wait: z.coerce.number().int().min(0).max(events.MAX_WAIT_SECONDS).default(0).meta({
    description: 'If there are no events, the number of seconds to wait for the first one.',
  }),
});

const eventBody = z
  .object({
    object: z.literal('event'),
    id: z.string(),
    cursor: z.string().meta({ description: 'Cursor of the event.' }),
    kind: z.enum(Object.keys(EVENT_KINDS) as [events.EventKind]),
    at: instant,
    email_id: z.string().nullable(),
    thread_id: z.string().nullable(),
    delivery_id: z.string().nullable(),
    endpoint_id: z.string().nullable(),
    domain_id: z.string().nullable(),
    data: z.unknown().meta({
      type: 'object',
      additionalProperties: true,
      description: 'Additional data; the fields depend on the kind.',
    }),
  })
  .meta({ id: 'Event', description: `An event. Kinds:\n\n${kindList}` });

const pageAnswer = z.object({
  object: z.literal('list'),
  data: z.array(eventBody),
  has_more: z.boolean().meta({ description: 'Whether there are more events after `next_cursor`.' }),
  next_cursor: z
    .string()
    .meta({ description: 'Pass this as `after` in the next request, even if there are no more events yet.' }),
  latest_cursor: z.string().meta({ description: 'Cursor of the newest event.' }),
});

const answer = {
  description: 'A page of events, or with `Accept: text/event-stream` a stream of events.',
  content: {
    'application/json': { schema: pageAnswer },
    'text/event-stream': {
      schema: z.string().meta({ description: 'In each message, `id` is the cursor and `data` is an Event.' }),
    },
  },
};

export const eventRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/events',
    {
      config: { access: access.read, answerWithinMs: ANSWER_MS },
      schema: {
        operationId: 'listEvents',
        summary: 'List or stream events',
        description:
          'Returns everything that happens to emails, threads, deliveries and domains, oldest first and without gaps: continue with the last cursor to see every event exactly once. With `Accept: text/event-stream`, the response is a stream of server-sent events. To resume a stream, send the last cursor as `Last-Event-ID`.',
        tags: ['Events'],
        querystring: eventsQuery,
        response: { 200: answer, 410: errorBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const { limit: size, kinds: list, wait } = request.query;
      const context = contextOf(request);
      const kinds = events.readKinds(list?.split(',').map((kind) => kind.trim()) ?? null);
      const isStream = wantsStream(request);
      const start = events.startAfter((isStream ? lastEventId(request) : null) ?? request.query.after);
      if (isStream) {
        const reader = await events.openEvents(context, { start, kinds });
        return sendEventStream(reply, reader, context.caller, (event) => eventBodyOf(context, event));
      }
      const page = await events.awaitEvents(context, { start, kinds }, { limit: size, waitMs: wait * 1_000 });
      return {
        object: 'list' as const,
        data: page.events.map((event) => eventBodyOf(context, event)),
        has_more: page.hasMore,
        next_cursor: page.nextCursor,
        latest_cursor: page.newestCursor,
      };
    },
  );
};

/** Returns whether the Accept header (RFC 9110 §12.5.1) names the type of event streams. A wildcard does not count. */
function wantsStream({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(headers.accept ?? '');
}

/** The header that a client of server-sent events sends when it reconnects. */
function lastEventId({ headers }: FastifyRequest): string | null {
  const value = headers['last-event-id'];
  return typeof value === 'string' && value !== '' ? value : null;
}

function eventBodyOf(context: OperationContext, event: events.FeedEvent): z.infer<typeof eventBody> {
  return {
    object: 'event',
    id: event.id,
    cursor: events.cursorOf(context, event),
    kind: event.kind,
    at: wireInstant(event.at),
    email_id: event.emailId,
    thread_id: event.threadId,
    delivery_id: event.deliveryId,
    endpoint_id: event.endpointId,
    domain_id: event.domainId,
    data: event.data,
  };
}
