import type { Logger } from 'pino';
import { MTA_STS_PATH, mtaStsNameOf } from '../../core/domains/mta-sts.ts';
import { findPolicyId, type MtaStsPolicy, parseMtaStsPolicy } from '../../core/sending/mta-sts-policy.ts';
import { createSizedCache } from '../../core/shared/sized-cache.ts';
import type { Database } from '../../db/connection/database.ts';
import {
  readMtaStsPolicy,
  type StoredMtaStsPolicy,
  storeMtaStsPolicy,
} from '../../db/queries/sending/mta-sts-policy.ts';
import { type CheckedResponse, type OpenDispatcher, requestChecked } from '../network/checked-request.ts';
import type { LookUp } from '../network/dns-resolver.ts';

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
  const failures = new Map<string, { policyId: string; failure: PolicyFetchFailure; until: number }>();

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
      if (failures.size >= MAX_DOMAINS) failures.clear();
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
    const records = await lookUp(mtaStsNameOf(domain), 'TXT');
    return findPolicyId(records.map((strings) => [strings].flat().join('')));
  } catch {
    return null;
  }
}

function readResponse(response: CheckedResponse): MtaStsPolicy | PolicyFetchFailure {
  if (response.kind === 'unanswered')
    return /CERT|SELF_SIGNED|ISSUER|ERR_TLS/.test(response.code ?? '')
      ? 'sts-webpki-invalid'
      : 'sts-policy-fetch-error';
  if (response.statusCode !== 200) return 'sts-policy-fetch-error';
  if (!/^text\/plain\b/i.test(response.contentType)) return 'sts-policy-invalid';
  return parseMtaStsPolicy(response.body) ?? 'sts-policy-invalid';
}
