import { setTimeout as pause } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import { readRelayedIds } from '../../core/sending/relayed-id.ts';
import type { Database } from '../../db/connection/database.ts';
import { actorMetrics, sendingMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { noteStage } from '../mail-spans.ts';
import { createWorkEngine } from '../work/engine.ts';
import type { InHand } from '../work/in-hand.ts';
import type { Leases } from '../work/leases.ts';
import type { OutcomeRecorder } from '../work/outcome-recorder.ts';
import type { Attempter, AttemptReport } from './attempt.ts';
import { closeUnbegun } from './claim-recipients.ts';
import type { DestinationQueue } from './destination-queue.ts';
import type { AttemptResult, SendingJob, Transaction } from './job.ts';
import { type Outcome, toOutcome } from './outcome.ts';

export interface DispatcherOptions {
  context: ActorContext;
  queue: DestinationQueue;
  inHand: InHand<SendingJob>;
  leases: Leases<SendingJob>;
  attempter: Attempter;
  recorder: OutcomeRecorder<Outcome>;
  destinationOf: (transaction: Transaction) => Destination;
  /** lets stop() wait for work */
  keep: (work: Promise<unknown>) => void;
  /** called when a recipient was recorded or released */
  onRoom: (job: SendingJob) => void;
}

/** The destination of a transaction. */
interface Destination {
  key: string;
  /** one of our own servers, which is back soon when it is unreachable */
  isOurs: boolean;
  isRelay: boolean;
}

/** Takes claimed transactions through their attempts until their outcomes are recorded. */
export interface Dispatcher {
  /** Accepts transactions; those that need no attempt are settled at once. */
  add(transactions: readonly Transaction[]): void;
  /** Starts what may start. */
  pump(): void;
  /** Starts nothing more; releases the recipients that were not started. */
  stop(): void;
}

/**
 * How long a destination that is unreachable, or has too many connections of ours, is retried before its recipients are deferred;
 * milliseconds.
 */
const PATIENCE_MS = 60_000;
/** Pause before transactions whose content could not be read are retried; milliseconds. */
const READ_RETRY_MS = 500;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { context, queue, leases, attempter, recorder, keep, destinationOf } = options;

  const run = async (transaction: Transaction): Promise<void> => {
    const startedTick = performance.now();
    await dropLost(transaction);
    if (transaction.jobs.length === 0) return engine.end(transaction);
    const end = sendingMetrics.attemptSeconds.startTimer();
    const { key, isOurs, isRelay } = destinationOf(transaction);
    const report = await attempter.attempt(key, transaction);
    end({ outcome: report === null ? 'postponed' : outcomeOf(report.results) });
    if (report === null) {
      await pause(READ_RETRY_MS);
      engine.end(transaction);
      return engine.putBack(transaction);
    }
    noteTransaction(context.database, transaction, startedTick, report);
    engine.end(transaction);
    queue.learn(key, startedTick, report.verdict);
    if (mayWait(key, transaction, report, isOurs)) {
      if (isOurs)
        context.log.warn(
          { destination: key, reason: report.results[0]?.text },
          'sending: our own server is unreachable',
        );
      return engine.putBack(transaction);
    }
    const others = report.verdict === 'unreachable' && !isOurs ? queue.takeWaiting(key) : [];
    const results = isOurs ? report.results.map(withoutPlace) : report.results;
    await Promise.all([
      record(isRelay ? results.map((result) => withRelayedIds(result, transaction, report.results)) : results),
      ...others.map((other) => recordAlike(other, report.results)),
    ]);
  };

  /** Whether to retry soon: a server of ours comes back, and a server with too many connections proceeds with those it has. */
  const mayWait = (key: string, transaction: Transaction, report: AttemptReport, isOurs: boolean): boolean => {
    if (!report.isUnopened || !isYoung(transaction)) return false;
    return report.verdict === 'unreachable' ? isOurs : report.verdict === 'slow' && queue.runningOf(key) > 0;
  };

  /** Removes recipients whose leases expired while they waited, for example while this process was suspended. */
  const dropLost = async (transaction: Transaction): Promise<void> => {
    const lost = transaction.jobs.filter((job) => leases.isLost(job));
    if (lost.length === 0) return;
    transaction.jobs = transaction.jobs.filter((job) => !lost.includes(job));
    await engine.finish(lost, Promise.resolve());
  };

  const record = async (results: readonly AttemptResult[]): Promise<void> => {
    const random = (context.random(1)[0] ?? 0) / 256;
    const outcomes = results.map((result) => toOutcome(result, random));
    await engine.finish(
      results.map(({ job }) => job),
      Promise.all(outcomes.map((outcome) => recorder.record(outcome))),
    );
    outcomes.forEach(({ row }, at) => count(row, results[at]?.job));
  };

  /** Records what another transaction found out, for a transaction that waited for the same hosts. */
  const recordAlike = async (transaction: Transaction, [found]: readonly AttemptResult[]): Promise<void> => {
    if (found !== undefined) await record(transaction.jobs.map((job) => ({ ...found, job })));
  };

  const engine = createWorkEngine<Transaction, SendingJob>({
    queue,
    inHand: options.inHand,
    leases,
    keep,
    jobsOf: ({ jobs }) => jobs,
    run: async (transactions) => void (await Promise.all(transactions.map(run))),
    // The claim wrote an attempt that does not start.
    onClaimedAgain: (claimed) => keep(closeUnbegun(context, [claimed])),
    onRoom: options.onRoom,
  });

  return {
    add(transactions) {
      for (const transaction of transactions) {
        transaction.jobs = engine.hold(transaction.jobs);
        const settled = takeSettled(transaction);
        if (settled.length > 0) keep(record(settled));
        if (transaction.jobs.length > 0) engine.enqueue(transaction);
      }
      engine.pump();
    },
    pump: () => engine.pump(),
    stop() {
      recorder.stop();
      engine.stop();
    },
  };
}

/** Returns the best outcome of a transaction's recipients. */
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

/**
 * Removes the recipients that must no longer be sent to, although they were allowed when the mail was queued, and returns their results.
 */
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

/** Adds the ids that the relay may have given to the message. */
function withRelayedIds(
  result: AttemptResult,
  { senderDomain, returnDomain }: Transaction,
  all: readonly AttemptResult[],
): AttemptResult {
  const addresses = all.map(({ job }) => job.address);
  const domains = [senderDomain, ...(returnDomain === null ? [] : [returnDomain])];
  return { ...result, relayedIds: readRelayedIds(result.text, { addresses, domains }) };
}

/** Users do not see the addresses of our own servers. */
function withoutPlace(result: AttemptResult): AttemptResult {
  return { ...result, host: null, remoteAddress: null };
}

function isYoung(transaction: Transaction): boolean {
  const now = performance.now();
  return transaction.jobs.every((job) => now - job.claimedAt < PATIENCE_MS);
}

/** Records the span of an SMTP attempt, without the name and text of the server, which would reveal the receiver. */
function noteTransaction(
  database: Database,
  transaction: Transaction,
  startedTick: number,
  { results }: AttemptReport,
): void {
  const failed = results.find(({ outcome }) => outcome !== 'delivered');
  const told = failed ?? results[0];
  noteStage(database, [transaction], {
    name: 'smtp attempt',
    kind: SpanKind.CLIENT,
    startedTick,
    attributes: {
      'network.protocol.name': 'smtp',
      'postroom.recipients': results.length,
      'postroom.recipients.delivered': results.filter(({ outcome }) => outcome === 'delivered').length,
      'postroom.attempt': 1 + Math.max(0, ...results.map(({ job }) => job.attempts)),
      ...(told?.code == null ? {} : { 'postroom.smtp.reply_code': told.code }),
      ...(told?.isTls == null ? {} : { 'tls.established': told.isTls }),
    },
    error: failed?.outcome ?? null,
  });
}
