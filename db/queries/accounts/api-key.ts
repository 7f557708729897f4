import { sql, type Transaction } from 'kysely';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';

/** An API key without its secret. */
export interface ApiKeyRow {
  id: string;
  name: string;
  /** null: full rights */
  scopes: readonly Scope[] | null;
  /** the only domain that it can access, and its name, which is kept when the domain is deleted; null: all */
  domainId: string | null;
  domainName: string | null;
  createdAt: Date;
  /** null: never */
  expiresAt: Date | null;
  /** null: not revoked */
  revokedAt: Date | null;
  /** accurate to seconds; null: not used yet */
  lastUsedAt: Date | null;
}

/** Returns the user's keys between two cursors, newest first; inverted: oldest first. `isRevoked` null matches both. */
export async function pageApiKeys(
  transaction: Transaction<Tables>,
  userId: string,
  { isRevoked }: { isRevoked: boolean | null },
  page: KeysetPage,
): Promise<ApiKeyRow[]> {
  const { rows } = await sql<ApiKeyRow>`
    select ${columns} from api_keys_of(${userId}) k where ${ofKind(isRevoked)} ${keysetConditions('k', page)}
    ${keysetOrder('k', page)} limit ${page.limit}`.execute(transaction);
  return rows;
}

export async function countApiKeys(
  transaction: Transaction<Tables>,
  userId: string,
  { isRevoked }: { isRevoked: boolean | null },
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from api_keys_of(${userId}) k where ${ofKind(isRevoked)}`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/** Returns those of the keys that belong to the user, unordered. */
export async function findApiKeys(
  transaction: Transaction<Tables>,
  userId: string,
  ids: readonly string[],
): Promise<ApiKeyRow[]> {
  const { rows } = await sql<ApiKeyRow>`
    select ${columns} from api_keys_of(${userId}) k where k.id = any (${ids}::text[])`.execute(transaction);
  return rows;
}

export interface NewApiKey {
  id: string;
  name: string;
  secretSha256: Buffer;
  expiresAt: Date | null;
  scopes: readonly Scope[] | null;
  domainId: string | null;
}

/** Stores a new key, unless the user has too many active keys or no domain with that id. */
export async function insertApiKey(
  transaction: Transaction<Tables>,
  userId: string,
  key: NewApiKey,
  most: number,
): Promise<'made' | 'too many' | 'no domain'> {
  const { id, name, secretSha256, expiresAt, scopes, domainId } = key;
  const { rows } = await sql<{ outcome: 'made' | 'too many' | 'no domain' | null }>`
    select create_api_key(${userId}, ${id}, ${name}, ${secretSha256}, ${expiresAt}, ${most}, ${scopes}::text[], ${domainId}) as outcome`.execute(
    transaction,
  );
  const outcome = rows[0]?.outcome ?? null;
  if (outcome === null) throw new Error('a key was to be made for another user than the one of the transaction');
  return outcome;
}

/** Revokes a key; false when the user has no active key with that id. */
export async function revokeApiKey(transaction: Transaction<Tables>, userId: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ is_revoked: boolean }>`
    select revoke_api_key(${userId}, ${id}) as is_revoked`.execute(transaction);
  return rows[0]?.is_revoked === true;
}

const ofKind = (isRevoked: boolean | null) =>
  isRevoked === null ? sql`true` : sql`(k.revoked_at is not null) = ${isRevoked}`;

const columns = sql`k.id, k.name, k.scopes, k.domain_id as "domainId", k.domain_name as "domainName", k.created_at as "createdAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
  k.last_used_at as "lastUsedAt"`;
