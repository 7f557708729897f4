import { inTransaction, transactionOn } from '../../db/connection/transaction.ts';
import {
  lockCustomersSentFrom,
  SETTLE_KEYS_BATCH,
  scopeKeysToWorkspace,
  settleExpiredKeys,
} from '../../db/queries/accounts/expired-key.ts';
import { announceLimits } from '../../operations/accounts/key-grants.ts';
import type { ActorContext } from '../actor.ts';

export { SETTLE_KEYS_BATCH };

/**
 * Stops what API keys set up that have expired: their endpoints and guard rules are disabled, their scheduled mail is paused, that of their
 * browser tokens in workspaces of customers, too. Returns the number of keys.
 */
export async function settleKeys(context: ActorContext): Promise<number> {
  const { bus, database } = context;
  const settled = await inTransaction(database, async (client) => {
    const transaction = transactionOn(client);
    const changed = [];
    const settling = await settleExpiredKeys(transaction);
    for (const limits of settling) {
      const { keyIds } = limits;
      const customerIds = await lockCustomersSentFrom(transaction, limits.workspaceId, keyIds);
      const ofCustomers = customerIds.map((workspaceId) => ({ workspaceId, keyIds, disabledEndpoints: [] }));
      for (const each of [limits, ...ofCustomers]) {
        const { workspaceId } = each;
        await scopeKeysToWorkspace(transaction, workspaceId);
        changed.push({ workspaceId, lastSeq: await announceLimits({ ...context, workspaceId }, transaction, each) });
      }
    }
    return { changed, count: settling.length };
  });
  for (const { workspaceId, lastSeq } of settled.changed) {
    bus.publish('guard.changed', { workspaceId });
    bus.publish('subscription.changed', { workspaceId });
    if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
  }
  return settled.count;
}
