import { readUnsubscribeToken, type Unsubscription } from '../../core/sending/unsubscribe-link.ts';
import { inWorkspaceTransaction } from '../../db/connection/transaction.ts';
import { suppressForList } from '../../db/queries/sending/suppression-list.ts';
import { newIdentifier, type OperationParts } from '../context.ts';

/** Returns the contents of a link of List-Unsubscribe; null when it was not made by this service. */
export function readUnsubscription({ settings }: OperationParts, token: string): Unsubscription | null {
  return readUnsubscribeToken(settings.secretKey, token);
}

/** Suppresses the recipient for the list of the link; a second time changes nothing. Returns null for an invalid link. */
export async function unsubscribe(parts: OperationParts, token: string): Promise<Unsubscription | null> {
  const unsubscription = readUnsubscription(parts, token);
  if (unsubscription === null) return null;
  const id = newIdentifier(parts, 'suppression');
  const { workspaceId } = unsubscription;
  await inWorkspaceTransaction(parts.database, workspaceId, { lockTimeoutMs: LOCK_TIMEOUT_MS }, (client) =>
    suppressForList(client, { id, ...unsubscription }),
  );
  return unsubscription;
}

const LOCK_TIMEOUT_MS = 2_000;
