/** What becomes of a recipient that was deferred: tried again after the delay, or given up. */
export type SendingRetry = { kind: 'again'; delaySeconds: number } | { kind: 'given-up' };

/** RFC 5321 §4.5.4.1 asks for four to five days at least. Seconds. */
const FIRST_DELAY_SECONDS = 5 * 60;
const LONGEST_DELAY_SECONDS = 4 * 60 * 60;
export const GIVE_UP_SECONDS = 5 * 24 * 60 * 60;
/** Each delay is lengthened by up to this share, so that mail that failed together does not come back together. */
const SPREAD = 0.1;

/**
 * Decides when a deferred recipient is tried again. `attempts` counts the tries made, this one included; `ageSeconds` has passed since
 * it was queued; `random` lies in [0, 1). The delay doubles with each try; the last try is made when the time is up, so that nothing
 * is given up hours before.
 */
export function decideRetry(attempts: number, ageSeconds: number, random: number): SendingRetry {
  const leftSeconds = GIVE_UP_SECONDS - ageSeconds;
  if (leftSeconds <= 0) return { kind: 'given-up' };
  const step = Math.min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** (Math.max(1, attempts) - 1));
  return { kind: 'again', delaySeconds: Math.min(step * (1 + SPREAD * random), leftSeconds) };
}
