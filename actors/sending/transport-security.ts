import { matchesTlsa } from '../../core/sending/dane.ts';
import { listsHost } from '../../core/sending/mta-sts-policy.ts';
import type { DaneDestination, DaneHost } from './dane-lookup.ts';
import type { FoundPolicy } from './mta-sts.ts';
import type { MailHost } from './resolve-destination.ts';
import type { HostSecurity, RouteHost } from './route.ts';

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
