import { ThreadEnded, TimeLimitExceeded } from '../../actors/work/worker-threads.ts';
import type { SentReview } from '../../core/sending/sent-review.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { OperationContext } from '../context.ts';
import { batchBySize, contentNotAvailable, loadRawSources, readWholeMessage } from '../emails/attachments.ts';
import { type EmailContent, loadOutlines, loadSizes, openEmail } from '../emails/emails.ts';
import { createRequestThread } from '../request-thread.ts';

/** What the thread gets. */
export interface MessageToReview {
  bytes: Uint8Array;
  bcc: readonly string[];
}

const HEAP_LIMIT_MB = 512;

/** A program may write mail that takes long to read. */
const threads = createRequestThread<MessageToReview, SentReview>({
  program: new URL('./review-worker.ts', import.meta.url),
  heapLimitMb: HEAP_LIMIT_MB,
});

/**
 * Returns an outgoing email as it is sent: all fields and parts of its stored message, with what readers do not see. Null for received mail.
 * Throws not_found, and unavailable when the message takes too long to read.
 */
export async function readSentReview(context: OperationContext, emailId: string): Promise<SentReview | null> {
  const email = await openEmail(context, emailId);
  if (email.type === 'received') return null;
  const bytes = await readWholeMessage(context, emailId);
  const [content = null] = await loadOutlines(context, [emailId]);
  return readInThread(context, emailId, { bytes, bcc: listBcc(content) });
}

/**
 * Reads outgoing emails as readSentReview does, one after another, with an error for each that it would throw for. A statement reads several
 * messages as long as they are small.
 */
export async function loadSentReviews(
  context: OperationContext,
  emailIds: readonly string[],
): Promise<(SentReview | Error)[]> {
  const contents = await loadOutlines(context, emailIds);
  const sizes = await loadSizes(context, emailIds);
  const at = new Map(emailIds.map((id, index) => [id, index]));
  const reviews = new Map<string, SentReview | Error>();
  for (const batch of batchBySize(emailIds, (id) => sizes[at.get(id) ?? 0] ?? 0))
    await context.room.borrow(async () => {
      const sources = await loadRawSources(context, batch, null);
      for (const [index, id] of batch.entries()) {
        const bytes = sources[index] ?? null;
        const bcc = listBcc(contents[at.get(id) ?? 0] ?? null);
        const review = bytes === null ? contentNotAvailable() : await reviewOrError(context, id, { bytes, bcc });
        reviews.set(id, review);
      }
    });
  return emailIds.map((id) => reviews.get(id) ?? contentNotAvailable());
}

async function reviewOrError(
  context: OperationContext,
  emailId: string,
  message: MessageToReview,
): Promise<SentReview | Error> {
  try {
    return await readInThread(context, emailId, message);
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

function listBcc(content: Pick<EmailContent, 'addresses'> | null): string[] {
  return content?.addresses.bcc?.addresses.map(({ address }) => address) ?? [];
}

async function readInThread(context: OperationContext, emailId: string, message: MessageToReview): Promise<SentReview> {
  try {
    return await threads.run(message, { startBy: context.respondBy });
  } catch (error) {
    if (!(error instanceof TimeLimitExceeded || error instanceof ThreadEnded)) throw error;
    context.log.warn({ emailId }, 'approvals: reading an email took too long');
    throw new UserError(
      'unavailable',
      'The message takes too long to read. Download it, and reject it if you do not know what it is.',
    );
  }
}
