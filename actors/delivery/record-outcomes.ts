import { setTimeout as pause } from 'node:timers/promises';
import { makeIdentifier } from '../../core/identifiers.ts';
import { isConnectionLost } from '../../db/database.ts';
import { type FinishedRow, type FinishRecord, finishDeliveriesSql } from '../../db/queries/delivery-finish.ts';
import type { ActorContext } from '../actor.ts';
import type { DeliveryFaultPoint } from './job.ts';

/** Writes outcomes of attempts down, in groups: while one group is committed the next one gathers. */
export interface OutcomeRecorder {
  /** Resolves when the outcome is committed, or when the claim turned out to be lost. Never rejects. */
  record(outcome: FinishRecord): Promise<void>;
}

export interface OutcomeRecorderOptions {
  context: ActorContext;
  fault: (point: DeliveryFaultPoint) => void;
  /** told of deliveries that are to be tried again, in seconds */
  onDeferred: (delaySeconds: number) => void;
}

/** Outcomes in one statement at most. */
const MAX_GROUP = 100;
/** An outcome waits that long for company: nobody is waiting for it, and a group costs little more than one. Milliseconds. */
const GATHER_MS = 15;
/** While PostgreSQL is away; milliseconds. */
const RETRY_MS = 500;

export function createOutcomeRecorder(options: OutcomeRecorderOptions): OutcomeRecorder {
  const { context, fault } = options;
  const waiting: { outcome: FinishRecord; done: () => void }[] = [];
  let isWriting = false;

  const writeAll = async () => {
    await pause(GATHER_MS);
    while (waiting.length > 0) {
      const group = waiting.splice(0, MAX_GROUP);
      await writeGroup(group.map(({ outcome }) => outcome));
      fault('delivery.recorded');
      for (const { done } of group) done();
    }
    isWriting = false;
  };

  /** A group that fails is tried outcome by outcome, so that none can hold up the others. */
  const writeGroup = async (outcomes: FinishRecord[]): Promise<void> => {
    for (;;) {
      try {
        await write(outcomes);
        return;
      } catch (error) {
        if (isConnectionLost(error)) {
          context.log.warn({ err: error, count: outcomes.length }, 'delivery: outcomes wait for the database');
          await pause(RETRY_MS);
        } else if (outcomes.length > 1) {
          for (const outcome of outcomes) await writeGroup([outcome]);
          return;
        } else {
          // The lease runs out and the delivery is tried again.
          context.log.error({ err: error, deliveryId: outcomes[0]?.id }, 'delivery: an outcome could not be recorded');
          return;
        }
      }
    }
  };

  const write = async (outcomes: FinishRecord[]) => {
    const { rows } = await context.database.pool.query<FinishedRow>({
      name: 'delivery-finish',
      text: finishDeliveriesSql,
      values: [context.name, JSON.stringify(withEventIds(context, outcomes))],
    });
    for (const row of rows) context.bus.publish('event.appended', { userId: row.user_id, lastSeq: row.last_seq });
    const recorded = new Set(rows.flatMap((row) => row.delivery_ids));
    for (const outcome of outcomes) {
      if (!recorded.has(outcome.id))
        context.log.warn({ deliveryId: outcome.id }, 'delivery: the claim was lost before its outcome was recorded');
      else if (outcome.delay_seconds !== null) options.onDeferred(outcome.delay_seconds);
    }
  };

  return {
    record(outcome) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ outcome, done: resolve });
      if (!isWriting) {
        isWriting = true;
        void writeAll();
      }
      return promise;
    },
  };
}

/** Octets of randomness in an identifier. */
const RANDOM_OCTETS = 10;

function withEventIds(context: ActorContext, outcomes: readonly FinishRecord[]) {
  const now = context.now();
  const random = context.random(RANDOM_OCTETS * outcomes.length);
  return outcomes.map((outcome, n) => ({
    ...outcome,
    event_id: makeIdentifier('event', now, random.subarray(n * RANDOM_OCTETS, (n + 1) * RANDOM_OCTETS)),
  }));
}
