import { type RawBuilder, sql, type Transaction } from 'kysely';
import { freeBytes } from '../../../core/shared/free-bytes.ts';
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
    const [packed] =
      size > LARGE_BYTES
        ? await readLargePacked(database, workspaceId, emailId)
        : await asWorkspace(database, workspaceId, (transaction) => findPacked(transaction, workspaceId, [emailId]));
    if (packed === undefined) return 'missing';
    const bytes = await unpackOnce(packed);
    return bytes === null ? 'damaged' : cutOut(bytes, start, length);
  });
}

/** Returns what unpackMessage does, and gives the memory of the bytes back unless it is the same. */
export async function unpackOnce(packed: PackedMessage): Promise<Buffer | null> {
  const bytes = await unpackMessage(packed);
  if (bytes !== packed.packed) freeBytes(packed.packed);
  return bytes;
}

/** A larger message is read in rows of ROW_BYTES: the driver of PostgreSQL holds a row in hexadecimal digits, several times. */
const LARGE_BYTES = 262_144;
const ROW_BYTES = 32_768;
/** Rows that arrive together. */
const FETCHED_ROWS = 16;

/** Like findPacked, with bytes in memory of their own, and on a connection of its own. */
function readLargePacked(
  database: Database,
  workspaceId: string,
  emailId: string,
): Promise<(PackedMessage & { id: string })[]> {
  const { reading: _, ...apart } = database;
  return asWorkspace(apart, workspaceId, async (transaction) => {
    const packed = await fetchPacked(transaction, sql`packed_messages(${workspaceId}, array[${emailId}])`);
    return packed === null ? [] : [{ id: emailId, ...packed }];
  });
}

/**
 * Returns a message in memory of its own, read in rows; null when there is none. `source` has one row with bytes, sha256 and size_bytes. On a
 * connection that runs nothing else meanwhile.
 */
export async function fetchPacked(
  transaction: Transaction<Tables>,
  source: RawBuilder<unknown>,
): Promise<PackedMessage | null> {
  const size = sql.raw(String(ROW_BYTES));
  await sql`declare large_message no scroll cursor for
    select substring(m.packed from s.at + 1 for ${size}) as part,
      case when s.at = 0 then json_build_object('packed', octet_length(m.packed), 'message', m.size_bytes, 'sha256', encode(m.sha256, 'hex')) end as facts
    from (select packed, sha256, size_bytes from ${source} offset 0) m
    cross join lateral generate_series(0, octet_length(m.packed) - 1, ${size}) s(at)`.execute(transaction);
  let packed: PackedMessage | null = null;
  for (let at = 0; ; ) {
    const { rows } = await sql<LargePart>`fetch forward ${sql.raw(String(FETCHED_ROWS))} from large_message`.execute(
      transaction,
    );
    for (const { part, facts } of rows) {
      if (facts !== null)
        packed = {
          packed: Buffer.allocUnsafeSlow(facts.packed),
          sha256: Buffer.from(facts.sha256, 'hex'),
          sizeBytes: facts.message,
        };
      if (packed !== null) at += part.copy(packed.packed, at);
    }
    if (rows.length < FETCHED_ROWS) break;
  }
  await sql`close large_message`.execute(transaction);
  return packed;
}

interface LargePart {
  part: Buffer;
  /** of the first part: bytes of the bytes and of the message, and its sha256 in hexadecimal digits */
  facts: { packed: number; message: number; sha256: string } | null;
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
    const isLarge = (id: string) => (sizes.get(id) ?? 0) > LARGE_BYTES;
    const beginnings = new Map<string, Buffer | 'damaged'>();
    const add = async (packed: PackedMessage & { id: string }) => {
      const bytes = await unpackOnce(packed);
      beginnings.set(packed.id, bytes === null ? 'damaged' : cutOut(bytes, 0, length));
    };
    const small = emailIds.filter((id) => !isLarge(id));
    const found =
      small.length === 0
        ? []
        : await asWorkspace(database, workspaceId, (transaction) => findPacked(transaction, workspaceId, small));
    for (const packed of found) await add(packed);
    for (const id of emailIds.filter(isLarge))
      for (const packed of await readLargePacked(database, workspaceId, id)) await add(packed);
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
  if (part.length >= bytes.length / 2) return part;
  const copy = Buffer.from(part);
  freeBytes(bytes);
  return copy;
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
