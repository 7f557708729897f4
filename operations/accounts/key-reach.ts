import { LIMITED_TO_DOMAIN } from '../../core/accounts/key-rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asUser } from '../../db/connection/database.ts';
import { findReached } from '../../db/queries/accounts/key-reach.ts';
import { isAskable, type OperationContext } from '../context.ts';

/**
 * A key of one domain reads by a database that shows the domain alone and writes nothing (limitedTo of db/connection/database.ts). What it may do
 * beyond that, it does with all of the user's database once this said that nothing of another domain is touched. Of other keys nothing
 * is asked.
 */
export function wholeAccount(context: OperationContext): OperationContext {
  const { limit } = context.database;
  return limit === undefined ? context : { ...context, database: limit.whole };
}

/** Refuses to send from another domain than the key's. `path` is what stands before the names of the email's fields. Throws forbidden. */
export function requireSender(
  { database: { limit } }: OperationContext,
  { domain, path }: { domain: string; path: string },
): void {
  if (limit === undefined || domain === limit.name) return;
  const message = `This API key sends from ${limit.name} only, not from ${domain}.`;
  const details = [{ field: `${path}from`, message }];
  throw new UserError('forbidden', message, { details, title: 'Forbidden', reason: LIMITED_TO_DOMAIN });
}

/** The whole account, to change an email that the key reaches. Throws `notFound`. */
export function toChangeEmail(
  context: OperationContext,
  id: string,
  notFound: () => UserError,
): Promise<OperationContext> {
  return toChange(context, 'email', id, notFound);
}

/** The whole account, to change a batch of which the key reaches every email. Throws `notFound`. */
export function toChangeBatch(
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
    isAskable(id) && (await asUser(database, userId, (transaction) => findReached(transaction, userId, kind, id)));
  if (!isReached) throw notFound();
  return wholeAccount(context);
}
