import { ThreadEnded, TimeLimitExceeded } from '../../actors/work/worker-threads.ts';
import { checkMailSize, MAX_CHECKED_HTML, type MailChecks, type MailToCheck } from '../../core/html/check-mail.ts';
import { type BodyText, LargeText } from '../../core/shared/large-text.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';
import { createRequestThread } from '../request-thread.ts';
import { loadContentParts, loadEmails } from './emails.ts';
import { waitUntilParsed } from './pending-emails.ts';

const threads = createRequestThread<MailToCheck, MailChecks>({
  program: new URL('./email-checks-worker.ts', import.meta.url),
});

/** Checks the HTML body of an email; its size alone when the other checks take too long. Throws not_found. */
export function readEmailChecks(context: OperationContext, emailId: string): Promise<MailChecks> {
  return waitUntilParsed(context, [emailId], async () => {
    const [email] = isValidId(emailId) ? await loadEmails(context, [emailId]) : [];
    if (email == null) throw emailNotFound();
    const [parts] = await loadContentParts(context, [emailId], new Set(['html']));
    return checkEmailHtml(context, emailId, parts?.html ?? null);
  });
}

/**
 * Checks the HTML body that was read of an email; its size alone when the other checks take too long. It is hostile input: it is checked in a
 * thread, which delays no other request and can be ended.
 */
export async function checkEmailHtml(
  context: OperationContext,
  emailId: string,
  html: BodyText | null,
): Promise<MailChecks> {
  const mail: MailToCheck =
    html instanceof LargeText ? { html: html.beginning(MAX_CHECKED_HTML + 1), sizeBytes: html.bytes } : { html };
  try {
    return await threads.run(mail, { startBy: context.respondBy });
  } catch (error) {
    if (!(error instanceof TimeLimitExceeded || error instanceof ThreadEnded)) throw error;
    context.log.warn({ emailId }, 'emails: checking the HTML of an email took too long');
    return checkMailSize(mail);
  }
}
