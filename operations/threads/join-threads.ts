import type pg from 'pg';
import type { AddressFields } from '../../core/mime/address.ts';
import { type IdentifierKind, newIdentifier } from '../../core/shared/identifiers.ts';
import {
  addParticipants,
  listMailboxes,
  mergeParticipants,
  type Participants,
  threadSearchText,
} from '../../core/threads/thread-participants.ts';
import {
  areSubjectNeighbours,
  chooseSurvivor,
  compareMessages,
  findLinks,
  findSubjectAnchor,
  type Joinable,
  type Joined,
  joinBatch,
  linkKeys,
  type SubjectAnchor,
  type ThreadReason,
} from '../../core/threads/threading.ts';
import type { EmailRows } from '../../db/queries/emails/store-received.ts';
import { type ClaimedEmails, isCredible, type UnthreadedEmail } from '../../db/queries/threads/thread-claim.ts';
import type { FeedEvent, ThreadEvent } from '../../db/queries/threads/thread-events.ts';
import { inheritLabels } from '../../db/queries/threads/thread-labels.ts';
import {
  listProbes,
  readThreads,
  type StoredThread,
  threadsOfReplies,
  threadsOfSubjects,
} from '../../db/queries/threads/thread-lookup.ts';
import { type EndedThread, mergeThreads, readThreadsApart } from '../../db/queries/threads/thread-merge.ts';
import type { ThreadGain } from '../../db/queries/threads/thread-row.ts';
import {
  type Assignment,
  type BorneKey,
  claimKeys,
  type Renumbering,
  readThreadEnds,
  renumberThreads,
  storeThreads,
  type ThreadChange,
} from '../../db/queries/threads/thread-write.ts';
import { restoreLocked } from './restore-threads.ts';

/** What identifiers are made from. */
export interface ThreadingParts {
  now: () => Date;
  random: (bytes: number) => Uint8Array;
}

/**
 * Assigns each claimed email its thread, in a transaction that holds lockThreads, and appends the events, after earlier ones of the same
 * transaction: call it last. Returns the last number of the feed; null when nothing was claimed and there are no earlier events.
 */
export async function joinThreads(
  parts: ThreadingParts,
  client: pg.ClientBase,
  workspaceId: string,
  claimed: ClaimedEmails,
  earlierEvents: readonly FeedEvent[] = [],
): Promise<number | null> {
  const { emails } = claimed;
  const batch = emails.map(joinable);
  const anchors = new Map(batch.flatMap(({ message, anchor }) => (anchor ? [[message.emailId, anchor] as const] : [])));
  const restored: FeedEvent[] = [];
  let known = claimed;
  const plan = async (threadsBySubject: ReadonlyMap<string, readonly string[]>): Promise<ThreadPlan[]> => {
    const planned = await planBatch(parts, client, workspaceId, { batch, claimed: known, threadsBySubject });
    if (planned.trashedIds.length === 0) return planned.plans;
    // New mail brings its threads back from the trash, and joins them where they are then.
    const { result: restoredIds, events } = await restoreLocked(client, workspaceId, planned.trashedIds);
    restored.push(...events.map((event) => ({ id: makeId(parts, 'event'), ...event })));
    const findLivingThread = (id: string) => restoredIds.get(id) ?? id;
    const threadOfKey = new Map([...known.threadOfKey].map(([key, id]) => [key, findLivingThread(id)]));
    known = { emails: known.emails, threadOfKey, threads: [] };
    return plan(
      new Map([...threadsBySubject].map(([id, threadIds]) => [id, [...new Set(threadIds.map(findLivingThread))]])),
    );
  };
  const makeChange = (plans: readonly ThreadPlan[]) => ({
    ...listAssignments(batch, plans),
    threads: plans.map(({ row }) => row),
    events: [...earlierEvents, ...restored, ...listEvents(parts, plans, emails)],
  });

  // Few messages have subject neighbors, so the first plan does without. The statement that stores it looks for replies nearby, and stores
  // nothing if there are any. A message that is a reply also joins plain messages, which only the plan can look for.
  let plans = await plan(new Map());
  const isReplyAmong = [...anchors.values()].some(({ isReply }) => isReply);
  if (!isReplyAmong && plans.every(isStoredAtOnce)) {
    const probes = listProbes(anchors);
    const stored = await storeThreads(client, workspaceId, makeChange(plans), probes);
    if (stored.isStored) return stored.lastSeq;
    plans = await plan(threadsOfReplies(probes, stored.nearest));
  } else if (anchors.size > 0) {
    plans = await plan(await threadsOfSubjects(client, workspaceId, anchors));
  }

  if (!plans.every(isStoredAtOnce)) return storeInSteps(client, workspaceId, { batch, plans, changeOf: makeChange });
  const stored = await storeThreads(client, workspaceId, makeChange(plans));
  return stored.isStored ? stored.lastSeq : null;
}

/** Whether nothing but the new messages and the row of the thread changes. */
function isStoredAtOnce({ loserIds, renumbering, borneKeys }: ThreadPlan): boolean {
  return loserIds.length === 0 && renumbering === null && borneKeys.length === 0;
}

/** Stores plans among which are merges, new positions of stored messages, or msg-ids that lead elsewhere. */
async function storeInSteps(
  client: pg.ClientBase,
  workspaceId: string,
  { batch, plans, changeOf }: { batch: Batch; plans: ThreadPlan[]; changeOf: (plans: ThreadPlan[]) => ThreadChange },
): Promise<number | null> {
  const ended = await mergeThreads(
    client,
    workspaceId,
    plans.flatMap((plan) => plan.loserIds.map((loserId) => ({ loserId, survivorId: plan.row.id }))),
  );
  for (const plan of plans) inheritCounters(plan, ended);
  await storeThreads(client, workspaceId, listAssignments(batch, plans));
  await claimKeys(
    client,
    workspaceId,
    plans.flatMap((plan) => plan.borneKeys),
  );
  await renumber(client, workspaceId, plans);
  await inheritLabels(client, workspaceId, labelsOfEnded(plans, ended));
  const { threads = [], events = [] } = changeOf(plans);
  const stored = await storeThreads(client, workspaceId, { threads, events });
  return stored.isStored ? stored.lastSeq : null;
}

type Batch = readonly Joinable<UnthreadedEmail>[];

function joinable(message: UnthreadedEmail): Joinable<UnthreadedEmail> {
  const links = findLinks(message);
  return { message, links, anchor: findSubjectAnchor(message, links) };
}

interface PlannedBatch {
  batch: Batch;
  claimed: ClaimedEmails;
  threadsBySubject: ReadonlyMap<string, readonly string[]>;
}

async function planBatch(
  parts: ThreadingParts,
  client: pg.ClientBase,
  workspaceId: string,
  { batch, claimed, threadsBySubject }: PlannedBatch,
): Promise<{ plans: ThreadPlan[] /** threads to restore before a plan can be made */; trashedIds: string[] }> {
  const keys = new Set(batch.flatMap(({ links }) => linkKeys(links)));
  const threadOfKey = new Map([...claimed.threadOfKey].filter(([key]) => keys.has(key)));
  const neighbours = { threadOfKey, threadsBySubject };
  let groups = joinBatch(batch, neighbours);
  // Threads that stay apart matter only where threads would be merged.
  const joined = groups.filter((group) => group.threadIds.length > 1).flatMap((group) => group.threadIds);
  const apart = await readThreadsApart(client, workspaceId, joined);
  if (apart.size > 0) groups = joinBatch(batch, { ...neighbours, apart });
  const stored = new Map(claimed.threads.map((thread) => [thread.id, thread]));
  const missing = groups.flatMap((group) => group.threadIds).filter((id) => !stored.has(id));
  for (const thread of await readThreads(client, workspaceId, missing)) stored.set(thread.id, thread);
  const trashedIds = [...new Set(groups.flatMap((group) => group.threadIds))].filter((id) => stored.get(id)?.isTrashed);
  if (trashedIds.length > 0) return { plans: [], trashedIds };
  return { plans: planThreads(groups, stored, () => makeId(parts, 'thread')), trashedIds };
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

/** Returns each email's thread, and what later mail finds it by. */
function listAssignments(batch: Batch, plans: readonly ThreadPlan[]) {
  const assignments = plans.flatMap((plan) => plan.assignments);
  const threadOf = new Map(assignments.map((assignment) => [assignment.emailId, assignment.threadId]));
  const anchors = batch.flatMap(({ message: { emailId }, anchor }) => {
    const threadId = threadOf.get(emailId);
    return threadId === undefined || anchor === null ? [] : [{ emailId, threadId, anchor }];
  });
  const threadOfKey = new Map(plans.flatMap((plan) => plan.keys.map((key) => [key, plan.row.id] as const)));
  return { assignments, threadOfKey, anchors };
}

/** Renumbers threads that received messages before their end, and rereads their first and last message. */
async function renumber(client: pg.ClientBase, workspaceId: string, plans: readonly ThreadPlan[]): Promise<void> {
  const changed = new Map(plans.flatMap((plan) => (plan.renumbering ? [[plan.row.id, plan] as const] : [])));
  if (changed.size === 0) return;
  const renumberings = [...changed.values()].flatMap((plan) => plan.renumbering ?? []);
  const emailIds = [...changed.values()].flatMap((plan) => plan.assignments.map(({ emailId }) => emailId));
  const positions = await renumberThreads(client, workspaceId, renumberings, emailIds);
  for (const ends of await readThreadEnds(client, workspaceId, [...changed.keys()])) {
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

function listEvents(
  parts: ThreadingParts,
  plans: readonly ThreadPlan[],
  emails: readonly UnthreadedEmail[],
): ThreadEvent[] {
  const types = new Map(emails.map(({ emailId, type }) => [emailId, type]));
  const events = plans.flatMap((plan) => {
    const threadId = plan.row.id;
    return [
      ...plan.loserIds.map((alias) => ({ kind: 'thread.merged', threadId, data: { alias, thread: threadId } })),
      // Webhooks may have sent positions that are outdated now.
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
  return newIdentifier({ now, random }, kind);
}

/** What happens to one thread in a batch. */
interface ThreadPlan {
  /** the new row; its ends (first and last message) are valid only when renumbering is null */
  row: ThreadGain;
  assignments: Assignment[];
  /** msg-ids that lead to this thread from now on, unless they already lead to one */
  keys: string[];
  /** msg-ids of its messages that lead to another thread, see core/threads/threading.ts */
  borneKeys: BorneKey[];
  /** threads that are merged into this one */
  loserIds: string[];
  /** null when the new messages are later than all others, which then keep their positions */
  renumbering: Renumbering | null;
}

/** A message of the batch with its row. */
interface Newcomer {
  email: UnthreadedEmail;
  reason: ThreadReason;
}

/** Decides the thread of each group in a batch. `stored` contains every thread that the groups name; `makeId` returns a new thread id. */
function planThreads(
  groups: readonly Joined<UnthreadedEmail>[],
  stored: ReadonlyMap<string, StoredThread>,
  makeId: () => string,
): ThreadPlan[] {
  return groups.map((group) => {
    const threads = group.threadIds.flatMap((id) => stored.get(id) ?? []);
    const newcomers = group.messages.map(({ message, reason }) => ({ email: message, reason }));
    const plan = threads.length === 0 ? planNew(newcomers, makeId()) : planJoin(newcomers, threads);
    const threadId = plan.row.id;
    return { ...plan, keys: group.keys, borneKeys: group.borneKeys.map((borne) => ({ ...borne, threadId })) };
  });
}

type Placement = Omit<ThreadPlan, 'keys' | 'borneKeys'>;

/** Returns a new thread of these messages, which are in chronological order. */
export function planNew(newcomers: readonly Newcomer[], id: string): Placement {
  const [first, last] = findEnds(newcomers);
  return {
    row: {
      id,
      createdAt: first.createdAt,
      rootMessageId: first.messageId,
      normalizedSubject: first.baseSubject,
      participants: withParticipants({ emails: [], names: [] }, newcomers),
      latestEmailId: last.emailId,
      lastMessageAt: last.createdAt,
      counters: toCounters(newcomers),
    },
    assignments: assign(newcomers, id, 0),
    loserIds: [],
    renumbering: null,
  };
}

function planJoin(newcomers: readonly Newcomer[], threads: readonly StoredThread[]): Placement {
  const survivor = chooseSurvivor(threads);
  const losers = threads.filter((thread) => thread !== survivor);
  const [first, last] = findEnds(newcomers);
  const participants = losers.reduce(
    (present, loser) => mergeParticipants(present, loser.participants),
    survivor.participants,
  );
  const isAppend = losers.length === 0 && compareMessages(findLatest(survivor), first) < 0;
  return {
    row: {
      id: survivor.id,
      createdAt: survivor.createdAt,
      rootMessageId: survivor.rootMessageId,
      normalizedSubject: survivor.normalizedSubject,
      participants: withParticipants(participants, newcomers),
      latestEmailId: last.emailId,
      lastMessageAt: last.createdAt,
      counters: toCounters(newcomers),
    },
    assignments: assign(newcomers, survivor.id, isAppend ? survivor.messageCount : null),
    loserIds: losers.map((loser) => loser.id),
    renumbering: isAppend ? null : { threadId: survivor.id, ...earliestChange(first, losers) },
  };
}

/** Returns first and last message; a group is never empty and in chronological order. */
function findEnds(newcomers: readonly Newcomer[]): [UnthreadedEmail, UnthreadedEmail] {
  const first = newcomers[0]?.email;
  const last = newcomers.at(-1)?.email;
  if (!first || !last) throw new Error('a planned thread has no message');
  return [first, last];
}

function assign(newcomers: readonly Newcomer[], threadId: string, firstPosition: number | null): Assignment[] {
  return newcomers.map(({ email, reason }, index) => ({
    emailId: email.emailId,
    threadId,
    position: firstPosition === null ? null : firstPosition + index,
    reason,
  }));
}

function toCounters(newcomers: readonly Newcomer[]): ThreadGain['counters'] {
  const received = newcomers.filter(({ email }) => email.type === 'received');
  return {
    messageCount: newcomers.length,
    receivedCount: received.length,
    unreadCount: received.filter(({ email }) => !email.isRead).length,
    archivedCount: received.filter(({ email }) => email.isArchived).length,
  };
}

/** The address that received a message is a participant even if no field names it (Bcc, lists), because users search threads by it. */
function withParticipants(present: Participants, newcomers: readonly Newcomer[]): Participants {
  return newcomers.reduce(
    (participants, { email }) =>
      addParticipants(participants, [...email.mailboxes, { name: null, address: email.ownAddress }]),
    present,
  );
}

/** The first changed position: that of the first newcomer, or of the first message of a thread that is merged. */
function earliestChange(first: UnthreadedEmail, losers: readonly StoredThread[]): Omit<Renumbering, 'threadId'> {
  const starts = losers.map((loser) => ({ createdAt: loser.createdAt, emailId: '' }));
  const earliest = [{ createdAt: first.createdAt, emailId: first.emailId }, ...starts].toSorted(compareMessages)[0];
  return { fromAt: (earliest ?? first).createdAt, fromEmailId: (earliest ?? first).emailId };
}

function findLatest(thread: StoredThread): { createdAt: Date; emailId: string } {
  return { createdAt: thread.lastMessageAt, emailId: thread.latestEmailId };
}

/** What the statement that takes a message compares with stored mail, to decide its thread in the two simple cases. */
export interface ThreadHints {
  /** msg-ids that may lead to a thread */
  keys: string[];
  /** those of them that lead to its thread from then on, whether they are known or not */
  firmKeys: string[];
  /** the msg-id of the message that it replies to; null: it names none */
  replyKey: string | null;
  /** null: no subject edge joins it to other mail; its date is null where the Date field cannot be believed */
  anchor: (Omit<SubjectAnchor, 'date'> & { date: Date | null }) | null;
  /** the row of the thread that it starts, or adds to a thread */
  participants: { emails: string[]; names: string[]; searchText: string };
}

/** Of the row of a received email, what its thread depends on. */
type HintedRow = Pick<
  EmailRows,
  'email_id' | 'message_id' | 'in_reply_to' | 'reference_ids' | 'subject' | 'base_subject' | 'date'
> & { own_address: string; addresses: AddressFields };

/** Returns the hints of a received email. It was not sent to a reply address. */
export function threadHints(row: HintedRow): ThreadHints {
  const mailboxes = listMailboxes(row.addresses);
  const date = row.date === null ? null : new Date(row.date);
  const credible = isCredible(date) ? date : null;
  const message = {
    emailId: row.email_id,
    messageId: row.message_id,
    inReplyTo: row.in_reply_to,
    references: row.reference_ids,
    subject: row.subject,
    baseSubject: row.base_subject,
    ownAddress: row.own_address,
    addresses: mailboxes.map(({ address }) => address),
    createdAt: credible ?? new Date(0),
    date: credible ?? new Date(0),
  };
  const links = findLinks(message);
  const anchor = findSubjectAnchor(message, links);
  const participants = addParticipants({ emails: [], names: [] }, [
    ...mailboxes,
    { name: null, address: row.own_address },
  ]);
  return {
    keys: linkKeys(links),
    firmKeys: linkKeys({ ...links, bare: [] }),
    replyKey: links.inReplyTo[0] ?? null,
    anchor: anchor === null ? null : { ...anchor, date: credible },
    participants: { ...participants, searchText: threadSearchText(row.base_subject, participants.emails) },
  };
}

/** Whether one of two new messages of a user may join the other one's thread. */
export function mayBelongTogether(one: ThreadHints, other: ThreadHints): boolean {
  if (one.keys.some((key) => other.keys.includes(key))) return true;
  if (one.anchor === null || other.anchor === null) return false;
  // Without a date, they are as near as can be.
  const date = one.anchor.date ?? other.anchor.date ?? new Date(0);
  const dateOfOther = other.anchor.date ?? date;
  return areSubjectNeighbours({ ...one.anchor, date }, { ...other.anchor, date: dateOfOther });
}
