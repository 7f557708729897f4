import pg from 'pg';
import { urlsOf } from './database-hosts.ts';

/** Which of several servers takes writes; shared by all connections of the process to them. */
export interface Primary {
  /** the server to connect to; the last known while it was not found yet */
  readonly url: string;
  /** Answers the server that takes writes, looking for it only when it is not known or in doubt. Throws NoPrimaryError. */
  find(): Promise<string>;
  /** Says that the server failed, or takes no writes any more: the next find looks again. */
  doubt(url: string): void;
  /** Has `cut` called when another server takes the place of that one; answers how to be forgotten. */
  watch(url: string, cut: () => void): () => void;
}

/** No server of the URL takes writes at present. */
class NoPrimaryError extends Error {
  override name = 'NoPrimaryError';
  /** sqlclient_unable_to_establish_sqlconnection: trying again later may help */
  readonly code = '08001';
}

/** A connection to a server that only reads. */
export class ReadOnlyServerError extends Error {
  override name = 'ReadOnlyServerError';
  /** read_only_sql_transaction */
  readonly code = '25006';
}

/** What one host may cost that swallows every packet. Milliseconds. */
const HOST_LIMIT_MS = 2_000;

/** What the hosts may cost when none of them answered within that: they may be slow, all of them. Milliseconds. */
const PATIENT_LIMIT_MS = 8_000;

/** For so long nobody waits for a host that did not answer, as long as another takes writes. Milliseconds. */
const AVOIDED_MS = 10_000;

const known = new Map<string, Primary>();

/** The servers of a URL with several hosts, as libpq reads it with target_session_attrs=read-write. */
export function primaryOf(url: string): Primary {
  const before = known.get(url);
  if (before !== undefined) return before;
  const primary = createPrimary(urlsOf(url));
  known.set(url, primary);
  return primary;
}

/**
 * The URL, with one host, of the server that takes writes; the URL itself when it names one host. Throws NoPrimaryError.
 * For programs that connect once; pools follow the primary by themselves (openPool).
 */
export async function primaryUrl(url: string): Promise<string> {
  return urlsOf(url).length === 1 ? url : primaryOf(url).find();
}

/**
 * The current server stays as long as it takes writes: one that comes back and takes writes, too, is not gone back to. Where none is
 * current and several take writes, the one that was promoted last is taken, by its timeline.
 */
function createPrimary(urls: string[]): Primary {
  let current = urls[0] ?? '';
  /** of the current one: whether it was found at all, and whether nothing speaks against it since */
  let isFound = false;
  let isSure = false;
  let looking: Promise<string> | null = null;
  const avoidedUntil = new Map<string, number>();
  const watchers = new Map<() => void, string>();

  async function look(): Promise<string> {
    // What fails from now on is a doubt of what is found.
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

  /** Asks all at once; the current one need not wait for the others. */
  async function best(asked: string[], failures: Failure[], limitMs = HOST_LIMIT_MS): Promise<string | null> {
    const answers = asked.map((url) =>
      ask(url, limitMs).catch((error: Error) => void failures.push(failureOf(url, error))),
    );
    if (isFound && (await answers[asked.indexOf(current)]) !== undefined) return current;
    const writers = (await Promise.all(answers)).filter((answer) => answer !== undefined);
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
  /** whether it said nothing at all */
  isSilent: boolean;
}

/** Of a server that takes writes. */
interface Answer {
  url: string;
  /** raised by each promotion; 0 where none is told */
  timeline: number;
}

async function ask(url: string, limitMs: number): Promise<Answer> {
  const client = new pg.Client({
    connectionString: url,
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
    // A server that says nothing does not say good-bye, either.
    void client.end().catch(() => undefined);
  }
}

function failureOf(url: string, error: Error): Failure {
  return { url, error, isSilent: !('code' in error) };
}

/** The hosts and why each was passed over, without user and password. What every server refuses for one reason is that reason. */
function noPrimary(failures: Failure[]): Error {
  // 28: not let in; 3D: no such database. A wrong password or name is not to be waited for.
  const refused = failures.find(({ error }) => /^(28|3D)/.test(String((error as { code?: unknown }).code)));
  if (refused !== undefined && failures.every(({ error }) => isSameCode(error, refused.error))) return refused.error;
  const reasons = failures.map(({ url, error }) => `${hostOf(url)}: ${error.message}`);
  return new NoPrimaryError(`No host of DATABASE_URL takes writes (${reasons.join('; ')})`);
}

const isSameCode = (one: Error, other: Error): boolean =>
  (one as { code?: unknown }).code === (other as { code?: unknown }).code;

function hostOf(url: string): string {
  return new URL(url).host;
}
