/** Next step for a deferred recipient: retry after the delay, or give up. */
export type SendingRetry = { kind: 'again'; delaySeconds: number } | { kind: 'given-up' };

/** RFC 5321 §4.5.4.1 requires at least four to five days. Seconds. */
const FIRST_DELAY_SECONDS = 5 * 60;
const LONGEST_DELAY_SECONDS = 4 * 60 * 60;
export const GIVE_UP_SECONDS = 5 * 24 * 60 * 60;
/** Each delay is lengthened by up to this share, so that mail that failed together is not retried together. */
const SPREAD = 0.1;

/**
 * Decides when a deferred recipient is retried. `attempts` includes the current one; `ageSeconds` is the time since it was queued;
 * `random` is in [0, 1). The delay doubles with each attempt. The last attempt is made when the time is up, so that mail is not given up
 * hours early.
 */
export function decideRetry(attempts: number, ageSeconds: number, random: number): SendingRetry {
  const leftSeconds = GIVE_UP_SECONDS - ageSeconds;
  if (leftSeconds <= 0) return { kind: 'given-up' };
  const step = Math.min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** (Math.max(1, attempts) - 1));
  return { kind: 'again', delaySeconds: Math.min(step * (1 + SPREAD * random), leftSeconds) };
}
