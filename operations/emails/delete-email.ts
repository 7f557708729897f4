import { domainExceeded, hasScope, type Scope, scopeMissing } from '../../core/accounts/key-rights.ts';
import type { OperationContext } from '../context.ts';
import { cancelEmail, type ScheduleChange } from '../sending/scheduled-emails.ts';
import { type RemovedMail, removeEmails, trashEmails } from '../threads/trash.ts';
import { loadEmails } from './emails.ts';

/** What deleting an email did. */
export type DeletedEmail =
  | { kind: 'cancelled'; change: ScheduleChange }
  | { kind: 'trashed'; threadId: string }
  | { kind: 'removed'; removed: RemovedMail };

/**
 * Moves an email that has arrived or left to the trash, or removes it forever; cancels a scheduled one, which stays. `unless sent` refuses
 * an email that has left, as cancelEmail does: the caller may have meant to cancel it in time. Cancelling needs the scope send, the rest
 * manage. Throws forbidden, and as cancelEmail and trashEmails.
 */
export async function deleteEmail(
  context: OperationContext,
  emailId: string,
  extent: 'unless sent' | 'to trash' | 'forever',
): Promise<DeletedEmail> {
  const [email] = await loadEmails(context, [emailId]);
  const isCancelled =
    email == null || email.type === 'scheduled' || (email.type === 'sent' && extent === 'unless sent');
  if (isCancelled) {
    requireScope(context, 'Cancelling mail', 'send');
    return { kind: 'cancelled', change: await cancelEmail(context, emailId) };
  }
  requireScope(context, 'Deleting mail', 'manage');
  if (context.rights.domain !== null) throw domainExceeded('Deleting mail', context.rights);
  if (extent === 'forever') return { kind: 'removed', removed: await removeEmails(context, [emailId]) };
  const [trashed] = await trashEmails(context, [emailId]);
  return { kind: 'trashed', threadId: trashed?.threadId ?? '' };
}

function requireScope({ rights }: OperationContext, what: string, scope: Scope): void {
  if (!hasScope(rights, scope)) throw scopeMissing(what, scope, rights);
}
