import type { DkimKey } from '../core/dkim-key.ts';
import { type DnsRecord, dnsRecordsOf } from '../core/dns-records.ts';
import { canonicalDomainName, parentDomains } from '../core/domain-name.ts';
import { UserError } from '../core/errors.ts';
import type { Page } from '../core/page.ts';
import { asUser } from '../db/database.ts';
import { Domain as DomainEntity } from '../db/entities/domain.ts';
import type { UnitOfWork } from '../db/entities/store.ts';
import { addDkimKey } from '../db/queries/dkim-key.ts';
import * as lists from '../db/queries/domain-list.ts';
import { invalid, isAskable, isTaken, newIdentifier, type OperationContext } from './context.ts';
import { makeDkimKey } from './dkim-keys.ts';

export const DOMAIN_STATUSES = ['pending', 'verified', 'failed'] as const;

/** A domain with what follows from its row. */
export interface Domain extends lists.Domain {
  /** verified, and its mail comes here */
  canReceive: boolean;
  dnsRecords: DnsRecord[];
}

export interface DomainDetails extends Domain {
  /** the user's nearest verified domain above it */
  parent: string | null;
  emailCounts: { lastDay: number; lastWeek: number; lastMonth: number };
}

/** A page, newest first, with the exact total; absent conditions are none. */
export async function listDomains(
  context: OperationContext,
  query: { status?: lists.Domain['status'] | undefined; canReceive?: boolean | undefined },
  page: Page,
): Promise<{ domains: Domain[]; total: number }> {
  const conditions = { ids: null, status: query.status ?? null, canReceive: query.canReceive ?? null };
  const { domains, total } = await asUser(context.database, context.userId, (transaction) =>
    lists.listDomains(transaction, context.userId, conditions, page),
  );
  return { domains: domains.map((domain) => withConsequences(context, domain)), total };
}

/** Throws not_found. */
export async function readDomain(context: OperationContext, domainId: string): Promise<DomainDetails> {
  const { userId } = context;
  if (!isAskable(domainId)) throw domainNotFound();
  return asUser(context.database, userId, async (transaction) => {
    const { domains } = await lists.listDomains(transaction, userId, ofIds([domainId]), { limit: 1, offset: 0 });
    const domain = domains[0];
    if (domain === undefined) throw domainNotFound();
    const parent = await lists.findVerifiedDomain(transaction, userId, parentDomains(domain.name));
    const emailCounts = await lists.countDomainEmails(transaction, userId, domain.name, context.now());
    return { ...withConsequences(context, domain), parent: parent?.name ?? null, emailCounts };
  });
}

/** One for each id, null where the user has none. */
export async function loadDomains(context: OperationContext, ids: readonly string[]): Promise<(Domain | null)[]> {
  const askable = ids.filter(isAskable);
  const { domains } = await asUser(context.database, context.userId, (transaction) =>
    lists.listDomains(transaction, context.userId, ofIds(askable), { limit: ids.length, offset: 0 }),
  );
  const byId = new Map(domains.map((domain) => [domain.id, withConsequences(context, domain)]));
  return ids.map((id) => byId.get(id) ?? null);
}

/**
 * Adds a domain. It is verified at once when it is trusted or lies under a verified domain of the same user, otherwise pending until
 * its owner has published the records. It gets a key to sign its mail with, unless it lies under such a domain, whose key serves.
 * Throws validation, conflict, unavailable.
 */
export async function createDomain(context: OperationContext, input: { domain: string }): Promise<DomainDetails> {
  const name = canonicalDomainName(input.domain);
  if (name === null) throw invalid('Invalid domain format', 'domain');
  const domainId = newIdentifier(context, 'domain');
  const key = await planKey(context, name);
  try {
    await context.entities.asUser(context.userId, (unit) => addDomain(unit, context, { id: domainId, name, key }));
  } catch (error) {
    if (isTaken(error)) throw new UserError('conflict', 'Domain already exists', { cause: error });
    throw error;
  }
  context.bus.publish('routing.changed', { name });
  return readDomain(context, domainId);
}

/** A key for a domain of that name, made before the transaction, which must not wait for it; null when it needs none of its own. */
async function planKey(context: OperationContext, name: string): Promise<DkimKey | null> {
  const { database, userId, now, random, settings } = context;
  const parent = await asUser(database, userId, (transaction) =>
    lists.findVerifiedDomain(transaction, userId, parentDomains(name)),
  );
  return parent === null ? await makeDkimKey({ secretKey: settings.secretKey, now, random }) : null;
}

async function addDomain(
  { entities, transaction }: UnitOfWork,
  context: OperationContext,
  domain: { id: string; name: string; key: DkimKey | null },
): Promise<void> {
  const { userId } = context;
  const { id, name, key } = domain;
  if ((await entities.count(DomainEntity, { userId, name })) > 0)
    throw new UserError('conflict', 'Domain already exists');
  const parent = await lists.findVerifiedDomain(transaction, userId, parentDomains(name));
  if (parent === null && key === null)
    throw new UserError('conflict', 'The parent domain is no longer verified. Try again.');
  const isTrusted = context.settings.trustedDomains.includes(name) || (parent?.isTrusted ?? false);
  const isVerified = isTrusted || parent !== null;
  const isFree = isVerified
    ? await lists.claimVerifiedName(transaction, { name, user_id: userId, domain_id: id })
    : await lists.isVerifiedNameFree(transaction, name);
  if (!isFree) throw new UserError('conflict', 'Domain is already registered', { reason: 'DOMAIN_ALREADY_REGISTERED' });
  const createdAt = context.now();
  entities.create(DomainEntity, {
    userId,
    id,
    name,
    status: isVerified ? 'verified' : 'pending',
    isTrusted,
    verifiedAt: isVerified ? createdAt : null,
    createdAt,
    updatedAt: createdAt,
  });
  if (parent === null && key !== null)
    await addDkimKey(transaction, { userId, domainId: id }, { ...key, activatedAt: createdAt });
}

function ofIds(ids: readonly string[]): lists.DomainConditions {
  return { ids, status: null, canReceive: null };
}

function withConsequences(context: OperationContext, domain: lists.Domain): Domain {
  const canReceive = domain.status === 'verified' && domain.isTrusted;
  return { ...domain, canReceive, dnsRecords: dnsRecordsOf(domain, context.settings.mailHostname) };
}

function domainNotFound(): UserError {
  return new UserError('not_found', 'Domain not found');
}
