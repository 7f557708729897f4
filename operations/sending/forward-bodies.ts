import { ThreadEnded, TimeLimitExceeded } from '../../actors/work/worker-threads.ts';
import { type Bodies, composeBodies, type ForwardParts } from '../../core/sending/forwarded-content.ts';
import { invalid } from '../context.ts';
import { createRequestThread } from '../request-thread.ts';

/** Characters; the bodies of a shorter mail take a few milliseconds, and are made without a thread. */
const SMALL_LENGTH = 30_000;

const threads = createRequestThread<ForwardParts, Bodies>({
  program: new URL('./forward-bodies-worker.ts', import.meta.url),
});

/** Makes bodies that contain the original. Large ones are sanitized in a thread, where they delay no other request. Throws validation. */
export async function makeForwardBodies(parts: ForwardParts): Promise<Bodies> {
  const { mail, note } = parts;
  const length = [mail.text, mail.html, note.text, note.html].reduce((sum, body) => sum + (body?.length ?? 0), 0);
  if (length <= SMALL_LENGTH) return composeBodies(parts);
  try {
    return await threads.run(parts);
  } catch (error) {
    if (!(error instanceof TimeLimitExceeded || error instanceof ThreadEnded)) throw error;
    throw invalid(
      parts.kind === 'reply'
        ? 'The original is too large or too complex to include. Reply without it.'
        : 'The email is too large or too complex to forward. Send its raw message as an attachment instead.',
      'id',
    );
  }
}
