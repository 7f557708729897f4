import { inTransaction, transactionOn } from '../../db/connection/transaction.ts';
import { SETTLE_KEYS_BATCH, scopeKeysToWorkspace, settleExpiredKeys } from '../../db/queries/accounts/expired-key.ts';
import { announceLimits } from '../../operations/accounts/key-grants.ts';
import type { ActorContext } from '../actor.ts';

export { SETTLE_KEYS_BATCH };

/**
 * Stops what API keys set up that have expired: their endpoints and guard rules are disabled, their scheduled mail is paused. Returns the
 * number of keys.
 */
export async function settleKeys(context: ActorContext): Promise<number> {
  const { bus, database } = context;
  const settled = await inTransaction(database, async (client) => {
    const transaction = transactionOn(client);
    const keys = [];
    for (const limits of await settleExpiredKeys(transaction)) {
      const { workspaceId } = limits;
      await scopeKeysToWorkspace(transaction, workspaceId);
      keys.push({ workspaceId, lastSeq: await announceLimits({ ...context, workspaceId }, transaction, limits) });
    }
    return keys;
  });
  for (const { workspaceId, lastSeq } of settled) {
    bus.publish('guard.changed', { workspaceId });
    bus.publish('subscription.changed', { workspaceId });
    if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
  }
  return settled.length;
}
