import type { ClientBase } from 'pg';
import { traceParentToKeep } from '../../actors/bus/tracing.ts';
import { UserError } from '../../core/shared/errors.ts';
import { claimTokenSha256 } from '../../core/threads/answerer-claim.ts';
import { linkKeys, linksOf } from '../../core/threads/threading.ts';
import { type Database, isConnectionLost } from '../../db/connection/database.ts';
import { inUserTransaction } from '../../db/connection/transaction.ts';
import { type Policy, type PolicyQuestion, readPolicy } from '../../db/queries/sending/outgoing-policy.ts';
import {
  type OutgoingUnit,
  writeOutgoing,
  writeOutgoingWithoutEvents,
} from '../../db/queries/sending/outgoing-write.ts';
import { lockHeldClaims } from '../../db/queries/threads/answerer-claim.ts';
import { claimUnthreaded, lockThreads } from '../../db/queries/threads/thread-claim.ts';
import { requireSender, withFullAccess } from '../accounts/key-reach.ts';
import type { OperationContext } from '../context.ts';
import { claimLost } from '../threads/claim-thread.ts';
import { joinThreads } from '../threads/join-threads.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';
import { type Accepted, idempotencyKeyInUse, idempotentReplay, type Submission } from './idempotency.ts';
import { admitted, refusalOf } from './sending-policy.ts';

/**
 * Stores emails in the sending queue or on the schedule, and returns after the commit. A request with a known
 * Idempotency-Key gets the earlier response, and nothing is stored. Throws validation, forbidden, rate_limited,
 * conflict, unavailable; nothing of the submission is stored then.
 */
export async function submitEmails(context: OperationContext, submission: Submission): Promise<Accepted> {
  for (const { row, path } of submission.emails) requireSender(context, { domain: row.own_domain, path });
  return queueSubmission(withFullAccess(context), submission, commit);
}

async function commit(group: readonly Waiting[], lockTimeoutMs: number): Promise<Waiting[]> {
  try {
    return await commitGroup(group, lockTimeoutMs, 'join');
  } catch (error) {
    if (!(error instanceof ThreadsBusy)) throw error;
    // Mail is sent even while the user's threads are locked for long: the threading actor joins it later.
    return commitGroup(group, lockTimeoutMs, 'leave');
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
  const lost = await findLostClaims(client, userId, group, threads);
  const policy = await readPolicy(client, userId, questionOf(group, hourly));
  const verdicts = judge(group, policy, hourly, lost);
  const entering = group.filter((_, at) => verdicts[at] === null);
  const units = entering.map((member) => unitOf(member, policy));
  const written = await store(client, context, units, threads);
  requireTimely(entering);
  return { policy, verdicts, entering, ...written };
}

/**
 * Returns the emails whose claims are lost. Claims change under the lock of the user's threads, which therefore comes before the lock of the
 * claims, and both are held until the email is stored.
 */
async function findLostClaims(
  client: ClientBase,
  userId: string,
  group: readonly Waiting[],
  threads: 'join' | 'leave',
): Promise<ReadonlySet<OutgoingEmail>> {
  const claiming = group.flatMap(({ submission }) =>
    submission.emails.flatMap((email) => {
      if (email.claimToken === null) return [];
      const { in_reply_to: inReplyTo, reference_ids: references } = email.row;
      const tokenSha256 = claimTokenSha256(email.claimToken);
      const keys = linkKeys(linksOf({ messageId: '', inReplyTo, references }));
      return [{ email, answer: { tokenSha256, threadId: submission.receipt.repliedTo?.threadId ?? null, keys } }];
    }),
  );
  if (claiming.length === 0) return new Set();
  if (threads === 'join') await lockThreads(client, userId).catch(throwIfBusy);
  const held = await lockHeldClaims(
    client,
    userId,
    claiming.map(({ answer }) => answer),
  );
  return new Set(claiming.flatMap(({ email }, at) => (held[at] === true ? [] : [email])));
}

interface Stored {
  /** indexes of the units whose key was taken in the meantime */
  leftOut: Set<number>;
  /** ids of emails that are already threaded */
  threaded: ReadonlySet<string>;
  lastSeq: number | null;
}

/**
 * Stores the units. Replies join their threads in the same transaction, so that the thread shows them as soon as the
 * request is answered. The threading lock comes first and events come last, as in every such transaction.
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
  const claimed = await claimUnthreaded(client, userId, ids);
  const lastSeq = await joinThreads(context, client, userId, claimed, events);
  return { leftOut, threaded: new Set(claimed.emails.map(({ emailId }) => emailId)), lastSeq };
}

function isReferring({ row }: OutgoingUnit['emails'][number]): boolean {
  return row.scheduled_at === null && (row.in_reply_to.length > 0 || row.reference_ids.length > 0);
}

/** Another transaction held the lock on the user's threads for too long. */
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

/** Returns for each member the earlier response, the reason for a rejection, or null to store it. */
function judge(
  group: readonly Waiting[],
  policy: Policy,
  hourly: PolicyQuestion['hourly'],
  lost: ReadonlySet<OutgoingEmail>,
): (Accepted | UserError | null)[] {
  let going = 0;
  return group.map(({ submission }) => {
    const known = idempotentReplay(submission.idempotency, policy);
    if (known !== null) return known;
    const unclaimed = submission.emails.find((email) => lost.has(email));
    if (unclaimed !== undefined) return claimLost(null, `${unclaimed.path}claim_token`);
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

/** A queued submission. */
export interface Waiting {
  context: OperationContext;
  submission: Submission;
  since: number;
  /** trace context of the request, if it is recorded */
  traceParent: string | null;
  resolve: (accepted: Accepted) => void;
  reject: (error: unknown) => void;
}

/**
 * Stores submissions of one user in one transaction and settles them, except those it returns, which must be tried
 * again. Waits at most `lockTimeoutMs` for locks. When it throws, nothing was stored.
 */
type Commit = (group: readonly Waiting[], lockTimeoutMs: number) => Promise<Waiting[]>;

/** Maximum emails and bytes per transaction. */
const GROUP_EMAILS = 50;
const GROUP_BYTES = 16_000_000;
/**
 * Milliseconds until storing must have begun, until it must be ready to commit, and for the commit. A request whose
 * time is up gets 503, and its submission must not be stored afterwards.
 */
const MAX_WAIT_MS = 4_000;
const MAX_AGE_MS = 6_500;
const COMMIT_MS = 2_000;
/** Lock timeouts of a group, and of each member tried alone; milliseconds. */
const GROUP_LOCK_TIMEOUT_MS = 2_000;
const MEMBER_LOCK_TIMEOUT_MS = 500;

interface UserQueue {
  waiting: Waiting[];
  isBusy: boolean;
}

const queues = new WeakMap<Database, Map<string, UserQueue>>();

/**
 * Stores a submission at once, or, while a transaction of the same user is running, together with the others that
 * arrive meanwhile. Submissions never wait for others, and one failing submission does not fail the others. This is not
 * actors/work/group-commit.ts, because groups are per user, contain each idempotency key once, and may return members to
 * the queue; a member also has the deadline of its request.
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

/** Never rejects. Calls `done` as soon as the queue is empty. */
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

/** Checked just before the commit. Throws unavailable when a member has waited too long. */
export function requireTimely(group: readonly Waiting[]): void {
  const now = performance.now();
  if (group.some(({ since, context }) => now > Math.min(since + MAX_AGE_MS, context.answerBy - COMMIT_MS)))
    throw late();
}

/** Takes the oldest members up to the limits; of requests with the same key only the first. */
function takeGroup(queue: UserQueue): Waiting[] {
  const group: Waiting[] = [];
  const left: Waiting[] = [];
  const keys = new Set<string>();
  let emails = 0;
  let bytes = 0;
  for (const member of queue.waiting) {
    const { submission } = member;
    const key = submission.idempotency?.key;
    emails += submission.emails.length;
    bytes += submission.emails.reduce((sum, email) => sum + email.bytes.length, 0);
    const isFull = group.length > 0 && (emails > GROUP_EMAILS || bytes > GROUP_BYTES);
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
 * Tries each member of a failed group alone; when the failure was not caused by a member, all fail with it. Members
 * with a key come last, because another process may hold it. Returns those to try again.
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
      member.reject(codeOf(error) === LOCK_TIMEOUT && hasKey(member) ? idempotencyKeyInUse(error) : error);
      if (!mayLieInMember(error)) reason = error;
    }
  }
  return again;
}

function hasKey({ submission }: Waiting): boolean {
  return submission.idempotency !== null;
}

/** Returns whether the member can still be stored in time; rejects it otherwise. */
function isFresh(member: Waiting): boolean {
  const isFresh = performance.now() < Math.min(member.since + MAX_WAIT_MS, member.context.answerBy - COMMIT_MS);
  if (!isFresh) member.reject(late());
  return isFresh;
}

function late(): UserError {
  return new UserError('unavailable', 'The request waited too long in the queue');
}

/** PostgreSQL, Appendix A: lock_not_available; with serialization_failure and deadlock_detected, a transient error. */
const LOCK_TIMEOUT = '55P03';
const PASSING = new Set([LOCK_TIMEOUT, '40001', '40P01']);

/**
 * Returns whether a group's failure may come from one of its members or is transient, so that members can be tried
 * alone.
 */
function mayLieInMember(error: unknown): boolean {
  return !isConnectionLost(error) || PASSING.has(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
