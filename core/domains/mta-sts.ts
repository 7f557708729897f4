import { createHash } from 'node:crypto';

/**
 * What senders are to do when our server offers no TLS, or shows a certificate that is not its own: `testing`, deliver and report;
 * `enforce`, not deliver (RFC 8461 §5).
 */
export const MTA_STS_MODES = ['testing', 'enforce'] as const;
export type MtaStsMode = (typeof MTA_STS_MODES)[number];

/** How long senders may hold on to a policy: a day while it is tried, then a month; seconds. */
const MAX_AGE_SECONDS: Record<MtaStsMode, number> = { testing: 86_400, enforce: 2_592_000 };

/** The label in front of a domain under which its policy is served (RFC 8461 §3.3). */
const HOST_LABEL = 'mta-sts.';
/** Where on that host. */
export const MTA_STS_PATH = '/.well-known/mta-sts.txt';

/** What makes senders insist on TLS when they bring mail for a domain. */
export interface TransportAdvice {
  mode: MtaStsMode;
  /** has to lead to the gateway, with a certificate for that name in front of it */
  policyHost: string;
  policyUrl: string;
  /** TXT records to publish */
  mtaSts: { name: string; value: string; description: string };
  tlsReports: { name: string; value: string; description: string };
}

/** The policy of every domain whose mail comes to this host (RFC 8461 §3.2). */
export function mtaStsPolicy(mode: MtaStsMode, mailHostname: string): string {
  return `version: STSv1\r\nmode: ${mode}\r\nmx: ${mailHostname}\r\nmax_age: ${MAX_AGE_SECONDS[mode]}\r\n`;
}

/** The domain whose policy is asked for by that Host header field; null when it is none's. */
export function mtaStsDomainOf(host: string): string | null {
  const name = host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  return name.startsWith(HOST_LABEL) && name.length > HOST_LABEL.length ? name.slice(HOST_LABEL.length) : null;
}

/** The records of MTA-STS (RFC 8461) and of TLS reports (RFC 8460) for a domain. */
export function transportAdviceOf(domain: string, mode: MtaStsMode, mailHostname: string): TransportAdvice {
  const policyHost = `${HOST_LABEL}${domain}`;
  return {
    mode,
    policyHost,
    policyUrl: `https://${policyHost}${MTA_STS_PATH}`,
    mtaSts: {
      name: mtaStsNameOf(domain),
      value: `v=STSv1; id=${policyId(mtaStsPolicy(mode, mailHostname))};`,
      description: `Has senders bring mail of the domain over TLS alone (MTA-STS); ${policyHost} has to lead to this gateway by HTTPS`,
    },
    tlsReports: {
      name: tlsReportNameOf(domain),
      value: `v=TLSRPTv1; rua=mailto:tls-reports@${domain}`,
      description: 'Has senders report when TLS fails; name an address that takes mail',
    },
  };
}

export function mtaStsNameOf(domain: string): string {
  return `_mta-sts.${domain}`;
}

export function tlsReportNameOf(domain: string): string {
  return `_smtp._tls.${domain}`;
}

/** Whether the TXT records say where the policy is and that it is the present one; there may be only one that does (RFC 8461 §3.1). */
export function isMtaStsSeen(found: readonly string[], { mtaSts }: TransportAdvice): boolean {
  const records = found.filter((text) => /^v=STSv1\s*;/.test(text));
  const [record] = records;
  return records.length === 1 && record !== undefined && idOf(record) === idOf(mtaSts.value);
}

/** Whether the TXT records ask for reports; there may be only one that does (RFC 8460 §3). */
export function isTlsReportSeen(found: readonly string[]): boolean {
  return found.filter((text) => /^v=TLSRPTv1\s*;/.test(text)).length === 1;
}

function idOf(record: string): string | undefined {
  return /;\s*id\s*=\s*([A-Za-z0-9]{1,32})\s*(?:;|$)/.exec(record)?.[1];
}

/** Another for every policy, so that senders fetch it anew when it changes, and the same for the same on every gateway. */
function policyId(policy: string): string {
  return createHash('sha256').update(policy).digest('hex').slice(0, 16);
}
