/** What a user has left of a second, for the header fields of an answer. */
export interface LimitState {
  limit: number;
  remaining: number;
  /** milliseconds until the oldest counted request leaves the window */
  resetMs: number;
  isExceeded: boolean;
}

export interface RequestLimiter {
  /** Counts one request of the user unless it is one too many. Rejects with RequestLimiterAway when that cannot be told. */
  take(userId: string): LimitState | Promise<LimitState>;
}

/** What the limiter counts in does not answer. */
export class RequestLimiterAway extends Error {
  override name = 'RequestLimiterAway';
}

/** Sliding window. Milliseconds. */
export const WINDOW_MS = 1_000;
/** Users whose windows have passed are forgotten when there are more than this. */
const MAX_USERS = 10_000;

/** Limits in the memory of one process, by a clock in milliseconds that never goes back. */
export function createRequestLimiter(limit: number, clock: () => number): RequestLimiter {
  // Of each user the instants of the last `limit` requests that were let through, oldest first.
  const taken = new Map<string, number[]>();

  function forgetPassed(now: number): void {
    for (const [userId, instants] of taken) {
      if ((instants.at(-1) ?? 0) <= now - WINDOW_MS) taken.delete(userId);
    }
  }

  return {
    take(userId) {
      const now = clock();
      if (taken.size >= MAX_USERS && !taken.has(userId)) forgetPassed(now);
      const instants = (taken.get(userId) ?? []).filter((instant) => instant > now - WINDOW_MS);
      const isExceeded = instants.length >= limit;
      if (!isExceeded) instants.push(now);
      taken.set(userId, instants);
      const resetMs = Math.max(1, Math.ceil((instants[0] ?? now) + WINDOW_MS - now));
      return { limit, remaining: limit - instants.length, resetMs, isExceeded };
    },
  };
}

/** Both dialects of header fields: `X-RateLimit-*` (reset in epoch milliseconds) and those of the IETF draft (reset in seconds). */
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
