import { INLINE_ELEMENTS } from '../html/elements.ts';
import { resolveReferences } from '../html/visible-text.ts';

/** Attributes with text for readers or programs, as in core/sending/unseen-html.ts. */
const TEXTS =
  /\s(?:alt|title|aria-label|aria-description|placeholder|value|label|summary|content|abbr|standby|srcdoc|data-[\w-]{1,40})\s*=\s*(?:"([^"<]{1,20000})"|'([^'<]{1,20000})')/gi;
const TAG_END = /(?:[^<>"']|"[^"<]{0,20000}"|'[^'<]{0,20000}')*>/y;
const CSS_TEXT = /\/\*(?:[^*]|\*(?!\/)){1,20000}\*\/|(?<![\w-])content\s*:\s*(?:"[^"]{1,2000}"|'[^']{1,2000}')/g;
/** Elements that usually have such an attribute, and attributes that others seldom have. */
const WITH_TEXT: ReadonlySet<string> = new Set([
  'img',
  'area',
  'input',
  'meta',
  'option',
  'optgroup',
  'button',
  'track',
  'iframe',
]);
const SELDOM = /\s(?:title|aria-|placeholder|label|summary|abbr|standby|data-|alt|value|content)/i;
/** Characters of a tag that can have such an attribute. */
const MIN_TAG = 14;

/**
 * Returns all text of HTML, whether a person sees it or not: with comments, texts of attributes, and what style sheets say. Inline elements
 * join their neighbors. Linear.
 */
export function readAllText(html: string): string {
  const pieces: string[] = [];
  const texts: string[] = [];
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    if (open === -1 || open > at) pieces.push(html.slice(at, open === -1 ? html.length : open));
    if (open === -1) break;
    at = open + 1;
    const isEnd = html[at] === '/';
    const first = html.charCodeAt(isEnd ? at + 1 : at) | 32;
    if (html.startsWith('!--', at)) {
      // What is in a comment is text as well.
      pieces.push('\n');
      at += 3;
      continue;
    }
    if (first < 97 || first > 122) {
      if (html[at] !== '!' && html[at] !== '?') pieces.push('<');
      continue;
    }
    TAG_END.lastIndex = at;
    const end = TAG_END.test(html) ? TAG_END.lastIndex : -1;
    if (end === -1) continue;
    const name = nameAt(html, isEnd ? at + 1 : at, end);
    if (!INLINE_ELEMENTS.has(name)) pieces.push('\n');
    if (!isEnd && end - at >= MIN_TAG) {
      const tag = html.slice(at, end);
      if (WITH_TEXT.has(name) || SELDOM.test(tag))
        for (const [, double, single] of tag.matchAll(TEXTS)) texts.push(double ?? single ?? '');
    }
    at = end;
    if (name !== 'style' || isEnd) continue;
    const close = html.indexOf('</', at);
    const css = html.slice(at, close === -1 ? html.length : close);
    for (const [text] of css.matchAll(CSS_TEXT)) texts.push(text);
    at += css.length;
  }
  return resolveReferences(texts.length === 0 ? pieces.join('') : `${pieces.join('')}\n\n${texts.join('\n\n')}`);
}

function nameAt(html: string, from: number, end: number): string {
  let to = from;
  while (to < end && isOfName(html.charCodeAt(to))) to++;
  return html.slice(from, to).toLowerCase();
}

function isOfName(code: number): boolean {
  return (code >= 48 && code <= 58) || ((code | 32) >= 97 && (code | 32) <= 122);
}
