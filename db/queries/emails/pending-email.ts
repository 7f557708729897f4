import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/** A message that SMTP accepted and that is not parsed yet. */
export interface PendingReception {
  emailId: string;
  /** forward-path as given */
  recipient: string;
}

/** Returns those of the emails that were accepted with a 250 for the workspace and have no row yet. */
export async function findPendingReceptions(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<PendingReception[]> {
  if (emailIds.length === 0) return [];
  const { rows } = await sql<PendingReception>`
    select p.email_id as "emailId", p.recipient from pending_receptions(${workspaceId}, ${emailIds}::text[]) p`.execute(
    transaction,
  );
  return rows;
}
