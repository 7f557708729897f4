import { INLINE_ELEMENTS, UNSEEN_ELEMENTS } from './elements.ts';

/**
 * Returns the text of HTML that a reader may see, for searches: without tags, comments, styles, scripts and the head, references decoded.
 * Inline elements join their neighbors (`H<b>ello</b>` is Hello), all others separate them. At most `maxLength` characters. Takes linear
 * time; broken HTML gives roughly what a browser shows.
 */
export function visibleText(html: string, maxLength: number): string {
  const scan: Scan = { html, unclosed: new Set() };
  let text = '';
  let at = 0;
  while (at < html.length && text.length < maxLength) {
    const open = html.indexOf('<', at);
    text += html.slice(at, open === -1 ? html.length : open);
    if (open === -1) break;
    const { join, end } = behindMarkup(scan, open);
    text += join;
    at = end;
  }
  return resolveReferences(text.slice(0, maxLength));
}

interface Scan {
  html: string;
  /** names of elements that have no further end tag */
  unclosed: Set<string>;
}

const TAG_NAME = /\/?([a-z][a-z0-9]*)/iy;
/** Returns the index after the markup at `open`, and the text that replaces it. */
function behindMarkup({ html, unclosed }: Scan, open: number): { join: string; end: number } {
  if (html.startsWith('<!--', open)) return { join: '', end: behind(html, '-->', open + 4) };
  TAG_NAME.lastIndex = open + 1;
  const name = TAG_NAME.exec(html)?.[1]?.toLowerCase();
  if (name === undefined) {
    const isDeclaration = html[open + 1] === '!' || html[open + 1] === '?';
    return isDeclaration ? { join: '', end: behind(html, '>', open + 1) } : { join: '<', end: open + 1 };
  }
  const join = INLINE_ELEMENTS.has(name) ? '' : ' ';
  const inside = behindTag(html, open + 1);
  if (html[open + 1] === '/' || !UNSEEN_ELEMENTS.has(name) || unclosed.has(name)) return { join, end: inside };
  const close = new RegExp(`</${name}`, 'gi');
  close.lastIndex = inside;
  const closed = close.exec(html);
  // An element without an end tag is treated as empty: indexing invisible words is better than none of the message.
  if (closed === null) unclosed.add(name);
  return { join, end: closed === null ? inside : behindTag(html, closed.index + 1) };
}

function behind(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}

/** A `>` within quotes is part of an attribute if the quote is closed. */
function behindTag(html: string, from: number): number {
  TAG_END.lastIndex = from;
  const end = TAG_END.exec(html);
  return end === null ? behind(html, '>', from) : end.index + end[0].length;
}

const TAG_END = /(?:[^<>"']|"[^"<]{0,4000}"|'[^'<]{0,4000}')*>/y;

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  shy: '',
  zwnj: '',
  szlig: 'ß',
  aelig: 'æ',
  AElig: 'Æ',
  oelig: 'œ',
  OElig: 'Œ',
  oslash: 'ø',
  Oslash: 'Ø',
  eth: 'ð',
  thorn: 'þ',
};
/** Letters with a diacritic: `&uuml;` is u with U+0308. */
const MARKED: Readonly<Record<string, string>> = {
  uml: '\u0308',
  acute: '\u0301',
  grave: '\u0300',
  circ: '\u0302',
  tilde: '\u0303',
  cedil: '\u0327',
  ring: '\u030a',
  caron: '\u030c',
};

/** Decodes HTML character references: numbers, letters, and those for markup. Other names become a space. */
export function resolveReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}))(;?)/g,
    (whole, decimal, hex, name, end) => {
      if (name !== undefined) return findElementName(String(name)) ?? (end === ';' ? ' ' : whole);
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
      return code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? ' ' : String.fromCodePoint(code);
    },
  );
}

function findElementName(name: string): string | undefined {
  const mark = MARKED[name.slice(1)];
  return mark === undefined ? NAMED[name] : `${name[0]}${mark}`.normalize('NFC');
}
