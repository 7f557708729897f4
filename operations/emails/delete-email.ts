import { reachExceeded } from '../../core/accounts/key-rights.ts';
import { requireRights } from '../../core/accounts/rights.ts';
import { emailNotFound, type OperationContext } from '../context.ts';
import { cancelEmail, type ScheduleChange } from '../sending/scheduled-emails.ts';
import { type RemovedMail, removeEmails } from '../threads/trash.ts';
import { loadEmails } from './emails.ts';
import { waitUntilParsed } from './pending-emails.ts';

/** What deleting an email did. */
export type DeletedEmail = { kind: 'cancelled'; change: ScheduleChange } | { kind: 'removed'; removed: RemovedMail };

/**
 * Cancels a scheduled email, which stays; `forever` removes an email that has arrived or left. Cancelling needs the right to send, removing
 * the right to remove mail. Throws forbidden, and as cancelEmail and removeEmails.
 */
export async function deleteEmail(
  context: OperationContext,
  emailId: string,
  extent: 'cancel' | 'forever',
): Promise<DeletedEmail> {
  return waitUntilParsed(context, [emailId], async () => {
    const [email] = extent === 'forever' ? await loadEmails(context, [emailId]) : [];
    if (extent === 'forever' && email == null) throw emailNotFound();
    if (email == null || email.type === 'scheduled') {
      requireRights(context.rights, 'Cancelling mail', ['send']);
      return { kind: 'cancelled', change: await cancelEmail(context, emailId) };
    }
    requireRights(context.rights, 'Deleting mail', ['remove']);
    if (context.rights.reach !== null) throw reachExceeded('Deleting mail', context.rights);
    return { kind: 'removed', removed: await removeEmails(context, [emailId]) };
  });
}
