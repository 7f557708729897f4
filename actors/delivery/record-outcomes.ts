import { setTimeout as pause } from 'node:timers/promises';
import { makeIdentifier } from '../../core/shared/identifiers.ts';
import { isConnectionLost } from '../../db/connection/database.ts';
import {
  type FinishedRow,
  type FinishRecord,
  finishDeliveriesSql,
} from '../../db/queries/endpoints/delivery-finish.ts';
import { actorMetrics, deliveryMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { setAside } from '../set-aside.ts';
import type { DeliveryFaultPoint } from './job.ts';

/** Work that outcomes are of. */
export type RecordedStep = 'deliver' | 'forward';

/** Writes outcomes of attempts down, in groups: while one group is committed the next one gathers. */
export interface OutcomeRecorder {
  /**
   * Resolves when the outcome is committed, or when the claim turned out to be lost; until then the delivery is to be held, as what was
   * posted would be posted again. Never rejects.
   */
  record(outcome: FinishRecord, step: RecordedStep): Promise<void>;
  /** Outcomes that could not be recorded are tried once more, and then given up. */
  stop(): void;
}

export interface OutcomeRecorderOptions {
  context: ActorContext;
  fault: (point: DeliveryFaultPoint) => void;
  /** told of deliveries that are to be tried again, in seconds */
  onDeferred: (delaySeconds: number) => void;
}

/** Outcomes in one statement at most. */
const MAX_GROUP = 400;
/**
 * An outcome waits that long for company: nobody is waiting for it, and a group costs little more than one. What was posted within this
 * time before the process dies is posted again. Milliseconds.
 */
const GATHER_MS = 40;
/** While PostgreSQL is away; milliseconds. */
const RETRY_MS = 500;

export function createOutcomeRecorder(options: OutcomeRecorderOptions): OutcomeRecorder {
  const { context, fault } = options;
  const waiting: { outcome: FinishRecord; step: RecordedStep; done: () => void }[] = [];
  const ending = new AbortController();
  let isWriting = false;

  const writeAll = async () => {
    while (waiting.length > 0) {
      await pause(GATHER_MS);
      const group = waiting.splice(0, MAX_GROUP);
      const refused = await writeGroup(group.map(({ outcome }) => outcome));
      fault('delivery.recorded');
      for (const { outcome, step, done } of group) {
        const own = refused.find(({ id }) => id === outcome.id);
        void finish(own, step, done);
      }
    }
    isWriting = false;
  };

  const finish = async (refused: FinishRecord | undefined, step: RecordedStep, done: () => void) => {
    if (refused !== undefined) await insist(refused, step);
    done();
  };

  /** A group that fails is tried outcome by outcome, so that none can hold up the others. Answers those that the database refuses. */
  const writeGroup = async (outcomes: FinishRecord[]): Promise<FinishRecord[]> => {
    for (;;) {
      try {
        await write(outcomes);
        return [];
      } catch (error) {
        if (isConnectionLost(error)) {
          context.log.warn({ err: error, count: outcomes.length }, 'delivery: outcomes wait for the database');
          await pause(RETRY_MS);
        } else if (outcomes.length > 1) {
          const refused: FinishRecord[] = [];
          for (const outcome of outcomes) refused.push(...(await writeGroup([outcome])));
          return refused;
        } else {
          context.log.error({ err: error, deliveryId: outcomes[0]?.id }, 'delivery: an outcome could not be recorded');
          return outcomes.map(withoutWords);
        }
      }
    }
  };

  /**
   * Tries one that the database refuses again and again: forgotten, its webhook would be posted again as soon as the lease is over. It is set
   * aside, so that it is not, even if this process ends; when it is dead its outcome is given up.
   */
  const insist = async (outcome: FinishRecord, step: RecordedStep): Promise<void> => {
    const { signal } = ending;
    // Once at least: what is recorded while the actor stops has no other moment.
    for (let pauseMs = 0, isLast = false; !isLast; ) {
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      try {
        return await write([outcome]);
      } catch (error) {
        pauseMs = RETRY_MS;
        isLast = signal.aborted;
        if (isConnectionLost(error)) continue;
        const { retrySeconds } = await setAside(context, {
          userId: outcome.user_id,
          step,
          subjectId: outcome.id,
          error,
        });
        if (retrySeconds === null) return;
        pauseMs = retrySeconds * 1_000;
      }
    }
    context.log.error({ deliveryId: outcome.id, status: outcome.status }, 'delivery: an outcome is lost with the stop');
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
      if (!recorded.has(outcome.id)) {
        context.log.warn({ deliveryId: outcome.id }, 'delivery: the claim was lost before its outcome was recorded');
        continue;
      }
      count(outcome);
      if (outcome.delay_seconds !== null) options.onDeferred(outcome.delay_seconds);
    }
  };

  return {
    record(outcome, step) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ outcome, step, done: resolve });
      if (!isWriting) {
        isWriting = true;
        void writeAll();
      }
      return promise;
    },
    stop: () => ending.abort(),
  };
}

function count({ event_kind: kind, is_counted: isCounted }: FinishRecord): void {
  const outcome = kind === 'delivery.deferred' && !isCounted ? 'interrupted' : kind.slice('delivery.'.length);
  deliveryMetrics.outcomes.inc({ outcome });
  if (outcome === 'deferred') actorMetrics.retries.inc({ queue: 'deliver' });
}

/** An outcome with nothing in it that the receiver said. */
function withoutWords(outcome: FinishRecord): FinishRecord {
  return { ...outcome, attempt: { ...outcome.attempt, response_body: null, request_headers: {} } };
}

/** Octets of randomness in an identifier. */
const RANDOM_OCTETS = 10;

/** A second one for the event that an endpoint was switched off, where that may happen. */
function withEventIds(context: ActorContext, outcomes: readonly FinishRecord[]) {
  const now = context.now();
  const random = context.random(2 * RANDOM_OCTETS * outcomes.length);
  const idAt = (n: number) => makeIdentifier('event', now, random.subarray(n * RANDOM_OCTETS, (n + 1) * RANDOM_OCTETS));
  return outcomes.map((outcome, n) => ({
    ...outcome,
    event_id: idAt(2 * n),
    switch_event_id: outcome.outcome === 'failed' ? idAt(2 * n + 1) : null,
  }));
}
