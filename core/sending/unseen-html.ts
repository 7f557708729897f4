import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { INLINE_ELEMENTS } from '../html/elements.ts';
import { parseMailHtml } from '../html/read-mail-tree.ts';
import {
  areAlike,
  BLACK,
  type Color,
  type Declarations,
  declarationsOf,
  findStyleSheets,
  gapOf,
  hidingOf,
  parseColor,
  readStyleRules,
  type StyleRules,
  textHidingOf,
  WHITE,
} from './unseen-styles.ts';
import type { PieceList, Unseen } from './unseen-text.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** How a place in HTML is shown. */
interface Look {
  /** what hides the element with all that is in it */
  hidden: Unseen | null;
  /** what hides its text, unless an inner element shows it again */
  visibility: Unseen | null;
  size: Unseen | null;
  color: Color;
  /** null: an image, or a color that is not known */
  background: Color | null;
  target: string | null;
}

/**
 * Adds all text of HTML in order, whatever hides it: what readers see, and what only some of them see, with the reason. Also comments,
 * attributes with text, and what is in the head. Returns false when the HTML is too large to be read.
 */
export function addHtmlText(html: string, list: PieceList): boolean {
  const document = html.length > MAX_HTML_LENGTH ? null : parseMailHtml(html);
  if (document === null) return false;
  const rules = readStyleRules(findStyleSheets(document));
  walk(document, SHOWN, { rules, list }, 0);
  return true;
}

const SHOWN: Look = { hidden: null, visibility: null, size: null, color: BLACK, background: WHITE, target: null };
const MAX_HTML_LENGTH = 1_000_000;
const MAX_COMMENT_DEPTH = 3;

interface Walk {
  rules: StyleRules;
  list: PieceList;
}

function walk(root: Node, look: Look, work: Walk, depth: number): void {
  const waiting: { node: Node | null; look: Look }[] = [{ node: root, look }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node } = next;
    if (work.list.isTruncated) return;
    if (node === null) work.list.addBreak(next.look.hidden);
    else if (node.nodeName === '#text' && 'value' in node) addText(node, next.look, work.list);
    else if (node.nodeName === '#comment' && 'data' in node) addComment(node.data, next.look, work, depth);
    else {
      const inner = 'attrs' in node ? lookWithin(node, next.look, work) : next.look;
      if (node.nodeName === 'br') work.list.add('\n', inner.hidden);
      else if ('attrs' in node) {
        addAttributes(node, inner, work.list);
        if (!INLINE.has(node.nodeName)) {
          work.list.addBreak(inner.hidden);
          waiting.push({ node: null, look: inner });
        }
      }
      if ('content' in node) waiting.push({ node: node.content as Node, look: inner });
      if ('childNodes' in node)
        for (const child of node.childNodes.toReversed()) waiting.push({ node: child, look: inner });
    }
  }
}

const INLINE: ReadonlySet<string> = new Set([...INLINE_ELEMENTS, 'img', '#document-fragment']);

/** Elements whose text mail programs or browsers do not show, or only some of them, or only after a click. */
const KINDS: Readonly<Record<string, Unseen>> = {
  head: { kind: 'code', detail: 'in <head>' },
  title: { kind: 'code', detail: 'in <title>' },
  style: { kind: 'code', detail: 'in <style>' },
  script: { kind: 'code', detail: 'in <script>' },
  template: { kind: 'some_readers', detail: 'in <template>' },
  noscript: { kind: 'some_readers', detail: 'in <noscript>' },
  noembed: { kind: 'some_readers', detail: 'in <noembed>' },
  noframes: { kind: 'some_readers', detail: 'in <noframes>' },
  iframe: { kind: 'some_readers', detail: 'in <iframe>' },
  object: { kind: 'some_readers', detail: 'in <object>' },
  video: { kind: 'some_readers', detail: 'in <video>' },
  audio: { kind: 'some_readers', detail: 'in <audio>' },
  canvas: { kind: 'some_readers', detail: 'in <canvas>' },
  svg: { kind: 'some_readers', detail: 'in <svg>' },
  math: { kind: 'some_readers', detail: 'in <math>' },
  textarea: { kind: 'some_readers', detail: 'in <textarea>' },
  datalist: { kind: 'hidden', detail: 'in <datalist>' },
  select: { kind: 'collapsed', detail: 'in a menu' },
  rp: { kind: 'some_readers', detail: 'in <rp>' },
};

function lookWithin(element: Element, outer: Look, { rules, list }: Walk): Look {
  const value = (name: string) => element.attrs.find((each) => each.name === name)?.value;
  const isLink = element.nodeName === 'a' || element.nodeName === 'area';
  const target = isLink ? (value('href')?.trim() ?? outer.target) : outer.target;
  const { always, conditional } = declarationsOf(element, rules);
  let { color, background, visibility, size } = outer;
  if (value('bgcolor') !== undefined) background = parseColor(value('bgcolor') ?? '');
  if (value('background') !== undefined) background = null;
  const given = value('color') ?? (element.nodeName === 'body' ? value('text') : undefined);
  if (given !== undefined) color = parseColor(given) ?? color;
  for (const declarations of always) {
    color = parseColor(declarations.get('-webkit-text-fill-color') ?? declarations.get('color') ?? '') ?? color;
    background = backgroundWithin(declarations, background);
    visibility = withDefault(textHidingOf(declarations, 'visibility'), visibility);
    size = withDefault(textHidingOf(declarations, 'font-size'), size);
    const gap = gapOf(declarations);
    if (gap !== null) list.add('\n', gap);
  }
  // The summary of closed details is shown.
  const around = element.nodeName === 'summary' && outer.hidden === CLOSED ? null : outer.hidden;
  const hidden = around ?? hidingWithin(element, value, { always, conditional });
  return { target, color, background, visibility, size, hidden };
}

function withDefault(found: Unseen | null | undefined, outer: Unseen | null): Unseen | null {
  return found === undefined ? outer : found;
}

function backgroundWithin(declarations: Declarations, outer: Color | null): Color | null {
  const shown = declarations.get('background-color') ?? declarations.get('background');
  if (shown === undefined) return outer;
  if (/url\(|gradient\(/.test(shown)) return null;
  const painted = firstColor(shown);
  return painted !== null && painted[3] > 0.1 ? painted : outer;
}

/** Returns why text at a place is not seen; null: it is. */
function unseenAt({ hidden, visibility, size, color, background }: Look): Unseen | null {
  if (hidden !== null || visibility !== null || size !== null) return hidden ?? visibility ?? size;
  return background !== null && areAlike(color, background) ? SAME_COLOR : null;
}

const SAME_COLOR: Unseen = { kind: 'same_color', detail: 'its color is that of the background' };
const CLOSED: Unseen = { kind: 'collapsed', detail: 'in <details> that is closed' };

function firstColor(value: string): Color | null {
  return (
    parseColor(value) ??
    value
      .split(/\s+(?![^(]*\))/)
      .map(parseColor)
      .find((each) => each !== null) ??
    null
  );
}

function hidingWithin(
  element: Element,
  value: (name: string) => string | undefined,
  { always, conditional }: ReturnType<typeof declarationsOf>,
): Unseen | null {
  const kind = KINDS[element.nodeName];
  if (kind !== undefined) return kind;
  if (value('hidden') !== undefined) return { kind: 'hidden', detail: 'the attribute hidden' };
  if (element.nodeName === 'details' && value('open') === undefined) return CLOSED;
  if (element.nodeName === 'dialog' && value('open') === undefined)
    return { kind: 'hidden', detail: 'in <dialog> that is closed' };
  for (const declarations of always) {
    const hiding = hidingOf(declarations);
    if (hiding !== null) return hiding;
  }
  if (element.nodeName === 'font' && /^-[2-9]|^0$/.test(value('size')?.trim() ?? ''))
    return { kind: 'tiny', detail: `size="${value('size')}"` };
  for (const declarations of conditional) {
    const hiding = hidingOf(declarations);
    if (hiding !== null) return { kind: 'some_readers', detail: `${hiding.detail} on some screens` };
  }
  if (
    /\b(?:gmail_quote|moz-cite|yahoo_quoted|protonmail_quote|gmail_signature)\b/.test(value('class') ?? '') ||
    (element.nodeName === 'blockquote' && value('type') === 'cite')
  )
    return { kind: 'collapsed', detail: 'a quotation, which mail programs fold' };
  return null;
}

function addText({ value, parentNode }: DefaultTreeAdapterTypes.TextNode, look: Look, list: PieceList): void {
  const unseen = unseenAt(look);
  if (unseen?.kind === 'code' && parentNode?.nodeName === 'style') return addStyleText(value, list);
  const isKept = parentNode?.nodeName === 'pre' || unseen?.kind === 'code';
  const text = isKept ? value : value.replace(/[ \t\r\n\f]+/g, ' ');
  if (text.trim() !== '' || unseen === null) list.add(text, unseen, look.target);
}

/** Of style sheets, what is not CSS that only changes looks: comments, and text that they add. */
function addStyleText(css: string, list: PieceList): void {
  for (const [text] of css.matchAll(
    /\/\*(?:[^*]|\*(?!\/)){1,20000}(?:\*\/)?|(?<![\w-])content\s*:\s*(?:"[^"]{1,2000}"|'[^']{1,2000}')/g,
  ))
    list.add(`${text}\n`, KINDS['style'] ?? null);
}

function addComment(comment: string, look: Look, work: Walk, depth: number): void {
  const isConditional = /^\s*\[\s*if\b/i.test(comment);
  if (!isConditional || depth >= MAX_COMMENT_DEPTH) {
    const text = comment.trim();
    if (text !== '' && !/^\[?endif\]?$|^<!\[endif\]$|^\[CDATA\[/i.test(text))
      work.list.add(`${text}\n`, { kind: 'comment', detail: 'a comment' });
    return;
  }
  const content = parseFragment(comment.slice(comment.indexOf('>') + 1));
  const condition = comment.slice(0, Math.min(40, comment.indexOf('>') + 1)).trim();
  walk(
    content,
    { ...look, hidden: { kind: 'some_readers', detail: `only in Outlook: ${condition}` } },
    work,
    depth + 1,
  );
}

/** Attributes whose text some readers see: when an image is not loaded, or under the pointer. */
const TEXTS: ReadonlySet<string> = new Set(
  'alt title aria-label aria-description placeholder value label summary content abbr standby data-text srcdoc'.split(
    ' ',
  ),
);

function addAttributes({ attrs, nodeName }: Element, look: Look, list: PieceList): void {
  for (const { name, value } of attrs)
    if (
      TEXTS.has(name) &&
      value.trim() !== '' &&
      !(nodeName === 'meta' && /^(?:text\/html|width=|IE=|telephone=|[\w-]{1,30}$|light)/i.test(value))
    )
      list.add(`${value}\n`, { kind: 'attribute', detail: `${name} of <${nodeName}>` }, look.target);
}
