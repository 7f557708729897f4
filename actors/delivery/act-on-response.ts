import { setTimeout as pause } from 'node:timers/promises';
import type { Action } from '../../core/endpoints/actions.ts';
import { loadOnce } from '../../core/shared/load-once.ts';
import { isTransient } from '../../db/errors.ts';
import { type FinishRecord, finishDelivery } from '../../db/queries/endpoints/record-outcome.ts';
import type { OperationParts } from '../../operations/context.ts';
import type { ActingDelivery } from '../../operations/endpoints/run-actions.ts';
import { isScannerAway } from '../../operations/sending/require-clean.ts';
import type { ActorContext } from '../actor.ts';
import { traceParentToKeep } from '../bus/tracing.ts';
import type { OutcomeRecorder } from '../work/outcome-recorder.ts';
import type { DeliveryFaultPoint, DeliveryJob } from './delivery-job.ts';
import { countOutcome, type DeliveryOutcome, ofAttempt, withEventIds } from './record-outcomes.ts';

export interface ActionRunnerOptions {
  context: ActorContext;
  recorder: OutcomeRecorder<DeliveryOutcome>;
  /** SECRET_KEY, 32 bytes */
  secretKey: Uint8Array;
  /** messages that a user may send within an hour; 0: no limit */
  sendLimitPerHour: number;
  /** days that what they send waits for approval at most */
  approvalDays: number;
  /** checks what they send for viruses; absent: it is not checked */
  scanOutgoing?: OperationParts['scanOutgoing'];
  fault: (point: DeliveryFaultPoint) => void;
}

/** The actions that a response asks for, of an endpoint that allows them. */
export interface Acting {
  actions: readonly Action[];
  endpoint: ActingDelivery['endpoint'];
}

/** Runs the actions in responses of webhooks. */
export interface ActionRunner {
  /**
   * Runs the actions and records the outcome of the delivery, in one transaction; if they are refused, records the outcome with the reason.
   * Resolves when that is committed, or its claim turned out to be lost. Never rejects.
   */
  run(job: DeliveryJob, record: FinishRecord, acting: Acting): Promise<void>;
  /** From now on, actions are not retried: their delivery is posted again later. */
  stop(): void;
}

/** Pause between attempts while PostgreSQL is unreachable or the user's threads are busy; milliseconds. */
const RETRY_MS = 500;
/** How long actions wait for the scanner of viruses; milliseconds. */
const SCANNER_WAIT_MS = 60_000;

/** Loaded by the first response with actions: most services have none. */
const loadOperation = loadOnce(() => import('../../operations/endpoints/run-actions.ts'));

export function createActionRunner(options: ActionRunnerOptions): ActionRunner {
  const { context, recorder, secretKey, sendLimitPerHour, approvalDays, scanOutgoing, fault } = options;
  const ending = new AbortController();

  const attempt = async (job: DeliveryJob, record: FinishRecord, acting: Acting): Promise<void> => {
    const { runActions } = await loadOperation();
    const { bus, database, log, now, random } = context;
    const settings = { sendLimitPerHour, approvalDays, secretKey, unsubscribeUrl: null };
    const acted = await runActions(
      {
        bus,
        database,
        log,
        now,
        random,
        settings,
        workspaceId: job.workspaceId,
        ...(scanOutgoing === undefined ? {} : { scanOutgoing }),
      },
      {
        ...acting,
        emailId: job.emailId,
        eventKind: job.eventKind ?? 'email.received',
        traceParent: traceParentToKeep(),
        stopping: ending.signal,
        readRaw: (rawId) => context.bytes.get(rawId),
        finish: (client, actions) => {
          const [withIds] = withEventIds(context, [{ ...record, actions }]);
          if (withIds === undefined) throw new Error('one record has one set of event ids');
          return finishDelivery(client, context.name, withIds);
        },
        onReady: () => fault('delivery.acted'),
      },
    );
    if (acted.kind === 'done') {
      fault('delivery.recorded');
      countOutcome(record);
    } else if (acted.kind === 'lost')
      context.log.warn({ deliveryId: job.deliveryId }, 'delivery: the claim was lost before its actions ran');
    else await recorder.record({ record: { ...record, actions: acted.log }, ...ofAttempt(job) });
  };

  return {
    async run(job, record, acting) {
      const { signal } = ending;
      const since = performance.now();
      for (;;) {
        try {
          return await attempt(job, record, acting);
        } catch (error) {
          if (isScannerAway(error) && performance.now() - since > SCANNER_WAIT_MS) {
            const message = 'What the actions send cannot be checked for viruses now. No action ran.';
            const actions = { problem: { place: null, message }, results: [] };
            return recorder.record({ record: { ...record, actions }, ...ofAttempt(job) });
          }
          if (!isTransient(error) && !isScannerAway(error) && error !== signal.reason) {
            context.log.error({ err: error, deliveryId: job.deliveryId }, 'delivery: actions failed');
            const problem = { place: null, message: 'Internal error. No action ran.' };
            return recorder.record({ record: { ...record, actions: { problem, results: [] } }, ...ofAttempt(job) });
          }
          if (signal.aborted) {
            context.log.warn({ deliveryId: job.deliveryId }, 'delivery: actions did not run before the stop');
            return;
          }
          await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
        }
      }
    },
    stop: () => ending.abort(),
  };
}
