/**
 * The `news` of `ann+news@example.com` (RFC 5233, subaddress); null when the address has none. Mail to it comes in for
 * `ann@example.com`. A quoted local-part has no tag.
 */
export function plusTagOf(address: string): string | null {
  const localPart = address.slice(0, address.lastIndexOf('@'));
  const plus = localPart.startsWith('"') ? -1 : localPart.indexOf('+');
  return plus > 0 && plus < localPart.length - 1 ? localPart.slice(plus + 1) : null;
}
