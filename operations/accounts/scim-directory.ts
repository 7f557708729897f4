import type { Transaction } from 'kysely';
import { hasRoleRight } from '../../core/accounts/rights.ts';
import type { InvitedRole } from '../../core/accounts/roles.ts';
import type { ScimFilter } from '../../core/accounts/scim/filter.ts';
import { patchScimDocument } from '../../core/accounts/scim/patch.ts';
import {
  GROUP_TYPE,
  isObject,
  MAX_SCIM_USERS,
  readScimDocument,
  type ScimDocument,
  ScimError,
  USER_TYPE,
} from '../../core/accounts/scim/schema.ts';
import { chooseRole } from '../../core/accounts/sign-in.ts';
import { canonicalAddress } from '../../core/domains/domain-name.ts';
import { asUser } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import type { KeyLimits } from '../../db/queries/accounts/api-key.ts';
import { removeMember } from '../../db/queries/accounts/member.ts';
import * as rows from '../../db/queries/accounts/scim.ts';
import { isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { MAX_MEMBERS } from './invitations.ts';
import { changeMembers } from './members.ts';

/*
 * Users and groups of SCIM. A user is a member while it is active, has an address in a domain that the workspace has verified, and has a role by
 * its groups, as in single sign-on. What a request changes, and the members that follow from it, are one transaction.
 */

/** Groups of a workspace. @limit */
const MAX_SCIM_GROUPS = 500;
/** Users that the groups of one page show together. A page ends before it has more, but has at least one group. @limit */
const MAX_SHOWN_MEMBERS = 5_000;
/** Groups that a user shows. @limit */
const MAX_SHOWN_GROUPS = 100;
/** The role of members where the workspace has no single sign-on that maps groups to roles. */
const ROLE_WITHOUT_MAPPING: InvitedRole = 'viewer';
/** Characters. */
const MAX_NAME = 100;

/** A user or group to show. */
export interface ScimResource {
  id: string;
  document: ScimDocument;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export interface ScimQuery {
  filter: ScimFilter | null;
  /** of the first resource, from 0 */
  offset: number;
  limit: number;
  /** whether the groups of users, or the members of groups, are shown */
  withMembers: boolean;
}

export interface ScimResult {
  resources: ScimResource[];
  total: number;
}

/** A change of a resource. `version` is that which the client has seen; null: any. */
export interface ScimChange {
  kind: 'replace' | 'patch';
  body: unknown;
  version: number | null;
}

type State = Pick<rows.ScimUserRow, 'isActive' | 'address'> & { role: InvitedRole | null; isMapped: boolean };

/** Returns a page of users, oldest first. */
export async function listScimUsers({ database, userId }: OperationContext, query: ScimQuery): Promise<ScimResult> {
  return asUser(database, userId, async (transaction) => {
    const { rows: users, total } = await rows.pageScimUsers(transaction, userId, query);
    return { resources: query.withMembers ? await withGroups(transaction, userId, users) : users, total };
  });
}

/** Throws ScimError. */
export async function readScimUser({ database, userId }: OperationContext, id: string): Promise<ScimResource> {
  return asUser(database, userId, async (transaction) => {
    const [user] = await withGroups(transaction, userId, [await requireUser(transaction, userId, id)]);
    return user ?? notFound('User', id);
  });
}

/** Creates a user, and a member if it is active and has an address and a role. Throws ScimError. */
export async function createScimUser(context: OperationContext, body: unknown): Promise<ScimResource> {
  const { userId, now } = context;
  const document = readScimDocument(USER_TYPE, body);
  return changeDirectory(context, async (transaction, mapping, ended) => {
    const { total } = await rows.pageScimUsers(transaction, userId, { filter: null, offset: 0, limit: 0 });
    if (total >= MAX_SCIM_USERS) throw tooMany(`A workspace has at most ${MAX_SCIM_USERS} users.`);
    const user: rows.ScimUserRow = {
      id: newIdentifier(context, 'scimUser'),
      version: 1,
      createdAt: now(),
      updatedAt: now(),
      personId: null,
      madePerson: false,
      ...(await describeUser(transaction, userId, document, null)),
    };
    await requireUnique(transaction, userId, user);
    await rows.storeScimUser(transaction, userId, user);
    await settle(context, transaction, { user, before: null, after: stateOf(user, [], mapping) }, ended);
    return user;
  });
}

/** Replaces or patches a user. Throws ScimError. */
export async function changeScimUser(context: OperationContext, id: string, change: ScimChange): Promise<ScimResource> {
  const { userId, now } = context;
  return changeDirectory(context, async (transaction, mapping, ended) => {
    const held = await requireUser(transaction, userId, id);
    requireVersion(held, change);
    const document = applyChange(USER_TYPE, held.document, change);
    const user: rows.ScimUserRow = {
      ...held,
      ...(await describeUser(transaction, userId, document, held)),
      version: held.version + 1,
      updatedAt: now(),
    };
    await requireUnique(transaction, userId, user);
    await rows.storeScimUser(transaction, userId, user);
    const groups = (await rows.listGroupsOfUsers(transaction, userId, [id])).map(({ name }) => name);
    const before = stateOf(held, groups, mapping);
    await settle(context, transaction, { user, before, after: stateOf(user, groups, mapping) }, ended);
    const [shown] = await withGroups(transaction, userId, [user]);
    return shown ?? user;
  });
}

/** Removes a user, and its membership. Throws ScimError. */
export async function removeScimUser(context: OperationContext, id: string, version: number | null): Promise<void> {
  const { userId } = context;
  await changeDirectory(context, async (transaction, _mapping, ended) => {
    const user = await requireUser(transaction, userId, id);
    requireVersion(user, { version });
    await endMembership(transaction, userId, user, { ended, keepsOwner: false });
    await rows.removeScimUser(transaction, userId, id);
    return user;
  });
}

/** Returns a page of groups, oldest first. */
export async function listScimGroups({ database, userId }: OperationContext, query: ScimQuery): Promise<ScimResult> {
  return asUser(database, userId, async (transaction) => {
    const { rows: groups, total } = await rows.pageScimGroups(transaction, userId, query);
    if (!query.withMembers) return { resources: groups, total };
    const counts = await rows.countGroupMembers(
      transaction,
      userId,
      groups.map(({ id }) => id),
    );
    let shown = 0;
    const fitting = groups.filter((group, index) => {
      shown += counts.get(group.id) ?? 0;
      return index === 0 || shown <= MAX_SHOWN_MEMBERS;
    });
    return { resources: await withUsers(transaction, userId, fitting), total };
  });
}

/** Throws ScimError. */
export async function readScimGroup({ database, userId }: OperationContext, id: string): Promise<ScimResource> {
  return asUser(database, userId, async (transaction) => {
    const [group] = await withUsers(transaction, userId, [await requireGroup(transaction, userId, id)]);
    return group ?? notFound('Group', id);
  });
}

/** Creates a group, and gives its users the role that it is mapped to. Throws ScimError. */
export async function createScimGroup(context: OperationContext, body: unknown): Promise<ScimResource> {
  const { userId, now } = context;
  const document = readScimDocument(GROUP_TYPE, body);
  return changeDirectory(context, async (transaction, mapping, ended) => {
    const { total } = await rows.pageScimGroups(transaction, userId, { filter: null, offset: 0, limit: 0 });
    if (total >= MAX_SCIM_GROUPS) throw tooMany(`A workspace has at most ${MAX_SCIM_GROUPS} groups.`);
    const group = { id: newIdentifier(context, 'scimGroup'), version: 1, createdAt: now(), updatedAt: now(), document };
    return storeGroup(context, transaction, { group, formerIds: [], mapping }, ended);
  });
}

/** Replaces or patches a group. Throws ScimError. */
export async function changeScimGroup(
  context: OperationContext,
  id: string,
  change: ScimChange,
): Promise<ScimResource> {
  const { userId, now } = context;
  return changeDirectory(context, async (transaction, mapping, ended) => {
    const held = await requireGroup(transaction, userId, id);
    requireVersion(held, change);
    const formerIds = (await rows.listGroupMembers(transaction, userId, [id])).map(({ memberId }) => memberId);
    const whole = { ...held.document, ...membersOf(formerIds) };
    const document = applyChange(GROUP_TYPE, whole, change);
    const group = { ...held, document, version: held.version + 1, updatedAt: now() };
    return storeGroup(context, transaction, { group, formerIds, mapping }, ended);
  });
}

/** Removes a group; its users lose the role that it gave them. Throws ScimError. */
export async function removeScimGroup(context: OperationContext, id: string, version: number | null): Promise<void> {
  const { userId } = context;
  await changeDirectory(context, async (transaction, mapping, ended) => {
    const group = await requireGroup(transaction, userId, id);
    requireVersion(group, { version });
    const memberIds = (await rows.listGroupMembers(transaction, userId, [id])).map(({ memberId }) => memberId);
    const before = await statesOf(transaction, userId, memberIds, mapping);
    await rows.removeScimGroup(transaction, userId, id);
    await settleAll(context, transaction, { before, mapping }, ended);
    return group;
  });
}

/** What ends with members and their keys. */
interface Ended {
  limits: { keyIds: string[]; disabledEndpoints: KeyLimits['disabledEndpoints'] };
  unassigned: string[];
  /** persons whose sessions ended in all workspaces */
  persons: string[];
}

/** Runs a change of the directory and of the members that follow from it. */
async function changeDirectory<Result>(
  context: OperationContext,
  change: (transaction: Transaction<Tables>, mapping: rows.RoleMapping | null, ended: Ended) => Promise<Result>,
): Promise<Result> {
  const ended: Ended = { limits: { keyIds: [], disabledEndpoints: [] }, unassigned: [], persons: [] };
  let result: Result | undefined;
  await changeMembers(context, async (transaction) => {
    const mapping = await rows.beginScimChange(transaction, context.userId);
    result = await change(transaction, mapping, ended);
    return ended;
  });
  for (const userId of ended.persons) {
    context.forgetCredentials(userId);
    context.bus.publish('credential.changed', { userId });
  }
  return result as Result;
}

function applyChange(
  type: typeof USER_TYPE,
  held: ScimDocument,
  { kind, body }: Pick<ScimChange, 'kind' | 'body'>,
): ScimDocument {
  return readScimDocument(type, kind === 'replace' ? body : patchScimDocument(type, held, body));
}

/**
 * Returns the columns of a user. An address that stays is not checked again, so that a user can be deactivated after its domain is gone. Throws
 * ScimError for an address that is not one of the workspace.
 */
async function describeUser(
  transaction: Transaction<Tables>,
  userId: string,
  document: ScimDocument,
  held: rows.ScimUserRow | null,
): Promise<Pick<rows.ScimUserRow, 'document' | 'userName' | 'address' | 'isActive'>> {
  const userName = String(document['userName']);
  const isActive = document['active'] !== false;
  const described = { document, userName: userName.toLowerCase(), isActive };
  const named = canonicalAddress(userName);
  if (named !== null) {
    if (named.address !== held?.address && !(await rows.isOwnDomain(transaction, userId, named.domain)))
      throw new ScimError(
        400,
        'invalidValue',
        `The domain ${named.domain} of userName is not verified in this workspace. Add it under Domains first.`,
      );
    return { ...described, address: named.address };
  }
  const email = canonicalAddress(primaryEmail(document) ?? '');
  const isOwn =
    email !== null && (email.address === held?.address || (await rows.isOwnDomain(transaction, userId, email.domain)));
  return { ...described, address: isOwn ? email.address : null };
}

function primaryEmail({ emails }: ScimDocument): string | null {
  const values = Array.isArray(emails) ? emails.filter(isObject) : [];
  const chosen = values.find((each) => each['primary'] === true) ?? values[0];
  return typeof chosen?.['value'] === 'string' ? chosen['value'] : null;
}

/** Throws ScimError with status 409. */
async function requireUnique(transaction: Transaction<Tables>, userId: string, user: rows.ScimUserRow): Promise<void> {
  if ((await rows.findScimUserNamed(transaction, userId, user)) === null) return;
  throw new ScimError(409, 'uniqueness', 'Another user has this userName or address.');
}

/** Stores a group with its users, and what follows for those who came or went, or for all when its name changed. */
async function storeGroup(
  context: OperationContext,
  transaction: Transaction<Tables>,
  {
    group,
    formerIds,
    mapping,
  }: { group: rows.ScimRow; formerIds: readonly string[]; mapping: rows.RoleMapping | null },
  ended: Ended,
): Promise<ScimResource> {
  const { userId } = context;
  const { members, ...document } = group.document;
  const memberIds = [...new Set((Array.isArray(members) ? members : []).map(memberId))];
  const known = await rows.findScimUsers(transaction, userId, memberIds.filter(isValidId));
  if (known.length !== memberIds.length) {
    const ids = new Set(known.map(({ id }) => id));
    const missing = memberIds.find((id) => !ids.has(id)) ?? '';
    throw new ScimError(
      400,
      'invalidValue',
      `There is no user ${missing.slice(0, 80)}. The value of a member is the id of a user.`,
    );
  }
  const before = await statesOf(transaction, userId, [...new Set([...formerIds, ...memberIds])], mapping);
  await rows.storeScimGroup(transaction, userId, { ...group, document });
  await rows.storeGroupMembers(transaction, userId, group.id, memberIds);
  await settleAll(context, transaction, { before, mapping }, ended);
  return { ...group, document: { ...document, ...membersOf(memberIds) } };
}

function memberId(member: unknown): string {
  const value = isObject(member) ? member['value'] : null;
  if (typeof value !== 'string') throw new ScimError(400, 'invalidValue', 'A member has a value, the id of a user.');
  return value;
}

const membersOf = (ids: readonly string[]) =>
  ids.length === 0 ? {} : { members: ids.map((value) => ({ value, type: 'User' })) };

/** Returns the state of a user in these groups. Without single sign-on, each user has the role of the fewest rights. */
function stateOf(
  { isActive, address }: Pick<rows.ScimUserRow, 'isActive' | 'address'>,
  groups: readonly string[],
  mapping: rows.RoleMapping | null,
): State {
  const chosen = mapping === null ? { role: ROLE_WITHOUT_MAPPING, isMapped: false } : chooseRole(groups, mapping);
  return { isActive, address, ...chosen };
}

async function statesOf(
  transaction: Transaction<Tables>,
  userId: string,
  ids: readonly string[],
  mapping: rows.RoleMapping | null,
): Promise<Map<string, State>> {
  const groups = new Map<string, string[]>();
  for (const { memberId: id, name } of await rows.listGroupsOfUsers(transaction, userId, ids))
    groups.set(id, [...(groups.get(id) ?? []), name]);
  const users = await rows.findScimUsers(transaction, userId, ids);
  return new Map(users.map((user) => [user.id, stateOf(user, groups.get(user.id) ?? [], mapping)]));
}

/** Settles the members of users whose groups changed. */
async function settleAll(
  context: OperationContext,
  transaction: Transaction<Tables>,
  { before, mapping }: { before: ReadonlyMap<string, State>; mapping: rows.RoleMapping | null },
  ended: Ended,
): Promise<void> {
  const after = await statesOf(transaction, context.userId, [...before.keys()], mapping);
  const users = await rows.findScimUsers(transaction, context.userId, [...before.keys()]);
  for (const user of users) {
    const [former, present] = [before.get(user.id), after.get(user.id)];
    if (former === undefined || present === undefined) continue;
    if (former.role === present.role && former.isMapped === present.isMapped) continue;
    await settle(context, transaction, { user, before: former, after: present }, ended);
  }
}

/**
 * Makes the member what a user says. A member whom an admin removed by hand comes back only when the directory changes something that decides
 * about it. Throws ScimError.
 */
async function settle(
  context: OperationContext,
  transaction: Transaction<Tables>,
  { user, before, after }: { user: rows.ScimUserRow; before: State | null; after: State },
  ended: Ended,
): Promise<void> {
  const { userId } = context;
  const { address, role } = after;
  const isWanted = after.isActive && address !== null && role !== null;
  const isRenamed = before !== null && before.address !== address;
  const former = { ...user, address: before?.address ?? address };
  if (user.personId !== null && (!isWanted || isRenamed)) {
    const isSamePerson =
      isWanted && user.madePerson && (await rows.renameProvisioned(transaction, userId, user.personId, address));
    if (!isSamePerson)
      await endMembership(transaction, userId, former, { ended, keepsOwner: after.isActive && !isRenamed });
  } else if (before?.isActive === true && !after.isActive)
    await endMembership(transaction, userId, former, { ended, keepsOwner: false });
  if (user.madePerson && user.personId !== null && isWanted)
    await rows.nameProvisioned(transaction, userId, user.personId, nameOf(user.document));
  if (!isWanted) return;
  const isSame =
    before !== null &&
    before.isActive &&
    !isRenamed &&
    before.role === role &&
    before.isMapped === after.isMapped &&
    user.personId !== null;
  if (isSame) return;
  const provisioned = await rows.provisionMember(transaction, userId, {
    email: address,
    name: nameOf(user.document),
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
  await rows.linkScimUser(transaction, userId, {
    id: user.id,
    personId: provisioned.personId,
    madePerson: provisioned.isNew || (user.madePerson && user.personId === provisioned.personId),
  });
}

function notProvisioned(outcome: rows.ProvisionOutcome): ScimError {
  switch (outcome) {
    case 'too many members':
      return tooMany(`A workspace has at most ${MAX_MEMBERS} members.`);
    case 'closed':
      return new ScimError(409, null, 'The account with this address is being erased. Try again when that is done.');
    case 'other domain':
      return new ScimError(400, 'invalidValue', 'The domain of the address is not verified in this workspace.');
    default:
      return new ScimError(404, null, 'The workspace is closed.');
  }
}

/**
 * Ends the membership of a user, with the sessions and keys in the workspace; also of a member with that address who came another way. Throws
 * ScimError for the owner, or with `keepsOwner` changes nothing.
 */
async function endMembership(
  transaction: Transaction<Tables>,
  userId: string,
  user: rows.ScimUserRow,
  { ended, keepsOwner }: { ended: Ended; keepsOwner: boolean },
): Promise<void> {
  if (user.address !== null) await rows.withdrawInvitations(transaction, userId, user.address);
  const personId =
    user.personId ?? (user.address === null ? null : await rows.findMemberNamed(transaction, userId, user.address));
  if (personId === null) return;
  const removed = await removeMember(transaction, userId, personId, { keepsKeys: false, by: null });
  if (removed.outcome === 'owner' && keepsOwner) return;
  if (removed.outcome === 'owner')
    throw new ScimError(
      409,
      null,
      'This user owns the workspace, which always has an owner. Transfer the ownership to another member first.',
    );
  addEnded(ended, removed.limits);
  ended.unassigned.push(...removed.unassigned);
  await rows.linkScimUser(transaction, userId, { id: user.id, personId: null, madePerson: false });
}

function addEnded(ended: Ended, { keyIds, disabledEndpoints }: KeyLimits): void {
  ended.limits.keyIds.push(...keyIds);
  ended.limits.disabledEndpoints.push(...disabledEndpoints);
}

/** Returns the name of a new account. */
function nameOf({ displayName, name }: ScimDocument): string {
  const parts = isObject(name) ? name : {};
  const joined = [parts['givenName'], parts['familyName']].filter((part) => typeof part === 'string').join(' ');
  const chosen = typeof displayName === 'string' ? displayName : (parts['formatted'] ?? joined);
  return String(chosen).trim().slice(0, MAX_NAME).toWellFormed();
}

async function withGroups(
  transaction: Transaction<Tables>,
  userId: string,
  users: readonly rows.ScimUserRow[],
): Promise<ScimResource[]> {
  const groups = await rows.listGroupsOfUsers(
    transaction,
    userId,
    users.map(({ id }) => id),
  );
  const byUser = Map.groupBy(groups, ({ memberId: id }) => id);
  return users.map((user) => {
    const own = (byUser.get(user.id) ?? []).slice(0, MAX_SHOWN_GROUPS);
    if (own.length === 0) return user;
    const shown = own.map(({ groupId, name }) => ({ value: groupId, display: name }));
    return { ...user, document: { ...user.document, groups: shown } };
  });
}

async function withUsers(
  transaction: Transaction<Tables>,
  userId: string,
  groups: readonly rows.ScimRow[],
): Promise<ScimResource[]> {
  const members = await rows.listGroupMembers(
    transaction,
    userId,
    groups.map(({ id }) => id),
  );
  const byGroup = Map.groupBy(members, ({ groupId }) => groupId);
  return groups.map((group) => {
    const ids = (byGroup.get(group.id) ?? []).map(({ memberId: id }) => id);
    return { ...group, document: { ...group.document, ...membersOf(ids) } };
  });
}

async function requireUser(transaction: Transaction<Tables>, userId: string, id: string): Promise<rows.ScimUserRow> {
  const [user] = isValidId(id) ? await rows.findScimUsers(transaction, userId, [id]) : [];
  return user ?? notFound('User', id);
}

async function requireGroup(transaction: Transaction<Tables>, userId: string, id: string): Promise<rows.ScimRow> {
  const group = isValidId(id) ? await rows.findScimGroup(transaction, userId, id) : null;
  return group ?? notFound('Group', id);
}

function notFound(type: 'User' | 'Group', id: string): never {
  throw new ScimError(404, null, `There is no ${type} ${id.slice(0, 80)}.`);
}

/** Throws ScimError with status 412 when the client has seen another version (RFC 7644 §3.14). */
function requireVersion(held: rows.ScimRow, { version }: Pick<ScimChange, 'version'>): void {
  if (version !== null && version !== held.version)
    throw new ScimError(412, null, 'The resource has changed. Read it again.');
}

function tooMany(detail: string): ScimError {
  return new ScimError(400, 'tooMany', detail);
}
