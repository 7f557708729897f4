import type { Database } from '../../db/connection/database.ts';
import { isTransient } from '../../db/errors.ts';
import { leaseRequests } from '../../db/queries/accounts/request-lease.ts';

/** The state of a user's request limit, for the headers of a response. */
export interface LimitState {
  limit: number;
  remaining: number;
  /** milliseconds until the oldest counted request leaves the window */
  resetMs: number;
  isExceeded: boolean;
}

export interface RequestLimiter {
  /** Counts one request of the user unless it exceeds the limit. Rejects with RequestLimiterAway if the store is unreachable. */
  take(workspaceId: string): LimitState | Promise<LimitState>;
}

/** The store of the limiter does not respond. */
export class RequestLimiterAway extends Error {
  override name = 'RequestLimiterAway';
}

/** Length of the sliding window. Milliseconds. */
const WINDOW_MS = 1_000;
/** Above this number of users, idle ones are dropped. */
const MAX_USERS = 10_000;

/** Creates a limiter in the memory of one process. `clock` returns milliseconds and never goes back. */
export function createRequestLimiter(limit: number, clock: () => number): RequestLimiter {
  // For each user, the times of the last `limit` admitted requests, oldest first.
  const taken = new Map<string, number[]>();

  function forgetPassed(now: number): void {
    for (const [workspaceId, instants] of taken) {
      if ((instants.at(-1) ?? 0) <= now - WINDOW_MS) taken.delete(workspaceId);
    }
  }

  return {
    take(workspaceId) {
      const now = clock();
      if (taken.size >= MAX_USERS && !taken.has(workspaceId)) forgetPassed(now);
      const instants = (taken.get(workspaceId) ?? []).filter((instant) => instant > now - WINDOW_MS);
      const isExceeded = instants.length >= limit;
      if (!isExceeded) instants.push(now);
      taken.set(workspaceId, instants);
      const resetMs = Math.max(1, Math.ceil((instants[0] ?? now) + WINDOW_MS - now));
      return { limit, remaining: limit - instants.length, resetMs, isExceeded };
    },
  };
}

/** Returns the headers of both conventions: `X-RateLimit-*` (reset in epoch milliseconds) and those of the IETF draft (reset in seconds). */
export function limitHeaders(state: LimitState, now: Date): Record<string, string> {
  const resetSeconds = String(Math.ceil(state.resetMs / 1_000));
  return {
    'x-ratelimit-limit': String(state.limit),
    'x-ratelimit-remaining': String(state.remaining),
    'x-ratelimit-reset': String(now.getTime() + state.resetMs),
    'ratelimit-limit': String(state.limit),
    'ratelimit-remaining': String(state.remaining),
    'ratelimit-reset': resetSeconds,
    ...(state.isExceeded ? { 'retry-after': resetSeconds } : {}),
  };
}

export interface SharedRequestLimiterOptions {
  /** where all gateways count requests */
  database: Database;
  /** maximum requests of one user within any second, over all gateways */
  limit: number;
  /** milliseconds; never goes back */
  clock: () => number;
  /** bytes from a cryptographic source */
  random: (bytes: number) => Uint8Array;
}

/** A lease holds at most a tenth of the limit, so that other gateways find the rest. */
const LEASES_OF_LIMIT = 10;
/** Lifetime of a lease; milliseconds. */
const LEASE_MS = 1_000;
/** Time after which the store counts as unreachable; milliseconds. */
const STORE_TIMEOUT_MS = 5_000;

/** Requests that this gateway may admit without asking the store. A used lease is kept, to report its use with the next request. */
interface Lease {
  id: string;
  askedAt: number;
  granted: number;
  used: number;
  lastUsedAt: number;
}

interface User {
  lease: Lease | null;
  /** the pending request for a lease, which all requests without a lease await */
  asking: Promise<void> | null;
  waiting: number;
  /** the time until which the limit is exceeded */
  refusedUntil: number;
  /** the remaining requests that the store last reported, and until when that is valid */
  remaining: number;
  changesAt: number;
}

/**
 * Creates a limiter over several gateways. Each gateway leases blocks of a user's requests from PostgreSQL, and leases again when a block is
 * used up or a second old; docs/decisions/0014 explains the guarantees. The size of a block follows from the waiting requests and the use of
 * the last block, so that few requests reserve little on each gateway. `take` rejects with RequestLimiterAway.
 */
export function createSharedRequestLimiter(options: SharedRequestLimiterOptions): RequestLimiter {
  const { database, limit, clock } = options;
  const gateway = Buffer.from(options.random(9)).toString('base64url');
  const largestLease = Math.max(1, Math.floor(limit / LEASES_OF_LIMIT));
  const users = new Map<string, User>();
  let leases = 0;

  async function ask(workspaceId: string, user: User): Promise<void> {
    const last = user.lease;
    const id = `${gateway}.${leases++}`;
    let askedAt = clock();
    const makeRequest = () => {
      askedAt = clock();
      return {
        workspaceId,
        leaseId: id,
        wanted: Math.min(largestLease, Math.max(user.waiting, demandAfter(last, askedAt))),
        limit,
        leaseMs: LEASE_MS,
        windowMs: WINDOW_MS,
        previous: last && {
          leaseId: last.id,
          requests: last.used,
          lastMs: Math.ceil(last.lastUsedAt - last.askedAt),
        },
      };
    };
    const result = await withTimeout(leaseRequests(database, makeRequest));
    user.remaining = result.remaining;
    user.changesAt = clock() + result.changesInMs;
    if (result.granted === 0) user.refusedUntil = user.changesAt;
    else user.lease = { id, askedAt, granted: result.granted, used: 0, lastUsedAt: askedAt };
  }

  function findOrAddUser(workspaceId: string, now: number): User {
    const known = users.get(workspaceId);
    if (known !== undefined) return known;
    if (users.size >= MAX_USERS) for (const [id, user] of users) if (isIdle(user, now)) users.delete(id);
    const user = { lease: null, asking: null, waiting: 0, refusedUntil: 0, remaining: limit, changesAt: 0 };
    users.set(workspaceId, user);
    return user;
  }

  function describeState(user: User, now: number, isExceeded: boolean): LimitState {
    const unused = user.lease === null ? 0 : user.lease.granted - user.lease.used;
    const resetMs = Math.max(1, Math.ceil(user.changesAt - now));
    return { limit, remaining: isExceeded ? 0 : user.remaining + unused, resetMs, isExceeded };
  }

  return {
    async take(workspaceId) {
      const startedAt = clock();
      const user = findOrAddUser(workspaceId, startedAt);
      user.waiting++;
      try {
        for (let now = startedAt; ; now = clock()) {
          const { lease } = user;
          if (lease !== null && lease.used < lease.granted && now < lease.askedAt + LEASE_MS) {
            lease.used++;
            lease.lastUsedAt = now;
            return describeState(user, now, false);
          }
          if (now < user.refusedUntil) return describeState(user, now, true);
          // The store is so slow that leases expire before they arrive.
          if (now >= startedAt + STORE_TIMEOUT_MS) throw new RequestLimiterAway('no lease in time');
          user.asking ??= ask(workspaceId, user).finally(() => {
            user.asking = null;
          });
          await user.asking;
        }
      } finally {
        user.waiting--;
      }
    },
  };
}

/** Predicts the demand from the last lease: the same again, twice as much if it was used up, none after a pause. */
function demandAfter(last: Lease | null, now: number): number {
  if (last === null || now >= last.askedAt + 2 * LEASE_MS) return 0;
  return last.used === last.granted ? 2 * last.used : last.used;
}

function isIdle(user: User, now: number): boolean {
  const isOver = user.lease === null || now >= user.lease.askedAt + LEASE_MS + WINDOW_MS;
  return user.waiting === 0 && now >= user.refusedUntil && isOver;
}

/** Awaits the response of the store. Rejects with RequestLimiterAway if it is unreachable or too late. */
async function withTimeout<T>(result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new RequestLimiterAway('no reply in time')), STORE_TIMEOUT_MS);
  });
  try {
    return await Promise.race([result, lateness]);
  } catch (error) {
    throw isTransient(error) ? new RequestLimiterAway('the store is away', { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}
