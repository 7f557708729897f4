import { LIMITED_TO_DOMAIN } from '../../core/accounts/key-rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asUser } from '../../db/connection/transaction.ts';
import { findReached } from '../../db/queries/accounts/credential.ts';
import { isValidId, type OperationContext } from '../context.ts';

/**
 * A key that is limited to one domain reads through a database handle that shows only that domain and cannot write
 * (limitedTo in db/connection/database.ts). Operations that write switch to the full handle after checking that no
 * other domain is touched. These functions do nothing for other keys.
 */
export function withFullAccess(context: OperationContext): OperationContext {
  const { limit } = context.database;
  return limit === undefined ? context : { ...context, database: limit.whole };
}

/**
 * Requires that the sender belongs to the key's domain. `path` is the prefix of the email's field names. Throws
 * forbidden.
 */
export function requireSender(
  { database: { limit } }: OperationContext,
  { domain, path }: { domain: string; path: string },
): void {
  if (limit === undefined || limit.domains.some(({ name }) => name === domain)) return;
  const message = `This API key can send from ${limit.domains.map(({ name }) => name).join(', ')} only, not from ${domain}.`;
  const details = [{ field: `${path}from`, message }];
  throw new UserError('forbidden', message, { details, title: 'Forbidden', reason: LIMITED_TO_DOMAIN });
}

/** Returns a context with full access, to change an email that the key can reach. Throws `notFound`. */
export function authorizeEmailChange(
  context: OperationContext,
  id: string,
  notFound: () => UserError,
): Promise<OperationContext> {
  return toChange(context, 'email', id, notFound);
}

/** Returns a context with full access, to change a batch whose emails the key can all reach. Throws `notFound`. */
export function authorizeBatchChange(
  context: OperationContext,
  id: string,
  notFound: () => UserError,
): Promise<OperationContext> {
  return toChange(context, 'batch', id, notFound);
}

async function toChange(
  context: OperationContext,
  kind: 'email' | 'batch',
  id: string,
  notFound: () => UserError,
): Promise<OperationContext> {
  const { database, userId } = context;
  if (database.limit === undefined) return context;
  const isReached =
    isValidId(id) && (await asUser(database, userId, (transaction) => findReached(transaction, userId, kind, id)));
  if (!isReached) throw notFound();
  return withFullAccess(context);
}
