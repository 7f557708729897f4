import { IDENTIFIER_RANDOM_BYTES, makeIdentifier } from '../../core/shared/identifiers.ts';
import {
  type FinishedRow,
  type FinishRecord,
  finishDeliveriesSql,
} from '../../db/queries/endpoints/delivery-finish.ts';
import { actorMetrics, deliveryMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { setAside } from '../set-aside.ts';
import { createOutcomeRecorder, type OutcomeRecorder } from '../work/outcome-recorder.ts';
import type { DeliveryFlow } from './delivery-flow.ts';
import type { DeliveryFaultPoint, DeliveryJob } from './job.ts';

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
