import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';
import type { Caller } from '../../operations/caller.ts';
import type { EventReader, FeedEvent, StreamEnd } from '../../operations/events/events.ts';
import { type ResponseRoom, UNBOUNDED_ROOM } from '../../operations/response-room.ts';

/** Interval of comments that keep proxies from closing an idle connection. Milliseconds. */
const HEARTBEAT_MS = 15_000;

const reasons: Record<StreamEnd, string> = {
  TOO_FAR_BEHIND: 'Events arrive faster than they are read. Reconnect with the cursor.',
  GOING_AWAY: 'This gateway is stopping. Reconnect with the cursor.',
  UNAUTHORIZED: 'The API key is no longer valid.',
};

/**
 * Sends the events of a reader as server-sent events whose `id` is the cursor. Reads on only when the connection has taken the last chunk. If
 * the gateway ends the stream, the last message is an event `error` with code, message and cursor.
 */
export function sendEventStream(
  reply: FastifyReply,
  reader: EventReader,
  caller: Caller,
  bodyOf: (event: FeedEvent) => { cursor: string },
): FastifyReply {
  // One chunk at a time, so that at most one page waits outside the buffer of the connection.
  const room = reply.request.room ?? UNBOUNDED_ROOM;
  const stream = Readable.from(messages(reader, bodyOf, room), { objectMode: false, highWaterMark: 1 });
  caller.gone.addEventListener('abort', () => stream.destroy(), { once: true });
  return reply
    .headers({
      'content-type': 'text/event-stream; charset=utf-8',
      // Proxies must neither cache nor buffer it.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      connection: 'close',
    })
    .send(stream);
}

async function* messages(
  reader: EventReader,
  bodyOf: (event: FeedEvent) => { cursor: string },
  room: ResponseRoom,
): AsyncGenerator<string, void> {
  let sentUpTo = reader.cursor();
  try {
    yield ': events follow\n\n';
    for (;;) {
      const pulled = await reader.pull(HEARTBEAT_MS);
      // The connection has taken what was sent before.
      room.giveBack();
      switch (pulled.kind) {
        case 'closed':
          return;
        case 'nothing':
          // The cursor advances even if no event matches the requested kinds.
          yield `: still here\nid: ${pulled.cursor}\n\n`;
          break;
        case 'ended':
          yield endMessage(pulled);
          return;
        case 'events': {
          const text = pulled.events.map((event) => readMessage(event, bodyOf)).join('');
          // The text, and what it was made of.
          if (text.length > SMALL_PAGE && !isTaken(room, 2 * text.length)) {
            yield endMessage({ reason: 'TOO_FAR_BEHIND', cursor: sentUpTo });
            return;
          }
          yield text;
        }
      }
      sentUpTo = pulled.cursor;
    }
  } finally {
    reader.close();
  }
}

/** Characters of a page that is not counted: 10,000 streams have so much at the same time. */
const SMALL_PAGE = 8_192;

/** Takes room for a page, and returns whether there was any. A client that connects again with its cursor misses nothing. */
function isTaken(room: ResponseRoom, bytes: number): boolean {
  try {
    room.take(bytes);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

function endMessage({ reason, cursor }: { reason: StreamEnd; cursor: string }): string {
  const data = { code: reason, message: reasons[reason], cursor };
  return `event: error\nid: ${cursor}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Readers share event objects, so the text of an event is built once. */
const texts = new WeakMap<FeedEvent, string>();

/** JSON contains no line break, so one `data` field is enough. */
function readMessage(event: FeedEvent, bodyOf: (event: FeedEvent) => { cursor: string }): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const body = bodyOf(event);
  const text = `id: ${body.cursor}\ndata: ${JSON.stringify(body)}\n\n`;
  texts.set(event, text);
  return text;
}
