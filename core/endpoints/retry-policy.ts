/** Result of a webhook attempt, as far as it decides the next step. */
export type AttemptResult =
  | { kind: 'responded'; statusCode: number; retryAfterSeconds: number | null }
  /** no usable response: refused, reset, blocked, timed out, TLS error */
  | { kind: 'unanswered' }
  /** canceled by us while it was running; not the receiver's fault */
  | { kind: 'interrupted' };

/**
 * Next step of a delivery. `succeeded` and `failed` are final; `deferred` is retried after the delay; `released` returns it to the queue
 * without counting the attempt.
 */
export type NextStep =
  | { kind: 'succeeded' }
  | { kind: 'failed'; isEndpointGone: boolean }
  | { kind: 'deferred'; delaySeconds: number }
  | { kind: 'released' };

/** Delays after the first, second, … failed attempt; the last one repeats. Suggested by Standard Webhooks. */
const WEBHOOK_DELAYS_SECONDS: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000];
/** Each delay varies by this share in both directions, so that deliveries that failed together are not retried together. */
const DELAY_SPREAD = 0.2;

const SECONDS_PER_MINUTE = 60;

/**
 * Decides the next step of a webhook delivery. `attempts` includes the current one; `attemptsAllowed` is the endpoint's retryAttempts +
 * 1; `random` is in [0, 1). 2xx succeeds; 410 ends the delivery and disables the endpoint (RFC 9110 §15.5.11); everything else, including
 * 3xx, fails the attempt. Retry-After of 429 and 503 (RFC 9110 §10.2.3) lengthens the delay, up to twice its step.
 */
export function decideNextStep(
  result: AttemptResult,
  attempts: number,
  attemptsAllowed: number,
  random: number,
): NextStep {
  if (result.kind === 'interrupted') return { kind: 'released' };
  if (result.kind === 'responded' && result.statusCode >= 200 && result.statusCode < 300) return { kind: 'succeeded' };
  if (result.kind === 'responded' && result.statusCode === 410) return { kind: 'failed', isEndpointGone: true };
  if (attempts >= attemptsAllowed) return { kind: 'failed', isEndpointGone: false };
  const step = WEBHOOK_DELAYS_SECONDS[Math.min(attempts, WEBHOOK_DELAYS_SECONDS.length) - 1] ?? 0;
  const spread = step * (1 + DELAY_SPREAD * (2 * random - 1));
  const asked = asksForDelay(result) ? Math.min(result.retryAfterSeconds ?? 0, 2 * step) : 0;
  return { kind: 'deferred', delaySeconds: Math.max(spread, asked) };
}

function asksForDelay(result: AttemptResult): result is AttemptResult & { kind: 'responded' } {
  return result.kind === 'responded' && (result.statusCode === 429 || result.statusCode === 503);
}

/**
 * Returns the seconds of a Retry-After field (RFC 9110 §10.2.3: delay-seconds or an HTTP-date); null when it is missing or invalid. A
 * date in the past is 0.
 */
export function parseRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value.trim());
  // Date.parse accepts far more than HTTP-dates; all three forms of RFC 9110 §5.6.7 start with the name of the day.
  const at = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value.trim()) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) return null;
  return Math.max(0, Math.ceil((at - now.getTime()) / 1_000));
}

/** Maximum time an attempt waits for the receiver, regardless of the endpoint's configuration; seconds. */
export const MAX_ATTEMPT_SECONDS = 2 * SECONDS_PER_MINUTE;
