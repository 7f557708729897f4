import type { Origin } from '../../../core/accounts/audit.ts';
import type { InvitedRole } from '../../../core/accounts/roles.ts';
import type { GroupRole } from '../../../core/accounts/sign-in.ts';
import type { Database } from '../../connection/database.ts';
import { inTransaction, ORIGIN_SETTING } from '../../connection/transaction.ts';

/** The single sign-on of a workspace. */
export interface ProviderRow {
  workspaceId: string;
  issuer: string;
  clientId: string;
  secretCiphertext: string;
  isRequired: boolean;
  trustsAddresses: boolean;
  groupsClaim: string;
  groupRoles: GroupRole[];
  defaultRole: InvitedRole | null;
}

const COLUMNS = `workspace_id as "workspaceId", issuer, client_id as "clientId", secret_ciphertext as "secretCiphertext",
  is_required as "isRequired", trusts_addresses as "trustsAddresses", groups_claim as "groupsClaim", group_roles as "groupRoles",
  default_role as "defaultRole"`;

/** Returns the single sign-on of a workspace; null without one. Role postroom_auth, as below. */
export async function findProvider(database: Database, workspaceId: string): Promise<ProviderRow | null> {
  const { rows } = await database.pool.query<ProviderRow>(
    `select ${COLUMNS} from sign_in_provider where workspace_id = $1`,
    [workspaceId],
  );
  return rows[0] ?? null;
}

/** Returns the workspace with single sign-on that a domain is verified in; null if there is none. */
export async function findProviderOfDomain(
  database: Database,
  domain: string,
): Promise<{ workspaceId: string; workspaceName: string } | null> {
  const { rows } = await database.pool.query<{ workspaceId: string; workspaceName: string }>(
    'select workspace_id as "workspaceId", workspace_name as "workspaceName" from provider_of_domain($1)',
    [domain],
  );
  return rows[0] ?? null;
}

/**
 * Stores the single sign-on of a workspace, and ends the sessions that it started by another issuer. Without a secret, the stored one stays, if
 * the issuer does: returns false otherwise.
 */
export function storeProvider(
  database: Database,
  { secretCiphertext, ...row }: Omit<ProviderRow, 'secretCiphertext'> & { secretCiphertext: string | null },
  origin: Origin,
): Promise<boolean> {
  const values = [
    row.workspaceId,
    row.issuer,
    row.clientId,
    secretCiphertext,
    row.isRequired,
    row.trustsAddresses,
    row.groupsClaim,
    JSON.stringify(row.groupRoles),
    row.defaultRole,
  ];
  const set = `issuer = $2, client_id = $3, secret_ciphertext = coalesce($4, p.secret_ciphertext), is_required = $5, trusts_addresses = $6,
    groups_claim = $7, group_roles = $8, default_role = $9, updated_at = now()`;
  return inTransaction(database, async (client) => {
    await client.query('select set_config($1, $2, true)', [ORIGIN_SETTING, JSON.stringify(origin)]);
    const previous = await client.query<{ issuer: string }>(
      'select issuer from sign_in_provider where workspace_id = $1 for update',
      [row.workspaceId],
    );
    const isSame = previous.rows[0]?.issuer === row.issuer;
    if (secretCiphertext === null) {
      // A secret goes to the issuer that it was entered for only.
      if (!isSame) return false;
      await client.query(`update sign_in_provider p set ${set} where workspace_id = $1`, values);
      return true;
    }
    await client.query(
      `insert into sign_in_provider as p (workspace_id, issuer, client_id, secret_ciphertext, is_required, trusts_addresses, groups_claim,
         group_roles, default_role) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (workspace_id) do update set ${set}`,
      values,
    );
    if (!isSame) await client.query('delete from auth_session where provider_id = $1', [row.workspaceId]);
    return true;
  });
}

/** Removes the single sign-on of a workspace, and the sessions that it started. */
export function removeProvider(database: Database, workspaceId: string, origin: Origin): Promise<void> {
  return inTransaction(database, async (client) => {
    await client.query('select set_config($1, $2, true)', [ORIGIN_SETTING, JSON.stringify(origin)]);
    await client.query('delete from sign_in_provider where workspace_id = $1', [workspaceId]);
    await client.query('delete from auth_session where provider_id = $1', [workspaceId]);
  });
}

export type ProviderOutcome =
  | 'signed in'
  | 'no workspace'
  | 'other domain'
  | 'no role'
  | 'closed'
  | 'other subject'
  | 'too many members';

/** Whom a provider names. */
export interface ProvidedPerson {
  /** issuer and subject */
  accountId: string;
  /** lower case */
  email: string;
  name: string;
  /** IDs for what is created */
  personId: string;
  credentialId: string;
}

/** Returns the workspace that the person with that address owns; null if there is none. */
export async function findWorkspaceOfOwner(database: Database, email: string): Promise<string | null> {
  const { rows } = await database.pool.query<{ id: string | null }>('select workspace_of_owner($1) as id', [email]);
  return rows[0]?.id ?? null;
}

/** Finds or creates the person whom the provider of a workspace, or that of the service, names, as a member of the workspace. */
export async function signInByProvider(
  database: Database,
  workspaceId: string,
  person: ProvidedPerson & {
    role: InvitedRole | null;
    isMapped: boolean;
    keepsKeys: boolean;
    maxMembers: number;
    isOfService: boolean;
  },
): Promise<{ outcome: ProviderOutcome; personId: string | null }> {
  const { rows } = await database.pool.query<{ outcome: ProviderOutcome; personId: string | null }>(
    'select outcome, person_id as "personId" from sign_in_by_provider($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
    [
      workspaceId,
      person.accountId,
      person.email,
      person.name,
      person.role,
      person.isMapped,
      person.keepsKeys,
      person.personId,
      person.credentialId,
      person.maxMembers,
      person.isOfService,
    ],
  );
  return rows[0] ?? { outcome: 'no workspace', personId: null };
}

/** Finds or creates the person whom the provider of the service names. */
export async function signInByServiceProvider(
  database: Database,
  { accountId, email, name, personId, credentialId }: ProvidedPerson,
): Promise<{ outcome: ProviderOutcome; personId: string | null }> {
  const { rows } = await database.pool.query<{ outcome: ProviderOutcome; personId: string | null }>(
    'select outcome, person_id as "personId" from sign_in_by_service_provider($1, $2, $3, $4, $5)',
    [accountId, email, name, personId, credentialId],
  );
  return rows[0] ?? { outcome: 'closed', personId: null };
}

/** Stores what a sign-in that was started needs when the provider sends its person back. */
export async function storeStartedSignIn(
  database: Database,
  started: { id: string; identifier: string; value: string; expiresAt: Date },
): Promise<void> {
  await database.pool.query(
    'insert into auth_verification (id, identifier, value, expires_at) values ($1, $2, $3, $4)',
    [started.id, started.identifier, started.value, started.expiresAt],
  );
}

/** Takes what was stored, so that it can be used once; null if there is none, or it has expired at `now`. */
export async function takeStartedSignIn(database: Database, identifier: string, now: Date): Promise<string | null> {
  const { rows } = await database.pool.query<{ value: string; isOpen: boolean }>(
    'delete from auth_verification where identifier = $1 returning value, expires_at > $2 as "isOpen"',
    [identifier, now],
  );
  const [row] = rows;
  return row?.isOpen === true ? row.value : null;
}
