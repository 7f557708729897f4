import { type Kysely, sql, type Transaction } from 'kysely';
import type { KeyRights, Reach, Scope } from '../../../core/accounts/key-rights.ts';
import type { Role } from '../../../core/accounts/roles.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';

/** An active API key. */
export interface CredentialRow extends KeyRights {
  keyId: string;
  /** the workspace */
  workspaceId: string;
  /** null: never */
  expiresAt: Date | null;
  /** whether the workspace is suspended, so that the key is refused */
  isSuspended: boolean;
  /** the URL that an access token is for (RFC 8707); null: a key, which is for everything */
  resource: string | null;
}

/** Returns the active key with this SHA-256 and its workspace; null when there is none. */
export async function findCredentialOwner(database: Database, secretSha256: Buffer): Promise<CredentialRow | null> {
  const { rows } = await database.pool.query<CredentialColumns>({
    name: 'credential-owner',
    text: 'select key_id, workspace_id, expires_at, scopes, reach, person_id, role, is_approver, is_suspended, has_quotas from credential_owner($1)',
    values: [secretSha256],
  });
  const row = rows[0];
  return row === undefined ? null : readCredential(row);
}

export function readCredential(row: CredentialColumns): CredentialRow {
  const { key_id: keyId, workspace_id: workspaceId, expires_at: expiresAt, scopes, reach } = row;
  const { person_id: personId, role, is_approver: isApprover, is_suspended: isSuspended } = row;
  const mayHaveQuotas = row.has_quotas;
  return {
    keyId,
    workspaceId,
    expiresAt,
    scopes,
    reach,
    personId,
    role,
    isApprover,
    isSuspended,
    mayHaveQuotas,
    resource: null,
  };
}

export interface CredentialColumns {
  key_id: string;
  workspace_id: string;
  expires_at: Date | null;
  scopes: Scope[] | null;
  reach: Reach | null;
  person_id: string | null;
  role: Role | null;
  is_approver: boolean;
  is_suspended: boolean;
  has_quotas: boolean;
}

/** A use of a key. */
export interface KeyUse {
  at: Date;
  /** address of the client; null: not known */
  from: string | null;
}

/** Records when and from where keys were last used. */
export async function noteKeyUses(database: Database, uses: readonly (KeyUse & { id: string })[]): Promise<void> {
  await database.pool.query('select note_key_uses($1)', [JSON.stringify(uses)]);
}

/** Whether the email, or the batch, with that id is visible in the transaction. */
export async function findReached(
  transaction: Transaction<Tables>,
  workspaceId: string,
  kind: 'email' | 'batch',
  id: string,
): Promise<boolean> {
  const row = await transaction
    .selectFrom(kind)
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns those of the emails that are visible in the transaction. */
export async function findReachedEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await transaction
    .selectFrom('email')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`id = any (${ids}::text[])`)
    .execute();
  return rows.map(({ id }) => id);
}

/** What a key, a member or an endpoint may do at this moment. */
export type PresentRights = Pick<KeyRights, 'scopes' | 'reach' | 'role' | 'isApprover'>;

/** Returns what a key, a member or an endpoint may do now; null when it is gone, or the workspace is suspended or closed. */
export async function findRightsNow(
  client: Kysely<Tables>,
  workspaceId: string,
  holder: string,
): Promise<PresentRights | null> {
  const { rows } = await sql<PresentRights>`
    select scopes, reach, role, is_approver as "isApprover" from rights_now(${workspaceId}, ${holder})`.execute(client);
  return rows[0] ?? null;
}

/** Returns the workspace of a key that was revoked or has expired; null: there was none. */
export async function findEndedKey(
  database: Database,
  secretSha256: Buffer,
): Promise<{ keyId: string; workspaceId: string } | null> {
  const { rows } = await database.pool.query<{ key_id: string; workspace_id: string }>({
    name: 'find-ended-key',
    text: 'select key_id, workspace_id from ended_key_owner($1)',
    values: [secretSha256],
  });
  const [row] = rows;
  return row === undefined ? null : { keyId: row.key_id, workspaceId: row.workspace_id };
}
