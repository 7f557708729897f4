import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { InvitedRole } from '../../../core/accounts/roles.ts';
import type { ScimFilter } from '../../../core/accounts/scim/filter.ts';
import type { ScimDocument } from '../../../core/accounts/scim/schema.ts';
import type { GroupRole } from '../../../core/accounts/sign-in.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import type { KeyLimits } from './api-key.ts';
import { scimFilterSql } from './scim-filter.ts';

/* What a directory provisions by SCIM. All but the owner of a token runs in a transaction of the workspace. */

/** Returns the workspace of a token; null if the token is unknown, or its workspace is closed or suspended. */
export async function findScimToken(
  database: Database,
  secretSha256: Buffer,
): Promise<{ workspaceId: string; tokenId: string } | null> {
  const { rows } = await database.pool.query<{ workspaceId: string; tokenId: string }>({
    name: 'scim-token-owner',
    text: 'select workspace_id as "workspaceId", token_id as "tokenId" from scim_token_owner($1)',
    values: [secretSha256],
  });
  return rows[0] ?? null;
}

/** The token of the workspace, without its secret. */
export interface ScimTokenRow {
  id: string;
  name: string;
  hint: string;
  createdAt: Date;
  /** address of the person; null: no member any more */
  createdBy: string | null;
  lastUsedAt: Date | null;
}

export async function readScimToken(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<ScimTokenRow | null> {
  const { rows } = await sql<ScimTokenRow>`
    select id, name, hint, created_at as "createdAt", last_used_at as "lastUsedAt",
      (select n.email from members_named(${workspaceId}, array[created_by]) n) as "createdBy"
    from scim_token where workspace_id = ${workspaceId}`.execute(transaction);
  return rows[0] ?? null;
}

/** Stores the token of the workspace, in place of the previous one. */
export async function storeScimToken(
  transaction: Transaction<Tables>,
  workspaceId: string,
  token: { id: string; name: string; secretSha256: Buffer; hint: string; createdBy: string; now: Date },
): Promise<void> {
  const { id, name, secretSha256, hint, createdBy, now } = token;
  await sql`delete from scim_token where workspace_id = ${workspaceId}`.execute(transaction);
  await sql`insert into scim_token (workspace_id, id, name, secret_sha256, hint, created_at, created_by)
    values (${workspaceId}, ${id}, ${name}, ${secretSha256}, ${hint}, ${now}, ${createdBy})`.execute(transaction);
}

/** Returns whether the workspace had this token. */
export async function removeScimToken(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const { numAffectedRows = 0n } =
    await sql`delete from scim_token where workspace_id = ${workspaceId} and id = ${id}`.execute(transaction);
  return numAffectedRows > 0n;
}

/** Numbers of what the directory has provisioned. `waiting`: active users who are no members. */
export async function countScim(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<{ users: number; groups: number; waiting: number }> {
  const { rows } = await sql<{ users: number; groups: number; waiting: number }>`
    select count(*)::integer as users, count(*) filter (where is_active and person_id is null)::integer as waiting,
      (select count(*)::integer from scim_group where workspace_id = ${workspaceId}) as groups
    from scim_user where workspace_id = ${workspaceId}`.execute(transaction);
  return rows[0] ?? { users: 0, groups: 0, waiting: 0 };
}

/** The roles that the single sign-on of the workspace gives. */
export interface RoleMapping {
  groupRoles: GroupRole[];
  defaultRole: InvitedRole | null;
}

/** Locks users and groups until the transaction ends. Returns the roles of groups; null: the workspace has no single sign-on. */
export async function beginScimChange(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<RoleMapping | null> {
  const { rows } = await sql<RoleMapping>`
    select group_roles as "groupRoles", default_role as "defaultRole" from begin_scim_change(${workspaceId})`.execute(
    transaction,
  );
  return rows[0] ?? null;
}

/** A resource as it is stored. */
export interface ScimRow {
  id: string;
  document: ScimDocument;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export interface ScimUserRow extends ScimRow {
  userName: string;
  address: string | null;
  isActive: boolean;
  personId: string | null;
  madePerson: boolean;
}

const userColumns = sql`id, document, version, created_at as "createdAt", updated_at as "updatedAt", user_name as "userName", address,
  is_active as "isActive", person_id as "personId", made_person as "madePerson"`;
const groupColumns = sql`id, document, version, created_at as "createdAt", updated_at as "updatedAt"`;

export interface ScimPage {
  filter: ScimFilter | null;
  offset: number;
  limit: number;
}

/** Returns a page of users, oldest first, and how many match. */
export async function pageScimUsers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { filter, offset, limit }: ScimPage,
): Promise<{ rows: ScimUserRow[]; total: number }> {
  const where = sql`from scim_user r where r.workspace_id = ${workspaceId} and ${filter === null ? sql`true` : scimFilterSql(filter)}`;
  return readPage<ScimUserRow>(transaction, userColumns, where, { offset, limit });
}

/** Returns a page of groups, oldest first, and how many match. */
export async function pageScimGroups(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { filter, offset, limit }: ScimPage,
): Promise<{ rows: ScimRow[]; total: number }> {
  const where = sql`from scim_group r where r.workspace_id = ${workspaceId} and ${filter === null ? sql`true` : scimFilterSql(filter)}`;
  return readPage<ScimRow>(transaction, groupColumns, where, { offset, limit });
}

async function readPage<Row>(
  transaction: Transaction<Tables>,
  columns: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ rows: Row[]; total: number }> {
  const counted = await sql<{ total: number }>`select count(*)::integer as total ${where}`.execute(transaction);
  const { rows } =
    limit === 0
      ? { rows: [] }
      : await sql<Row>`select ${columns} ${where} order by created_at, id offset ${offset} limit ${limit}`.execute(
          transaction,
        );
  return { rows, total: counted.rows[0]?.total ?? 0 };
}

export async function findScimUsers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<ScimUserRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<ScimUserRow>`
    select ${userColumns} from scim_user where workspace_id = ${workspaceId} and id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows;
}

/** Returns the ID of another user with that name or address; null if there is none. */
export async function findScimUserNamed(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, userName, address }: { id: string; userName: string; address: string | null },
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select id from scim_user where workspace_id = ${workspaceId} and id <> ${id} and (user_name = ${userName} or address = ${address}) limit 1`.execute(
    transaction,
  );
  return rows[0]?.id ?? null;
}

export async function findScimGroup(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<ScimRow | null> {
  const { rows } = await sql<ScimRow>`
    select ${groupColumns} from scim_group where workspace_id = ${workspaceId} and id = ${id}`.execute(transaction);
  return rows[0] ?? null;
}

/** Returns whether a domain is verified in the workspace. */
export async function isOwnDomain(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domain: string,
): Promise<boolean> {
  const { rows } =
    await sql`select from verified_domain_name where workspace_id = ${workspaceId} and name = ${domain}`.execute(
      transaction,
    );
  return rows.length > 0;
}

/** Stores a user; its version counts on. */
export async function storeScimUser(
  transaction: Transaction<Tables>,
  workspaceId: string,
  user: ScimUserRow,
): Promise<void> {
  await sql`
    insert into scim_user (workspace_id, id, user_name, address, is_active, document, person_id, made_person, version, created_at, updated_at)
    values (${workspaceId}, ${user.id}, ${user.userName}, ${user.address}, ${user.isActive}, ${JSON.stringify(user.document)}::jsonb,
      ${user.personId}, ${user.madePerson}, ${user.version}, ${user.createdAt}, ${user.updatedAt})
    on conflict (workspace_id, id) do update set user_name = excluded.user_name, address = excluded.address, is_active = excluded.is_active,
      document = excluded.document, person_id = excluded.person_id, made_person = excluded.made_person, version = excluded.version,
      updated_at = excluded.updated_at`.execute(transaction);
}

export async function storeScimGroup(
  transaction: Transaction<Tables>,
  workspaceId: string,
  group: ScimRow,
): Promise<void> {
  await sql`
    insert into scim_group (workspace_id, id, document, version, created_at, updated_at)
    values (${workspaceId}, ${group.id}, ${JSON.stringify(group.document)}::jsonb, ${group.version}, ${group.createdAt}, ${group.updatedAt})
    on conflict (workspace_id, id) do update set document = excluded.document, version = excluded.version,
      updated_at = excluded.updated_at`.execute(transaction);
}

export async function removeScimUser(transaction: Transaction<Tables>, workspaceId: string, id: string): Promise<void> {
  await sql`delete from scim_group_member where workspace_id = ${workspaceId} and member_id = ${id}`.execute(
    transaction,
  );
  await sql`delete from scim_user where workspace_id = ${workspaceId} and id = ${id}`.execute(transaction);
}

export async function removeScimGroup(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<void> {
  await sql`delete from scim_group_member where workspace_id = ${workspaceId} and group_id = ${id}`.execute(
    transaction,
  );
  await sql`delete from scim_group where workspace_id = ${workspaceId} and id = ${id}`.execute(transaction);
}

/** Notes whom a user made a member. */
export async function linkScimUser(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, personId, madePerson }: { id: string; personId: string | null; madePerson: boolean },
): Promise<void> {
  await sql`update scim_user set person_id = ${personId}, made_person = ${madePerson} where workspace_id = ${workspaceId} and id = ${id}`.execute(
    transaction,
  );
}

/** Returns the IDs of users in each of these groups. */
export async function listGroupMembers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  groupIds: readonly string[],
): Promise<{ groupId: string; memberId: string }[]> {
  if (groupIds.length === 0) return [];
  const { rows } = await sql<{ groupId: string; memberId: string }>`
    select group_id as "groupId", member_id as "memberId" from scim_group_member
    where workspace_id = ${workspaceId} and group_id = any (${groupIds}::text[]) order by group_id, member_id`.execute(
    transaction,
  );
  return rows;
}

/** Returns how many users each of these groups has. */
export async function countGroupMembers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  groupIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ groupId: string; count: number }>`
    select group_id as "groupId", count(*)::integer as count from scim_group_member
    where workspace_id = ${workspaceId} and group_id = any (${groupIds}::text[]) group by group_id`.execute(
    transaction,
  );
  return new Map(rows.map(({ groupId, count }) => [groupId, count]));
}

/** Replaces the users of a group. */
export async function storeGroupMembers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  groupId: string,
  memberIds: readonly string[],
): Promise<void> {
  await sql`
    delete from scim_group_member where workspace_id = ${workspaceId} and group_id = ${groupId} and member_id <> all (${memberIds}::text[])`.execute(
    transaction,
  );
  await sql`
    insert into scim_group_member (workspace_id, group_id, member_id)
    select ${workspaceId}, ${groupId}, m from unnest(${memberIds}::text[]) m on conflict do nothing`.execute(
    transaction,
  );
}

/** Returns the groups of these users, by their names. */
export async function listGroupsOfUsers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<{ memberId: string; groupId: string; name: string }[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ memberId: string; groupId: string; name: string }>`
    select m.member_id as "memberId", g.id as "groupId", g.document->>'displayName' as name
    from scim_group_member m join scim_group g on g.workspace_id = ${workspaceId} and g.id = m.group_id
    where m.workspace_id = ${workspaceId} and m.member_id = any (${ids}::text[]) order by name, g.id`.execute(
    transaction,
  );
  return rows;
}

/** See provision_member in scim.sql. */
export type ProvisionOutcome = 'member' | 'no workspace' | 'other domain' | 'closed' | 'too many members';

export interface Provisioned {
  outcome: ProvisionOutcome;
  personId: string | null;
  isNew: boolean;
  /** whether the sessions of the person ended, because no one had proved the address */
  hasLostSignIn: boolean;
  limits: KeyLimits;
}

/** Makes the person with an address a member, and creates the person if there is none. */
export async function provisionMember(
  transaction: Transaction<Tables>,
  workspaceId: string,
  member: {
    email: string;
    name: string;
    role: InvitedRole;
    setsRole: boolean;
    keepsKeys: boolean;
    newPersonId: string;
    most: number;
  },
): Promise<Provisioned> {
  const { email, name, role, setsRole, keepsKeys, newPersonId, most } = member;
  const { rows } = await sql<{
    outcome: ProvisionOutcome;
    personId: string | null;
    isNew: boolean;
    hasLostSignIn: boolean;
    limited: string[];
    disabled: KeyLimits['disabledEndpoints'];
  }>`
    select outcome, person_id as "personId", is_new as "isNew", has_lost_sign_in as "hasLostSignIn", limited, disabled
    from provision_member(${workspaceId}, ${email}, ${name}, ${role}, ${setsRole}, ${keepsKeys}, ${newPersonId}, ${most})`.execute(
    transaction,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('members are provisioned only in the workspace of the transaction');
  const { limited, disabled, ...rest } = row;
  return { ...rest, limits: { keyIds: limited, disabledEndpoints: disabled } };
}

/** Returns whether a person whom the directory created got another address, see rename_provisioned in scim.sql. */
export async function renameProvisioned(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personId: string,
  email: string,
): Promise<boolean> {
  const { rows } = await sql<{
    done: boolean;
  }>`select rename_provisioned(${workspaceId}, ${personId}, ${email}) as done`.execute(transaction);
  return rows[0]?.done === true;
}

/** Gives a person whom the directory created another name. */
export async function nameProvisioned(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personId: string,
  name: string,
): Promise<void> {
  await sql`select name_provisioned(${workspaceId}, ${personId}, ${name})`.execute(transaction);
}

/** Returns the member with an address; null if there is none. */
export async function findMemberNamed(
  transaction: Transaction<Tables>,
  workspaceId: string,
  address: string,
): Promise<string | null> {
  const { rows } = await sql<{ personId: string }>`
    select person_id as "personId" from members_named(${workspaceId}, array[${address}::text])`.execute(transaction);
  return rows[0]?.personId ?? null;
}

export async function withdrawInvitations(
  transaction: Transaction<Tables>,
  workspaceId: string,
  email: string,
): Promise<void> {
  await sql`select withdraw_invitations(${workspaceId}, ${email})`.execute(transaction);
}
