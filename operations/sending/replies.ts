import { hasScope, scopeMissing } from '../../core/accounts/key-rights.ts';
import type { AddressFields, Mailbox } from '../../core/mime/address.ts';
import { outgoingMailbox } from '../../core/sending/outgoing-addresses.ts';
import { makeReply, type Original } from '../../core/sending/reply.ts';
import { RECIPIENT_SUPPRESSED, UserError } from '../../core/shared/errors.ts';
import { asUser } from '../../db/connection/database.ts';
import { findOriginal, findOwnAddresses } from '../../db/queries/sending/outgoing-original.ts';
import { requireSender } from '../accounts/key-reach.ts';
import { invalid, isAskable, type OperationContext } from '../context.ts';
import { onParsed } from '../emails/pending-emails.ts';
import { type CheckedEmail, checkAnswer, checkAudience, type NewEmail } from './check-outgoing.ts';
import type { Accepted, Idempotency } from './idempotency.ts';
import { lookAhead, sendChecked } from './send-email.ts';

/** An answer as a user asks for it; absent `to` and `subject` come from the original. */
export interface NewReply extends NewEmail {
  /** whose reply it is, where `from` gives no name */
  fromName?: string | null | undefined;
  /** sender when absent */
  audience?: 'sender' | 'all' | undefined;
}

/**
 * Answers an email, or the latest message of a thread. `id` is that of an email, a thread, or a thread that was merged into another.
 * Throws not_found, and what sendEmail throws.
 */
export async function sendReply(
  context: OperationContext,
  id: string,
  reply: NewReply,
  idempotency: Idempotency | null,
): Promise<Accepted> {
  const answer = checkAnswer(reply);
  requireSender(context, answer);
  // The latest message of the thread may be another one by now, so a repeated request is answered before it is looked for.
  const before = idempotency === null ? null : await lookAhead(context, idempotency);
  if (before !== null && 'receipt' in before) return before;
  const { original, isThread, isOneself } = await onParsed(context, [id], () =>
    readOriginal(context, id, answer.sender.address),
  );
  const wish = { to: answer.to, subject: answer.subject, audience: reply.audience ?? 'sender' };
  const { to, cc, subject, inReplyTo, references } = makeReply(original, wish, isOneself);
  if (to.length === 0) throw invalid('There is nobody to reply to: give a recipient', 'to');
  const taken = new Set([...to, ...answer.cc].map((mailbox) => mailbox.address.toLowerCase()));
  const others = cc.filter((mailbox) => !taken.has(mailbox.address.toLowerCase()));
  const email = { ...answer, to, cc: [...answer.cc, ...others], subject, inReplyTo, references };
  checkAudience(to, email);
  const repliedTo = { emailId: original.id, threadId: original.threadId, isThread };
  const frame = { idempotency, batchId: null, repliedTo };
  if (hasScope(context.rights, 'read')) return sendChecked(context, [email], frame);
  requireParticipants(context, original, email);
  return sendChecked(context, [email], frame).catch(hideRecipients);
}

/**
 * Refuses recipients who do not take part in the original: its subject and Message-ID are part of the reply, and a key that cannot read
 * would learn them by a reply to an address of its own choice. Says nothing of the original. Throws forbidden.
 */
function requireParticipants(
  { rights }: OperationContext,
  { addresses }: Pick<Original, 'addresses'>,
  { to, cc, bcc }: Pick<CheckedEmail, 'to' | 'cc' | 'bcc'>,
): void {
  const lists = [addresses.from, addresses.replyTo, addresses.to, addresses.cc, addresses.bcc];
  const participants = new Set(lists.flatMap((list) => (list?.addresses ?? []).map(canonical)));
  if (![...to, ...cc, ...bcc].every((recipient) => participants.has(canonical(recipient))))
    throw scopeMissing('A reply to an address that is not a participant of the original email', 'read', rights);
}

/** Rethrows an error; one that names suppressed recipients, whom the original may have given, without their names. */
function hideRecipients(error: unknown): never {
  if (!(error instanceof UserError) || error.reason !== RECIPIENT_SUPPRESSED) throw error;
  const message = 'Cannot send to blocked recipient(s)';
  throw new UserError('validation', message, { reason: RECIPIENT_SUPPRESSED, members: { suppressedRecipients: [] } });
}

/** The address as outgoing mail has it, lower case; of one that no mail can be sent to, as it stands. */
function canonical(mailbox: Mailbox): string {
  return (outgoingMailbox(mailbox) ?? mailbox).address.toLowerCase();
}

/** The email that is answered, and who counts as the user himself. Throws not_found. */
async function readOriginal(context: OperationContext, id: string, sender: string) {
  const { database, userId } = context;
  if (!isAskable(id)) throw notFound();
  return asUser(database, userId, async (transaction) => {
    const found = await findOriginal(transaction, userId, id);
    if (found === null) throw notFound();
    const { email, isThread } = found;
    if (email.type === 'scheduled') throw invalid('Cannot reply to an email that has not been sent', 'id');
    const own = new Set(await findOwnAddresses(transaction, userId, mentioned(email.addresses)));
    for (const address of [sender, email.ownAddress, email.recipient ?? '']) own.add(withoutTag(address));
    const isOneself = (address: string) => own.has(withoutTag(address)) || own.has(address.toLowerCase());
    return { original: { ...email, isOwn: email.type === 'sent' }, isThread, isOneself };
  });
}

/** Every address of the fields that an answer may go to, lower case, with plus-tag and without. */
function mentioned({ from, replyTo, to, cc }: AddressFields): string[] {
  const lists = [from, replyTo, to, cc].flatMap((list) => list?.addresses ?? []);
  return [...new Set(lists.flatMap(({ address }) => [address.toLowerCase(), withoutTag(address)]))];
}

/** `ann+news@x.test` is a name of `ann@x.test` (so mail comes in), lower case. */
function withoutTag(address: string): string {
  return address.toLowerCase().replace(/^([^+]+)\+.*@/, '$1@');
}

function notFound(): UserError {
  return new UserError('not_found', 'Email or thread not found');
}
