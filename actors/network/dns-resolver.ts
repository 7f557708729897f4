import { Resolver } from 'node:dns/promises';
import { dnsError } from './dns-exchange.ts';
import { isBeyondHostNames, queryDns } from './dns-query.ts';
import { createReplyCache } from './reply-cache.ts';

/** Returns the records of a lookup as node:dns does; rejects with an error that has the `code` of node:dns. */
export type LookUp = (name: string, type: string) => Promise<string[] | string[][]>;

export interface DnsResolver {
  /** Returns lookups that all end within this many milliseconds from now: those without a reply by then reject with ETIMEOUT. */
  within(milliseconds: number): LookUp;
}

export interface DnsResolverOptions {
  /** host:port, in the order in which they are tried; the system's servers if empty */
  servers: readonly string[];
  /** milliseconds for one try of one server, of which there are two; 800 by default */
  queryTimeoutMs?: number;
  /** lookups in a row without any reply after which DNS counts as unreachable; 5 by default */
  failuresUntilPause?: number;
}

/** Default time limit for one try of one server, in milliseconds, and tries. */
const QUERY_TIMEOUT_MS = 800;
const QUERY_TRIES = 2;

/** How long a reply is cached; milliseconds. node:dns returns no TTL for most types. */
const KEEP_ANSWER_MS = 60_000;
const KEEP_NEGATIVE_MS = 30_000;
const KEEP_FAILURE_MS = 5_000;
/** Size of all cached replies: a sender decides how large its own are. Bytes, about. */
export const MAX_DNS_ANSWERS = 10_000_000;

/** While DNS is unreachable, no lookup is made for this long, so that mail does not wait for it. Milliseconds. */
const FAILURES_UNTIL_PAUSE = 5;
const PAUSE_MS = 5_000;

/** A resolver with its own cache. */
export function createDnsResolver(options: DnsResolverOptions): DnsResolver {
  const resolver = openResolver(options);
  const failuresUntilPause = options.failuresUntilPause ?? FAILURES_UNTIL_PAUSE;
  const kept = createReplyCache<string[] | string[][]>({
    maxSize: MAX_DNS_ANSWERS,
    keepMs: () => KEEP_ANSWER_MS,
    keepErrorMs: (error) => (isNegative(error) ? KEEP_NEGATIVE_MS : KEEP_FAILURE_MS),
  });
  let failures = 0;
  let pausedUntil = 0;

  function ask(name: string, type: string): Promise<string[] | string[][]> {
    const known = kept.find(name, type);
    if (known !== undefined) return known;
    if (pausedUntil > performance.now()) return Promise.reject(dnsError('ETIMEOUT', name));
    return kept.get(name, type, () => query(name, type));
  }

  async function query(name: string, type: string): Promise<string[] | string[][]> {
    try {
      const records = await resolve(name, type);
      failures = 0;
      return records as string[] | string[][];
    } catch (error) {
      if (isNoResponse(error)) {
        if (++failures >= failuresUntilPause) pausedUntil = performance.now() + PAUSE_MS;
      } else {
        failures = 0;
      }
      throw error;
    }
  }

  /**
   * When one reply is garbage, c-ares fails every query that is open on the same connection (seen with Node 24). So each of them is
   * repeated once on its own connection, where only the query that gets the garbage fails again.
   */
  async function resolve(name: string, type: string) {
    if (isBeyondHostNames(name)) {
      return queryDns(options.servers, name, type, options.queryTimeoutMs ?? QUERY_TIMEOUT_MS);
    }
    try {
      return await resolver.resolve(name, type);
    } catch (error) {
      if (readCode(error) !== 'EBADRESP') throw error;
      return openResolver(options).resolve(name, type);
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
          // Callers modify the errors that they get, and this one may be thrown many times.
          throw dnsError(readCode(error), name);
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

async function before<T>(milliseconds: number, lookup: Promise<T>, name: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(dnsError('ETIMEOUT', name)), milliseconds);
  });
  try {
    return await Promise.race([lookup, lateness]);
  } finally {
    clearTimeout(timer);
  }
}

function readCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EBADRESP';
}

function isNegative(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes(readCode(error));
}

function isNoResponse(error: unknown): boolean {
  return ['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED', 'EHOSTUNREACH', 'ENETUNREACH'].includes(readCode(error));
}
