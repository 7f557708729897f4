import { mentionMail } from '../../core/accounts/system-account.ts';
import { UserError } from '../../core/shared/errors.ts';
import * as notes from '../../db/queries/threads/thread-note.ts';
import type { OperationParts } from '../context.ts';

/** Notices that are taken at once. */
const NOTICES_AT_ONCE = 20;

/**
 * Sends the notices of a note, or with null those of all workspaces that a gateway left behind. A gateway that ends after a mail was stored
 * and before its notice is deleted sends that mail twice. Failures are logged: the notices are taken again in a minute.
 */
export async function sendNotices(parts: OperationParts, noteId: string | null): Promise<void> {
  const { database, log, settings, sendServiceMail, fault } = parts;
  const whole = database.limit?.whole ?? database;
  try {
    for (const notice of await notes.takeNotices(whole, noteId, NOTICES_AT_ONCE)) {
      const link = `${settings.publicUrl}/inbox/${notice.threadId}`;
      const { workspaceName, authorName: author } = notice;
      // A suppressed address gets no mail, now or later.
      await sendServiceMail(mentionMail(notice.email, { link, workspaceName, author })).catch((error: unknown) => {
        if (!(error instanceof UserError) || error.code !== 'validation') throw error;
      });
      fault?.('notes.sent');
      await notes.finishNotice(whole, notice);
    }
  } catch (error) {
    log.warn({ err: error }, 'notices of mentions were not sent; they are sent again in a minute');
  }
}

/** Sends at once, and every minute, the notices that a gateway left behind. Closing waits for notices that are being sent. */
export function repeatNotices(parts: OperationParts): { close: () => Promise<void> } {
  let running = sendNotices(parts, null);
  const timer = setInterval(() => void (running = sendNotices(parts, null)), REPEAT_MS).unref();
  return {
    close: () => {
      clearInterval(timer);
      return running;
    },
  };
}

/** Milliseconds. */
const REPEAT_MS = 60_000;
