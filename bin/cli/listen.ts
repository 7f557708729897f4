import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { CommandError, EXIT } from './command-error.ts';
import { addServerOptions, connect, type Server, type ServerOptions } from './connect.ts';
import { openCursorFile } from './cursor-file.ts';
import { addJsonOption, complain, hint, paint, print, shortTime, toJson } from './output.ts';

interface ListenOptions extends ServerOptions {
  forward: string;
  since?: string;
  events?: string;
  endpoint?: string;
  retries?: number;
  json?: true;
}

/** Seconds that the server waits for the next event. */
const WAIT_SECONDS = 25;
/** Of the local server; the same as the default of an endpoint. Milliseconds. */
const RESPONSE_LIMIT_MS = 30_000;
/** In place of a cursor. */
const START = 'start';
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export function addListenCommand(program: Command): void {
  const command = program
    .command('listen')
    .description('Forwards webhooks to a local server as they happen: the same bytes and headers, signed.')
    .requiredOption('--forward <url>', 'the local server, such as http://localhost:4000/hook', forwardUrl)
    .option('--since <cursor>', 'begin after a cursor, with the `latest` events, or at the `start` of the feed')
    .option('--events <kinds>', 'kinds of events, `*`, or `email.*`, separated by commas (default: email.received)')
    .option('--endpoint <id>', 'forward the requests of this webhook, signed with its secret')
    .option('--retries <count>', 'pass over a request after so many retries (default: never)', count);
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
Examples:
  $ postroom listen --forward http://localhost:4000/hook
  $ postroom listen --forward http://localhost:4000/hook --events 'email.*,thread.labelled'
  $ postroom listen --forward http://localhost:4000/hook --endpoint ep_... --since start`,
    )
    .action(listen);
}

function forwardUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url.href;
  throw new InvalidArgumentError('Use a URL such as http://localhost:4000/hook.');
}

function count(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Use a whole number from 0.');
}

/** A request as the server returns it. */
interface PulledRequest {
  cursor: string;
  event_id: string;
  kind: string;
  headers: Record<string, string>;
  body: string;
}

interface Page {
  data: PulledRequest[];
  next_cursor: string;
  signing_secret?: string;
}

interface Attempt {
  status: number | null;
  error: string | null;
  durationMs: number;
}

/**
 * Pulls requests and posts them, one after the other, in the order of events. The cursor moves when a request is delivered, and is stored:
 * a request can be posted twice, when the program ends in between, and none is left out. A retry pulls the request again, for a signature
 * with the current time.
 */
async function listen(options: ListenOptions): Promise<void> {
  const server = await connect(options);
  const path =
    options.endpoint === undefined
      ? '/events/webhook-requests'
      : `/endpoints/${encodeURIComponent(options.endpoint)}/webhook-requests`;
  const { forward, events, endpoint } = options;
  const file = await openCursorFile([server.url, server.owner, endpoint ?? '', events ?? '', forward]);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopping.abort());
  const { signal } = stopping;

  // Stored before anything is pulled: a run that ends early continues from here, too.
  let cursor = await readStart(server, options.since ?? file.cursor ?? 'latest');
  await file.write(cursor);
  let attempts = 0;
  let hasBegun = false;
  const keep = async (next: string) => {
    if (next === cursor) return;
    cursor = next;
    attempts = 0;
    await file.write(next);
  };
  try {
    while (!signal.aborted) {
      const after = cursor === START ? undefined : cursor;
      const query = { after, events, wait: hasBegun ? WAIT_SECONDS : 0, limit: attempts > 0 ? 1 : undefined };
      const page = await pull(server, path, query, { signal, hasBegun });
      if (!hasBegun) announce(options, page, file.cursor);
      hasBegun = true;
      let failed = false;
      for (const each of page.data) {
        attempts += 1;
        const attempt = await post(forward, each, signal);
        if (attempt === null) return;
        failed = attempt.status === null || attempt.status < 200 || attempt.status > 299;
        const isOver = failed && options.retries !== undefined && attempts > options.retries;
        const pauseMs = failed && !isOver ? pauseAfter(attempts) : null;
        show(options, each, attempt, { number: attempts, pauseMs, isOver });
        if (pauseMs === null) {
          failed = false;
          await keep(each.cursor);
        } else {
          await sleep(pauseMs, undefined, { signal });
          break;
        }
      }
      if (!failed) await keep(page.next_cursor);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Returns the cursor at which to start, as it is stored. */
async function readStart(server: Server, since: string): Promise<string> {
  if (since !== 'latest') return since;
  const { latest_cursor: latest } = await server.get<{ latest_cursor: string }>('/events', {
    after: 'latest',
    limit: 1,
  });
  return latest;
}

/** Pulls a page. Once it has worked, it is repeated while the server is unavailable. */
async function pull(
  server: Server,
  path: string,
  query: Record<string, string | number | undefined>,
  { signal, hasBegun }: { signal: AbortSignal; hasBegun: boolean },
): Promise<Page> {
  for (let tries = 1; ; tries++) {
    try {
      return await server.get<Page>(path, query, { signal });
    } catch (error) {
      if (!hasBegun || !(error instanceof CommandError) || error.exitCode !== EXIT.unavailable) throw error;
      const pauseMs = pauseAfter(tries);
      complain(`${error.message} Next attempt in ${pauseMs / 1_000} s.`);
      await sleep(pauseMs, undefined, { signal });
    }
  }
}

/** Posts a request to the local server; null when the program is asked to end. */
async function post(url: string, { headers, body }: PulledRequest, signal: AbortSignal): Promise<Attempt | null> {
  const { request: sendRequest } = await import('undici');
  const startedAt = performance.now();
  const took = () => Math.round(performance.now() - startedAt);
  try {
    const limit = AbortSignal.timeout(RESPONSE_LIMIT_MS);
    const response = await sendRequest(url, {
      method: 'POST',
      headers,
      body: Buffer.from(body, 'base64'),
      signal: AbortSignal.any([signal, limit]),
    });
    await response.body.dump();
    return { status: response.statusCode, error: null, durationMs: took() };
  } catch (error) {
    if (signal.aborted) return null;
    return { status: null, error: readReason(error as Error), durationMs: took() };
  }
}

function readReason(error: Error & { code?: string; errors?: { code?: string }[] }): string {
  const code = error.code ?? error.errors?.[0]?.code;
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  return error.name === 'TimeoutError' ? `no response in ${RESPONSE_LIMIT_MS / 1_000} s` : (code ?? error.message);
}

function pauseAfter(attempts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
}

function announce({ forward, endpoint, since, json }: ListenOptions, page: Page, stored: string | null): void {
  const secret = page.signing_secret ?? null;
  if (json === true)
    return print(toJson({ forward, endpoint_id: endpoint ?? null, signing_secret: secret, cursor: page.next_cursor }));
  print(`Forwarding to ${forward}. Press Ctrl-C to stop.`);
  print(
    secret === null
      ? `Requests are those of ${endpoint}, signed with its secret.`
      : `Signing secret of this key: ${paint('bold', secret)}`,
  );
  if (since === undefined && stored !== null)
    hint('Continues where it stopped. Add --since latest to begin with new events.');
}

function show(
  { json }: ListenOptions,
  { event_id: eventId, kind, headers, cursor }: PulledRequest,
  { status, error, durationMs }: Attempt,
  { number, pauseMs, isOver }: { number: number; pauseMs: number | null; isOver: boolean },
): void {
  const webhookId = headers['webhook-id'] ?? eventId;
  if (json === true) {
    const attempt = { attempt: number, status, error, duration_ms: durationMs, retry_in_ms: pauseMs };
    return print(toJson({ webhook_id: webhookId, kind, event_id: eventId, ...attempt, cursor }));
  }
  const isTaken = pauseMs === null && !isOver;
  const outcome = paint(isTaken ? 'green' : 'red', status === null ? (error ?? '') : String(status));
  const next = isOver ? ', passed over' : pauseMs === null ? '' : `, attempt ${number + 1} in ${pauseMs / 1_000} s`;
  print(`${shortTime(new Date())}  ${outcome}  ${durationMs} ms  ${kind}  ${webhookId}${next}`);
}
