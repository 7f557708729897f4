import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { INLINE_ELEMENTS } from '../html/elements.ts';
import { parseMailHtml } from '../html/read-mail-tree.ts';
import { textAsLaidOut } from './laid-out-text.ts';
import { withoutComments } from './style-rules.ts';
import { findExplicitLink, findTextLink, MAX_SEARCHED_LENGTH, shownLink, type TopLevelDomains } from './text-links.ts';

/** What HTML refers to. */
export interface HtmlReferences {
  /** the first address in it, or what cannot be searched for one; null: there is none */
  link: string | null;
  /** the beginning of the first `data:` URL; null: there is none */
  file: string | null;
  /** the charset that it states for itself; null: none */
  charset: string | null;
  /** the first addresses that a program uses without a click on a link, or sends forms to */
  used: string[];
}

const MAX_USED = 50;

/** HTML within attributes, comments and elements of HTML. */
const MAX_DEPTH = 3;

/**
 * Finds what mail programs would follow or load: addresses of links, images, styles, forms, refreshes and animations, also in conditional
 * comments, and links in its text. Addresses that stay within the message (`cid:`, `mid:`, `#`) are no links, nor is a `mailto:` or `tel:`
 * whose text is that same address or number. Scripts and forms count as links, because where they lead cannot be known. Takes linear time.
 */
export function findHtmlReferences(html: string, topLevel: TopLevelDomains): HtmlReferences {
  const search: Search = { found: { link: null, file: null, charset: null, used: [] }, topLevel };
  searchHtml(html, search, 0);
  return search.found;
}

interface Search {
  found: HtmlReferences;
  topLevel: TopLevelDomains;
}

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

function note({ found }: Search, link: string): void {
  found.link ??= shownLink(link);
}

function noteUsed({ found }: Search, address: string): void {
  const shown = shownLink(address);
  if (found.used.length < MAX_USED && !found.used.includes(shown)) found.used.push(shown);
}

function searchHtml(html: string, search: Search, depth: number): void {
  if (depth > MAX_DEPTH) return note(search, 'HTML within HTML within HTML');
  if (html.length > MAX_SEARCHED_LENGTH) return note(search, 'more HTML than can be searched for links');
  // What programs that read it as XML do with these.
  const [declaration] = /<!ENTITY\b|<\?xml-stylesheet\b/i.exec(html) ?? [];
  if (declaration !== undefined) note(search, declaration);
  search.found.charset ??= /^\s*<\?xml[^>]{1,100}?\sencoding\s*=\s*["']([^"']{1,40})/i.exec(html)?.[1] ?? null;
  const root = depth === 0 || /<(?:html|head|body|frameset)\b/i.test(html) ? parseMailHtml(html) : parseFragment(html);
  if (root === null) note(search, 'more HTML than can be searched for links');
  else searchTree(root, search, depth);
}

function searchTree(root: Node, search: Search, depth: number): void {
  const pieces: string[] = [];
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.nodeName === '#text' && 'value' in node) searchContent(node, pieces, search, depth);
    else if (node.nodeName === '#comment' && 'data' in node) searchComment(node.data, search, depth);
    else if ('attrs' in node) {
      searchElement(node, search, depth);
      if (!INLINE_ELEMENTS.has(node.nodeName)) pieces.push('\n');
      if ('content' in node) waiting.push(node.content as Node);
    }
    if ('childNodes' in node) waiting.push(...node.childNodes.toReversed());
  }
  // By its elements, as a program that looks at one piece of text after the other, and as its styles lay it out.
  for (const read of [() => pieces.join(''), () => pieces.join('\n'), () => textAsLaidOut(root)]) {
    const text = search.found.link === null ? read() : '';
    const link = text === null ? 'more styles than can be searched for links' : findTextLink(text, search.topLevel);
    if (link !== null) note(search, link);
  }
}

/** Elements whose content is text to browsers, and HTML to programs that do not know them. */
const RAW: ReadonlySet<string> = new Set('noscript noembed noframes iframe xmp plaintext textarea title'.split(' '));

function searchContent(
  { value, parentNode }: DefaultTreeAdapterTypes.TextNode,
  pieces: string[],
  search: Search,
  depth: number,
): void {
  const parent = parentNode?.nodeName ?? '';
  if (parent === 'style') searchCss(value, search);
  else if (parent === 'script' && value.trim() !== '') note(search, 'a script');
  else pieces.push(value);
  if ((RAW.has(parent) || parent === 'style') && value.includes('<')) searchHtml(value, search, depth + 1);
}

/** Outlook shows the content of conditional comments: `<!--[if mso]>…<![endif]-->`; to programs that read XML, CDATA is text. */
function searchComment(comment: string, search: Search, depth: number): void {
  const data = /^\[CDATA\[(.*)/s.exec(comment)?.[1];
  const link = data === undefined ? null : findTextLink(data, search.topLevel);
  if (link !== null) note(search, link);
  if (/^\s*\[\s*if\b/i.test(comment)) searchHtml(comment.slice(comment.indexOf('>') + 1), search, depth + 1);
}

/** Attributes whose value is an address, a list of addresses, or addresses with conditions. */
const ADDRESSES: ReadonlySet<string> = new Set(
  'action background base cite classid code codebase data definitionurl dynsrc formaction href icon longdesc lowsrc manifest poster src usemap'.split(
    ' ',
  ),
);
const LISTS: ReadonlySet<string> = new Set('archive attributionsrc ping profile'.split(' '));
const SETS: ReadonlySet<string> = new Set('srcset imagesrcset'.split(' '));
/** Elements of SVG that set another attribute. */
const ANIMATIONS: ReadonlySet<string> = new Set('animate set animatecolor animatemotion animatetransform'.split(' '));

function searchElement(element: Element, search: Search, depth: number): void {
  const name = element.nodeName.toLowerCase();
  if (name === 'form' || name === 'isindex') note(search, `<${name}>`);
  const value = (attribute: string) =>
    element.attrs.find((each) => each.name.toLowerCase() === attribute)?.value ?? null;
  if (name === 'meta' && /^\s*(?:refresh|link|location|set-cookie|content-base)\s*$/i.test(value('http-equiv') ?? ''))
    for (const add of [note, noteUsed])
      add(search, `<meta http-equiv="${value('http-equiv')?.trim()}" content="${value('content') ?? ''}">`);
  if (name === 'meta')
    search.found.charset ??=
      value('charset')?.trim() ?? /charset\s*=\s*["']?\s*([\w-]{1,40})/i.exec(value('content') ?? '')?.[1] ?? null;
  const target = value('attributename');
  if (ANIMATIONS.has(localName(name)) && (target === null || ADDRESSES.has(localName(target.trim().toLowerCase()))))
    for (const attribute of ['to', 'from', 'by', 'values'])
      for (const each of (value(attribute) ?? '').split(';')) searchAddress(each, search);
  if (name === 'param') searchAddress(/[/:\\.]/.test(value('value') ?? '') ? (value('value') ?? '') : '', search);
  for (const attribute of element.attrs) searchAttribute(element, attribute, search, depth);
}

/** Without the prefix of a namespace: `xlink:href`. */
function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1);
}

function searchAttribute(
  element: Element,
  { name: given, value, prefix }: Element['attrs'][number],
  search: Search,
  depth: number,
): void {
  const whole = given.toLowerCase();
  if (whole === 'xmlns' || whole.startsWith('xmlns:') || prefix === 'xmlns') return;
  const name = localName(whole);
  if (name === 'style') searchCss(value, search);
  else if (name === 'srcdoc') searchHtml(value, search, depth + 1);
  else if (/^on[a-z]/.test(name)) note(search, `the script of ${whole}`);
  else if (SETS.has(name)) for (const address of addressesOfSet(value)) searchAddress(address, search);
  else if (LISTS.has(name)) for (const address of value.split(/[\s,]+/)) searchAddress(address, search);
  else if (ADDRESSES.has(name)) searchAddress(value, search, element);
  else {
    const link = findExplicitLink(value);
    if (link !== null) note(search, link);
    // Attributes of SVG, such as `fill`.
    if (value.includes('(')) searchCss(value, search);
  }
}

/** Returns the addresses of `srcset` (HTML §4.8.4.3.10). */
function addressesOfSet(value: string): string[] {
  return [...value.matchAll(/[^\s,]\S*/g)]
    .map(([word]) => word.replace(/,+$/, ''))
    .filter((word) => !/^\d+(?:\.\d+)?[wxh]$/i.test(word));
}

/** Browsers ignore spaces and control characters around an address, and tabs and line ends within it. */
function searchAddress(value: string, search: Search, element: Element | null = null): void {
  // oxlint-disable-next-line no-control-regex
  const address = value
    .replace(/[\t\n\r]+/g, '')
    .replace(/^[\0-\x20]+/, '')
    .trimEnd();
  if (address === '' || address.startsWith('#') || /^[cm]id:[^/\\]/i.test(address)) return;
  const isLink = element?.nodeName === 'a' || element?.nodeName === 'area';
  if (!isLink && !/^data:(?:image|audio|video)\//i.test(address)) noteUsed(search, address);
  if (/^data:/i.test(address)) {
    search.found.file ??= shownLink(address);
    if (!/^data:(?:image\/(?!svg)|font\/|audio\/|video\/)/i.test(address) || isLink) note(search, address);
  } else if (!isShownAddress(address, element)) note(search, address);
}

/** Whether a link leads to the mail address or number that is its text: programs make such links themselves. */
function isShownAddress(address: string, element: Element | null): boolean {
  const target = /^(?:mailto|tel):([^?&,;]+)$/i.exec(address)?.[1];
  if (target === undefined || element === null || element.nodeName !== 'a') return false;
  const plain = (text: string) => text.replace(/[\s()/.-]+/g, '').toLowerCase();
  const shown = textWithin(element);
  return shown !== null && plain(shown) === plain(target);
}

const MAX_ADDRESS_NODES = 20;

/** Returns the text of a small element; null when it is larger. */
function textWithin(element: Element): string | null {
  let text = '';
  const waiting: Node[] = element.childNodes.toReversed();
  for (let count = 0; count < MAX_ADDRESS_NODES; count++) {
    const node = waiting.pop();
    if (node === undefined) return text;
    if (node.nodeName === '#text' && 'value' in node) text += node.value;
    if ('childNodes' in node) waiting.push(...node.childNodes.toReversed());
  }
  return null;
}

/** Functions whose strings are no addresses. */
const PLAIN_FUNCTIONS: ReadonlySet<string> = new Set(
  'attr counter counters format local lang layer selector symbols tech type var env not is where has'.split(' '),
);

function searchCss(css: string, search: Search): void {
  for (const plain of new Set([decodeEscapes(css), decodeEscapes(withoutComments(css))])) {
    for (const [, double, single, bare = ''] of plain.matchAll(/(?:url|src)\(\s*(?:"([^"]*)|'([^']*)|([^)]*))/gi))
      searchAddress(double ?? single ?? bare, search);
    for (const [, name = '', content = ''] of plain.matchAll(/(?<![\w-])([\w-]{1,60})\(([^(){};]*)/g))
      if (!PLAIN_FUNCTIONS.has(name.toLowerCase()))
        for (const [, double, single = ''] of content.matchAll(/"([^"]*)|'([^']*)/g))
          searchAddress(double ?? single, search);
    for (const [, double, single = ''] of plain.matchAll(/@import\s*(?:"([^"]*)|'([^']*))/gi))
      searchAddress(double ?? single, search);
    const link = findExplicitLink(plain.replace(/@namespace[^;{}]*/gi, ''));
    if (link !== null) note(search, link);
  }
}

/** CSS escapes can hide `url(`. */
function decodeEscapes(css: string): string {
  return css.replaceAll(/\\(?:([0-9a-f]{1,6})\s?|(?:\r\n|[\n\f])|(.))/gi, (_all, hex?: string, character?: string) =>
    hex === undefined ? (character ?? '') : readCharacter(Number.parseInt(hex, 16)),
  );
}

function readCharacter(codePoint: number): string {
  return codePoint > 0x10ffff ? '\ufffd' : String.fromCodePoint(codePoint);
}
