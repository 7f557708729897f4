import type { Attributes, IOptions } from 'sanitize-html';
import sanitizeHtml from 'sanitize-html';
import { storableText } from '../shared/text.ts';
import { type LayoutMode, readMailTree } from './read-mail-tree.ts';
import { RESERVED_PREFIX, type SanitizedStyle, sanitizeStyle, sanitizeStyleSheets } from './sanitize-css.ts';
import { ATTRIBUTES_OF_ALL, ATTRIBUTES_OF_TAGS, cleanUrls, isTooComplex, WHOLE } from './sanitize-html.ts';

/** HTML of a message, sanitized for core/html/mail-document.ts. */
export interface DisplayHtml {
  /**
   * The content of its body. `data-quoted` marks quoted mail (`inside` this element, or from here `onwards`); `data-background` is the
   * http(s) URL of a background image. The message cannot set either.
   */
  html: string;
  /** its style sheets; contains no `<` and loads nothing */
  styleSheet: string;
  /** attributes of the elements html and body, sanitized; `data-background` as above */
  root: Attributes;
  body: Attributes;
  mode: LayoutMode;
  /** whether it chooses fonts or colors; other mail is shown in the reader's font */
  isDesigned: boolean;
}

/** Returns HTML that is safe to show with the design of its sender; null when it is too large or too deeply nested. */
export function sanitizeForDisplay(html: string): DisplayHtml | null {
  if (isTooComplex(html)) return null;
  const tree = readMailTree(html);
  if (tree === null) return null;
  const styles = new Map<string, SanitizedStyle>();
  const content = sanitizeHtml(tree.content, {
    ...DISPLAY,
    transformTags: { '*': (tagName, attributes) => prepare(tagName, attributes, styles) },
  });
  const styleSheet = sanitizeStyleSheets(tree.sheets);
  const isDesigned = styleSheet !== '' || DESIGN.test(html);
  return {
    html: storableText(content.trim()),
    styleSheet: storableText(styleSheet),
    root: rootAttributes(tree.root, styles),
    body: rootAttributes(tree.body, styles),
    mode: tree.mode,
    isDesigned,
  };
}

const DESIGN = /<font\b[^<>]{0,200}\bface\b|\bfont(?:-family)?\s*:|\bbgcolor\s*=|\bbackground(?:-color)?\s*[:=]/i;

/** Elements that contain only quoted mail. Signatures do not count, nor forwarded mail, which the reader wants to see. */
const QUOTED_CLASS =
  /(?:^|\s)(?:x_)?(?:gmail_quote(?:_container)?|yahoo_quoted|protonmail_quote|tutanota_quote)(?:\s|$)/;
const QUOTED_ID = /^(?:x_)?(?:yahoo_quoted_\w*|OLK_SRC_BODY_SECTION)$/i;
/** Outlook starts quoted mail with one of these and ends it with the body. */
const QUOTED_ONWARDS_ID =
  /^(?:x_)?(?:divRplyFwdMsg|appendonsend|stopSpelling|mail-editor-reference-message-container)$/i;
const QUOTED_ONWARDS_STYLE = /^border:none;\s?border-top:solid #(?:E1E1E1|B5C4DF) 1\.0pt/i;

const OUT_OF_FLOW = /position\s*:\s*(?:absolute|fixed)/i;

function prepare(
  tagName: string,
  attributes: Attributes,
  styles: Map<string, SanitizedStyle>,
): { tagName: string; attribs: Attributes } {
  const { id = '', class: names = '', style = '' } = attributes;
  delete attributes['data-quoted'];
  const isQuoted = tagName === 'blockquote' && attributes['type'] === 'cite';
  if (isQuoted || QUOTED_CLASS.test(names) || QUOTED_ID.test(id)) attributes['data-quoted'] = 'inside';
  else if (QUOTED_ONWARDS_ID.test(id) || QUOTED_ONWARDS_STYLE.test(style)) attributes['data-quoted'] = 'onwards';
  cleanDesign(attributes, styles);
  // Positions are dropped: a tracking pixel that took no room must not move the mail.
  if (tagName === 'img' && OUT_OF_FLOW.test(style) && attributes['width'] === '1')
    attributes['style'] = 'display:none!important';
  // A form is a block to its design.
  return cleanUrls(tagName === 'form' ? 'div' : tagName, attributes);
}

/** Cleans style, class and id, and moves the background image to `data-background`. */
function cleanDesign(attributes: Attributes, styles: Map<string, SanitizedStyle>): void {
  const { id = '', class: names, style = '', background = '' } = attributes;
  delete attributes['data-background'];
  if (style !== '') {
    const declared = styles.get(style) ?? sanitizeStyle(style);
    if (styles.size < MAX_REMEMBERED_STYLES) styles.set(style, declared);
    if (declared.style === '') delete attributes['style'];
    else attributes['style'] = declared.style;
    if (declared.background !== null) attributes['data-background'] = declared.background;
  }
  if (/^https?:/i.test(background)) attributes['data-background'] ??= background;
  if (id.toLowerCase().startsWith(RESERVED_PREFIX)) delete attributes['id'];
  if (names?.toLowerCase().includes(RESERVED_PREFIX) !== true) return;
  const kept = names.split(/\s+/).filter((name) => !name.toLowerCase().startsWith(RESERVED_PREFIX));
  attributes['class'] = kept.join(' ');
}

/** Newsletters repeat a few styles hundreds of times. */
const MAX_REMEMBERED_STYLES = 500;

/** Returns the attributes of html or body that design the mail. */
function rootAttributes(written: Attributes, styles: Map<string, SanitizedStyle>): Attributes {
  const cleaned = { ...written };
  cleanDesign(cleaned, styles);
  const kept: Attributes = {};
  for (const [name, value] of Object.entries(cleaned)) {
    const isKept = name === 'data-background' || ROOT_ATTRIBUTES.get(name)?.test(value) === true;
    if (isKept) kept[name] = value;
  }
  const { style } = kept;
  // The frame is as high as its content.
  if (style !== undefined) kept['style'] = style.replace(/(?:^|;)(?:min-|max-)?height:[^;]*/g, '').replace(/^;/, '');
  return kept;
}

const COLOR = /^[#\w]{1,30}$/;
const PIXELS = /^\d{1,4}$/;
const ROOT_ATTRIBUTES: ReadonlyMap<string, RegExp> = new Map([
  ['style', /./s],
  ['class', /^.{1,500}$/s],
  ['id', /^.{1,200}$/s],
  ['dir', /^(?:ltr|rtl|auto)$/i],
  ...['bgcolor', 'text', 'link'].map((name): [string, RegExp] => [name, COLOR]),
  ...['leftmargin', 'topmargin', 'rightmargin', 'bottommargin', 'marginwidth', 'marginheight'].map(
    (name): [string, RegExp] => [name, PIXELS],
  ),
]);

const SECTION = ['align', 'valign', 'bgcolor', 'height'];
/** Deeper content is dropped; browsers stop at 512. */
const MAX_NESTING = 400;

const DISPLAY: IOptions = {
  ...WHOLE,
  // The tree of the mail is written as XML, so that no rule of HTML for missing tags is applied twice.
  parser: { xmlMode: true, decodeEntities: true },
  nestingLimit: MAX_NESTING,
  allowedTags: [...(WHOLE.allowedTags || []), 'nobr'],
  allowedAttributes: {
    ...ATTRIBUTES_OF_TAGS,
    thead: SECTION,
    tbody: SECTION,
    tfoot: SECTION,
    tr: [...ATTRIBUTES_OF_TAGS.tr, 'bordercolor'],
    table: [...ATTRIBUTES_OF_TAGS.table, 'bordercolor', 'rules', 'frame', 'hspace', 'vspace'],
    col: [...ATTRIBUTES_OF_TAGS.col, 'valign', 'bgcolor'],
    colgroup: ['width', 'span', 'valign', 'bgcolor'],
    hr: [...ATTRIBUTES_OF_TAGS.hr, 'noshade'],
    br: ['clear'],
    '*': [...ATTRIBUTES_OF_ALL, 'class', 'id', 'data-quoted', 'data-background'],
  },
};
