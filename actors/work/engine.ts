import type { FairQueue } from './fair-queue.ts';
import type { InHand } from './in-hand.ts';
import { type Leased, type Leases, leaseStart } from './leases.ts';

export interface WorkEngineOptions<Item, Job extends Leased> {
  queue: FairQueue<Item>;
  inHand: InHand<Job>;
  leases: Leases<Job>;
  jobsOf: (item: Item) => readonly Job[];
  /** Runs items that the queue admitted. Each item must reach `end`, and each of its jobs `finish`, `release` or `putBack`. */
  run: (items: readonly Item[]) => Promise<void>;
  /**
   * Called when a row in hand was claimed again, because its lease expired while PostgreSQL was unreachable. `held` is null if its job left
   * while the claim was under way.
   */
  onClaimedAgain: (claimed: Job, held: Job | null) => void;
  /** Called when a job left: its lane has room. */
  onRoom: (job: Job) => void;
  /** Lets the stop of the actor wait for this work. */
  keep: (work: Promise<unknown>) => void;
}

/**
 * Takes claimed rows through their attempts. Each row goes through these states:
 *
 * - **waiting**: the row is due and no process holds its lease.
 * - **claimed**: an update wrote the name of this process and the end of its lease into the row (db/claim.ts). Its job waits in the fair
 *   queue of this process.
 * - **running**: the limits of the queue admitted it, and its lease still holds. The attempt is in progress, outside any transaction, and
 *   its lease is renewed.
 * - **recording**: the attempt ended. Its outcome waits for its commit, in a group. The write is fenced with `claimed_by`.
 * - **done**: the outcome is committed. The row is final, or waits again with a later time, and the job is forgotten.
 *
 * A row goes back from claimed or running to **waiting** when its lease is released (a stop, or content that could not be read), and when
 * its lease ends: then another process may claim it, and what this process writes later changes nothing. An item whose destination asks
 * for a pause goes back from running to **claimed** (`putBack`).
 *
 * An item is what is attempted together: one delivery, or the recipients of one SMTP transaction.
 */
export interface WorkEngine<Item, Job> {
  /**
   * Holds claimed jobs and returns the new ones. A job is not new if it is in hand, or left while its claim was under way: its outcome may
   * have been recorded after the claim read the row. While the actor stops, all jobs are released and none is returned.
   */
  hold(jobs: readonly Job[]): Job[];
  /** Lets an item wait in the queue; its jobs are held. */
  enqueue(item: Item): void;
  /**
   * Starts what may start, in the next turn of the event loop: clients whose mail was just committed get their replies before it is
   * delivered, and attempts that end in the same turn make room for one batch.
   */
  pump(): void;
  /** The attempt of an item ended: its place in the queue is free. */
  end(item: Item): void;
  /** Queues an item again that ended without an outcome; it is released while the actor stops. */
  putBack(item: Item): Promise<void>;
  /** Forgets jobs when their outcomes are recorded. */
  finish(jobs: readonly Job[], recorded: Promise<unknown>): Promise<void>;
  /** Releases jobs that were not started, and forgets them. */
  release(jobs: readonly Job[]): Promise<void>;
  /** Starts nothing more and releases what waits. */
  stop(): void;
}

export function createWorkEngine<Item, Job extends Leased>(
  options: WorkEngineOptions<Item, Job>,
): WorkEngine<Item, Job> {
  const { queue, inHand, leases, jobsOf, keep } = options;
  let isStopping = false;
  let isPumpDue = false;

  const start = () => {
    isPumpDue = false;
    if (isStopping) return;
    const items = queue.take();
    if (items.length === 0) return;
    for (const item of items) inHand.move(jobsOf(item), 'running');
    keep(options.run(items));
  };

  const pump = () => {
    if (isPumpDue) return;
    isPumpDue = true;
    setImmediate(start);
  };

  const forget = (jobs: readonly Job[]) => {
    inHand.forget(jobs);
    for (const job of jobs) options.onRoom(job);
  };

  const release = async (jobs: readonly Job[]): Promise<void> => {
    if (jobs.length === 0) return;
    inHand.move(jobs, 'recording');
    await leases.release(jobs);
    forget(jobs);
  };

  return {
    hold(jobs) {
      const fresh: Job[] = [];
      const late: Job[] = [];
      for (const job of jobs) {
        const held = inHand.find(job);
        const isLate = held === undefined && inHand.hasLeftSince(job, leaseStart(job));
        if (held !== undefined || isLate) options.onClaimedAgain(job, held ?? null);
        if (isLate) late.push(job);
        else if (held === undefined) fresh.push(job);
      }
      if (late.length > 0) keep(leases.release(late));
      if (isStopping) {
        keep(leases.release(fresh));
        return [];
      }
      for (const job of fresh) inHand.hold(job);
      return fresh;
    },
    enqueue: (item) => queue.add(item),
    pump,
    end(item) {
      queue.end(item);
      pump();
    },
    async putBack(item) {
      if (isStopping) return release(jobsOf(item));
      inHand.move(jobsOf(item), 'claimed');
      queue.putBack(item);
      pump();
    },
    async finish(jobs, recorded) {
      inHand.move(jobs, 'recording');
      await recorded;
      forget(jobs);
    },
    release,
    stop() {
      isStopping = true;
      keep(release(queue.takeAllWaiting().flatMap(jobsOf)));
    },
  };
}
