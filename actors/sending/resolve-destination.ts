import type { X509Certificate } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { TlsaRecord } from '../../core/sending/dane.ts';
import type { AddressGuard } from '../../core/shared/network-address.ts';
import { chooseExchangers, type MailExchanger } from '../../core/smtp/destination.ts';
import type { LookUp } from '../network/dns-resolver.ts';
import type { TlsMode } from './smtp-session.ts';

/** A mail server, with its addresses in the order in which they are tried. */
export interface MailHost {
  name: string;
  addresses: string[];
}

/** Where mail for a domain goes, or the outcome when it can go nowhere. */
export type Destination =
  | { kind: 'hosts'; hosts: MailHost[] }
  | { kind: 'unreachable'; outcome: 'bounced' | 'deferred'; code: number | null; status: string; text: string };

export interface ResolveParts {
  lookUp: LookUp;
  guard: AddressGuard;
  /** of mail servers */
  port: number;
  /** our own host name, as MX records would name us */
  ownName: string;
  /** in [0, 1) */
  draw: () => number;
}

/** Hosts of one domain whose addresses are looked up. */
const MAX_HOSTS = 10;

/**
 * Finds the hosts of a domain: its MX records, else its own addresses (RFC 5321 §5.1). Addresses that we must not connect to are left out.
 * IPv4 comes first: receivers judge IPv6 senders more strictly, and a broken path costs a timeout.
 */
export async function resolveDestination(parts: ResolveParts, domain: string): Promise<Destination> {
  const mx = await ask(parts.lookUp, domain, 'MX');
  switch (mx.kind) {
    case 'trouble':
      return dnsTrouble(domain);
    case 'no-name':
      return bounced('5.1.2', `Domain not found: ${domain} does not exist`);
    case 'no-record':
      return readAddresses(parts, [domain], domain);
    case 'found': {
      // These records come from node:dns.
      const choice = chooseExchangers(mx.records as unknown as MailExchanger[], parts.ownName, parts.draw);
      if (choice.kind === 'null-mx') return bounced('5.1.10', `${domain} does not accept mail (null MX)`, 556);
      if (choice.kind === 'loop')
        return bounced('5.4.6', `Mail for ${domain} would loop: its MX is this service, which does not serve it`);
      return readAddresses(parts, choice.names.slice(0, MAX_HOSTS), domain);
    }
  }
}

async function readAddresses(parts: ResolveParts, names: readonly string[], domain: string): Promise<Destination> {
  const found = await Promise.all(names.map((name) => lookUpHost(parts.lookUp, name)));
  const hosts = found.map(({ name, addresses }) => ({
    name,
    addresses: addresses.filter((address) => parts.guard.judge(address, parts.port) !== 'blocked'),
  }));
  const reachable = hosts.filter(({ addresses }) => addresses.length > 0);
  if (reachable.length > 0) return { kind: 'hosts', hosts: reachable };
  if (found.some(({ isInTrouble }) => isInTrouble)) return dnsTrouble(domain);
  if (found.some(({ addresses }) => addresses.length > 0))
    return bounced('5.4.4', `The mail servers of ${domain} have no address that may be connected to`);
  if (names.length === 1 && names[0] === domain)
    return bounced('5.1.2', `${domain} has no mail server: neither MX nor address records`);
  return bounced('5.4.4', `The mail servers of ${domain} have no addresses`);
}

async function lookUpHost(lookUp: LookUp, name: string): Promise<MailHost & { isInTrouble: boolean }> {
  const replies = await Promise.all([ask(lookUp, name, 'A'), ask(lookUp, name, 'AAAA')]);
  const addresses = replies.flatMap((asked) => (asked.kind === 'found' ? asked.records.flat() : []));
  return {
    name,
    addresses: [...addresses.filter((address) => isIPv4(address)), ...addresses.filter((address) => !isIPv4(address))],
    isInTrouble: replies.some(({ kind }) => kind === 'trouble'),
  };
}

type Asked =
  | { kind: 'found'; records: string[] | string[][] }
  | { kind: 'no-name' | 'no-record' | 'trouble'; records?: undefined };

async function ask(lookUp: LookUp, name: string, type: string): Promise<Asked> {
  try {
    const records = await lookUp(name, type);
    return records.length > 0 ? { kind: 'found', records } : { kind: 'no-record' };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOTFOUND') return { kind: 'no-name' };
    if (code === 'ENODATA') return { kind: 'no-record' };
    return { kind: 'trouble' };
  }
}

function dnsTrouble(domain: string): Destination {
  const text = `The mail servers of ${domain} could not be looked up: DNS did not respond`;
  return { kind: 'unreachable', outcome: 'deferred', code: null, status: '4.4.3', text };
}

function bounced(status: string, text: string, code: number | null = null): Destination {
  return { kind: 'unreachable', outcome: 'bounced', code, status, text };
}

/** What a host must offer. */
export interface HostSecurity {
  tls: TlsMode;
  isCertificateVerified: boolean;
  /** for SNI; absent: the name of the host */
  serverName?: string;
  /** judges the certificates that the server presents, its own first; absent: accepts any */
  acceptsChain?: (chain: readonly X509Certificate[], now: Date) => boolean;
  /** a sentence for the user: which policy demands it */
  requiredBy: string;
}

export interface RouteHost extends MailHost {
  /** by a policy; absent: as the route */
  security?: HostSecurity;
  /** the TLSA records of which it follows */
  tlsa?: { baseName: string; records: readonly TlsaRecord[] };
}

/** How mail reaches a destination: the hosts to try, in order, and what they must offer. */
export interface Route {
  hosts: readonly RouteHost[];
  port: number;
  tls: TlsMode;
  isCertificateVerified: boolean;
  credentials: { user: string; pass: string } | null;
}

/** Returns the route to mail servers found in DNS: TLS where it is offered, with any certificate (RFC 7435), unless a policy demands more. */
export function directRoute(hosts: readonly RouteHost[], port: number): Route {
  return { hosts, port, tls: 'opportunistic', isCertificateVerified: false, credentials: null };
}

/** Returns the route to our own listener. */
export function inboundRoute({ host, port }: { host: string; port: number }): Route {
  return directRoute([{ name: host, addresses: [host] }], port);
}

/**
 * Returns the route to a relay given as `smtp://user:password@host:port` or `smtps://...`. Credentials are sent only over TLS, to a host
 * with a valid certificate, unless the relay is on this machine.
 */
export function relayRoute(relayUrl: string): Route {
  const url = new URL(relayUrl);
  const isImmediate = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const credentials =
    url.username === '' ? null : { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) };
  const isGuarded = credentials !== null && !isLoopback(host);
  return {
    hosts: [{ name: host, addresses: [host] }],
    port: url.port === '' ? (isImmediate ? SMTPS_PORT : SMTP_PORT) : Number(url.port),
    tls: isImmediate ? 'immediate' : isGuarded ? 'required' : 'opportunistic',
    isCertificateVerified: isGuarded,
    credentials,
  };
}

const SMTP_PORT = 25;
/** RFC 8314 §3.3 */
const SMTPS_PORT = 465;

function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIP(host) !== 0 && ipaddr.process(host).range() === 'loopback');
}
