import { type PassThrough, Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { archiveNames } from '../../core/mime/archive-names.ts';
import type { Attachment } from '../../core/mime/attachment.ts';
import { UserError } from '../../core/shared/errors.ts';
import { takeSlices } from '../../core/shared/free-bytes.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';
import { decodeOnce, readTakenBytes } from './attachments.ts';
import { loadEmails, loadOutlines } from './emails.ts';
import { waitUntilParsed } from './pending-emails.ts';

export interface AttachmentsArchive {
  filename: string;
  /** a ZIP file; destroyed when a later attachment cannot be read */
  stream: Readable;
}

/** Bytes that are given to the ZIP file at once: it has as much in memory beyond what its reader takes. */
const SLICE_BYTES = 65_536;

/**
 * Returns all attachments of an email as one ZIP file. Each file is read when its turn comes, so that one is in memory at a time. There is room
 * for the largest one from the beginning, so that no later one lacks it. Files are stored as they are: most attachments are compressed already.
 * Throws not_found, and what ResponseRoom.take throws.
 */
export function readAttachmentsArchive(context: OperationContext, emailId: string): Promise<AttachmentsArchive> {
  return waitUntilParsed(context, [emailId], async () => {
    const [email] = isValidId(emailId) ? await loadEmails(context, [emailId]) : [];
    if (email == null) throw emailNotFound();
    const [content] = await loadOutlines(context, [emailId]);
    context.noteReads?.(context, [emailId]);
    const attachments = content?.attachments ?? [];
    const [first] = attachments;
    if (first === undefined) throw new UserError('not_found', 'No attachments found in this email');
    context.room.take(Math.max(...attachments.map(({ length }) => length)));
    const read = async ({ start, length, transferEncoding }: Attachment) =>
      decodeOnce(await readTakenBytes(context, emailId, { start, length }), transferEncoding);
    // Bytes that are gone are an error of the request, before the download begins.
    const firstBytes = await read(first);
    const zip = new ZipFile();
    // Its type is wider.
    const stream = zip.outputStream as PassThrough;
    zip.on('error', (error: Error) => stream.destroy(error));
    const names = archiveNames(attachments.map(({ filename }) => filename));
    for (const [at, attachment] of attachments.entries())
      zip.addReadStreamLazy(names[at] ?? '', { mtime: email.createdAt, compress: false }, (give) => {
        if (stream.destroyed) return;
        (at === 0 ? Promise.resolve(firstBytes) : read(attachment)).then(
          (bytes) => give(null, Readable.from(takeSlices(bytes, SLICE_BYTES))),
          (error: unknown) => stream.destroy(error instanceof Error ? error : new Error(String(error))),
        );
      });
    zip.end();
    return { filename: `${emailId}-attachments.zip`, stream };
  });
}
