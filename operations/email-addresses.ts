import { canonicalAddress } from '../core/domain-name.ts';
import { UserError } from '../core/errors.ts';
import type { Page } from '../core/page.ts';
import { asUser } from '../db/database.ts';
import { Domain } from '../db/entities/domain.ts';
import { EmailAddress as EmailAddressEntity } from '../db/entities/email-address.ts';
import { Endpoint } from '../db/entities/endpoint.ts';
import type { UnitOfWork } from '../db/entities/store.ts';
import * as lists from '../db/queries/email-address-list.ts';
import { invalid, isAskable, newIdentifier, type OperationContext } from './context.ts';

/** An address with what follows from its row. */
export interface EmailAddress extends lists.EmailAddress {
  /** active, and its domain's mail comes here */
  isReceiving: boolean;
}

export interface NewEmailAddress {
  address: string;
  domainId: string;
  endpointId?: string | null | undefined;
  /** legacy routing; excludes endpointId */
  webhookId?: string | null | undefined;
  isActive?: boolean | undefined;
}

/** What a list is asked for; absent puts no condition. */
export interface EmailAddressQuery {
  domainId?: string | undefined;
  isActive?: boolean | undefined;
  isReceiving?: boolean | undefined;
}

/** A page, newest first, with the exact total. */
export async function listEmailAddresses(
  context: OperationContext,
  query: EmailAddressQuery,
  page: Page,
): Promise<{ addresses: EmailAddress[]; total: number }> {
  const { domainId = null, isActive = null, isReceiving = null } = query;
  const { addresses, total } = await asUser(context.database, context.userId, (transaction) =>
    lists.listEmailAddresses(transaction, context.userId, { ids: null, domainId, isActive, isReceiving }, page),
  );
  return { addresses: addresses.map(withConsequences), total };
}

/** Throws not_found. */
export async function readEmailAddress(context: OperationContext, id: string): Promise<EmailAddress> {
  const [address] = await loadEmailAddresses(context, [id]);
  if (address == null) throw new UserError('not_found', 'Email address not found');
  return address;
}

/** One for each id, null where the user has none. */
export async function loadEmailAddresses(
  context: OperationContext,
  ids: readonly string[],
): Promise<(EmailAddress | null)[]> {
  const conditions = { ids: ids.filter(isAskable), domainId: null, isActive: null, isReceiving: null };
  const { addresses } = await asUser(context.database, context.userId, (transaction) =>
    lists.listEmailAddresses(transaction, context.userId, conditions, { limit: ids.length, offset: 0 }),
  );
  const byId = new Map(addresses.map((address) => [address.id, withConsequences(address)]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Adds an address on a verified domain of the user. Throws validation, not_found, conflict. */
export async function createEmailAddress(context: OperationContext, input: NewEmailAddress): Promise<EmailAddress> {
  const parsed = canonicalAddress(input.address);
  if (parsed === null) throw invalid('Invalid email address format', 'address');
  const id = newIdentifier(context, 'emailAddress');
  await context.entities.asUser(context.userId, (unit) => addAddress(unit, context, { ...input, ...parsed, id }));
  context.bus.publish('routing.changed', { name: parsed.address });
  return readEmailAddress(context, id);
}

async function addAddress(
  unit: UnitOfWork,
  context: OperationContext,
  input: NewEmailAddress & { id: string; domain: string },
): Promise<void> {
  const { userId } = context;
  const { id, domainId, address } = input;
  const domain = isAskable(domainId) ? await unit.entities.findOne(Domain, { userId, id: domainId }) : null;
  if (domain === null) throw new UserError('not_found', 'Domain not found or access denied');
  if (input.domain !== domain.name) throw invalid(`Email must belong to domain ${domain.name}`, 'address');
  if (domain.status !== 'verified') throw invalid('Domain must be verified', 'domainId');
  const endpointId = await checkRouting(unit, userId, input);
  const isFree = await lists.claimAddress(unit.transaction, { address, user_id: userId, address_id: id });
  if (!isFree) throw new UserError('conflict', 'Email address already exists');
  const createdAt = context.now();
  unit.entities.create(EmailAddressEntity, {
    userId,
    id,
    domainId,
    address,
    endpointId,
    webhookId: null,
    isActive: input.isActive ?? true,
    createdAt,
    updatedAt: createdAt,
  });
}

/** The endpoint that mail shall go to; null for none. */
async function checkRouting(unit: UnitOfWork, userId: string, input: NewEmailAddress): Promise<string | null> {
  const { endpointId = null, webhookId = null } = input;
  if (endpointId !== null && webhookId !== null) throw invalid('Cannot specify both endpoint and webhook', 'webhookId');
  // Webhooks of the old kind are not made any more, so none can be named.
  if (webhookId !== null) throw new UserError('not_found', 'Webhook not found');
  if (endpointId === null) return null;
  const endpoint = isAskable(endpointId) ? await unit.entities.findOne(Endpoint, { userId, id: endpointId }) : null;
  if (endpoint === null) throw new UserError('not_found', 'Endpoint not found');
  if (!endpoint.isActive) throw invalid('Endpoint is not active', 'endpointId');
  return endpointId;
}

function withConsequences(address: lists.EmailAddress): EmailAddress {
  const { status, isTrusted } = address.domain;
  return { ...address, isReceiving: address.isActive && status === 'verified' && isTrusted };
}
