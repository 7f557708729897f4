import { sql, type Transaction } from 'kysely';
import { type Picture, type PictureType, picturePath } from '../../../core/accounts/picture.ts';
import type { InvitedRole, Role } from '../../../core/accounts/roles.ts';
import type { Tables } from '../../entities/tables.ts';
import type { KeyLimits } from './api-key.ts';
import { LAST_REQUESTS_MS } from './erase-account.ts';

/** What a member or an invitation is limited to; null: nothing. */
export interface MemberLimits {
  domainIds: readonly string[];
  /** lower case */
  addresses: readonly string[];
}

/** A member of a workspace. */
export interface MemberRow {
  personId: string;
  email: string;
  name: string;
  /** path of the picture, see picturePath; null: none */
  image: string | null;
  role: Role;
  isApprover: boolean;
  limits: MemberLimits | null;
  joinedAt: Date;
  /** number of API keys that the member created and that are not revoked */
  keys: number;
}

/** Returns the members of the workspace, the owner first, then by the time that they joined. */
export async function listMembers(transaction: Transaction<Tables>, workspaceId: string): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`
    select person_id as "personId", email, name, image, role, is_approver as "isApprover", ${limitsSql} as limits,
      joined_at as "joinedAt", keys
    from members_of(${workspaceId}) order by role = 'owner' desc, joined_at, person_id`.execute(transaction);
  return rows.map((row) => ({ ...row, image: picturePath(row.personId, row.image) }));
}

export const limitsSql = sql`case when domain_ids is not null
  then jsonb_build_object('domainIds', to_jsonb(domain_ids), 'addresses', to_jsonb(addresses)) end`;

/** What a member gets. */
export interface MemberRights {
  role: InvitedRole;
  isApprover: boolean;
  limits: MemberLimits | null;
}

/** What happens to the API keys of a member who may create none any more. */
export interface KeysOfMember {
  /** whether they stay; they are then those of `by` */
  keepsKeys: boolean;
  /** the person who changes or removes the member; null: a key that no person created does */
  by: string | null;
  /** the key with which the person does; null: a session */
  byKeyId: string | null;
}

/** The outcome, and what ended of the member's keys. */
export interface MemberOutcome<Outcome extends string> {
  outcome: Outcome;
  limits: KeyLimits;
  /** threads that the member may not read any more, which are assigned to none now */
  unassigned: string[];
}

interface OutcomeColumns<Outcome> {
  outcome: Outcome;
  unassigned: string[];
  limited: string[];
  disabled: KeyLimits['disabledEndpoints'];
}

/** Gives a member of the transaction's workspace a role. The keys of a member end if the new role `mayHaveKeys` not. */
export async function changeMember(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personId: string,
  {
    role,
    isApprover,
    limits,
    mayHaveKeys,
    keepsKeys,
    by,
    byKeyId,
  }: MemberRights & KeysOfMember & { mayHaveKeys: boolean },
): Promise<MemberOutcome<'changed' | 'no member' | 'owner'>> {
  const { rows } = await sql<OutcomeColumns<'changed' | 'no member' | 'owner'>>`
    select outcome, limited, disabled, unassigned from change_member(${workspaceId}, ${personId}, ${role}, ${isApprover},
      ${limits?.domainIds ?? null}::text[], ${limits?.addresses ?? null}::text[], ${mayHaveKeys}, ${keepsKeys}, ${by},
      ${byKeyId})`.execute(transaction);
  return readOutcome(rows);
}

/** Returns those of the domains that the workspace has. */
export async function findOwnDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const found = await transaction
    .selectFrom('domain')
    .select('name')
    .where('workspace_id', '=', workspaceId)
    .where('name', 'in', names)
    .execute();
  return found.map(({ name }) => name);
}

/** Removes a member of the transaction's workspace, and ends the member's sessions in it. */
export async function removeMember(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personId: string,
  { keepsKeys, by, byKeyId }: KeysOfMember,
): Promise<MemberOutcome<'removed' | 'no member' | 'owner'>> {
  const { rows } = await sql<OutcomeColumns<'removed' | 'no member' | 'owner'>>`
    select outcome, limited, disabled, unassigned from remove_member(${workspaceId}, ${personId}, ${keepsKeys}, ${by}, ${byKeyId},
      ${LAST_REQUESTS_MS} * interval '1 millisecond')`.execute(transaction);
  return readOutcome(rows);
}

function readOutcome<Outcome extends string>([row]: readonly OutcomeColumns<Outcome>[]): MemberOutcome<Outcome> {
  if (row === undefined) throw new Error('members change only in the workspace of the transaction');
  const limits = { keyIds: row.limited, disabledEndpoints: row.disabled };
  return { outcome: row.outcome, limits, unassigned: row.unassigned };
}

/**
 * Makes a member the owner, and `by`, the owner until now, an admin. Keys of customers' workspaces and the SCIM token, which only an owner may
 * set up, end, or with `keepsKeys` go to the new owner.
 */
export async function transferOwnership(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { personId, by, keepsKeys }: { personId: string; by: string; keepsKeys: boolean },
): Promise<'transferred' | 'no member' | 'no owner'> {
  const { rows } = await sql<{ outcome: 'transferred' | 'no member' | 'no owner' | null }>`
    select transfer_ownership(${workspaceId}, ${personId}, ${by}, ${keepsKeys}) as outcome`.execute(transaction);
  const outcome = rows[0]?.outcome ?? null;
  if (outcome === null) throw new Error('members change only in the workspace of the transaction');
  return outcome;
}

/** The person of a request. */
export interface PersonRow {
  id: string;
  email: string;
  name: string;
  /** path of the picture, see picturePath; null: none */
  image: string | null;
  workspaceName: string;
  /** whether the workspace has other members */
  isInTeam: boolean;
}

/** Returns a member of the transaction's workspace; null if the person is none. */
export async function readPerson(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personId: string,
): Promise<PersonRow | null> {
  const { rows } = await sql<PersonRow>`
    select id, email, name, image, workspace_name as "workspaceName", is_in_team as "isInTeam" from person_of(${workspaceId}, ${personId})`.execute(
    transaction,
  );
  const [row = null] = rows;
  return row && { ...row, image: picturePath(row.id, row.image) };
}

/** The picture of a member. */
export interface MemberPicture {
  mediaType: PictureType;
  content: Buffer;
  /** the first 16 digits of its SHA-256 */
  version: string;
}

/** Returns the picture of a member of the transaction's workspace; null: the member has none, or the person is no member. */
export async function readMemberPicture(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personId: string,
): Promise<MemberPicture | null> {
  const { rows } = await sql<MemberPicture>`
    select media_type as "mediaType", content, version from picture_of_member(${workspaceId}, ${personId})`.execute(
    transaction,
  );
  return rows[0] ?? null;
}

/** Replaces the picture of a member of the transaction's workspace; null removes it. Returns whether the person is a member. */
export async function setMemberPicture(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personId: string,
  picture: Picture | null,
): Promise<boolean> {
  const content = picture === null ? null : Buffer.from(picture.bytes);
  const { rows } = await sql<{ done: boolean }>`
    select set_member_picture(${workspaceId}, ${personId}, ${picture?.mediaType ?? null}, ${content}) as done`.execute(
    transaction,
  );
  return rows[0]?.done === true;
}

/** The workspace of a request. */
export interface WorkspaceRow {
  id: string;
  name: string;
  createdAt: Date;
  /** number of members */
  members: number;
}

/** Returns the workspace of the transaction; null after it was erased. */
export async function readWorkspace(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<WorkspaceRow | null> {
  const { rows } = await sql<WorkspaceRow>`
    select id, name, created_at as "createdAt", members from workspace_of(${workspaceId})`.execute(transaction);
  return rows[0] ?? null;
}

/** Returns whether the workspace is open. */
export async function renameWorkspace(
  transaction: Transaction<Tables>,
  workspaceId: string,
  name: string,
): Promise<boolean> {
  const { rows } = await sql<{ done: boolean }>`select rename_workspace(${workspaceId}, ${name}) as done`.execute(
    transaction,
  );
  return rows[0]?.done === true;
}
