import type { TlsaRecord } from './dane.ts';
import type { MtaStsPolicy } from './mta-sts-policy.ts';

/** What went wrong in a session (RFC 8460 §4.3). */
export type TlsResultType =
  | 'starttls-not-supported'
  | 'certificate-host-mismatch'
  | 'certificate-expired'
  | 'certificate-not-trusted'
  | 'validation-failure'
  | 'dnssec-invalid'
  | 'sts-policy-fetch-error'
  | 'sts-policy-invalid'
  | 'sts-webpki-invalid';

/** The policy that a session was subject to, as a report has it (RFC 8460 §4.4). */
export interface ReportedPolicy {
  'policy-type': 'sts' | 'tlsa' | 'no-policy-found';
  'policy-string'?: string[];
  'policy-domain': string;
  'mx-host'?: string[];
}

/** A kind of failure, as a report has it without the count. */
export interface ReportedFailure {
  'result-type': TlsResultType;
  'sending-mta-ip'?: string;
  'receiving-mx-hostname'?: string;
  'receiving-ip'?: string;
  'failure-reason-code'?: string;
}

/** How many sessions of one policy succeeded, or failed in one way. */
export interface SessionCount {
  policy: ReportedPolicy;
  /** null: they succeeded */
  failure: ReportedFailure | null;
  sessions: number;
}

export interface TlsReportSubject {
  /** of the recipients */
  domain: string;
  /** the UTC day, as in 2026-11-23 */
  day: string;
  reportId: string;
  /** the organization that sends the report: our host name */
  submitter: string;
  /** an email address */
  contact: string;
  counts: readonly SessionCount[];
}

/** Returns the report of one domain and day as JSON (RFC 8460 §4.4). */
export function makeTlsReport({ day, reportId, submitter, contact, counts }: TlsReportSubject): string {
  const groups = Map.groupBy(counts, ({ policy }) => JSON.stringify(policy));
  return JSON.stringify({
    'organization-name': submitter,
    'date-range': { 'start-datetime': `${day}T00:00:00Z`, 'end-datetime': `${day}T23:59:59Z` },
    'contact-info': contact,
    'report-id': reportId,
    policies: [...groups.values()].flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const failed = group.flatMap(({ failure, sessions }) =>
        failure === null ? [] : [{ ...failure, 'failed-session-count': sessions }],
      );
      return [
        {
          policy: first.policy,
          summary: {
            'total-successful-session-count': sum(group.filter(({ failure }) => failure === null)),
            'total-failure-session-count': sum(group.filter(({ failure }) => failure !== null)),
          },
          ...(failed.length === 0 ? {} : { 'failure-details': failed }),
        },
      ];
    }),
  });
}

function sum(counts: readonly SessionCount[]): number {
  return counts.reduce((total, { sessions }) => total + sessions, 0);
}

/** Returns the name of the report as a file (RFC 8460 §5.1). */
export function tlsReportFileName({ submitter, domain, day, reportId }: TlsReportSubject): string {
  const startAt = Date.parse(`${day}T00:00:00Z`) / 1_000;
  return `${submitter}!${domain}!${startAt}!${startAt + DAY_SECONDS - 1}!${reportId}.json.gz`;
}

const DAY_SECONDS = 86_400;

/** Where a domain wants its reports. */
export type ReportTarget = { kind: 'https'; uri: string } | { kind: 'mailto'; uri: string; address: string };

/** Targets of one domain that are used. */
const MAX_TARGETS = 5;
const MAX_URI_LENGTH = 1_000;
const ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}$/i;

/** Returns the targets in the TXT records of `_smtp._tls`; none unless exactly one is a TLSRPT record (RFC 8460 §3). */
export function readReportTargets(records: readonly string[]): ReportTarget[] {
  const found = records.filter((text) => /^v=TLSRPTv1[ \t]*;/.test(text));
  const [record] = found;
  if (found.length !== 1 || record === undefined) return [];
  const uris = /;[ \t]*rua[ \t]*=[ \t]*([^;]+)/.exec(record)?.[1]?.split(',') ?? [];
  return [...new Set(uris.map((uri) => uri.trim()))].flatMap(listTarget).slice(0, MAX_TARGETS);
}

function listTarget(uri: string): ReportTarget[] {
  if (uri.length > MAX_URI_LENGTH || !URL.canParse(uri)) return [];
  const { protocol, pathname } = new URL(uri);
  if (protocol === 'https:') return [{ kind: 'https', uri }];
  const address = protocol === 'mailto:' ? decoded(pathname) : '';
  return ADDRESS.test(address) ? [{ kind: 'mailto', uri, address }] : [];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Returns a policy as reports have it. The file's own lines are not stored; these say the same. */
export function toStsPolicy(domain: string, policy: MtaStsPolicy | null): ReportedPolicy {
  if (policy === null) return { 'policy-type': 'sts', 'policy-domain': domain };
  const { mode, mx, maxAgeSeconds } = policy;
  const lines = ['version: STSv1', `mode: ${mode}`, ...mx.map((host) => `mx: ${host}`), `max_age: ${maxAgeSeconds}`];
  return { 'policy-type': 'sts', 'policy-string': lines, 'policy-domain': domain, 'mx-host': mx };
}

/** Returns the TLSA records of a mail server as a policy. */
export function toTlsaPolicy(domain: string, host: string, records: readonly TlsaRecord[]): ReportedPolicy {
  const lines = records.map(
    ({ usage, selector, matchingType, certificate }) =>
      `${usage} ${selector} ${matchingType} ${certificate.toString('hex').toUpperCase()}`,
  );
  return { 'policy-type': 'tlsa', 'policy-string': lines, 'policy-domain': domain, 'mx-host': [host] };
}

export function toNoPolicy(domain: string): ReportedPolicy {
  return { 'policy-type': 'no-policy-found', 'policy-domain': domain };
}

/** Returns the type of a TLS failure by the code of Node's error. */
export function toResultType(code: string | null): TlsResultType {
  if (code === 'ETLS') return 'starttls-not-supported';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'certificate-host-mismatch';
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return 'certificate-expired';
  return /SELF_SIGNED|UNABLE_TO|CERT_UNTRUSTED|INVALID_CA/.test(code ?? '')
    ? 'certificate-not-trusted'
    : 'validation-failure';
}
