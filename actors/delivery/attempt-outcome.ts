import {
  type AttemptResult,
  decideNextStep,
  type NextStep,
  parseRetryAfter,
} from '../../core/endpoints/retry-policy.ts';
import { isAuditKind } from '../../core/events/event-kinds.ts';
import { storableText } from '../../core/shared/text.ts';
import type { FinishRecord } from '../../db/queries/endpoints/delivery-finish.ts';
import type { ActorContext } from '../actor.ts';
import type { DeliveryJob } from './job.ts';
import type { WebhookResponse } from './post-webhook.ts';

/** An attempt that ended. */
export interface EndedAttempt {
  startedAt: Date;
  durationMs: number;
  response: WebhookResponse;
  /** names and values, alternating; absent when nothing was sent */
  sentHeaders?: readonly string[];
}

/** The outcome of an attempt that was made or begun, as it is recorded. */
export function outcomeOf(
  context: ActorContext,
  job: DeliveryJob,
  { startedAt, durationMs, response, sentHeaders }: EndedAttempt,
): FinishRecord {
  const result = resultOf(response, startedAt);
  // The jitter of a pause is drawn only when needed: most attempts have no pause, and random numbers cost time.
  const random = result.kind === 'answered' && result.statusCode < 300 ? 0 : fraction(context.random);
  const step = decideNextStep(result, job.attempts + 1, job.attemptsAllowed, random);
  return {
    ...recordOf(job, step),
    status_code: response.kind === 'answered' ? response.statusCode : null,
    error: errorOf(response, step),
    attempt: {
      started_at: startedAt,
      duration_ms: durationMs,
      // A receiver may echo the entry, and more people see deliveries than the audit log.
      response_body:
        response.kind === 'answered' && !isAuditKind(job.eventKind ?? '') ? storableText(response.body) : null,
      request_headers: recordedHeaders(sentHeaders ?? []),
    },
    inactive_reason: step.kind === 'failed' && step.isEndpointGone ? 'The receiver answered 410 Gone' : null,
  };
}

/** The outcome of a delivery that cannot be attempted any more; it is not counted. */
export function outcomeOfGivingUp(context: ActorContext, job: DeliveryJob, error: string): FinishRecord {
  return {
    ...recordOf(job, { kind: 'failed', isEndpointGone: false }),
    is_counted: false,
    status_code: null,
    error,
    attempt: { started_at: context.now(), duration_ms: 0, response_body: null, request_headers: {} },
    inactive_reason: null,
  };
}

const outcomes = { succeeded: 'success', failed: 'failed', deferred: 'failed', released: 'interrupted' } as const;
const statuses = { succeeded: 'success', failed: 'failed', deferred: 'pending', released: 'pending' } as const;
const eventKinds = {
  succeeded: 'delivery.succeeded',
  failed: 'delivery.failed',
  deferred: 'delivery.deferred',
  released: 'delivery.deferred',
} as const;

function recordOf(job: DeliveryJob, step: NextStep) {
  return {
    workspace_id: job.workspaceId,
    id: job.deliveryId,
    attempts_before: job.attempts,
    is_counted: step.kind !== 'released',
    outcome: outcomes[step.kind],
    status: statuses[step.kind],
    delay_seconds: step.kind === 'deferred' ? step.delaySeconds : step.kind === 'released' ? 0 : null,
    event_kind: eventKinds[step.kind],
  };
}

function resultOf(response: WebhookResponse, now: Date): AttemptResult {
  if (response.kind !== 'answered') return { kind: response.kind };
  const value = [response.headers['retry-after']].flat()[0];
  return { kind: 'answered', statusCode: response.statusCode, retryAfterSeconds: parseRetryAfter(value, now) };
}

function errorOf(response: WebhookResponse, step: NextStep): string | null {
  switch (response.kind) {
    case 'answered':
      return step.kind === 'succeeded' ? null : `Webhook returned error (${response.statusCode})`;
    case 'unanswered':
      return response.error;
    case 'interrupted':
      return 'interrupted';
  }
}

/** Headers of ours that say something the delivery's row does not; the others contain secrets or repeat ids. */
const RECORDED_HEADERS = new Set(['Content-Type', 'User-Agent', 'X-Webhook-Timestamp']);
/** Ours end with the Standard Webhooks headers; custom ones, which may contain secrets, follow. */
const LAST_OWN_HEADERS = new Set(['webhook-timestamp', 'webhook-signature']);

/** Which request headers are stored: ours that carry information, and the names of custom ones. */
function recordedHeaders(headers: readonly string[]): Record<string, string> {
  const recorded: [string, string][] = [];
  let isCustom = false;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (LAST_OWN_HEADERS.has(name)) isCustom = true;
    else if (isCustom) recorded.push([name, '[hidden]']);
    else if (RECORDED_HEADERS.has(name)) recorded.push([name, headers[at + 1] ?? '']);
  }
  return Object.fromEntries(recorded);
}

/** A number in [0, 1) from 32 random bits. */
function fraction(random: (count: number) => Uint8Array): number {
  const [a = 0, b = 0, c = 0, d = 0] = random(4);
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
}
