import { setTimeout as pause } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import { readRelayedIds } from '../../core/sending/relayed-id.ts';
import { CLAIM_BATCH } from '../../db/claim.ts';
import type { Database } from '../../db/connection/database.ts';
import type { DueRecipientRow } from '../../db/queries/sending/recipient-claim.ts';
import { actorMetrics, sendingMetrics } from '../../schema/metrics.ts';
import type { ActorContext, Run } from '../actor.ts';
import { noteStage } from '../mail-spans.ts';
import { createWorkEngine } from '../work/engine.ts';
import { type InHand, type Lane, laneName } from '../work/in-hand.ts';
import type { Leases } from '../work/leases.ts';
import type { OutcomeRecorder } from '../work/outcome-recorder.ts';
import { createWaitingLanes, MAX_IN_HAND, MAX_OF_LANE } from '../work/waiting-lanes.ts';
import type { Attempter, AttemptReport } from './attempt.ts';
import {
  claimListed,
  claimOfEmails,
  claimOfLane,
  closeUnbegun,
  type DueCursor,
  FIRST_CURSOR,
  listDue,
} from './claim-recipients.ts';
import type { DestinationQueue } from './destination-queue.ts';
import { type Outcome, toOutcome } from './record-outcomes.ts';
import type { AttemptResult, SendingJob, Transaction } from './sending-job.ts';

export interface DueTakerOptions {
  context: ActorContext;
  inHand: InHand<SendingJob>;
  /** accepts claimed transactions */
  add: (transactions: Transaction[]) => void;
}

/** Claims due recipients while there is room for them; the others wait in their rows. */
export interface DueTaker {
  /** Claims the recipients of the emails in the wakes. */
  takeWoken(run: Run<'sending.send.wake'>): Promise<void>;
  /** Visits all due recipients once. */
  sweep(run: Pick<Run, 'isStopping'>): Promise<void>;
  /** Claims more of lanes that were skipped and have room again. */
  refill(run: Pick<Run, 'isStopping'>): Promise<void>;
  /**
   * Returns whether recipients in these lanes may be claimed as they are stored, and counts them as in hand until `giveBack`: there is room,
   * and nothing of these lanes waits in rows.
   */
  keepPlaces(lanes: readonly Lane[]): boolean;
  /** Ends what keepPlaces counted, when the recipients are in hand, or were not claimed. */
  giveBack(lanes: readonly Lane[]): void;
  /** Which of the above to start after a recipient of that lane was recorded or released; null for neither. */
  needOf(lane: Lane): 'refill' | 'sweep' | null;
}

/** A skipped lane is served again when fewer than this many are in hand. */
const FEW_OF_LANE = 50;
/** Rows that one statement of the sweep reads. */
const WINDOW = 1_000;
/**
 * A sweep that claimed nothing is repeated after this many times its own duration, so that a long backlog of one lane costs PostgreSQL at
 * most a tenth of a core.
 */
const REST = 9;

export function createDueTaker({ context, inHand, add }: DueTakerOptions): DueTaker {
  const backlog = createWaitingLanes(inHand);
  // Users with too many recipients in hand to claim more.
  const workspacesWithoutRoom = new Set<string>();
  // Recipients that are being stored with their claim, by lane and by user.
  const kept = { lanes: new Map<string, number>(), users: new Map<string, number>(), all: 0 };
  let restUntil = 0;
  let lastClaim: Promise<unknown> = Promise.resolve();

  /** One claim at a time: two at once would split the recipients of one email into two transactions. */
  const claimAlone = async (claim: () => Promise<Transaction[]>): Promise<number> => {
    const claiming = lastClaim.then(claim);
    lastClaim = claiming.catch(() => undefined);
    const transactions = await claiming;
    const count = transactions.reduce((sum, { jobs }) => sum + jobs.length, 0);
    if (count === 0) return 0;
    try {
      await context.bytes.keepStored(transactions.flatMap(({ rawId }) => rawId ?? []));
    } finally {
      // They are claimed already: if this failed, each attempt reads its message by itself.
      add(transactions);
    }
    return count;
  };

  /**
   * Whether that user may have more in hand, when `more` of the user's and `allMore` in total are about to be claimed. A user may have as
   * many as there is room left: one alone gets half, two get a third each.
   */
  const hasRoomFor = (workspaceId: string, more = 0, allMore = 0): boolean => {
    const has = inHand.sizeOfWorkspace(workspaceId) + more < MAX_IN_HAND - inHand.size() - allMore;
    if (!has) workspacesWithoutRoom.add(workspaceId);
    return has;
  };

  /** Returns the unclaimed rows whose lane and user have room. */
  const choose = (rows: readonly DueRecipientRow[]): DueRecipientRow[] => {
    const counts = new Map<string, number>();
    const more = new Map<string, number>();
    let allMore = 0;
    return rows.filter((row) => {
      if (!row.is_free || inHand.has(row.id)) return false;
      const lane = { workspaceId: row.workspace_id, key: row.domain };
      const key = laneName(lane);
      const count = counts.get(key) ?? inHand.sizeOf(lane);
      const moreOfWorkspace = more.get(row.workspace_id) ?? 0;
      if (count >= MAX_OF_LANE || !hasRoomFor(row.workspace_id, moreOfWorkspace, allMore)) {
        backlog.passOver(lane);
        return false;
      }
      counts.set(key, count + 1);
      more.set(row.workspace_id, moreOfWorkspace + 1);
      allMore++;
      return true;
    });
  };

  const count = (lanes: readonly Lane[], difference: 1 | -1): void => {
    kept.all += difference * lanes.length;
    for (const lane of lanes) {
      addTo(kept.lanes, laneName(lane), difference);
      addTo(kept.users, lane.workspaceId, difference);
    }
  };

  const mayRefill = (lane: Lane) => inHand.sizeOf(lane) < FEW_OF_LANE && hasRoomFor(lane.workspaceId);

  return {
    async takeWoken(run) {
      const emails = run.wakes.flatMap(({ workspaceId, emailIds }) =>
        emailIds.map((emailId) => ({ workspaceId, emailId })),
      );
      for (let at = 0; at < emails.length && !run.isStopping(); ) {
        if (!backlog.hasRoom()) return;
        const full = inHand.lanesAbove(MAX_OF_LANE);
        for (const lane of full) backlog.passOver(lane);
        const some = emails.slice(at, at + CLAIM_BATCH).filter(({ workspaceId }) => hasRoomFor(workspaceId));
        const count = some.length === 0 ? 0 : await claimAlone(() => claimOfEmails(context, some, full));
        // A full batch: these emails may have more recipients.
        if (count < CLAIM_BATCH) at += CLAIM_BATCH;
      }
    },

    async sweep(run) {
      if (performance.now() < restUntil) return;
      let place: DueCursor = FIRST_CURSOR;
      let idleMs = 0;
      while (backlog.hasRoom() && !run.isStopping()) {
        const startedTick = performance.now();
        const rows = await listDue(context, place, WINDOW);
        const chosen = choose(rows);
        for (let at = 0; at < chosen.length && backlog.hasRoom() && !run.isStopping(); at += CLAIM_BATCH) {
          const batch = chosen.slice(at, at + CLAIM_BATCH);
          await claimAlone(() => claimListed(context, batch));
        }
        if (chosen.length === 0) idleMs += performance.now() - startedTick;
        const last = rows.at(-1);
        if (last === undefined || rows.length < WINDOW) break;
        place = { at: last.next_attempt_at, id: last.id };
      }
      restUntil = performance.now() + REST * idleMs;
    },

    async refill(run) {
      for (const lane of backlog.lanes()) {
        while (mayRefill(lane) && backlog.hasRoom() && !run.isStopping()) {
          const entry = backlog.entry(lane);
          const count = await claimAlone(() => claimOfLane(context, lane));
          if (count === CLAIM_BATCH) continue;
          backlog.catchUp(lane, entry);
          break;
        }
      }
    },

    keepPlaces(lanes) {
      count(lanes, 1);
      const has = lanes.every(
        (lane) =>
          backlog.entry(lane) === undefined &&
          inHand.sizeOf(lane) + (kept.lanes.get(laneName(lane)) ?? 0) <= FEW_OF_LANE &&
          inHand.sizeOfWorkspace(lane.workspaceId) + (kept.users.get(lane.workspaceId) ?? 0) <=
            MAX_IN_HAND - inHand.size() - kept.all,
      );
      if (!has) count(lanes, -1);
      return has;
    },

    giveBack: (lanes) => count(lanes, -1),

    needOf(lane) {
      if (backlog.hasRoomAgain()) return 'sweep';
      const { workspaceId } = lane;
      if (
        workspacesWithoutRoom.has(workspaceId) &&
        inHand.sizeOfWorkspace(workspaceId) < (MAX_IN_HAND - inHand.size()) / 2
      ) {
        workspacesWithoutRoom.delete(workspaceId);
        return 'refill';
      }
      return backlog.entry(lane) !== undefined && mayRefill(lane) ? 'refill' : null;
    },
  };
}

function addTo(counts: Map<string, number>, key: string, difference: number): void {
  const count = (counts.get(key) ?? 0) + difference;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

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
  /** Accepts transactions; one that needs no attempt is settled at once. */
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
    end({ outcome: report === null ? 'postponed' : findBestOutcome(report.results) });
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
    const results = isOurs ? report.results.map(withoutServer) : report.results;
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
function findBestOutcome(results: readonly AttemptResult[]): AttemptResult['outcome'] {
  const outcomes = results.map(({ outcome }) => outcome);
  return outcomes.includes('delivered') ? 'delivered' : (outcomes[0] ?? 'interrupted');
}

function count({ outcome, status, code }: Outcome['row'], job: SendingJob | undefined): void {
  sendingMetrics.outcomes.inc({ outcome, response: code === null ? 'none' : `${Math.floor(code / 100)}xx` });
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
function withoutServer(result: AttemptResult): AttemptResult {
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
