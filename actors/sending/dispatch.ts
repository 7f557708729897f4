import { setTimeout as pause } from 'node:timers/promises';
import { actorMetrics, sendingMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import type { OutcomeRecorder } from '../work/outcome-recorder.ts';
import type { Attempter, AttemptReport } from './attempt.ts';
import { closeUnbegun, releaseRecipients } from './claim-recipients.ts';
import type { DestinationQueue } from './destination-queue.ts';
import type { AttemptResult, Lane, SendingJob, Transaction } from './job.ts';
import { type Outcome, toOutcome } from './outcome.ts';
import { noteTransaction } from './transaction-span.ts';

export interface DispatcherOptions {
  context: ActorContext;
  queue: DestinationQueue;
  attempter: Attempter;
  recorder: OutcomeRecorder<Outcome>;
  /** the destination of a transaction, and whether it is a server of our own that comes back soon when it is away */
  destinationOf: (transaction: Transaction) => { key: string; isOurs: boolean };
  /** lets stop() await work */
  keep: (work: Promise<unknown>) => void;
  /** recipients of that lane left our hands */
  onRoom: (lane: Lane) => void;
}

/** Takes claimed transactions through their attempts to the record. */
export interface Dispatcher {
  /** Takes transactions on; those that need no attempt are settled at once. */
  add(transactions: readonly Transaction[]): void;
  /** Starts what may start. */
  pump(): void;
  /** Starts nothing more; answers the recipients that were not begun. */
  stop(): SendingJob[];
}

/** An attempt is begun while its lease holds for so long at least; milliseconds. */
const LEASE_MARGIN_MS = 5_000;
/** A destination that is away or has enough of us is awaited for so long before the recipient is deferred; milliseconds. */
const PATIENCE_MS = 60_000;
/** Before transactions whose content could not be read are tried again; milliseconds. */
const READ_RETRY_MS = 500;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { context, queue, attempter, recorder } = options;
  let isStopping = false;
  let isPumpDue = false;

  const pump = () => {
    if (isStopping) return;
    for (const { key, transaction } of queue.take()) options.keep(run(key, transaction));
  };

  /** Not at once: what ends in the same turn of the event loop makes room for one round. */
  const pumpSoon = () => {
    if (isPumpDue) return;
    isPumpDue = true;
    setImmediate(() => {
      isPumpDue = false;
      pump();
    });
  };

  const run = async (key: string, transaction: Transaction): Promise<void> => {
    const startedTick = performance.now();
    dropLost(transaction, startedTick);
    if (transaction.jobs.length === 0) {
      queue.end(key, transaction, startedTick, 'refused');
      return pumpSoon();
    }
    const end = sendingMetrics.attemptSeconds.startTimer();
    const report = await attempter.attempt(key, transaction);
    end({ outcome: report === null ? 'postponed' : outcomeOf(report.results) });
    if (report === null) return await putBackLater(key, transaction, startedTick);
    noteTransaction(context.database, transaction, startedTick, report);
    queue.end(key, transaction, startedTick, report.verdict);
    const { isOurs } = options.destinationOf(transaction);
    if (mayWait(key, transaction, report, isOurs)) {
      if (isStopping) return await giveBack(transaction);
      if (isOurs)
        context.log.warn({ destination: key, reason: report.results[0]?.text }, 'sending: a server of ours is away');
      queue.putBack(key, transaction);
      return pumpSoon();
    }
    const others = report.verdict === 'unreachable' && !isOurs ? queue.takeWaiting(key) : [];
    pumpSoon();
    await Promise.all([
      record(transaction, isOurs ? report.results.map(withoutPlace) : report.results),
      ...others.map((other) => recordAlike(other, report.results)),
    ]);
  };

  /** A server of ours comes back soon; one that has enough connections goes on with those. */
  const mayWait = (key: string, transaction: Transaction, report: AttemptReport, isOurs: boolean): boolean => {
    if (!report.isUnopened || !isYoung(transaction)) return false;
    return report.verdict === 'unreachable' ? isOurs : report.verdict === 'slow' && queue.activeOf(key) > 0;
  };

  /** The lease ran out while it waited, as when this process stood still: whoever holds the recipient now sends. */
  const dropLost = (transaction: Transaction, now: number) => {
    const lost = transaction.jobs.filter((job) => job.leaseUntil < now + LEASE_MARGIN_MS);
    if (lost.length === 0) return;
    context.log.warn(
      { count: lost.length, emailId: transaction.emailId },
      'sending: a lease ran out before its attempt',
    );
    transaction.jobs = transaction.jobs.filter((job) => !lost.includes(job));
    forget(transaction, lost);
  };

  const putBackLater = async (key: string, transaction: Transaction, startedTick: number) => {
    await pause(READ_RETRY_MS);
    queue.end(key, transaction, startedTick, 'refused');
    if (isStopping) return await giveBack(transaction);
    queue.putBack(key, transaction);
    pumpSoon();
  };

  /** To whoever goes on when this process has ended. */
  const giveBack = async (transaction: Transaction): Promise<void> => {
    await releaseRecipients(context, transaction.jobs);
    forget(transaction, transaction.jobs);
  };

  const record = async (lane: Lane, results: readonly AttemptResult[]): Promise<void> => {
    const random = (context.random(1)[0] ?? 0) / 256;
    const outcomes = results.map((result) => toOutcome(result, random));
    await Promise.all(outcomes.map((outcome) => recorder.record(outcome)));
    outcomes.forEach(({ row }, at) => count(row, results[at]?.job));
    forget(
      lane,
      results.map(({ job }) => job),
    );
  };

  /** What was found out for one of them holds for all that wait for the same hosts. */
  const recordAlike = async (transaction: Transaction, [found]: readonly AttemptResult[]): Promise<void> => {
    if (found === undefined) return;
    await record(
      transaction,
      transaction.jobs.map((job) => ({ ...found, job })),
    );
  };

  const forget = (lane: Lane, jobs: readonly SendingJob[]) => {
    queue.inHand.forget(jobs);
    options.onRoom(lane);
  };

  return {
    add(transactions) {
      for (const transaction of transactions) {
        // A lease of ours may have run out while the recipient is still in hand, when PostgreSQL was away for long.
        const held = transaction.jobs.filter((job) => queue.inHand.has(job.recipientId));
        if (held.length > 0) options.keep(closeUnbegun(context, held));
        transaction.jobs = transaction.jobs.filter((job) => !held.includes(job));
        const { key } = options.destinationOf(transaction);
        const settled = takeSettled(transaction);
        if (settled.length > 0) {
          queue.inHand.hold({ ...transaction, jobs: settled.map(({ job }) => job) });
          options.keep(record(transaction, settled));
        }
        if (transaction.jobs.length > 0) queue.add(key, transaction);
      }
      pump();
    },
    pump,
    stop() {
      isStopping = true;
      recorder.stop();
      const waiting = queue.takeAllWaiting().flatMap(({ jobs }) => jobs);
      queue.inHand.forget(waiting);
      return waiting;
    },
  };
}

/** Of a transaction: the best that came of it for anybody. */
function outcomeOf(results: readonly AttemptResult[]): AttemptResult['outcome'] {
  const outcomes = results.map(({ outcome }) => outcome);
  return outcomes.includes('delivered') ? 'delivered' : (outcomes[0] ?? 'interrupted');
}

function count({ outcome, status, code }: Outcome['row'], job: SendingJob | undefined): void {
  sendingMetrics.outcomes.inc({ outcome, answer: code === null ? 'none' : `${Math.floor(code / 100)}xx` });
  if (status !== 'pending' && job !== undefined) {
    const seconds = job.ageSeconds + (performance.now() - job.claimedAt) / 1_000;
    sendingMetrics.settledSeconds.observe({ outcome: status }, seconds);
  } else if (outcome === 'deferred') actorMetrics.retries.inc({ queue: 'send' });
}

const NOWHERE = { isReply: false, code: null, host: null, remoteAddress: null, isTls: null, returnId: null } as const;

/** Takes out of the transaction what must not be sent any more, whatever was right when it was queued. */
function takeSettled(transaction: Transaction): AttemptResult[] {
  const { jobs, senderDomain } = transaction;
  if (!transaction.isSenderVerified) {
    transaction.jobs = [];
    const text = `Not sent: ${senderDomain} is not a verified domain of the sender any more`;
    return jobs.map((job) => ({ job, ...NOWHERE, outcome: 'deferred', isHopeless: true, status: null, text }));
  }
  transaction.jobs = jobs.filter((job) => !job.isSuppressed);
  const text = 'Not sent: the address is on the suppression list';
  return jobs
    .filter((job) => job.isSuppressed)
    .map((job) => ({ job, ...NOWHERE, outcome: 'bounced', status: null, text }));
}

/** Where a server of ours stands is nothing that users are to read. */
function withoutPlace(result: AttemptResult): AttemptResult {
  return { ...result, host: null, remoteAddress: null };
}

function isYoung(transaction: Transaction): boolean {
  const now = performance.now();
  return transaction.jobs.every((job) => now - job.claimedAt < PATIENCE_MS);
}
