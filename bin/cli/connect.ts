import { type Command, Option } from 'commander';
import pRetry from 'p-retry';
import { CommandError, EXIT } from './command-error.ts';
import { readStoredServer } from './config-file.ts';
import { readAccessToken } from './stored-tokens.ts';

/** The options with which every command that talks to a server names it. */
export interface ServerOptions {
  url?: string;
  key?: string;
}

type Query = Record<string, string | number | boolean | undefined>;

interface RequestOptions {
  method?: string;
  query?: Query;
  /** sent as JSON */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A server, as an API key sees it. Paths are below /api/e2. All functions throw CommandError for what the user can fix. */
export interface Server {
  url: string;
  /** returns the API key, or an access token that is valid for a while */
  readKey: () => Promise<string>;
  /** tells runs with one access from those with another */
  owner: string;
  get<T>(path: string, query?: Query, options?: RequestOptions): Promise<T>;
  post<T>(path: string, body: unknown, options?: RequestOptions): Promise<T>;
  /** Returns the response to a request that succeeded, for bodies that are not JSON. */
  fetch(path: string, options?: RequestOptions): Promise<Response>;
}

interface ConnectOptions {
  /** how often a request is repeated while the server is unavailable or limits requests */
  retries?: number;
}

export const DEFAULT_URL = 'http://localhost:3000';
const RETRIES = 2;

export function addServerOptions(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'the server').env('POSTROOM_URL'))
    .addOption(new Option('--key <key>', 'API key').env('POSTROOM_KEY'));
}

/**
 * Returns the server that the options, the environment, or `postroom init` or `postroom login` name, in this order. What was stored is sent only
 * to the server it was stored for. Throws CommandError when there is no key.
 */
export async function connect(options: ServerOptions, { retries = RETRIES }: ConnectOptions = {}): Promise<Server> {
  const given = givenIn(options);
  const stored = given.url === undefined || given.key === undefined ? await readStoredServer() : null;
  const url = serverUrl(given.url ?? stored?.url ?? DEFAULT_URL);
  const own = stored !== null && serverUrl(stored.url) === url ? stored : null;
  const key = given.key ?? (own === null ? undefined : 'tokens' in own ? () => readAccessToken(own.url) : own.key);
  if (key === undefined)
    throw new CommandError(`There is no API key for ${url}.`, {
      exitCode: EXIT.auth,
      next: 'Run postroom login or postroom init once, or give a key with --key or POSTROOM_KEY.',
    });
  return openServer(url, key, { retries });
}

/** Returns the options that have a value; an empty environment variable has none. */
export function givenIn({ url, key }: ServerOptions): ServerOptions {
  return { ...(url ? { url } : {}), ...(key ? { key } : {}) };
}

/** Returns the server at a URL, which serverUrl has checked. `key`: an API key, or what returns a valid token. */
export function openServer(
  url: string,
  key: string | (() => Promise<string>),
  { retries = RETRIES }: ConnectOptions = {},
): Server {
  const readKey = typeof key === 'string' ? async () => key : key;
  const request = (path: string, options: RequestOptions = {}) =>
    pRetry(async () => send(url, path, await readKey(), options), {
      retries,
      minTimeout: 500,
      maxTimeout: 10_000,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      shouldRetry: ({ error }) => error instanceof Unavailable && error.isPassing,
    });
  const parsed = async <T>(path: string, options: RequestOptions) => {
    const text = await (await request(path, options)).text();
    try {
      return JSON.parse(text) as T;
    } catch {
      throw notPostroom(url);
    }
  };
  return {
    url,
    readKey,
    owner: typeof key === 'string' ? key : 'signed in',
    get: (path, query, options) => parsed(path, { ...options, ...(query === undefined ? {} : { query }) }),
    post: (path, body, options) => parsed(path, { method: 'POST', ...options, body }),
    fetch: request,
  };
}

/** Returns the URL without a path below it, to which /api/e2 is added. Throws CommandError when it is not a URL of HTTP. */
export function serverUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new CommandError(`${text} is not a URL of a server. Use a URL such as ${DEFAULT_URL}.`, {
      exitCode: EXIT.usage,
    });
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** The server did not process the request. */
export class Unavailable extends CommandError {
  /** whether a repetition within seconds may succeed */
  readonly isPassing: boolean;

  constructor(message: string, isPassing: boolean, next: string | null = null) {
    super(message, { exitCode: EXIT.unavailable, next });
    this.isPassing = isPassing;
  }
}

async function send(url: string, path: string, key: string, options: RequestOptions): Promise<Response> {
  const { method = 'GET', query = {}, body, headers, signal } = options;
  const target = new URL(`${url}${path.startsWith('/mcp') ? '' : '/api/e2'}${path}`);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) target.searchParams.append(name, String(value));
  const init: RequestInit = {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    // A redirect would repeat the key elsewhere, and turn POST into GET.
    redirect: 'manual',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  };
  const response = await fetch(target, init).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw unreachable(url, error);
  });
  if (response.ok) return response;
  throw toProblem(url, response, await response.text().catch(() => ''));
}

/** Codes of connections that were never made. */
const UNREACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);

function unreachable(url: string, error: unknown): CommandError {
  const { cause } = error as { cause?: { code?: string; message?: string; errors?: { code?: string }[] } };
  const code = cause?.code ?? cause?.errors?.[0]?.code ?? '';
  const reason = code === 'ECONNREFUSED' ? 'nothing listens there' : (cause?.message ?? (error as Error).message);
  const next = 'Check that the server runs, and the URL: --url, POSTROOM_URL, or postroom init.';
  return new Unavailable(
    `${url} cannot be reached: ${reason}${reason.includes(code) ? '' : ` (${code})`}.`,
    !UNREACHED.has(code),
    next,
  );
}

function notPostroom(url: string): CommandError {
  return new CommandError(`${url} does not respond like a Postroom server.`, {
    next: 'Check the URL: --url, POSTROOM_URL, or postroom init.',
  });
}

interface ErrorBody {
  message?: unknown;
  details?: unknown;
}

function toProblem(url: string, response: Response, text: string): CommandError {
  const { status } = response;
  const body = parseError(text);
  if (body === null) return status >= 500 ? new Unavailable(`${url} responds with ${status}.`, true) : notPostroom(url);
  const message =
    status === 401
      ? `${url} does not accept the API key: it is wrong, expired or revoked.`
      : `${String(body.message)}${readDetails(body)}`;
  if (status === 429 || status >= 500) {
    const seconds = response.headers.get('retry-after');
    return new Unavailable(message, true, seconds === null ? null : `Try again in ${seconds} s.`);
  }
  const exitCode =
    status === 401 || status === 403 ? EXIT.auth : status === 404 || status === 410 ? EXIT.notFound : EXIT.failure;
  const next =
    status === 401 ? 'Give another key (--key, POSTROOM_KEY, or postroom init), or run postroom login.' : null;
  return new CommandError(message, { exitCode, next, response: body });
}

function parseError(text: string): ErrorBody | null {
  try {
    const body = JSON.parse(text) as ErrorBody | null;
    return typeof body?.message === 'string' ? body : null;
  } catch {
    return null;
  }
}

/** The fields that are wrong, a line each. */
function readDetails({ message, details }: ErrorBody): string {
  if (!Array.isArray(details)) return '';
  const lines = (details as { field?: unknown; message?: unknown }[])
    .filter((each) => each.message !== message)
    .map(({ field, message: text }) => `\n  ${String(field)}: ${String(text)}`);
  return lines.join('');
}
