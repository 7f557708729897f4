import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { EVENT_KINDS } from '../../../core/events/event-kinds.ts';
import type { OperationContext } from '../../../operations/context.ts';
import * as events from '../../../operations/events/events.ts';
import { access } from '../../admission/access.ts';
import { sendEventStream } from '../../http/event-stream.ts';
import { errorBody, instant, limit, type RestOptions, text, wireInstant } from '../shapes.ts';

/** A page that is waited for takes so long at most: the wait, and reading before and after it. Milliseconds. */
const ANSWER_MS = (events.MAX_WAIT_SECONDS + 15) * 1_000;

const kindList = Object.entries(EVENT_KINDS)
  .map(([kind, meaning]) => `- \`${kind}\`: ${meaning}`)
  .join('\n');

const anyKind = `(?:${Object.keys(EVENT_KINDS).join('|').replaceAll('.', '\\.')})`;
const KINDS_PATTERN = `^ *${anyKind} *(?:, *${anyKind} *)*$`;

const eventsQuery = z.object({
  after: text.optional().meta({
    description:
      'cursor that the events lie behind, or `latest` for what happens from now on; without it they begin with the first there is',
  }),
  limit: limit(),
  kinds: text
    .optional()
    .meta({ pattern: KINDS_PATTERN, description: 'kinds of events, separated by commas; without it all' }),
  wait: z.coerce.number().int().min(0).max(events.MAX_WAIT_SECONDS).default(0).meta({
    description: 'while there is nothing, wait so many seconds for the first event',
  }),
});

const eventBody = z
  .object({
    object: z.literal('event'),
    id: z.string(),
    cursor: z.string().meta({ description: 'its place in the feed' }),
    kind: z.enum(Object.keys(EVENT_KINDS) as [events.EventKind]),
    at: instant,
    email_id: z.string().nullable(),
    thread_id: z.string().nullable(),
    delivery_id: z.string().nullable(),
    endpoint_id: z.string().nullable(),
    domain_id: z.string().nullable(),
    data: z.unknown().meta({ type: 'object', additionalProperties: true, description: 'what else is known, by kind' }),
  })
  .meta({ id: 'Event', description: `Something that happened. Kinds:\n\n${kindList}` });

const pageAnswer = z.object({
  object: z.literal('list'),
  data: z.array(eventBody),
  has_more: z.boolean().meta({ description: 'whether more can be read at once behind `next_cursor`' }),
  next_cursor: z.string().meta({ description: '`after` of the next request, whether there is more already or not' }),
  latest_cursor: z.string().meta({ description: 'of the newest event there is' }),
});

const answer = {
  description: 'A page of events; or all that follow, one by one, to who accepts `text/event-stream`.',
  content: {
    'application/json': { schema: pageAnswer },
    'text/event-stream': { schema: z.string().meta({ description: 'each message: `id` the cursor, `data` an Event' }) },
  },
};

export const eventRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/events',
    {
      config: { access: access.read, answerWithinMs: ANSWER_MS },
      schema: {
        operationId: 'listEvents',
        summary: 'Follow what happens',
        description:
          'One feed of all that happens to mail, threads, deliveries and domains, oldest first, without a gap: whoever goes on with the last cursor misses nothing and sees nothing twice. With `Accept: text/event-stream` the answer does not end: events follow as server-sent events, and a client that comes again with `Last-Event-ID` goes on where it was.',
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
      const start = startOf((isStream ? lastEventId(request) : null) ?? request.query.after);
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

/** Accept (RFC 9110 §12.5.1) names the type; that a wildcard would do does not make a stream of it. */
function wantsStream({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(headers.accept ?? '');
}

/** What a client of server-sent events says when it comes again. */
function lastEventId({ headers }: FastifyRequest): string | null {
  const value = headers['last-event-id'];
  return typeof value === 'string' && value !== '' ? value : null;
}

function startOf(after: string | undefined): events.EventStart {
  if (after === undefined) return 'beginning';
  return after === 'latest' ? 'now' : { cursor: after };
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
