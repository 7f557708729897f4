import { createHash } from 'node:crypto';
import {
  hasScope,
  INSUFFICIENT_SCOPE,
  isWithin,
  type KeyRights,
  SCOPES,
  SCOPES_OF_LIMITED_KEYS,
  type Scope,
  scopeMissing,
  scopesInWords,
} from '../../core/accounts/key-rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage } from '../../core/shared/page.ts';
import { asUser } from '../../db/connection/transaction.ts';
import * as keys from '../../db/queries/accounts/api-key.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';

/** An API key. Its secret is stored only as a hash. */
export interface ApiKey extends keys.ApiKeyRow {
  /** whether it works, and if not, why */
  status: 'active' | 'expired' | 'revoked';
  /** whether this request was authenticated with it */
  isCurrent: boolean;
}

/** Filters of the list; omitted filters match all. */
export interface ApiKeyQuery {
  isRevoked?: boolean | undefined;
}

export interface NewApiKey {
  name: string;
  /** null or omitted: the key does not expire */
  expiresAt?: Date | null | undefined;
  /** null or omitted: full rights, or with a domain every scope that a domain key can have */
  scopes?: readonly Scope[] | null | undefined;
  /** limits the key to one domain; null or omitted: all domains */
  domainId?: string | null | undefined;
}

/** Non-revoked keys per user. */
export const MAX_API_KEYS = 100;
/** Characters. */
export const MAX_API_KEY_NAME_LENGTH = 100;
const SECRET_BYTES = 32;

/** Returns a page of keys, newest first; inverted: oldest first. */
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

/** Returns one key per id, null where the user has none. */
export async function loadApiKeys(context: OperationContext, ids: readonly string[]): Promise<(ApiKey | null)[]> {
  const rows = await asUser(context.database, context.userId, (transaction) =>
    keys.findApiKeys(transaction, context.userId, ids.filter(isValidId)),
  );
  const byId = new Map(rows.map((row) => [row.id, apiKeyOf(context, row)]));
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
  const { expiresAt = null, domainId = null } = input;
  if (expiresAt !== null && expiresAt <= context.now()) throw invalid('expiresAt must be in the future', 'expiresAt');
  const scopes = readScopes(input.scopes ?? null, domainId);
  requireWithin(context.rights, scopes, domainId);
  if (domainId !== null && !isValidId(domainId)) throw noDomain();
  const secret = Buffer.from(context.random(SECRET_BYTES)).toString('base64url');
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
        `An account can have at most ${MAX_API_KEYS} keys. Revoke one that is no longer used.`,
        { reason: 'TOO_MANY_API_KEYS', isFinal: true },
      );
  }
}

/**
 * Revokes a key permanently, even the last one or the key of this request. This gateway rejects it at once; other
 * gateways as soon as they get the broadcast, and within 5 seconds if it is lost. A key can always revoke itself;
 * revoking another key needs the scope `manage`. Throws not_found, forbidden.
 */
export async function revokeApiKey(context: OperationContext, id: string): Promise<void> {
  const { database, userId, bus, rights } = context;
  if (id !== rights.keyId && !hasScope(rights, 'manage')) throw scopeMissing('Revoking another key', 'manage', rights);
  const isRevoked =
    isValidId(id) && (await asUser(database, userId, (transaction) => keys.revokeApiKey(transaction, userId, id)));
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
  if (name === '') throw invalid('An API key needs a name', 'name');
  if (name.length > MAX_API_KEY_NAME_LENGTH)
    throw invalid(`The name must not be longer than ${MAX_API_KEY_NAME_LENGTH} characters`, 'name');
  if (name.includes('\0')) throw invalid('must not contain NUL', 'name');
  return name;
}

/** Returns the scopes without duplicates, in the order of SCOPES. */
function readScopes(given: readonly Scope[] | null, domainId: string | null): readonly Scope[] | null {
  if (given === null) return domainId === null ? null : SCOPES_OF_LIMITED_KEYS;
  if (given.length === 0) throw invalid('Give at least one scope, or omit scopes for full rights', 'scopes');
  const unfit = domainId === null ? undefined : given.find((scope) => !SCOPES_OF_LIMITED_KEYS.includes(scope));
  if (unfit !== undefined)
    throw invalid(`A key that is limited to one domain can have the scopes read and send, not ${unfit}.`, 'scopes');
  return SCOPES.filter((scope) => given.includes(scope));
}

function requireWithin(rights: KeyRights, scopes: readonly Scope[] | null, domainId: string | null): void {
  if (isWithin(rights, { scopes, domainId })) return;
  const own = `${scopesInWords(rights.scopes)}${rights.domain === null ? '' : ` for ${rights.domain.name}`}`;
  throw new UserError('forbidden', `A key cannot create a key with more rights than its own. This key has ${own}.`, {
    title: 'Forbidden',
    reason: INSUFFICIENT_SCOPE,
  });
}

function noDomain(): UserError {
  return invalid('You have no domain with that id', 'domainId');
}
