import { createHash } from 'node:crypto';
import type { DkimKey } from '../../core/domains/dkim-key.ts';
import { type DnsRecord, listDnsRecords } from '../../core/domains/dns-records.ts';
import { type AuthAdvice, toAuthAdvice } from '../../core/domains/domain-advice.ts';
import { type DomainCheck, findCheckedRecord, isSeen, readDomainCheck } from '../../core/domains/domain-check.ts';
import { canonicalDomainName, parentDomains } from '../../core/domains/domain-name.ts';
import { REASONS } from '../../core/domains/domain-state.ts';
import { isMtaStsSeen, isTlsReportSeen, type TransportAdvice, toTransportAdvice } from '../../core/domains/mta-sts.ts';
import { isNameOfService, isTrustedDomain } from '../../core/domains/trusted-domain.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { DkimKey as DkimKeyEntity, Domain as DomainEntity } from '../../db/entities/domains.ts';
import type { UnitOfWork } from '../../db/entities/store.ts';
import { isTaken } from '../../db/errors.ts';
import * as lists from '../../db/queries/domains/domain-list.ts';
import { countDomains } from '../../db/queries/domains/domain-list.ts';
import * as pages from '../../db/queries/domains/domain-page.ts';
import { findDomainId } from '../../db/queries/domains/domain-page.ts';
import type { DomainConditions, Domain as DomainRow } from '../../db/queries/domains/domain-row.ts';
import { countRecentEmails, NONE, type RecentEmails } from '../../db/queries/upkeep/recent-emails.ts';
import { requireRoom } from '../accounts/quotas.ts';
import { invalid, isValidId, newIdentifier, type OperationContext, type OperationSettings } from '../context.ts';
import { checkDnsNow, checkNewDomainDns } from './check-dns.ts';
import { makeDkimKey } from './make-dkim-key.ts';

/** A domain with its address counts. */
export interface ListedDomain extends lists.Domain, DomainConsequences {}

export interface DomainDetails extends ListedDomain {
  emailCounts: RecentEmails;
}

/** Filters of the list; omitted filters match all. */
export interface DomainQuery {
  status?: lists.Domain['status'] | undefined;
  canReceive?: boolean | undefined;
}

export interface DomainList {
  domains: ListedDomain[];
  total: number;
  /** of all the user's domains */
  counts: Record<lists.Domain['status'], number>;
}

/** Returns a page, newest first, with the exact total. */
export async function listDomains(context: OperationContext, query: DomainQuery, page: Page): Promise<DomainList> {
  const conditions = { ids: null, status: query.status ?? null, canReceive: query.canReceive ?? null };
  return asWorkspace(context.database, context.workspaceId, async (transaction) => {
    const { domains, total } = await lists.listDomains(transaction, context.workspaceId, conditions, page);
    const counts = await lists.countDomains(transaction, context.workspaceId);
    return { domains: domains.map((domain) => makeDomainView(context, domain)), total, counts };
  });
}

/**
 * Checks the DNS of a page of domains and returns the page again. The check may move domains off the page. Throws
 * unavailable.
 */
export async function listCheckedDomains(
  context: OperationContext,
  query: DomainQuery,
  page: Page,
): Promise<DomainList> {
  const { domains } = await listDomains(context, query, page);
  await checkDnsNow(
    context,
    domains.map(({ id }) => id),
  );
  return listDomains(context, query, page);
}

/** Throws not_found. */
export async function readDomain(context: OperationContext, domainId: string): Promise<DomainDetails> {
  const [domain = null] = await readDomains(context, [domainId]);
  if (domain === null) throw domainNotFound();
  return domain;
}

/** Returns one domain per id, as readDomain does; null where the user has none. */
export async function readDomains(
  context: OperationContext,
  domainIds: readonly string[],
): Promise<(DomainDetails | null)[]> {
  const { workspaceId } = context;
  const ids = domainIds.filter(isValidId);
  if (ids.length === 0) return domainIds.map(() => null);
  return asWorkspace(context.database, workspaceId, async (transaction) => {
    const { domains } = await lists.listDomains(transaction, workspaceId, ofIds(ids), { limit: ids.length, offset: 0 });
    const names = domains.map(({ name }) => name);
    const counted =
      names.length === 0 ? null : await countRecentEmails(transaction, workspaceId, { domains: names }, context.now());
    const byId = new Map(
      domains.map((domain) => {
        const emailCounts = counted?.get(domain.name) ?? NONE;
        return [domain.id, { ...makeDomainView(context, domain), emailCounts }];
      }),
    );
    return domainIds.map((id) => byId.get(id) ?? null);
  });
}

/** Checks the DNS of a domain and returns it. Throws not_found, unavailable. */
export async function readCheckedDomain(context: OperationContext, domainId: string): Promise<DomainDetails> {
  const { id } = await readDomain(context, domainId);
  await checkDnsNow(context, [id]);
  return readDomain(context, id);
}

/**
 * Adds a domain. It is verified immediately when it is trusted or a subdomain of the user's verified domain, otherwise
 * it stays pending until the owner publishes the DNS records, which are checked right away if possible. A domain gets a
 * DKIM key of its own unless it is a subdomain, which uses its parent's key. Throws validation, conflict, unavailable.
 */
export async function createDomain(context: OperationContext, input: { domain: string }): Promise<DomainDetails> {
  const name = canonicalDomainName(input.domain);
  if (name === null) throw invalid('Invalid domain format', 'domain');
  if (name === context.settings.mailHostname)
    throw invalid('This is the name of the mail server itself. Add the domain above it, or another one.', 'domain');
  if (isNameOfService(name, context.settings.trustedDomains, serviceHosts(context.settings)))
    throw invalid(`${name} is a name that the service uses itself, such as for bounces. Use another one.`, 'domain');
  const domainId = newIdentifier(context, 'domain');
  const key = await planKey(context, name);
  try {
    await context.entities.asWorkspace(context.workspaceId, (unit) =>
      addDomain(unit, context, { id: domainId, name, key }),
    );
  } catch (error) {
    if (isTaken(error)) throw alreadyAdded(error);
    throw error;
  }
  context.bus.publish('routing.changed', { name });
  if (!isTrustedDomain(name, context.settings.trustedDomains)) await checkNewDomainDns(context, domainId);
  return readDomain(context, domainId);
}

/** Returns the names under which the service itself is reached. */
export function serviceHosts(settings: OperationSettings): string[] {
  const { mailHostname, publicUrl, unsubscribeUrl, smtp } = settings;
  const urls = [publicUrl, unsubscribeUrl].filter((url) => url !== null);
  return [mailHostname, smtp.host, ...urls.map((url) => new URL(url).hostname)].map((host) => host.toLowerCase());
}

/**
 * Generates the DKIM key of a new domain before the transaction, which must not wait for it. Returns null for a
 * subdomain, which needs none. Throws conflict when the domain cannot be added.
 */
async function planKey(context: OperationContext, name: string): Promise<DkimKey | null> {
  const { database, workspaceId, now, random, settings } = context;
  const { isKnown, isOpen, parent } = await asWorkspace(database, workspaceId, async (transaction) => ({
    isKnown: (await findDomainId(transaction, workspaceId, name)) !== null,
    parent: await lists.findVerifiedDomain(transaction, workspaceId, parentDomains(name)),
    isOpen: await lists.contestVerifiedName(transaction, name),
  }));
  if (isKnown) throw alreadyAdded();
  if (!isOpen) throw alreadyRegistered();
  return parent === null ? makeDkimKey({ secretKey: settings.secretKey, now, random }) : null;
}

async function addDomain(
  { entities, transaction }: UnitOfWork,
  context: OperationContext,
  domain: { id: string; name: string; key: DkimKey | null },
): Promise<void> {
  const { workspaceId } = context;
  const { id, name, key } = domain;
  await requireRoom(context, transaction, 'domains');
  const parent = await lists.findVerifiedDomain(transaction, workspaceId, parentDomains(name));
  if (parent === null && key === null)
    throw new UserError('conflict', 'The parent domain is no longer verified. Try again.');
  const isTrusted = isTrustedDomain(name, context.settings.trustedDomains) || (parent?.isTrusted ?? false);
  const isVerified = isTrusted || parent !== null;
  if (isVerified && !(await lists.claimVerifiedName(transaction, { name, workspace_id: workspaceId, domain_id: id })))
    throw alreadyRegistered();
  const createdAt = context.now();
  entities.create(DomainEntity, {
    workspaceId,
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
    entities.create(DkimKeyEntity, { workspaceId, domainId: id, ...key, activatedAt: createdAt });
}

function ofIds(ids: readonly string[]): DomainConditions {
  return { ids, status: null, canReceive: null };
}

export function domainNotFound(): UserError {
  return new UserError('not_found', 'Domain not found');
}

/** The `code` of both conflicts: the domain is the user's, or another account's. */
const ALREADY_REGISTERED = 'DOMAIN_ALREADY_REGISTERED';

/** The account itself has the domain. */
function alreadyAdded(cause?: unknown): UserError {
  return new UserError('conflict', 'Domain already exists', { reason: ALREADY_REGISTERED, isFinal: true, cause });
}

function alreadyRegistered(): UserError {
  return new UserError('conflict', 'Domain is already registered', { reason: ALREADY_REGISTERED, isFinal: true });
}

/** Returns a page of domains, newest first; inverted: oldest first. */
export function pageDomains(context: OperationContext, query: DomainQuery, page: KeysetPage): Promise<Domain[]> {
  return asWorkspace(context.database, context.workspaceId, async (transaction) => {
    const rows = await pages.pageDomains(transaction, context.workspaceId, toConditions(query), page);
    return rows.map((row) => makeDomainView(context, row));
  });
}

/** Returns such a page with the address counts of each domain. */
export async function pageListedDomains(
  context: OperationContext,
  query: DomainQuery,
  page: KeysetPage,
): Promise<ListedDomain[]> {
  const { workspaceId } = context;
  return asWorkspace(context.database, workspaceId, async (transaction) => {
    const rows = await pages.pageDomains(transaction, workspaceId, toConditions(query), page);
    const ids = rows.map(({ id }) => id);
    const counted = await lists.listDomains(transaction, workspaceId, ofIds(ids), { limit: ids.length, offset: 0 });
    const byId = new Map(counted.domains.map((domain) => [domain.id, makeDomainView(context, domain)]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  });
}

export function countDomainList({ database, workspaceId }: OperationContext, query: DomainQuery): Promise<number> {
  return asWorkspace(database, workspaceId, (transaction) =>
    pages.countDomainList(transaction, workspaceId, toConditions(query)),
  );
}

/** Returns the number of the user's domains in each status. */
export function countDomainsByStatus({ database, workspaceId }: OperationContext): Promise<DomainList['counts']> {
  return asWorkspace(database, workspaceId, (transaction) => countDomains(transaction, workspaceId));
}

/** Returns one domain per id, null where the user has none. */
export async function loadDomains(context: OperationContext, ids: readonly string[]): Promise<(Domain | null)[]> {
  const rows = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    pages.findDomains(transaction, context.workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(rows.map((row) => [row.id, makeDomainView(context, row)]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Returns the id of the user's domain with that name, in any spelling; null when there is none. */
export async function findDomainByName(
  { database, workspaceId }: OperationContext,
  name: string,
): Promise<string | null> {
  const canonical = canonicalDomainName(name);
  if (canonical === null) return null;
  return asWorkspace(database, workspaceId, (transaction) => pages.findDomainId(transaction, workspaceId, canonical));
}

/** Returns the user's domains with these names, which are in lower case. */
export function findDomainsByName(
  { database, workspaceId }: OperationContext,
  names: readonly string[],
): Promise<{ id: string; name: string }[]> {
  if (names.length === 0) return Promise.resolve([]);
  return asWorkspace(database, workspaceId, (transaction) =>
    transaction
      .selectFrom('domain')
      .select(['id', 'name'])
      .where('workspace_id', '=', workspaceId)
      .where('name', 'in', names)
      .execute(),
  );
}

/** Returns a page of subdomains of each domain, newest first; inverted: oldest first. */
export async function pageSubdomains(
  context: OperationContext,
  domainIds: readonly string[],
  page: KeysetPage,
): Promise<Domain[][]> {
  const byDomain = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    pages.pageSubdomains(transaction, context.workspaceId, domainIds, page),
  );
  return domainIds.map((id) => (byDomain.get(id) ?? []).map((row) => makeDomainView(context, row)));
}

/** Returns the number of the user's subdomains of each domain. */
export async function countSubdomains(
  { database, workspaceId }: OperationContext,
  domainIds: readonly string[],
): Promise<number[]> {
  const counts = await asWorkspace(database, workspaceId, (transaction) =>
    pages.countSubdomains(transaction, workspaceId, domainIds),
  );
  return domainIds.map((id) => counts.get(id) ?? 0);
}

/** Returns the recent mail counts of each domain, by name. */
export async function countDomainEmails(context: OperationContext, names: readonly string[]): Promise<RecentEmails[]> {
  const counts = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    countRecentEmails(transaction, context.workspaceId, { domains: names }, context.now()),
  );
  return names.map((name) => counts.get(name) ?? NONE);
}

function toConditions({ status, canReceive }: DomainQuery): DomainConditions {
  return { ids: null, status: status ?? null, canReceive: canReceive ?? null };
}

/** A DNS record that the owner should publish, and whether it was found. */
export interface ShownRecord extends DnsRecord {
  /** stable as long as the record is required */
  id: string;
  isSeen: boolean;
  /** why it was not found, or that DNS did not respond; null: found, or not checked yet */
  error: string | null;
}

/** The MTA-STS and TLS-RPT advice, and which of its records were found. */
interface ShownTransport extends TransportAdvice {
  isMtaStsSeen: boolean;
  isTlsReportSeen: boolean;
}

/** Facts derived from a domain's row. */
export interface DomainConsequences {
  /** verified, and its MX points here */
  canReceive: boolean;
  dnsRecords: ShownRecord[];
  /** the last DNS check; null before the first one */
  check: DomainCheck | null;
  /** optional records that help delivery */
  advice: AuthAdvice;
  /** how to require TLS from senders */
  transport: ShownTransport;
  /** why it is not verified, as text; null when there is nothing to say */
  reason: string | null;
  /** verified, and every required record was found */
  isFullyVerified: boolean;
  /** whether the record of a signing key was found, its own or its parent's */
  isDkimSeen: boolean;
}

/** A domain with the facts derived from its row. */
export interface Domain extends DomainRow, DomainConsequences {}

/** Adds the derived facts to a domain's row. */
export function makeDomainView<Row extends DomainRow>(
  context: OperationContext,
  domain: Row,
): Row & DomainConsequences {
  const { status, isTrusted, isMxSeen, parent } = domain;
  const check = readDomainCheck(domain.dnsCheck);
  const { mailHostname, mtaStsMode } = context.settings;
  const transport = toTransportAdvice(domain.name, mtaStsMode, mailHostname);
  const canReceive = status === 'verified' && (isTrusted || isMxSeen);
  const records = listDnsRecords({ ...domain, isInherited: parent !== null }, mailHostname);
  const reason = check?.reason ?? null;
  const isSpfSeen = records.some((record) => record.purpose === 'spf' && isSeen(check, record));
  const dnsRecords = records.map((record) => {
    const told = findCheckedRecord(check, record);
    return { ...record, id: recordId(domain.id, record), isSeen: told?.isSeen ?? false, error: told?.error ?? null };
  });
  const dkim = dnsRecords.filter(({ purpose }) => purpose === 'dkim');
  return {
    ...domain,
    canReceive,
    check,
    advice: toAuthAdvice(
      { name: domain.name, isInherited: parent !== null, canReceive, isSpfSeen },
      check,
      mailHostname,
    ),
    transport: {
      ...transport,
      isMtaStsSeen: isMtaStsSeen(check?.mtaSts ?? [], transport),
      isTlsReportSeen: isTlsReportSeen(check?.tlsReports ?? []),
    },
    reason: reason === null || status === 'verified' ? null : REASONS[reason],
    dnsRecords,
    isFullyVerified:
      status === 'verified' && (isTrusted || dnsRecords.every(({ isRequired, isSeen: has }) => has || !isRequired)),
    // A subdomain uses its parent's key.
    isDkimSeen: dkim.length === 0 ? parent !== null : dkim.some(({ isSeen: has }) => has),
  };
}

function recordId(domainId: string, { purpose, name }: DnsRecord): string {
  return `dns_${createHash('sha256').update(`${domainId} ${purpose} ${name}`).digest('hex').slice(0, 32)}`;
}
