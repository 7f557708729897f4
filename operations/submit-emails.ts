import type { ClientBase } from 'pg';
import { z } from 'zod';
import { UserError } from '../core/errors.ts';
import { type Database, isConnectionLost } from '../db/database.ts';
import { type Policy, type PolicyQuestion, readPolicy } from '../db/queries/outgoing-policy.ts';
import { type OutgoingUnit, writeOutgoing } from '../db/queries/outgoing-write.ts';
import { inUserTransaction } from '../db/user-transaction.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';
import type { OperationContext } from './context.ts';
import { admitted, type HourlyCount, refusalOf } from './sending-policy.ts';

/** Emails of one user that go in together or not at all. */
export interface Submission {
  /** 1 to 100 */
  emails: readonly OutgoingEmail[];
  batchId: string | null;
  /** null: the request bore no Idempotency-Key */
  idempotency: Idempotency | null;
  /** what is answered, and kept to be answered again */
  receipt: Receipt;
}

/** A request that is to be done once (wire facts "idempotency"). */
export interface Idempotency {
  /** 1 to 256 characters */
  key: string;
  /** as `send`; the same key of another operation is taken for another request */
  operation: string;
  /** hex; of all that the request asks for */
  requestSha256: string;
}

/** What a repeated request is answered with, too; stored as JSON. */
export type Receipt = z.infer<typeof receipt>;

export interface Accepted {
  receipt: Receipt;
  /** when they were stored, by PostgreSQL's clock */
  at: Date;
}

const receipt = z.object({
  emails: z.array(
    z.object({
      id: z.string(),
      messageId: z.string(),
      /** ISO 8601; null: it goes at once */
      scheduledAt: z.string().nullable(),
      timezone: z.string().nullable(),
    }),
  ),
  batchId: z.string().nullable(),
  /** of an answer: the email that is answered, its thread, and whether the thread was named */
  repliedTo: z.object({ emailId: z.string(), threadId: z.string().nullable(), isThread: z.boolean() }).nullable(),
  /** of a batch that takes what can go: what could not, by its place in the request */
  refused: z.array(z.object({ index: z.number(), message: z.string() })).optional(),
});

/** Emails and octets stored together at most. */
const GROUP_EMAILS = 50;
const GROUP_OCTETS = 16_000_000;
/** Milliseconds. The answer must come within the request's 9 s, and what was given up may not be stored any more. */
const MAX_WAIT_MS = 4_000;
/** Milliseconds that a group waits for rows that others hold, and then each of its members. */
const GROUP_LOCK_TIMEOUT_MS = 2_000;
const MEMBER_LOCK_TIMEOUT_MS = 500;

interface Waiting {
  context: OperationContext;
  submission: Submission;
  since: number;
  resolve: (accepted: Accepted) => void;
  reject: (error: unknown) => void;
}

interface UserQueue {
  waiting: Waiting[];
  isBusy: boolean;
}

const queues = new WeakMap<Database, Map<string, UserQueue>>();

/**
 * Puts emails into the sending queue, or on the schedule, and answers after the commit; a request with a known Idempotency-Key is answered as the
 * first time, and nothing is stored. What a user submits while a transaction of his is under way goes into the next one together;
 * nobody waits for company. Throws validation, forbidden, rate_limited, conflict; then nothing of the submission is stored.
 */
export function submitEmails(context: OperationContext, submission: Submission): Promise<Accepted> {
  const ofDatabase = queues.get(context.database) ?? new Map<string, UserQueue>();
  queues.set(context.database, ofDatabase);
  const queue = ofDatabase.get(context.userId) ?? { waiting: [], isBusy: false };
  ofDatabase.set(context.userId, queue);
  return new Promise((resolve, reject) => {
    queue.waiting.push({ context, submission, since: performance.now(), resolve, reject });
    if (!queue.isBusy) void work(queue, () => ofDatabase.delete(context.userId));
  });
}

/** Never rejects. `done` is called in the moment in which nobody waits any more. */
async function work(queue: UserQueue, done: () => void): Promise<void> {
  queue.isBusy = true;
  while (queue.waiting.length > 0) await settle(queue, takeGroup(queue));
  done();
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

async function settle(queue: UserQueue, group: Waiting[]): Promise<void> {
  const fresh = group.filter(isFresh);
  try {
    queue.waiting.unshift(...(await commit(fresh, GROUP_LOCK_TIMEOUT_MS)));
  } catch (error) {
    await settleAlone(queue, fresh, error);
  }
}

/**
 * Tries each member of a group that failed; when the failure says nothing of its members, they fail with it. Those with a key come
 * last: another process may hold it.
 */
async function settleAlone(queue: UserQueue, group: Waiting[], cause: unknown): Promise<void> {
  let reason = cause;
  const [keyless, keyed] = [group.filter((member) => !hasKey(member)), group.filter(hasKey)];
  for (const member of [...keyless, ...keyed]) {
    if (!mayLieInMember(reason) || !isFresh(member)) {
      member.reject(reason);
      continue;
    }
    try {
      queue.waiting.unshift(...(await commit([member], MEMBER_LOCK_TIMEOUT_MS)));
    } catch (error) {
      member.reject(isLockTimeout(error) && hasKey(member) ? stillProcessed(error) : error);
      if (!mayLieInMember(error)) reason = error;
    }
  }
}

/** Stores those that may go and settles all but the ones it answers: another process took their key, so they have to look again. */
async function commit(group: readonly Waiting[], lockTimeoutMs: number): Promise<Waiting[]> {
  const [first] = group;
  if (first === undefined) return [];
  const { database, userId, settings } = first.context;
  const { sendLimitPerHour } = settings;
  const options = { lock: sendLimitPerHour === 0 ? null : 'sending limit', lockTimeoutMs };
  const { policy, verdicts, entering, leftOut, lastSeq } = await inUserTransaction(
    database,
    userId,
    options,
    (client) => judgeAndStore(client, group, first.context),
  );
  group.forEach((member, at) => {
    const verdict = verdicts[at];
    if (verdict instanceof UserError) member.reject(verdict);
    else if (verdict != null) member.resolve(verdict);
  });
  const stored = entering.filter((_, at) => !leftOut.has(at));
  for (const { submission, resolve } of stored) resolve({ receipt: submission.receipt, at: policy.now });
  if (stored.length > 0) announce(first.context, stored, lastSeq);
  return entering.filter((_, at) => leftOut.has(at));
}

async function judgeAndStore(client: ClientBase, group: readonly Waiting[], { userId, settings }: OperationContext) {
  const policy = await readPolicy(client, userId, questionOf(group, settings.sendLimitPerHour));
  const verdicts = judge(group, policy, settings.sendLimitPerHour);
  const entering = group.filter((_, at) => verdicts[at] === null);
  const units = entering.map(({ submission }) => unitOf(submission, policy));
  const written = units.length === 0 ? NOTHING : await writeOutgoing(client, userId, units);
  return { policy, verdicts, entering, ...written };
}

const NOTHING = { leftOut: new Set<number>(), lastSeq: null };

function questionOf(group: readonly Waiting[], limit: number): PolicyQuestion {
  const emails = group.flatMap(({ submission }) => submission.emails);
  const each = (values: (email: OutgoingEmail) => string[]) => [...new Set(emails.flatMap(values))];
  return {
    domains: each(({ row }) => [row.own_domain]),
    senders: each(({ row }) => [row.own_address]),
    recipients: each(({ row }) => row.recipients.map(({ address }) => address.toLowerCase())),
    idempotencyKeys: group.flatMap(({ submission }) => submission.idempotency?.key ?? []),
    hourly: limit === 0 ? null : { limit, asking: emails.length },
  };
}

/** For each member the answer that was given before, why it may not go, or null when it goes. */
function judge(group: readonly Waiting[], policy: Policy, limit: number): (Accepted | UserError | null)[] {
  const count: HourlyCount = {
    limit,
    asking: group.reduce((sum, { submission }) => sum + submission.emails.length, 0),
    admitted: 0,
  };
  return group.map(({ submission }) => {
    const known = replayOf(submission.idempotency, policy);
    if (known !== null) return known;
    const refusal = refusalOf(submission.emails, policy, count);
    if (refusal === null) count.admitted += submission.emails.length;
    return refusal;
  });
}

/** The answer that the request was given before, or why the key cannot serve it; null when the key is new. */
export function replayOf(
  idempotency: Idempotency | null,
  policy: Pick<Policy, 'answers'>,
): Accepted | UserError | null {
  const stored = idempotency === null ? undefined : policy.answers.get(idempotency.key);
  if (idempotency === null || stored === undefined) return null;
  if (stored.operation === idempotency.operation && stored.requestSha256 === idempotency.requestSha256)
    return { receipt: receipt.parse(stored.answer), at: stored.at };
  const message = 'Idempotency key already used with different request body';
  const more = { title: 'Conflict', name: 'invalid_idempotent_request', details: message, isFinal: true };
  return new UserError('conflict', message, more);
}

function stillProcessed(cause: unknown): UserError {
  return new UserError('conflict', 'A request with this Idempotency-Key is still being processed. Retry shortly.', {
    name: 'concurrent_idempotent_requests',
    cause,
  });
}

function unitOf({ emails, batchId, idempotency, receipt }: Submission, policy: Policy): OutgoingUnit {
  return {
    emails: emails.map((email) => ({ ...email, ...admitted(email, policy) })),
    batchId,
    answer: idempotency === null ? null : { ...idempotency, answer: receipt },
  };
}

function announce(context: OperationContext, stored: readonly Waiting[], lastSeq: number | null): void {
  const { bus, userId } = context;
  const rows = stored.flatMap(({ submission }) => submission.emails.map((email) => email.row));
  const emailIds = rows.filter((row) => row.scheduled_at === null).map((row) => row.id);
  const schedules = rows.flatMap((row) => row.scheduled_at ?? []);
  if (emailIds.length > 0) {
    bus.wake('sending.send.wake', { userId, emailIds });
    bus.wake('threading.assign.wake', { userId, emailIds });
  }
  const at = schedules.toSorted()[0];
  if (at !== undefined) bus.wake('scheduling.release.wake', { userId, at });
  if (lastSeq !== null) bus.publish('event.appended', { userId, lastSeq });
}

function hasKey({ submission }: Waiting): boolean {
  return submission.idempotency !== null;
}

/** Whether the member may still be stored; one whose request was answered 503 meanwhile may not. */
function isFresh(member: Waiting): boolean {
  const isFresh = performance.now() - member.since < MAX_WAIT_MS;
  if (!isFresh) member.reject(new UserError('unavailable', 'waited too long to be stored'));
  return isFresh;
}

/** Whether a group's failure may be the doing of one of its members (or passed: a lock, a deadlock), so that others can go. */
function mayLieInMember(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return !isConnectionLost(error) || ['40001', '40P01', '55P03'].includes(code);
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}
