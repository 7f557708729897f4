import { SYSTEM_WORKSPACE_ID } from '../../../core/accounts/system-account.ts';
import type { Database } from '../../../db/connection/database.ts';
import { unpackMessage } from '../../../db/packed-message.ts';

/** Returns the texts of mail that the service sent to an address, oldest first, without quoted-printable. */
export async function readServiceMail(database: Database, address: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ packed: Buffer; sha256: Buffer; sizeBytes: number }>(
    `select m.packed, m.sha256, m.size_bytes as "sizeBytes" from email e
     join raw_message m on m.id = e.raw_id join recipient r on r.workspace_id = e.workspace_id and r.email_id = e.id
     where e.workspace_id = $1 and r.address = $2 order by e.created_at, e.id`,
    [SYSTEM_WORKSPACE_ID, address],
  );
  const messages = await Promise.all(rows.map(unpackMessage));
  return messages.map((message) => String(message).replaceAll('=\r\n', '').replaceAll('=3D', '='));
}
