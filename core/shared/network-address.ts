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

/**
 * Addresses at which clouds serve the credentials and the start-up data of a machine to programs on it, and how an address is opened: a
 * network in ALLOWED_PRIVATE_NETWORKS that contains one does not, only the address itself (`/32`, `/128`) does.
 */
const METADATA_NETWORKS = [
  // Link-local (RFC 3927): AWS with ECS and EKS, Google, Azure, Oracle, Alibaba, Tencent, Scaleway, DigitalOcean, Hetzner, OpenStack and others.
  '169.254.0.0/16',
  // Alibaba Cloud; inside 100.64.0.0/10.
  '100.100.100.200/32',
  // Azure: the wire server. It is a public address that only Azure routes.
  '168.63.129.16/32',
  // Oracle Cloud Classic.
  '192.0.0.192/32',
  // Link-local of IPv6: OpenStack has fe80::a9fe:a9fe.
  'fe80::/10',
  // AWS, with EKS Pod Identity.
  'fd00:ec2::/32',
  // Google.
  'fd20:ce::/32',
  // Oracle Cloud, Akamai (Linode) and Scaleway.
  'fd00:c1::/32',
  'fd00:a9fe:a9fe::/48',
  'fd00:42::/32',
].map((network) => ipaddr.parseCIDR(network));

/** Names of the same services, which their clouds resolve. Requests to them and to names below them are refused, whatever they resolve to. */
const METADATA_NAMES = [
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.com',
  'metadata.azure.internal',
  'metadata.oraclecloud.com',
  'metadata.tencentyun.com',
  'metadata.platformequinix.com',
  'metadata.packet.net',
  'instance-data',
  'instance-data.ec2.internal',
];

/** Returns whether a host name means the metadata service of a cloud. */
export function isMetadataName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.+$/, '');
  return METADATA_NAMES.some((each) => name === each || name.endsWith(`.${each}`));
}

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
      const isMetadata = isOfMetadata(address);
      const isAllowed = allowed.some(
        ([network, length]) => isWithin(address, network, length) && (!isMetadata || length === countBits(network)),
      );
      return isAllowed ? 'allowed' : 'blocked';
    },
  };
}

/**
 * Returns whether an IP address is on the public internet: global unicast by the IANA special-purpose registries (RFC 6890), and not of the
 * metadata service of a cloud. An IPv6 address that embeds an IPv4 address (mapped, NAT64, ISATAP) is checked by that, too. False when the
 * text is not an address.
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
  if (address.range() !== 'unicast' || isOfMetadata(address)) return false;
  if (address instanceof ipaddr.IPv4) return true;
  return address.match(GLOBAL_UNICAST as [ipaddr.IPv6, number]) && embeddedAddresses(address).every(isPublic);
}

/** Returns whether the address, or one that it embeds, is of the metadata service of a cloud. */
function isOfMetadata(address: Address): boolean {
  const embedded = address instanceof ipaddr.IPv6 ? embeddedAddresses(address) : [];
  return [address, ...embedded].some((each) =>
    METADATA_NETWORKS.some(([network, length]) => isWithin(each, network, length)),
  );
}

/**
 * Returns the IPv4 addresses that an IPv6 address may lead to: of an ISATAP interface (RFC 5214 §6.1), 6to4 (RFC 3056), Teredo (RFC 4380
 * §4), local NAT64 (RFC 8215), translated (RFC 2765) and compatible addresses (RFC 4291 §2.5.5.1).
 */
function embeddedAddresses(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const { parts } = address;
  const [first = 0, second = 0] = parts;
  const last = ipv4At(parts, 6);
  const isIsatap = (parts[4] === 0 || parts[4] === 0x0200) && parts[5] === 0x5efe;
  if (isIsatap) return [last];
  if (first === 0x2002) return [ipv4At(parts, 1)];
  if (first === 0x2001 && second === 0)
    return [
      ipv4At(parts, 2),
      ipv4At(
        parts.map((part) => part ^ 0xffff),
        6,
      ),
    ];
  const isTranslated = first === 0x64 && second === 0xff9b;
  return isTranslated || parts.slice(0, 4).every((part) => part === 0) ? [last] : [];
}

/** Returns the IPv4 address in two of the 16-bit parts of an IPv6 address. */
function ipv4At(parts: readonly number[], at: number): ipaddr.IPv4 {
  const [high = 0, low = 0] = parts.slice(at);
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}

function countBits(address: Address): number {
  return address instanceof ipaddr.IPv4 ? 32 : 128;
}

function isWithin(address: Address, network: Address, length: number): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, length);
  return network instanceof ipaddr.IPv6 && address.match(network, length);
}
