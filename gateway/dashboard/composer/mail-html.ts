import type { Original } from './composer-documents.ts';
import { NO_QUOTE, type Quote } from './draft.ts';

/** Elements of the editor, and which attributes they may have. */
const PLAIN = 'p br strong b em i u s code pre h1 h2 h3 hr ul li blockquote tbody tr'.split(' ');
const EDITABLE: Record<string, readonly string[]> = {
  ...Object.fromEntries(PLAIN.map((name) => [name, []])),
  ol: ['start', 'type'],
  div: ['data-signature'],
  a: ['href', 'target', 'rel'],
  img: ['src', 'alt'],
  td: ['colspan', 'rowspan'],
  th: ['colspan', 'rowspan'],
};
/** How a table of the editor is sent; tables of programs, which can be a layout, look otherwise. */
const TABLE = '<table border="1" cellpadding="4" cellspacing="0">';
const TAG = /<\/?([a-z][a-z0-9-]*)((?:"[^"]*"|'[^']*'|[^"'>])*)>/gi;
const ATTRIBUTE = /([^\s=/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

/** Returns whether the editor shows all of this HTML. That of programs can have tables, styles and remote images, which it would remove. */
export function isEditable(html: string): boolean {
  const rest = html.replaceAll(TAG, (tag, name: string, attributes: string) => {
    if (tag === TABLE || tag === '</table>') return '';
    const allowed = EDITABLE[name.toLowerCase()];
    if (allowed === undefined) return tag;
    const found = [...attributes.matchAll(ATTRIBUTE)];
    const isAllowed = found.every(([, attribute = '', quoted, single, bare]) => {
      const value = quoted ?? single ?? bare ?? '';
      return allowed.includes(attribute) && (attribute !== 'src' || value.startsWith('cid:'));
    });
    const isOurs = name.toLowerCase() !== 'div' || tag.startsWith('</') || found.length > 0;
    return isAllowed && isOurs ? '' : tag;
  });
  return !rest.includes('<');
}

/** Attributes of pasted HTML that are kept. */
const KEPT = new Set([
  'href',
  'alt',
  'start',
  'type',
  'data-pm-slice',
  'data-signature',
  'data-cid',
  'colspan',
  'rowspan',
]);

/**
 * Returns HTML without scripts, style sheets, sources of images and event handlers, so that parsing it runs and shows nothing; with `data-style`
 * for `style`, and `data-src` for the source of an image that is a `data:` URL.
 */
export function harmlessTags(html: string): string {
  const shown = html.replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, '');
  return shown.replaceAll(TAG, (tag, name: string, attributes: string) => {
    if (tag.startsWith('</')) return tag;
    const kept = [...attributes.matchAll(ATTRIBUTE)].flatMap(([, attribute = '', quoted, single, bare]) => {
      const lower = attribute.toLowerCase();
      const value = (quoted ?? single ?? bare ?? '').replaceAll('"', '&quot;');
      if (lower === 'style') return [` data-style="${value}"`];
      if (lower === 'src') return /^img$/i.test(name) && /^data:/i.test(value) ? [` data-src="${value}"`] : [];
      return KEPT.has(lower) ? [` ${lower}="${value}"`] : [];
    });
    return `<${name}${kept.join('')}>`;
  });
}

/** Returns the HTML of the editor as it is sent: an empty paragraph keeps its height, and items of lists have no space around them. */
export function sentHtml(html: string): string {
  return html
    .replaceAll('<img data-cid="', '<img src="cid:')
    .replaceAll('<table>', TABLE)
    .replaceAll('<p></p>', '<p><br></p>')
    .replace(/<li><p>((?:(?!<\/?p>).)*)<\/p>(?=<\/li>|<[uo]l)/gs, '<li>$1');
}

/** Returns the HTML for the editor; the opposite of sentHtml. The browser would load `cid:` while it parses. */
export function editorHtml(html: string): string {
  return html
    .replaceAll(TABLE, '<table>')
    .replaceAll('<p><br></p>', '<p></p>')
    .replaceAll('<img src="cid:', '<img data-cid="');
}

/** Returns text as paragraphs. */
export function htmlOfText(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${writeLines(paragraph)}</p>`)
    .join('');
}

/** Returns text as lines of HTML. */
export function writeLines(text: string): string {
  return escapeHtml(text).replaceAll('\n', '<br>');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Returns the Content-IDs that the HTML refers to. */
export function listContentIds(html: string): ReadonlySet<string> {
  return new Set([...html.matchAll(/\bsrc="cid:([^"]+)"/g)].map(([, id = '']) => id));
}

/** Returns whether the HTML has more than paragraphs and lines, which is lost in plain text. */
export function isFormatted(html: string): boolean {
  return /<(?!\/?(?:p|br|div)\b)/.test(html);
}

/** Maximum number of characters of a quoted message. */
const MAX_QUOTE_LENGTH = 100_000;
/** The bar beside quotations, which not all mail programs draw by themselves. */
const BAR = 'margin:0;padding-left:0.8em;border-left:2px solid #ccc';
const exactly = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' });

/** Returns the quoted original for a reply: as text, each line marked (RFC 3676 §4.5), and as HTML. Empty if it has no text. */
export function quoteOriginal(original: Original): Quote {
  const { text } = original.content;
  if (text === null || text.trim() === '') return NO_QUOTE;
  const cut = text.trimEnd().slice(0, MAX_QUOTE_LENGTH).toWellFormed().replaceAll('\r\n', '\n');
  const lines = cut.split('\n').map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`.trimEnd()));
  const at = exactly.format(new Date(original.date ?? original.createdAt));
  const opening = `On ${at}, ${original.from.name ?? original.from.address} wrote:`;
  return {
    text: `${opening}\n${lines.join('\n')}`,
    html: `<p>${writeLines(opening)}</p><blockquote type="cite" style="${BAR}">${writeLines(cut)}</blockquote>`,
  };
}
