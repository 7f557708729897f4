import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import { keyHint } from '../../core/accounts/key-hint.ts';
import { INSUFFICIENT_SCOPE, isWithin, SCOPES, type Scope, scopesInWords } from '../../core/accounts/key-rights.ts';
import type { Quotas } from '../../core/accounts/quotas.ts';
import { DAY_MS } from '../../core/shared/durations.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import * as rows from '../../db/queries/accounts/customer.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { MAX_API_KEYS } from './api-keys.ts';
import { requireFreshSignIn } from './fresh-sign-in.ts';

export const CUSTOMER_STATUSES = ['active', 'suspended', 'deleting'] as const;

/** The workspace of a customer. */
export interface Customer extends rows.CustomerRow {
  status: (typeof CUSTOMER_STATUSES)[number];
}

/** Filters of the list; omitted filters match all. */
export interface CustomerQuery {
  clientId?: string | null | undefined;
}

/** Workspaces per parent. */
const MAX_CUSTOMERS = 100_000;
/** Characters. */
export const MAX_CLIENT_ID_LENGTH = 100;
export const MAX_CUSTOMER_NAME_LENGTH = 100;
/** Days of usage that are shown, with today. */
export const USAGE_DAYS = 30;
const SECRET_BYTES = 32;

/** The scopes that a key of a customer's workspace can have: it keeps no workspaces itself. */
const SCOPES_OF_CUSTOMERS = SCOPES.filter((scope) => scope !== 'workspaces');

/** Returns a page of workspaces, newest first; inverted: oldest first. */
export async function pageCustomers(
  { database, workspaceId }: OperationContext,
  { clientId = null }: CustomerQuery,
  page: KeysetPage,
): Promise<Customer[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    rows.pageCustomers(transaction, workspaceId, { clientId }, page),
  );
  return found.map(toCustomer);
}

export function countCustomers(
  { database, workspaceId }: OperationContext,
  { clientId = null }: CustomerQuery,
): Promise<number> {
  return asWorkspace(database, workspaceId, (transaction) =>
    rows.countCustomers(transaction, workspaceId, { clientId }),
  );
}

/** Returns a page of workspaces, newest first, with the exact total. */
export async function listCustomers(
  { database, workspaceId }: OperationContext,
  { clientId = null }: CustomerQuery,
  page: Page,
): Promise<{ rows: Customer[]; total: number }> {
  return asWorkspace(database, workspaceId, async (transaction) => {
    const found = await rows.listCustomers(transaction, workspaceId, { clientId }, page);
    const total = await rows.countCustomers(transaction, workspaceId, { clientId });
    return { rows: found.map(toCustomer), total };
  });
}

/** Returns one workspace per id, null where the parent has none. */
export async function loadCustomers(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(Customer | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    rows.findCustomers(transaction, workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(found.map((row) => [row.id, toCustomer(row)]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Throws not_found. */
export async function readCustomer(context: OperationContext, id: string): Promise<Customer> {
  const [customer] = await loadCustomers(context, [id]);
  if (customer == null) throw customerNotFound();
  return customer;
}

/** What a workspace used on the last USAGE_DAYS days, and what it has. */
export interface CustomerUsage extends rows.CustomerHoldings {
  days: readonly rows.DayUsage[];
}

/** Throws not_found. */
export async function readUsage({ database, workspaceId, now }: OperationContext, id: string): Promise<CustomerUsage> {
  const today = Math.floor(now().getTime() / DAY_MS) * DAY_MS;
  const since = new Date(today - (USAGE_DAYS - 1) * DAY_MS);
  if (!isValidId(id)) throw customerNotFound();
  return asWorkspace(database, workspaceId, async (transaction) => {
    const held = (await rows.readCustomerHoldings(transaction, workspaceId, [id])).get(id);
    if (held === undefined) throw customerNotFound();
    const used = await rows.readCustomerUsage(transaction, workspaceId, [id], since);
    return { ...held, days: used.get(id) ?? [] };
  });
}

export interface NewCustomer {
  clientId: string;
  name?: string | null | undefined;
  quotas?: Quotas | null | undefined;
}

/**
 * Creates the workspace of a customer. The same customer ID again returns the same workspace, unchanged, until it is deleted. Throws
 * validation, conflict.
 */
export async function createCustomer(context: OperationContext, input: NewCustomer): Promise<Customer> {
  const { workspaceId } = context;
  const clientId = readText(input.clientId, 'client_id', MAX_CLIENT_ID_LENGTH);
  const name = input.name == null ? clientId : readText(input.name, 'name', MAX_CUSTOMER_NAME_LENGTH);
  const id = newIdentifier(context, 'workspace');
  const customer = { id, clientId, name, quotas: input.quotas ?? null };
  const made = await changeCustomers(context, (transaction) =>
    rows.createCustomer(transaction, workspaceId, customer, MAX_CUSTOMERS),
  );
  if (made.id !== null) return readCustomer(context, made.id);
  switch (made.outcome) {
    case 'nested':
      throw new UserError('forbidden', 'The workspace of a customer cannot keep workspaces itself.', {
        reason: 'NESTED_WORKSPACE',
      });
    case 'too many':
      throw new UserError('conflict', `A workspace can keep at most ${MAX_CUSTOMERS} workspaces for customers.`, {
        reason: 'TOO_MANY_WORKSPACES',
        isFinal: true,
      });
    case 'made':
    case 'known':
    case 'no account':
      throw new UserError('unauthorized', 'Authentication required');
  }
}

export interface CustomerChange {
  name?: string | undefined;
  /** replaces all quotas; null removes them */
  quotas?: Quotas | null | undefined;
  isSuspended?: boolean | undefined;
}

/** Changes a workspace. A quota below what is used takes effect for what is added from then on. Throws not_found, validation. */
export async function updateCustomer(context: OperationContext, id: string, change: CustomerChange): Promise<Customer> {
  const { workspaceId, bus } = context;
  const { name, quotas, isSuspended } = change;
  if (name === undefined && quotas === undefined && isSuspended === undefined)
    throw new UserError('validation', 'At least one field must be provided: name, quotas, is_suspended');
  const names = await changeCustomers(context, async (transaction) => {
    const [before] = isValidId(id) ? await rows.findCustomers(transaction, workspaceId, [id]) : [];
    if (before === undefined) throw customerNotFound();
    const isChanged = await rows.updateCustomer(transaction, workspaceId, {
      id,
      name: name === undefined ? before.name : readText(name, 'name', MAX_CUSTOMER_NAME_LENGTH),
      quotas: quotas === undefined ? before.quotas : quotas,
      isSuspended: isSuspended ?? before.suspendedAt !== null,
    });
    if (!isChanged) throw customerNotFound();
    return rows.readCustomerNames(transaction, workspaceId, id);
  });
  announce(context, id, names);
  bus.publish('subscription.changed', { workspaceId: id });
  return readCustomer(context, id);
}

/**
 * Deletes a workspace for good: its keys and domains end in one transaction, so no mail comes in or leaves. The scheduling actor then erases
 * all its data; until that has ended, the workspace is shown with the rows that are left. Throws not_found.
 */
export async function deleteCustomer(context: OperationContext, id: string): Promise<Customer> {
  const { workspaceId } = context;
  const names = isValidId(id)
    ? await changeCustomers(context, (transaction) => rows.closeCustomer(transaction, workspaceId, id))
    : null;
  if (names === null) throw customerNotFound();
  announce(context, id, names);
  return readCustomer(context, id);
}

export interface NewCustomerKey {
  name: string;
  scopes: readonly Scope[];
  expiresAt?: Date | null | undefined;
}

/**
 * Creates an API key of a customer's workspace, with scopes that the key of the request has. It ends with that key, unless what that key set
 * up is kept. `secret` is returned only here. Throws not_found, validation, forbidden, conflict.
 */
export async function createCustomerKey(
  context: OperationContext,
  customerId: string,
  input: NewCustomerKey,
): Promise<{ id: string; secret: string }> {
  const { workspaceId, rights, now } = context;
  const { expiresAt = null } = input;
  const name = readText(input.name, 'name', MAX_CUSTOMER_NAME_LENGTH);
  const scopes = SCOPES_OF_CUSTOMERS.filter((scope) => input.scopes.includes(scope));
  if (scopes.length === 0) throw invalid(`Give at least one of the scopes ${SCOPES_OF_CUSTOMERS.join(', ')}`, 'scopes');
  if (expiresAt !== null && expiresAt <= now()) throw invalid('The expiry must be in the future', 'expires_at');
  if (!isWithin(rights, { scopes, reach: null })) throw moreRights(context);
  requireFreshSignIn(context, 'create an API key');
  const secret = Buffer.from(context.random(SECRET_BYTES)).toString('base64url');
  const key = {
    id: newIdentifier(context, 'apiKey'),
    name,
    secretSha256: createHash('sha256').update(secret).digest(),
    hint: keyHint(secret),
    expiresAt,
    scopes,
    parentKeyId: rights.keyId,
    personId: rights.personId,
  };
  const outcome = isValidId(customerId)
    ? await changeCustomers(context, (transaction) =>
        rows.insertCustomerKey(transaction, workspaceId, customerId, key, MAX_API_KEYS),
      )
    : 'gone';
  switch (outcome) {
    case 'made':
      return { id: key.id, secret };
    case 'gone':
      throw customerNotFound();
    case 'more rights':
      throw moreRights(context);
    case 'too long':
      throw invalid('The key cannot expire later than the key that creates it', 'expires_at');
    case 'too many':
      throw new UserError(
        'conflict',
        `A workspace can have at most ${MAX_API_KEYS} keys. Revoke one that is no longer used.`,
        { reason: 'TOO_MANY_API_KEYS', isFinal: true },
      );
  }
}

/** Makes a change in one transaction of the parent. */
async function changeCustomers<T>(
  { database, workspaceId, fault }: OperationContext,
  change: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const changed = await asWorkspace(database, workspaceId, async (transaction) => {
    const result = await change(transaction);
    fault?.('customers.before-commit');
    return result;
  });
  fault?.('customers.after-commit');
  return changed;
}

/** Tells the other processes that the keys and addresses of a workspace may have changed. */
function announce({ bus, forgetCredentials }: OperationContext, id: string, names: readonly string[]): void {
  for (const name of names) bus.publish('routing.changed', { name });
  forgetCredentials(id);
  bus.publish('credential.changed', { ownerId: id });
}

function toCustomer(row: rows.CustomerRow): Customer {
  const status = row.closedAt !== null ? 'deleting' : row.suspendedAt !== null ? 'suspended' : 'active';
  return { ...row, status };
}

function readText(given: string, field: string, most: number): string {
  const text = given.trim();
  if (text === '' || text.length > most) throw invalid(`Must have 1 to ${most} characters`, field);
  return text;
}

function moreRights({ rights }: OperationContext): UserError {
  return new UserError(
    'forbidden',
    `A key cannot create a key with more rights than its own. This key has ${scopesInWords(rights.scopes)}.`,
    { title: 'Forbidden', reason: INSUFFICIENT_SCOPE },
  );
}

function customerNotFound(): UserError {
  return new UserError('not_found', 'Workspace not found');
}
