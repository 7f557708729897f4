import { type AddressGuard, isMetadataName } from '../shared/network-address.ts';

/** Result of a URL check without DNS: null when the URL is permitted, else the error for the user. */
export type UrlRefusal = string | null;

/**
 * Ports that browsers also block (Fetch Standard §2.9), so that a request cannot be mistaken for another protocol, and ports of databases
 * and brokers that trust their network.
 */
export const REFUSED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  // PostgreSQL, MySQL, NATS (clients, cluster, monitor), Redis, memcached, MongoDB, Elasticsearch, etcd
  5432, 3306, 4222, 6222, 8222, 6379, 11211, 27017, 9200, 9300, 2379, 2380,
]);

/** Maximum length of a URL; characters. */
const MAX_URL_LENGTH = 2_048;
/** The only hosts that plain HTTP is permitted for. */
const HTTP_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'];

/** Splits a URL that checkWebhookUrl permitted: host without brackets, default port added. Throws TypeError when it is not a URL. */
export function webhookTarget(url: string): { origin: string; path: string; hostname: string; port: number } {
  const { origin, pathname, search, hostname, port, protocol } = new URL(url);
  return {
    origin,
    path: `${pathname}${search}`,
    hostname: unbracket(hostname),
    port: port === '' ? defaultPort(protocol) : Number(port),
  };
}

/**
 * Checks the URL of a webhook when it is configured: HTTPS, or HTTP to localhost, 127.0.0.1 and [::1]; no user name, no port of other
 * protocols; an IP address or a localhost name must be public or in the allowed networks. What names resolve to is checked at each
 * connection.
 */
export function checkWebhookUrl(url: unknown, guard: AddressGuard): UrlRefusal {
  if (url === undefined || url === null || url === '') return 'Webhook URL is required';
  // URL() would drop line ends and tabs, and repair missing or extra slashes.
  if (
    typeof url !== 'string' ||
    url.length > MAX_URL_LENGTH ||
    !/^[a-z][a-z0-9+.-]*:\/\/(?![/\\])[!-\u{10ffff}]+$/iu.test(url)
  )
    return 'Invalid webhook URL format';
  const parsed = URL.parse(url);
  if (parsed === null || parsed.hostname === '') return 'Invalid webhook URL format';
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return schemeRefusal(guard);
  // URL() drops empty ones.
  if (/^[^/?#]*\/\/[^/?#\\]*@/.test(url)) return 'Webhook URL must not contain a user name or password';
  const port = parsed.port === '' ? defaultPort(parsed.protocol) : Number(parsed.port);
  if (REFUSED_PORTS.has(port)) return `Webhook URL must not use port ${port}`;
  if (isMetadataName(parsed.hostname)) return 'Webhook URL must not point to the metadata service of a cloud';
  const addresses = knownAddresses(unbracket(parsed.hostname));
  if (parsed.protocol === 'http:') {
    if (!HTTP_HOSTS.has(parsed.hostname) || !isLoopbackAllowed(guard)) return schemeRefusal(guard);
    return addresses.some((a) => guard.judge(a, port) === 'allowed') ? null : `Webhook URL must not use port ${port}`;
  }
  if (addresses.length > 0 && addresses.every((address) => guard.judge(address, port) === 'blocked'))
    return 'Webhook URL must not point to a private address';
  return null;
}

/** Says which schemes a webhook may have on this service. */
function schemeRefusal(guard: AddressGuard): string {
  return isLoopbackAllowed(guard)
    ? 'Webhook URL must begin with https://, or with http:// for localhost, 127.0.0.1 and [::1]'
    : 'Webhook URL must begin with https://';
}

function isLoopbackAllowed(guard: AddressGuard): boolean {
  return LOOPBACK_ADDRESSES.some((address) => guard.judge(address, defaultPort('http:')) === 'allowed');
}

/** Returns whether a host name means this machine (RFC 6761 §6.3), which needs no DNS lookup. */
export function isLocalhostName(hostname: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(hostname);
}

/**
 * Returns the addresses of a host that needs no DNS lookup; empty for other names. URL() has already normalized notations such as 0x7f.1.
 */
function knownAddresses(hostname: string): string[] {
  if (isLocalhostName(hostname)) return LOOPBACK_ADDRESSES;
  return hostname.includes(':') || /^[\d.]+$/.test(hostname) ? [hostname] : [];
}

function unbracket(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function defaultPort(protocol: string): number {
  return protocol === 'https:' ? 443 : 80;
}
