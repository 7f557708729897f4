import { sql, type Transaction } from 'kysely';
import type { Reach, ReachedDomain, Scope } from '../../../core/accounts/key-rights.ts';
import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';

/** An API key without its secret. */
export interface ApiKeyRow {
  id: string;
  name: string;
  /** null: full rights */
  scopes: readonly Scope[] | null;
  /** the only mail that it can access; null: all. A revoked key keeps what it had at last. */
  reach: Reach | null;
  createdAt: Date;
  /** null: never */
  expiresAt: Date | null;
  /** null: not revoked */
  revokedAt: Date | null;
  /** accurate to seconds; null: not used yet */
  lastUsedAt: Date | null;
  /** address of the client that used it last; null: not known */
  lastUsedFrom: string | null;
  /** see core/accounts/key-hint.ts; null: not known */
  hint: string | null;
  /** null: none */
  policy: SendPolicy | null;
  /** the key that created it; null: a person did */
  parentId: string | null;
  /** the first of the keys that created each other; its own id when a person created it */
  familyId: string;
}

/**
 * Returns the workspace's keys, without grants of OAuth, between two cursors, newest first; inverted: oldest first. `isRevoked` null matches both.
 *
 */
export async function pageApiKeys(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { isRevoked }: { isRevoked: boolean | null },
  page: KeysetPage,
): Promise<ApiKeyRow[]> {
  const { rows } = await sql<ApiKeyRow>`
    select ${columns} from api_keys_of(${workspaceId}) k where not k.is_grant and ${ofKind(isRevoked)} ${keysetConditions('k', page)}
    ${keysetOrder('k', page)} limit ${page.limit}`.execute(transaction);
  return rows;
}

/** Returns a page of the workspace's keys, newest first. `isRevoked` null matches both. */
export async function listApiKeys(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { isRevoked }: { isRevoked: boolean | null },
  page: Page,
): Promise<ApiKeyRow[]> {
  const { rows } = await sql<ApiKeyRow>`
    select ${columns} from api_keys_of(${workspaceId}) k where not k.is_grant and ${ofKind(isRevoked)}
    order by k.created_at desc, k.id desc limit ${page.limit} offset ${page.offset}`.execute(transaction);
  return rows;
}

export async function countApiKeys(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { isRevoked }: { isRevoked: boolean | null },
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from api_keys_of(${workspaceId}) k where not k.is_grant and ${ofKind(isRevoked)}`.execute(
    transaction,
  );
  return Number(rows[0]?.total ?? 0);
}

/** Returns those of the keys that belong to the workspace, unordered. */
export async function findApiKeys(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<ApiKeyRow[]> {
  const { rows } = await sql<ApiKeyRow>`
    select ${columns} from api_keys_of(${workspaceId}) k where k.id = any (${ids}::text[])`.execute(transaction);
  return rows;
}

/** Returns the ids of the active keys that are limited to an address, among others. */
export async function listKeysOfAddress(
  transaction: Transaction<Tables>,
  workspaceId: string,
  address: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select k.id from api_keys_of(${workspaceId}) k where k.revoked_at is null and k.reach->'addresses' ? ${address} order by k.id`.execute(
    transaction,
  );
  return rows.map(({ id }) => id);
}

export interface NewApiKey {
  id: string;
  name: string;
  secretSha256: Buffer;
  /** see core/accounts/key-hint.ts */
  hint: string | null;
  expiresAt: Date | null;
  scopes: readonly Scope[] | null;
  reach: Reach | null;
  policy: SendPolicy | null;
  /** the key that creates it; null: a person does */
  parentId: string | null;
  /** the person who creates it; null: none */
  personId: string | null;
}

type NewKeyOutcome = 'made' | 'too many' | 'no domain' | 'no address' | 'no account' | 'more rights' | 'too long';

/**
 * Stores a new key, unless the workspace has too many active keys or not all of its reach, or the key that creates it has fewer rights now or expires
 * before. Without an expiry it gets that of the key that creates it.
 */
export async function insertApiKey(
  transaction: Transaction<Tables>,
  workspaceId: string,
  key: NewApiKey,
  most: number,
): Promise<NewKeyOutcome> {
  const { id, name, secretSha256, hint, expiresAt, scopes, reach, policy, parentId, personId } = key;
  const { rows } = await sql<{ outcome: NewKeyOutcome | null }>`
    select create_api_key(${workspaceId}, ${id}, ${name}, ${secretSha256}, ${expiresAt}, ${most}, ${scopes}::text[],
      ${toJson(reach)}::jsonb, ${toJson(policy)}::jsonb, ${hint}, ${parentId}, ${personId}) as outcome`.execute(
    transaction,
  );
  const outcome = rows[0]?.outcome ?? null;
  if (outcome === null) throw new Error('an API key can be created only for the user of the transaction');
  return outcome;
}

/** Returns the workspace's domain with that id or canonical name; null when there is none. */
export async function findKeyDomain(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
  name: string | null,
): Promise<ReachedDomain | null> {
  const row = await transaction
    .selectFrom('domain')
    .select(['id', 'name'])
    .where('workspace_id', '=', workspaceId)
    .where((domain) => domain.or([domain('id', '=', id), domain('name', '=', name ?? '')]))
    .executeTakeFirst();
  return row ?? null;
}

/** Returns the workspace's address with that id or text; null when there is none. */
export async function findKeyAddress(
  transaction: Transaction<Tables>,
  workspaceId: string,
  given: string,
): Promise<string | null> {
  const row = await transaction
    .selectFrom('email_address')
    .select('address')
    .where('workspace_id', '=', workspaceId)
    .where((each) => each.or([each('id', '=', given), each('address', '=', given.toLowerCase())]))
    .executeTakeFirst();
  return row?.address ?? null;
}

/** What may change of a key. */
export type ApiKeyChange = Pick<ApiKeyRow, 'name' | 'expiresAt' | 'scopes' | 'reach' | 'policy'>;

/** Locks a key until the transaction ends, and returns it; null when the workspace has no such key, or it was revoked. */
export async function lockApiKey(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<ApiKeyRow | null> {
  const { rows } = await sql<{ is_locked: boolean }>`
    select lock_api_key(${workspaceId}, ${id}) as is_locked`.execute(transaction);
  if (rows[0]?.is_locked !== true) return null;
  const [key] = await findApiKeys(transaction, workspaceId, [id]);
  return key ?? null;
}

/** What a change of a key took away. */
export interface KeyLimits {
  /** ids of the keys whose rights changed, its own and those of keys that it created */
  keyIds: string[];
  /** whether they have a stricter send policy now, which nothing that they scheduled was checked against */
  hasStricterPolicy?: boolean;
  /** endpoints that were disabled, because the keys that set them up may no longer read, and why */
  disabledEndpoints: { id: string; reason: string }[];
}

/**
 * Changes a locked key, and takes what it loses from the keys that it created and from what they set up. Returns the name of a key among
 * them instead whose own send policy prevents a new one.
 */
export async function updateApiKey(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
  { name, expiresAt, scopes, reach, policy }: ApiKeyChange,
): Promise<KeyLimits | { inTheWay: string }> {
  const { rows } = await sql<LimitRow & { in_the_way: string | null }>`
    select * from update_api_key(${workspaceId}, ${id}, ${name}, ${expiresAt}, ${scopes}::text[], ${toJson(reach)}::jsonb,
      ${toJson(policy)}::jsonb)`.execute(transaction);
  const row = rows[0];
  if (row === undefined) throw new Error('a locked key cannot be gone');
  return row.in_the_way === null ? toLimits(row) : { inTheWay: row.in_the_way };
}

/** Who revokes a key, and whether what it set up, and the keys that it created, stay and are taken over. */
export interface Revocation {
  /** null: the person */
  byKeyId: string | null;
  /** the person of the request; null: no person */
  personId: string | null;
  keepsConfiguration: boolean;
}

/** Revokes a key; null when the workspace has no active key with that id. */
export async function revokeApiKey(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
  { byKeyId, personId, keepsConfiguration }: Revocation,
): Promise<KeyLimits | null> {
  const { rows } = await sql<LimitRow>`
    select * from revoke_api_key(${workspaceId}, ${id}, ${byKeyId}, ${keepsConfiguration}, ${personId})`.execute(
    transaction,
  );
  const row = rows[0];
  return row === undefined ? null : toLimits(row);
}

interface LimitRow {
  limited: string[] | null;
  disabled: { id: string; reason: string }[] | null;
}

function toLimits({ limited, disabled }: LimitRow): KeyLimits {
  return { keyIds: limited ?? [], disabledEndpoints: disabled ?? [] };
}

const toJson = (value: SendPolicy | Reach | null) => (value === null ? null : JSON.stringify(value));

const ofKind = (isRevoked: boolean | null) =>
  isRevoked === null ? sql`true` : sql`(k.revoked_at is not null) = ${isRevoked}`;

const columns = sql`k.id, k.name, k.scopes, k.reach, k.created_at as "createdAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
  k.last_used_at as "lastUsedAt", k.last_used_from as "lastUsedFrom", k.secret_hint as "hint", k.send_policy as "policy",
  k.parent_id as "parentId", k.family_id as "familyId"`;
