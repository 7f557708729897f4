import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { listsHost } from '../../core/sending/mta-sts-policy.ts';
import {
  type ReportedFailure,
  type ReportedPolicy,
  toNoPolicy,
  toResultType,
  toStsPolicy,
  toTlsaPolicy,
} from '../../core/sending/tls-report.ts';
import type { Database } from '../../db/connection/database.ts';
import { addTlsSessions, type CountedSessions } from '../../db/queries/sending/tls-report.ts';
import type { TriedHost } from './open-session.ts';
import type { RouteHost } from './resolve-destination.ts';
import type { FoundPolicy } from './transport-security.ts';

/** Counts sessions for TLS reports (RFC 8460), in memory until they are stored. */
export interface TlsSessions {
  /** Counts an attempt to open a session with a server of the domain. */
  note(domain: string, host: RouteHost, mtaSts: FoundPolicy, tried: TriedHost): void;
  /** Counts a domain none of whose servers is in its policy. */
  noteUnlisted(domain: string, names: readonly string[], mtaSts: FoundPolicy): void;
  /** Stores what was counted since the last time. Throws when PostgreSQL is unreachable, and keeps the counts. */
  flush(): Promise<void>;
}

/** Kinds of sessions that are kept between two flushes. */
const MAX_KINDS = 10_000;

export function createTlsSessions({ database, log }: { database: Database; log: Logger }): TlsSessions {
  let counts = new Map<string, CountedSessions>();

  const add = (domain: string, policy: ReportedPolicy, failure: ReportedFailure | null, sessions = 1) => {
    const id = hash('sha256', JSON.stringify([policy, failure]), 'base64url');
    const key = `${domain} ${id}`;
    const known = counts.get(key);
    if (known !== undefined) known.sessions += sessions;
    else if (counts.size < MAX_KINDS) counts.set(key, { domain, id, policy, failure, sessions });
  };

  return {
    note(domain, host, mtaSts, tried) {
      const { tlsa } = host;
      const at = toReportedServer(tried);
      if (tlsa !== undefined) {
        const policy = toTlsaPolicy(domain, tlsa.baseName, tlsa.records);
        return add(domain, policy, findFailure(at, tried.flaw));
      }
      const { policy, failure } = mtaSts;
      if (policy === null && failure !== null)
        return add(domain, toStsPolicy(domain, null), { 'result-type': failure, ...at });
      if (policy === null || policy.mode === 'none') {
        // Without a policy any certificate will do.
        const flaw = tried.flaw !== null && tried.flaw.isCertificate ? null : tried.flaw;
        return add(domain, toNoPolicy(domain), findFailure(at, flaw));
      }
      const flaw = listsHost(policy, host.name) ? tried.flaw : UNLISTED;
      add(domain, toStsPolicy(domain, policy), findFailure(at, flaw));
    },
    noteUnlisted(domain, names, { policy }) {
      for (const name of names)
        add(domain, toStsPolicy(domain, policy), findFailure({ 'receiving-mx-hostname': name }, UNLISTED));
    },
    async flush() {
      if (counts.size === 0) return;
      const stored = counts;
      counts = new Map();
      try {
        await addTlsSessions(database, [...stored.values()]);
      } catch (error) {
        log.debug({ err: error }, 'sending: TLS sessions are stored later');
        for (const { domain, policy, failure, sessions } of stored.values()) add(domain, policy, failure, sessions);
        throw error;
      }
    },
  };
}

const UNLISTED = { code: 'MX_NOT_LISTED', isCertificate: true };

function toReportedServer({ name, address, localAddress }: TriedHost): Omit<ReportedFailure, 'result-type'> {
  return {
    ...(localAddress === null ? {} : { 'sending-mta-ip': localAddress }),
    'receiving-mx-hostname': name,
    'receiving-ip': address,
  };
}

function findFailure(at: Omit<ReportedFailure, 'result-type'>, flaw: TriedHost['flaw']): ReportedFailure | null {
  if (flaw === null) return null;
  const { code } = flaw;
  return { 'result-type': toResultType(code), ...at, ...(code === null ? {} : { 'failure-reason-code': code }) };
}
