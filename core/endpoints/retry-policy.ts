/** What an attempt to deliver a webhook came to, as far as the next step hangs on it. */
export type AttemptResult =
  | { kind: 'answered'; statusCode: number; retryAfterSeconds: number | null }
  /** no usable answer: refused, reset, blocked, timed out, TLS trouble */
  | { kind: 'unanswered' }
  /** ended by us while it was open; not the receiver's fault */
  | { kind: 'interrupted' };

/**
 * What becomes of the delivery. `succeeded` and `failed` are final; `deferred` tries again after the delay; `released` gives it back
 * at once without counting the attempt.
 */
export type NextStep =
  | { kind: 'succeeded' }
  | { kind: 'failed'; isEndpointGone: boolean }
  | { kind: 'deferred'; delaySeconds: number }
  | { kind: 'released' };

/** Pauses after the first, second, ... failed attempt; the last one repeats. Standard Webhooks suggests them. */
const WEBHOOK_DELAYS_SECONDS: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000];
/** Each pause is spread by this share to both sides, so that deliveries that failed together do not come back together. */
const DELAY_SPREAD = 0.2;

const SECONDS_PER_MINUTE = 60;

/**
 * Decides the next step of a webhook delivery. `attempts` counts the tries made, this one included; `attemptsAllowed` is the
 * endpoint's retryAttempts + 1; `random` lies in [0, 1).
 * 2xx succeeds; 410 ends it and says that the endpoint is gone (RFC 9110 §15.5.11); everything else, 3xx included, fails the
 * attempt. Retry-After of 429 and 503 (RFC 9110 §10.2.3) lengthens the pause, up to twice its step.
 */
export function decideNextStep(
  result: AttemptResult,
  attempts: number,
  attemptsAllowed: number,
  random: number,
): NextStep {
  if (result.kind === 'interrupted') return { kind: 'released' };
  if (result.kind === 'answered' && result.statusCode >= 200 && result.statusCode < 300) return { kind: 'succeeded' };
  if (result.kind === 'answered' && result.statusCode === 410) return { kind: 'failed', isEndpointGone: true };
  if (attempts >= attemptsAllowed) return { kind: 'failed', isEndpointGone: false };
  const step = WEBHOOK_DELAYS_SECONDS[Math.min(attempts, WEBHOOK_DELAYS_SECONDS.length) - 1] ?? 0;
  const spread = step * (1 + DELAY_SPREAD * (2 * random - 1));
  const asked = isAskingForPatience(result) ? Math.min(result.retryAfterSeconds ?? 0, 2 * step) : 0;
  return { kind: 'deferred', delaySeconds: Math.max(spread, asked) };
}

function isAskingForPatience(result: AttemptResult): result is AttemptResult & { kind: 'answered' } {
  return result.kind === 'answered' && (result.statusCode === 429 || result.statusCode === 503);
}

/**
 * Seconds that a Retry-After field asks for (RFC 9110 §10.2.3: delay-seconds or an HTTP-date); null when it is absent or neither.
 * A date in the past is 0.
 */
export function parseRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value.trim());
  // Date.parse takes far more than HTTP-dates; all three forms of RFC 9110 §5.6.7 begin with the day's name.
  const at = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value.trim()) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) return null;
  return Math.max(0, Math.ceil((at - now.getTime()) / 1_000));
}

/** Longest that an attempt waits for the receiver, whatever its configuration says; seconds. */
export const LONGEST_ATTEMPT_SECONDS = 2 * SECONDS_PER_MINUTE;
