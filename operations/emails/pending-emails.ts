import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import { receivedMessageId } from '../../core/mime/message-id.ts';
import { scanHeaders } from '../../core/mime/parse-message.ts';
import { UserError } from '../../core/shared/errors.ts';
import { isReturnAddress } from '../../core/smtp/return-address.ts';
import { asUser } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import type { EmailContent, EmailSummary } from '../../db/queries/emails/email-row.ts';
import { findPendingReceptions, type PendingReception } from '../../db/queries/emails/pending-email.ts';
import { isValidId, type OperationContext } from '../context.ts';

/** An accepted email that is not parsed yet, made of its envelope and header: no body, no attachments, no thread. */
export type PendingEmail = EmailSummary & EmailContent;

/**
 * Returns the emails that were accepted and are not parsed yet. Mail to a return address is left out: most of it are
 * delivery reports, which become no email.
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

/** How long a request waits for parsing, and the polling interval; milliseconds. */
const PARSING_WAIT_MS = 10_000;
const PARSING_LOOK_MS = 100;

/**
 * Runs work that needs parsed emails. When it throws not_found while one of the emails is still being parsed, waits for
 * the parser and runs the work again. Throws what `work` throws, and unavailable when parsing takes longer than 10 s.
 */
export async function waitUntilParsed<T>(
  context: OperationContext,
  emailIds: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const { database, userId } = context;
  const asked = emailIds.filter(isValidId);
  for (const deadline = performance.now() + PARSING_WAIT_MS; ; await sleep(PARSING_LOOK_MS)) {
    try {
      return await work();
    } catch (error) {
      const isUnknown = error instanceof UserError && error.code === 'not_found';
      if (!isUnknown || asked.length === 0) throw error;
    }
    const pending = await asUser(database, userId, (transaction) =>
      findPendingEmails(transaction, { userId, mailHostname: context.settings.mailHostname }, asked),
    );
    if (pending.length > 0 && performance.now() > deadline)
      throw new UserError('unavailable', 'The email is still being parsed. Try again in a moment.', {
        retryAfterSeconds: 1,
      });
    // Not pending means parsed in the meantime or unknown: the next run decides.
    if (pending.length === 0) return work();
  }
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
    trashedAt: null,
    isTest: reception.isTest,
    metadata: reception.metadata,
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
