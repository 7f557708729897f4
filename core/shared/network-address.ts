import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Which addresses requests to users' URLs may connect to. */
export interface NetworkPolicy {
  /** CIDRs that are allowed although they are not public */
  allowedPrivateNetworks: readonly string[];
  /** ports of our own listeners: blocked on every private address, even an allowed one */
  ownPorts: readonly number[];
}

/** Whether a connection to an address is permitted. */
type AddressVerdict = 'public' | 'allowed' | 'blocked';

/** Checks addresses against one policy. Checks are cheap; creating a guard is not. */
export interface AddressGuard {
  /** Returns the verdict on an IP address in any notation of RFC 4291 §2.2 or dotted decimal; anything else is blocked. */
  judge(address: string, port: number): AddressVerdict;
}

/** Creates the guard of a policy. Throws when a network is not a CIDR. */
export function createAddressGuard(policy: NetworkPolicy): AddressGuard {
  const allowed = policy.allowedPrivateNetworks.map((network) => ipaddr.parseCIDR(network));
  const ownPorts = new Set(policy.ownPorts);
  return {
    judge(text, port) {
      const address = parse(text);
      if (address === null) return 'blocked';
      if (isPublic(address)) return 'public';
      if (ownPorts.has(port)) return 'blocked';
      const isAllowed = allowed.some(([network, length]) => isWithin(address, network, length));
      return isAllowed ? 'allowed' : 'blocked';
    },
  };
}

/**
 * Returns whether an IP address is on the public internet: global unicast by the IANA special-purpose registries (RFC 6890). An IPv6
 * address that embeds an IPv4 address (mapped ::ffff:0:0/96, NAT64 64:ff9b::/96) is checked by that. False when the text is not an
 * address.
 */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  return address !== null && isPublic(address);
}

/**
 * Returns the key under which connections of one client are counted: an IPv4 address, also when mapped to IPv6 (::ffff:0:0/96), or the
 * first 64 bits of an IPv6 address, because a client has a whole /64 (RFC 6177). The text itself when it is not an address.
 */
export function clientNetwork(text: string): string {
  const plain = text.split('%')[0] ?? '';
  if (!(ipaddr.IPv4.isValidFourPartDecimal(plain) || ipaddr.IPv6.isValid(plain))) return text;
  const address = ipaddr.process(plain);
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** RFC 6052 §2.1; the local-use prefix of RFC 8215 is never public. */
const NAT64_PREFIX = ipaddr.parseCIDR('64:ff9b::/96');
/** RFC 4291 §2.4 and IANA: the allocated global unicast addresses. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** Returns the address, with IPv4 extracted from IPv6; null for an address with a zone, which is link-local. */
function parse(text: string): Address | null {
  // ipaddr.js also accepts 0x7f.1 and 127.1. URL parsing and name resolution have already normalized these to four numbers.
  if (text.includes('%') || !(ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text))) return null;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv6 && address.match(NAT64_PREFIX as [ipaddr.IPv6, number]))
    return new ipaddr.IPv4(address.toByteArray().slice(12));
  return address;
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST as [ipaddr.IPv6, number]);
}

function isWithin(address: Address, network: Address, length: number): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, length);
  return network instanceof ipaddr.IPv6 && address.match(network, length);
}
