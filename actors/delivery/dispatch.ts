import { setTimeout as pause } from 'node:timers/promises';
import type { ActorContext } from '../actor.ts';
import type { OutcomeRecorder } from '../work/outcome-recorder.ts';
import type { Attempter } from './attempt.ts';
import { createLeaseReleaser, releaseLeases } from './claim-deliveries.ts';
import type { FairQueue } from './fair-queue.ts';
import type { DeliveryFaultPoint, DeliveryJob } from './job.ts';
import type { DeliveryOutcome } from './record-outcomes.ts';

export interface DispatcherOptions {
  context: ActorContext;
  queue: FairQueue;
  attempter: Attempter;
  recorder: OutcomeRecorder<DeliveryOutcome>;
  fault: (point: DeliveryFaultPoint) => void;
  /** lets stop() await work */
  keep: (work: Promise<unknown>) => void;
  /** a job left our hands */
  onRoom: (job: DeliveryJob) => void;
}

/** Takes claimed deliveries through their attempts to the record. */
export interface Dispatcher {
  add(jobs: readonly DeliveryJob[]): void;
  /** Starts nothing more; what was not begun is given back. */
  stop(): void;
}

/** Before deliveries whose content could not be read are tried again; milliseconds. */
const READ_RETRY_MS = 500;
/** Deliveries whose content is read at once. */
const READ_BATCH = 100;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { context, queue, attempter, recorder, fault } = options;
  const releaser = createLeaseReleaser(context);
  let isStopping = false;
  let isPumpDue = false;

  const pump = () => {
    if (isStopping) return;
    const jobs = queue.take();
    for (let at = 0; at < jobs.length; at += READ_BATCH) options.keep(attemptAll(jobs.slice(at, at + READ_BATCH)));
  };

  /** Not at once: what ends in the same turn of the event loop makes room for one batch. */
  const pumpSoon = () => {
    if (isPumpDue) return;
    isPumpDue = true;
    setImmediate(() => {
      isPumpDue = false;
      pump();
    });
  };

  const attemptAll = async (jobs: DeliveryJob[]): Promise<void> => {
    const { promise: allRecorded, resolve } = Promise.withResolvers<void>();
    let open = jobs.length;
    try {
      await attempter.attempt(jobs, (job, outcome) => {
        if (outcome !== null) fault('delivery.posted');
        queue.end(job);
        pumpSoon();
        const settled =
          outcome === null ? releaser.release(job) : recorder.record({ record: outcome, step: 'deliver' });
        void settled.then(() => {
          queue.forget(job.deliveryId);
          options.onRoom(job);
          if (--open === 0) resolve();
        });
      });
    } catch (error) {
      context.log.warn({ err: error, count: jobs.length }, 'delivery: attempts wait for the database');
      for (const job of jobs) queue.end(job);
      await pause(READ_RETRY_MS);
      if (isStopping) await Promise.all(jobs.map((job) => releaser.release(job)));
      else queue.add(jobs);
      pump();
      return;
    }
    await allRecorded;
  };

  return {
    add(jobs) {
      if (jobs.length === 0) return;
      fault('delivery.claimed');
      // A lease of ours may have run out while the job is still in hand, when PostgreSQL was away for long.
      const fresh = jobs.filter((job) => {
        const held = queue.find(job.deliveryId);
        if (held !== undefined) held.leaseUntil = job.leaseUntil;
        return held === undefined;
      });
      if (isStopping) options.keep(releaseLeases(context, fresh));
      else queue.add(fresh);
      pump();
    },
    stop() {
      isStopping = true;
      recorder.stop();
      attempter.close();
      options.keep(releaseLeases(context, queue.clearWaiting()));
    },
  };
}
