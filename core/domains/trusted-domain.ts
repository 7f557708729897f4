import { MAIL_FROM_LABEL } from './dns-records.ts';

/** Prefix of a trusted name that means every name one label below. */
const WILDCARD = '*.';

/** Returns whether a canonical name is one of these names, or lies one label below `*.` of one. */
export function isTrustedDomain(name: string, trusted: readonly string[]): boolean {
  const below = `${WILDCARD}${name.slice(name.indexOf('.') + 1)}`;
  return trusted.some((one) => one === name || one === below);
}

/** Labels below a domain whose names the service itself uses: for its return path (see mailFromDomain) and for MTA-STS (RFC 8461 §3.3). */
const SERVICE_LABELS: readonly string[] = [MAIL_FROM_LABEL, 'mta-sts'];

/**
 * Returns whether a name belongs to the service, although it lies below a trusted wildcard: the return path or the MTA-STS host of the domain
 * above it, or one of `hosts`. A name that is trusted itself is the operator's decision.
 */
export function isNameOfService(name: string, trusted: readonly string[], hosts: readonly string[]): boolean {
  if (trusted.includes(name) || !isTrustedDomain(name, trusted)) return false;
  return SERVICE_LABELS.includes(name.slice(0, name.indexOf('.'))) || hosts.includes(name);
}

/** Maximum characters of a label (RFC 1035 §2.3.4), less two digits. */
const MAX_LABEL_LENGTH = 61;
/** Numbered names that are tried after the plain one. */
const NUMBERED = 9;

/** Returns names that an account can have below the wildcards of `trusted`, best first. The label comes from the account's address. */
export function trustedNamesFor(email: string, trusted: readonly string[]): string[] {
  const local = email.slice(0, email.lastIndexOf('@')).toLowerCase();
  const label = local
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LABEL_LENGTH)
    .replaceAll(/^-+|-+$/g, '');
  const first = label === '' || SERVICE_LABELS.includes(label) ? 'inbox' : label;
  const labels = [first, ...Array.from({ length: NUMBERED }, (_, n) => `${first}${n + 2}`)];
  return trusted
    .filter((one) => one.startsWith(WILDCARD))
    .flatMap((one) => labels.map((each) => `${each}.${one.slice(WILDCARD.length)}`));
}
