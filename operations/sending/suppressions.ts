import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { outgoingMailbox } from '../../core/sending/outgoing-addresses.ts';
import { RECIPIENT_SUPPRESSED, UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { Suppression as SuppressionEntity } from '../../db/entities/sending.ts';
import type { Policy } from '../../db/queries/sending/outgoing-policy.ts';
import * as lists from '../../db/queries/sending/suppression-list.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { MAX_SEARCH_LENGTH } from '../emails/emails.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';

export type Suppression = lists.Suppression;

/** Filters of the list; omitted filters match all. */
export interface SuppressionQuery {
  reason?: Suppression['reason'] | undefined;
  search?: string | undefined;
}

/** Returns a page, newest first, with the exact total. */
export function listSuppressions(
  { database, workspaceId }: OperationContext,
  query: SuppressionQuery,
  page: Page,
): Promise<{ rows: Suppression[]; total: number }> {
  const conditions = toConditions(query);
  return asWorkspace(database, workspaceId, (transaction) =>
    lists.listSuppressions(transaction, workspaceId, conditions, page),
  );
}

/** Returns a page of suppressions, newest first; inverted: oldest first. */
export function pageSuppressions(
  { database, workspaceId }: OperationContext,
  query: SuppressionQuery,
  page: KeysetPage,
): Promise<Suppression[]> {
  const conditions = toConditions(query);
  return asWorkspace(database, workspaceId, (transaction) =>
    lists.pageSuppressions(transaction, workspaceId, conditions, page),
  );
}

export function countSuppressions(
  { database, workspaceId }: OperationContext,
  query: SuppressionQuery,
): Promise<number> {
  const conditions = toConditions(query);
  return asWorkspace(database, workspaceId, (transaction) =>
    lists.countSuppressions(transaction, workspaceId, conditions),
  );
}

/** Returns one suppression per id, null where the user has none. */
export async function loadSuppressions(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(Suppression | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    lists.findSuppressions(transaction, workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(found.map((suppression) => [suppression.id, suppression]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Returns a suppression by id or address (case-insensitive). Throws not_found. */
export async function readSuppression(context: OperationContext, idOrAddress: string): Promise<Suppression> {
  const { database, workspaceId } = context;
  const key = makeKey(idOrAddress);
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    lists.findSuppression(transaction, workspaceId, key),
  );
  if (found === null) throw suppressionNotFound();
  return found;
}

/**
 * Suppresses an address: no mail is sent to it until the suppression is removed. An existing suppression is kept.
 * Throws validation.
 */
export async function suppressAddress(
  context: OperationContext,
  input: { address: string; detail?: string | null | undefined },
): Promise<Suppression> {
  const address = suppressible(input.address, 'address');
  const detail = input.detail?.trim() ?? '';
  return context.entities.asWorkspace(context.workspaceId, ({ entities }) =>
    storeSuppression(context, entities, address, detail === '' ? null : detail),
  );
}

/** Suppresses several addresses in one transaction, as suppressAddress does. Returns one suppression per address. Throws validation. */
export async function suppressAddresses(
  context: OperationContext,
  addresses: readonly string[],
): Promise<Suppression[]> {
  const checked = new Set(addresses.map((address, index) => suppressible(address, `emails.${index}`)));
  return context.entities.asWorkspace(context.workspaceId, async ({ entities }) => {
    const stored: Suppression[] = [];
    // In one order, so that two requests for the same addresses do not wait for each other.
    for (const address of [...checked].sort()) stored.push(await storeSuppression(context, entities, address, null));
    return stored;
  });
}

/** Returns the address in lowercase. Throws validation. */
function suppressible(given: string, field: string): string {
  const mailbox = outgoingMailbox({ name: null, address: given.trim() });
  if (mailbox === null) throw invalid('Invalid email address format', field);
  return mailbox.address.toLowerCase();
}

async function storeSuppression(
  context: OperationContext,
  entities: EntityManager,
  address: string,
  detail: string | null,
): Promise<Suppression> {
  const suppression = {
    id: newIdentifier(context, 'suppression'),
    address,
    reason: 'manual' as const,
    list: '',
    detail,
    emailId: null,
    createdAt: context.now(),
  };
  const stored = await entities.upsert(
    SuppressionEntity,
    { workspaceId: context.workspaceId, ...suppression },
    { onConflictFields: ['workspaceId', 'address', 'list'], onConflictAction: 'ignore' },
  );
  return toSuppression(stored);
}

/** Removes a suppression by id or address. Throws not_found. */
export async function liftSuppression(context: OperationContext, idOrAddress: string): Promise<Suppression> {
  const key = makeKey(idOrAddress);
  const lifted = await context.entities.asWorkspace(context.workspaceId, ({ entities }) =>
    removeSuppression(context, entities, key),
  );
  if (lifted === null) throw suppressionNotFound();
  return lifted;
}

/** Removes suppressions by ids or addresses in one transaction. Returns the removed ones. */
export async function liftSuppressions(
  context: OperationContext,
  idsOrAddresses: readonly string[],
): Promise<Suppression[]> {
  const keys = [...new Set(idsOrAddresses)].sort().flatMap((given) => findKey(given) ?? []);
  return context.entities.asWorkspace(context.workspaceId, async ({ entities }) => {
    const lifted: Suppression[] = [];
    for (const key of keys) {
      const removed = await removeSuppression(context, entities, key);
      if (removed !== null) lifted.push(removed);
    }
    return lifted;
  });
}

async function removeSuppression(
  { workspaceId }: OperationContext,
  entities: EntityManager,
  key: lists.SuppressionKey,
): Promise<Suppression | null> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const stored = await entities.findOne(
    SuppressionEntity,
    { workspaceId, ...key },
    { lockMode, orderBy: { list: 'asc' } },
  );
  if (stored === null) return null;
  entities.remove(stored);
  await entities.flush();
  return toSuppression(stored);
}

function toSuppression({ list, detail, refusalReason, emailId, ...row }: SuppressionEntity): Suppression {
  const { id, address, reason, createdAt } = row;
  const rest = {
    list: list === '' ? null : list,
    detail: detail ?? null,
    refusalReason: refusalReason ?? null,
    emailId: emailId ?? null,
  };
  return { id, address, reason, ...rest, createdAt };
}

/** Checks an email before it is sent: returns the error that names its suppressed recipients; null when it has none. */
export function checkSuppressions(
  { audience, path, list }: OutgoingEmail,
  policy: Pick<Policy, 'suppressed' | 'unsubscribed'>,
): UserError | null {
  const refusal = unsubscribedRefusal({ audience, path, list }, policy);
  if (refusal !== null || policy.suppressed.size === 0) return refusal;
  const blocked = (addresses: readonly string[]) =>
    addresses.filter((address) => policy.suppressed.has(address.toLowerCase()));
  const all = [...new Set([...blocked(audience.to), ...blocked(audience.cc), ...blocked(audience.bcc)])];
  if (all.length === 0) return null;
  const field = (['to', 'cc', 'bcc'] as const).find((name) => blocked(audience[name]).length > 0) ?? 'to';
  const message = `Cannot send to blocked recipient(s): ${all.join(', ')}`;
  return new UserError('validation', message, {
    details: [{ field: path + field, message }],
    reason: RECIPIENT_SUPPRESSED,
    members: { suppressedRecipients: all },
  });
}

/** Mail with List-Unsubscribe has one recipient. */
function unsubscribedRefusal(
  { audience, path, list }: Pick<OutgoingEmail, 'audience' | 'path' | 'list'>,
  { unsubscribed }: Pick<Policy, 'unsubscribed'>,
): UserError | null {
  if (list === null) return null;
  const recipients = [...audience.to, ...audience.cc, ...audience.bcc];
  const found = recipients.find((address) =>
    unsubscribed.some((each) => each.list === list && each.address === address.toLowerCase()),
  );
  if (found === undefined) return null;
  const message = `Cannot send to ${found}: the recipient unsubscribed from the list "${list}"`;
  return new UserError('validation', message, {
    details: [{ field: `${path}to`, message }],
    reason: RECIPIENT_SUPPRESSED,
    members: { suppressedRecipients: [found] },
  });
}

function toConditions(query: SuppressionQuery): lists.SuppressionConditions {
  const sought = query.search?.trim() ?? '';
  if (sought.length > MAX_SEARCH_LENGTH)
    throw invalid(`Search text must not be longer than ${MAX_SEARCH_LENGTH} characters`, 'search');
  return { reason: query.reason ?? null, search: sought === '' ? null : sought };
}

/** The key of a suppression given by id or by address, case-insensitive. Throws not_found when it can be neither. */
function makeKey(idOrAddress: string): lists.SuppressionKey {
  const key = findKey(idOrAddress);
  if (key === null) throw suppressionNotFound();
  return key;
}

function findKey(idOrAddress: string): lists.SuppressionKey | null {
  const isAddress =
    idOrAddress.includes('@') && idOrAddress.length <= MAX_ADDRESS_LENGTH && !idOrAddress.includes('\0');
  if (isAddress) return { address: idOrAddress.toLowerCase() };
  return isValidId(idOrAddress) ? { id: idOrAddress } : null;
}

function suppressionNotFound(): UserError {
  return new UserError('not_found', 'Suppression not found');
}

/** Characters; longer than any address (RFC 5321 §4.5.3.1.3). */
const MAX_ADDRESS_LENGTH = 320;
