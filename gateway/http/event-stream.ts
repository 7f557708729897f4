import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../../operations/caller.ts';
import type { EventReader, FeedEvent, StreamEnd } from '../../operations/events/events.ts';

/** A silent connection is taken for dead by proxies; a comment says that it is not. Milliseconds. */
const HEARTBEAT_MS = 15_000;

const reasons: Record<StreamEnd, string> = {
  TOO_FAR_BEHIND: 'Events come faster than they are read. Come again with the cursor.',
  GOING_AWAY: 'This gateway is stopping. Come again with the cursor.',
  UNAUTHORIZED: 'The API key opens nothing any more.',
};

/**
 * Answers a reader's events as server-sent events: `id` is the cursor. The reader is asked only when the connection has taken what it was
 * given. A stream that ends on our side ends with a message of the event `error`, with code, message and cursor.
 */
export function sendEventStream(
  reply: FastifyReply,
  reader: EventReader,
  caller: Caller,
  bodyOf: (event: FeedEvent) => { cursor: string },
): FastifyReply {
  // One chunk at a time: what is ahead of the connection's own buffer is a page at most.
  const stream = Readable.from(messages(reader, bodyOf), { objectMode: false, highWaterMark: 1 });
  caller.gone.addEventListener('abort', () => stream.destroy(), { once: true });
  return reply
    .headers({
      'content-type': 'text/event-stream; charset=utf-8',
      // Neither kept nor gathered on the way.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      connection: 'close',
    })
    .send(stream);
}

async function* messages(
  reader: EventReader,
  bodyOf: (event: FeedEvent) => { cursor: string },
): AsyncGenerator<string, void> {
  try {
    yield ': events follow\n\n';
    for (;;) {
      const pulled = await reader.pull(HEARTBEAT_MS);
      switch (pulled.kind) {
        case 'closed':
          return;
        case 'nothing':
          // The place moves on even where no event is of the kinds asked for.
          yield `: still here\nid: ${pulled.cursor}\n\n`;
          break;
        case 'ended': {
          const { reason, cursor } = pulled;
          const data = { code: reason, message: reasons[reason], cursor };
          yield `event: error\nid: ${cursor}\ndata: ${JSON.stringify(data)}\n\n`;
          return;
        }
        case 'events':
          yield pulled.events.map((event) => messageOf(event, bodyOf)).join('');
      }
    }
  } finally {
    reader.close();
  }
}

/** Readers that read together share events, and so the texts of them. */
const texts = new WeakMap<FeedEvent, string>();

/** JSON holds no line break, so that one `data` field is enough. */
function messageOf(event: FeedEvent, bodyOf: (event: FeedEvent) => { cursor: string }): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const body = bodyOf(event);
  const text = `id: ${body.cursor}\ndata: ${JSON.stringify(body)}\n\n`;
  texts.set(event, text);
  return text;
}
