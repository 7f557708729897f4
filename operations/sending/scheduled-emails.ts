import { UserError } from '../../core/shared/errors.ts';
import { asUser } from '../../db/connection/database.ts';
import { appendEvents } from '../../db/queries/emails/email-flags.ts';
import {
  type LockedOutgoing,
  lockOutgoing,
  setSchedule,
  setScheduledStatus,
} from '../../db/queries/sending/scheduled-change.ts';
import { toChangeEmail } from '../accounts/key-reach.ts';
import { invalid, isAskable, newIdentifier, type OperationContext } from '../context.ts';
import { scheduleOf } from './send-email.ts';

/** When an email is wished to go: text as a user writes it; without a zone the email's own serves. */
export interface ScheduleWish {
  text: string;
  timezone: string | null;
}

/** A scheduled email after a change. */
export interface ScheduledEmail {
  id: string;
  status: 'scheduled' | 'paused' | 'cancelled';
  scheduledAt: Date;
  timezone: string;
  updatedAt: Date;
}

/** What became of a wish to cancel, pause or resume. */
export interface ScheduleChange {
  email: ScheduledEmail;
  /** false when it was so already */
  isChanged: boolean;
  /** the email goes out now */
  isDue: boolean;
}

/**
 * Gives a scheduled email another time; a paused one stays paused. The Date field goes with it. Throws not_found, and validation as
 * sending does and when the email has left or was cancelled.
 */
export async function rescheduleEmail(
  context: OperationContext,
  emailId: string,
  wish: ScheduleWish,
): Promise<ScheduledEmail> {
  const { email } = await change(context, emailId, 'reschedule', async (before, work) => {
    refuseCancelled(before, 'reschedule');
    return { kind: 'email.rescheduled', email: await work.setSchedule(readWish(before, wish)) };
  });
  return email;
}

/** Cancels an email that is scheduled or paused; one that was cancelled before stays so. Throws not_found, validation. */
export function cancelEmail(context: OperationContext, emailId: string): Promise<ScheduleChange> {
  return change(context, emailId, 'delete', async (before, work) =>
    before.status === 'cancelled'
      ? { kind: null, email: seen(before) }
      : { kind: 'email.cancelled', email: await work.setStatus('cancelled') },
  );
}

/** Holds a scheduled email back until it is resumed; one that was paused before stays so. Throws not_found, validation. */
export function pauseEmail(context: OperationContext, emailId: string): Promise<ScheduleChange> {
  return change(context, emailId, 'pause', async (before, work) => {
    refuseCancelled(before, 'pause');
    return before.status === 'paused'
      ? { kind: null, email: seen(before) }
      : { kind: 'email.paused', email: await work.setStatus('paused') };
  });
}

/**
 * Puts a paused email back on its schedule, or on another one. When its time passed meanwhile, it goes out now. One that is not paused
 * only takes the other time. Throws not_found, validation.
 */
export function resumeEmail(
  context: OperationContext,
  emailId: string,
  wish: ScheduleWish | null,
): Promise<ScheduleChange> {
  return change(context, emailId, 'resume', async (before, work) => {
    refuseCancelled(before, 'resume');
    const isDue = wish === null && before.scheduledAt !== null && before.scheduledAt <= before.now;
    if (wish !== null) await work.setSchedule(readWish(before, wish));
    else if (before.status !== 'paused') return { kind: null, email: seen(before) };
    // Its Date field tells when it went.
    else if (isDue) await work.setSchedule({ at: before.now, timezone: before.timezone ?? 'UTC' });
    const kind = before.status === 'paused' ? 'email.resumed' : 'email.rescheduled';
    return { kind, email: await work.setStatus('scheduled'), isDue };
  });
}

interface Change {
  /** the event to be told; null when nothing was changed */
  kind: string | null;
  email: ScheduledEmail;
  isDue?: boolean;
}

/** The changes of one locked email; each answers the email as it is then. */
interface Work {
  setStatus(status: ScheduledEmail['status']): Promise<ScheduledEmail>;
  setSchedule(schedule: { at: Date; timezone: string }): Promise<ScheduledEmail>;
}

/** Locks the email, refuses what is no scheduled one, and tells of the change after the commit. */
async function change(
  context: OperationContext,
  emailId: string,
  verb: string,
  decide: (before: LockedOutgoing, work: Work) => Promise<Change>,
): Promise<ScheduleChange> {
  if (!isAskable(emailId)) throw emailNotFound();
  const { bus, database, userId } = await toChangeEmail(context, emailId, emailNotFound);
  const { lastSeq, ...done } = await asUser(database, userId, async (transaction) => {
    const [before] = await lockOutgoing(transaction, userId, [emailId]);
    if (before === undefined) throw emailNotFound();
    if (before.type !== 'scheduled') throw leftAlready(before, verb);
    let email = seen(before);
    const changed = await decide(before, {
      async setStatus(status) {
        email = { ...email, status, updatedAt: await setScheduledStatus(transaction, userId, [emailId], status) };
        return email;
      },
      async setSchedule({ at, timezone }) {
        const updatedAt = await setSchedule(transaction, userId, emailId, { at, timezone });
        email = { ...email, scheduledAt: at, timezone, updatedAt };
        return email;
      },
    });
    const { kind, isDue = false } = changed;
    if (kind === null) return { email, isChanged: false, isDue, lastSeq: null };
    const data = { scheduledAt: email.scheduledAt.toISOString() };
    const event = { id: newIdentifier(context, 'event'), kind, emailId, data };
    return { email, isChanged: true, isDue, lastSeq: await appendEvents(transaction, userId, [event]) };
  });
  if (lastSeq !== null) bus.publish('event.appended', { userId, lastSeq });
  if (done.isChanged && done.email.status === 'scheduled')
    bus.wake('scheduling.release.wake', { userId, at: done.email.scheduledAt.toISOString() });
  return done;
}

function seen(before: LockedOutgoing): ScheduledEmail {
  const { id, status, scheduledAt, timezone, now } = before;
  if (scheduledAt === null || (status !== 'scheduled' && status !== 'paused' && status !== 'cancelled'))
    throw new Error(`the scheduled email ${id} is ${status}`);
  return { id, status, scheduledAt, timezone: timezone ?? 'UTC', updatedAt: now };
}

function readWish(before: LockedOutgoing, wish: ScheduleWish): { at: Date; timezone: string } {
  const timezone = wish.timezone ?? before.timezone ?? 'UTC';
  const schedule = scheduleOf({ wish: { text: wish.text, timezone }, path: '' }, before.now);
  if (schedule === null) throw invalid('A time to send is required', 'scheduled_at');
  return schedule;
}

/** Texts that clients expect; the others follow their wording. */
function leftAlready({ type }: LockedOutgoing, verb: string): UserError {
  if (type === 'sent') return new UserError('validation', `Cannot ${verb} a sent email.`, { isOfState: true });
  const hint = verb === 'delete' ? ' Use PATCH to archive it.' : '';
  return new UserError('validation', `Cannot ${verb} a received email.${hint}`, { isOfState: true });
}

function refuseCancelled({ status }: LockedOutgoing, verb: string): void {
  if (status === 'cancelled')
    throw new UserError('validation', `Cannot ${verb} a cancelled email.`, { isOfState: true });
}

function emailNotFound(): UserError {
  return new UserError('not_found', 'Email not found');
}
