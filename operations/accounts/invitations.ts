import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import { hashInvitationToken, INVITATION_LIFE_MS, invitationUrl } from '../../core/accounts/auth-secret.ts';
import { RIGHTS } from '../../core/accounts/rights.ts';
import type { InvitedRole } from '../../core/accounts/roles.ts';
import { invitationMail } from '../../core/accounts/system-account.ts';
import { outgoingMailbox } from '../../core/sending/outgoing-addresses.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import * as rows from '../../db/queries/accounts/invitation.ts';
import { listMembers as listMemberRows, readWorkspace } from '../../db/queries/accounts/member.ts';
import { isHostedName } from '../../db/queries/domains/domain-list.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { countAttempt } from './count-attempts.ts';
import { requireFreshSignIn } from './fresh-sign-in.ts';
import { type GivenRights, moreRights, requireGiven, resolveRights, rightsGiven } from './members.ts';

export const INVITATION_STATUSES = ['open', 'expired', 'revoked', 'accepted'] as const;

/** An invitation to the workspace. */
export interface Invitation extends rows.InvitationRow {
  /** whether it can be accepted, and if not, why */
  status: (typeof INVITATION_STATUSES)[number];
}

/** Members and open invitations of a workspace. */
export const MAX_MEMBERS = 500;
/** Invitations that the list has, the newest ones. */
export const MAX_LISTED_INVITATIONS = 500;
const TOKEN_BYTES = 32;
/** Invitation mails per day: their recipients may never have asked for one, and they are sent in the name of the service. @limit */
export const MAX_MAILS = 500;
/** @limit */
export const MAX_MAILS_TO_ADDRESS = 10;

/** Returns the newest invitations of the workspace. */
export async function listInvitations(context: OperationContext): Promise<Invitation[]> {
  const { database, workspaceId } = context;
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    rows.listInvitations(transaction, workspaceId, { limit: MAX_LISTED_INVITATIONS, now: context.now() }),
  );
  return found.map(withStatus);
}

/** Throws not_found. */
async function readInvitation(context: OperationContext, id: string): Promise<Invitation> {
  const { database, workspaceId } = context;
  const row = await asWorkspace(database, workspaceId, (transaction) =>
    rows.findInvitation(transaction, workspaceId, { id, now: context.now() }),
  );
  if (row === null) throw invitationNotFound();
  return withStatus(row);
}

/** An invitation whose link was sent now. */
export interface SentInvitation extends Invitation {
  /** the link for the inviter to hand over; null: it was mailed */
  acceptUrl: string | null;
}

/**
 * Invites an address to the workspace, and mails it a link that works once, for 7 days. Where Postroom stores the mail of the address, who reads
 * it there could join, so the mail has no link, and the inviter gets it. If the service stops before the mail is stored, the invitation is there and
 * can be sent again. Throws validation, forbidden, conflict, rate_limited.
 */
export async function createInvitation(
  context: OperationContext,
  { email, ...given }: GivenRights & { email: string },
): Promise<SentInvitation> {
  requireGiven(context, given);
  requireFreshSignIn(context, 'invite a person');
  const mailbox = outgoingMailbox({ name: null, address: email.trim() });
  if (mailbox === null) throw invalid('`email` is not a valid email address. Use `name@example.com`.', 'email');
  const address = mailbox.address.toLowerCase();
  const id = newIdentifier(context, 'invitation');
  const link = makeLink(context);
  const isHanded = await changeInvitations(context, async (transaction) => {
    const invitation = {
      id,
      email: address,
      ...(await resolveRights(context, transaction, given)),
      ...(await readInviter(context, transaction, { ...given, email: address })),
      ...link.stored,
    };
    switch (await rows.insertInvitation(transaction, context.workspaceId, invitation, MAX_MEMBERS)) {
      case 'made':
        await countMail(context, transaction, address);
        return invitation.isHanded;
      case 'no workspace':
        throw new UserError('unauthorized', 'Authentication required');
      case 'more rights':
        throw lostRights();
      case 'member':
        throw conflict(`${address} is a member already`, 'ALREADY_MEMBER');
      case 'invited':
        throw conflict(`${address} is invited already. Send that invitation again, or revoke it.`, 'ALREADY_INVITED');
      case 'too many':
        throw conflict(`A workspace has at most ${MAX_MEMBERS} members and open invitations`, 'TOO_MANY_MEMBERS');
    }
  });
  await mailLink(context, address, given.role, isHanded ? null : link.url);
  return { ...(await readInvitation(context, id)), acceptUrl: isHanded ? link.url : null };
}

/**
 * Makes a new link, for 7 days from now, and mails it or returns it as createInvitation does; the previous link stops working. Who gets it could have
 * made the invitation. Throws not_found, forbidden, conflict, rate_limited.
 */
export async function resendInvitation(context: OperationContext, id: string): Promise<SentInvitation> {
  requireId(id);
  const held = await readInvitation(context, id);
  const link = makeLink(context);
  const isHanded = await changeInvitations(context, async (transaction) => {
    const renewal = { id, ...(await readInviter(context, transaction, held)), ...link.stored };
    if (renewal.isHanded) {
      requireGiven(context, { role: held.role, isApprover: held.isApprover });
      requireFreshSignIn(context, 'get the link of an invitation');
    }
    switch (await rows.renewInvitation(transaction, context.workspaceId, renewal)) {
      case 'sent':
        await countMail(context, transaction, held.email);
        return renewal.isHanded;
      case 'no invitation':
        throw invitationNotFound();
      case 'more rights':
        throw lostRights();
      case 'accepted':
        throw conflict('The invitation was accepted', 'INVITATION_ACCEPTED');
      case 'revoked':
        throw conflict('The invitation was revoked. Create a new one.', 'INVITATION_REVOKED');
      case 'too soon':
        throw conflict('The invitation was sent within the last minute. Send it again later.', 'INVITATION_JUST_SENT');
    }
  });
  const invitation = await readInvitation(context, id);
  await mailLink(context, invitation.email, invitation.role, isHanded ? null : link.url);
  return { ...invitation, acceptUrl: isHanded ? link.url : null };
}

/** Revokes an invitation, whose link stops working. Repeating it changes nothing. Throws not_found, conflict. */
export async function revokeInvitation(context: OperationContext, id: string): Promise<Invitation> {
  requireId(id);
  await changeInvitations(context, async (transaction) => {
    switch (await rows.revokeInvitation(transaction, context.workspaceId, id, context.now())) {
      case 'revoked':
        return;
      case 'no invitation':
        throw invitationNotFound();
      case 'accepted':
        throw conflict('The invitation was accepted. Remove the member instead.', 'INVITATION_ACCEPTED');
    }
  });
  return readInvitation(context, id);
}

/** Counts the mail of a change that is made in the same transaction. Throws rate_limited. */
async function countMail(context: OperationContext, transaction: Transaction<Tables>, address: string): Promise<void> {
  const kind = `invitation:${createHash('sha256').update(address).digest('base64url')}`;
  const per = 'day';
  const ofAddress = { kind, limit: MAX_MAILS_TO_ADDRESS, what: 'Invitations of one address', per } as const;
  await countAttempt(context, ofAddress, transaction);
  await countAttempt(context, { kind: 'invitations', limit: MAX_MAILS, what: 'Invitations', per }, transaction);
}

async function changeInvitations<Result>(
  context: OperationContext,
  change: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const result = await asWorkspace(context.database, context.workspaceId, async (transaction) => {
    const changed = await change(transaction);
    context.fault?.('invitations.before-commit');
    return changed;
  });
  context.fault?.('invitations.after-commit');
  return result;
}

/** Returns whose invitation it is by a link that is made now, and whether that inviter is given the link. */
async function readInviter(
  { rights }: OperationContext,
  transaction: Transaction<Tables>,
  { email, role, isApprover }: Pick<GivenRights, 'role' | 'isApprover'> & { email: string },
) {
  // Inviting needs the right members beside those of the role.
  const needed = ['manage', ...rightsGiven({ role, isApprover }).map((right) => RIGHTS[right].scope)] as const;
  return {
    isHanded: await isHostedName(transaction, email.slice(email.lastIndexOf('@') + 1)),
    invitedBy: rights.personId,
    setByKeyId: rights.keyId,
    neededScopes: [...new Set(needed)],
  };
}

function makeLink({ random, now, settings }: OperationContext) {
  const token = Buffer.from(random(TOKEN_BYTES)).toString('base64url');
  return {
    url: invitationUrl(settings.publicUrl, token),
    stored: {
      tokenSha256: hashInvitationToken(token),
      now: now(),
      expiresAt: new Date(now().getTime() + INVITATION_LIFE_MS),
    },
  };
}

async function mailLink(
  { database, workspaceId, rights, sendServiceMail }: OperationContext,
  email: string,
  role: InvitedRole,
  link: string | null,
): Promise<void> {
  const { workspace, inviter } = await asWorkspace(database, workspaceId, async (transaction) => {
    const members = rights.personId === null ? [] : await listMemberRows(transaction, workspaceId);
    const found = members.find(({ personId }) => personId === rights.personId);
    return { workspace: await readWorkspace(transaction, workspaceId), inviter: found };
  });
  const invitedBy = inviter === undefined ? null : inviter.name || inviter.email;
  await sendServiceMail(invitationMail(email, { link, workspaceName: workspace?.name ?? '', invitedBy, role }));
}

function withStatus(row: rows.InvitationRow): Invitation {
  const status =
    row.acceptedAt !== null ? 'accepted' : row.revokedAt !== null ? 'revoked' : row.isOver ? 'expired' : 'open';
  return { ...row, status };
}

function requireId(id: string): void {
  if (!isValidId(id)) throw invitationNotFound();
}

function invitationNotFound(): UserError {
  return new UserError('not_found', 'Invitation not found');
}

function lostRights(): UserError {
  return moreRights('This API key has lost rights that the role has.');
}

function conflict(message: string, reason: string): UserError {
  return new UserError('conflict', message, { reason, isFinal: true });
}
