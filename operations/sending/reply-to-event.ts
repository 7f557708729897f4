import { type CalendarEvent, findEvent, readCalendarEvent } from '../../core/mime/calendar-event.ts';
import { type EventResponse, findReplyFlaw, type NoReply, writeEventReply } from '../../core/sending/event-reply.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findRequester } from '../../db/queries/accounts/member-name.ts';
import { requireSender, withFullAccess } from '../accounts/key-reach.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';
import { loadContentParts, loadEmails } from '../emails/emails.ts';
import { waitUntilParsed } from '../emails/pending-emails.ts';
import { checkReply } from './check-outgoing.ts';
import type { Idempotency } from './idempotency.ts';
import { addressReply, readRepliable, readReplySender } from './replies.ts';
import { sendChecked } from './send-email.ts';

export interface EventReply {
  response: EventResponse;
  /** for the organizer; omitted: none */
  comment?: string | null | undefined;
  /** mailbox; the address that received the invitation by default */
  from?: string | null | undefined;
}

/** The reply that was stored. */
export interface RepliedEvent {
  /** the invitation */
  emailId: string;
  /** the reply */
  replyId: string;
  organizer: string;
  response: EventResponse;
}

const FLAWS: Record<NoReply, string> = {
  'no invitation': 'This email is no invitation. Only a calendar with the method REQUEST can be answered.',
  cancelled: 'This event was cancelled',
  'no identifier': 'This invitation has no UID, so its organizer could not tell what the reply is about',
  'no organizer': 'This invitation has no valid address of an organizer to reply to',
};
const WORDS: Record<EventResponse, string> = { accepted: 'Accepted', tentative: 'Tentative', declined: 'Declined' };

/**
 * Replies to the invitation in an email: the organizer gets a mail with an iTIP reply (RFC 5546 §3.2.3). Throws not_found, conflict for an email
 * without an invitation, and what sendEmail throws.
 */
export async function replyToEvent(
  context: OperationContext,
  emailId: string,
  { response, comment = null, from }: EventReply,
  idempotency: Idempotency | null,
): Promise<RepliedEvent> {
  const event = await readInvitation(context, emailId);
  const flaw = findReplyFlaw(event);
  if (flaw !== null) throw new UserError('conflict', FLAWS[flaw], { isFinal: true });
  const organizer = event.organizer?.address ?? '';
  const title = event.summary === '' ? 'Invitation' : event.summary;
  const sender = from ?? (await readReplySender(context, emailId));
  const checked = checkReply({
    from: sender,
    to: [organizer],
    subject: `${WORDS[response]}: ${title.replaceAll(/\s+/g, ' ').slice(0, MAX_SUBJECT).toWellFormed()}`,
    text: [`${WORDS[response]}: ${title}`, ...(comment === null || comment.trim() === '' ? [] : [comment.trim()])].join(
      '\n\n',
    ),
  });
  requireSender(context, checked);
  const name = checked.sender.name ?? (await readName(context));
  const calendar = writeEventReply(event, {
    response,
    comment: comment === null || comment.trim() === '' ? null : comment.trim(),
    attendee: { name, address: findAttendee(event, checked.sender.address) },
    now: context.now(),
  });
  const reply = readCalendarEvent(calendar, 'REPLY');
  if (reply === null) throw new Error('an event reply has no event');
  const content = {
    ...checked,
    sender: { ...checked.sender, name },
    attachments: [
      {
        filename: 'reply.ics',
        content: Buffer.from(calendar),
        contentType: 'text/calendar; charset=utf-8; method=REPLY',
        contentId: null,
        event: reply,
      },
    ],
  };
  const repliable = await readRepliable(context, emailId, checked.sender.address);
  const { email, repliedTo } = addressReply(repliable, content, 'sender');
  const { receipt } = await sendChecked(context, [email], { idempotency, batchId: null, repliedTo });
  const [sent] = receipt.emails;
  if (sent === undefined) throw new Error('a reply was stored without a receipt');
  return { emailId, replyId: sent.id, organizer, response };
}

/** Characters of the title in the subject. */
const MAX_SUBJECT = 500;

/** Throws not_found, conflict. */
function readInvitation(context: OperationContext, emailId: string): Promise<CalendarEvent> {
  return waitUntilParsed(context, [emailId], async () => {
    const [email] = isValidId(emailId) ? await loadEmails(context, [emailId]) : [];
    if (email == null || email.type !== 'received') throw emailNotFound();
    const [content = null] = await loadContentParts(context, [emailId], new Set());
    const event = content === null ? null : findEvent(content.attachments);
    if (event === null) throw new UserError('conflict', FLAWS['no invitation'], { isFinal: true });
    return event;
  });
}

/** Returns the attendee that the sender is, as the organizer wrote the address; the sender if there is none. */
function findAttendee({ attendees }: CalendarEvent, sender: string): string {
  const own = sender.toLowerCase();
  return attendees.find(({ address }) => address.toLowerCase() === own)?.address ?? sender;
}

async function readName(context: OperationContext): Promise<string | null> {
  if (context.rights.keyId !== null) return null;
  const { database, workspaceId } = withFullAccess(context);
  const name = await asWorkspace(database, workspaceId, (transaction) =>
    findRequester(transaction, workspaceId, context.rights),
  );
  return name === null || name.includes('@') ? null : name;
}
