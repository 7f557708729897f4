import ipaddr from 'ipaddr.js';

/** What is ours, in a session. */
export interface OwnNames {
  /** MAIL_HOSTNAME */
  hostname: string;
  /** the address of this server to which the client connected */
  address: string;
}

/**
 * Returns whether a client introduces itself with our name or address (RFC 5321 §4.1.1.1, §4.1.3): `mx.example.com`, `[192.0.2.1]`,
 * `[IPv6:2001:db8::1]`, or an address without brackets. `localhost` is the name of every host.
 */
export function claimsOwnName(helo: string, { hostname, address }: OwnNames): boolean {
  const name = helo.trim().toLowerCase().replace(/\.$/, '');
  if (name === hostname.toLowerCase()) return name !== 'localhost';
  const literal = /^\[(?:ipv6:)?([0-9a-f.:]+)\]$/.exec(name)?.[1] ?? name;
  return isAddress(literal) && isAddress(address) && toAddress(literal) === toAddress(address);
}

function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

function toAddress(text: string): string {
  return ipaddr.process(text).toNormalizedString();
}
