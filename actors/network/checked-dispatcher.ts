import { Resolver, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { isLocalhostName, REFUSED_PORTS } from '../../core/endpoints/webhook-url.ts';
import { type AddressGuard, isMetadataName } from '../../core/shared/network-address.ts';

export interface CheckedDispatcherOptions {
  guard: AddressGuard;
  /** `host:port` each; empty: the system's resolver */
  dnsServers: readonly string[];
  /** PEM certificates of authorities to trust besides the default ones; null: only the default ones */
  trustedCertificates: readonly string[] | null;
}

/** The host is, or resolves to, an address that Postroom must not reach. Nothing was sent. */
class BlockedAddress extends Error {
  override name = 'BlockedAddress';
  readonly code = 'BLOCKED_ADDRESS';
}

const CONNECT_TIMEOUT_MS = 10_000;
const DNS_TIMEOUT_MS = 3_000;
const DNS_TRIES = 2;
/** Keep-alive time of an idle connection, unless the receiver says otherwise; milliseconds. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 60_000;
/** A connection is closed at this age, so that the address of a host that moved is looked up again; milliseconds. */
const CONNECTION_AGE_MS = 300_000;
const MAX_RESPONSE_HEADER_BYTES = 16_384;
/** Connectors that are cached, one for each port. */
const MAX_CONNECTORS = 1_000;

/**
 * The only way from Postroom to URLs that users or other domains choose. A name is resolved once per connection, every address is checked, and the connection goes to
 * those addresses while SNI and Host keep the name. So a DNS reply that changes between check and use has no effect. Redirects are not
 * followed, and proxy settings in the environment are not used. A kept-alive connection stays with its address.
 */
export function createCheckedDispatcher(options: CheckedDispatcherOptions): Dispatcher {
  const resolve = createResolver(options.dnsServers);
  const connectors = new LRUCache<number, buildConnector.connector>({ max: MAX_CONNECTORS });
  const { trustedCertificates } = options;
  // `ca` replaces the default authorities.
  const ca = trustedCertificates === null ? null : [...getCACertificates('default'), ...trustedCertificates];

  const connectorFor = (port: number) => {
    const known = connectors.get(port);
    if (known !== undefined) return known;
    const made = buildConnector({
      allowH2: false,
      timeout: CONNECT_TIMEOUT_MS,
      lookup: checkedLookup(resolve, options.guard, port),
      ...(ca === null ? {} : { ca }),
    });
    connectors.set(port, made);
    return made;
  };

  const connect: buildConnector.connector = (target, callback) => {
    const port = target.port === '' ? (target.protocol === 'https:' ? 443 : 80) : Number(target.port);
    const hostname = target.hostname.replace(/^\[|\]$/g, '');
    // net.connect() does not call lookup for an address.
    const isBlocked =
      isIP(hostname) === 0 ? isMetadataName(hostname) : options.guard.judge(hostname, port) === 'blocked';
    if (isBlocked || REFUSED_PORTS.has(port)) callback(new BlockedAddress('blocked address'), null);
    else connectorFor(port)({ ...target, hostname }, callback);
  };

  return new Agent({
    connect,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    clientTtl: CONNECTION_AGE_MS,
    maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
    // Each attempt has its own time limit for everything.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

type Resolve = (hostname: string, callback: (error: Error | null, addresses: string[]) => void) => void;

function checkedLookup(resolve: Resolve, guard: AddressGuard, port: number): LookupFunction {
  return (hostname, { all }, callback) => {
    const finish = (error: Error | null, addresses: string[]) => {
      if (error !== null) return callback(error, '');
      const permitted = addresses.filter((address) => guard.judge(address, port) !== 'blocked');
      // One forbidden address rejects the whole name. For localhost, a forbidden address is only left out.
      if (permitted.length === 0 || (permitted.length < addresses.length && !isLocalhostName(hostname)))
        return callback(new BlockedAddress('blocked address'), '');
      const found = permitted.map((address) => ({ address, family: isIP(address) }));
      const [first] = found;
      if (all === true) callback(null, found);
      else callback(null, first?.address ?? '', first?.family);
    };
    if (isLocalhostName(hostname)) process.nextTick(finish, null, ['127.0.0.1', '::1']);
    else resolve(hostname, finish);
  };
}

function createResolver(dnsServers: readonly string[]): Resolve {
  if (dnsServers.length === 0) {
    return (hostname, callback) =>
      systemLookup(hostname, { all: true }, (error, addresses) =>
        callback(error, error === null ? addresses.map(({ address }) => address) : []),
      );
  }
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  resolver.setServers(dnsServers);
  return (hostname, callback) => {
    const found: string[] = [];
    let waiting = 2;
    let failure: Error | null = null;
    const take = (error: Error | null, addresses: string[] | undefined) => {
      if (error !== null) failure = error;
      else found.push(...(addresses ?? []));
      if (--waiting === 0) callback(found.length > 0 ? null : failure, found);
    };
    resolver.resolve4(hostname, take);
    resolver.resolve6(hostname, take);
  };
}
