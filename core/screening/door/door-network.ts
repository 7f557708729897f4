import ipaddr from 'ipaddr.js';

/** Returns the network under which clients are counted together: the /24 of an IPv4 address, the /64 of an IPv6 address; the text if it is none. */
export function doorNetwork(text: string): string {
  const plain = text.split('%')[0] ?? '';
  if (!(ipaddr.IPv4.isValidFourPartDecimal(plain) || ipaddr.IPv6.isValid(plain))) return text;
  const address = ipaddr.process(plain);
  if (address instanceof ipaddr.IPv4) return `${address.octets.slice(0, 3).join('.')}.0/24`;
  return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}
