import { createHash } from 'node:crypto';

/**
 * What senders do when our server offers no TLS or has a wrong certificate: `testing`: deliver and report; `enforce`: do not deliver (RFC
 * 8461 §5).
 */
export const MTA_STS_MODES = ['testing', 'enforce'] as const;
export type MtaStsMode = (typeof MTA_STS_MODES)[number];

/** How long senders may cache a policy: a day in testing, a month afterwards; seconds. */
const MAX_AGE_SECONDS: Record<MtaStsMode, number> = { testing: 86_400, enforce: 2_592_000 };

/** The label of the host that serves a domain's policy (RFC 8461 §3.3). */
const HOST_LABEL = 'mta-sts.';
/** Path of the policy on that host. */
export const MTA_STS_PATH = '/.well-known/mta-sts.txt';

/** The records that make senders require TLS when they deliver mail for a domain. */
export interface TransportAdvice {
  mode: MtaStsMode;
  /** must point to the gateway, with a certificate for this name */
  policyHost: string;
  policyUrl: string;
  /** TXT records to publish */
  mtaSts: { name: string; value: string; description: string };
  tlsReports: { name: string; value: string; description: string };
}

/** Returns the policy of every domain whose mail comes to this host (RFC 8461 §3.2). */
export function mtaStsPolicy(mode: MtaStsMode, mailHostname: string): string {
  return `version: STSv1\r\nmode: ${mode}\r\nmx: ${mailHostname}\r\nmax_age: ${MAX_AGE_SECONDS[mode]}\r\n`;
}

/** Returns the domain whose policy is requested by a Host header field; null for any other host. */
export function findMtaStsDomain(host: string): string | null {
  const name = host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  return name.startsWith(HOST_LABEL) && name.length > HOST_LABEL.length ? name.slice(HOST_LABEL.length) : null;
}

/** Returns the MTA-STS (RFC 8461) and TLS reporting (RFC 8460) records of a domain. */
export function toTransportAdvice(domain: string, mode: MtaStsMode, mailHostname: string): TransportAdvice {
  const policyHost = `${HOST_LABEL}${domain}`;
  return {
    mode,
    policyHost,
    policyUrl: `https://${policyHost}${MTA_STS_PATH}`,
    mtaSts: {
      name: makeMtaStsName(domain),
      value: `v=STSv1; id=${policyId(mtaStsPolicy(mode, mailHostname))};`,
      description: `Makes senders deliver mail for the domain over TLS only (MTA-STS); ${policyHost} must point to this gateway over HTTPS`,
    },
    tlsReports: {
      name: makeTlsReportName(domain),
      value: `v=TLSRPTv1; rua=mailto:tls-reports@${domain}`,
      description: 'Makes senders report TLS failures; use an address that receives mail',
    },
  };
}

export function makeMtaStsName(domain: string): string {
  return `_mta-sts.${domain}`;
}

export function makeTlsReportName(domain: string): string {
  return `_smtp._tls.${domain}`;
}

/** Returns whether the TXT records have exactly one MTA-STS record, with the id of the current policy (RFC 8461 §3.1). */
export function isMtaStsSeen(found: readonly string[], { mtaSts }: TransportAdvice): boolean {
  const records = found.filter((text) => /^v=STSv1\s*;/.test(text));
  const [record] = records;
  return records.length === 1 && record !== undefined && findId(record) === findId(mtaSts.value);
}

/** Returns whether the TXT records have exactly one TLS reporting record (RFC 8460 §3). */
export function isTlsReportSeen(found: readonly string[]): boolean {
  return found.filter((text) => /^v=TLSRPTv1\s*;/.test(text)).length === 1;
}

function findId(record: string): string | undefined {
  return /;\s*id\s*=\s*([A-Za-z0-9]{1,32})\s*(?:;|$)/.exec(record)?.[1];
}

/** Differs for each policy, so that senders fetch a changed one, and is the same on every gateway. */
function policyId(policy: string): string {
  return createHash('sha256').update(policy).digest('hex').slice(0, 16);
}
