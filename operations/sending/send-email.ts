import type { SentDraft } from '../../core/sending/draft.ts';
import { isHeaderText } from '../../core/sending/outgoing-headers.ts';
import { readSchedule, type ScheduleRefusal } from '../../core/sending/schedule.ts';
import { isTimeZone } from '../../core/shared/time-zone.ts';
import { inWorkspaceTransaction } from '../../db/connection/transaction.ts';
import { readClock, readPolicy } from '../../db/queries/sending/outgoing-policy.ts';
import { requireSender, withFullAccess } from '../accounts/key-reach.ts';
import { invalid, type OperationContext } from '../context.ts';
import { type CheckedEmail, checkOutgoing, type NewEmail } from './check-outgoing.ts';
import { composeOutgoing, type OutgoingEmail } from './compose-outgoing.ts';
import {
  type Accepted,
  type Idempotency,
  idempotentReplay,
  ownIdempotency,
  type Receipt,
  type Submission,
} from './idempotency.ts';
import { submitEmails } from './submit-emails.ts';

/** Sends an email now or on its schedule; `draft`: it is removed then. Throws validation, forbidden, rate_limited, conflict. */
export async function sendEmail(
  context: OperationContext,
  email: NewEmail,
  idempotency: Idempotency | null,
  draft?: SentDraft,
): Promise<Accepted> {
  return sendChecked(context, [checkOutgoing(email)], { idempotency, batchId: null, repliedTo: null, draft });
}

/** Sends checked emails, all or none, each now or on its schedule. Throws as sendEmail. */
export async function sendChecked(
  context: OperationContext,
  emails: readonly CheckedEmail[],
  frame: Pick<Submission, 'batchId' | 'draft'> & { idempotency: Idempotency | null } & Pick<Receipt, 'repliedTo'>,
): Promise<Accepted> {
  const { idempotency, batchId, repliedTo, draft } = frame;
  for (const email of emails) requireSender(context, email);
  // Parsing a schedule depends on the time, so look for a replay first.
  const undoSeconds = draft?.undoSeconds ?? 0;
  const isTimed = undoSeconds > 0 || emails.some((email) => email.sendAt !== null);
  const before = isTimed ? await replayOrNow(context, idempotency) : null;
  if (before !== null && 'receipt' in before) return before;
  const chooseTime = (email: CheckedEmail) => {
    if (before === null) return null;
    const undoAt = new Date(before.now.getTime() + undoSeconds * 1_000);
    return parseSchedule(email, before.now) ?? (undoSeconds > 0 ? { at: undoAt, timezone: 'UTC' } : null);
  };
  const composed: OutgoingEmail[] = [];
  for (const email of emails) composed.push(await composeOutgoing(context, email, chooseTime(email)));
  const receipt = { emails: composed.map(makeReceipt), batchId, repliedTo };
  return submitEmails(context, {
    emails: composed,
    batchId,
    idempotency: ownIdempotency(context.rights, idempotency),
    receipt,
    draft,
  });
}

/**
 * Returns the stored response of an earlier request of the same API key with this idempotency key, or the time by PostgreSQL's clock.
 */
export async function replayOrNow(
  context: OperationContext,
  idempotency: Idempotency | null,
): Promise<Accepted | { now: Date }> {
  const own = ownIdempotency(context.rights, idempotency);
  const { database } = withFullAccess(context);
  if (own === null) return { now: await readClock(database) };
  const policy = await inWorkspaceTransaction(database, context.workspaceId, { lockTimeoutMs: 1_000 }, (client) =>
    readPolicy(client, context.workspaceId, {
      domains: [],
      senders: [],
      requesters: [],
      recipients: [],
      idempotencyKeys: [own],
      hourly: null,
    }),
  );
  const known = idempotentReplay(own, policy);
  if (known instanceof Error) throw known;
  return known ?? { now: policy.now };
}

/** Parses the requested send time; null: now. Throws validation. */
export function parseSchedule(
  { sendAt, path }: Pick<CheckedEmail, 'sendAt' | 'path'>,
  now: Date,
): { at: Date; timezone: string } | null {
  if (sendAt === null) return null;
  const { text, timezone } = sendAt;
  if (timezone.length > MAX_SCHEDULE_LENGTH || !isTimeZone(timezone))
    throw invalid('Unknown time zone. Use an IANA name such as Europe/Berlin', `${path}timezone`);
  const isReadable = text.length <= MAX_SCHEDULE_LENGTH && isHeaderText(text);
  const schedule = isReadable ? readSchedule(text, timezone, now) : UNREADABLE;
  if (schedule.at !== null) return { at: schedule.at, timezone };
  const flaw = schedule.refusal === 'ambiguous' ? ambiguous(text, schedule.readings) : REFUSALS[schedule.refusal];
  throw invalid(flaw, `${path}scheduled_at`);
}

function ambiguous(text: string, readings: readonly string[]): string {
  return `"${text.trim()}" can mean ${readings.join(' or ')}. Send the one you mean in ISO 8601`;
}

/** Characters; longer than any date or time zone. */
const MAX_SCHEDULE_LENGTH = 200;
const UNREADABLE = { at: null, refusal: 'unreadable' } as const;
/** The texts are part of the REST contract. */
const REFUSALS: Record<ScheduleRefusal, string> = {
  'unknown time zone': 'Unknown time zone. Use an IANA name such as Europe/Berlin',
  unreadable: 'Unable to parse date. Use ISO 8601 or a phrase such as "tomorrow at 9am"',
  'too soon': 'Scheduled time must be at least 1 minute(s) in the future',
  'too late': 'Scheduled time cannot be more than 1 year in the future',
};

/** Returns the response for one email. */
export function makeReceipt({ row }: OutgoingEmail): Receipt['emails'][number] {
  return { id: row.id, messageId: row.message_id, scheduledAt: row.scheduled_at, timezone: row.timezone };
}
