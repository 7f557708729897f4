import { Resolver } from 'node:dns/promises';

/** Returns the records of a lookup as node:dns does; rejects with an error that has the `code` of node:dns. */
export type LookUp = (name: string, type: string) => Promise<string[] | string[][]>;

export interface DnsResolver {
  /** Look-ups that all end within so many milliseconds from now: those that have not answered by then reject with ETIMEOUT. */
  within(milliseconds: number): LookUp;
}

export interface DnsResolverOptions {
  /** host:port, asked in this order; none means the system's */
  servers: readonly string[];
  /** milliseconds that one server gets for one try, of which there are two; 800 unless told */
  queryTimeoutMs?: number;
  /** so many look-ups in a row without any answer mean that DNS is away; 5 unless told */
  failuresUntilPause?: number;
}

/** Milliseconds that one server gets for one try, and tries. */
const QUERY_TIMEOUT_MS = 800;
const QUERY_TRIES = 2;

/** Milliseconds for which an answer is kept; node:dns does not tell the records' own time to live for most types. */
const KEEP_ANSWER_MS = 60_000;
const KEEP_NEGATIVE_MS = 30_000;
const KEEP_FAILURE_MS = 5_000;
const MAX_KEPT = 10_000;

/** When DNS is away, no look-up is made for a while, and mail does not wait for it. */
const FAILURES_UNTIL_PAUSE = 5;
const PAUSE_MS = 5_000;

interface Kept {
  answer: Promise<string[] | string[][]>;
  /** on the clock of performance.now(); infinite while the question is open */
  until: number;
}

/** A resolver of ours with a cache of its own. */
export function createDnsResolver(options: DnsResolverOptions): DnsResolver {
  const resolver = openResolver(options);
  const failuresUntilPause = options.failuresUntilPause ?? FAILURES_UNTIL_PAUSE;
  const kept = new Map<string, Kept>();
  let failures = 0;
  let pausedUntil = 0;

  function ask(name: string, type: string): Promise<string[] | string[][]> {
    const key = `${type} ${name.toLowerCase()}`;
    const known = kept.get(key);
    const now = performance.now();
    if (known !== undefined && known.until > now) return known.answer;
    if (pausedUntil > now) return Promise.reject(dnsError('ETIMEOUT', name));
    if (kept.size >= MAX_KEPT) forgetOldest();
    const entry: Kept = { answer: query(name, type), until: Number.POSITIVE_INFINITY };
    kept.delete(key);
    kept.set(key, entry);
    entry.answer.then(
      () => keepFor(entry, KEEP_ANSWER_MS),
      (error: unknown) => keepFor(entry, isNegative(error) ? KEEP_NEGATIVE_MS : KEEP_FAILURE_MS),
    );
    return entry.answer;
  }

  async function query(name: string, type: string): Promise<string[] | string[][]> {
    try {
      const answer = await resolve(name, type);
      failures = 0;
      return answer as string[] | string[][];
    } catch (error) {
      if (isUnanswered(error)) {
        if (++failures >= failuresUntilPause) pausedUntil = performance.now() + PAUSE_MS;
      } else {
        failures = 0;
      }
      throw error;
    }
  }

  /**
   * When one reply is garbage c-ares ends every question that is open on the same connection (seen with Node 24). So each of these is
   * asked once more on a connection of its own, where only the one that gets the garbage gets it again.
   */
  async function resolve(name: string, type: string) {
    try {
      return await resolver.resolve(name, type);
    } catch (error) {
      if (codeOf(error) !== 'EBADRESP') throw error;
      return await openResolver(options).resolve(name, type);
    }
  }

  function keepFor(entry: Kept, milliseconds: number): void {
    entry.until = performance.now() + milliseconds;
  }

  function forgetOldest(): void {
    let count = MAX_KEPT / 10;
    for (const key of kept.keys()) {
      kept.delete(key);
      if (--count === 0) return;
    }
  }

  return {
    within(milliseconds) {
      const deadline = performance.now() + milliseconds;
      return async (name, type) => {
        const left = deadline - performance.now();
        if (left <= 0) throw dnsError('ETIMEOUT', name);
        try {
          return await before(left, ask(name, type), name);
        } catch (error) {
          // Callers write on the errors they get; this one may be handed out many times.
          throw dnsError(codeOf(error), name);
        }
      };
    },
  };
}

function openResolver({ servers, queryTimeoutMs }: DnsResolverOptions): Resolver {
  const resolver = new Resolver({ timeout: queryTimeoutMs ?? QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}

async function before<T>(milliseconds: number, answer: Promise<T>, name: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(dnsError('ETIMEOUT', name)), milliseconds);
  });
  try {
    return await Promise.race([answer, lateness]);
  } finally {
    clearTimeout(timer);
  }
}

function dnsError(code: string, name: string): Error & { code: string } {
  return Object.assign(new Error(`${code} for ${name}`), { code });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EBADRESP';
}

function isNegative(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes(codeOf(error));
}

function isUnanswered(error: unknown): boolean {
  return ['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED', 'EHOSTUNREACH', 'ENETUNREACH'].includes(codeOf(error));
}
