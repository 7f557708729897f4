import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { EVENT_KINDS } from '../../../core/events/event-kinds.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { eventShape } from '../../../operations/events/event-shapes.ts';
import * as events from '../../../operations/events/events.ts';
import { access } from '../../admission/access.ts';
import { sendEventStream } from '../../http/event-stream.ts';
import { makeWriter, wireOutput } from '../capability-shapes.ts';
import { errorBody, limit, type RestOptions, text } from '../shapes.ts';

/** Time limit of a long poll: the wait and the queries before and after it. Milliseconds. */
const RESPONSE_MS = (events.MAX_WAIT_SECONDS + 15) * 1_000;

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

const eventBody = wireOutput(eventShape, 'snake');
const write = makeWriter(eventShape, 'snake') as (event: object) => Record<string, unknown> & { cursor: string };

function writeEvent(context: OperationContext, event: events.FeedEvent): ReturnType<typeof write> {
  return write({ ...event, cursor: events.encodeCursor(context, event) });
}

const pageResponse = z.object({
  object: z.literal('list'),
  data: z.array(eventBody),
  has_more: z.boolean().meta({ description: 'Whether there are more events after `next_cursor`.' }),
  next_cursor: z
    .string()
    .meta({ description: 'Pass this as `after` in the next request, even if there are no more events yet.' }),
  latest_cursor: z.string().meta({ description: 'Cursor of the newest event.' }),
});

const pageOrStream = {
  description: 'A page of events, or with `Accept: text/event-stream` a stream of events.',
  content: {
    'application/json': { schema: pageResponse },
    'text/event-stream': {
      schema: z.string().meta({ description: 'In each message, `id` is the cursor and `data` is an Event.' }),
    },
  },
};

export const eventRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/events',
    {
      config: { access: access.read, respondWithinMs: RESPONSE_MS },
      schema: {
        operationId: 'listEvents',
        summary: 'List or stream events',
        description:
          'Returns everything that happens to emails, threads, deliveries and domains, oldest first and without gaps: continue with the last cursor to see every event exactly once. With `Accept: text/event-stream`, the response is a stream of server-sent events. To resume a stream, send the last cursor as `Last-Event-ID`.',
        tags: ['Events'],
        querystring: eventsQuery,
        response: { 200: pageOrStream, 410: errorBody, default: errorBody },
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
        return sendEventStream(reply, reader, context.caller, (event) => writeEvent(context, event));
      }
      const page = await events.awaitEvents(context, { start, kinds }, { limit: size, waitMs: wait * 1_000 });
      return {
        object: 'list' as const,
        data: page.events.map((event) => writeEvent(context, event)),
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
