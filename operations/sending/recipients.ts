import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage } from '../../core/shared/page.ts';
import { asUser } from '../../db/connection/database.ts';
import { findEmails } from '../../db/queries/emails/email-list.ts';
import type { EmailAttempt } from '../../db/queries/emails/email-recipients.ts';
import type { EmailSummary } from '../../db/queries/emails/email-row.ts';
import { hastenRecipients } from '../../db/queries/sending/recipient-hasten.ts';
import {
  findAttempts,
  findRecipients,
  findRecipientsOf,
  type Recipient,
} from '../../db/queries/sending/recipient-read.ts';
import * as waiting from '../../db/queries/sending/waiting-emails.ts';
import { isAskable, type OperationContext } from '../context.ts';

export type { EmailAttempt } from '../../db/queries/emails/email-recipients.ts';
export type { Recipient } from '../../db/queries/sending/recipient-read.ts';

/** One for each id, null where the user has none. */
export async function loadRecipients(
  { database, userId }: OperationContext,
  recipientIds: readonly string[],
): Promise<(Recipient | null)[]> {
  const found = await asUser(database, userId, (transaction) =>
    findRecipients(transaction, userId, recipientIds.filter(isAskable)),
  );
  const byId = new Map(found.map((recipient) => [recipient.id, recipient]));
  return recipientIds.map((id) => byId.get(id) ?? null);
}

/** For each email those it is sent to; of received mail none. */
export async function loadRecipientsOf(
  { database, userId }: OperationContext,
  emailIds: readonly string[],
): Promise<Recipient[][]> {
  const found = await asUser(database, userId, (transaction) =>
    findRecipientsOf(transaction, userId, emailIds.filter(isAskable)),
  );
  return emailIds.map((id) => found.get(id) ?? []);
}

/** For each recipient every try, the first one first. */
export async function loadAttempts(
  { database, userId }: OperationContext,
  recipientIds: readonly string[],
): Promise<EmailAttempt[][]> {
  const found = await asUser(database, userId, (transaction) =>
    findAttempts(transaction, userId, recipientIds.filter(isAskable)),
  );
  return recipientIds.map((id) => found.get(id) ?? []);
}

export type { Wait } from '../../db/queries/sending/waiting-emails.ts';

/** The emails that wait for one thing: scheduled ones in the order in which they go, all others newest first. */
export function pageWaitingEmails(
  context: OperationContext,
  wait: waiting.Wait,
  page: KeysetPage,
): Promise<EmailSummary[]> {
  return asUser(context.database, context.userId, (transaction) =>
    waiting.pageWaitingEmails(transaction, context.userId, wait, page),
  );
}

/**
 * Has the recipients of a sent email that their servers put off tried now. Answers the ids of the recipients, at least one.
 * Throws not_found, and validation when none of them waits for another try.
 */
export async function retrySending(context: OperationContext, emailId: string): Promise<string[]> {
  const { bus, database, userId } = context;
  const recipientIds = await asUser(database, userId, async (transaction) => {
    const [email] = isAskable(emailId) ? await findEmails(transaction, userId, [emailId]) : [];
    if (email === undefined) throw new UserError('not_found', 'Email not found');
    const hastened = await hastenRecipients(transaction, userId, emailId);
    if (hastened.length > 0) return hastened;
    throw new UserError('validation', 'No recipient of this email waits for another try', { isOfState: true });
  });
  bus.wake('sending.send.wake', { userId, emailIds: [emailId] });
  return recipientIds;
}
