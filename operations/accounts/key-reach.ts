import { isReached, limitDetails, type Reach, reachInWords } from '../../core/accounts/key-rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findReached, findReachedEmails } from '../../db/queries/accounts/credential.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';

/**
 * A key that is limited to domains or addresses reads through a database handle that shows only these and cannot write (limitedTo in
 * db/connection/transaction.ts). Operations that write switch to the full handle after checking that nothing else is touched. These functions
 * do nothing for other keys.
 */
export function withFullAccess(context: OperationContext): OperationContext {
  const { limit } = context.database;
  return limit === undefined ? context : { ...context, database: limit.whole };
}

/**
 * Requires that the key may send from this address. `path` is the prefix of the email's field names. Throws forbidden.
 */
export function requireSender({ database: { limit } }: OperationContext, { sender, domain, path }: Sender): void {
  if (limit === undefined || isReached(limit, sender.address)) return;
  throw senderExceeds(limit, limit.addresses.length === 0 ? domain : sender.address, path);
}

/** Who sends an email. */
interface Sender {
  sender: { address: string };
  /** canonical */
  domain: string;
  /** prefix of the email's field names */
  path: string;
}

/**
 * Requires that bounces for a key may go to this domain, which is not the sender's: single addresses do not cover it. Throws forbidden.
 */
export function requireReturnDomain(
  { database: { limit } }: OperationContext,
  { domain, path }: Pick<Sender, 'domain' | 'path'>,
): void {
  if (limit === undefined || limit.domains.some(({ name }) => name === domain)) return;
  throw senderExceeds(limit, domain, path);
}

function senderExceeds(reach: Reach, sender: string, path: string): UserError {
  const message = `This API key can send from ${reachInWords(reach)} only, not from ${sender}.`;
  const details = [{ field: `${path}from`, message }];
  return new UserError('forbidden', message, { ...limitDetails(reach), details, title: 'Forbidden' });
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

/** Throws not_found unless the key or the member can reach all of the emails. */
export async function requireReachedEmails(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<void> {
  if (database.limit === undefined) return;
  const asked = [...new Set(ids)];
  const found = asked.every(isValidId)
    ? await asWorkspace(database, workspaceId, (transaction) => findReachedEmails(transaction, workspaceId, asked))
    : [];
  if (found.length < asked.length) throw emailNotFound();
}

async function toChange(
  context: OperationContext,
  kind: 'email' | 'batch',
  id: string,
  notFound: () => UserError,
): Promise<OperationContext> {
  const { database, workspaceId } = context;
  if (database.limit === undefined) return context;
  const isReached =
    isValidId(id) &&
    (await asWorkspace(database, workspaceId, (transaction) => findReached(transaction, workspaceId, kind, id)));
  if (!isReached) throw notFound();
  return withFullAccess(context);
}
