import { ThreadEnded, TimeLimitExceeded } from '../../actors/work/worker-threads.ts';
import { type ForwardedMail, type ForwardNote, forwardBodies } from '../../core/sending/forwarded-content.ts';
import { invalid } from '../context.ts';
import { createRequestThread } from '../request-thread.ts';

/** Characters; the bodies of a shorter mail take a few milliseconds, and are made without a thread. */
const SMALL_LENGTH = 30_000;

/** What the bodies of a forward are made of. */
export interface ForwardParts {
  mail: ForwardedMail;
  note: ForwardNote;
}

const threads = createRequestThread<ForwardParts, ReturnType<typeof forwardBodies>>({
  program: new URL('./forward-bodies-worker.ts', import.meta.url),
});

/** Makes the bodies of a forward. Large ones are sanitized in a thread, where they delay no other request. Throws validation. */
export async function makeForwardBodies({ mail, note }: ForwardParts): Promise<ReturnType<typeof forwardBodies>> {
  const length = [mail.text, mail.html, note.text, note.html].reduce((sum, body) => sum + (body?.length ?? 0), 0);
  if (length <= SMALL_LENGTH) return forwardBodies(mail, note);
  try {
    return await threads.run({ mail, note });
  } catch (error) {
    if (!(error instanceof TimeLimitExceeded || error instanceof ThreadEnded)) throw error;
    throw invalid(
      'The email is too large or too complex to forward. Send its raw message as an attachment instead.',
      'id',
    );
  }
}
