import { traceParentToKeep } from '../../actors/bus/tracing.ts';
import { UserError } from '../../core/shared/errors.ts';
import { type Database, isConnectionLost } from '../../db/connection/database.ts';
import type { OperationContext } from '../context.ts';
import { type Accepted, type Submission, stillProcessed } from './submission.ts';

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
export type Commit = (group: readonly Waiting[], lockTimeoutMs: number) => Promise<Waiting[]>;

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
