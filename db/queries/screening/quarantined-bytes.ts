import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/** An infected email, as its row has it. */
export interface QuarantinedMessage {
  virus: string;
  sizeBytes: number;
  sha256: Buffer;
  /** null: not read */
  packed: Buffer | null;
}

/** Returns an email of the workspace that is in quarantine; null: it is not, or its bytes are gone. */
export async function findQuarantined(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  extent: 'outline' | 'with bytes' = 'outline',
): Promise<QuarantinedMessage | null> {
  const { rows } = await sql<QuarantinedMessage>`
    select virus, sha256, size_bytes as "sizeBytes", packed
    from quarantined_message(${workspaceId}, ${emailId}, ${extent === 'with bytes'})`.execute(transaction);
  return rows[0] ?? null;
}
