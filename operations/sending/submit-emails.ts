import type { ClientBase } from 'pg';
import { traceParentToKeep } from '../../actors/bus/tracing.ts';
import { UserError } from '../../core/shared/errors.ts';
import { type Database, isConnectionLost } from '../../db/connection/database.ts';
import { inUserTransaction } from '../../db/connection/user-transaction.ts';
import { type Policy, type PolicyQuestion, readPolicy } from '../../db/queries/sending/outgoing-policy.ts';
import {
  type OutgoingUnit,
  writeOutgoing,
  writeOutgoingWithoutEvents,
} from '../../db/queries/sending/outgoing-write.ts';
import { claimUnthreaded, lockThreads } from '../../db/queries/threads/thread-claim.ts';
import { appendThreadEvents } from '../../db/queries/threads/thread-events.ts';
import { requireSender, wholeAccount } from '../accounts/key-reach.ts';
import type { OperationContext } from '../context.ts';
import { joinThreads } from '../threads/join-threads.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';
import { type Accepted, replayOf, type Submission, stillProcessed } from './idempotency.ts';
import { admitted, refusalOf } from './sending-policy.ts';

/**
 * Puts emails into the sending queue, or on the schedule, and answers after the commit. A request with a known Idempotency-Key is
 * answered as the first time, and nothing is stored. Throws validation, forbidden, rate_limited, conflict, unavailable; then nothing of
 * the submission is stored.
 */
export async function submitEmails(context: OperationContext, submission: Submission): Promise<Accepted> {
  for (const { row, path } of submission.emails) requireSender(context, { domain: row.own_domain, path });
  return queueSubmission(wholeAccount(context), submission, commit);
}

async function commit(group: readonly Waiting[], lockTimeoutMs: number): Promise<Waiting[]> {
  try {
    return await commitGroup(group, lockTimeoutMs, 'join');
  } catch (error) {
    if (!(error instanceof ThreadsBusy)) throw error;
    // A user's mail goes out even while threads of the user are locked for long: the threading actor joins it later.
    return await commitGroup(group, lockTimeoutMs, 'leave');
  }
}

async function commitGroup(
  group: readonly Waiting[],
  lockTimeoutMs: number,
  threads: 'join' | 'leave',
): Promise<Waiting[]> {
  const [first] = group;
  if (first === undefined) return [];
  const { context } = first;
  const lock = context.settings.sendLimitPerHour === 0 ? null : 'sending limit';
  const { policy, verdicts, entering, leftOut, threaded, lastSeq } = await inUserTransaction(
    context.database,
    context.userId,
    { lock, lockTimeoutMs },
    (client) => judgeAndStore(client, group, context, threads),
  );
  group.forEach((member, at) => {
    const verdict = verdicts[at];
    if (verdict instanceof UserError) member.reject(verdict);
    else if (verdict != null) member.resolve(verdict);
  });
  const stored = entering.filter((_, at) => !leftOut.has(at));
  for (const { submission, resolve } of stored) resolve({ receipt: submission.receipt, at: policy.now });
  if (stored.length > 0) announce(context, { stored, threaded, lastSeq });
  return entering.filter((_, at) => leftOut.has(at));
}

async function judgeAndStore(
  client: ClientBase,
  group: readonly Waiting[],
  context: OperationContext,
  threads: 'join' | 'leave',
) {
  const { userId, settings } = context;
  const asking = group.reduce((sum, { submission }) => sum + submission.emails.length, 0);
  const hourly = settings.sendLimitPerHour === 0 ? null : { limit: settings.sendLimitPerHour, asking };
  const policy = await readPolicy(client, userId, questionOf(group, hourly));
  const verdicts = judge(group, policy, hourly);
  const entering = group.filter((_, at) => verdicts[at] === null);
  const units = entering.map((member) => unitOf(member, policy));
  const written = await store(client, context, units, threads);
  requireTimely(entering);
  return { policy, verdicts, entering, ...written };
}

interface Stored {
  /** positions of the units whose key was taken meanwhile */
  leftOut: Set<number>;
  /** ids of emails that have their thread already */
  threaded: ReadonlySet<string>;
  lastSeq: number | null;
}

/**
 * Stores the units. Emails that refer to others, as replies do, join their threads in the same transaction, so that whoever reads the
 * thread after the answer sees them there. The lock that threading takes comes first and events come last, as in every such transaction.
 */
async function store(
  client: ClientBase,
  context: OperationContext,
  units: readonly OutgoingUnit[],
  threads: 'join' | 'leave',
): Promise<Stored> {
  const { userId } = context;
  if (units.length === 0) return { leftOut: new Set(), threaded: new Set(), lastSeq: null };
  const referring = threads === 'leave' ? [] : units.flatMap(({ emails }) => emails.filter(isReferring));
  if (referring.length === 0) return { ...(await writeOutgoing(client, userId, units)), threaded: new Set() };
  await lockThreads(client, userId).catch(throwIfBusy);
  const { leftOut, events } = await writeOutgoingWithoutEvents(client, userId, units);
  const ids = referring.map(({ row }) => row.id);
  const emails = await claimUnthreaded(client, userId, ids);
  const joined = emails.length === 0 ? [] : await joinThreads(context, client, userId, emails);
  const lastSeq = await appendThreadEvents(client, userId, [...events, ...joined]);
  return { leftOut, threaded: new Set(emails.map(({ emailId }) => emailId)), lastSeq };
}

function isReferring({ row }: OutgoingUnit['emails'][number]): boolean {
  return row.scheduled_at === null && (row.in_reply_to.length > 0 || row.reference_ids.length > 0);
}

/** Another transaction held the lock of the user's threads for too long. */
class ThreadsBusy extends Error {}

const LOCK_NOT_AVAILABLE = '55P03';

function throwIfBusy(error: unknown): never {
  const isBusy = (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
  throw isBusy ? new ThreadsBusy('the threads of the user are busy', { cause: error }) : error;
}

function questionOf(group: readonly Waiting[], hourly: PolicyQuestion['hourly']): PolicyQuestion {
  const emails = group.flatMap(({ submission }) => submission.emails);
  const each = (values: (email: OutgoingEmail) => string[]) => [...new Set(emails.flatMap(values))];
  return {
    domains: each(({ row }) => [row.own_domain]),
    senders: each(({ row }) => [row.own_address]),
    recipients: each(({ row }) => row.recipients.map(({ address }) => address.toLowerCase())),
    idempotencyKeys: group.flatMap(({ submission }) => submission.idempotency?.key ?? []),
    hourly,
  };
}

/** For each member the answer that was given before, why it may not go, or null when it goes. */
function judge(
  group: readonly Waiting[],
  policy: Policy,
  hourly: PolicyQuestion['hourly'],
): (Accepted | UserError | null)[] {
  let going = 0;
  return group.map(({ submission }) => {
    const known = replayOf(submission.idempotency, policy);
    if (known !== null) return known;
    const refusal = refusalOf(submission.emails, policy, hourly === null ? null : { ...hourly, going });
    if (refusal === null) going += submission.emails.length;
    return refusal;
  });
}

function unitOf({ submission, traceParent }: Waiting, policy: Policy): OutgoingUnit {
  const { emails, batchId, idempotency, receipt } = submission;
  return {
    emails: emails.map((email) => ({ ...email, ...admitted(email, policy) })),
    batchId,
    traceParent,
    answer: idempotency === null ? null : { ...idempotency, answer: receipt },
  };
}

interface Announcement {
  stored: readonly Waiting[];
  threaded: ReadonlySet<string>;
  lastSeq: number | null;
}

function announce({ bus, userId }: OperationContext, { stored, threaded, lastSeq }: Announcement): void {
  const rows = stored.flatMap(({ submission }) => submission.emails.map((email) => email.row));
  const emailIds = rows.filter((row) => row.scheduled_at === null).map((row) => row.id);
  const unthreadedIds = emailIds.filter((id) => !threaded.has(id));
  const schedules = rows.flatMap((row) => row.scheduled_at ?? []);
  if (emailIds.length > 0) bus.wake('sending.send.wake', { userId, emailIds });
  if (unthreadedIds.length > 0) bus.wake('threading.assign.wake', { userId, emailIds: unthreadedIds });
  const at = schedules.toSorted()[0];
  if (at !== undefined) bus.wake('scheduling.release.wake', { userId, at });
  if (lastSeq !== null) bus.publish('event.appended', { userId, lastSeq });
}

/** A submission that waits to be stored. */
export interface Waiting {
  context: OperationContext;
  submission: Submission;
  since: number;
  /** of the request, when its trace is recorded */
  traceParent: string | null;
  resolve: (accepted: Accepted) => void;
  reject: (error: unknown) => void;
}

/**
 * Stores submissions of one user in one transaction and settles each, but for those that it answers: they have to look again. Waits so
 * long for rows that others hold. When it throws, nothing of them was stored.
 */
type Commit = (group: readonly Waiting[], lockTimeoutMs: number) => Promise<Waiting[]>;

/** Emails and octets stored together at most. */
const GROUP_EMAILS = 50;
const GROUP_OCTETS = 16_000_000;
/**
 * Milliseconds until the storing must have begun, and until it must be ready to be committed, which may then take so long: the request is
 * answered 503 at its time, and what was given up may not be stored any more.
 */
const MAX_WAIT_MS = 4_000;
const MAX_AGE_MS = 6_500;
const COMMIT_MS = 2_000;
/** Milliseconds that a group waits for rows that others hold, and then each of its members. */
const GROUP_LOCK_TIMEOUT_MS = 2_000;
const MEMBER_LOCK_TIMEOUT_MS = 500;

interface UserQueue {
  waiting: Waiting[];
  isBusy: boolean;
}

const queues = new WeakMap<Database, Map<string, UserQueue>>();

/**
 * Stores a submission at once, or together with all others that its user submits while a transaction of his is under way: nobody waits
 * for company, and nobody fails for another's fault.
 */
export function queueSubmission(context: OperationContext, submission: Submission, commit: Commit): Promise<Accepted> {
  const ofDatabase = queues.get(context.database) ?? new Map<string, UserQueue>();
  queues.set(context.database, ofDatabase);
  const queue = ofDatabase.get(context.userId) ?? { waiting: [], isBusy: false };
  ofDatabase.set(context.userId, queue);
  return new Promise((resolve, reject) => {
    const traceParent = traceParentToKeep();
    queue.waiting.push({ context, submission, since: performance.now(), traceParent, resolve, reject });
    if (!queue.isBusy) void work(queue, commit, () => ofDatabase.delete(context.userId));
  });
}

/** Never rejects. `done` is called in the moment in which nobody waits any more. */
async function work(queue: UserQueue, commit: Commit, done: () => void): Promise<void> {
  queue.isBusy = true;
  while (queue.waiting.length > 0) {
    const group = takeGroup(queue).filter(isFresh);
    try {
      if (group.length > 0) queue.waiting.unshift(...(await commit(group, GROUP_LOCK_TIMEOUT_MS)));
    } catch (error) {
      queue.waiting.unshift(...(await settleAlone(group, commit, error)));
    }
  }
  done();
}

/** To be asked when all is ready to be committed. Throws unavailable when a member waits too long by now. */
export function requireTimely(group: readonly Waiting[]): void {
  const now = performance.now();
  if (group.some(({ since, context }) => now > Math.min(since + MAX_AGE_MS, context.answerBy - COMMIT_MS)))
    throw late();
}

/** The longest waiting, as many as go together; of requests with one key only the first. */
function takeGroup(queue: UserQueue): Waiting[] {
  const group: Waiting[] = [];
  const left: Waiting[] = [];
  const keys = new Set<string>();
  let emails = 0;
  let octets = 0;
  for (const member of queue.waiting) {
    const { submission } = member;
    const key = submission.idempotency?.key;
    emails += submission.emails.length;
    octets += submission.emails.reduce((sum, email) => sum + email.octets.length, 0);
    const isFull = group.length > 0 && (emails > GROUP_EMAILS || octets > GROUP_OCTETS);
    if (isFull || (key !== undefined && keys.has(key))) {
      left.push(member);
    } else {
      group.push(member);
      if (key !== undefined) keys.add(key);
    }
  }
  queue.waiting = left;
  return group;
}

/**
 * Tries each member of a group that failed; when the failure says nothing of its members, they fail with it. Those with a key come
 * last: another process may hold it. Answers those that have to look again.
 */
async function settleAlone(group: readonly Waiting[], commit: Commit, cause: unknown): Promise<Waiting[]> {
  let reason = cause;
  const again: Waiting[] = [];
  for (const member of [...group.filter((each) => !hasKey(each)), ...group.filter(hasKey)]) {
    if (!mayLieInMember(reason) || !isFresh(member)) {
      member.reject(reason);
      continue;
    }
    try {
      again.push(...(await commit([member], MEMBER_LOCK_TIMEOUT_MS)));
    } catch (error) {
      member.reject(codeOf(error) === LOCK_TIMEOUT && hasKey(member) ? stillProcessed(error) : error);
      if (!mayLieInMember(error)) reason = error;
    }
  }
  return again;
}

function hasKey({ submission }: Waiting): boolean {
  return submission.idempotency !== null;
}

/** Whether the member may still be stored; one whose request was answered 503 meanwhile may not. */
function isFresh(member: Waiting): boolean {
  const isFresh = performance.now() < Math.min(member.since + MAX_WAIT_MS, member.context.answerBy - COMMIT_MS);
  if (!isFresh) member.reject(late());
  return isFresh;
}

function late(): UserError {
  return new UserError('unavailable', 'waited too long to be stored');
}

/** PostgreSQL, Appendix A: lock_not_available; with serialization_failure and deadlock_detected, trouble that passes. */
const LOCK_TIMEOUT = '55P03';
const PASSING = new Set([LOCK_TIMEOUT, '40001', '40P01']);

/** Whether a group's failure may be the doing of one of its members, or has passed, so that others can go. */
function mayLieInMember(error: unknown): boolean {
  return !isConnectionLost(error) || PASSING.has(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
