import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { TlsaRecord } from '../../core/sending/dane.ts';
import type { MailHost } from './resolve-destination.ts';
import type { TlsMode } from './smtp-session.ts';

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
