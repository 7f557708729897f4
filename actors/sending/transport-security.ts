import type { Logger } from 'pino';
import { MTA_STS_PATH, makeMtaStsName } from '../../core/domains/mta-sts.ts';
import { matchesTlsa, type TlsaRecord, usableTlsaRecords } from '../../core/sending/dane.ts';
import { findPolicyId, listsHost, type MtaStsPolicy, parseMtaStsPolicy } from '../../core/sending/mta-sts-policy.ts';
import { createCountedCache, createSizedCache } from '../../core/shared/sized-cache.ts';
import type { Database } from '../../db/connection/database.ts';
import {
  readMtaStsPolicy,
  type StoredMtaStsPolicy,
  storeMtaStsPolicy,
} from '../../db/queries/sending/mta-sts-policy.ts';
import { type CheckedResponse, type OpenDispatcher, requestChecked } from '../network/checked-request.ts';
import type { LookUp } from '../network/dns-resolver.ts';
import type { DnssecLookups } from '../network/dnssec-lookups.ts';
import type { HostSecurity, MailHost, RouteHost } from './resolve-destination.ts';

/** The hosts of a destination with what each must offer, or why none may be used. */
export type SecuredHosts = { hosts: RouteHost[] } | { refusal: { status: '4.7.5' | '4.4.3'; text: string } };

export interface TransportPolicies {
  mtaSts: FoundPolicy;
  dane: DaneDestination;
}

/**
 * Applies the policies of the recipients' domain to its mail servers. A server with TLSA records follows DANE alone (RFC 8461 §2). For the
 * others, a policy in mode `enforce` demands TLS with a valid certificate for their name, and leaves out servers that it does not list (RFC 8461
 * §5). In mode `testing`, mail is delivered as without a policy.
 */
export async function secureHosts(
  domain: string,
  hosts: readonly MailHost[],
  { mtaSts, dane }: TransportPolicies,
): Promise<SecuredHosts> {
  if (dane.kind === 'failed') return dnsRefusal(domain);
  const known = dane.kind === 'secure' ? hosts.filter(({ name }) => dane.names.has(name)) : hosts;
  const found = await Promise.all(
    known.map(async (host) => ({
      host,
      tlsa: dane.kind === 'secure' ? await dane.hostOf(host.name) : ({ kind: 'none' } as const),
    })),
  );
  const secured = found.flatMap(({ host, tlsa }) => securedHost(domain, host, tlsa, mtaSts));
  if (secured.length > 0) return { hosts: secured };
  const isUnlisted = found.some(({ tlsa }) => tlsa.kind === 'none');
  if (!isUnlisted) return dnsRefusal(domain);
  const names = hosts.map(({ name }) => name).join(', ');
  const text = `The MTA-STS policy of ${domain} does not list its mail servers (${names})`;
  return { refusal: { status: '4.7.5', text } };
}

function securedHost(domain: string, host: MailHost, tlsa: DaneHost, { policy }: FoundPolicy): RouteHost[] {
  switch (tlsa.kind) {
    case 'failed':
      return [];
    case 'tlsa':
      return [{ ...host, security: daneSecurity(domain, host, tlsa), tlsa }];
    case 'none':
      if (policy?.mode !== 'enforce') return [host];
      return listsHost(policy, host.name) ? [{ ...host, security: mtaStsSecurity(domain) }] : [];
  }
}

function mtaStsSecurity(domain: string): HostSecurity {
  return {
    tls: 'required',
    isCertificateVerified: true,
    requiredBy: `The MTA-STS policy of ${domain} requires TLS with a valid certificate`,
  };
}

function daneSecurity(
  domain: string,
  host: MailHost,
  { baseName, records }: DaneHost & { kind: 'tlsa' },
): HostSecurity {
  const names = [baseName, host.name, domain];
  return {
    tls: 'required',
    isCertificateVerified: false,
    serverName: baseName,
    // Without a usable record, TLS is required and nothing is authenticated (RFC 7672 §2.2).
    ...(records.length === 0 ? {} : { acceptsChain: (chain, now) => matchesTlsa(records, chain, names, now) }),
    requiredBy: `The DANE records of ${baseName} require TLS${records.length === 0 ? '' : ' with a certificate that matches them'}`,
  };
}

function dnsRefusal(domain: string): SecuredHosts {
  const text = `The mail servers of ${domain} could not be looked up with DNSSEC validation`;
  return { refusal: { status: '4.4.3', text } };
}

/** Why a domain that announces a policy has none that can be used (RFC 8460 §4.3.2). */
type PolicyFetchFailure = 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid';

export interface FoundPolicy {
  /** null: the domain has none that can be used */
  policy: MtaStsPolicy | null;
  /** of the last fetch, when the domain announces a policy that could not be fetched */
  failure: PolicyFetchFailure | null;
}

export interface MtaStsPolicies {
  /** Finds the policy of a domain. Never rejects. */
  find(domain: string, lookUp: LookUp): Promise<FoundPolicy>;
}

export interface MtaStsOptions {
  database: Database;
  log: Logger;
  /** checks the addresses of policy hosts */
  openDispatcher: OpenDispatcher;
  /** of policy hosts: 443, except in tests */
  port: number;
}

/** A policy file may have 64 KB (RFC 8461 §3.2); the time is for the whole fetch. */
const MAX_BYTES = 65_536;
const FETCH_TIMEOUT_MS = 20_000;
/** After a failed fetch, the policy of the same id is fetched again no sooner (RFC 8461 §3.3). */
const FETCH_PAUSE_MS = 300_000;
/** How long it is remembered that the database has no policy of a domain. Another process may store one. */
const ABSENT_MS = 600_000;
/** Domains that are remembered. */
const MAX_DOMAINS = 10_000;
/** Size of all policies in memory: a receiver decides how large its own is. Bytes, about. @limit */
export const MAX_POLICIES = 10_000_000;

/** A policy in memory, or that there is none. */
interface Known {
  policy: StoredMtaStsPolicy | null;
  /** on performance.now(): when it expires, or when the database is asked again */
  until: number;
  /** on performance.now(): after this it is fetched again although its id is the same, so that it does not expire */
  refreshAfter: number;
}

/**
 * Finds policies as RFC 8461 §3 demands: the TXT record announces a policy by its id, the policy is fetched over HTTPS when that id is new,
 * and it applies until its max_age ends, even when DNS or the policy host is unreachable. Policies are stored in PostgreSQL, so that a
 * restart does not forget them, and each process keeps them in memory.
 */
export function createMtaStsPolicies(options: MtaStsOptions): MtaStsPolicies {
  const { database, log } = options;
  const memory = createSizedCache<Known>({
    maxSize: MAX_POLICIES,
    size: ({ policy }, domain) => domain.length + JSON.stringify(policy).length,
  });
  const loading = new Map<string, Promise<Known>>();
  const fetching = new Map<string, Promise<PolicyFetchFailure | null>>();
  const failures = createCountedCache<{ policyId: string; failure: PolicyFetchFailure; until: number }>(MAX_DOMAINS);

  const remember = (domain: string, policy: StoredMtaStsPolicy | null): Known => {
    const now = performance.now();
    const lifeMs = policy === null ? ABSENT_MS : policy.secondsLeft * 1_000;
    const known = { policy, until: now + lifeMs, refreshAfter: now + lifeMs / 2 };
    memory.set(domain, known);
    return known;
  };

  const load = (domain: string): Promise<Known> => {
    const known = memory.get(domain);
    if (known !== undefined && known.until > performance.now()) return Promise.resolve(known);
    const begun = loading.get(domain);
    if (begun !== undefined) return begun;
    const load = readMtaStsPolicy(database, domain)
      .then((policy) => remember(domain, policy))
      .finally(() => loading.delete(domain));
    loading.set(domain, load);
    return load;
  };

  const fetchPolicy = (domain: string, policyId: string): Promise<PolicyFetchFailure | null> => {
    const failed = failures.get(domain);
    if (failed?.policyId === policyId && failed.until > performance.now()) return Promise.resolve(failed.failure);
    const begun = fetching.get(domain);
    if (begun !== undefined) return begun;
    const fetched = fetchNow(domain, policyId).finally(() => fetching.delete(domain));
    fetching.set(domain, fetched);
    return fetched;
  };

  const fetchNow = async (domain: string, policyId: string): Promise<PolicyFetchFailure | null> => {
    const port = options.port === HTTPS_PORT ? '' : `:${options.port}`;
    const response = await requestChecked(options.openDispatcher, {
      url: `https://mta-sts.${domain}${port}${MTA_STS_PATH}`,
      method: 'GET',
      timeoutMs: FETCH_TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    const read = readResponse(response);
    if (typeof read === 'string') {
      failures.set(domain, { policyId, failure: read, until: performance.now() + FETCH_PAUSE_MS });
      log.warn({ domain, failure: read }, 'sending: the MTA-STS policy of a domain could not be fetched');
      return read;
    }
    failures.delete(domain);
    remember(domain, { ...read, policyId, secondsLeft: read.maxAgeSeconds });
    await storeMtaStsPolicy(database, domain, { ...read, policyId }).catch((error: unknown) =>
      log.warn({ err: error, domain }, 'sending: an MTA-STS policy could not be stored'),
    );
    return null;
  };

  return {
    async find(domain, lookUp) {
      const [policyId, known] = await Promise.all([announcedId(domain, lookUp), load(domain).catch(() => null)]);
      const held = known?.policy ?? null;
      if (policyId === null) return { policy: held, failure: null };
      if (held?.policyId === policyId) {
        if (known !== null && known.refreshAfter < performance.now()) void fetchPolicy(domain, policyId);
        return { policy: held, failure: null };
      }
      const failure = await fetchPolicy(domain, policyId);
      return { policy: memory.get(domain)?.policy ?? held, failure };
    },
  };
}

const HTTPS_PORT = 443;

/** Returns the id of the policy that a domain announces; null when it announces none, or DNS does not tell. */
async function announcedId(domain: string, lookUp: LookUp): Promise<string | null> {
  try {
    const records = await lookUp(makeMtaStsName(domain), 'TXT');
    return findPolicyId(records.map((strings) => [strings].flat().join('')));
  } catch {
    return null;
  }
}

function readResponse(response: CheckedResponse): MtaStsPolicy | PolicyFetchFailure {
  if (response.kind === 'no-response')
    return /CERT|SELF_SIGNED|ISSUER|ERR_TLS/.test(response.code ?? '')
      ? 'sts-webpki-invalid'
      : 'sts-policy-fetch-error';
  if (response.statusCode !== 200) return 'sts-policy-fetch-error';
  if (!/^text\/plain\b/i.test(response.contentType)) return 'sts-policy-invalid';
  return parseMtaStsPolicy(response.body) ?? 'sts-policy-invalid';
}

/** TLSA records of one mail server. */
type DaneHost =
  /** none, or not in a signed zone: TLS as without DANE */
  | { kind: 'none' }
  /** they could not be found out, so the server must not be used now */
  | { kind: 'failed' }
  /** mail needs TLS; without usable records, with any certificate */
  | { kind: 'tlsa'; baseName: string; records: TlsaRecord[] };

/** What validated DNS says of a domain's mail servers. */
export type DaneDestination =
  /** the MX records are not signed: DANE does not apply */
  | { kind: 'insecure' }
  | { kind: 'failed' }
  /** `names`: the only servers that may be used */
  | { kind: 'secure'; names: ReadonlySet<string>; hostOf: (name: string) => Promise<DaneHost> };

/** Looks up what RFC 7672 §2.2 asks for: MX, then the addresses and the TLSA records of each server. Never rejects. */
export async function findDane(dns: DnssecLookups, domain: string, port: number): Promise<DaneDestination> {
  const mx = await dns.ask(domain, 'MX');
  if (mx.kind === 'failed') return { kind: 'failed' };
  if (mx.kind === 'insecure') return { kind: 'insecure' };
  const exchanges = mx.records.flatMap((reply) => (reply.type === 'MX' ? [reply.data.exchange.toLowerCase()] : []));
  const names = new Set(exchanges.length === 0 ? [domain] : exchanges.map((name) => name.replace(/\.$/, '')));
  return { kind: 'secure', names, hostOf: (name) => findTlsa(dns, name, port) };
}

async function findTlsa(dns: DnssecLookups, name: string, port: number): Promise<DaneHost> {
  const addresses = await askAddresses(dns, name);
  if (addresses.kind === 'failed') return { kind: 'failed' };
  // A server in an unsigned zone may be broken for TLSA queries (RFC 7672 §2.2.2).
  if (addresses.kind === 'insecure') return { kind: 'none' };
  const target = addresses.records.findLast((reply) => reply.type === 'CNAME');
  const expanded = target?.type === 'CNAME' ? target.data.toLowerCase().replace(/\.$/, '') : name;
  for (const baseName of new Set([expanded, name])) {
    const tlsa = await dns.ask(`_${port}._tcp.${baseName}`, 'TLSA');
    if (tlsa.kind === 'failed') return { kind: 'failed' };
    const records = tlsa.records.flatMap((reply) => (reply.type === 'TLSA' ? [reply.data] : []));
    if (tlsa.kind === 'secure' && records.length > 0)
      return { kind: 'tlsa', baseName, records: usableTlsaRecords(records) };
  }
  return { kind: 'none' };
}

async function askAddresses(dns: DnssecLookups, name: string) {
  const four = await dns.ask(name, 'A');
  const hasFour = four.kind !== 'failed' && four.records.some(({ type }) => type === 'A');
  return hasFour || four.kind === 'failed' ? four : dns.ask(name, 'AAAA');
}
