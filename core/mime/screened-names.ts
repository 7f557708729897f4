import { decodeText, type HeaderSection } from './header-fields.ts';

const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['from', 'sender', 'reply-to', 'to', 'cc', 'bcc']);
/** Characters of a name that says something; scripts without spaces need fewer. */
const SAYING = /^(?=.{12})(?=.*[\s_])|[^\0-\u024f\s]{5}/su;
/** Between two mailboxes, around an address, and behind one without brackets. */
const BETWEEN = /[<>]|(?<=@[^\s,<>]{1,255})[,;]/;

/**
 * Returns what the address fields say besides plain addresses, which a sender chooses as well: the names of all mailboxes and groups, comments,
 * and local-parts of several words. Repeated fields count.
 */
export function readScreenedNames(section: HeaderSection, bodyCharset: string | null): string[] {
  const names = section.fields
    .filter(({ name }) => ADDRESS_FIELDS.has(name))
    .flatMap(({ raw }) => decodeText(raw, bodyCharset).split(BETWEEN))
    .map((piece) => piece.replace(/["\\()]/g, ' ').replace(/^[\s,;]+|\s+$/g, ''));
  return [...new Set(names.filter((name) => SAYING.test(name)))];
}
