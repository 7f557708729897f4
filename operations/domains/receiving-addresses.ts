import { asWorkspace } from '../../db/connection/transaction.ts';
import { listTakingAddresses } from '../../db/queries/routing/simulation-read.ts';
import type { OperationContext } from '../context.ts';

/** Maximum addresses listed in an error. */
const MAX_LISTED = 20;

/** Returns a sentence for an error that lists the account's addresses that receive mail, up to 20. */
export async function describeReceivingAddresses({ database, workspaceId }: OperationContext): Promise<string> {
  const receiving = await asWorkspace(database, workspaceId, (transaction) =>
    listTakingAddresses(transaction, workspaceId, MAX_LISTED + 1),
  );
  if (receiving.length === 0) return 'None of your addresses receives mail yet.';
  const more = receiving.length > MAX_LISTED ? ' and others' : '';
  return `Addresses that receive mail: ${receiving.slice(0, MAX_LISTED).join(', ')}${more}.`;
}
