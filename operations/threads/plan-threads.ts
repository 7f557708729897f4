import { addParticipants, mergeParticipants, type Participants } from '../../core/threads/thread-participants.ts';
import { compareMessages, type Joined, survivorOf, type ThreadReason } from '../../core/threads/threading.ts';
import type { UnthreadedEmail } from '../../db/queries/threads/thread-claim.ts';
import type { StoredThread } from '../../db/queries/threads/thread-lookup.ts';
import type { ThreadGain } from '../../db/queries/threads/thread-row.ts';
import type { Assignment, BorneKey, Renumbering } from '../../db/queries/threads/thread-write.ts';

/** What becomes of one thread in a batch. */
export interface ThreadPlan {
  /** the row as it will be; its ends (first and last message) hold only when renumbering is null */
  row: ThreadGain;
  assignments: Assignment[];
  /** msg-ids that lead to this thread from now on, unless they lead to one already */
  keys: string[];
  /** msg-ids of its messages that led elsewhere, see core/threads/threading.ts */
  borneKeys: BorneKey[];
  /** threads that end in this one */
  loserIds: string[];
  /** null when the new messages are later than all others, which then keep their positions */
  renumbering: Renumbering | null;
}

/** A message of the batch in its group, with its row. */
interface Newcomer {
  email: UnthreadedEmail;
  reason: ThreadReason;
}

/** Decides which thread each group of a batch becomes. `stored` holds every thread that the groups name; `makeId` a new thread id. */
export function planThreads(
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

function planNew(newcomers: readonly Newcomer[], id: string): Placement {
  const [first, last] = endsOf(newcomers);
  return {
    row: {
      id,
      createdAt: first.createdAt,
      rootMessageId: first.messageId,
      normalizedSubject: first.baseSubject,
      participants: withParticipants({ emails: [], names: [] }, newcomers),
      latestEmailId: last.emailId,
      lastMessageAt: last.createdAt,
      counters: countersOf(newcomers),
    },
    assignments: assign(newcomers, id, 0),
    loserIds: [],
    renumbering: null,
  };
}

function planJoin(newcomers: readonly Newcomer[], threads: readonly StoredThread[]): Placement {
  const survivor = survivorOf(threads);
  const losers = threads.filter((thread) => thread !== survivor);
  const [first, last] = endsOf(newcomers);
  const participants = losers.reduce(
    (present, loser) => mergeParticipants(present, loser.participants),
    survivor.participants,
  );
  const isAppend = losers.length === 0 && compareMessages(latestOf(survivor), first) < 0;
  return {
    row: {
      id: survivor.id,
      createdAt: survivor.createdAt,
      rootMessageId: survivor.rootMessageId,
      normalizedSubject: survivor.normalizedSubject,
      participants: withParticipants(participants, newcomers),
      latestEmailId: last.emailId,
      lastMessageAt: last.createdAt,
      counters: countersOf(newcomers),
    },
    assignments: assign(newcomers, survivor.id, isAppend ? survivor.messageCount : null),
    loserIds: losers.map((loser) => loser.id),
    renumbering: isAppend ? null : { threadId: survivor.id, ...earliestChange(first, losers) },
  };
}

/** First and last message; a group is never empty and in chronological order. */
function endsOf(newcomers: readonly Newcomer[]): [UnthreadedEmail, UnthreadedEmail] {
  const first = newcomers[0]?.email;
  const last = newcomers.at(-1)?.email;
  if (!first || !last) throw new Error('a thread was planned without a message');
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

function countersOf(newcomers: readonly Newcomer[]): ThreadGain['counters'] {
  const received = newcomers.filter(({ email }) => email.type === 'received');
  return {
    messageCount: newcomers.length,
    receivedCount: received.length,
    unreadCount: received.filter(({ email }) => !email.isRead).length,
    archivedCount: received.filter(({ email }) => email.isArchived).length,
  };
}

/** The address that received a mail takes part even where no field names it (Bcc, lists): users look for threads by it. */
function withParticipants(present: Participants, newcomers: readonly Newcomer[]): Participants {
  return newcomers.reduce(
    (participants, { email }) =>
      addParticipants(participants, [...email.mailboxes, { name: null, address: email.ownAddress }]),
    present,
  );
}

/** Where positions change first: at the first newcomer, or at the first message of a thread that ends. */
function earliestChange(first: UnthreadedEmail, losers: readonly StoredThread[]): Omit<Renumbering, 'threadId'> {
  const starts = losers.map((loser) => ({ createdAt: loser.createdAt, emailId: '' }));
  const earliest = [{ createdAt: first.createdAt, emailId: first.emailId }, ...starts].toSorted(compareMessages)[0];
  return { fromAt: (earliest ?? first).createdAt, fromEmailId: (earliest ?? first).emailId };
}

function latestOf(thread: StoredThread): { createdAt: Date; emailId: string } {
  return { createdAt: thread.lastMessageAt, emailId: thread.latestEmailId };
}
