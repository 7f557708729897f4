import { createHash } from 'node:crypto';
import {
  hasScope,
  INSUFFICIENT_SCOPE,
  isWithin,
  type KeyRights,
  SCOPES,
  SCOPES_OF_DOMAIN_KEYS,
  type Scope,
  scopeMissing,
  scopesInWords,
} from '../../core/accounts/key-rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage } from '../../core/shared/page.ts';
import { asUser } from '../../db/connection/database.ts';
import * as keys from '../../db/queries/accounts/api-key.ts';
import { invalid, isAskable, newIdentifier, type OperationContext } from '../context.ts';

/** A key to the account; nobody but its bearer has its secret. */
export interface ApiKey extends keys.ApiKeyRow {
  /** whether it opens the account, and if not, why */
  status: 'active' | 'expired' | 'revoked';
  /** whether the request that asks bore it */
  isCurrent: boolean;
}

/** What a list is asked for; absent puts no condition. */
export interface ApiKeyQuery {
  isRevoked?: boolean | undefined;
}

export interface NewApiKey {
  name: string;
  /** null or absent: it does not expire */
  expiresAt?: Date | null | undefined;
  /** null or absent: full rights; with a domain: all that a key of one domain can have */
  scopes?: readonly Scope[] | null | undefined;
  /** the one domain of the user that it shall reach; null or absent: all */
  domainId?: string | null | undefined;
}

/** Keys of one user that were not revoked. */
export const MAX_API_KEYS = 100;
/** Characters. */
export const MAX_API_KEY_NAME_LENGTH = 100;
const SECRET_OCTETS = 32;

/** The keys behind and before two places, newest first; inverted: oldest first. */
export async function pageApiKeys(context: OperationContext, query: ApiKeyQuery, page: KeysetPage): Promise<ApiKey[]> {
  const rows = await asUser(context.database, context.userId, (transaction) =>
    keys.pageApiKeys(transaction, context.userId, { isRevoked: query.isRevoked ?? null }, page),
  );
  return rows.map((row) => apiKeyOf(context, row));
}

export function countApiKeys({ database, userId }: OperationContext, query: ApiKeyQuery): Promise<number> {
  return asUser(database, userId, (transaction) =>
    keys.countApiKeys(transaction, userId, { isRevoked: query.isRevoked ?? null }),
  );
}

/** One for each id, null where the user has none. */
export async function loadApiKeys(context: OperationContext, ids: readonly string[]): Promise<(ApiKey | null)[]> {
  const rows = await asUser(context.database, context.userId, (transaction) =>
    keys.findApiKeys(transaction, context.userId, ids.filter(isAskable)),
  );
  const byId = new Map(rows.map((row) => [row.id, apiKeyOf(context, row)]));
  return ids.map((id) => byId.get(id) ?? null);
}

/**
 * Makes a key. `secret` is what requests bear; it is told here once and kept as SHA-256 only. Throws validation, conflict, and forbidden
 * where the key would have more rights than the one that asks.
 */
export async function createApiKey(
  context: OperationContext,
  input: NewApiKey,
): Promise<{ id: string; secret: string }> {
  const name = readName(input.name);
  const { expiresAt = null, domainId = null } = input;
  if (expiresAt !== null && expiresAt <= context.now()) throw invalid('expiresAt must be in the future', 'expiresAt');
  const scopes = readScopes(input.scopes ?? null, domainId);
  requireWithin(context.rights, scopes, domainId);
  if (domainId !== null && !isAskable(domainId)) throw noDomain();
  const secret = Buffer.from(context.random(SECRET_OCTETS)).toString('base64url');
  const id = newIdentifier(context, 'apiKey');
  const secretSha256 = createHash('sha256').update(secret).digest();
  const key = { id, name, secretSha256, expiresAt, scopes, domainId };
  const outcome = await asUser(context.database, context.userId, (transaction) =>
    keys.insertApiKey(transaction, context.userId, key, MAX_API_KEYS),
  );
  switch (outcome) {
    case 'made':
      return { id, secret };
    case 'no domain':
      throw noDomain();
    case 'too many':
      throw new UserError(
        'conflict',
        `There may be ${MAX_API_KEYS} keys at most. Revoke one that is not used any more.`,
        { reason: 'TOO_MANY_API_KEYS', isFinal: true },
      );
  }
}

/**
 * Ends a key for good, be it the one that asks or the last one: at once on this gateway, on the others as soon as they are told, and
 * within 5 s where they are not. Any key may end itself, others one that may manage. Throws not_found, forbidden.
 */
export async function revokeApiKey(context: OperationContext, id: string): Promise<void> {
  const { database, userId, bus, rights } = context;
  if (id !== rights.keyId && !hasScope(rights, 'manage')) throw scopeMissing('Ending another key', 'manage', rights);
  const isRevoked =
    isAskable(id) && (await asUser(database, userId, (transaction) => keys.revokeApiKey(transaction, userId, id)));
  if (!isRevoked) throw new UserError('not_found', 'API key not found');
  context.forgetCredentials(userId);
  bus.publish('credential.changed', { userId });
}

function apiKeyOf({ now, rights }: OperationContext, row: keys.ApiKeyRow): ApiKey {
  const isExpired = row.expiresAt !== null && row.expiresAt <= now();
  const status = row.revokedAt !== null ? 'revoked' : isExpired ? 'expired' : 'active';
  return { ...row, status, isCurrent: row.id === rights.keyId };
}

function readName(given: string): string {
  const name = given.trim();
  if (name === '') throw invalid('A key needs a name', 'name');
  if (name.length > MAX_API_KEY_NAME_LENGTH)
    throw invalid(`The name must not be longer than ${MAX_API_KEY_NAME_LENGTH} characters`, 'name');
  if (name.includes('\0')) throw invalid('must not contain NUL', 'name');
  return name;
}

/** Each once, in their order. */
function readScopes(given: readonly Scope[] | null, domainId: string | null): readonly Scope[] | null {
  if (given === null) return domainId === null ? null : SCOPES_OF_DOMAIN_KEYS;
  if (given.length === 0) throw invalid('Name at least one scope; leave them out for full rights', 'scopes');
  const unfit = domainId === null ? undefined : given.find((scope) => !SCOPES_OF_DOMAIN_KEYS.includes(scope));
  if (unfit !== undefined)
    throw invalid(`A key of one domain can read and send. What ${unfit} allows reaches beyond a domain.`, 'scopes');
  return SCOPES.filter((scope) => given.includes(scope));
}

function requireWithin(rights: KeyRights, scopes: readonly Scope[] | null, domainId: string | null): void {
  if (isWithin(rights, { scopes, domainId })) return;
  const own = `${scopesInWords(rights.scopes)}${rights.domain === null ? '' : ` for ${rights.domain.name}`}`;
  throw new UserError('forbidden', `A key cannot make one with more rights than its own. This one has ${own}.`, {
    title: 'Forbidden',
    reason: INSUFFICIENT_SCOPE,
  });
}

function noDomain(): UserError {
  return invalid('You have no domain with that id', 'domainId');
}
