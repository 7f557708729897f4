import { makePreview } from '../../core/mime/attachment-preview.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { OperationContext } from '../context.ts';
import { readAttachment } from './attachments.ts';

/** Bytes of an attachment that a browser can show without running anything. */
export interface AttachmentPreview {
  filename: string;
  /** found in the bytes, whatever the sender says */
  contentType: string;
  bytes: Uint8Array;
  /** whether this is only the beginning of a text */
  isCut: boolean;
}

/** Returns the preview of an attachment. Throws not_found, and validation when it is neither image nor PDF nor text. */
export async function readAttachmentPreview(
  context: OperationContext,
  emailId: string,
  index: number,
): Promise<AttachmentPreview> {
  const { filename, bytes } = await readAttachment(context, emailId, { index });
  const preview = makePreview(bytes);
  if (preview === null)
    throw new UserError(
      'validation',
      'This file has no preview. Only images, PDF and text can be shown: download it instead.',
    );
  return { filename, ...preview };
}
