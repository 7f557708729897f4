import { asUser } from '../../db/connection/database.ts';
import type { EmailAttempt } from '../../db/queries/emails/email-recipients.ts';
import {
  findAttempts,
  findRecipients,
  findRecipientsOf,
  type Recipient,
} from '../../db/queries/sending/recipient-read.ts';
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
