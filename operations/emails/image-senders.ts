import type { Authentication } from '../../core/mime/authentication.ts';
import { readDomain } from '../../core/mime/name-warnings.ts';
import { outgoingMailbox } from '../../core/sending/outgoing-addresses.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import type { EmailSummary } from '../../db/queries/emails/email-row.ts';
import * as rows from '../../db/queries/emails/image-sender.ts';
import { invalid, type OperationContext } from '../context.ts';
import { judgeSender } from './security-warnings.ts';

export type ImageSender = rows.ImageSender;

/** Senders that an account can have. */
export const MAX_IMAGE_SENDERS = 1_000;

/** Returns the senders whose remote images are always shown, by address. */
export function readImageSenders({ database, workspaceId }: OperationContext): Promise<ImageSender[]> {
  return asWorkspace(database, workspaceId, (transaction) => rows.listImageSenders(transaction, workspaceId));
}

/** Always shows the remote images of a sender. A sender that exists is kept. Throws validation and conflict. */
export async function addImageSender(context: OperationContext, given: string): Promise<ImageSender> {
  const { database, workspaceId } = context;
  const mailbox = outgoingMailbox({ name: null, address: given.trim() });
  if (mailbox === null) throw invalid('`address` is not a valid email address. Use `name@example.com`.', 'address');
  const sender = { address: mailbox.address.toLowerCase(), createdAt: context.now() };
  const stored = await asWorkspace(database, workspaceId, (transaction) =>
    rows.insertImageSender(transaction, workspaceId, sender, MAX_IMAGE_SENDERS),
  );
  if (stored !== null) return stored;
  throw new UserError(
    'conflict',
    `Images of at most ${MAX_IMAGE_SENDERS} senders can always be shown. Remove a sender in the settings first.`,
    { isFinal: true },
  );
}

/** Blocks the remote images of a sender again. Returns the address in lower case. Throws not_found. */
export async function removeImageSender({ database, workspaceId }: OperationContext, given: string): Promise<string> {
  const address = given.trim().toLowerCase();
  const isRemoved =
    !address.includes('\0') &&
    (await asWorkspace(database, workspaceId, (transaction) =>
      rows.deleteImageSender(transaction, workspaceId, address),
    ));
  if (!isRemoved) throw new UserError('not_found', 'Images of this sender are not always shown');
  return address;
}

/**
 * Returns whether the remote images of an email are shown without asking: its sender is on the list, and the domain of the sender's address
 * vouches for the email. False for a key of one domain, which reads nothing of the account.
 */
export async function showsRemoteImages(
  { database, workspaceId }: OperationContext,
  { type, fromAddress }: Pick<EmailSummary, 'type' | 'fromAddress'>,
  authentication: Authentication | null,
): Promise<boolean> {
  if (type !== 'received' || authentication === null || database.limit !== undefined) return false;
  const { domain } = authentication.dmarc;
  if (domain === null || readDomain(`@${domain}`) !== readDomain(fromAddress)) return false;
  if (judgeSender(authentication).verdict !== 'verified') return false;
  return asWorkspace(database, workspaceId, (transaction) =>
    rows.isImageSender(transaction, workspaceId, fromAddress.toLowerCase()),
  );
}
