import { createHash } from 'node:crypto';
import { UserError } from '../core/errors.ts';
import type { KeysetPage } from '../core/page.ts';
import { asUser } from '../db/database.ts';
import * as keys from '../db/queries/api-key.ts';
import { invalid, isAskable, newIdentifier, type OperationContext } from './context.ts';

/** A key to the account; nobody but its bearer has its secret. */
export interface ApiKey extends keys.ApiKeyRow {
  /** whether it opens the account, and if not, why */
  status: 'active' | 'expired' | 'revoked';
}

/** What a list is asked for; absent puts no condition. */
export interface ApiKeyQuery {
  isRevoked?: boolean | undefined;
}

export interface NewApiKey {
  name: string;
  /** null or absent: it does not expire */
  expiresAt?: Date | null | undefined;
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

/** Makes a key. `secret` is what requests bear; it is told here once and kept as SHA-256 only. Throws validation, conflict. */
export async function createApiKey(
  context: OperationContext,
  input: NewApiKey,
): Promise<{ id: string; secret: string }> {
  const name = input.name.trim();
  const { expiresAt = null } = input;
  if (name === '') throw invalid('A key needs a name', 'name');
  if (name.length > MAX_API_KEY_NAME_LENGTH)
    throw invalid(`The name must not be longer than ${MAX_API_KEY_NAME_LENGTH} characters`, 'name');
  if (name.includes('\0')) throw invalid('must not contain NUL', 'name');
  if (expiresAt !== null && expiresAt <= context.now()) throw invalid('expiresAt must be in the future', 'expiresAt');
  const secret = Buffer.from(context.random(SECRET_OCTETS)).toString('base64url');
  const id = newIdentifier(context, 'apiKey');
  const secretSha256 = createHash('sha256').update(secret).digest();
  const isMade = await asUser(context.database, context.userId, (transaction) =>
    keys.insertApiKey(transaction, context.userId, { id, name, secretSha256, expiresAt }, MAX_API_KEYS),
  );
  if (!isMade)
    throw new UserError(
      'conflict',
      `There may be ${MAX_API_KEYS} keys at most. Revoke one that is not used any more.`,
      {
        reason: 'TOO_MANY_API_KEYS',
        isFinal: true,
      },
    );
  return { id, secret };
}

/**
 * Ends a key for good, be it the one that asks or the last one: at once on this gateway, on the others as soon as they are told, and
 * within 5 s where they are not (guarantees.md S22). Throws not_found.
 */
export async function revokeApiKey(context: OperationContext, id: string): Promise<void> {
  const { database, userId, bus } = context;
  const isRevoked =
    isAskable(id) && (await asUser(database, userId, (transaction) => keys.revokeApiKey(transaction, userId, id)));
  if (!isRevoked) throw new UserError('not_found', 'API key not found');
  context.forgetCredentials(userId);
  bus.publish('credential.changed', { userId });
}

function apiKeyOf({ now }: OperationContext, row: keys.ApiKeyRow): ApiKey {
  const isExpired = row.expiresAt !== null && row.expiresAt <= now();
  return { ...row, status: row.revokedAt !== null ? 'revoked' : isExpired ? 'expired' : 'active' };
}
