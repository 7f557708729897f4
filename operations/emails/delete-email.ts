import { hasScope, reachExceeded, type Scope, scopeMissing } from '../../core/accounts/key-rights.ts';
import type { OperationContext } from '../context.ts';
import { cancelEmail, type ScheduleChange } from '../sending/scheduled-emails.ts';
import { type RemovedMail, removeEmails } from '../threads/trash.ts';
import { loadEmails } from './emails.ts';

/** What deleting an email did. */
export type DeletedEmail = { kind: 'cancelled'; change: ScheduleChange } | { kind: 'removed'; removed: RemovedMail };

/**
 * Cancels a scheduled email, which stays; `forever` removes an email that has arrived or left. Cancelling needs the scope send, removing
 * manage. Throws forbidden, and as cancelEmail and removeEmails.
 */
export async function deleteEmail(
  context: OperationContext,
  emailId: string,
  extent: 'cancel' | 'forever',
): Promise<DeletedEmail> {
  const [email] = extent === 'forever' ? await loadEmails(context, [emailId]) : [];
  if (email == null || email.type === 'scheduled') {
    requireScope(context, 'Cancelling mail', 'send');
    return { kind: 'cancelled', change: await cancelEmail(context, emailId) };
  }
  requireScope(context, 'Deleting mail', 'manage');
  if (context.rights.reach !== null) throw reachExceeded('Deleting mail', context.rights);
  return { kind: 'removed', removed: await removeEmails(context, [emailId]) };
}

function requireScope({ rights }: OperationContext, what: string, scope: Scope): void {
  if (!hasScope(rights, scope)) throw scopeMissing(what, scope, rights);
}
