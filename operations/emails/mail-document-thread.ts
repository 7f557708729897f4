import { ThreadEnded, TimeLimitExceeded } from '../../actors/work/worker-threads.ts';
import { type MailDocument, type MailToShow, makeMailDocument } from '../../core/html/mail-document.ts';
import { createRequestThread } from '../request-thread.ts';

/** Characters; the document of a shorter mail takes a few milliseconds, with its pictures, and is made without a thread. */
const SMALL_LENGTH = 30_000;

export interface DocumentLimits {
  /** on performance.now(): no request waits for the document after that */
  respondBy: number;
  /** limit for one document, without the time in the queue; milliseconds */
  timeLimitMs?: number;
}

const threads = createRequestThread<MailToShow, MailDocument>({
  program: new URL('./mail-document-worker.ts', import.meta.url),
});

/**
 * Makes the document of a mail. A large one is made in a thread, where it delays no other request: it is hostile input, and may take half a
 * second. Returns null when it took too long or too much memory.
 */
export async function makeMailDocumentInWorker(
  mail: MailToShow,
  { respondBy, timeLimitMs }: DocumentLimits,
): Promise<MailDocument | null> {
  const isSmall = (mail.html?.length ?? 0) + (mail.text?.length ?? 0) <= SMALL_LENGTH;
  if (isSmall) return makeMailDocument(mail);
  try {
    return await threads.run(mail, { startBy: respondBy, ...(timeLimitMs === undefined ? {} : { timeLimitMs }) });
  } catch (error) {
    if (error instanceof TimeLimitExceeded || error instanceof ThreadEnded) return null;
    throw error;
  }
}
