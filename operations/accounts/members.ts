import type { Transaction } from 'kysely';
import {
  MAX_PICTURE_BYTES,
  MAX_PICTURE_SIDE,
  type Picture,
  type PictureFault,
  readPicture as parsePicture,
} from '../../core/accounts/picture.ts';
import { hasRight, hasRoleRight, isLimitableRight, RIGHTS, type Right } from '../../core/accounts/rights.ts';
import { type InvitedRole, LIMITABLE_ROLES, type Role } from '../../core/accounts/roles.ts';
import { canonicalAddress, canonicalDomainName } from '../../core/domains/domain-name.ts';
import { decodeBase64 } from '../../core/sending/outgoing-attachments.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import { findKeyDomain } from '../../db/queries/accounts/api-key.ts';
import * as rows from '../../db/queries/accounts/member.ts';
import { findRequester } from '../../db/queries/accounts/member-name.ts';
import { assignedEvent } from '../../db/queries/threads/thread-assignee.ts';
import { invalid, isValidId, type OperationContext } from '../context.ts';
import { publishLimits } from './api-keys.ts';
import { countAttempt } from './count-attempts.ts';
import { requireFreshSignIn } from './fresh-sign-in.ts';
import { announceLimits } from './key-grants.ts';
import { withFullAccess } from './key-reach.ts';

/** A member of the workspace. */
export interface Member extends rows.MemberRow {
  /** whether this is the person of the request */
  isYou: boolean;
}

/** Domains and addresses that a member can be limited to. */
export const MAX_LIMITS = 100;
/** Per minute and person. */
export const MAX_PICTURE_CHANGES = 10;
/** Characters. */
export const MAX_WORKSPACE_NAME_LENGTH = 100;

/** The rights that a member, or the receiver of an invitation, gets. */
export interface GivenRights {
  role: InvitedRole;
  isApprover?: boolean | null | undefined;
  /** IDs or names of the only domains; null or omitted together with addresses: all */
  domains?: readonly string[] | null | undefined;
  addresses?: readonly string[] | null | undefined;
}

/** The person of a request, and what the person may do in the workspace. */
export interface Person extends rows.PersonRow {
  role: Role;
  isApprover: boolean;
  rights: Right[];
  isLimited: boolean;
}

/** Returns the person of the session of a request; null for API keys. */
export async function readPerson({ database, workspaceId, rights, caller }: OperationContext): Promise<Person | null> {
  const { personId, role, isApprover, reach } = rights;
  if (caller.via !== 'session' || personId === null || role === null) return null;
  const row = await asWorkspace(database, workspaceId, (transaction) =>
    rows.readPerson(transaction, workspaceId, personId),
  );
  if (row === null) return null;
  return {
    ...row,
    role,
    isApprover,
    isLimited: reach !== null,
    rights: (Object.keys(RIGHTS) as Right[]).filter(
      (right) => hasRight(rights, right) && (reach === null || isLimitableRight(right)),
    ),
  };
}

/** Returns the members of the workspace, the owner first. */
export async function listMembers({ database, workspaceId, rights }: OperationContext): Promise<Member[]> {
  const members = await asWorkspace(database, workspaceId, (transaction) => rows.listMembers(transaction, workspaceId));
  return members.map((member) => ({ ...member, isYou: member.personId === rights.personId }));
}

/** Throws not_found. */
async function readMember(context: OperationContext, personId: string): Promise<Member> {
  const member = (await listMembers(context)).find((each) => each.personId === personId);
  if (member === undefined) throw memberNotFound();
  return member;
}

/**
 * Gives a member another role, or other limits. A role that cannot create API keys revokes the keys of the member, or with `keepsKeys`
 * gives them to the person of the request. Throws not_found, validation, forbidden, conflict.
 */
export async function changeMember(
  context: OperationContext,
  personId: string,
  { keepsKeys = false, ...given }: GivenRights & { keepsKeys?: boolean | undefined },
): Promise<Member> {
  requireGiven(context, given);
  requireFreshSignIn(context, 'change a member');
  const mayHaveKeys = hasRoleRight(given.role, 'keys');
  await changeMembers(context, async (transaction) => {
    const changed = await rows.changeMember(transaction, context.workspaceId, validId(personId), {
      ...(await resolveRights(context, transaction, given)),
      mayHaveKeys,
      keepsKeys,
      ...findKeeper(context),
    });
    if (changed.outcome === 'no member') throw memberNotFound();
    if (changed.outcome === 'owner') throw ownerStays('The owner keeps the role owner');
    return changed;
  });
  return readMember(context, personId);
}

/**
 * Removes a member: the member's sessions in the workspace end, and the API keys that the member created are revoked, or with `keepsKeys`
 * given to the person of the request. Throws not_found, conflict.
 */
export async function removeMember(
  context: OperationContext,
  personId: string,
  { keepsKeys }: { keepsKeys: boolean },
): Promise<void> {
  requireFreshSignIn(context, 'remove a member');
  await changeMembers(context, async (transaction) => {
    const keys = { keepsKeys, ...findKeeper(context) };
    const removed = await rows.removeMember(transaction, context.workspaceId, validId(personId), keys);
    if (removed.outcome === 'no member') throw memberNotFound();
    if (removed.outcome === 'owner') throw ownerStays('The owner cannot be removed');
    return removed;
  });
}

/** Removes the person of the request from the workspace. Throws forbidden for API keys, conflict for the owner. */
export async function leaveWorkspace(context: OperationContext, workspaceId: string): Promise<void> {
  const { personId } = requirePerson(context, 'leave a workspace');
  if (workspaceId !== context.workspaceId)
    throw invalid('This session is in another workspace. Switch to the one to leave first.', 'workspaceId');
  await changeMembers(withFullAccess(context), async (transaction) => {
    const left = await rows.removeMember(transaction, context.workspaceId, personId, {
      keepsKeys: false,
      by: null,
      byKeyId: null,
    });
    if (left.outcome === 'no member') throw memberNotFound();
    if (left.outcome === 'owner') throw ownerStays('The owner cannot leave');
    return left;
  });
}

/** Who takes over the keys of a member. */
function findKeeper({ rights }: OperationContext): Pick<rows.KeysOfMember, 'by' | 'byKeyId'> {
  return { by: rights.personId, byKeyId: rights.keyId };
}

/**
 * Makes a member the owner; the owner until now becomes an admin. Keys of customers' workspaces that the owner created, itself or with a key, and
 * the SCIM token end, or with `keepsKeys` go to the new owner. Throws not_found, forbidden, conflict.
 */
export async function transferOwnership(
  context: OperationContext,
  personId: string,
  { keepsKeys }: { keepsKeys: boolean },
): Promise<Member> {
  await readMember(context, personId);
  const { personId: by } = requirePerson(context, 'transfer a workspace');
  requireFreshSignIn(context, 'transfer the workspace');
  await changeMembers(context, async (transaction) => {
    const transfer = { personId: validId(personId), by, keepsKeys };
    const outcome = await rows.transferOwnership(transaction, context.workspaceId, transfer);
    if (outcome === 'no member') throw memberNotFound();
    if (outcome === 'no owner')
      throw new UserError('conflict', 'You are not the owner of this workspace any more', { isFinal: true });
    return { limits: { keyIds: [], disabledEndpoints: [] }, unassigned: [] };
  });
  return readMember(context, personId);
}

/** Throws not_found after the workspace was closed. */
export async function readWorkspace({ database, workspaceId }: OperationContext): Promise<rows.WorkspaceRow> {
  const workspace = await asWorkspace(database, workspaceId, (transaction) =>
    rows.readWorkspace(transaction, workspaceId),
  );
  if (workspace === null) throw new UserError('not_found', 'The workspace is closed');
  return workspace;
}

/** Throws validation, not_found. */
export async function renameWorkspace(context: OperationContext, given: string): Promise<rows.WorkspaceRow> {
  const { database, workspaceId } = context;
  const name = given.trim();
  if (name === '' || name.length > MAX_WORKSPACE_NAME_LENGTH)
    throw invalid(`The name of a workspace has 1 to ${MAX_WORKSPACE_NAME_LENGTH} characters`, 'name');
  await asWorkspace(database, workspaceId, (transaction) => rows.renameWorkspace(transaction, workspaceId, name));
  return readWorkspace(context);
}

/** Returns the picture of a member, for those who see the member beside what the member did. Throws not_found. */
export async function readPicture(context: OperationContext, personId: string): Promise<rows.MemberPicture> {
  const { database, workspaceId } = context;
  const picture = isValidId(personId)
    ? await asWorkspace(database, workspaceId, (transaction) =>
        rows.readMemberPicture(transaction, workspaceId, personId),
      )
    : null;
  if (picture === null) throw new UserError('not_found', 'Picture not found');
  return picture;
}

/** What is wrong with a picture, by its fault. */
const PICTURE_FAULTS: Readonly<Record<PictureFault, string>> = {
  type: 'A picture must be a JPEG, PNG or WebP file',
  damaged: 'The picture is incomplete or damaged. Save it again in an image program.',
  animated: 'A picture must not be an animation',
  large: `A picture has at most ${MAX_PICTURE_SIDE} pixels on each side. Make it smaller.`,
};

/**
 * Replaces the picture of the person of the request by one in base64, in all of the person's workspaces; null removes it. Returns its path. Throws
 * validation, forbidden for API keys, rate_limited.
 */
export async function setPicture(context: OperationContext, content: string | null): Promise<string | null> {
  const { personId } = requirePerson(context, 'have a picture', 'Settings');
  const picture = content === null ? null : readContent(content);
  const { database, workspaceId } = withFullAccess(context);
  await countAttempt(context, {
    kind: `picture:${personId}`,
    limit: MAX_PICTURE_CHANGES,
    what: 'Changes of a picture',
  });
  const person = await asWorkspace(database, workspaceId, async (transaction) =>
    (await rows.setMemberPicture(transaction, workspaceId, personId, picture))
      ? rows.readPerson(transaction, workspaceId, personId)
      : null,
  );
  if (person === null) throw memberNotFound();
  return person.image;
}

function readContent(content: string): Picture {
  if (content.length > Math.ceil(MAX_PICTURE_BYTES / 3) * 4)
    throw invalid(`A picture has at most ${MAX_PICTURE_BYTES / 1_024} KB. Make it smaller.`, 'content');
  const bytes = decodeBase64(content);
  if (bytes === null) throw invalid('The content of the picture must be base64', 'content');
  const picture = parsePicture(bytes);
  if (typeof picture === 'string') throw invalid(PICTURE_FAULTS[picture], 'content');
  return picture;
}

/** Returns the events of threads that were taken from a member. */
async function unassignedEvents(
  { workspaceId, rights }: OperationContext,
  transaction: Transaction<Tables>,
  threadIds: readonly string[],
): Promise<ReturnType<typeof assignedEvent>[]> {
  if (threadIds.length === 0) return [];
  const by = await findRequester(transaction, workspaceId, rights);
  return threadIds.map((threadId) => assignedEvent(threadId, null, by));
}

/**
 * Runs a change of members in one transaction, announces what ended with it, and makes all gateways forget the rights of the workspace. Throws
 * what `change` throws.
 */
export async function changeMembers(
  context: OperationContext,
  change: (transaction: Transaction<Tables>) => Promise<Pick<rows.MemberOutcome<string>, 'limits' | 'unassigned'>>,
): Promise<void> {
  const { database, workspaceId, bus } = context;
  const lastSeq = await asWorkspace(database, workspaceId, async (transaction) => {
    const { limits, unassigned } = await change(transaction);
    const events = await unassignedEvents(context, transaction, unassigned);
    const seq = await announceLimits(context, transaction, { ...limits, ofMembers: true }, events);
    context.fault?.('members.before-commit');
    return seq;
  });
  context.fault?.('members.after-commit');
  context.forgetCredentials(workspaceId);
  bus.publish('credential.changed', { ownerId: workspaceId });
  publishLimits(context, lastSeq);
}

/**
 * Checks what a request gives to a member: no right that the request lacks, and limits for roles that can have some. Throws forbidden,
 * validation.
 */
export function requireGiven(
  { rights }: OperationContext,
  { role, isApprover, domains, addresses }: GivenRights,
): void {
  const missing = rightsGiven({ role, isApprover }).find((right) => !hasRight(rights, right));
  if (missing !== undefined)
    throw moreRights(`The role ${role} has the right ${missing}, which this request does not have.`);
  if ((domains != null || addresses != null) && !LIMITABLE_ROLES.includes(role))
    throw invalid(
      `The role ${role} cannot be limited. ${LIMITABLE_ROLES.join(' and ')} can be limited to domains and addresses.`,
      domains == null ? 'addresses' : 'domains',
    );
}

/** Returns all rights of a role, and of an approver. */
export function rightsGiven({ role, isApprover }: Pick<GivenRights, 'role' | 'isApprover'>): Right[] {
  const given = (Object.keys(RIGHTS) as Right[]).filter((right) => hasRoleRight(role, right));
  return isApprover === true ? [...given, 'approve'] : given;
}

/** Returns the error for a request that gives rights which it does not have. */
export function moreRights(message: string): UserError {
  return new UserError('forbidden', message, { title: 'Forbidden', reason: 'MORE_RIGHTS' });
}

/** Returns the rights to store, with the domains by their IDs. Throws validation. */
export async function resolveRights(
  { workspaceId }: OperationContext,
  transaction: Transaction<Tables>,
  { role, isApprover, domains, addresses }: GivenRights,
): Promise<rows.MemberRights> {
  const rights = { role, isApprover: isApprover ?? false };
  if (domains == null && addresses == null) return { ...rights, limits: null };
  const count = (domains?.length ?? 0) + (addresses?.length ?? 0);
  if (count === 0) throw invalid('Give a domain or an address, or omit both for access to all', 'domains');
  if (count > MAX_LIMITS)
    throw invalid(`A member can be limited to at most ${MAX_LIMITS} domains and addresses`, 'domains');
  const domainIds = new Set<string>();
  for (const domain of domains ?? []) {
    const found = await findKeyDomain(transaction, workspaceId, domain, canonicalDomainName(domain));
    if (found === null) throw invalid(`You have no domain ${domain}`, 'domains');
    domainIds.add(found.id);
  }
  const mailboxes = (addresses ?? []).map((given) => {
    const mailbox = canonicalAddress(given);
    if (mailbox === null) throw invalid(`${given} is not a valid email address. Use name@example.com.`, 'addresses');
    return mailbox;
  });
  const own = await rows.findOwnDomains(transaction, workspaceId, [...new Set(mailboxes.map(({ domain }) => domain))]);
  const foreign = mailboxes.find(({ domain }) => !own.includes(domain));
  if (foreign !== undefined)
    throw invalid(
      `You have no domain ${foreign.domain}, so there is no mail for ${foreign.address}. Use an address of one of your domains.`,
      'addresses',
    );
  const limits = { domainIds: [...domainIds], addresses: [...new Set(mailboxes.map(({ address }) => address))] };
  return { ...rights, limits };
}

/** Returns the person of the request. Throws forbidden for API keys. `what` completes "API keys cannot …". */
function requirePerson(
  { rights, caller }: OperationContext,
  what: string,
  page = 'Members',
): { personId: string; role: Role } {
  const { personId, role } = rights;
  if (caller.via !== 'session' || personId === null || role === null)
    throw new UserError('forbidden', `API keys cannot ${what}. Sign in to the dashboard, and open ${page}.`);
  return { personId, role };
}

function validId(personId: string): string {
  if (!isValidId(personId)) throw memberNotFound();
  return personId;
}

function memberNotFound(): UserError {
  return new UserError('not_found', 'Member not found');
}

/** `what` is the first sentence. */
function ownerStays(what: string): UserError {
  return new UserError(
    'conflict',
    `${what}: a workspace always has an owner. Transfer the ownership to another member first, or close the workspace.`,
    { reason: 'LAST_OWNER', isFinal: true },
  );
}
