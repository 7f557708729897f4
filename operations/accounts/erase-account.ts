import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { closeAccount, countAccount, type ErasureCounts } from '../../db/queries/accounts/erase-account.ts';
import { invalid, type OperationContext } from '../context.ts';
import { readAccount } from './account.ts';
import { requireFreshSignIn } from './fresh-sign-in.ts';

export { type ErasureCounts, MAX_ERASURE_COUNT } from '../../db/queries/accounts/erase-account.ts';

/** Returns what erasing the account would erase. */
export function previewErasure({ database, workspaceId }: OperationContext): Promise<ErasureCounts> {
  return asWorkspace(database, workspaceId, (transaction) => countAccount(transaction, workspaceId));
}

/**
 * Closes the account for good, once the user has typed its email address and signed in within the last minutes: keys, sessions and domains
 * end in one transaction, so no mail comes in or leaves. The scheduling actor then erases all data. Throws forbidden for API keys and for a
 * sign-in that is too old, and validation for another address.
 */
export async function eraseAccount(context: OperationContext, confirmEmail: string): Promise<void> {
  const { database, workspaceId, caller, bus } = context;
  if (caller.via !== 'session')
    throw new UserError(
      'forbidden',
      'API keys cannot erase an account. Sign in to the dashboard, and open Settings, Account.',
    );
  const { email } = await readAccount(context);
  if (email === null || confirmEmail.trim().toLowerCase() !== email)
    throw invalid('confirmEmail must be the email address of this account', 'input.confirmEmail');
  requireFreshSignIn(context, 'erase the account');
  const names = await asWorkspace(database, workspaceId, async (transaction) => {
    const closed = await closeAccount(transaction, workspaceId);
    context.fault?.('erasure.before-commit');
    return closed;
  });
  context.fault?.('erasure.after-commit');
  for (const name of names) bus.publish('routing.changed', { name });
  context.forgetCredentials(workspaceId);
  bus.publish('credential.changed', { ownerId: workspaceId });
}
