import { createHash } from 'node:crypto';
import { keyHint } from '../../core/accounts/key-hint.ts';
import {
  INSUFFICIENT_SCOPE,
  isReachWithin,
  isWithin,
  type KeyRights,
  type Reach,
  reachInWords,
  SCOPES,
  SCOPES_OF_LIMITED_KEYS,
  type Scope,
  scopesInWords,
} from '../../core/accounts/key-rights.ts';
import { requireRights } from '../../core/accounts/rights.ts';
import { signInNoticeMail } from '../../core/accounts/system-account.ts';
import { canonicalDomainName } from '../../core/domains/domain-name.ts';
import { isStricter, type SendPolicy } from '../../core/sending/send-policy.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as keys from '../../db/queries/accounts/api-key.ts';
import { readPerson } from '../../db/queries/accounts/member.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { requireFreshSignIn } from './fresh-sign-in.ts';
import { announceLimits } from './key-grants.ts';
import { withFullAccess } from './key-reach.ts';

export const API_KEY_STATUSES = ['active', 'expired', 'revoked'] as const;

/** An API key. Its secret is stored only as a hash. */
export interface ApiKey extends keys.ApiKeyRow {
  /** whether it works, and if not, why */
  status: (typeof API_KEY_STATUSES)[number];
  /** whether this request was authenticated with it */
  isCurrent: boolean;
}

/** Filters of the list; omitted filters match all. */
export interface ApiKeyQuery {
  isRevoked?: boolean | undefined;
}

export interface NewApiKey {
  name: string;
  /** null or omitted: the key does not expire, or when the key expires that creates it */
  expiresAt?: Date | null | undefined;
  /** null or omitted: full rights, or with domains or addresses every scope that a limited key can have */
  scopes?: readonly Scope[] | null | undefined;
  /** limits the key to these domains and addresses, by ids or names; null or omitted, both: the whole account */
  domains?: readonly string[] | null | undefined;
  addresses?: readonly string[] | null | undefined;
  /** limits what it sends; a key with a policy has at most the scopes read and send. Null or omitted: no limits */
  policy?: SendPolicy | null | undefined;
}

/** The changes of a key. Omitted fields stay as they are. */
export interface ApiKeyChange {
  name?: string | undefined;
  /** null: it does not expire */
  expiresAt?: Date | null | undefined;
  /** fewer than it has; null: full rights, for a key that has them */
  scopes?: readonly Scope[] | null | undefined;
  /** no more than it has; one of them without the other: all domains, or all addresses, are taken */
  domains?: readonly string[] | null | undefined;
  addresses?: readonly string[] | null | undefined;
  /** replaces the whole policy; null removes it */
  policy?: SendPolicy | null | undefined;
}

/** Non-revoked keys per user. */
export const MAX_API_KEYS = 100;
/** Characters. */
export const MAX_API_KEY_NAME_LENGTH = 100;
/** Domains and addresses of a key, of each kind: every transaction of the key names them. */
export const MAX_REACH = 50;
const SECRET_BYTES = 32;

/** Returns a page of keys, newest first; inverted: oldest first. */
export async function pageApiKeys(context: OperationContext, query: ApiKeyQuery, page: KeysetPage): Promise<ApiKey[]> {
  const rows = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    keys.pageApiKeys(transaction, context.workspaceId, { isRevoked: query.isRevoked ?? null }, page),
  );
  return rows.map((row) => toApiKey(context, row));
}

export function countApiKeys({ database, workspaceId }: OperationContext, query: ApiKeyQuery): Promise<number> {
  return asWorkspace(database, workspaceId, (transaction) =>
    keys.countApiKeys(transaction, workspaceId, { isRevoked: query.isRevoked ?? null }),
  );
}

/** Returns a page of keys, newest first, with the exact total. */
export async function listApiKeys(
  context: OperationContext,
  query: ApiKeyQuery,
  page: Page,
): Promise<{ rows: ApiKey[]; total: number }> {
  const { database, workspaceId } = context;
  const conditions = { isRevoked: query.isRevoked ?? null };
  return asWorkspace(database, workspaceId, async (transaction) => {
    const rows = await keys.listApiKeys(transaction, workspaceId, conditions, page);
    const total = await keys.countApiKeys(transaction, workspaceId, conditions);
    return { rows: rows.map((row) => toApiKey(context, row)), total };
  });
}

/** Throws not_found. */
export async function readApiKey(context: OperationContext, id: string): Promise<ApiKey> {
  const [key] = await loadApiKeys(context, [id]);
  if (key == null) throw keyNotFound();
  return key;
}

/** Returns one key per id, null where the user has none. */
export async function loadApiKeys(context: OperationContext, ids: readonly string[]): Promise<(ApiKey | null)[]> {
  const rows = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    keys.findApiKeys(transaction, context.workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(rows.map((row) => [row.id, toApiKey(context, row)]));
  return ids.map((id) => byId.get(id) ?? null);
}

/**
 * Creates a key. `secret` is returned only here; the database stores its SHA-256. Throws validation, conflict, and
 * forbidden when the new key would have more rights than the key of the request.
 */
export async function createApiKey(
  context: OperationContext,
  input: NewApiKey,
): Promise<{ id: string; secret: string }> {
  const name = readName(input.name);
  const { expiresAt = null } = input;
  const reach = await findReach(context, input);
  requireFuture(expiresAt, context.now());
  const policy = input.policy ?? null;
  const scopes = readScopes(input.scopes ?? null, { reach, policy });
  if (!isWithin(context.rights, { scopes, reach }))
    throw moreRights('A key cannot create a key with more rights than its own.', context.rights);
  requireFreshSignIn(context, 'create an API key');
  const secret = Buffer.from(context.random(SECRET_BYTES)).toString('base64url');
  const id = newIdentifier(context, 'apiKey');
  const secretSha256 = createHash('sha256').update(secret).digest();
  const key = {
    id,
    name,
    secretSha256,
    hint: keyHint(secret),
    expiresAt,
    scopes,
    reach,
    policy,
    parentId: context.rights.keyId,
    personId: context.rights.personId,
  };
  const outcome = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    keys.insertApiKey(transaction, context.workspaceId, key, MAX_API_KEYS),
  );
  switch (outcome) {
    case 'made':
      tellOfAccess(context, 'api-key');
      return { id, secret };
    case 'no domain':
      throw invalid('One of the domains was deleted meanwhile', 'domains');
    case 'no address':
      throw invalid('One of the addresses was deleted meanwhile', 'addresses');
    case 'more rights':
      throw moreRights('A key cannot create a key with more rights than its own.', context.rights);
    case 'too long':
      throw expiresTooLate();
    case 'no account':
      throw new UserError('unauthorized', 'Authentication required');
    case 'too many':
      throw new UserError(
        'conflict',
        `An account can have at most ${MAX_API_KEYS} keys. Revoke one that is no longer used.`,
        { reason: 'TOO_MANY_API_KEYS', isFinal: true },
      );
  }
}

/**
 * Changes a key; takes effect for what is sent from then on. A key changes only keys whose rights are within its own. Throws not_found,
 * validation, forbidden.
 */
export async function updateApiKey(context: OperationContext, id: string, change: ApiKeyChange): Promise<ApiKey> {
  const { database, workspaceId, bus, rights } = context;
  if (CHANGEABLE.every((field) => change[field] === undefined))
    throw new UserError(
      'validation',
      'At least one field must be provided: name, expires_at, scopes, domains, addresses, policy',
    );
  const given = await findReach(context, change);
  const lastSeq = await asWorkspace(database, workspaceId, async (transaction) => {
    const before = isValidId(id) ? await keys.lockApiKey(transaction, workspaceId, id) : null;
    if (before === null) throw keyNotFound();
    if (!isWithin(rights, before)) throw moreRights('A key cannot change a key with more rights than its own.', rights);
    const { name, expiresAt, policy } = change;
    if (expiresAt !== undefined) requireFuture(expiresAt, context.now());
    if (expiresAt !== undefined) await requireEarlyExpiry(context, transaction, before, expiresAt);
    const isLater =
      expiresAt !== undefined && before.expiresAt !== null && (expiresAt === null || expiresAt > before.expiresAt);
    if (isLater || (policy !== undefined && before.policy !== null)) requireFreshSignIn(context, 'widen an API key');
    const after = policy === undefined ? before.policy : policy;
    const reach = given ?? before.reach;
    if (!isReachWithin(reach, before.reach)) throw reachOnlyShrinks(before.reach);
    const changed = await keys.updateApiKey(transaction, workspaceId, id, {
      name: name === undefined ? before.name : readName(name),
      expiresAt: expiresAt === undefined ? before.expiresAt : expiresAt,
      scopes: changedScopes(before, change.scopes, { reach, policy: after }),
      reach,
      policy: after,
    });
    if ('inTheWay' in changed) throw policyInTheWay(changed.inTheWay);
    // The keys that it created have the policy that it had, or none if it had none.
    const hasStricterPolicy = after !== null && isStricter(after, before.policy);
    return announceLimits(context, transaction, { ...changed, hasStricterPolicy });
  });
  context.forgetCredentials(workspaceId);
  bus.publish('credential.changed', { ownerId: workspaceId });
  publishLimits(context, lastSeq);
  return readApiKey(context, id);
}

/** Mails the person of a session about a new key or program. Does not wait: it has access even if the mail cannot be sent. */
export function tellOfAccess(context: OperationContext, notice: 'api-key' | 'program'): void {
  const { database, workspaceId, rights, caller, settings, origin, now, log } = context;
  const { personId } = rights;
  if (caller.via !== 'session' || personId === null) return;
  asWorkspace(database, workspaceId, (transaction) => readPerson(transaction, workspaceId, personId))
    .then(async (person) => {
      if (person === null) return;
      const facts = { publicUrl: settings.publicUrl, at: now(), address: origin?.address ?? 'unknown' };
      await context.sendServiceMail(signInNoticeMail(person.email, notice, facts));
    })
    .catch((error: unknown) => log.warn({ err: error, personId, notice }, 'failed to mail a notice about new access'));
}

const CHANGEABLE = ['name', 'expiresAt', 'scopes', 'domains', 'addresses', 'policy'] as const;

/** Returns the scopes after a change, which takes scopes away or leaves them. Throws validation. */
function changedScopes(
  { scopes: had }: keys.ApiKeyRow,
  given: readonly Scope[] | null | undefined,
  limits: Limits,
): readonly Scope[] | null {
  if (given === undefined) {
    if (isLimited(limits) && !isOfLimitedKey(had))
      throw invalid(
        `A key ${readKind(limits)} has at most the scopes read and send, and this key has ${scopesInWords(had)}. Set scopes, too.`,
        'scopes',
      );
    return had;
  }
  const scopes = given === null && had !== null ? null : readScopes(given, limits);
  if (had !== null && (scopes === null || !scopes.every((scope) => had.includes(scope))))
    throw invalid(`A key can only lose scopes, and this key has ${scopesInWords(had)}. Create a new key.`, 'scopes');
  return scopes;
}

/** How a key is revoked. */
export interface Revocation {
  /** whether what the key set up, and the keys that it created, stay: who revokes it takes them over. Otherwise they end with it. */
  keepsConfiguration: boolean;
}

/**
 * Revokes a key permanently, even the last one or the key of this request. This gateway rejects it at once; other
 * gateways as soon as they get the broadcast, and within 5 seconds if it is lost. What the key set up stops, and the keys that it created are
 * revoked, unless they are kept. A key can always revoke itself; revoking another key needs the right to manage keys, and keeping what it set up
 * all the rights that it has. Throws not_found, forbidden, validation.
 */
export async function revokeApiKey(
  context: OperationContext,
  id: string,
  { keepsConfiguration }: Revocation,
): Promise<void> {
  const { database, workspaceId, bus, rights } = context;
  const { keyId } = rights;
  if (id !== keyId) requireRights(rights, 'Revoking another key', ['keys']);
  if (!isValidId(id)) throw keyNotFound();
  if (keepsConfiguration && id === keyId)
    throw invalid(
      'A key that revokes itself cannot keep what it set up. Revoke it with another key',
      'keep_configuration',
    );
  const lastSeq = await asWorkspace(database, workspaceId, async (transaction) => {
    const before = keepsConfiguration ? await keys.lockApiKey(transaction, workspaceId, id) : undefined;
    if (before === null) throw keyNotFound();
    if (before !== undefined && !isWithin(rights, before))
      throw moreRights('A key cannot take over what a key with more rights than its own set up.', rights);
    const limits = await keys.revokeApiKey(transaction, workspaceId, id, {
      byKeyId: keyId,
      personId: rights.personId,
      keepsConfiguration,
    });
    if (limits === null) throw keyNotFound();
    return announceLimits(context, transaction, limits);
  });
  context.forgetCredentials(workspaceId);
  bus.publish('credential.changed', { ownerId: workspaceId });
  publishLimits(context, lastSeq);
}

/** Tells the other processes that what keys set up may have changed. `lastSeq`: of the events that were appended; null: none were. */
export function publishLimits({ bus, workspaceId }: OperationContext, lastSeq: number | null): void {
  bus.publish('guard.changed', { workspaceId });
  bus.publish('subscription.changed', { workspaceId });
  if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
}

/** A key does not give itself, or another, more time than its own; a key that a key created does not outlive it. Throws forbidden. */
async function requireEarlyExpiry(
  { rights, workspaceId }: OperationContext,
  transaction: Parameters<typeof keys.findApiKeys>[0],
  { parentId }: keys.ApiKeyRow,
  expiresAt: Date | null,
): Promise<void> {
  const bounds = await keys.findApiKeys(
    transaction,
    workspaceId,
    [rights.keyId, parentId].filter((key) => key !== null),
  );
  if (bounds.some(({ expiresAt: end }) => end !== null && (expiresAt === null || expiresAt > end)))
    throw expiresTooLate();
}

/** Revokes the key of the request, whatever it may do else. Throws validation when the request has a session instead. */
export async function revokePresentedKey(context: OperationContext): Promise<void> {
  const { keyId } = context.rights;
  if (keyId === null)
    throw new UserError(
      'validation',
      'This request has no API key to revoke. Send it with the key, or use DELETE /api-keys/{id}.',
    );
  await revokeApiKey(withFullAccess(context), keyId, { keepsConfiguration: false });
}

function toApiKey({ now, rights }: OperationContext, row: keys.ApiKeyRow): ApiKey {
  const isExpired = row.expiresAt !== null && row.expiresAt <= now();
  const status = row.revokedAt !== null ? 'revoked' : isExpired ? 'expired' : 'active';
  return { ...row, status, isCurrent: row.id === rights.keyId };
}

function readName(given: string): string {
  const name = given.trim();
  if (name === '') throw invalid('An API key needs a name', 'name');
  if (name.length > MAX_API_KEY_NAME_LENGTH)
    throw invalid(`The name must not be longer than ${MAX_API_KEY_NAME_LENGTH} characters`, 'name');
  if (name.includes('\0')) throw invalid('must not contain NUL', 'name');
  return name;
}

/** Returns the domains and addresses that are named; null when none are given. Throws validation. */
export async function findReach(
  { database, workspaceId }: OperationContext,
  { domains, addresses }: Pick<NewApiKey, 'domains' | 'addresses'>,
): Promise<Reach | null> {
  if (domains == null && addresses == null) return null;
  for (const [field, named] of Object.entries({ domains, addresses })) {
    if (named?.length === 0) throw invalid(`Give at least one, or omit ${field}`, field);
    if (named != null && named.length > MAX_REACH)
      throw invalid(`A key can be limited to at most ${MAX_REACH} ${field}`, field);
  }
  return asWorkspace(database, workspaceId, async (transaction) => {
    const reach = { domains: new Map<string, string>(), addresses: new Set<string>() };
    for (const given of domains ?? []) {
      const domain = await keys.findKeyDomain(transaction, workspaceId, given, canonicalDomainName(given));
      if (domain === null) throw invalid(`You have no domain ${given}`, 'domains');
      reach.domains.set(domain.id, domain.name);
    }
    for (const given of addresses ?? []) {
      const address = await keys.findKeyAddress(transaction, workspaceId, given);
      if (address === null) throw invalid(`You have no email address ${given}`, 'addresses');
      reach.addresses.add(address);
    }
    return { domains: [...reach.domains].map(([id, name]) => ({ id, name })), addresses: [...reach.addresses] };
  });
}

function requireFuture(expiresAt: Date | null, now: Date): void {
  if (expiresAt !== null && expiresAt <= now) throw invalid('The expiry must be in the future', 'expires_at');
}

function isOfLimitedKey(scopes: readonly Scope[] | null): boolean {
  return scopes?.every((scope) => SCOPES_OF_LIMITED_KEYS.includes(scope)) ?? false;
}

/** What limits a key besides its scopes. */
interface Limits {
  reach: Reach | null;
  policy: SendPolicy | null;
}

const isLimited = ({ reach, policy }: Limits) => reach !== null || policy !== null;

function readKind({ reach }: Limits): string {
  if (reach === null) return 'with a send policy';
  const isOfOneDomain = reach.addresses.length === 0 && reach.domains.length === 1;
  return `that is limited to ${isOfOneDomain ? 'one domain' : 'domains or addresses'}`;
}

/** Returns the scopes without duplicates, in the order of SCOPES. */
function readScopes(given: readonly Scope[] | null, limits: Limits): readonly Scope[] | null {
  if (given === null) return isLimited(limits) ? SCOPES_OF_LIMITED_KEYS : null;
  if (given.length === 0) throw invalid('Give at least one scope, or omit scopes for full rights', 'scopes');
  const unfit = isLimited(limits) ? given.find((scope) => !SCOPES_OF_LIMITED_KEYS.includes(scope)) : undefined;
  if (unfit !== undefined)
    throw invalid(`A key ${readKind(limits)} can have the scopes read and send, not ${unfit}.`, 'scopes');
  return SCOPES.filter((scope) => given.includes(scope));
}

function reachOnlyShrinks(had: Reach | null): UserError {
  const rest = had === null ? 'the whole account' : reachInWords(had);
  return invalid(
    `A key can only lose domains and addresses, and this key is limited to ${rest}. Create a new key.`,
    'domains',
  );
}

function moreRights(rule: string, { scopes, reach }: KeyRights): UserError {
  const own = `${scopesInWords(scopes)}${reach === null ? '' : ` for ${reachInWords(reach)}`}`;
  return new UserError('forbidden', `${rule} This key has ${own}.`, { title: 'Forbidden', reason: INSUFFICIENT_SCOPE });
}

function expiresTooLate(): UserError {
  const message = 'A key cannot expire later than the key that creates or changes it, or that created it.';
  return new UserError('forbidden', message, {
    title: 'Forbidden',
    reason: INSUFFICIENT_SCOPE,
    details: [{ field: 'expires_at', message }],
  });
}

/** `name`: of a key that the changed key created. */
function policyInTheWay(name: string): UserError {
  const message = `The key ${name}, which was created with this key, has a send policy of its own. Revoke that key first, or give it this policy.`;
  return new UserError('conflict', message, { reason: 'KEY_HAS_OWN_POLICY', isFinal: true });
}

function keyNotFound(): UserError {
  return new UserError('not_found', 'API key not found');
}
