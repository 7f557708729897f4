import { setImmediate as nextTurn, setImmediate as otherWork } from 'node:timers/promises';
import { UserError } from '../../core/shared/errors.ts';
import { requireSender } from '../accounts/key-reach.ts';
import { newIdentifier, type OperationContext } from '../context.ts';
import { type CheckedEmail, checkOutgoing, type NewEmail } from './check-outgoing.ts';
import { composeOutgoing, type OutgoingEmail } from './compose-outgoing.ts';
import { type Accepted, type Idempotency, ownIdempotency } from './idempotency.ts';
import { makeReceipt, parseSchedule, replayOrNow } from './send-email.ts';
import { submitEmails } from './submit-emails.ts';

/** Input of a batch. */
export interface NewBatch {
  /**
   * 1 to 100 functions that parse an email when it is needed, and throw validation; `path` is the prefix of its field
   * names
   */
  emails: readonly ((path: string) => NewEmail)[];
  /** whether one invalid email fails the whole batch, or is reported while the others are sent */
  onRefusal: 'fail' | 'tell';
  idempotency: Idempotency | null;
}

/** Why an email of a batch was rejected. */
interface Refusal {
  index: number;
  error: UserError;
}

/**
 * Sends or schedules the emails of a batch in one transaction. Throws as sendEmail, naming the invalid email; with
 * `tell` only when every email is rejected.
 */
export async function sendBatch(context: OperationContext, batch: NewBatch): Promise<Accepted> {
  const { onRefusal, idempotency } = batch;
  const { done: checked, refused } = await attempt(batch.emails, (read, index) => {
    const path = toPath(index);
    const email = checkOutgoing(read(path), path);
    requireSender(context, email);
    return email;
  });
  if (onRefusal === 'fail') throwRefused(refused);
  const before = await replayOrNow(context, idempotency);
  if ('receipt' in before) return before;
  const scheduled = await attempt(checked, (email) => ({ email, schedule: parseSchedule(email, before.now) }));
  refused.push(...scheduled.refused);
  if (onRefusal === 'fail' || scheduled.done.length === 0) throwRefused(refused);
  const composed: OutgoingEmail[] = [];
  for (const { email, schedule } of scheduled.done) {
    composed.push(await composeOutgoing(context, email, schedule));
    await otherWork();
  }
  return submit(context, composed, refused, batch);
}

/**
 * Submits the emails. With `tell`, emails that the policy rejects are removed one at a time until the rest is accepted.
 */
async function submit(
  context: OperationContext,
  emails: OutgoingEmail[],
  refused: Refusal[],
  { onRefusal, idempotency }: NewBatch,
): Promise<Accepted> {
  const batchId = newIdentifier(context, 'batch');
  const own = ownIdempotency(context.rights, idempotency);
  let going = emails;
  for (;;) {
    const rejected = refused
      .toSorted((a, b) => a.index - b.index)
      .map(({ index, error }) => ({ index, message: error.message }));
    const receipt = { emails: going.map(makeReceipt), batchId, repliedTo: null, refused: rejected };
    try {
      return await submitEmails(context, { emails: going, batchId, idempotency: own, receipt });
    } catch (error) {
      const refusal = findRefusal(error);
      if (refusal === null) throw error;
      refused.push(refusal);
      going = going.filter((email) => email.path !== toPath(refusal.index));
      if (onRefusal === 'fail' || going.length === 0) throwRefused([refusal]);
    }
  }
}

/**
 * Runs the work for each item and collects the rejections. Yields to other requests in between, because large emails
 * take long.
 */
async function attempt<T extends object, R>(
  given: readonly T[],
  work: (each: T, index: number) => R,
): Promise<{ done: R[]; refused: Refusal[] }> {
  const done: R[] = [];
  const refused: Refusal[] = [];
  for (const [index, each] of given.entries()) {
    try {
      done.push(work(each, index));
    } catch (error) {
      const refusal = findRefusal(error);
      if (refusal === null) throw error;
      refused.push(refusal);
    }
    await nextTurn();
  }
  return { done, refused };
}

/** Throws the first rejection, with the details of all. */
function throwRefused(refused: readonly Refusal[]): void {
  const first = refused.toSorted((a, b) => a.index - b.index)[0]?.error;
  if (first === undefined) return;
  const details = refused.flatMap(({ error }) => (Array.isArray(error.details) ? (error.details as unknown[]) : []));
  throw new UserError(first.code, first.message, { ...toKind(first), details, cause: first });
}

function toPath(index: number): CheckedEmail['path'] {
  return `emails.${index}.`;
}

/** Returns the rejection with the position in its message; null when the error is not about one email. */
function findRefusal(error: unknown): Refusal | null {
  if (!(error instanceof UserError) || !Array.isArray(error.details)) return null;
  const { field } = (error.details as { field?: unknown }[])[0] ?? {};
  const match = typeof field === 'string' ? /^emails\.(\d+)\.?(.*)$/.exec(field) : null;
  if (match === null) return null;
  const [, index = '', rest = ''] = match;
  const place = `emails[${index}]${rest === '' ? '' : `.${rest}`}`;
  return {
    index: Number(index),
    error: new UserError(error.code, `${place}: ${error.message}`, {
      ...toKind(error),
      details: error.details,
      cause: error,
    }),
  };
}

/** The machine-readable parts of an error. */
function toKind({ wireName, reason, members }: UserError) {
  return {
    ...(wireName === undefined ? {} : { name: wireName }),
    ...(reason === undefined ? {} : { reason }),
    members,
  };
}
