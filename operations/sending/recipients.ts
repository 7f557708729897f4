import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage } from '../../core/shared/page.ts';
import { asWorkspace, shareSendRights } from '../../db/connection/transaction.ts';
import { findEmails } from '../../db/queries/emails/email-list.ts';
import type { EmailAttempt } from '../../db/queries/emails/email-recipients.ts';
import type { EmailSummary } from '../../db/queries/emails/email-row.ts';
import {
  findAttempts,
  findRecipients,
  findRecipientsByEmail,
  hastenRecipients,
  type Recipient,
} from '../../db/queries/sending/recipient-read.ts';
import * as waiting from '../../db/queries/sending/waiting-emails.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';
import { requireSendingRight } from './scheduled-emails.ts';

export type { EmailAttempt } from '../../db/queries/emails/email-recipients.ts';
export type { Recipient } from '../../db/queries/sending/recipient-read.ts';

/** Returns one recipient per id, null where the user has none. */
export async function loadRecipients(
  { database, workspaceId }: OperationContext,
  recipientIds: readonly string[],
): Promise<(Recipient | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    findRecipients(transaction, workspaceId, recipientIds.filter(isValidId)),
  );
  const byId = new Map(found.map((recipient) => [recipient.id, recipient]));
  return recipientIds.map((id) => byId.get(id) ?? null);
}

/** Returns the recipients of each sent email; none for received mail. */
export async function loadSentRecipients(
  { database, workspaceId }: OperationContext,
  emailIds: readonly string[],
): Promise<Recipient[][]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    findRecipientsByEmail(transaction, workspaceId, emailIds.filter(isValidId)),
  );
  return emailIds.map((id) => found.get(id) ?? []);
}

/** Returns the attempts of each recipient, oldest first. */
export async function loadAttempts(
  { database, workspaceId }: OperationContext,
  recipientIds: readonly string[],
): Promise<EmailAttempt[][]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    findAttempts(transaction, workspaceId, recipientIds.filter(isValidId)),
  );
  return recipientIds.map((id) => found.get(id) ?? []);
}

/** Returns a page of waiting emails: scheduled ones by send time, all others newest first. */
export function pageWaitingEmails(
  context: OperationContext,
  wait: waiting.Wait,
  page: KeysetPage,
): Promise<EmailSummary[]> {
  return asWorkspace(context.database, context.workspaceId, (transaction) =>
    waiting.pageWaitingEmails(transaction, context.workspaceId, wait, page),
  );
}

/**
 * Retries the deferred recipients of a sent email now. Returns their ids, at least one. Throws not_found, forbidden, and
 * validation when no recipient is deferred.
 */
export async function retrySending(context: OperationContext, emailId: string): Promise<string[]> {
  const { bus, database, workspaceId } = context;
  const recipientIds = await asWorkspace(database, workspaceId, async (transaction) => {
    await shareSendRights(transaction, workspaceId);
    const [email] = isValidId(emailId) ? await findEmails(transaction, workspaceId, [emailId]) : [];
    if (email === undefined) throw emailNotFound();
    await requireSendingRight(context, transaction, [emailId]);
    const hastened = await hastenRecipients(transaction, workspaceId, emailId);
    if (hastened.length > 0) return hastened;
    throw new UserError('validation', 'No recipient of this email is waiting for a retry', { isOfState: true });
  });
  bus.wake('sending.send.wake', { workspaceId, emailIds: [emailId] });
  return recipientIds;
}
