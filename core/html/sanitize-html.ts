import type { Attributes, IOptions } from 'sanitize-html';
import sanitizeHtml from 'sanitize-html';
import { storableText } from '../shared/text.ts';
import { hiddenClasses, isHidden } from './hidden-elements.ts';

/** Maximum characters. Longer HTML has no cleaned copy: cleaning would take a second, and mail programs cut far earlier. */
export const MAX_CLEANED_HTML_LENGTH = 1_000_000;
/** Maximum tags and open elements; beyond them cleaning is slower than linear. */
const MAX_TAGS = 60_000;
const MAX_OPEN_ELEMENTS = 1_500;
const MAX_LOOSE_ELEMENTS = 8_000;
const MAX_NESTING = 100;

/**
 * Returns HTML that is safe to show: no scripts, event handlers, forms, frames, objects or style sheets; only http, https, mailto, tel
 * and cid URLs and inline images; no styles that load or cover anything; no hidden elements (preheaders), unless nothing else remains. Null when the HTML is too large or too deeply nested.
 */
export function sanitizeHtmlBody(html: string): string | null {
  if (isTooComplex(html)) return null;
  const classes = hiddenClasses(html);
  const hidden = new WeakSet<Attributes>();
  const shown = sanitizeHtml(html, {
    ...WHOLE,
    transformTags: {
      '*': (tagName, attributes) => {
        if (isHidden(attributes, classes)) hidden.add(attributes);
        return clean(tagName, attributes);
      },
    },
    exclusiveFilter: ({ attribs }) => hidden.has(attribs),
  }).trim();
  return storableText(shown === '' ? sanitizeHtml(html, WHOLE).trim() : shown);
}

/** Returns about `maxLength` characters of the text of sanitized HTML, white space collapsed. */
export function excerptOfHtml(sanitized: string, maxLength: number): string {
  const front = sanitized.slice(0, maxLength * EXCERPT_OVERHEAD);
  const text = front
    .replace(/<[^<>]*(?:>|$)/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
  return text.replace(/\s+/g, ' ').trim();
}

/** Characters of HTML read per character of the excerpt. */
const EXCERPT_OVERHEAD = 100;

/** Parts of a style that load something, run something or cover the page; escapes could hide any of them. */
const HARMFUL_STYLE =
  /url\s*\(|image|expression|@|javascript|vbscript|behaviou?r|binding|position|z-index|[\\<&]|\/\*/i;
const MAX_STYLE_LENGTH = 2_000;

function clean(tagName: string, attributes: Attributes): { tagName: string; attribs: Attributes } {
  const style = attributes['style'];
  if (style !== undefined && (style.length > MAX_STYLE_LENGTH || HARMFUL_STYLE.test(style))) delete attributes['style'];
  return cleanUrls(tagName, attributes);
}

/** Makes links open apart, and removes data: URLs that are no pictures. */
export function cleanUrls(tagName: string, attributes: Attributes): { tagName: string; attribs: Attributes } {
  if (tagName === 'a') {
    attributes['rel'] = 'noopener noreferrer nofollow';
    attributes['target'] = '_blank';
  } else if (tagName === 'img') {
    const source = attributes['src'] ?? '';
    if (/^\s*data:/i.test(source) && !/^data:image\/(?:png|gif|jpe?g|webp|bmp);base64,/i.test(source))
      delete attributes['src'];
  }
  return { tagName, attribs: attributes };
}

const TABLE_ATTRIBUTES = ['width', 'height', 'bgcolor', 'valign', 'colspan', 'rowspan', 'nowrap'];

// No titles: attributes with free text can hide markup from one parser that another one sees.
export const ATTRIBUTES_OF_ALL = ['style', 'align', 'dir', 'lang'];
export const ATTRIBUTES_OF_TAGS = {
  a: ['href', 'rel', 'target'],
  img: ['src', 'alt', 'width', 'height', 'border', 'hspace', 'vspace'],
  font: ['color', 'face', 'size'],
  table: [...TABLE_ATTRIBUTES, 'border', 'cellpadding', 'cellspacing'],
  td: TABLE_ATTRIBUTES,
  th: TABLE_ATTRIBUTES,
  tr: TABLE_ATTRIBUTES,
  col: ['width', 'span'],
  ol: ['start', 'type'],
  ul: ['type'],
  li: ['value'],
  hr: ['width', 'size', 'color'],
  blockquote: ['type'],
};

/** Elements whose text is not part of what is shown. */
const NOT_SHOWN = ['script', 'style', 'textarea', 'option', 'xmp', 'title'];

export const WHOLE: IOptions = {
  allowedTags: [
    ...sanitizeHtml.defaults.allowedTags,
    'img',
    'center',
    'font',
    'big',
    'strike',
    'tt',
    'del',
    'ins',
    'details',
    'summary',
  ],
  allowedAttributes: { ...ATTRIBUTES_OF_TAGS, '*': ATTRIBUTES_OF_ALL },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['http', 'https', 'cid', 'data'] },
  allowProtocolRelative: false,
  nestingLimit: MAX_NESTING,
  nonTextTags: NOT_SHOWN,
  // Styles are filtered by `clean`: parsing each one costs more than everything else.
  parseStyleAttributes: false,
  transformTags: { '*': clean },
};

const VOID_ELEMENTS = new Set(['br', 'hr', 'img', 'meta', 'link', 'input', 'col', 'wbr', 'area']);
/** Elements whose end tag is often missing in real mail. The parser usually closes them, so they have a higher limit. */
const LOOSE_ELEMENTS = new Set(['p', 'li', 'td', 'tr', 'th', 'dd', 'dt', 'option']);

/** Returns whether reading the HTML could take more than linear time. */
export function isTooComplex(html: string): boolean {
  if (html.length > MAX_CLEANED_HTML_LENGTH) return true;
  const tag = /<(\/?)([a-z][a-z0-9]*)/iy;
  let tags = 0;
  let open = 0;
  let loose = 0;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    if (++tags > MAX_TAGS) return true;
    tag.lastIndex = at;
    const [, slash, written = ''] = tag.exec(html) ?? [];
    const name = written.toLowerCase();
    if (slash === undefined || VOID_ELEMENTS.has(name)) continue;
    const step = slash === '/' ? -1 : 1;
    if (LOOSE_ELEMENTS.has(name)) loose = Math.max(0, loose + step);
    else open = Math.max(0, open + step);
    if (open > MAX_OPEN_ELEMENTS || loose > MAX_LOOSE_ELEMENTS) return true;
  }
  return false;
}
