import { type Database, isConnectionLost } from '../../db/connection/database.ts';
import { leaseRequests } from '../../db/queries/accounts/request-lease.ts';
import { type LimitState, type RequestLimiter, RequestLimiterAway, WINDOW_MS } from './request-limit.ts';

export interface SharedRequestLimiterOptions {
  /** where the gateways count together */
  database: Database;
  /** requests of one user within any second, over all gateways */
  limit: number;
  /** milliseconds; never goes back */
  clock: () => number;
  /** bytes from a cryptographic source */
  random: (bytes: number) => Uint8Array;
}

/** A lease holds at most a tenth of the limit, so that other gateways find the rest. */
const LEASES_OF_LIMIT = 10;
/** How long requests may be made on a lease; milliseconds. */
const LEASE_MS = 1_000;
/** A store that has not answered after this counts as away; milliseconds. */
const PATIENCE_MS = 5_000;
/** Users who have made no request lately are forgotten when there are more than this. */
const MAX_USERS = 10_000;

/** Requests that may be made on this gateway without asking; the last one stays after it is used up, to be told of. */
interface Lease {
  id: string;
  askedAt: number;
  granted: number;
  used: number;
  lastUsedAt: number;
}

interface User {
  lease: Lease | null;
  /** the question under way, which all requests that find no lease wait for */
  asking: Promise<void> | null;
  waiting: number;
  /** the limit was reached, and will be until then */
  refusedUntil: number;
  /** what was left of the limit, and until when that holds, as the store last told */
  remaining: number;
  changesAt: number;
}

/**
 * Limits over several gateways. Each leases blocks of requests of a user from PostgreSQL and asks again when a block is used up or a
 * second old; docs/decisions/0014 says what this guarantees. A block is as large as the requests at hand and those of the block before
 * suggest, so a user who makes few requests binds few on each gateway. `take` rejects with RequestLimiterAway.
 */
export function createSharedRequestLimiter(options: SharedRequestLimiterOptions): RequestLimiter {
  const { database, limit, clock } = options;
  const gateway = Buffer.from(options.random(9)).toString('base64url');
  const largestLease = Math.max(1, Math.floor(limit / LEASES_OF_LIMIT));
  const users = new Map<string, User>();
  let leases = 0;

  async function ask(userId: string, user: User): Promise<void> {
    const former = user.lease;
    const id = `${gateway}.${leases++}`;
    let askedAt = clock();
    const makeRequest = () => {
      askedAt = clock();
      return {
        userId,
        leaseId: id,
        wanted: Math.min(largestLease, Math.max(user.waiting, demandAfter(former, askedAt))),
        limit,
        leaseMs: LEASE_MS,
        windowMs: WINDOW_MS,
        former: former && {
          leaseId: former.id,
          requests: former.used,
          lastMs: Math.ceil(former.lastUsedAt - former.askedAt),
        },
      };
    };
    const answer = await answered(leaseRequests(database, makeRequest));
    user.remaining = answer.remaining;
    user.changesAt = clock() + answer.changesInMs;
    if (answer.granted === 0) user.refusedUntil = user.changesAt;
    else user.lease = { id, askedAt, granted: answer.granted, used: 0, lastUsedAt: askedAt };
  }

  function userOf(userId: string, now: number): User {
    const known = users.get(userId);
    if (known !== undefined) return known;
    if (users.size >= MAX_USERS) for (const [id, user] of users) if (isIdle(user, now)) users.delete(id);
    const user = { lease: null, asking: null, waiting: 0, refusedUntil: 0, remaining: limit, changesAt: 0 };
    users.set(userId, user);
    return user;
  }

  function stateOf(user: User, now: number, isExceeded: boolean): LimitState {
    const unused = user.lease === null ? 0 : user.lease.granted - user.lease.used;
    const resetMs = Math.max(1, Math.ceil(user.changesAt - now));
    return { limit, remaining: isExceeded ? 0 : user.remaining + unused, resetMs, isExceeded };
  }

  return {
    async take(userId) {
      const startedAt = clock();
      const user = userOf(userId, startedAt);
      user.waiting++;
      try {
        for (let now = startedAt; ; now = clock()) {
          const { lease } = user;
          if (lease !== null && lease.used < lease.granted && now < lease.askedAt + LEASE_MS) {
            lease.used++;
            lease.lastUsedAt = now;
            return stateOf(user, now, false);
          }
          if (now < user.refusedUntil) return stateOf(user, now, true);
          // A store so slow that leases are over when they come.
          if (now >= startedAt + PATIENCE_MS) throw new RequestLimiterAway('no lease in time');
          user.asking ??= ask(userId, user).finally(() => {
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

/** How many requests the lease before lets expect: as many again, twice as many when they were not enough, none after a pause. */
function demandAfter(former: Lease | null, now: number): number {
  if (former === null || now >= former.askedAt + 2 * LEASE_MS) return 0;
  return former.used === former.granted ? 2 * former.used : former.used;
}

function isIdle(user: User, now: number): boolean {
  const isOver = user.lease === null || now >= user.lease.askedAt + LEASE_MS + WINDOW_MS;
  return user.waiting === 0 && now >= user.refusedUntil && isOver;
}

/** The store's answer; rejects with RequestLimiterAway when it is away or too late. */
async function answered<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new RequestLimiterAway('no answer in time')), PATIENCE_MS);
  });
  try {
    return await Promise.race([answer, lateness]);
  } catch (error) {
    throw isConnectionLost(error) ? new RequestLimiterAway('the store is away', { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}
