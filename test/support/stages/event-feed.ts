import { randomBytes } from 'node:crypto';
import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http';
import { type EventKind } from '../../../core/events/event-kinds.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { Bus } from '../../../schema/messages.ts';

export interface AppendOptions {
  kind?: EventKind;
  /** told as the actors tell; default: nobody is told */
  bus?: Bus;
  /** texts by which events can be told apart */
  labels: readonly string[];
  /** bytes in each */
  padding?: number;
}

/** Appends events to a user's feed, in one transaction; returns the last number. */
export async function appendEvents(database: Database, workspaceId: string, options: AppendOptions): Promise<number> {
  const { kind = 'email.read', labels, bus, padding = 0 } = options;
  const filler = 'x'.repeat(padding);
  const events = labels.map((label) => ({
    id: makeIdentifier('event', new Date(), randomBytes(10)),
    kind,
    data: { label, filler },
  }));
  const { rows } = await database.pool.query<{ last_seq: number }>('select append_events($1, $2::jsonb) as last_seq', [
    workspaceId,
    JSON.stringify(events),
  ]);
  const lastSeq = rows[0]?.last_seq ?? 0;
  bus?.publish('event.appended', { workspaceId, lastSeq });
  return lastSeq;
}

/** One server-sent event. */
export interface Message {
  event: string;
  id: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read into it
  data: any;
}

/** A client of GET /events that reads what comes. */
export interface EventClient {
  status: number;
  headers: IncomingMessage['headers'];
  messages: Message[];
  /** the last `id` that came */
  lastId: () => string;
  /** what came, as it came */
  text: () => string;
  /** Resolves when the condition holds; throws when the stream ends first, or after the limit. */
  until(holds: (messages: readonly Message[]) => boolean, limitMs?: number): Promise<void>;
  /** resolves when the connection is over */
  ended: Promise<void>;
  close(): void;
}

export interface ClientOptions {
  query?: string;
  lastEventId?: string;
  onMessage?: (message: Message) => void;
}

const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

/** Opens a stream of events; rejects when nothing responds. */
export function followEvents(url: string, key: string, options: ClientOptions = {}): Promise<EventClient> {
  const { query = '', lastEventId, onMessage } = options;
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'text/event-stream',
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  };
  return new Promise((resolve, reject) => {
    const request: ClientRequest = get(`${url}/api/e2/events${query}`, { agent, headers }, (response) => {
      const messages: Message[] = [];
      const watchers = new Set<() => void>();
      let rest = '';
      let all = '';
      let lastId = lastEventId ?? '';
      let isOver = false;
      const wake = () => {
        for (const watch of watchers) watch();
      };
      const ended = new Promise<void>((done) => {
        response.once('close', () => {
          isOver = true;
          wake();
          done();
        });
      });
      response.on('error', () => undefined);
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        all += chunk;
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          const fields = new Map(
            block.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]),
          );
          lastId = fields.get('id') ?? lastId;
          const data = fields.get('data');
          if (data === undefined) continue;
          const message = { event: fields.get('event') ?? 'message', id: lastId, data: JSON.parse(data) };
          messages.push(message);
          onMessage?.(message);
        }
        wake();
      });
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        messages,
        lastId: () => lastId,
        text: () => all,
        ended,
        until: (holds, limitMs = 120_000) =>
          new Promise((hold, fail) => {
            const finish = (act: () => void) => {
              clearTimeout(timer);
              watchers.delete(watch);
              act();
            };
            const watch = () => {
              if (holds(messages)) finish(hold);
              else if (isOver) finish(() => fail(new Error(`the stream ended: ${all.slice(-500)}`)));
            };
            const timer = setTimeout(
              () => finish(() => fail(new Error(`not within ${limitMs} ms: ${all.slice(-500)}`))),
              limitMs,
            );
            watchers.add(watch);
            watch();
          }),
        close: () => request.destroy(),
      });
    });
    request.on('error', reject);
  });
}

/** The labels of appendEvents, in the order in which they came. */
export function listLabels(messages: readonly Message[]): string[] {
  return messages.filter(({ event }) => event === 'message').map(({ data }) => data.data.label);
}
