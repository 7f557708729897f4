import type { Attributes, IOptions } from 'sanitize-html';
import sanitizeHtml from 'sanitize-html';
import { storableText } from '../shared/text.ts';

/** Maximum characters. Longer HTML has no cleaned copy: cleaning would take a second, and mail programs cut far earlier. */
export const MAX_CLEANED_HTML_LENGTH = 1_000_000;
/** Maximum tags and open elements; beyond them cleaning is slower than linear. */
const MAX_TAGS = 60_000;
const MAX_OPEN_ELEMENTS = 1_500;
const MAX_LOOSE_ELEMENTS = 8_000;
const MAX_NESTING = 100;

/**
 * Returns HTML that is safe to show: no scripts, event handlers, forms, frames, objects or style sheets; only http, https, mailto, tel
 * and cid URLs and inline images; no styles that load or cover anything. Null when the HTML is too large or too deeply nested.
 */
export function sanitizeHtmlBody(html: string): string | null {
  return isTooComplex(html) ? null : storableText(sanitizeHtml(html, WHOLE).trim());
}

/**
 * Like {@link sanitizeHtmlBody}, for core/html/mail-document.ts. Adds `data-quoted` for quoted mail (`inside` this element, or from here
 * `onwards`) and `data-background` with the http(s) URL of a background image, and removes such attributes of the message itself. Only
 * harmful declarations of a style are removed.
 */
export function sanitizeHtmlForDisplay(html: string): string | null {
  return isTooComplex(html) ? null : storableText(sanitizeHtml(html, DISPLAY).trim());
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

/** Elements that contain only quoted mail. Signatures do not count, nor forwarded mail, which the reader wants to see. */
const QUOTED_CLASS =
  /(?:^|\s)(?:x_)?(?:gmail_quote(?:_container)?|yahoo_quoted|protonmail_quote|tutanota_quote)(?:\s|$)/;
const QUOTED_ID = /^(?:x_)?(?:yahoo_quoted_\w*|OLK_SRC_BODY_SECTION)$/i;
/** Outlook starts quoted mail with one of these and ends it with the body. */
const QUOTED_ONWARDS_ID =
  /^(?:x_)?(?:divRplyFwdMsg|appendonsend|stopSpelling|mail-editor-reference-message-container)$/i;
const QUOTED_ONWARDS_STYLE = /^border:none;\s?border-top:solid #(?:E1E1E1|B5C4DF) 1\.0pt/i;

function prepareForDisplay(tagName: string, attributes: Attributes): { tagName: string; attribs: Attributes } {
  const { id = '', class: names = '', style = '', background = '' } = attributes;
  delete attributes['data-quoted'];
  delete attributes['data-background'];
  if (style !== '' && style.length <= MAX_STYLE_LENGTH) {
    const declared = readDeclarations(style, HARMFUL_STYLE);
    if (declared.style === '') delete attributes['style'];
    else attributes['style'] = declared.style;
    if (declared.background !== null) attributes['data-background'] = declared.background;
  }
  if (/^https?:/i.test(background)) attributes['data-background'] ??= background;
  const isQuoted = tagName === 'blockquote' && attributes['type'] === 'cite';
  if (isQuoted || QUOTED_CLASS.test(names) || QUOTED_ID.test(id)) attributes['data-quoted'] = 'inside';
  else if (QUOTED_ONWARDS_ID.test(id) || QUOTED_ONWARDS_STYLE.test(style)) attributes['data-quoted'] = 'onwards';
  return clean(tagName, attributes);
}

const TABLE_ATTRIBUTES = ['width', 'height', 'bgcolor', 'valign', 'colspan', 'rowspan', 'nowrap'];

// No titles: attributes with free text can hide markup from one parser that another one sees.
const OF_ALL = ['style', 'align', 'dir', 'lang'];
const OF_TAGS = {
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

const WHOLE: IOptions = {
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
  allowedAttributes: { ...OF_TAGS, '*': OF_ALL },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['http', 'https', 'cid', 'data'] },
  allowProtocolRelative: false,
  nestingLimit: MAX_NESTING,
  // Styles are filtered by `clean`: parsing each one costs more than everything else.
  parseStyleAttributes: false,
  transformTags: { '*': clean },
};

const DISPLAY: IOptions = {
  ...WHOLE,
  allowedAttributes: { ...OF_TAGS, '*': [...OF_ALL, 'data-quoted', 'data-background'] },
  transformTags: { '*': prepareForDisplay },
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

/** A parsed style attribute. */
interface Declarations {
  /** without harmful declarations */
  style: string;
  /** http(s) URL of the background image as written; null: none */
  background: string | null;
}

/**
 * Parses a style attribute and drops the declarations that match `harmful`, or whose lengths depend on the height of the frame, which in
 * turn depends on the content. A pattern that spans no semicolon does not match the remaining style.
 */
function readDeclarations(style: string, harmful: RegExp): Declarations {
  let background: string | null = null;
  const kept: string[] = [];
  for (const declaration of style.split(';')) {
    const [, colon, url] = BACKGROUND.exec(declaration) ?? [];
    if (url !== undefined) {
      background ??= url;
      // A shorthand may name a color for when there is no image.
      const color = colon === 'background' ? COLOR.exec(declaration.replace(/url\([^)]*\)/i, ' '))?.[0] : undefined;
      if (color !== undefined) kept.push(`background-color:${color}`);
    } else if (DECLARATION.test(declaration) && !harmful.test(declaration) && !FRAME_LENGTH.test(declaration))
      kept.push(declaration);
  }
  const left = kept.join(';');
  return { style: harmful.test(left) ? '' : left, background };
}

/** Anything else between semicolons is a fragment of a value that contains one. */
const DECLARATION = /^\s*[a-z-]+\s*:/i;
const BACKGROUND = /^\s*(background(?:-image)?)\s*:[^\\]*?\burl\(\s*["']?(https?:\/\/[^\s"'()\\<>]{1,2000})["']?\s*\)/i;
const COLOR = /#[0-9a-f]{3,8}\b/i;
/** CSS Values and Units §6.1.2 */
const FRAME_LENGTH = /\d\s*[sld]?v(?:h|w|min|max|b|i)\b/i;
