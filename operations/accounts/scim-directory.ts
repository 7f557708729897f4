import type { Transaction } from 'kysely';
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
import { canonicalAddress } from '../../core/domains/domain-name.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import * as rows from '../../db/queries/accounts/scim.ts';
import { isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { changeMembers } from './members.ts';
import { computeState, type Ended, endMembership, readStates, settle, settleAll } from './scim-membership.ts';

/* Users and groups of SCIM. What a request changes, and the members that follow from it, are one transaction. */

/** Groups of a workspace. @limit */
const MAX_SCIM_GROUPS = 500;
/** Users that the groups of one page show together. A page ends before it has more, but has at least one group. @limit */
const MAX_SHOWN_MEMBERS = 5_000;
/** Groups that a user shows. @limit */
const MAX_SHOWN_GROUPS = 100;

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

/** A change of a resource. `version` is what the client has seen; null: any. */
export interface ScimChange {
  kind: 'replace' | 'patch';
  body: unknown;
  version: number | null;
}

/** Returns a page of users, oldest first. */
export async function listScimUsers(
  { database, workspaceId }: OperationContext,
  query: ScimQuery,
): Promise<ScimResult> {
  return asWorkspace(database, workspaceId, async (transaction) => {
    const { rows: users, total } = await rows.pageScimUsers(transaction, workspaceId, query);
    return { resources: query.withMembers ? await withGroups(transaction, workspaceId, users) : users, total };
  });
}

/** Throws ScimError. */
export async function readScimUser({ database, workspaceId }: OperationContext, id: string): Promise<ScimResource> {
  return asWorkspace(database, workspaceId, async (transaction) => {
    const [user] = await withGroups(transaction, workspaceId, [await requireUser(transaction, workspaceId, id)]);
    return user ?? notFound('User', id);
  });
}

/** Creates a user, and a member if it is active and has an address and a role. Throws ScimError. */
export async function createScimUser(context: OperationContext, body: unknown): Promise<ScimResource> {
  const { workspaceId, now } = context;
  const document = readScimDocument(USER_TYPE, body);
  return changeDirectory(context, async (transaction, mapping, ended) => {
    const { total } = await rows.pageScimUsers(transaction, workspaceId, { filter: null, offset: 0, limit: 0 });
    if (total >= MAX_SCIM_USERS) throw tooMany(`A workspace has at most ${MAX_SCIM_USERS} users.`);
    const user: rows.ScimUserRow = {
      id: newIdentifier(context, 'scimUser'),
      version: 1,
      createdAt: now(),
      updatedAt: now(),
      personId: null,
      madePerson: false,
      ...(await describeUser(transaction, workspaceId, document, null)),
    };
    await requireUnique(transaction, workspaceId, user);
    await rows.storeScimUser(transaction, workspaceId, user);
    await settle(context, transaction, { user, before: null, after: computeState(user, [], mapping) }, ended);
    return user;
  });
}

/** Replaces or patches a user. Throws ScimError. */
export async function changeScimUser(context: OperationContext, id: string, change: ScimChange): Promise<ScimResource> {
  const { workspaceId, now } = context;
  return changeDirectory(context, async (transaction, mapping, ended) => {
    const held = await requireUser(transaction, workspaceId, id);
    requireVersion(held, change);
    const document = applyChange(USER_TYPE, held.document, change);
    const user: rows.ScimUserRow = {
      ...held,
      ...(await describeUser(transaction, workspaceId, document, held)),
      version: held.version + 1,
      updatedAt: now(),
    };
    await requireUnique(transaction, workspaceId, user);
    await rows.storeScimUser(transaction, workspaceId, user);
    const groups = (await rows.listGroupsOfUsers(transaction, workspaceId, [id])).map(({ name }) => name);
    const before = computeState(held, groups, mapping);
    await settle(context, transaction, { user, before, after: computeState(user, groups, mapping) }, ended);
    const [shown] = await withGroups(transaction, workspaceId, [user]);
    return shown ?? user;
  });
}

/** Removes a user, and its membership. Throws ScimError. */
export async function removeScimUser(context: OperationContext, id: string, version: number | null): Promise<void> {
  const { workspaceId } = context;
  await changeDirectory(context, async (transaction, _mapping, ended) => {
    const user = await requireUser(transaction, workspaceId, id);
    requireVersion(user, { version });
    await endMembership(transaction, workspaceId, user, { ended, keepsOwner: false });
    await rows.removeScimUser(transaction, workspaceId, id);
    return user;
  });
}

/** Returns a page of groups, oldest first. */
export async function listScimGroups(
  { database, workspaceId }: OperationContext,
  query: ScimQuery,
): Promise<ScimResult> {
  return asWorkspace(database, workspaceId, async (transaction) => {
    const { rows: groups, total } = await rows.pageScimGroups(transaction, workspaceId, query);
    if (!query.withMembers) return { resources: groups, total };
    const counts = await rows.countGroupMembers(
      transaction,
      workspaceId,
      groups.map(({ id }) => id),
    );
    let shown = 0;
    const fitting = groups.filter((group, index) => {
      shown += counts.get(group.id) ?? 0;
      return index === 0 || shown <= MAX_SHOWN_MEMBERS;
    });
    return { resources: await withUsers(transaction, workspaceId, fitting), total };
  });
}

/** Throws ScimError. */
export async function readScimGroup({ database, workspaceId }: OperationContext, id: string): Promise<ScimResource> {
  return asWorkspace(database, workspaceId, async (transaction) => {
    const [group] = await withUsers(transaction, workspaceId, [await requireGroup(transaction, workspaceId, id)]);
    return group ?? notFound('Group', id);
  });
}

/** Creates a group, and gives its users the role that it is mapped to. Throws ScimError. */
export async function createScimGroup(context: OperationContext, body: unknown): Promise<ScimResource> {
  const { workspaceId, now } = context;
  const document = readScimDocument(GROUP_TYPE, body);
  return changeDirectory(context, async (transaction, mapping, ended) => {
    const { total } = await rows.pageScimGroups(transaction, workspaceId, { filter: null, offset: 0, limit: 0 });
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
  const { workspaceId, now } = context;
  return changeDirectory(context, async (transaction, mapping, ended) => {
    const held = await requireGroup(transaction, workspaceId, id);
    requireVersion(held, change);
    const formerIds = (await rows.listGroupMembers(transaction, workspaceId, [id])).map(({ memberId }) => memberId);
    const whole = { ...held.document, ...listMembers(formerIds) };
    const document = applyChange(GROUP_TYPE, whole, change);
    const group = { ...held, document, version: held.version + 1, updatedAt: now() };
    return storeGroup(context, transaction, { group, formerIds, mapping }, ended);
  });
}

/** Removes a group; its users lose the role that it gave them. Throws ScimError. */
export async function removeScimGroup(context: OperationContext, id: string, version: number | null): Promise<void> {
  const { workspaceId } = context;
  await changeDirectory(context, async (transaction, mapping, ended) => {
    const group = await requireGroup(transaction, workspaceId, id);
    requireVersion(group, { version });
    const memberIds = (await rows.listGroupMembers(transaction, workspaceId, [id])).map(({ memberId }) => memberId);
    const before = await readStates(transaction, workspaceId, memberIds, mapping);
    await rows.removeScimGroup(transaction, workspaceId, id);
    await settleAll(context, transaction, { before, mapping }, ended);
    return group;
  });
}

/** Runs a change of the directory and of the members that follow from it. */
async function changeDirectory<Result>(
  context: OperationContext,
  change: (transaction: Transaction<Tables>, mapping: rows.RoleMapping | null, ended: Ended) => Promise<Result>,
): Promise<Result> {
  const ended: Ended = { limits: { keyIds: [], disabledEndpoints: [] }, unassigned: [], persons: [] };
  let result: Result | undefined;
  await changeMembers(context, async (transaction) => {
    const mapping = await rows.beginScimChange(transaction, context.workspaceId);
    result = await change(transaction, mapping, ended);
    return ended;
  });
  for (const workspaceId of ended.persons) {
    context.forgetCredentials(workspaceId);
    context.bus.publish('credential.changed', { ownerId: workspaceId });
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
  workspaceId: string,
  document: ScimDocument,
  held: rows.ScimUserRow | null,
): Promise<Pick<rows.ScimUserRow, 'document' | 'userName' | 'address' | 'isActive'>> {
  const userName = String(document['userName']);
  const isActive = document['active'] !== false;
  const described = { document, userName: userName.toLowerCase(), isActive };
  const named = canonicalAddress(userName);
  if (named !== null) {
    if (named.address !== held?.address && !(await rows.isOwnDomain(transaction, workspaceId, named.domain)))
      throw new ScimError(
        400,
        'invalidValue',
        `The domain ${named.domain} of userName is not verified in this workspace. Add it under Domains first.`,
      );
    return { ...described, address: named.address };
  }
  const email = canonicalAddress(primaryEmail(document) ?? '');
  const isOwn =
    email !== null &&
    (email.address === held?.address || (await rows.isOwnDomain(transaction, workspaceId, email.domain)));
  return { ...described, address: isOwn ? email.address : null };
}

function primaryEmail({ emails }: ScimDocument): string | null {
  const values = Array.isArray(emails) ? emails.filter(isObject) : [];
  const chosen = values.find((each) => each['primary'] === true) ?? values[0];
  return typeof chosen?.['value'] === 'string' ? chosen['value'] : null;
}

/** Throws ScimError with status 409. */
async function requireUnique(
  transaction: Transaction<Tables>,
  workspaceId: string,
  user: rows.ScimUserRow,
): Promise<void> {
  if ((await rows.findScimUserNamed(transaction, workspaceId, user)) === null) return;
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
  const { workspaceId } = context;
  const { members, ...document } = group.document;
  const memberIds = [...new Set((Array.isArray(members) ? members : []).map(memberId))];
  const known = await rows.findScimUsers(transaction, workspaceId, memberIds.filter(isValidId));
  if (known.length !== memberIds.length) {
    const ids = new Set(known.map(({ id }) => id));
    const missing = memberIds.find((id) => !ids.has(id)) ?? '';
    throw new ScimError(
      400,
      'invalidValue',
      `There is no user ${missing.slice(0, 80)}. The value of a member is the id of a user.`,
    );
  }
  const before = await readStates(transaction, workspaceId, [...new Set([...formerIds, ...memberIds])], mapping);
  await rows.storeScimGroup(transaction, workspaceId, { ...group, document });
  await rows.storeGroupMembers(transaction, workspaceId, group.id, memberIds);
  await settleAll(context, transaction, { before, mapping }, ended);
  return { ...group, document: { ...document, ...listMembers(memberIds) } };
}

function memberId(member: unknown): string {
  const value = isObject(member) ? member['value'] : null;
  if (typeof value !== 'string') throw new ScimError(400, 'invalidValue', 'A member has a value, the id of a user.');
  return value;
}

const listMembers = (ids: readonly string[]) =>
  ids.length === 0 ? {} : { members: ids.map((value) => ({ value, type: 'User' })) };

async function withGroups(
  transaction: Transaction<Tables>,
  workspaceId: string,
  users: readonly rows.ScimUserRow[],
): Promise<ScimResource[]> {
  const groups = await rows.listGroupsOfUsers(
    transaction,
    workspaceId,
    users.map(({ id }) => id),
  );
  const byWorkspace = Map.groupBy(groups, ({ memberId: id }) => id);
  return users.map((user) => {
    const own = (byWorkspace.get(user.id) ?? []).slice(0, MAX_SHOWN_GROUPS);
    if (own.length === 0) return user;
    const shown = own.map(({ groupId, name }) => ({ value: groupId, display: name }));
    return { ...user, document: { ...user.document, groups: shown } };
  });
}

async function withUsers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  groups: readonly rows.ScimRow[],
): Promise<ScimResource[]> {
  const members = await rows.listGroupMembers(
    transaction,
    workspaceId,
    groups.map(({ id }) => id),
  );
  const byGroup = Map.groupBy(members, ({ groupId }) => groupId);
  return groups.map((group) => {
    const ids = (byGroup.get(group.id) ?? []).map(({ memberId: id }) => id);
    return { ...group, document: { ...group.document, ...listMembers(ids) } };
  });
}

async function requireUser(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<rows.ScimUserRow> {
  const [user] = isValidId(id) ? await rows.findScimUsers(transaction, workspaceId, [id]) : [];
  return user ?? notFound('User', id);
}

async function requireGroup(transaction: Transaction<Tables>, workspaceId: string, id: string): Promise<rows.ScimRow> {
  const group = isValidId(id) ? await rows.findScimGroup(transaction, workspaceId, id) : null;
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
