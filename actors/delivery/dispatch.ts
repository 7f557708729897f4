import { setTimeout as pause } from 'node:timers/promises';
import type { ActorContext } from '../actor.ts';
import { createWorkEngine } from '../work/engine.ts';
import type { FairQueue } from '../work/fair-queue.ts';
import type { OutcomeRecorder } from '../work/outcome-recorder.ts';
import type { ActionRunner } from './act-on-response.ts';
import type { AttemptEnd, Attempter } from './attempt.ts';
import type { DeliveryFlow } from './delivery-flow.ts';
import type { DeliveryFaultPoint, DeliveryJob } from './delivery-job.ts';
import { type DeliveryOutcome, ofAttempt } from './record-outcomes.ts';

export interface DispatcherOptions {
  context: ActorContext;
  flow: DeliveryFlow;
  queue: FairQueue<DeliveryJob>;
  attempter: Attempter;
  recorder: OutcomeRecorder<DeliveryOutcome>;
  actions: ActionRunner;
  fault: (point: DeliveryFaultPoint) => void;
}

/** Takes claimed deliveries through their attempts until their outcomes are recorded. */
export interface Dispatcher {
  add(jobs: readonly DeliveryJob[]): void;
  /** Starts nothing more; releases what was not started. */
  stop(): void;
}

/** Pause before deliveries whose content could not be read are retried; milliseconds. */
const READ_RETRY_MS = 500;
/** Deliveries whose content is read in one query. */
const READ_BATCH = 100;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { context, flow, attempter, recorder, actions, fault } = options;

  const run = async (jobs: readonly DeliveryJob[]): Promise<void> => {
    const batches: Promise<void>[] = [];
    for (let at = 0; at < jobs.length; at += READ_BATCH) batches.push(attemptAll(jobs.slice(at, at + READ_BATCH)));
    await Promise.all(batches);
  };

  /** Resolves when all attempts are recorded. */
  const attemptAll = async (jobs: readonly DeliveryJob[]): Promise<void> => {
    const { promise: allDone, resolve } = Promise.withResolvers<void>();
    let left = jobs.length;
    const onEnd: Parameters<Attempter['attempt']>[1] = (job, outcome) => {
      if (outcome !== null) fault('delivery.posted');
      engine.end(job);
      const done = outcome === null ? engine.release([job]) : engine.finish([job], record(job, outcome));
      void done.then(() => {
        if (--left === 0) resolve();
      });
    };
    try {
      await attempter.attempt(jobs, onEnd);
    } catch (error) {
      context.log.warn({ err: error, count: jobs.length }, 'delivery: attempts wait for PostgreSQL');
      for (const job of jobs) engine.end(job);
      await pause(READ_RETRY_MS);
      await Promise.all(jobs.map((job) => engine.putBack(job)));
      return;
    }
    await allDone;
  };

  const record = (job: DeliveryJob, { record, acting }: AttemptEnd): Promise<void> =>
    acting === null ? recorder.record({ record, ...ofAttempt(job) }) : actions.run(job, record, acting);

  const engine = createWorkEngine<DeliveryJob, DeliveryJob>({
    queue: options.queue,
    inHand: flow.inHand,
    leases: flow.leases,
    keep: (work) => flow.keep(work),
    jobsOf: (job) => [job],
    run,
    onClaimedAgain: (claimed, held) => {
      if (held !== null) held.leaseUntil = claimed.leaseUntil;
    },
    onRoom: (job) => flow.giveRoom(job),
  });

  return {
    add(jobs) {
      if (jobs.length === 0) return;
      fault('delivery.claimed');
      for (const job of engine.hold(jobs)) engine.enqueue(job);
      engine.pump();
    },
    stop() {
      recorder.stop();
      actions.stop();
      attempter.close();
      engine.stop();
    },
  };
}
