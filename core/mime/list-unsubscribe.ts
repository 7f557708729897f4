import type { Authentication } from './authentication.ts';

/** How the recipient of a mail leaves the list that sent it (RFC 2369, RFC 8058). */
export interface ListUnsubscribe {
  /** where one request leaves the list, without a page; null: the mail offers none, or no valid signature covers the offer */
  oneClickUrl: string | null;
  /** https address of a page, also without one click; null: none */
  url: string | null;
  /** mailto address of a mail that leaves the list; null: none */
  mailto: string | null;
}

/** A mail whose header fields offer to leave a list. */
export interface ListMail {
  /** lower-case names and their values */
  headers: readonly (readonly [name: string, value: string])[];
  /** null: not checked, as of sent mail */
  authentication: Authentication | null;
}

const MAX_FIELD = 8_192;
const MAX_URL = 2_048;
/** The fields that a signature must cover, so that no server on the way can have added the offer. */
const SIGNED = ['list-unsubscribe', 'list-unsubscribe-post'];

/** Returns how the list that sent a mail is left; null: the mail says nothing about it. */
export function readListUnsubscribe({ headers, authentication }: ListMail): ListUnsubscribe | null {
  const findValues = (wanted: string) => headers.filter(([name]) => name === wanted).map(([, value]) => value);
  const [field, ...others] = findValues('list-unsubscribe');
  // Several fields: programs differ in which one they take.
  if (field === undefined || others.length > 0) return null;
  const urls = readAddresses(field.slice(0, MAX_FIELD))
    .map((url) => url.replace(/\s+/g, ''))
    .filter((url) => url.length <= MAX_URL && URL.canParse(url));
  const url = urls.find((each) => /^https:\/\//i.test(each)) ?? null;
  const mailto = urls.find((each) => /^mailto:/i.test(each)) ?? null;
  if (url === null && mailto === null) return null;
  const isOffered = findValues('list-unsubscribe-post').join().replace(/\s+/g, '').toLowerCase() === ONE_CLICK;
  const isSigned = isOfferSigned(findValues('dkim-signature').map(readTags), authentication);
  return { oneClickUrl: isOffered && isSigned ? url : null, url, mailto };
}

/** Returns the addresses in angle brackets; a field without brackets, as some programs write it, is one address, or several with commas. */
function readAddresses(field: string): string[] {
  if (/[<>]/.test(field)) return [...field.matchAll(/<\s*([^<>]+?)\s*>/g)].map(([, url = '']) => url);
  return field
    .trim()
    .split(/,\s*(?=(?:https?|mailto):)/i)
    .filter((address) => !/\s/.test(address));
}

const ONE_CLICK = 'list-unsubscribe=one-click';

/**
 * Returns whether a valid signature covers the offer. What passed is known by domain and selector only: all signatures with the same ones must cover it,
 * or a server on the way could add the offer, and a signature of its own making beside the valid one.
 */
function isOfferSigned(signatures: readonly Tags[], authentication: Authentication | null): boolean {
  return (
    authentication?.dkim.some(({ result, domain, selector }) => {
      if (result !== 'pass') return false;
      const alike = signatures.filter(
        (tags) => domain?.toLowerCase() === tags.get('d') && selector?.toLowerCase() === tags.get('s'),
      );
      return (
        alike.length > 0 && alike.every((tags) => SIGNED.every((name) => tags.get('h')?.split(':').includes(name)))
      );
    }) === true
  );
}

type Tags = ReadonlyMap<string, string>;

/** Returns the tags of a signature (RFC 6376 §3.2) in lower case, without white space. */
function readTags(signature: string): Tags {
  return new Map(
    signature.split(';').map((tag): [string, string] => {
      const at = tag.indexOf('=');
      const value = tag.slice(at + 1).replace(/\s+/g, '');
      return [tag.slice(0, Math.max(0, at)).trim().toLowerCase(), value.toLowerCase()];
    }),
  );
}
