import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { unpackOnce } from '../../db/queries/emails/raw-bytes.ts';
import { findQuarantined, readQuarantinedBytes } from '../../db/queries/screening/quarantined-bytes.ts';
import { isValidId, type OperationContext } from '../context.ts';
import type { AttachmentFile } from '../emails/attachments.ts';

/**
 * Returns the message of an email in quarantine, as a file that no program opens by itself. `confirm` is the name of the virus, which proves
 * that the reader knows of it. Throws not_found, validation.
 */
export async function readQuarantined(
  context: OperationContext,
  emailId: string,
  confirm: string | null,
): Promise<AttachmentFile> {
  const { database, workspaceId, room } = context;
  const found = isValidId(emailId)
    ? await asWorkspace(database, workspaceId, (transaction) => findQuarantined(transaction, workspaceId, emailId))
    : null;
  if (found === null) throw new UserError('not_found', 'No email with this ID is in quarantine');
  if (confirm !== found.virus)
    throw new UserError(
      'validation',
      `This email has the virus ${found.virus}. To download it all the same, repeat the request with \`confirm=${encodeURIComponent(found.virus)}\`.`,
      { details: [{ field: 'confirm', message: 'must be the name of the virus' }] },
    );
  const bytes = await room.load(found.sizeBytes, async () => {
    const packed = await asWorkspace(database, workspaceId, (transaction) =>
      readQuarantinedBytes(transaction, workspaceId, emailId),
    );
    return packed && unpackOnce(packed);
  });
  if (bytes === null) throw new UserError('not_found', 'The message is no longer stored');
  context.noteReads?.(context, [emailId]);
  return { filename: `${emailId}.infected`, contentType: 'application/octet-stream', bytes };
}
