import { readSchedule, type ScheduleRefusal } from '../../core/sending/schedule.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { readClock } from '../../db/queries/sending/outgoing-policy.ts';
import {
  changeSnooze,
  readSnooze,
  remindOfUnthreaded,
  type SnoozeState,
  snoozedEvent,
} from '../../db/queries/threads/thread-snooze.ts';
import { authorizeEmailChange } from '../accounts/key-reach.ts';
import { emailNotFound, invalid, type OperationContext } from '../context.ts';
import { loadEmails } from '../emails/emails.ts';
import { changeReachedThread, threadNotFound } from './thread-transaction.ts';
import { createChangeRecord } from './undo-change.ts';

/** A time that a user gave. */
export interface GivenTime {
  /** ISO 8601 or in words */
  text: string;
  /** IANA name */
  timezone: string | null;
}

/** A thread that was snoozed, woken, or got a reminder. */
export interface SnoozedThread {
  threadId: string;
  /** null: it is not snoozed */
  snoozedUntil: Date | null;
  /** null: no reminder */
  remindAt: Date | null;
  /** undoes the change for a day; null: it changed nothing */
  undoId: string | null;
}

/**
 * Takes a thread out of the inbox until a time, or with null back into it. It also comes back when a reply comes. Throws not_found,
 * validation, conflict.
 */
export function snoozeThread(context: OperationContext, threadId: string, until: GivenTime | null) {
  return changeState(context, threadId, (now) =>
    until === null
      ? { snoozedUntil: null }
      : { snoozedUntil: readTime(until, now, 'until'), returnedAt: null, returnedBy: null },
  );
}

/** Brings a thread back to the inbox at a time unless a reply comes before; with null, no more. Throws as snoozeThread. */
export function remindOfThread(context: OperationContext, threadId: string, at: GivenTime | null) {
  return changeState(context, threadId, (now) => ({ remindAt: at === null ? null : readTime(at, now, 'at') }));
}

/**
 * Brings the thread of an email back at a time unless a message arrives in it before; with null, no more. An email that is not sent yet keeps
 * the reminder until it has a thread. Throws as snoozeThread.
 */
export async function remindOfEmail(
  context: OperationContext,
  emailId: string,
  at: GivenTime | null,
): Promise<{ emailId: string; remindAt: Date | null }> {
  const { database, workspaceId } = await authorizeEmailChange(context, emailId, emailNotFound);
  const [email] = await loadEmails(context, [emailId]);
  if (email == null || email.type === 'received') throw emailNotFound();
  const given = at === null ? null : new Date(readTime(at, await readClock(database), 'at'));
  const isKept = await asWorkspace(database, workspaceId, (transaction) =>
    remindOfUnthreaded(transaction, workspaceId, emailId, given),
  );
  if (isKept) return { emailId, remindAt: given };
  const [threaded] = await loadEmails(context, [emailId]);
  if (threaded?.threadId == null) throw emailNotFound();
  const { remindAt } = await remindOfThread(context, threaded.threadId, at);
  return { emailId, remindAt };
}

function changeState(
  context: OperationContext,
  threadId: string,
  decide: (now: Date) => Partial<SnoozeState>,
): Promise<SnoozedThread> {
  const { workspaceId } = context;
  return changeReachedThread(context, threadId, async (client, living) => {
    const before = await readSnooze(client, workspaceId, living);
    if (before === null) throw threadNotFound();
    const [changed] = await changeSnooze(client, workspaceId, [living], decide(before.now));
    const { snoozedUntil, remindAt } = (await readSnooze(client, workspaceId, living)) ?? before;
    const record = createChangeRecord();
    if (changed !== undefined) record.add(living, { snooze: changed.before });
    const undoId = await record.store(client, context);
    const state = { snoozedUntil: snoozedUntil?.toISOString() ?? null, remindAt: remindAt?.toISOString() ?? null };
    return {
      result: { threadId: living, snoozedUntil, remindAt, undoId },
      events: changed === undefined ? [] : [snoozedEvent(living, state)],
    };
  });
}

/** Throws validation. */
function readTime({ text, timezone }: GivenTime, now: Date, field: string): string {
  const schedule = readSchedule(text, timezone ?? 'UTC', now);
  if (schedule.at !== null) return schedule.at.toISOString();
  if (schedule.refusal === 'ambiguous')
    throw invalid(
      `"${text.trim()}" can mean ${schedule.readings.join(' or ')}. Send the one you mean in ISO 8601`,
      field,
    );
  throw invalid(REFUSALS[schedule.refusal], schedule.refusal === 'unknown time zone' ? 'timezone' : field);
}

const REFUSALS: Record<ScheduleRefusal, string> = {
  'unknown time zone': 'Unknown time zone. Use an IANA name such as Europe/Berlin',
  unreadable: 'Unable to parse the time. Use ISO 8601 or a phrase such as "tomorrow at 9am"',
  'too soon': 'The time must be at least 1 minute in the future',
  'too late': 'The time cannot be more than 1 year in the future',
};
