import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { EVENT_KINDS } from '../../core/events/event-kinds.ts';
import { addServerOptions, connect, type Server, type ServerOptions, Unavailable } from './connect.ts';
import { addJsonOption, hint, oneLine, paint, print, toJson } from './output.ts';

interface TailOptions extends ServerOptions {
  since: string;
  events?: string;
  count?: number;
  follow: boolean;
  json?: true;
}

export function addTailCommand(program: Command): void {
  const command = program
    .command('tail')
    .description('Prints events as they happen: mail, threads, deliveries and domains.')
    .option(
      '--since <cursor>',
      'start after the event with this cursor; `start` begins with the oldest event',
      'latest',
    )
    .option('--events <kinds>', 'only these kinds, or `email.*`, separated by commas', parseKinds)
    .option('--count <count>', 'end after so many events', parseCount)
    .option('--no-follow', 'end when there are no more events');
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
No event is lost or printed twice while it runs, also when the server restarts. With --json each line is an event, and
its cursor continues where you stop.

Examples:
  $ postroom tail
  $ postroom tail --events email.received,email.bounced --json
  $ postroom tail --since start --no-follow --json > events.jsonl

Kinds: ${Object.keys(EVENT_KINDS).join(', ')}`,
    )
    .action(tail);
}

/** Returns the kinds, with those of each prefix such as `email.*`. */
function parseKinds(text: string): string {
  return text
    .split(',')
    .flatMap((each) => {
      const name = each.trim();
      const kinds = Object.keys(EVENT_KINDS).filter(
        (kind) => [kind, '*'].includes(name) || (name.endsWith('.*') && kind.startsWith(name.slice(0, -1))),
      );
      if (kinds.length > 0) return kinds;
      throw new InvalidArgumentError(`${name} is not a kind of event. The kinds are: postroom tail --help.`);
    })
    .join(',');
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('Use a whole number from 1.');
}

interface Event {
  cursor: string;
  kind: string;
  at: string;
  email_id: string | null;
  thread_id: string | null;
  delivery_id: string | null;
  endpoint_id: string | null;
  domain_id: string | null;
  data: Record<string, unknown>;
}

interface Page {
  data: Event[];
  has_more: boolean;
  next_cursor: string;
}

const PAGE = 100;
const WAIT_SECONDS = 25;

async function tail(options: TailOptions): Promise<void> {
  const server = await connect(options);
  let cursor = options.since === 'start' ? undefined : options.since;
  let left = options.count ?? Number.POSITIVE_INFINITY;
  process.once('SIGINT', () => {
    if (cursor !== undefined && cursor !== 'latest') hint(`\nContinue with: postroom tail --since ${cursor}`);
    process.exit(130);
  });
  // From here on the cursor is one that continues, so that nothing is lost if the first request breaks.
  if (cursor === 'latest') cursor = (await server.get<Page>('/events', { after: 'latest', limit: 1 })).next_cursor;
  while (left > 0) {
    const query = {
      after: cursor,
      kinds: options.events,
      limit: Math.min(PAGE, left),
      wait: options.follow ? WAIT_SECONDS : 0,
    };
    const page = await pull(server, query);
    for (const event of page.data) {
      print(options.json === true ? toJson(event) : inWords(event));
      cursor = event.cursor;
    }
    left -= page.data.length;
    cursor = page.next_cursor;
    if (!options.follow && !page.has_more) return;
  }
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;

/** Requests a page until the server has responded. */
async function pull(server: Server, query: Record<string, string | number | undefined>): Promise<Page> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await server.get<Page>('/events', query);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      hint(`${error.message} Trying again.`);
      await pause(pauseMs);
    }
  }
}

function inWords({ at, kind, data, ...ids }: Event): string {
  const time = new Date(at).toLocaleTimeString('en-GB');
  const named = [ids.email_id, ids.thread_id, ids.delivery_id, ids.endpoint_id, ids.domain_id].filter(
    (id) => id !== null,
  );
  const facts = Object.entries(data)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name}=${oneLine(String(value))}`);
  return [paint('dim', time), paint(toStyle(kind), kind.padEnd(KIND_WIDTH)), ...named, paint('dim', facts.join(' '))]
    .join('  ')
    .trimEnd();
}

const KIND_WIDTH = 'email.received'.length;

function toStyle(kind: string): 'red' | 'yellow' | 'green' | 'cyan' {
  if (/\.(?:bounced|failed|complained|disabled|records_lost)$/.test(kind)) return 'red';
  if (/\.(?:delayed|deferred|held|blocked)$/.test(kind)) return 'yellow';
  return /\.(?:received|delivered|succeeded|verified)$/.test(kind) ? 'green' : 'cyan';
}
