import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** RFC 1035 §2.3.4, without the root's dot. */
export const MAX_DOMAIN_LENGTH = 253;
/** RFC 5321 §4.5.3.1.1 */
const MAX_LOCAL_PART_LENGTH = 64;
/** RFC 5321 §4.5.3.1.3, without the angle brackets. */
const MAX_ADDRESS_LENGTH = 254;

/** RFC 1123 §2.1: letters, digits and inner hyphens; at least two labels, the last not all digits. */
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?![0-9]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** A name that domainToASCII returns as it is, which costs more than all other checks: no A-label to verify, no number at the end. */
const PLAIN_NAME = /^(?!.*xn--)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;

/** RFC 5321 §4.1.2: Dot-string or Quoted-string, in ASCII. */
const LOCAL_PART =
  /^(?:[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*|"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])+")$/;

/**
 * Returns the canonical form in which a domain is stored and compared: lower case, A-labels (RFC 5890 §2.3.2.1), no trailing dot. Null
 * when the text is not a name that mail can be sent to.
 */
export function canonicalDomainName(text: string): string | null {
  const given = text.trim().replace(/\.$/, '');
  if (given.length <= MAX_DOMAIN_LENGTH && PLAIN_NAME.test(given)) return given;
  // domainToASCII would parse or drop these as parts of a URL.
  if (given.length > MAX_DOMAIN_LENGTH || /[\s\p{Cc}\u00ad/?#@:[\]\\%<>^|]/u.test(given)) return null;
  const name = domainToASCII(given);
  if (name.length > MAX_DOMAIN_LENGTH || isIP(name) !== 0 || !HOST_NAME.test(name)) return null;
  return name;
}

/** Returns the canonical form in which a hosted address is stored and compared, in lower case; null when the text is not an address. */
export function canonicalAddress(text: string): { address: string; domain: string } | null {
  const given = text.trim();
  const at = given.lastIndexOf('@');
  const local = given.slice(0, at).toLowerCase();
  const domain = canonicalDomainName(given.slice(at + 1));
  if (at < 1 || domain === null || local.length > MAX_LOCAL_PART_LENGTH || !LOCAL_PART.test(local)) return null;
  const address = `${local}@${domain}`;
  return address.length > MAX_ADDRESS_LENGTH ? null : { address, domain };
}

/** Returns the parent domains of a canonical name that have at least two labels, nearest first. */
export function parentDomains(name: string): string[] {
  const labels = name.split('.');
  return labels.slice(1, -1).map((_, index) => labels.slice(index + 1).join('.'));
}
