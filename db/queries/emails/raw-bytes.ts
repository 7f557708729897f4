import { sql, type Transaction } from 'kysely';
import { type Database } from '../../connection/database.ts';
import { asWorkspace } from '../../connection/transaction.ts';
import type { Tables } from '../../entities/tables.ts';
import { inUnpackingTurn, type PackedMessage, unpackMessage } from '../../packed-message.ts';

/**
 * Returns `length` bytes from `start` (0-based) of the message of a workspace's email. `missing`: the message is gone; `damaged`: its bytes do
 * not match the sha256 that was stored with them.
 */
export async function readRawBytes(
  database: Database,
  workspaceId: string,
  emailId: string,
  { start, length }: { start: number; length: number },
): Promise<Buffer | 'missing' | 'damaged'> {
  const size = (await readSizes(database, workspaceId, [emailId])).get(emailId);
  if (size === undefined) return 'missing';
  return inUnpackingTurn(workspaceId, size, async () => {
    const [packed] = await asWorkspace(database, workspaceId, (transaction) =>
      findPacked(transaction, workspaceId, [emailId]),
    );
    if (packed === undefined) return 'missing';
    const bytes = await unpackMessage(packed);
    return bytes === null ? 'damaged' : cutOut(bytes, start, length);
  });
}

/**
 * Returns the first `length` bytes of the messages of those of the emails that belong to the workspace, by email id; `damaged` where its bytes do
 * not match the sha256 that was stored with them.
 */
export async function readRawBeginnings(
  database: Database,
  workspaceId: string,
  emailIds: readonly string[],
  length: number,
): Promise<Map<string, Buffer | 'damaged'>> {
  const sizes = await readSizes(database, workspaceId, emailIds);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return inUnpackingTurn(workspaceId, total, async () => {
    const found = await asWorkspace(database, workspaceId, (transaction) =>
      findPacked(transaction, workspaceId, emailIds),
    );
    const beginnings = new Map<string, Buffer | 'damaged'>();
    for (const packed of found) {
      const bytes = await unpackMessage(packed);
      beginnings.set(packed.id, bytes === null ? 'damaged' : cutOut(bytes, 0, length));
    }
    return beginnings;
  });
}

function readSizes(database: Database, workspaceId: string, emailIds: readonly string[]): Promise<Map<string, number>> {
  return asWorkspace(database, workspaceId, (transaction) => findRawSizes(transaction, workspaceId, emailIds));
}

/** Returns the messages of those of the emails that belong to the workspace, as their rows have them. */
export async function findPacked(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<(PackedMessage & { id: string })[]> {
  const { rows } = await sql<PackedMessage & { id: string }>`
    select email_id as id, packed, sha256, size_bytes as "sizeBytes" from packed_messages(${workspaceId}, ${emailIds}::text[])`.execute(
    transaction,
  );
  return rows;
}

/** A small part is copied: it would hold the whole message in memory. */
function cutOut(bytes: Buffer, start: number, length: number): Buffer {
  const part = bytes.subarray(start, start + length);
  return part.length < bytes.length / 2 ? Buffer.from(part) : part;
}

/** Returns the sizes in bytes of the messages of those of the emails that belong to the workspace, by email id. */
export async function findRawSizes(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ email_id: string; bytes: number }>`
    select email_id, bytes from raw_sizes(${workspaceId}, ${emailIds}::text[])`.execute(transaction);
  return new Map(rows.map((row) => [row.email_id, row.bytes]));
}
