import { createWorkerThreads, ThreadEnded, TimeLimitExceeded } from '../../actors/work/worker-threads.ts';
import type { SentReview } from '../../core/sending/sent-review.ts';
import { UserError } from '../../core/shared/errors.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';
import { readWholeMessage } from '../emails/attachments.ts';
import { loadEmails, loadOutlines } from '../emails/emails.ts';

/** What the thread gets. */
export interface MessageToReview {
  bytes: Uint8Array;
  bcc: readonly string[];
}

const TIME_LIMIT_MS = 6_000;
const HEAP_LIMIT_MB = 512;
/** A thread without work for this long ends; milliseconds. */
const IDLE_MS = 60_000;

/** A program may write mail that takes long to read. */
const threads = createWorkerThreads<MessageToReview, SentReview>({
  program: new URL('./review-worker.ts', import.meta.url),
  threads: 1,
  heapLimitMb: HEAP_LIMIT_MB,
  timeLimitMs: TIME_LIMIT_MS,
  idleMs: IDLE_MS,
});

/**
 * Returns an outgoing email as it is sent: all fields and parts of its stored message, with what readers do not see. Null for received mail.
 * Throws not_found, and unavailable when the message takes too long to read.
 */
export async function readSentReview(context: OperationContext, emailId: string): Promise<SentReview | null> {
  const [email] = isValidId(emailId) ? await loadEmails(context, [emailId]) : [];
  if (email == null) throw emailNotFound();
  if (email.type === 'received') return null;
  const bytes = await readWholeMessage(context, emailId);
  const [content] = await loadOutlines(context, [emailId]);
  const bcc = content?.addresses.bcc?.addresses.map(({ address }) => address) ?? [];
  try {
    return await threads.run({ bytes, bcc }, { startBy: context.answerBy });
  } catch (error) {
    if (!(error instanceof TimeLimitExceeded || error instanceof ThreadEnded)) throw error;
    context.log.warn({ emailId }, 'approvals: reading an email took too long');
    throw new UserError(
      'unavailable',
      'The message takes too long to read. Download it, and reject it if you do not know what it is.',
    );
  }
}
