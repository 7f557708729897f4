import type { Transaction } from 'kysely';
import { hasScope } from '../../core/accounts/key-rights.ts';
import { toViolation } from '../../core/sending/send-policy.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace, shareSendRights } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import { appendEvents } from '../../db/queries/emails/email-flags.ts';
import {
  hasAddressPolicy,
  hasSendPolicy,
  type LockedOutgoing,
  lockOutgoing,
  maySendNow,
  readUndoSeconds,
  setSchedule,
  setScheduledStatus,
  setScheduler,
} from '../../db/queries/sending/scheduled-change.ts';
import { authorizeEmailChange } from '../accounts/key-reach.ts';
import { emailNotFound, invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { violation } from './policy-verdicts.ts';
import { parseSchedule } from './send-email.ts';
import { sendingRightLost } from './store-submissions.ts';

/** The requested send time as text; the time zone defaults to the email's own. */
export interface ScheduleInput {
  text: string;
  timezone: string | null;
}

/** A scheduled email after a change. One that waited for approval and has no time has that of its creation. */
export interface ScheduledEmail {
  id: string;
  status: 'scheduled' | 'paused' | 'cancelled';
  scheduledAt: Date;
  timezone: string;
  updatedAt: Date;
}

/** Result of cancelling, pausing or resuming. */
export interface ScheduleChange {
  email: ScheduledEmail;
  /** false when nothing had to change */
  isChanged: boolean;
  /** the email is sent now */
  isDue: boolean;
}

/**
 * Reschedules an email; a paused one stays paused. Its Date field changes too. Throws not_found, and validation for an
 * invalid time or an email that was sent or cancelled.
 */
export async function rescheduleEmail(
  context: OperationContext,
  emailId: string,
  input: ScheduleInput,
): Promise<ScheduledEmail> {
  const { email } = await change(context, emailId, 'reschedule', async (before, work) => {
    requireNotEnded(before, 'reschedule');
    return { kind: 'email.rescheduled', email: await work.setSchedule(scheduleFor(before, input)) };
  });
  return email;
}

/** Cancels a scheduled or paused email, or one that waits for approval. Does nothing when it is already cancelled. Throws not_found, validation. */
export function cancelEmail(context: OperationContext, emailId: string): Promise<ScheduleChange> {
  return change(context, emailId, 'delete', async (before, work) => {
    if (before.status === 'cancelled') return { kind: null, email: seen(before) };
    if (before.status !== 'awaiting_approval') requireNotEnded(before, 'delete');
    return { kind: 'email.cancelled', email: await work.setStatus('cancelled') };
  });
}

/** Pauses a scheduled email. Does nothing when it is already paused. Throws not_found, validation, forbidden. */
export function pauseEmail(context: OperationContext, emailId: string): Promise<ScheduleChange> {
  return change(context, emailId, 'pause', async (before, work) => {
    requireNotEnded(before, 'pause');
    return before.status === 'paused'
      ? { kind: null, email: seen(before) }
      : { kind: 'email.paused', email: await work.setStatus('paused') };
  });
}

/**
 * Resumes a paused email, optionally at a new time. It is sent now when its time has passed. An email that is not
 * paused only gets the new time. Throws not_found, validation, forbidden.
 */
export function resumeEmail(
  context: OperationContext,
  emailId: string,
  input: ScheduleInput | null,
): Promise<ScheduleChange> {
  return change(context, emailId, 'resume', async (before, work) => {
    requireNotEnded(before, 'resume');
    const isDue = input === null && before.scheduledAt !== null && before.scheduledAt <= before.now;
    if (input !== null) await work.setSchedule(scheduleFor(before, input));
    else if (before.status !== 'paused') return { kind: null, email: seen(before) };
    // The Date field is the time of sending.
    else if (isDue) await work.setSchedule({ at: before.now, timezone: before.timezone ?? 'UTC' });
    const kind = before.status === 'paused' ? 'email.resumed' : 'email.rescheduled';
    return { kind, email: await work.setStatus('scheduled'), isDue };
  });
}

interface Change {
  /** the event to append; null when nothing changed */
  kind: string | null;
  email: ScheduledEmail;
  isDue?: boolean;
}

/** The possible changes of a locked email; each returns the email afterwards. */
interface Work {
  setStatus(status: ScheduledEmail['status']): Promise<ScheduledEmail>;
  setSchedule(schedule: { at: Date; timezone: string }): Promise<ScheduledEmail>;
}

/** Locks a scheduled email, runs the change, and publishes its event after the commit. */
async function change(
  context: OperationContext,
  emailId: string,
  verb: string,
  decide: (before: LockedOutgoing, work: Work) => Promise<Change>,
): Promise<ScheduleChange> {
  if (!isValidId(emailId)) throw emailNotFound();
  const { bus, database, workspaceId } = await authorizeEmailChange(context, emailId, emailNotFound);
  const { lastSeq, ...done } = await asWorkspace(database, workspaceId, async (transaction) => {
    // Before the email is locked, as a change of the key does: no policy, and no end of the right to send, comes between what is checked here
    // and the commit.
    await shareSendRights(transaction, workspaceId);
    const [before] = await lockOutgoing(transaction, workspaceId, [emailId]);
    if (before === undefined) throw emailNotFound();
    if (before.type !== 'scheduled') throw leftAlready(before, verb);
    let email = seen(before);
    const foreign = await findForeign(context, transaction, before);
    const takeOver = () =>
      foreign !== null ? undefined : setScheduler(transaction, workspaceId, [emailId], context.rights);
    const changed = await decide(before, {
      async setStatus(status) {
        if (status === 'scheduled') await requireSendingRight(context, transaction, [emailId]);
        if (foreign !== null && (status === 'paused' || (status === 'scheduled' && before.status === 'paused')))
          throw foreign;
        email = { ...email, status, updatedAt: await setScheduledStatus(transaction, workspaceId, [emailId], status) };
        if (status === 'scheduled') await takeOver();
        return email;
      },
      async setSchedule({ at, timezone }) {
        await requireSendingRight(context, transaction, [emailId]);
        if (foreign !== null && before.status === 'paused') throw foreign;
        await requireWait(context, transaction, before, at);
        const updatedAt = await setSchedule(transaction, workspaceId, emailId, { at, timezone });
        email = { ...email, scheduledAt: at, timezone, updatedAt };
        await takeOver();
        return email;
      },
    });
    const { kind, isDue = false } = changed;
    if (kind === null) return { email, isChanged: false, isDue, lastSeq: null };
    const data = { scheduledAt: email.scheduledAt.toISOString() };
    const event = { id: newIdentifier(context, 'event'), kind, emailId, data };
    return { email, isChanged: true, isDue, lastSeq: await appendEvents(transaction, workspaceId, [event]) };
  });
  if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
  if (done.isChanged && done.email.status === 'scheduled')
    bus.wake('scheduling.release.wake', { workspaceId, at: done.email.scheduledAt.toISOString() });
  return done;
}

/**
 * Requires that who asks may still send these emails: the right may have been lost since the request was admitted. In a transaction that shares
 * the send rights. Throws forbidden.
 */
export async function requireSendingRight(
  { rights: { keyId, personId }, workspaceId }: OperationContext,
  transaction: Transaction<Tables>,
  emailIds: readonly string[],
): Promise<void> {
  if (await maySendNow(transaction, { workspaceId, keyId, personId }, emailIds)) return;
  throw sendingRightLost(keyId, `${emailIds.length === 1 ? 'this email' : 'these emails'}. Nothing was changed.`);
}

/**
 * Returns the error of a key that changes an email which the send policy of the key, or of the sender, has not judged; null: it may. The key can
 * move or cancel one that is on its way, but does not take it over; it neither resumes it nor pauses what it could not resume. A key that may
 * change the policy of the sender may do all.
 */
async function findForeign(
  { rights, workspaceId }: OperationContext,
  transaction: Transaction<Tables>,
  { scheduledByKeyId, ownAddress }: LockedOutgoing,
): Promise<UserError | null> {
  const { keyId } = rights;
  if (keyId === null || scheduledByKeyId === keyId) return null;
  if (await hasSendPolicy(transaction, workspaceId, keyId)) return foreignSchedule(OF_KEY);
  if (scheduledByKeyId !== null || hasScope(rights, 'manage')) return null;
  return (await hasAddressPolicy(transaction, workspaceId, ownAddress)) ? foreignSchedule(OF_SENDER) : null;
}

const OF_KEY =
  'A key with a send policy pauses and resumes only emails that it scheduled under this policy. Use the dashboard, or a key that has none.';
const OF_SENDER =
  'The sender has a send policy, which did not judge this email when a key scheduled it. Use the dashboard, or a key with the scope manage.';

function foreignSchedule(message: string): UserError {
  return new UserError('forbidden', message, { title: 'Forbidden', reason: 'SEND_POLICY' });
}

/** A program cannot shorten the time in which its mail can be undone. A person can. Throws forbidden. */
async function requireWait(
  { rights, workspaceId }: OperationContext,
  transaction: Transaction<Tables>,
  before: LockedOutgoing,
  at: Date,
): Promise<void> {
  const { apiKeyId, policyAddress, createdAt, approvedAt } = before;
  if (rights.keyId === null || (apiKeyId === null && policyAddress === null)) return;
  const seconds = await readUndoSeconds(transaction, workspaceId, before);
  const earliest = new Date((approvedAt ?? createdAt).getTime() + seconds * 1_000);
  if (at >= earliest) return;
  const held =
    policyAddress === null
      ? { of: 'key' as const, owner: apiKeyId ?? '' }
      : { of: 'address' as const, owner: policyAddress };
  const refusal = toViolation(
    held,
    'undo_seconds',
    `makes mail wait: this email can be sent from ${earliest.toISOString()}.`,
  );
  throw violation(refusal, 'scheduled_at');
}

function seen(before: LockedOutgoing): ScheduledEmail {
  const { id, status, scheduledAt, createdAt, timezone, now } = before;
  const isOfSchedule = status === 'scheduled' || status === 'paused' || status === 'cancelled';
  return {
    id,
    // Mail that waits for approval can only be cancelled, and has its status afterwards.
    status: isOfSchedule ? status : 'scheduled',
    scheduledAt: scheduledAt ?? createdAt,
    timezone: timezone ?? 'UTC',
    updatedAt: now,
  };
}

function scheduleFor(before: LockedOutgoing, input: ScheduleInput): { at: Date; timezone: string } {
  const timezone = input.timezone ?? before.timezone ?? 'UTC';
  const schedule = parseSchedule({ sendAt: { text: input.text, timezone }, path: '' }, before.now);
  if (schedule === null) throw invalid('A time to send is required', 'scheduled_at');
  return schedule;
}

/** The texts are part of the REST contract. */
function leftAlready({ type }: LockedOutgoing, verb: string): UserError {
  if (type === 'sent') return new UserError('validation', `Cannot ${verb} a sent email.`, { isOfState: true });
  const instead =
    verb === 'delete' ? ' Use PATCH to archive it instead, or POST /emails/{id}/trash to move it to the trash.' : '';
  return new UserError('validation', `Cannot ${verb} a received email.${instead}`, { isOfState: true });
}

function requireNotEnded({ status }: LockedOutgoing, verb: string): void {
  if (status === 'cancelled' || status === 'rejected')
    throw new UserError('validation', `Cannot ${verb} a ${status} email.`, { isOfState: true });
  if (status === 'awaiting_approval')
    throw new UserError('validation', `Cannot ${verb} an email that waits for approval. Approve or cancel it first.`, {
      isOfState: true,
    });
}
