import type { DkimKey } from '../../core/domains/dkim-key.ts';
import { canonicalDomainName, parentDomains } from '../../core/domains/domain-name.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Page } from '../../core/shared/page.ts';
import { asUser } from '../../db/connection/database.ts';
import { Domain as DomainEntity } from '../../db/entities/domain.ts';
import type { UnitOfWork } from '../../db/entities/store.ts';
import { addDkimKey } from '../../db/queries/domains/dkim-key.ts';
import * as lists from '../../db/queries/domains/domain-list.ts';
import { findDomainId } from '../../db/queries/domains/domain-page.ts';
import type { DomainConditions } from '../../db/queries/domains/domain-row.ts';
import { countRecentEmails, NONE, type RecentEmails } from '../../db/queries/upkeep/recent-emails.ts';
import { invalid, isAskable, isTaken, newIdentifier, type OperationContext } from '../context.ts';
import { makeDkimKey } from './dkim-keys.ts';
import { lookFirst, lookNow } from './domain-look.ts';
import { type DomainConsequences, domainViewOf } from './domain-view.ts';

/** With how many addresses it has. */
export interface Domain extends lists.Domain, DomainConsequences {}

export const DOMAIN_STATUSES = ['pending', 'verified', 'failed'] as const;

export interface DomainDetails extends Domain {
  emailCounts: RecentEmails;
}

/** What a list is asked for; absent puts no condition. */
export interface DomainQuery {
  status?: lists.Domain['status'] | undefined;
  canReceive?: boolean | undefined;
}

export interface DomainList {
  domains: Domain[];
  total: number;
  /** of all domains of the user */
  counts: Record<lists.Domain['status'], number>;
}

/** A page, newest first, with the exact total; absent conditions are none. */
export async function listDomains(context: OperationContext, query: DomainQuery, page: Page): Promise<DomainList> {
  const conditions = { ids: null, status: query.status ?? null, canReceive: query.canReceive ?? null };
  return asUser(context.database, context.userId, async (transaction) => {
    const { domains, total } = await lists.listDomains(transaction, context.userId, conditions, page);
    const counts = await lists.countDomains(transaction, context.userId);
    return { domains: domains.map((domain) => domainViewOf(context, domain)), total, counts };
  });
}

/** As listDomains, after their DNS was looked at; what a look changes may move domains off the page. Throws unavailable. */
export async function listCheckedDomains(
  context: OperationContext,
  query: DomainQuery,
  page: Page,
): Promise<DomainList> {
  const { domains } = await listDomains(context, query, page);
  await lookNow(
    context,
    domains.map(({ id }) => id),
  );
  return listDomains(context, query, page);
}

/** Throws not_found. */
export async function readDomain(context: OperationContext, domainId: string): Promise<DomainDetails> {
  const { userId } = context;
  if (!isAskable(domainId)) throw domainNotFound();
  return asUser(context.database, userId, async (transaction) => {
    const { domains } = await lists.listDomains(transaction, userId, ofIds([domainId]), { limit: 1, offset: 0 });
    const domain = domains[0];
    if (domain === undefined) throw domainNotFound();
    const counted = await countRecentEmails(transaction, userId, { domains: [domain.name] }, context.now());
    return { ...domainViewOf(context, domain), emailCounts: counted.get(domain.name) ?? NONE };
  });
}

/** As readDomain, after its DNS was looked at. Throws not_found, unavailable. */
export async function readCheckedDomain(context: OperationContext, domainId: string): Promise<DomainDetails> {
  const { id } = await readDomain(context, domainId);
  await lookNow(context, [id]);
  return readDomain(context, id);
}

/**
 * Adds a domain. It is verified at once when it is trusted or lies under a verified domain of the same user, otherwise pending until
 * its owner has published the records, for which it is looked at now, as far as that is possible. It gets a key to sign its mail with,
 * unless it lies under such a domain, whose key serves. Throws validation, conflict, unavailable.
 */
export async function createDomain(context: OperationContext, input: { domain: string }): Promise<DomainDetails> {
  const name = canonicalDomainName(input.domain);
  if (name === null) throw invalid('Invalid domain format', 'domain');
  if (name === context.settings.mailHostname)
    throw invalid('This is the name of the mail server itself. Add the domain above it, or another one.', 'domain');
  const domainId = newIdentifier(context, 'domain');
  const key = await planKey(context, name);
  try {
    await context.entities.asUser(context.userId, (unit) => addDomain(unit, context, { id: domainId, name, key }));
  } catch (error) {
    if (isTaken(error)) throw new UserError('conflict', 'Domain already exists', { cause: error });
    throw error;
  }
  context.bus.publish('routing.changed', { name });
  if (!context.settings.trustedDomains.includes(name)) await lookFirst(context, domainId);
  return readDomain(context, domainId);
}

/**
 * A key for a domain of that name, made before the transaction, which must not wait for it; null when it needs none of its own.
 * Throws conflict when the domain cannot be added.
 */
async function planKey(context: OperationContext, name: string): Promise<DkimKey | null> {
  const { database, userId, now, random, settings } = context;
  const { isKnown, isOpen, parent } = await asUser(database, userId, async (transaction) => ({
    isKnown: (await findDomainId(transaction, userId, name)) !== null,
    parent: await lists.findVerifiedDomain(transaction, userId, parentDomains(name)),
    isOpen: await lists.contestVerifiedName(transaction, name),
  }));
  if (isKnown) throw new UserError('conflict', 'Domain already exists');
  if (!isOpen) throw alreadyRegistered();
  return parent === null ? await makeDkimKey({ secretKey: settings.secretKey, now, random }) : null;
}

async function addDomain(
  { entities, transaction }: UnitOfWork,
  context: OperationContext,
  domain: { id: string; name: string; key: DkimKey | null },
): Promise<void> {
  const { userId } = context;
  const { id, name, key } = domain;
  const parent = await lists.findVerifiedDomain(transaction, userId, parentDomains(name));
  if (parent === null && key === null)
    throw new UserError('conflict', 'The parent domain is no longer verified. Try again.');
  const isTrusted = context.settings.trustedDomains.includes(name) || (parent?.isTrusted ?? false);
  const isVerified = isTrusted || parent !== null;
  if (isVerified && !(await lists.claimVerifiedName(transaction, { name, user_id: userId, domain_id: id })))
    throw alreadyRegistered();
  const createdAt = context.now();
  entities.create(DomainEntity, {
    userId,
    id,
    name,
    status: isVerified ? 'verified' : 'pending',
    isTrusted,
    parentId: parent?.id ?? null,
    verifiedAt: isVerified ? createdAt : null,
    createdAt,
    updatedAt: createdAt,
  });
  if (parent === null && key !== null)
    await addDkimKey(transaction, { userId, domainId: id }, { ...key, activatedAt: createdAt });
}

function ofIds(ids: readonly string[]): DomainConditions {
  return { ids, status: null, canReceive: null };
}

export function domainNotFound(): UserError {
  return new UserError('not_found', 'Domain not found');
}

function alreadyRegistered(): UserError {
  return new UserError('conflict', 'Domain is already registered', { reason: 'DOMAIN_ALREADY_REGISTERED' });
}
