import {
  type AttemptResult,
  decideNextStep,
  type NextStep,
  parseRetryAfter,
} from '../../core/endpoints/retry-policy.ts';
import { isAuditKind } from '../../core/events/event-kinds.ts';
import { IDENTIFIER_RANDOM_BYTES, makeIdentifier } from '../../core/shared/identifiers.ts';
import { storableText } from '../../core/shared/text.ts';
import { type FinishedRow, type FinishRecord, finishDeliveriesSql } from '../../db/queries/endpoints/record-outcome.ts';
import { actorMetrics, deliveryMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { setAside } from '../set-aside.ts';
import { createOutcomeRecorder, type OutcomeRecorder } from '../work/outcome-recorder.ts';
import type { DeliveryFlow } from './delivery-flow.ts';
import type { DeliveryFaultPoint, DeliveryJob } from './delivery-job.ts';
import type { WebhookResponse } from './post-webhook.ts';

/** Steps that are started when outcomes are recorded. */
type RecordedStep = 'deliver' | 'forward';

/** An outcome with the step that it is of. */
export interface DeliveryOutcome {
  record: FinishRecord;
  step: RecordedStep;
  /** another delivery waits for it, see core/endpoints/delivery-order.ts */
  isAwaited: boolean;
}

export interface DeliveryRecorderOptions {
  context: ActorContext;
  flow: DeliveryFlow;
  fault: (point: DeliveryFaultPoint) => void;
}

/** Outcomes in one statement. */
const GROUP_SIZE = 400;
/** If the process dies within this time after posting a webhook, the webhook is posted again. Milliseconds. */
const GATHER_MS = 250;
/** The same where another delivery waits for this one. */
const AWAITED_GATHER_MS = 20;

/** Records the outcomes of deliveries, posted and forwarded. */
export function createDeliveryRecorder(options: DeliveryRecorderOptions): OutcomeRecorder<DeliveryOutcome> {
  const { context, flow, fault } = options;

  const write = async (outcomes: readonly DeliveryOutcome[]) => {
    const records = outcomes.map(({ record }) => record);
    const { rows } = await context.database.pool.query<FinishedRow>({
      name: 'delivery-finish',
      text: finishDeliveriesSql,
      values: [context.name, JSON.stringify(withEventIds(context, records))],
    });
    fault('delivery.recorded');
    for (const { workspace_id: workspaceId, last_seq: lastSeq } of rows)
      if (lastSeq !== null) context.bus.publish('event.appended', { workspaceId, lastSeq });
    const recorded = new Set(rows.flatMap((row) => row.delivery_ids));
    for (const record of records) {
      if (!recorded.has(record.id)) continue;
      countOutcome(record);
      if (record.delay_seconds !== null) flow.retryIn(record.delay_seconds);
    }
    return records.map(({ id }) => recorded.has(id));
  };

  return createOutcomeRecorder<DeliveryOutcome>({
    log: context.log,
    actor: 'delivery',
    describe: ({ record }) => ({ deliveryId: record.id, status: record.status }),
    write,
    withoutRemoteText: (outcome) => ({ ...outcome, record: withoutRemoteText(outcome.record) }),
    setAside: ({ record, step }, error) =>
      setAside(context, { workspaceId: record.workspace_id, step, subjectId: record.id, error }),
    groupSize: GROUP_SIZE,
    gatherMs: ({ isAwaited }) => (isAwaited ? AWAITED_GATHER_MS : GATHER_MS),
  });
}

/** What the recorder needs to know of a delivery that was attempted, besides its record. */
export function ofAttempt({ orderKey }: Pick<DeliveryJob, 'orderKey'>): Omit<DeliveryOutcome, 'record'> {
  return { step: 'deliver', isAwaited: orderKey !== null };
}

/** Counts a recorded outcome in the metrics. */
export function countOutcome({ event_kind: kind, is_counted: isCounted }: FinishRecord): void {
  const outcome = kind === 'delivery.deferred' && !isCounted ? 'interrupted' : kind.slice('delivery.'.length);
  deliveryMetrics.outcomes.inc({ outcome });
  if (outcome === 'deferred') actorMetrics.retries.inc({ queue: 'deliver' });
}

/** The outcome without the response of the receiver. */
function withoutRemoteText(outcome: FinishRecord): FinishRecord {
  return { ...outcome, attempt: { ...outcome.attempt, response_body: null, request_headers: {} } };
}

/** Returns the outcomes with ids for their events; a second one in case the outcome disables the endpoint. */
export function withEventIds(context: ActorContext, outcomes: readonly FinishRecord[]) {
  const now = context.now();
  const random = context.random(2 * IDENTIFIER_RANDOM_BYTES * outcomes.length);
  const idAt = (n: number) =>
    makeIdentifier('event', now, random.subarray(n * IDENTIFIER_RANDOM_BYTES, (n + 1) * IDENTIFIER_RANDOM_BYTES));
  return outcomes.map((outcome, n) => ({
    ...outcome,
    event_id: idAt(2 * n),
    disabled_event_id: outcome.outcome === 'failed' ? idAt(2 * n + 1) : null,
  }));
}

/** An attempt that ended. */
export interface EndedAttempt {
  startedAt: Date;
  durationMs: number;
  response: WebhookResponse;
  /** names and values, alternating; absent when nothing was sent */
  sentHeaders?: readonly string[];
}

/** The outcome of an attempt that was made or begun, as it is recorded. */
export function makeOutcome(
  context: ActorContext,
  job: DeliveryJob,
  { startedAt, durationMs, response, sentHeaders }: EndedAttempt,
): FinishRecord {
  const result = toResult(response, startedAt);
  // The jitter of a pause is drawn only when needed: most attempts have no pause, and random numbers cost time.
  const random = result.kind === 'responded' && result.statusCode < 300 ? 0 : fraction(context.random);
  const step = decideNextStep(result, job.attempts + 1, job.attemptsAllowed, random);
  return {
    ...toRecord(job, step),
    status_code: response.kind === 'responded' ? response.statusCode : null,
    error: findError(response, step),
    attempt: {
      started_at: startedAt,
      duration_ms: durationMs,
      // A receiver may echo the entry, and more people see deliveries than the audit log.
      response_body:
        response.kind === 'responded' && !isAuditKind(job.eventKind ?? '') ? storableText(response.body) : null,
      request_headers: recordedHeaders(sentHeaders ?? []),
    },
    inactive_reason: step.kind === 'failed' && step.isEndpointGone ? 'The receiver responded with 410 Gone' : null,
  };
}

/** The outcome of a delivery that cannot be attempted any more; it is not counted. */
export function outcomeOfGivingUp(context: ActorContext, job: DeliveryJob, error: string): FinishRecord {
  return {
    ...toRecord(job, { kind: 'failed', isEndpointGone: false }),
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

function toRecord(job: DeliveryJob, step: NextStep) {
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

function toResult(response: WebhookResponse, now: Date): AttemptResult {
  if (response.kind !== 'responded') return { kind: response.kind };
  const value = [response.headers['retry-after']].flat()[0];
  return { kind: 'responded', statusCode: response.statusCode, retryAfterSeconds: parseRetryAfter(value, now) };
}

function findError(response: WebhookResponse, step: NextStep): string | null {
  switch (response.kind) {
    case 'responded':
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
