import pg from 'pg';
import { listUrls } from './database-hosts.ts';
import { withEitherPassword, withTakenPassword } from './login-passwords.ts';

/** The primary of several servers; shared by all connections of the process. */
export interface Primary {
  /** the server to connect to; the last known one until a new one is found */
  readonly url: string;
  /** Returns the primary. Searches for it only when it is unknown or in doubt. Throws NoPrimaryError. */
  find(): Promise<string>;
  /** Reports that the server failed or became read-only: the next find searches again. */
  doubt(url: string): void;
  /** Calls `cut` when another server becomes primary. Returns a function that stops watching. */
  watch(url: string, cut: () => void): () => void;
}

/** No server of the URL accepts writes. */
class NoPrimaryError extends Error {
  override name = 'NoPrimaryError';
  /** sqlclient_unable_to_establish_sqlconnection: a retry may succeed */
  readonly code = '08001';
}

/** The server is read-only. */
export class ReadOnlyServerError extends Error {
  override name = 'ReadOnlyServerError';
  /** read_only_sql_transaction */
  readonly code = '25006';
}

/** Time limit for a host that does not respond. Milliseconds. */
const HOST_LIMIT_MS = 2_000;

/** Time limit when no host responded within the first one, because all may be slow. Milliseconds. */
const PATIENT_LIMIT_MS = 8_000;

/** How long a host that did not respond is skipped while another accepts writes. Milliseconds. */
const AVOIDED_MS = 10_000;

const known = new Map<string, Primary>();

/** Follows the primary of a URL with several hosts, as libpq does with target_session_attrs=read-write. */
export function findPrimary(url: string): Primary {
  const before = known.get(url);
  if (before !== undefined) return before;
  const primary = createPrimary(listUrls(url));
  known.set(url, primary);
  return primary;
}

/**
 * Returns the URL with only the host of the primary; a URL with one host unchanged. Throws NoPrimaryError. For programs that connect once;
 * pools follow the primary by themselves (openPool).
 */
export async function primaryUrl(url: string): Promise<string> {
  return listUrls(url).length === 1 ? url : findPrimary(url).find();
}

/**
 * The current server is kept while it accepts writes, even if the previous one returns. If there is no current server and several accept
 * writes, the one that was promoted last, by its timeline, is chosen.
 */
function createPrimary(urls: string[]): Primary {
  let current = urls[0] ?? '';
  /** whether the current server was found, and no failure was reported since */
  let isFound = false;
  let isSure = false;
  let looking: Promise<string> | null = null;
  const avoidedUntil = new Map<string, number>();
  const watchers = new Map<() => void, string>();

  async function look(): Promise<string> {
    // Failures from now on concern the server that is found.
    isSure = true;
    const now = performance.now();
    const near = urls.filter((url) => url === current || (avoidedUntil.get(url) ?? 0) < now);
    const far = urls.filter((url) => !near.includes(url));
    const failures: Failure[] = [];
    let found = (await best(near, failures)) ?? (await best(far, failures));
    const silent = failures.filter(({ isSilent }) => isSilent).map(({ url }) => url);
    for (const url of silent) avoidedUntil.set(url, performance.now() + AVOIDED_MS);
    if (found === null && silent.length > 0) found = await best(silent, failures, PATIENT_LIMIT_MS);
    if (found === null) {
      isSure = false;
      throw noPrimary(failures);
    }
    current = found;
    isFound = true;
    for (const [cut, url] of watchers) if (url !== found) cut();
    return found;
  }

  /** Asks all hosts at the same time; a response of the current one is used at once. */
  async function best(asked: string[], failures: Failure[], limitMs = HOST_LIMIT_MS): Promise<string | null> {
    const results = asked.map((url) =>
      ask(url, limitMs).catch((error: Error) => void failures.push(toFailure(url, error))),
    );
    if (isFound && (await results[asked.indexOf(current)]) !== undefined) return current;
    const writers = (await Promise.all(results)).filter((result) => result !== undefined);
    return writers.toSorted((a, b) => b.timeline - a.timeline)[0]?.url ?? null;
  }

  return {
    get url() {
      return current;
    },
    async find() {
      if (isSure && looking === null) return current;
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },
    doubt(url) {
      if (url === current) isSure = false;
    },
    watch(url, cut) {
      watchers.set(cut, url);
      return () => void watchers.delete(cut);
    },
  };
}

interface Failure {
  url: string;
  error: Error;
  /** whether it did not respond */
  isSilent: boolean;
}

/** A server that accepts writes. */
interface ServerReply {
  url: string;
  /** increased by each promotion; 0 when unknown */
  timeline: number;
}

function ask(url: string, limitMs: number): Promise<ServerReply> {
  return withEitherPassword(url, () => askOnce(url, limitMs));
}

async function askOnce(url: string, limitMs: number): Promise<ServerReply> {
  const client = new pg.Client({
    connectionString: withTakenPassword(url),
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
    application_name: 'postroom primary',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ takes_writes: boolean; timeline: string | null }>(
      `select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as takes_writes,
              case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
    );
    const row = rows[0];
    if (row?.takes_writes !== true) throw new ReadOnlyServerError('takes no writes');
    return { url, timeline: Number.parseInt(row.timeline ?? '0', 16) };
  } finally {
    // A server that does not respond will not close the connection, either.
    void client.end().catch(() => undefined);
  }
}

function toFailure(url: string, error: Error): Failure {
  return { url, error, isSilent: !('code' in error) };
}

/** The hosts and why each was skipped, without user and password. If all servers refuse for the same reason, that error is thrown. */
function noPrimary(failures: Failure[]): Error {
  // 28: login refused; 3D: no such database. Waiting does not help.
  const refused = failures.find(({ error }) => /^(28|3D)/.test(String((error as { code?: unknown }).code)));
  if (refused !== undefined && failures.every(({ error }) => isSameCode(error, refused.error))) return refused.error;
  const reasons = failures.map(({ url, error }) => `${readHost(url)}: ${error.message}`);
  return new NoPrimaryError(`No host of DATABASE_URL takes writes (${reasons.join('; ')})`);
}

const isSameCode = (one: Error, other: Error): boolean =>
  (one as { code?: unknown }).code === (other as { code?: unknown }).code;

function readHost(url: string): string {
  return new URL(url).host;
}
