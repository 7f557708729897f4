import { isPublicAddress } from '../shared/network-address.ts';

/** Name spaces that mean something else on every network: RFC 6761, RFC 6762, RFC 8375, and ICANN's resolution of 2024 on `.internal`. */
const LOCAL_NAMES = ['localhost', 'local', 'internal', 'home.arpa'];

/**
 * Whether mail may load images from the host of a parsed URL, by its name alone: not from IP addresses that are not public, in any notation,
 * names that belong to the reader's machine or network, hosts of MTA-STS policies, and the service's own hosts.
 */
export function isRemoteImageHost({ hostname }: URL, ownHosts: ReadonlySet<string>): boolean {
  // The URL parser has made four decimal numbers of every notation of IPv4, and lower case of names.
  if (hostname.startsWith('[')) return isPublicAddress(hostname.slice(1, -1));
  if (/^\d+(?:\.\d+){3}$/.test(hostname)) return !ownHosts.has(hostname) && isPublicAddress(hostname);
  const name = hostname.replace(/\.$/, '');
  if (!name.includes('.') || ownHosts.has(name) || name.startsWith('mta-sts.')) return false;
  return !LOCAL_NAMES.some((local) => name === local || name.endsWith(`.${local}`));
}

/** The host names of `host[:port]`, host names and URLs, as isRemoteImageHost compares them. */
export function ownHostNames(hosts: readonly string[]): Set<string> {
  const names = hosts.map((host) => URL.parse(host.includes('://') ? host : `http://${host}`)?.hostname);
  return new Set(names.flatMap((name) => (name === undefined ? [] : [name.replace(/\.$/, '')])));
}
