import { type Command, Option } from 'commander';
import pRetry from 'p-retry';

/** The options with which every command that talks to a server names it. */
export interface ServerOptions {
  url: string;
  key?: string;
}

/** A server, as an API key sees it. */
export interface Server {
  /** Posts JSON to a path below /api/e2, and retries while the server is unavailable or limits requests. Throws CommandError. */
  post<T>(path: string, body: unknown): Promise<T>;
}

/** A problem that the user can fix; its message is all that is printed. */
export class CommandError extends Error {
  override name = 'CommandError';
}

const DEFAULT_URL = 'http://localhost:3000';
const RETRIES = 8;

export function addServerOptions(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'the server').env('POSTROOM_URL').default(DEFAULT_URL))
    .addOption(new Option('--key <key>', 'API key').env('POSTROOM_KEY'));
}

/** Throws CommandError when there is no key. */
export function connect({ url, key }: ServerOptions): Server {
  if (key === undefined || key === '') throw new CommandError('Give an API key with --key or POSTROOM_KEY');
  const base = `${url.replace(/\/+$/, '')}/api/e2`;
  return {
    post: (path, body) =>
      pRetry(() => send(`${base}${path}`, key, JSON.stringify(body)), {
        retries: RETRIES,
        minTimeout: 500,
        maxTimeout: 10_000,
        shouldRetry: ({ error }) => !(error instanceof CommandError),
      }) as Promise<never>,
  };
}

/** Throws CommandError for what a repetition would not change, and other errors for the rest. */
async function send(url: string, key: string, body: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as unknown;
  const reason = `${response.status} ${messageOf(text)}`;
  if (response.status === 429 || response.status >= 500) throw new Error(reason);
  throw new CommandError(reason);
}

function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text.slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}
