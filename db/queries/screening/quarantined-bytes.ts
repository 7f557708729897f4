import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';
import type { PackedMessage } from '../../packed-message.ts';
import { fetchPacked } from '../emails/raw-bytes.ts';

/** An infected email, without its message. */
export interface QuarantinedMessage {
  virus: string;
  sizeBytes: number;
}

/** Returns an email of the workspace that is in quarantine; null: it is not, or its bytes are gone. */
export async function findQuarantined(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<QuarantinedMessage | null> {
  const { rows } = await sql<QuarantinedMessage>`
    select virus, size_bytes as "sizeBytes" from quarantined_message(${workspaceId}, ${emailId}, false)`.execute(
    transaction,
  );
  return rows[0] ?? null;
}

/** Returns the message of an email in quarantine; null: it is not there any more. */
export function readQuarantinedBytes(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<PackedMessage | null> {
  return fetchPacked(transaction, sql`quarantined_message(${workspaceId}, ${emailId}, true)`);
}
