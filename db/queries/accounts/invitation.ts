import { sql, type Transaction } from 'kysely';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { InvitedRole } from '../../../core/accounts/roles.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import { limitsSql, type MemberLimits, type MemberRights } from './member.ts';

/** An invitation of a workspace, without its token. */
export interface InvitationRow {
  id: string;
  /** lower case */
  email: string;
  role: InvitedRole;
  isApprover: boolean;
  limits: MemberLimits | null;
  /** the person; null: an API key */
  invitedBy: string | null;
  /** name or address of the person; null: unknown */
  invitedByName: string | null;
  createdAt: Date;
  /** when the present link was sent */
  sentAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
  acceptedAt: Date | null;
  /** whether the present link has expired */
  isOver: boolean;
}

/** Returns the newest invitations of the workspace, up to `limit`. */
export async function listInvitations(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { limit, now }: { limit: number; now: Date },
): Promise<InvitationRow[]> {
  const { rows } = await sql<InvitationRow>`
    select ${columns} from invitations_of(${workspaceId}, ${now}) order by id desc limit ${limit}`.execute(transaction);
  return rows;
}

/** Returns an invitation of the workspace; null if it has none with this ID. */
export async function findInvitation(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, now }: { id: string; now: Date },
): Promise<InvitationRow | null> {
  const { rows } = await sql<InvitationRow>`
    select ${columns} from invitations_of(${workspaceId}, ${now}) where id = ${id}`.execute(transaction);
  return rows[0] ?? null;
}

const columns = sql`id, email, role, is_approver as "isApprover", ${limitsSql} as limits, invited_by as "invitedBy",
  invited_by_name as "invitedByName", created_at as "createdAt", sent_at as "sentAt", expires_at as "expiresAt",
  revoked_at as "revokedAt", accepted_at as "acceptedAt", is_over as "isOver"`;

export interface NewInvitation extends MemberRights {
  id: string;
  /** lower case */
  email: string;
  tokenSha256: Buffer;
  /** whether the inviter is given the link, and no mail has it */
  isHanded: boolean;
  /** the person; null: an API key */
  invitedBy: string | null;
  /** null: a person */
  setByKeyId: string | null;
  /** scopes that the key must keep while the invitation is open */
  neededScopes: readonly Scope[];
  now: Date;
  expiresAt: Date;
}

type InsertOutcome = 'made' | 'no workspace' | 'more rights' | 'member' | 'invited' | 'too many';

/** Stores an invitation, unless the workspace has `most` members and open invitations. */
export async function insertInvitation(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, email, role, isApprover, limits, tokenSha256, isHanded, ...by }: NewInvitation,
  most: number,
): Promise<InsertOutcome> {
  const { rows } = await sql<{ outcome: InsertOutcome }>`
    select create_invitation(${workspaceId}, ${id}, ${email}, ${role}, ${isApprover}, ${limits?.domainIds ?? null}::text[],
      ${limits?.addresses ?? null}::text[], ${tokenSha256}, ${isHanded}, ${by.invitedBy}, ${by.setByKeyId},
      ${by.neededScopes}::text[], ${by.expiresAt}, ${by.now}, ${most}) as outcome`.execute(transaction);
  return requireOutcome(rows);
}

type RenewOutcome = 'sent' | 'no invitation' | 'accepted' | 'revoked' | 'too soon' | 'more rights';

/** Gives an open invitation a new token; the previous one stops working. Who is given the link is its inviter from then on. */
export async function renewInvitation(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, tokenSha256, isHanded, ...by }: Omit<NewInvitation, 'email' | keyof MemberRights>,
): Promise<RenewOutcome> {
  const { rows } = await sql<{ outcome: RenewOutcome }>`
    select renew_invitation(${workspaceId}, ${id}, ${tokenSha256}, ${isHanded}, ${by.invitedBy}, ${by.setByKeyId},
      ${by.neededScopes}::text[], ${by.expiresAt}, ${by.now}) as outcome`.execute(transaction);
  return requireOutcome(rows);
}

/** Revokes an invitation that was not accepted. */
export async function revokeInvitation(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<'revoked' | 'no invitation' | 'accepted'> {
  const { rows } = await sql<{ outcome: 'revoked' | 'no invitation' | 'accepted' }>`
    select revoke_invitation(${workspaceId}, ${id}, ${now}) as outcome`.execute(transaction);
  return requireOutcome(rows);
}

function requireOutcome<Outcome extends string>([row]: readonly { outcome: Outcome | null }[]): Outcome {
  if (row?.outcome == null) throw new Error('invitations change only in the workspace of the transaction');
  return row.outcome;
}

/** What the holder of an invitation's link sees. */
export interface PresentedInvitation {
  email: string;
  workspaceId: string;
  workspaceName: string;
  role: InvitedRole;
  invitedByName: string | null;
  expiresAt: Date;
  state: 'open' | 'expired' | 'revoked' | 'accepted';
  /** whether a person with the address can sign in */
  hasAccount: boolean;
  /** whether the inviter was given the link, so that it does not prove the address */
  isHanded: boolean;
}

/** Returns the invitation with this token; null if there is none. Role postroom_auth. */
export async function findPresentedInvitation(
  database: Database,
  tokenSha256: Buffer,
  now: Date,
): Promise<PresentedInvitation | null> {
  const { rows } = await database.pool.query<PresentedInvitation>({
    name: 'invitation-of-token',
    text: `select email, workspace_id as "workspaceId", workspace_name as "workspaceName", role, invited_by_name as "invitedByName",
             expires_at as "expiresAt", state, has_account as "hasAccount", is_handed as "isHanded" from invitation_of_token($1, $2)`,
    values: [tokenSha256, now],
  });
  return rows[0] ?? null;
}

/** See accept_invitation. */
export type AcceptOutcome =
  | 'joined'
  | 'no invitation'
  | 'no session'
  | 'other address'
  | 'accepted'
  | 'revoked'
  | 'expired'
  | 'member';

/**
 * Makes the person of a session a member by an invitation, and its workspace the active one of the session. Role postroom_auth.
 */
export async function acceptInvitation(
  database: Database,
  { tokenSha256, sessionId, now }: { tokenSha256: Buffer; sessionId: string; now: Date },
): Promise<{ outcome: AcceptOutcome; workspaceId: string | null; personId: string | null }> {
  const { rows } = await database.pool.query<{
    outcome: AcceptOutcome;
    workspaceId: string | null;
    personId: string | null;
  }>({
    name: 'accept-invitation',
    text: `select outcome, workspace_id as "workspaceId", person_id as "personId" from accept_invitation($1, $2, $3)`,
    values: [tokenSha256, sessionId, now],
  });
  return rows[0] ?? { outcome: 'no invitation', workspaceId: null, personId: null };
}
