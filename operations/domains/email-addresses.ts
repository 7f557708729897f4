import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as lists from '../../db/queries/domains/email-address-list.ts';
import { countRecentEmails, NONE, type RecentEmails } from '../../db/queries/upkeep/recent-emails.ts';
import { invalid, isValidId, type OperationContext } from '../context.ts';
import { MAX_SEARCH_LENGTH } from '../emails/emails.ts';

/** An address with the facts derived from its row. */
export interface EmailAddress extends lists.EmailAddress {
  /** active, and the MX of its domain points here */
  isReceiving: boolean;
  /** why an active address receives no mail, as text; null otherwise */
  warning: string | null;
}

/** Filters of the list; omitted filters match all. */
export interface EmailAddressQuery {
  domainId?: string | undefined;
  isActive?: boolean | undefined;
  isReceiving?: boolean | undefined;
  /** substring of the address, case-insensitive */
  search?: string | undefined;
}

/** Returns a page, newest first, with the exact total. */
export async function listEmailAddresses(
  context: OperationContext,
  query: EmailAddressQuery,
  page: Page,
): Promise<{ rows: EmailAddress[]; total: number }> {
  const { addresses, total } = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    lists.listEmailAddresses(transaction, context.workspaceId, toConditions(query), page),
  );
  return { rows: addresses.map(withConsequences), total };
}

/** Returns a page of addresses, newest first; inverted: oldest first. */
export async function pageEmailAddresses(
  { database, workspaceId }: OperationContext,
  query: EmailAddressQuery,
  page: KeysetPage,
): Promise<EmailAddress[]> {
  const rows = await asWorkspace(database, workspaceId, (transaction) =>
    lists.pageEmailAddresses(transaction, workspaceId, toConditions(query), page),
  );
  return rows.map(withConsequences);
}

export function countEmailAddresses(
  { database, workspaceId }: OperationContext,
  query: EmailAddressQuery,
): Promise<number> {
  return asWorkspace(database, workspaceId, (transaction) =>
    lists.countEmailAddresses(transaction, workspaceId, toConditions(query)),
  );
}

/** As pageEmailAddresses, for each of the domains. */
export async function pageAddressesOfDomains(
  { database, workspaceId }: OperationContext,
  domainIds: readonly string[],
  query: EmailAddressQuery,
  page: KeysetPage,
): Promise<EmailAddress[][]> {
  const byDomain = await asWorkspace(database, workspaceId, (transaction) =>
    lists.pageAddressesOfDomains(transaction, workspaceId, domainIds, toConditions(query), page),
  );
  return domainIds.map((id) => (byDomain.get(id) ?? []).map(withConsequences));
}

/** As countEmailAddresses, for each of the domains. */
export async function countAddressesOfDomains(
  { database, workspaceId }: OperationContext,
  domainIds: readonly string[],
  query: EmailAddressQuery,
): Promise<number[]> {
  const counts = await asWorkspace(database, workspaceId, (transaction) =>
    lists.countAddressesOfDomains(transaction, workspaceId, domainIds, toConditions(query)),
  );
  return domainIds.map((id) => counts.get(id) ?? 0);
}

/** Returns the recent mail counts of each address. */
export async function countAddressEmails(
  context: OperationContext,
  addresses: readonly string[],
): Promise<RecentEmails[]> {
  const counts = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    countRecentEmails(transaction, context.workspaceId, { addresses }, context.now()),
  );
  return addresses.map((address) => counts.get(address) ?? NONE);
}

/** Throws not_found. */
export async function readEmailAddress(context: OperationContext, id: string): Promise<EmailAddress> {
  const [address] = await loadEmailAddresses(context, [id]);
  if (address == null) throw addressNotFound();
  return address;
}

/** Returns one address per id, null where the user has none. */
export async function loadEmailAddresses(
  context: OperationContext,
  ids: readonly string[],
): Promise<(EmailAddress | null)[]> {
  const conditions = { ids: ids.filter(isValidId), domainId: null, isActive: null, isReceiving: null, search: null };
  const { addresses } = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    lists.listEmailAddresses(transaction, context.workspaceId, conditions, { limit: ids.length, offset: 0 }),
  );
  const byId = new Map(addresses.map((address) => [address.id, withConsequences(address)]));
  return ids.map((id) => byId.get(id) ?? null);
}

export function addressNotFound(): UserError {
  return new UserError('not_found', 'Email address not found');
}

function toConditions(query: EmailAddressQuery): lists.EmailAddressConditions {
  const { domainId = null, isActive = null, isReceiving = null, search = '' } = query;
  const sought = search.trim();
  if (sought.length > MAX_SEARCH_LENGTH)
    throw invalid(`Search text must not be longer than ${MAX_SEARCH_LENGTH} characters`, 'search');
  return { ids: null, domainId, isActive, isReceiving, search: sought === '' ? null : sought };
}

function withConsequences(address: lists.EmailAddress): EmailAddress {
  const { isActive, domain } = address;
  const isReceiving = isActive && domain.isReceiving;
  return {
    ...address,
    isReceiving,
    warning: isActive && !isReceiving ? `The MX record of ${domain.name} does not point to this service yet.` : null,
  };
}
