import { domainToASCII } from 'node:url';
import { isLookalikeDomain, readerForm, skeleton } from './lookalike.ts';

/** A person whom the user has written to, or the user; with the names that their mail carries. */
export interface KnownPerson {
  /** lower case */
  address: string;
  /** display names, as written */
  names: readonly string[];
  isUser: boolean;
}

/** A name in the From field that misleads about the sender. */
export type NameWarning =
  | {
      /** the display name contains another address */
      kind: 'address_in_name';
      shown: string;
      /** the address in the From field */
      actual: string;
    }
  | {
      /** the display name is, or looks like, that of a person whom the user knows by another address, or of the user */
      kind: 'imitated_name';
      shown: string;
      actual: string;
      /** the address of that person */
      knownAddress: string;
      isUser: boolean;
    }
  | {
      /** the domain of the sender looks like one that the user knows */
      kind: 'lookalike_domain';
      /** the known domain in ASCII */
      shown: string;
      /** the domain of the sender in ASCII, as registered */
      actual: string;
      /** an address at the known domain; null: the domain is the user's own */
      knownAddress: string | null;
    };

const MAX_NAME = 500;

/** Returns the address that a display name contains and that is not the sender's; null if there is none. */
export function findAddressInName(name: string, address: string): NameWarning | null {
  const shown = /[^\s<>()"',;:@]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}/i.exec(name.slice(0, MAX_NAME))?.[0];
  if (shown === undefined || shown.toLowerCase() === address.toLowerCase()) return null;
  return { kind: 'address_in_name', shown, actual: address };
}

/**
 * Returns whom a display name imitates; null when it imitates no one: the sender is known by this address, or the name has fewer than two
 * words, which many people and organizations share.
 */
export function findImitatedName(name: string, address: string, known: readonly KnownPerson[]): NameWarning | null {
  const actual = address.toLowerCase();
  if (known.some((person) => person.address === actual)) return null;
  const key = nameKey(name);
  if (key === null) return null;
  const imitated = known.find((person) => person.names.some((one) => nameKey(one) === key));
  if (imitated === undefined) return null;
  return {
    kind: 'imitated_name',
    shown: name,
    actual: address,
    knownAddress: imitated.address,
    isUser: imitated.isUser,
  };
}

/**
 * Returns the domain that the domain of the sender looks like: the user's own, or that of a known person; null when it looks like none, or is
 * known itself. `organizationOf` returns the registered domain of a name in ASCII, null if there is none.
 */
export function findLookalikeDomain(
  address: string,
  { people, ownDomains }: { people: readonly KnownPerson[]; ownDomains: readonly string[] },
  organizationOf: (domain: string) => string | null,
): NameWarning | null {
  const actual = organizationOf(readDomain(address));
  if (actual === null) return null;
  const addressOf = new Map(people.map((person) => [readDomain(person.address), person.address]));
  const known = new Map<string, string | null>();
  for (const [domain, one] of addressOf) known.set(organizationOf(domain) ?? '', one);
  for (const domain of ownDomains) known.set(organizationOf(inAscii(domain)) ?? '', null);
  if (known.has(actual)) return null;
  for (const [shown, knownAddress] of known) {
    if (shown !== '' && isLookalikeDomain(actual, shown))
      return { kind: 'lookalike_domain', shown, actual, knownAddress };
  }
  return null;
}

/** Returns the domain of an address in ASCII and lower case; empty if it has none. */
export function readDomain(address: string): string {
  return inAscii(address.slice(address.lastIndexOf('@') + 1));
}

function inAscii(domain: string): string {
  return /^[\x21-\x7e]*$/.test(domain) ? domain.toLowerCase() : domainToASCII(domain);
}

/** Returns whether a display name has enough words to be that of one person. */
export function hasComparableName(name: string): boolean {
  return nameKey(name) !== null;
}

/** Returns the words of a name in a form to compare, whatever their order and letters; null when there are fewer than two. */
function nameKey(name: string): string | null {
  const words = skeleton(name.slice(0, MAX_NAME)).match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length < 2 || words.join('').length < MIN_LETTERS) return null;
  return readerForm(words.toSorted().join(' '));
}

const MIN_LETTERS = 5;
