import { canonicalAddress, canonicalDomainName } from '../domains/domain-name.ts';

/** Maximum stored addresses per email; an outgoing email has at most 150. */
const MAX_PARTIES = 200;

/**
 * Returns the keys by which an email is found by its other side, each once: `ann@away.test` and `@away.test` for each address. The other
 * side of a received email is its From, of an outgoing one To, Cc and Bcc. An invalid address has no key.
 */
export function emailParties(addresses: readonly string[]): string[] {
  const keys = new Set<string>();
  for (const text of addresses.slice(0, MAX_PARTIES)) {
    const canonical = canonicalAddress(text);
    if (canonical === null) continue;
    keys.add(canonical.address);
    keys.add(`@${canonical.domain}`);
  }
  return [...keys];
}

/** Returns the key of an address in a filter; null when the text is not an address, for example an id. */
export function addressParty(text: string): string | null {
  return canonicalAddress(text)?.address ?? null;
}

/** Returns the key of a domain in a filter; null when the text is not a domain name, for example an id. */
export function domainParty(text: string): string | null {
  const name = text.includes('.') ? canonicalDomainName(text) : null;
  return name === null ? null : `@${name}`;
}
