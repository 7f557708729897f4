import { asWorkspace } from '../../db/connection/transaction.ts';
import { type ConfiguredItem, readKeyConfigurations } from '../../db/queries/accounts/key-configuration.ts';
import { isValidId, type OperationContext } from '../context.ts';
import { readApiKey } from './api-keys.ts';

/** How many things are listed of a key. */
export const MAX_CONFIGURED_ITEMS = 100;

/** What a key, and the keys that it created, set up, and what stops when it is revoked. */
export interface KeyConfiguration {
  /** at most MAX_CONFIGURED_ITEMS */
  items: ConfiguredItem[];
  /** whether there are more */
  hasMore: boolean;
}

/** Returns what each key set up; nothing for keys that the user does not have. */
export async function loadKeyConfigurations(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<KeyConfiguration[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    readKeyConfigurations(
      transaction,
      workspaceId,
      ids.map((id) => (isValidId(id) ? id : '')),
      MAX_CONFIGURED_ITEMS + 1,
    ),
  );
  return found.map((items) => ({
    items: items.slice(0, MAX_CONFIGURED_ITEMS),
    hasMore: items.length > MAX_CONFIGURED_ITEMS,
  }));
}

/** Throws not_found. */
export async function readKeyConfiguration(context: OperationContext, id: string): Promise<KeyConfiguration> {
  await readApiKey(context, id);
  const [configuration = { items: [], hasMore: false }] = await loadKeyConfigurations(context, [id]);
  return configuration;
}
