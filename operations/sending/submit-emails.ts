import { setImmediate as nextRound } from 'node:timers/promises';
import { traceParentToKeep } from '../../actors/bus/tracing.ts';
import { SYSTEM_WORKSPACE_ID } from '../../core/accounts/system-account.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Database } from '../../db/connection/database.ts';
import { noteServerClock, serverTimeAt } from '../../db/connection/server-clock.ts';
import { inWorkspaceTransaction } from '../../db/connection/transaction.ts';
import { OpeningFailed } from '../../db/connection/workspace-statement.ts';
import { isContention, isLockTimeout, isTaken, isTransient } from '../../db/errors.ts';
import { makeReplayKey } from '../../db/queries/sending/outgoing-policy.ts';
import {
  type OutgoingContent,
  storeUnchecked,
  type UncheckedEmail,
  type UncheckedUnit,
} from '../../db/queries/sending/outgoing-write.ts';
import { requireReturnDomain, requireSender, withFullAccess } from '../accounts/key-reach.ts';
import { requireMailQuota } from '../accounts/quotas.ts';
import type { OperationContext } from '../context.ts';
import { isReferring, startThread } from '../threads/start-thread.ts';
import { type Accepted, idempotencyKeyInUse, type Submission } from './idempotency.ts';
import { openLocalClaims } from './local-sender.ts';
import { withoutTag } from './policy-verdicts.ts';
import { requireClean } from './require-clean.ts';
import {
  announceStored,
  isSentNow,
  listStoringLocks,
  nameSendingLock,
  type SubmittedMember,
  storeSubmissions,
  type Threading,
  ThreadsBusy,
  ThreadsJoin,
  throwIfBusy,
  withSender,
} from './store-submissions.ts';

/**
 * Stores emails in the sending queue or on the schedule, and returns after the commit. A request with a known
 * Idempotency-Key gets the earlier response, and nothing is stored. Throws validation, forbidden, rate_limited,
 * conflict, unavailable; nothing of the submission is stored then.
 */
export async function submitEmails(context: OperationContext, submission: Submission): Promise<Accepted> {
  for (const { row, envelopeDomain, path } of submission.emails) {
    requireSender(context, { sender: { address: row.own_address }, domain: row.own_domain, path });
    if (envelopeDomain !== null) requireReturnDomain(context, { domain: envelopeDomain, path });
  }
  await requireMailQuota(context, submission.emails.length);
  if (context.scanOutgoing !== undefined) await requireClean(context.scanOutgoing, submission.emails);
  return queueSubmission(withFullAccess(context), submission, commit);
}

/** Stores what one statement can decide about in that, and the others as what decides about them is read. */
async function commit(group: readonly Waiting[], lockTimeoutMs: number): Promise<Waiting[]> {
  const [first] = group;
  if (first === undefined) return [];
  const { context } = first;
  const atOnce = await storeAtOnce(context, group, { lockTimeoutMs, latestTick: Math.min(...group.map(latestTick)) });
  if (atOnce === 'threads are busy') return commitGroup(group, lockTimeoutMs, 'leave');
  const { stored, left, at, claimed, lastSeq } = atOnce;
  for (const { submission, resolve } of stored) resolve({ receipt: submission.receipt, at });
  if (stored.length > 0) announceStored(context, { stored, threaded: 'all', claimed, lastSeq });
  if (left.length === 0) return [];
  const joins = left.some(({ submission }) =>
    submission.emails.some(({ row, claimToken }) => claimToken !== null || isReferring(row)),
  );
  return commitThreaded(left, lockTimeoutMs, joins ? 'join' : 'start');
}

async function commitThreaded(
  group: readonly Waiting[],
  lockTimeoutMs: number,
  threads: 'start' | 'join',
): Promise<Waiting[]> {
  try {
    return await commitGroup(group, lockTimeoutMs, threads);
  } catch (error) {
    if (error instanceof ThreadsJoin) return commitThreaded(group, lockTimeoutMs, 'join');
    if (!(error instanceof ThreadsBusy)) throw error;
    // Mail is sent even while the user's threads are locked for long: the threading actor joins it later.
    return commitGroup(group, lockTimeoutMs, 'leave');
  }
}

async function commitGroup(group: readonly Waiting[], lockTimeoutMs: number, threads: Threading): Promise<Waiting[]> {
  const [first] = group;
  if (first === undefined) return [];
  const { context } = first;
  const isOfDraft = group.some(({ submission: { draft } }) => draft !== undefined);
  const touchesThreads = group.some(({ submission: { emails } }) =>
    emails.some(({ row, claimToken }) => isSentNow(row) || claimToken !== null),
  );
  const locks = listStoringLocks(context, touchesThreads ? threads : 'leave');
  const claims = openLocalClaims(context);
  let isOpen = false;
  const { policy, verdicts, entering, handOver, leftOut, threaded, lastSeq } = await inWorkspaceTransaction(
    context.database,
    context.workspaceId,
    { locks, lockTimeoutMs },
    async (client) => {
      isOpen = true;
      const stored = await storeSubmissions(client, context, group, { threads, claims });
      requireTimely(stored.entering);
      if (isOfDraft) context.fault?.('drafts.before-commit');
      if (stored.entering.some(isAwaiting)) context.fault?.('approvals.stored-before-commit');
      return stored;
    },
  ).catch((error: unknown) => {
    claims.giveBack();
    return isOpen || threads === 'leave' ? Promise.reject(error) : throwIfBusy(error);
  });
  noteServerClock(context.database, policy.clock);
  if (isOfDraft) context.fault?.('drafts.after-commit');
  if (entering.some(isAwaiting)) context.fault?.('approvals.stored-after-commit');
  group.forEach((member, at) => {
    const verdict = verdicts[at];
    if (verdict instanceof UserError) member.reject(verdict);
    else if (verdict != null) member.resolve(verdict);
  });
  const stored = entering.filter((_, at) => !leftOut.has(at));
  for (const { submission, resolve } of stored) resolve({ receipt: submission.receipt, at: policy.now });
  const claimed = handOver();
  if (stored.length > 0) announceStored(context, { stored, threaded, claimed, lastSeq });
  // As they were submitted: their wait begins when they are stored.
  const entered = group.filter((_, at) => verdicts[at] === null);
  return entered.filter((_, at) => leftOut.has(at));
}

function isAwaiting({ submission }: Waiting): boolean {
  return submission.emails.some(({ row }) => row.approval !== undefined);
}

/** A queued submission. */
export interface Waiting extends SubmittedMember {
  context: OperationContext;
  since: number;
  resolve: (accepted: Accepted) => void;
  reject: (error: unknown) => void;
}

/**
 * Stores submissions of one user in one transaction and settles them, except those it returns, which must be tried
 * again. Waits at most `lockTimeoutMs` for locks. When it throws, nothing was stored.
 */
type Commit = (group: readonly Waiting[], lockTimeoutMs: number) => Promise<Waiting[]>;

/**
 * Maximum emails and bytes per transaction. Clients wait for the response before they send again: groups of all that wait would let PostgreSQL and
 * this process work in turn, and smaller ones let one store while the other composes (docs/decisions/0268).
 */
const GROUP_EMAILS = 25;
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

/**
 * Maximum transactions of one user at once. While PostgreSQL stores one group, this process composes and checks the next, which waits for the end of
 * the first unless it is full: a statement for one email takes as much again as three (docs/decisions/0260).
 */
const TRANSACTIONS = 2;
/** How long a group waits for requests that have arrived and not begun, of which each round of the event loop begins one; milliseconds. */
const GATHER_MS = 15;
/** Rounds without another request, after which none waits to begin. */
const QUIET_ROUNDS = 2;
/** A transaction that runs for longer waits for a lock or for PostgreSQL: those behind it begin another; milliseconds. */
const STALLED_MS = 200;

interface WorkspaceQueue {
  waiting: Waiting[];
  /** in `waiting` */
  emails: number;
  /** running */
  transactions: number;
  /** of these, how many have been running for STALLED_MS */
  stalled: number;
}

/** by the pool: each request has a database of its own */
const queues = new WeakMap<Database['pool'], Map<string, WorkspaceQueue>>();

/**
 * Stores a submission at once, or, while transactions of the same user are running, together with the others that
 * arrive meanwhile. Submissions wait for others for {@link STALLED_MS} at most, and one failing submission does not fail the others. This is not
 * actors/work/group-commit.ts, because groups are per user, contain each idempotency key once, and may return members to
 * the queue; a member also has the deadline of its request.
 */
export function queueSubmission(context: OperationContext, submission: Submission, commit: Commit): Promise<Accepted> {
  const ofDatabase = queues.get(context.database.pool) ?? new Map<string, WorkspaceQueue>();
  queues.set(context.database.pool, ofDatabase);
  const queue = ofDatabase.get(context.workspaceId) ?? { waiting: [], emails: 0, transactions: 0, stalled: 0 };
  ofDatabase.set(context.workspaceId, queue);
  return new Promise((resolve, reject) => {
    const traceParent = traceParentToKeep();
    const { keyId } = context.rights;
    const personId = keyId === null ? context.rights.personId : null;
    const sender = { keyId, personId, isAutomatic: keyId !== null };
    queue.waiting.push({ context, submission, ...sender, since: performance.now(), traceParent, resolve, reject });
    queue.emails += submission.emails.length;
    if (mayBegin(queue, context)) void work(queue, commit, () => ofDatabase.delete(context.workspaceId));
  });
}

/** Under an hourly limit, transactions of a user wait for each other in PostgreSQL, so there is only one. */
function mayBegin({ emails, transactions, stalled }: WorkspaceQueue, context: OperationContext): boolean {
  if (transactions === 0) return true;
  const isAnotherWorth = emails >= GROUP_EMAILS || stalled > 0;
  return transactions < TRANSACTIONS && isAnotherWorth && nameSendingLock(context) === null;
}

/** Waits while rounds of the event loop bring more submissions, until the group is full. A submission alone waits for two rounds. */
async function gather(queue: WorkspaceQueue): Promise<void> {
  const end = performance.now() + GATHER_MS;
  for (let quiet = 0; quiet < QUIET_ROUNDS && queue.emails < GROUP_EMAILS && performance.now() < end; ) {
    const before = queue.waiting.length;
    await nextRound();
    quiet = queue.waiting.length > before ? 0 : quiet + 1;
  }
}

/** Never rejects. Calls `done` as soon as the queue is empty and nothing of it is running. */
async function work(queue: WorkspaceQueue, commit: Commit, done: () => void): Promise<void> {
  queue.transactions++;
  while (queue.waiting.length > 0) {
    await gather(queue);
    const group = takeGroup(queue).filter(isFresh);
    if (group.length === 0) continue;
    const run = { isStalled: false };
    const stall = setTimeout(() => {
      run.isStalled = true;
      queue.stalled++;
      const [next] = queue.waiting;
      if (next !== undefined && mayBegin(queue, next.context)) void work(queue, commit, done);
    }, STALLED_MS);
    const again = await commit(group, GROUP_LOCK_TIMEOUT_MS).catch((error: unknown) =>
      settleAlone(group, commit, error),
    );
    clearTimeout(stall);
    if (run.isStalled) queue.stalled--;
    // Only now, because the other transaction takes its groups from the same list.
    queue.waiting.unshift(...again);
    queue.emails += countEmails(again);
  }
  queue.transactions--;
  if (queue.transactions === 0) done();
}

/** Checked just before the commit. Throws unavailable when a member has waited too long. */
export function requireTimely(group: readonly Waiting[]): void {
  const now = performance.now();
  if (group.some((member) => now > latestTick(member))) throw late();
}

/** Returns when a member must be ready to commit, on performance.now(). */
function latestTick({ since, context }: Waiting): number {
  return Math.min(since + MAX_AGE_MS, context.respondBy - COMMIT_MS);
}

/** Takes the oldest members up to the limits; of requests with the same key only the first. */
function takeGroup(queue: WorkspaceQueue): Waiting[] {
  const group: Waiting[] = [];
  const left: Waiting[] = [];
  const keys = new Set<string>();
  let emails = 0;
  let bytes = 0;
  for (const member of queue.waiting) {
    const { submission } = member;
    const key = submission.idempotency === null ? undefined : makeReplayKey(submission.idempotency);
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
  queue.emails = countEmails(left);
  return group;
}

function countEmails(members: readonly Waiting[]): number {
  return members.reduce((sum, { submission }) => sum + submission.emails.length, 0);
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
      member.reject(isLockTimeout(error) && hasKey(member) ? idempotencyKeyInUse(error) : error);
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
  const isFresh = performance.now() < Math.min(member.since + MAX_WAIT_MS, member.context.respondBy - COMMIT_MS);
  if (!isFresh) member.reject(late());
  return isFresh;
}

function late(): UserError {
  return new UserError('unavailable', 'The request waited too long in the queue');
}

/**
 * Returns whether a group's failure may come from one of its members or is transient, so that members can be tried
 * alone.
 */
function mayLieInMember(error: unknown): boolean {
  return !isTransient(error) || isContention(error);
}

/** How long the statement may take, waits for locks included; milliseconds. */
const STATEMENT_MS = 2_500;

interface StoredAtOnce<Member> {
  /** the members that are stored */
  stored: Member[];
  /** the members that were not stored: what decides about them has to be read first */
  left: Member[];
  /** when they were stored, by PostgreSQL's clock */
  at: Date;
  /** ids of emails whose recipients are claimed by this process */
  claimed: ReadonlySet<string>;
  /** of the user's event feed; null when nothing was stored */
  lastSeq: number | null;
}

/**
 * Stores those of the members that need no decision in one statement, which is its own transaction, and claims their recipients for the
 * sending actor of this process, if it has room for them: one round trip and one commit from the request to the response. The statement
 * checks everything that storeSubmissions would, on the rows as they are then: who may send, the domains of the senders, send policies,
 * suppressions, idempotency keys, the versions of drafts, and whether emails start threads. What it cannot decide is left.
 */
async function storeAtOnce<Member extends SubmittedMember>(
  context: OperationContext,
  group: readonly Member[],
  {
    lockTimeoutMs,
    latestTick,
  }: { lockTimeoutMs: number /** when it must be ready to commit, on performance.now() */; latestTick: number },
): Promise<StoredAtOnce<Member> | 'threads are busy'> {
  const { workspaceId } = context;
  const drafts = new Set<string>();
  const going = group.filter((member) => mayGoAtOnce(context, member) && isFirstOfDraft(member, drafts));
  // Without knowing PostgreSQL's clock, a statement that arrives late could not tell: the other way reads it.
  const beginBy = serverTimeAt(context.database, latestTick - STATEMENT_MS);
  const none = { stored: [], left: [...group], at: context.now(), claimed: new Set<string>(), lastSeq: null };
  if (going.length === 0 || beginBy === null) return none;
  const claims = openLocalClaims(context);
  const emails = going.flatMap(({ submission }) => submission.emails);
  const claimable = claims.keep(emails.filter(({ row }) => isSentNow(row)));
  context.fault?.('submission.before-statement');
  if (drafts.size > 0) context.fault?.('drafts.before-commit');
  const written = await storeUnchecked(
    context.database,
    workspaceId,
    going.map((member) => toUnit(context, member, claimable)),
    { lockTimeoutMs, timeoutMs: STATEMENT_MS, beginBy, claimant: claims.claimant },
  ).catch((error: unknown) => {
    claims.giveBack();
    if (error instanceof OpeningFailed && isLockTimeout(error)) return 'threads are busy' as const;
    if (isTaken(error)) return null;
    throw error;
  });
  if (written === 'threads are busy') return written;
  if (written === null) return none;
  const { leftOut, lastSeq, storedAt, clock, ...found } = written;
  context.fault?.('submission.stored');
  if (drafts.size > 0) context.fault?.('drafts.after-commit');
  noteServerClock(context.database, clock);
  const stored = going.filter((_, at) => !leftOut.has(at));
  const claimed = claims.fill(
    stored.flatMap(({ submission }) => submission.emails),
    found,
  );
  const gone = new Set(stored);
  return {
    stored,
    left: group.filter((member) => !gone.has(member)),
    at: storedAt,
    claimed,
    lastSeq,
  };
}

/** Whether nothing but rows that the statement checks decides about a submission. */
function mayGoAtOnce({ workspaceId, settings }: OperationContext, { submission }: SubmittedMember): boolean {
  return (
    settings.sendLimitPerHour === 0 &&
    workspaceId !== SYSTEM_WORKSPACE_ID &&
    submission.emails.every(({ row, claimToken }) => claimToken === null && !(isSentNow(row) && isReferring(row)))
  );
}

/** Whether no other request of the group sends the same draft; adds it to `drafts`. */
function isFirstOfDraft({ submission: { draft } }: SubmittedMember, drafts: Set<string>): boolean {
  if (draft === undefined) return true;
  const isFirst = !drafts.has(draft.id);
  drafts.add(draft.id);
  return isFirst;
}

function toUnit(
  context: OperationContext,
  { submission, keyId, personId = null, traceParent }: SubmittedMember,
  claimable: ReadonlySet<OutgoingContent>,
): UncheckedUnit {
  const { emails, batchId, idempotency, receipt, draft = null } = submission;
  return {
    emails: emails.map((email): UncheckedEmail => {
      const { row, envelopeDomain } = email;
      return {
        ...email,
        ...(isSentNow(row) ? {} : { row: withSender(row, { keyId, personId }) }),
        keyId,
        personId,
        domains: envelopeDomain === null ? [row.own_domain] : [row.own_domain, envelopeDomain],
        policySenders: [...new Set([row.own_address, withoutTag(row.own_address)])],
        addressees: row.recipients.map(({ address }) => address.toLowerCase()),
        claims: claimable.has(email),
        thread: isSentNow(row) ? startThread(context, row) : undefined,
      };
    }),
    batchId,
    draft,
    traceParent,
    response: idempotency === null ? null : { ...idempotency, response: receipt },
  };
}
