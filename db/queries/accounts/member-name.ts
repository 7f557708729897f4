import { sql, type Transaction } from 'kysely';
import { picturePath } from '../../../core/accounts/picture.ts';
import type { Tables } from '../../entities/tables.ts';

/** A member as others see the member beside what the member did. */
export interface MemberName {
  id: string;
  email: string;
  /** may be empty */
  name: string;
  /** path of the picture, see picturePath; null: none */
  image: string | null;
}

/** Returns the IDs of members of the transaction's workspace by what names them: their IDs, or their addresses in lower case. */
export async function findMemberIds(
  transaction: Transaction<Tables>,
  workspaceId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ id: string; email: string }>`
    select person_id as id, email from members_named(${workspaceId}, ${names}::text[])`.execute(transaction);
  return new Map(rows.flatMap(({ id, email }) => [[id, id] as const, [email, id] as const]));
}

/** Returns members of the transaction's workspace by ID; those who left are missing. */
export async function findMemberNames(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personIds: readonly string[],
): Promise<ReadonlyMap<string, MemberName>> {
  if (personIds.length === 0) return new Map();
  const { rows } = await sql<MemberName>`
    select person_id as id, email, name, image from members_named(${workspaceId}, ${personIds}::text[])`.execute(
    transaction,
  );
  return new Map(rows.map((row) => [row.id, { ...row, image: picturePath(row.id, row.image) }]));
}

/** Returns who makes a request, for others: the name or address of the person, or the name of the API key; null: neither is known. */
export async function findRequester(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { personId, keyId }: { personId: string | null; keyId: string | null },
): Promise<string | null> {
  const { rows } = await sql<{ name: string | null }>`
    select requester_name(${workspaceId}, ${personId}, ${keyId}) as name`.execute(transaction);
  return rows[0]?.name ?? null;
}
