import type { Transaction } from 'kysely';
import { receivedMessageId } from '../core/message-id.ts';
import { scanHeaders } from '../core/parse-message.ts';
import { isReturnAddress } from '../core/return-address.ts';
import type { EmailContent, EmailSummary } from '../db/queries/email-row.ts';
import { findPendingReceptions, type PendingReception } from '../db/queries/pending-email.ts';
import type { Tables } from '../db/tables.ts';

/** A received email as far as its envelope and its header section tell: it has no body, no attachments and no thread yet. */
export type PendingEmail = EmailSummary & EmailContent;

/**
 * Returns those of the emails that SMTP accepted and that are still to be parsed. What came to a return address is not among them: most of
 * it are delivery reports, which become no email.
 */
export async function findPendingEmails(
  transaction: Transaction<Tables>,
  user: { userId: string; mailHostname: string },
  emailIds: readonly string[],
): Promise<PendingEmail[]> {
  const receptions = await findPendingReceptions(transaction, user.userId, emailIds);
  return receptions
    .filter(({ recipient }) => !isReturnAddress(recipient))
    .map((reception) => pendingEmail(reception, user.mailHostname));
}

function pendingEmail(reception: PendingReception, mailHostname: string): PendingEmail {
  const message = scanHeaders(reception.head, '');
  const { from, to, cc } = message.addresses;
  const sender = from?.addresses[0];
  return {
    id: reception.emailId,
    type: 'received',
    status: 'delivered',
    createdAt: reception.acceptedAt,
    updatedAt: reception.acceptedAt,
    sentAt: null,
    scheduledAt: null,
    timezone: null,
    failureReason: null,
    recipient: reception.recipient,
    messageId: receivedMessageId(message.messageId, reception.emailId, mailHostname),
    subject: message.subject,
    fromName: sender?.name ?? null,
    fromAddress: sender?.address ?? '',
    fromText: from?.text ?? '',
    to: to?.addresses.map((mailbox) => mailbox.address) ?? [],
    cc: cc?.addresses.map((mailbox) => mailbox.address) ?? [],
    preview: '',
    date: message.date,
    hasAttachments: false,
    attachmentCount: 0,
    isRead: false,
    readAt: null,
    isArchived: false,
    isTest: reception.isTest,
    threadAt: reception.acceptedAt,
    threadId: null,
    threadPosition: null,
    threadReason: null,
    ownAddress: reception.ownAddress,
    addressId: reception.addressId,
    domainId: reception.domainId,
    batchId: null,
    hasOctets: true,
    guardStatus: null,
    guardRuleId: null,
    headers: message.headers,
    addresses: message.addresses,
    inReplyTo: message.inReplyTo,
    references: message.references,
    text: null,
    html: null,
    attachments: [],
    authentication: null,
    tags: [],
  };
}
