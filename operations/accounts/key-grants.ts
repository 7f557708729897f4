import type { Transaction } from 'kysely';
import {
  hasScope,
  INSUFFICIENT_ROLE,
  type KeyRights,
  NO_RIGHTS,
  reachExceeded,
  type Scope,
  scopeMissing,
} from '../../core/accounts/key-rights.ts';
import { listNeeded, type RightAccess, requireRights } from '../../core/accounts/rights.ts';
import { isAtLeast } from '../../core/accounts/roles.ts';
import { UserError } from '../../core/shared/errors.ts';
import { shareSendRights } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import type { KeyLimits } from '../../db/queries/accounts/api-key.ts';
import { findRightsNow } from '../../db/queries/accounts/credential.ts';
import { holdWorkspace, readPresentScopes } from '../../db/queries/accounts/key-grant.ts';
import { appendEvents } from '../../db/queries/emails/email-flags.ts';
import {
  listScheduledFrom,
  listScheduledWithoutRight,
  lockOutgoing,
  setScheduledStatus,
  setScheduler,
} from '../../db/queries/sending/scheduled-change.ts';
import type { ThreadEvent } from '../../db/queries/threads/thread-events.ts';
import { newIdentifier, type OperationContext } from '../context.ts';

/*
 * What is stored now and acts later has the rights of the person or key that stores it, as they are then, cut by every later change of the API key
 * (docs/decisions/0095). The operation that stores it requires the scopes that it needs, and stores the grant with it.
 */

/** The rights of something stored. */
export interface Grant {
  /** the API key that stores it; null: a person */
  setByKeyId: string | null;
  /** null: all */
  grantedScopes: Scope[] | null;
}

/**
 * Returns the rights to store with something that needs these scopes to act, in the transaction that stores it: the rights that the key has now.
 * Changes of the key wait for that transaction. Throws forbidden for the first scope that is missing; `what` begins its sentence.
 */
export async function requireGrant(
  { rights, workspaceId }: Pick<OperationContext, 'rights' | 'workspaceId'>,
  transaction: Transaction<Tables>,
  what: string,
  needed: readonly Scope[],
): Promise<Grant> {
  requireScopes(rights, what, needed);
  const { keyId, personId } = rights;
  if (keyId === null) {
    if (personId !== null) await requireRoleNow(transaction, workspaceId, { ...rights, personId }, what);
    return { setByKeyId: null, grantedScopes: null };
  }
  const present = { ...rights, scopes: await readPresentScopes(transaction, workspaceId, keyId) };
  requireScopes(present, what, needed);
  return { setByKeyId: keyId, grantedScopes: present.scopes === null ? null : [...present.scopes] };
}

/** Throws forbidden for a member who was removed, or has a lesser role or limits, since the request was admitted. Changes of members wait. */
async function requireRoleNow(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { personId, role, reach }: KeyRights & { personId: string },
  what: string,
): Promise<void> {
  await holdWorkspace(transaction, workspaceId);
  const now = await findRightsNow(transaction, workspaceId, personId);
  const isSame =
    now !== null && (now.role === role || (role !== null && now.role !== null && isAtLeast(now.role, role)));
  if (isSame && (now.reach === null || reach !== null)) return;
  throw new UserError('forbidden', `${what} needs the role that you had when you asked. It has changed.`, {
    title: 'Forbidden',
    reason: INSUFFICIENT_ROLE,
  });
}

/**
 * Throws forbidden unless who asks still has the rights of an operation, in the transaction that does it and before it locks anything: changes of keys
 * and members wait for its end. For what leaves the service at once, which no later change takes back. `what` begins the sentence.
 */
export async function requireAccessNow(
  { rights, workspaceId }: Pick<OperationContext, 'rights' | 'workspaceId'>,
  transaction: Transaction<Tables>,
  what: string,
  access: RightAccess,
): Promise<void> {
  const holder = rights.keyId ?? rights.personId;
  if (holder === null) return;
  await shareSendRights(transaction, workspaceId);
  const now = { ...rights, ...((await findRightsNow(transaction, workspaceId, holder)) ?? NO_RIGHTS) };
  requireRights(now, what, listNeeded(access));
  if (now.reach !== null && !access.isOfDomain) throw reachExceeded(what, now);
}

/** Throws forbidden for the first scope that is missing; `what` begins its sentence. */
function requireScopes(rights: KeyRights, what: string, needed: readonly Scope[]): void {
  for (const scope of needed) if (!hasScope(rights, scope)) throw scopeMissing(what, scope, rights);
}

/** The rights of a route from an address or a domain to an endpoint. */
export interface RouteGrant {
  routeSetByKeyId: Grant['setByKeyId'];
  routeGrantedScopes: Grant['grantedScopes'];
}

/** As requireGrant, for a route: mail that it sends to an endpoint is shown to the receiver of the endpoint. */
export async function requireRouteGrant(
  context: Pick<OperationContext, 'rights' | 'workspaceId'>,
  transaction: Transaction<Tables>,
): Promise<RouteGrant> {
  const { setByKeyId, grantedScopes } = await requireGrant(context, transaction, 'Routing mail to an endpoint', [
    'read',
  ]);
  return { routeSetByKeyId: setByKeyId, routeGrantedScopes: grantedScopes };
}

/**
 * Pauses those of the given emails, and of the scheduled mail of keys, and with `ofMembers` of persons, that these may no longer send, or that a stricter send policy has not judged, and appends the events of that, of disabled
 * endpoints, and `more`. With a stricter policy, the keys resume no mail that they scheduled before, even if a person paused it. Must be last
 * in its transaction. Returns the last number of the user's event feed; null when nothing was appended.
 */
export async function announceLimits(
  context: Pick<OperationContext, 'now' | 'random' | 'workspaceId'>,
  transaction: Transaction<Tables>,
  {
    disabledEndpoints,
    hasStricterPolicy = false,
    ...whose
  }: KeyLimits & { emailIds?: readonly string[]; ofMembers?: boolean },
  more: readonly Omit<ThreadEvent, 'id'>[] = [],
): Promise<number | null> {
  const { workspaceId } = context;
  const waiting = await listScheduledWithoutRight(transaction, workspaceId, { ...whose, hasStricterPolicy });
  const paused = await pauseScheduled(transaction, workspaceId, waiting, hasStricterPolicy);
  const events = [
    ...disabledEndpoints.map(({ id, reason }) => ({ kind: 'endpoint.disabled', endpointId: id, data: { reason } })),
    ...paused.map((emailId) => ({ kind: 'email.paused', emailId })),
    ...more,
  ].map((event) => ({ id: newIdentifier(context, 'event'), ...event }));
  return events.length === 0 ? null : appendEvents(transaction, workspaceId, events);
}

/**
 * Pauses the scheduled mail from an address with a stricter send policy, which has not judged it, and appends the events of that: of persons, too,
 * whom the policy holds for. No key resumes it that cannot change the address, even if it was paused before. Must be last in its transaction.
 * Returns the last number of the user's event feed; null when nothing was appended.
 */
export async function announceStricterAddress(
  context: Pick<OperationContext, 'now' | 'random' | 'workspaceId'>,
  transaction: Transaction<Tables>,
  address: string,
): Promise<number | null> {
  const { workspaceId } = context;
  const waiting = await listScheduledFrom(transaction, workspaceId, address);
  const paused = await pauseScheduled(transaction, workspaceId, waiting, true);
  const events = paused.map((emailId) => ({ id: newIdentifier(context, 'event'), kind: 'email.paused', emailId }));
  return events.length === 0 ? null : appendEvents(transaction, workspaceId, events);
}

/** Pauses those of the emails that are scheduled, and returns them. `isUnjudged`: a stricter send policy has judged none of them. */
async function pauseScheduled(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
  isUnjudged: boolean,
): Promise<string[]> {
  if (emailIds.length === 0) return [];
  const locked = await lockOutgoing(transaction, workspaceId, emailIds);
  const paused = locked.filter(({ status }) => status === 'scheduled').map(({ id }) => id);
  if (paused.length > 0) await setScheduledStatus(transaction, workspaceId, paused, 'paused');
  // Otherwise a key would resume what the policy may forbid, above all what it paused itself beforehand.
  if (isUnjudged) await setScheduler(transaction, workspaceId, emailIds, { keyId: null, personId: null });
  return paused;
}
