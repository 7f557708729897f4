import type pg from 'pg';
import { type IdentifierKind, makeIdentifier } from '../../core/shared/identifiers.ts';
import { type Joinable, joinBatch, linkKeys, linksOf, subjectAnchorOf } from '../../core/threads/threading.ts';
import { writeWords } from '../../db/queries/search/email-words.ts';
import { readThreadsApart } from '../../db/queries/threads/thread-apart.ts';
import type { UnthreadedEmail } from '../../db/queries/threads/thread-claim.ts';
import type { ThreadEvent } from '../../db/queries/threads/thread-events.ts';
import { inheritLabels } from '../../db/queries/threads/thread-labels.ts';
import { readThreads, threadsOfKeys, threadsOfSubjects } from '../../db/queries/threads/thread-lookup.ts';
import { type EndedThread, mergeThreads } from '../../db/queries/threads/thread-merge.ts';
import { writeThreads } from '../../db/queries/threads/thread-row.ts';
import {
  addAnchors,
  addKeys,
  assignEmails,
  claimKeys,
  readThreadEnds,
  renumberThreads,
} from '../../db/queries/threads/thread-write.ts';
import { planThreads, type ThreadPlan } from './plan-threads.ts';

/** What makes identifiers. */
export interface ThreadingParts {
  now: () => Date;
  random: (octets: number) => Uint8Array;
}

/**
 * Gives each of the emails its thread, within a transaction that holds lockThreads and locked the emails (claimUnthreaded). Returns the
 * events of it, which the caller appends last.
 */
export async function joinThreads(
  parts: ThreadingParts,
  client: pg.ClientBase,
  userId: string,
  emails: readonly UnthreadedEmail[],
): Promise<ThreadEvent[]> {
  const batch = emails.map(joinable);
  const plans = await planBatch(parts, client, userId, batch);
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
  return eventsOf(parts, plans, emails);
}

function joinable(message: UnthreadedEmail): Joinable<UnthreadedEmail> {
  const links = linksOf(message);
  return { message, links, anchor: subjectAnchorOf(message, links) };
}

async function planBatch(
  parts: ThreadingParts,
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
  return planThreads(groups, new Map(stored.map((thread) => [thread.id, thread])), () => makeId(parts, 'thread'));
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

function eventsOf(
  parts: ThreadingParts,
  plans: readonly ThreadPlan[],
  emails: readonly UnthreadedEmail[],
): ThreadEvent[] {
  const types = new Map(emails.map(({ emailId, type }) => [emailId, type]));
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
  return events.map((event) => ({ id: makeId(parts, 'event'), ...event }));
}

function makeId({ now, random }: ThreadingParts, kind: IdentifierKind): string {
  return makeIdentifier(kind, now(), random(10));
}
