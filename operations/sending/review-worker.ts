import { serveThread } from '../../actors/work/worker-threads.ts';
import { reviewMessage, type SentReview } from '../../core/sending/sent-review.ts';
import type { MessageToReview } from './review-email.ts';

// The program of the thread of review-email.ts: reads messages that are sent.
serveThread(({ bytes, bcc }: MessageToReview): SentReview => {
  return reviewMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), bcc);
});
