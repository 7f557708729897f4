import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/** Returns those of the emails that the workspace has received or imported, parsed or not. */
export async function findReceived(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Set<string>> {
  if (emailIds.length === 0) return new Set();
  const { rows } = await sql<{ email_id: string }>`
    select o.email_id from reception o where o.workspace_id = ${workspaceId} and o.email_id = any (${emailIds}::text[])`.execute(
    transaction,
  );
  return new Set(rows.map(({ email_id: id }) => id));
}
