import type { Transaction } from 'kysely';
import { hasRoleRight } from '../../core/accounts/rights.ts';
import type { InvitedRole } from '../../core/accounts/roles.ts';
import { isObject, type ScimDocument, ScimError } from '../../core/accounts/scim/schema.ts';
import { chooseRole } from '../../core/accounts/sign-in.ts';
import type { Tables } from '../../db/entities/tables.ts';
import type { KeyLimits } from '../../db/queries/accounts/api-key.ts';
import { removeMember } from '../../db/queries/accounts/member.ts';
import * as rows from '../../db/queries/accounts/scim.ts';
import { newIdentifier, type OperationContext } from '../context.ts';
import { MAX_MEMBERS } from './invitations.ts';

/*
 * The members that follow from users of SCIM. A user is a member while it is active, has an address in a domain that the workspace has verified,
 * and has a role by its groups, as in single sign-on.
 */

/** The role of members where the workspace has no single sign-on that maps groups to roles. */
const ROLE_WITHOUT_MAPPING: InvitedRole = 'viewer';
/** Characters. */
const MAX_NAME = 100;

/** What decides about the membership of a user. */
type State = Pick<rows.ScimUserRow, 'isActive' | 'address'> & { role: InvitedRole | null; isMapped: boolean };

/** What ends with members and their keys. */
export interface Ended {
  limits: { keyIds: string[]; disabledEndpoints: KeyLimits['disabledEndpoints'] };
  unassigned: string[];
  /** persons whose sessions ended in all workspaces */
  persons: string[];
}

/** Returns the state of a user in these groups. Without single sign-on, each user has the role of the fewest rights. */
export function computeState(
  { isActive, address }: Pick<rows.ScimUserRow, 'isActive' | 'address'>,
  groups: readonly string[],
  mapping: rows.RoleMapping | null,
): State {
  const chosen = mapping === null ? { role: ROLE_WITHOUT_MAPPING, isMapped: false } : chooseRole(groups, mapping);
  return { isActive, address, ...chosen };
}

export async function readStates(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
  mapping: rows.RoleMapping | null,
): Promise<Map<string, State>> {
  const groups = new Map<string, string[]>();
  for (const { memberId: id, name } of await rows.listGroupsOfUsers(transaction, workspaceId, ids))
    groups.set(id, [...(groups.get(id) ?? []), name]);
  const users = await rows.findScimUsers(transaction, workspaceId, ids);
  return new Map(users.map((user) => [user.id, computeState(user, groups.get(user.id) ?? [], mapping)]));
}

/** Settles the members of users whose groups changed. */
export async function settleAll(
  context: OperationContext,
  transaction: Transaction<Tables>,
  { before, mapping }: { before: ReadonlyMap<string, State>; mapping: rows.RoleMapping | null },
  ended: Ended,
): Promise<void> {
  const after = await readStates(transaction, context.workspaceId, [...before.keys()], mapping);
  const users = await rows.findScimUsers(transaction, context.workspaceId, [...before.keys()]);
  for (const user of users) {
    const [previous, present] = [before.get(user.id), after.get(user.id)];
    if (previous === undefined || present === undefined) continue;
    if (previous.role === present.role && previous.isMapped === present.isMapped) continue;
    await settle(context, transaction, { user, before: previous, after: present }, ended);
  }
}

/**
 * Makes the member what a user says. A member whom an admin removed by hand comes back only when the directory changes something that decides
 * about it. Throws ScimError.
 */
export async function settle(
  context: OperationContext,
  transaction: Transaction<Tables>,
  { user, before, after }: { user: rows.ScimUserRow; before: State | null; after: State },
  ended: Ended,
): Promise<void> {
  const { workspaceId } = context;
  const { address, role } = after;
  const isWanted = after.isActive && address !== null && role !== null;
  const isRenamed = before !== null && before.address !== address;
  const previous = { ...user, address: before?.address ?? address };
  if (user.personId !== null && (!isWanted || isRenamed)) {
    const isSamePerson =
      isWanted && user.madePerson && (await rows.renameProvisioned(transaction, workspaceId, user.personId, address));
    if (!isSamePerson)
      await endMembership(transaction, workspaceId, previous, { ended, keepsOwner: after.isActive && !isRenamed });
  } else if (before?.isActive === true && !after.isActive)
    await endMembership(transaction, workspaceId, previous, { ended, keepsOwner: false });
  if (user.madePerson && user.personId !== null && isWanted)
    await rows.nameProvisioned(transaction, workspaceId, user.personId, chooseName(user.document));
  if (!isWanted) return;
  const isSame =
    before !== null &&
    before.isActive &&
    !isRenamed &&
    before.role === role &&
    before.isMapped === after.isMapped &&
    user.personId !== null;
  if (isSame) return;
  const provisioned = await rows.provisionMember(transaction, workspaceId, {
    email: address,
    name: chooseName(user.document),
    role,
    // A role that an admin gave by hand stays, unless groups decide or decided about it.
    setsRole: after.isMapped || (before?.isMapped ?? false),
    keepsKeys: hasRoleRight(role, 'keys'),
    newPersonId: newIdentifier(context, 'user'),
    most: MAX_MEMBERS,
  });
  if (provisioned.outcome !== 'member' || provisioned.personId === null) throw notProvisioned(provisioned.outcome);
  addEnded(ended, provisioned.limits);
  if (provisioned.hasLostSignIn) ended.persons.push(provisioned.personId);
  await rows.linkScimUser(transaction, workspaceId, {
    id: user.id,
    personId: provisioned.personId,
    madePerson: provisioned.isNew || (user.madePerson && user.personId === provisioned.personId),
  });
}

function notProvisioned(outcome: rows.ProvisionOutcome): ScimError {
  switch (outcome) {
    case 'too many members':
      return new ScimError(400, 'tooMany', `A workspace has at most ${MAX_MEMBERS} members.`);
    case 'closed':
      return new ScimError(409, null, 'The account with this address is being erased. Try again when that is done.');
    case 'other domain':
      return new ScimError(400, 'invalidValue', 'The domain of the address is not verified in this workspace.');
    case 'no workspace':
    case 'member':
      return new ScimError(404, null, 'The workspace is closed.');
  }
}

/**
 * Ends the membership of a user, with the sessions and keys in the workspace; also of a member with that address who came another way. Throws
 * ScimError for the owner, or with `keepsOwner` changes nothing.
 */
export async function endMembership(
  transaction: Transaction<Tables>,
  workspaceId: string,
  user: rows.ScimUserRow,
  { ended, keepsOwner }: { ended: Ended; keepsOwner: boolean },
): Promise<void> {
  if (user.address !== null) await rows.withdrawInvitations(transaction, workspaceId, user.address);
  const personId =
    user.personId ??
    (user.address === null ? null : await rows.findMemberNamed(transaction, workspaceId, user.address));
  if (personId === null) return;
  const removed = await removeMember(transaction, workspaceId, personId, { keepsKeys: false, by: null, byKeyId: null });
  if (removed.outcome === 'owner' && keepsOwner) return;
  if (removed.outcome === 'owner')
    throw new ScimError(
      409,
      null,
      'This user owns the workspace, which always has an owner. Transfer the ownership to another member first.',
    );
  addEnded(ended, removed.limits);
  ended.unassigned.push(...removed.unassigned);
  await rows.linkScimUser(transaction, workspaceId, { id: user.id, personId: null, madePerson: false });
}

function addEnded(ended: Ended, { keyIds, disabledEndpoints }: KeyLimits): void {
  ended.limits.keyIds.push(...keyIds);
  ended.limits.disabledEndpoints.push(...disabledEndpoints);
}

/** Returns the name of a new account. */
function chooseName({ displayName, name }: ScimDocument): string {
  const parts = isObject(name) ? name : {};
  const joined = [parts['givenName'], parts['familyName']].filter((part) => typeof part === 'string').join(' ');
  const formatted = parts['formatted'];
  const chosen = typeof displayName === 'string' ? displayName : typeof formatted === 'string' ? formatted : joined;
  return chosen.trim().slice(0, MAX_NAME).toWellFormed();
}
