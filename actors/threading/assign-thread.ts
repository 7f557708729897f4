import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type IdentifierKind, makeIdentifier } from '../../core/identifiers.ts';
import { type Joinable, joinBatch, linkKeys, linksOf, subjectAnchorOf } from '../../core/threading.ts';
import { inTransaction } from '../../db/database.ts';
import { writeWords } from '../../db/queries/email-words.ts';
import { readThreadsApart } from '../../db/queries/thread-apart.ts';
import { claimUnthreaded, lockThreads, type UnthreadedEmail } from '../../db/queries/thread-claim.ts';
import { appendThreadEvents } from '../../db/queries/thread-events.ts';
import { inheritLabels } from '../../db/queries/thread-labels.ts';
import { readThreads, threadsOfKeys, threadsOfSubjects } from '../../db/queries/thread-lookup.ts';
import { type EndedThread, mergeThreads } from '../../db/queries/thread-merge.ts';
import { writeThreads } from '../../db/queries/thread-row.ts';
import {
  addAnchors,
  addKeys,
  assignEmails,
  claimKeys,
  readThreadEnds,
  renumberThreads,
} from '../../db/queries/thread-write.ts';
import { actorMetrics, threadingMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { noteStage } from '../mail-spans.ts';
import { planThreads, type ThreadPlan } from './plan-threads.ts';

export interface ThreadingOptions {
  /** told of the points at which fault tests end the process */
  fault?: (point: 'threading.claimed' | 'threading.before-commit' | 'threading.after-commit') => void;
}

export interface ThreadingContext extends ActorContext, ThreadingOptions {}

/** Tries of one batch when it lost a deadlock, a serialisation or a wait for a lock (guarantees.md C5). */
const MAX_TRIES = 6;
const FIRST_PAUSE_MS = 10;
/** serialization_failure, deadlock_detected, lock_not_available */
const CONTENTION_CODES: readonly unknown[] = ['40001', '40P01', '55P03'];

/**
 * Gives each of the emails its thread, in one transaction that excludes others of this user, then tells the router and the live feed.
 * Emails that have a thread already, or that somebody holds, are left as they are. Answers how many were threaded.
 */
export async function assignThreads(
  context: ThreadingContext,
  userId: string,
  emailIds: readonly string[],
): Promise<number> {
  const startedTick = performance.now();
  const done = await timed(() =>
    retryContention(() => inTransaction(context.database, (client) => threadBatch(context, client, userId, emailIds))),
  );
  if (done === null) return 0;
  context.fault?.('threading.after-commit');
  count(done);
  const threaded = done.emailIds.map((emailId) => ({ userId, emailId }));
  noteStage(context.database, threaded, { name: 'thread', startedTick });
  if (done.receivedIds.length > 0) context.bus.wake('delivery.route.wake', { userId, emailIds: done.receivedIds });
  context.bus.publish('event.appended', { userId, lastSeq: done.lastSeq });
  return done.count;
}

interface ThreadedBatch {
  count: number;
  emailIds: string[];
  /** sent mail is not routed */
  receivedIds: string[];
  /** when SMTP took those */
  acceptedAt: Date[];
  lastSeq: number;
}

async function threadBatch(
  context: ThreadingContext,
  client: pg.ClientBase,
  userId: string,
  emailIds: readonly string[],
): Promise<ThreadedBatch | null> {
  await lockThreads(client, userId);
  const emails = await claimUnthreaded(client, userId, emailIds);
  if (emails.length === 0) return null;
  context.fault?.('threading.claimed');

  const batch = emails.map(joinable);
  const plans = await planBatch(context, client, userId, batch);
  const ended = await mergeThreads(
    client,
    userId,
    plans.flatMap((plan) => plan.loserIds.map((loserId) => ({ loserId, survivorId: plan.row.id }))),
  );
  for (const plan of plans) inheritCounters(plan, ended);
  await storePlaces(client, userId, batch, plans);
  await renumber(client, userId, plans);
  await inheritLabels(client, userId, labelsOfEnded(plans, ended));
  await writeThreads(
    client,
    userId,
    plans.map((plan) => plan.row),
  );
  await writeWords(
    client,
    userId,
    emails.map((email) => email.emailId),
  );
  const types = new Map(emails.map(({ emailId, type }) => [emailId, type]));
  const lastSeq = await appendEvents(context, client, userId, plans, types);
  context.fault?.('threading.before-commit');
  const received = emails.filter((email) => email.type === 'received');
  return {
    count: emails.length,
    emailIds: emails.map((email) => email.emailId),
    receivedIds: received.map((email) => email.emailId),
    acceptedAt: received.map((email) => email.createdAt),
    lastSeq,
  };
}

async function timed(work: () => Promise<ThreadedBatch | null>): Promise<ThreadedBatch | null> {
  const end = threadingMetrics.batchSeconds.startTimer();
  try {
    const done = await work();
    end({ outcome: done === null ? 'nothing' : 'threaded' });
    return done;
  } catch (error) {
    end({ outcome: 'failed' });
    throw error;
  }
}

function count(done: ThreadedBatch): void {
  threadingMetrics.emails.inc(done.count);
  const now = Date.now();
  for (const at of done.acceptedAt)
    actorMetrics.sinceAcceptSeconds.observe({ stage: 'threaded' }, Math.max(0, now - at.getTime()) / 1_000);
}

/** Whether others were in the way: trying again later may help. */
export function isContention(error: unknown): boolean {
  return CONTENTION_CODES.includes((error as { code?: unknown }).code);
}

function joinable(message: UnthreadedEmail): Joinable<UnthreadedEmail> {
  const links = linksOf(message);
  return { message, links, anchor: subjectAnchorOf(message, links) };
}

async function planBatch(
  context: ThreadingContext,
  client: pg.ClientBase,
  userId: string,
  batch: readonly Joinable<UnthreadedEmail>[],
): Promise<ThreadPlan[]> {
  const threadOfKey = await threadsOfKeys(client, userId, [...new Set(batch.flatMap(({ links }) => linkKeys(links)))]);
  const anchors = new Map(batch.flatMap(({ message, anchor }) => (anchor ? [[message.emailId, anchor] as const] : [])));
  const threadsBySubject = await threadsOfSubjects(client, userId, anchors);
  const neighbours = { threadOfKey, threadsBySubject };
  let groups = joinBatch(batch, neighbours);
  // Only where threads become one does it matter whether some of them are apart.
  const joined = groups.filter((group) => group.threadIds.length > 1).flatMap((group) => group.threadIds);
  const apart = await readThreadsApart(client, userId, joined);
  if (apart.size > 0) groups = joinBatch(batch, { ...neighbours, apart });
  const stored = await readThreads(
    client,
    userId,
    groups.flatMap((group) => group.threadIds),
  );
  return planThreads(groups, new Map(stored.map((thread) => [thread.id, thread])), () => makeId(context, 'thread'));
}

function inheritCounters(plan: ThreadPlan, ended: readonly EndedThread[]): void {
  const { counters } = plan.row;
  for (const thread of ended.filter(({ id }) => plan.loserIds.includes(id))) {
    counters.messageCount += thread.messageCount;
    counters.receivedCount += thread.receivedCount;
    counters.unreadCount += thread.unreadCount;
    counters.archivedCount += thread.archivedCount;
  }
}

function labelsOfEnded(plans: readonly ThreadPlan[], ended: readonly EndedThread[]): Map<string, string[]> {
  const labels = (plan: ThreadPlan) => ended.filter(({ id }) => plan.loserIds.includes(id)).flatMap((of) => of.labels);
  return new Map(plans.map((plan) => [plan.row.id, labels(plan)]));
}

/** Writes each email's thread, and what later mail will find it by. */
async function storePlaces(
  client: pg.ClientBase,
  userId: string,
  batch: readonly Joinable<UnthreadedEmail>[],
  plans: readonly ThreadPlan[],
): Promise<void> {
  const assignments = plans.flatMap((plan) => plan.assignments);
  const threadOf = new Map(assignments.map((assignment) => [assignment.emailId, assignment.threadId]));
  const placed = batch.flatMap((item) => {
    const threadId = threadOf.get(item.message.emailId);
    return threadId === undefined ? [] : [{ ...item, emailId: item.message.emailId, threadId }];
  });
  await assignEmails(client, userId, assignments);
  await addKeys(client, userId, new Map(plans.flatMap((plan) => plan.keys.map((key) => [key, plan.row.id] as const))));
  await claimKeys(
    client,
    userId,
    plans.flatMap((plan) => plan.borneKeys),
  );
  await addAnchors(
    client,
    userId,
    placed.flatMap(({ emailId, threadId, anchor }) => (anchor === null ? [] : [{ emailId, threadId, anchor }])),
  );
}

/** Numbers the threads that got messages before their end, and takes their ends as they are then. */
async function renumber(client: pg.ClientBase, userId: string, plans: readonly ThreadPlan[]): Promise<void> {
  const changed = new Map(plans.flatMap((plan) => (plan.renumbering ? [[plan.row.id, plan] as const] : [])));
  if (changed.size === 0) return;
  const renumberings = [...changed.values()].flatMap((plan) => plan.renumbering ?? []);
  const emailIds = [...changed.values()].flatMap((plan) => plan.assignments.map(({ emailId }) => emailId));
  const positions = await renumberThreads(client, userId, renumberings, emailIds);
  for (const ends of await readThreadEnds(client, userId, [...changed.keys()])) {
    const plan = changed.get(ends.threadId);
    if (plan === undefined) continue;
    plan.row = {
      ...plan.row,
      createdAt: ends.createdAt,
      rootMessageId: ends.rootMessageId,
      normalizedSubject: ends.baseSubject,
      latestEmailId: ends.latestEmailId,
      lastMessageAt: ends.lastMessageAt,
    };
    plan.assignments = plan.assignments.map((assignment) => ({
      ...assignment,
      position: positions.get(assignment.emailId) ?? null,
    }));
  }
}

/** Last in the transaction. Answers the last seq. */
async function appendEvents(
  context: ThreadingContext,
  client: pg.ClientBase,
  userId: string,
  plans: readonly ThreadPlan[],
  types: ReadonlyMap<string, string>,
): Promise<number> {
  const events = plans.flatMap((plan) => {
    const threadId = plan.row.id;
    return [
      ...plan.loserIds.map((alias) => ({ kind: 'thread.merged', threadId, data: { alias, thread: threadId } })),
      // Positions that webhooks told before may have changed.
      ...(plan.renumbering === null ? [] : [{ kind: 'thread.renumbered', threadId, data: {} }]),
      ...plan.assignments.map(({ emailId, position, reason }) => ({
        kind: 'email.threaded',
        emailId,
        threadId,
        data: { position, reason, type: types.get(emailId) },
      })),
    ];
  });
  const withIds = events.map((event) => ({ id: makeId(context, 'event'), ...event }));
  return (await appendThreadEvents(client, userId, withIds)) ?? 0;
}

function makeId(context: ThreadingContext, kind: IdentifierKind): string {
  return makeIdentifier(kind, context.now(), context.random(10));
}

async function retryContention<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries >= MAX_TRIES || !isContention(error)) throw error;
      actorMetrics.retries.inc({ queue: 'assign' });
      await sleep(FIRST_PAUSE_MS * 2 ** tries);
    }
  }
}
