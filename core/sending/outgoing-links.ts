import LinkifyIt from 'linkify-it';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { parseMailHtml } from '../html/read-mail-tree.ts';

/** What the content of an email refers to. */
export interface OutgoingReferences {
  /** the first web address, or what cannot be searched for one; null: there is none */
  link: string | null;
  /** whether a `data:` URL carries a file */
  hasEmbeddedFile: boolean;
}

/** Characters of a text or HTML; longer ones count as having a link. */
const MAX_SEARCHED_LENGTH = 1_000_000;
/** Characters of a link that an error repeats. */
const MAX_SHOWN_LENGTH = 100;
/** Nested conditional comments; mail has one level. */
const MAX_COMMENT_DEPTH = 3;

/**
 * Finds what a mail program would show as a link, or load: web addresses in subject and text, also without `https://`, and in HTML every
 * address of links, images, styles and forms, also in conditional comments. Addresses that stay within the email (`cid:`, `data:`, `#`),
 * mail addresses and telephone numbers are no links.
 */
export function findReferences(content: {
  subject: string;
  text: string | null;
  html: string | null;
}): OutgoingReferences {
  const found: OutgoingReferences = { link: null, hasEmbeddedFile: false };
  for (const text of [content.subject, content.text ?? '']) searchText(text, found);
  if (content.html !== null) searchHtml(content.html, found);
  return found;
}

const finder = new LinkifyIt({ fuzzyLink: true, fuzzyEmail: false, fuzzyIP: true }).add('mailto:', null);
/** Addresses of any other program, such as `slack://`. */
const ANY_SCHEME = /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s/]/i;

function searchText(text: string, found: OutgoingReferences): void {
  if (found.link !== null) return;
  if (text.length > MAX_SEARCHED_LENGTH) note(found, 'more text than can be searched for them');
  else {
    const link = finder.match(text)?.[0]?.raw ?? ANY_SCHEME.exec(text)?.[0];
    if (link !== undefined) note(found, link);
  }
}

function note(found: OutgoingReferences, link: string): void {
  found.link ??= link.length > MAX_SHOWN_LENGTH ? `${link.slice(0, MAX_SHOWN_LENGTH).toWellFormed()}…` : link;
}

type Node = DefaultTreeAdapterTypes.Node;

function searchHtml(html: string, found: OutgoingReferences): void {
  const document = html.length > MAX_SEARCHED_LENGTH ? null : parseMailHtml(html);
  if (document === null) note(found, 'more HTML than can be searched for them');
  else searchTree(document, found, 0);
}

function searchTree(root: Node, found: OutgoingReferences, depth: number): void {
  let shown = '';
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.nodeName === '#text' && 'value' in node) {
      if (node.parentNode?.nodeName === 'style') searchCss(node.value, found);
      else shown += node.value;
    } else if (node.nodeName === '#comment' && 'data' in node) searchComment(node.data, found, depth);
    else if ('attrs' in node) {
      for (const { name, value } of node.attrs) searchAttribute(name, value, found);
      if (!INLINE.has(node.nodeName)) shown += '\n';
      if ('content' in node) waiting.push(node.content);
    }
    if ('childNodes' in node) waiting.push(...node.childNodes.toReversed());
  }
  searchText(shown, found);
}

/** Elements that do not separate the words around them. */
const INLINE: ReadonlySet<string> = new Set(
  'a abbr b bdi bdo big cite code em font i mark q s small span strike strong sub sup tt u wbr'.split(' '),
);

/** Outlook shows the content of conditional comments: `<!--[if mso]>…<![endif]-->`. */
function searchComment(comment: string, found: OutgoingReferences, depth: number): void {
  const condition = /^\s*\[if\b[^>]*>/i.exec(comment);
  if (condition === null) return;
  if (depth >= MAX_COMMENT_DEPTH) note(found, 'comments within comments');
  else searchTree(parseFragment(comment.slice(condition[0].length)), found, depth + 1);
}

/** Attributes whose value is an address. */
const ADDRESSES: ReadonlySet<string> = new Set(
  'action archive background cite classid codebase data dynsrc formaction href icon imagesrcset longdesc lowsrc manifest ping poster profile src srcset usemap'.split(
    ' ',
  ),
);

function searchAttribute(name: string, value: string, found: OutgoingReferences): void {
  if (name === 'xmlns' || name.startsWith('xmlns:')) return;
  if (name === 'style') searchCss(value, found);
  else if (ADDRESSES.has(name.slice(name.lastIndexOf(':') + 1))) searchAddress(value, found);
  else if (ANY_SCHEME.test(value)) note(found, value.trim());
}

/** Browsers ignore white space around an address, and tabs and line ends within it. */
function searchAddress(value: string, found: OutgoingReferences): void {
  const address = value.replaceAll(/[\t\n\r]/g, '').trim();
  if (/^data:/i.test(address)) found.hasEmbeddedFile = true;
  else if (address !== '' && !/^(?:#|cid:|mailto:|tel:)/i.test(address)) note(found, address);
}

function searchCss(css: string, found: OutgoingReferences): void {
  // CSS escapes can hide `url(`.
  const plain = css.replaceAll(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_all, hex?: string, character?: string) =>
    hex === undefined ? (character ?? '') : characterOf(Number.parseInt(hex, 16)),
  );
  for (const [, quoted, bare = ''] of plain.matchAll(/(?:url|image|image-set|src)\(\s*(?:["']([^"']*)|([^)]*))/gi))
    searchAddress(quoted ?? bare, found);
  for (const [, address = ''] of plain.matchAll(/@import\s*["']([^"']*)/gi)) searchAddress(address, found);
  if (ANY_SCHEME.test(plain)) note(found, ANY_SCHEME.exec(plain)?.[0] ?? '');
}

function characterOf(codePoint: number): string {
  return codePoint > 0x10ffff ? '\ufffd' : String.fromCodePoint(codePoint);
}
