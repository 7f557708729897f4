import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { INLINE_ELEMENTS } from '../html/elements.ts';
import { parseMailHtml } from '../html/read-mail-tree.ts';
import { type Box, boxWithin, cover } from './covering.ts';
import { type Declarations, findStyleSheets, readStyleRules, type StyleRules, toDeclarations } from './style-rules.ts';
import {
  areAlike,
  BLACK,
  type Color,
  firstColor,
  gradientColors,
  isUnreadColor,
  parseColor,
  WHITE,
} from './text-colors.ts';
import { type FontSize, findGap, findHiding, fontSizeWithin, visibilityWithin } from './unseen-styles.ts';
import type { PieceList, Unseen } from './unseen-text.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** How a place in HTML is shown. */
interface Look {
  /** what hides the element with all that is in it */
  hidden: Unseen | null;
  /** what hides its text, unless an inner element shows it again */
  visibility: Unseen | null;
  size: FontSize;
  /** of all elements around */
  opacity: number;
  color: Color;
  /** of links */
  linkColor: Color | null;
  /** a color that is not read */
  unread: Unseen | null;
  /** null: an image, or a color that is not known */
  background: Color | null;
  /** of a gradient */
  shades: readonly Color[];
  target: string | null;
  /** the nearest element around with a place of its own */
  box: Box;
}

/**
 * Adds all text of HTML in order, whatever hides it: what readers see, and what only some of them see, with the reason. Also comments,
 * attributes with text, and what is in the head. Returns false when the HTML is too large to be read.
 */
export function addHtmlText(html: string, list: PieceList): boolean {
  const document = html.length > MAX_HTML_LENGTH ? null : parseMailHtml(html);
  if (document === null) return false;
  const rules = readStyleRules(findStyleSheets(document));
  const [given = null] = basesIn(document);
  const base = given === null || given.length > MAX_BASE_LENGTH ? null : given;
  walk(document, { ...SHOWN, box: { start: list.end(), layer: 0 } }, { rules, list, base }, 0);
  if (rules.isTruncated) list.isUncertain = true;
  if (rules.isTruncated || base !== given) list.isTruncated = true;
  return true;
}

const SHOWN: Omit<Look, 'box'> = {
  hidden: null,
  visibility: null,
  size: { pixels: 16, unseen: null },
  opacity: 1,
  color: BLACK,
  linkColor: null,
  unread: null,
  background: WHITE,
  shades: [],
  target: null,
};
const MAX_HTML_LENGTH = 1_000_000;
/** Each link repeats it. */
const MAX_BASE_LENGTH = 2_000;
const MAX_COMMENT_DEPTH = 3;

interface Walk {
  rules: StyleRules;
  list: PieceList;
  /** what addresses without a host are relative to */
  base: string | null;
}

function basesIn(document: Node): string[] {
  const bases: string[] = [];
  const waiting: Node[] = [document];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.nodeName === 'base' && 'attrs' in node)
      bases.push(...node.attrs.filter(({ name }) => name === 'href').map(({ value }) => value));
    if ('childNodes' in node) for (const child of node.childNodes.toReversed()) waiting.push(child);
  }
  return bases;
}

function walk(root: Node, look: Look, work: Walk, depth: number): void {
  const waiting: { node: Node | null; look: Look }[] = [{ node: root, look }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node } = next;
    if (work.list.isFull) return;
    if (node === null) work.list.addBreak(next.look.hidden);
    else if (node.nodeName === '#text' && 'value' in node) addText(node, next.look, work.list);
    else if (node.nodeName === '#comment' && 'data' in node) addComment(node.data, next.look, work, depth);
    else {
      const inner = 'attrs' in node ? lookWithin(node, next.look, work) : next.look;
      if (node.nodeName === 'br') work.list.add('\n', inner.hidden);
      else if ('attrs' in node) {
        addAttributes(node, inner, work.list);
        addEmptyLink(node, inner, work.list);
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
  defs: { kind: 'hidden', detail: 'in <defs>' },
  symbol: { kind: 'hidden', detail: 'in <symbol>' },
  desc: { kind: 'hidden', detail: 'in <desc>' },
  metadata: { kind: 'hidden', detail: 'in <metadata>' },
  math: { kind: 'some_readers', detail: 'in <math>' },
  textarea: { kind: 'some_readers', detail: 'in <textarea>' },
  datalist: { kind: 'hidden', detail: 'in <datalist>' },
  select: { kind: 'collapsed', detail: 'in a menu' },
  rp: { kind: 'some_readers', detail: 'in <rp>' },
  meter: { kind: 'some_readers', detail: 'in <meter>' },
  progress: { kind: 'some_readers', detail: 'in <progress>' },
  marquee: { kind: 'some_readers', detail: 'in <marquee>' },
  applet: { kind: 'some_readers', detail: 'in <applet>' },
};

function lookWithin(element: Element, outer: Look, work: Walk): Look {
  const value = (name: string) => element.attrs.find((each) => each.name === name)?.value;
  const isLink = element.nodeName === 'a' || element.nodeName === 'area';
  const target = isLink ? (resolveTarget(value('href'), work.base) ?? outer.target) : outer.target;
  const styles = toDeclarations(element, work.rules);
  const given = { ...outer, ...attributeColors(element, value, outer) };
  const shown = styledWithin(styles.always, given);
  const gap = findGap(styles.always);
  if (gap !== null) work.list.add('\n', gap);
  // The summary of closed details is shown.
  const around = element.nodeName === 'summary' && outer.hidden === CLOSED ? null : outer.hidden;
  const own = hidingWithin(element, value, styles.always) ?? hiddenOnSomeScreens(styles.conditional, given);
  const hidden = firmest([around, own]);
  const isShown = hidden === null && shown.visibility === null && shown.opacity === 1;
  if (isShown) cover(styles.always, element.nodeName === 'img', outer.box, work.list);
  return { ...shown, target, hidden, box: boxWithin(styles.always, outer.box, work.list) };
}

function resolveTarget(href: string | undefined, base: string | null): string | null {
  const address = href?.trim();
  if (address === undefined) return null;
  return base !== null && address !== '' && URL.canParse(address, base) ? new URL(address, base).href : address;
}

/** Elements of SVG whose text has the color of their filling. */
const IN_PICTURES: ReadonlySet<string> = new Set(['svg', 'g', 'text', 'tspan', 'textPath']);

function attributeColors(
  element: Element,
  value: (name: string) => string | undefined,
  outer: Look,
): Pick<Look, 'color' | 'background' | 'shades' | 'linkColor'> {
  let { color, background, shades, linkColor } = outer;
  if (value('bgcolor') !== undefined) [background, shades] = [parseColor(value('bgcolor') ?? ''), []];
  if (value('background') !== undefined) [background, shades] = [null, []];
  if (element.nodeName === 'body') linkColor = parseColor(value('link') ?? '') ?? linkColor;
  const given = value('color') ?? (element.nodeName === 'body' ? value('text') : undefined);
  const fill = IN_PICTURES.has(element.nodeName) ? value('fill') : undefined;
  if (fill !== undefined) color = fill === 'none' ? [0, 0, 0, 0] : (parseColor(fill) ?? color);
  else if (given !== undefined) color = parseColor(given) ?? color;
  else if (element.nodeName === 'a') color = linkColor ?? color;
  return { color, background, shades, linkColor };
}

/** Returns how declarations show an element and its text. */
function styledWithin(declarations: Declarations, outer: Look): Look {
  const look = { ...outer };
  dye(declarations, look);
  for (const property of ['background-color', 'background-image', 'background'])
    if ((declarations.get(property) ?? []).findLast((value) => paint(value, look)) !== undefined) break;
  const faded = Number(declarations.get('opacity')?.at(-1));
  if (faded < 1) look.opacity *= Math.max(0, faded);
  look.visibility = withDefault(visibilityWithin(declarations), outer.visibility);
  look.size = fontSizeWithin(declarations, outer.size);
  return look;
}

/** Sets the color of text: the last one that is known holds, so that many are read once. */
function dye(declarations: Declarations, look: Look): void {
  let unread: Unseen | null = null;
  for (const property of ['-webkit-text-fill-color', 'color'])
    for (const value of (declarations.get(property) ?? []).toReversed()) {
      const color = parseColor(value);
      if (color !== null) {
        [look.color, look.unread] = [color, unread];
        return;
      }
      if (unread === null && isUnreadColor(value))
        unread = {
          kind: 'some_readers',
          detail: `${property}: ${value.slice(0, 60)}, which may be that of the background`,
        };
    }
  look.unread = unread ?? look.unread;
}

/** Sets the background; returns false when a value says none. */
function paint(value: string, look: Look): boolean {
  const [background, shades = []] = readPaint(value, look) ?? [];
  if (background === undefined) return false;
  [look.background, look.shades] = [background, shades];
  return true;
}

function readPaint(value: string, { color }: Look): [Color | null, Color[]?] | null {
  if (/\bcurrentcolor\b/i.test(value)) return [color];
  if (/url\(|image-set\(/.test(value)) return [null];
  if (value.includes('gradient(')) return [null, gradientColors(value)];
  const painted = firstColor(value);
  if (painted !== null && painted[3] > FAINT) return [painted];
  return isUnreadColor(value) ? [null] : null;
}

/** Returns the first reason for which no reader sees a place, or else one for which some do not; null: none. */
function firmest(reasons: readonly (Unseen | null)[]): Unseen | null {
  const given = reasons.filter((each) => each !== null);
  return given.find(({ kind }) => kind !== 'some_readers' && kind !== 'collapsed') ?? given[0] ?? null;
}

/** Opacity that nothing is seen of. */
const FAINT = 0.1;

function withDefault(found: Unseen | null | undefined, outer: Unseen | null): Unseen | null {
  return found === undefined ? outer : found;
}

function hiddenOnSomeScreens(conditional: Declarations | null, outer: Look): Unseen | null {
  if (conditional === null) return null;
  const hiding = findHiding(conditional) ?? unseenAt(styledWithin(conditional, { ...outer, hidden: null }));
  return hiding === null || unseenAt({ ...outer, hidden: null }) !== null
    ? null
    : { kind: 'some_readers', detail: `${hiding.detail} on some screens` };
}

/** Returns why text at a place is not seen; null: it is. */
function unseenAt({ hidden, visibility, size, opacity, unread, color, background, shades }: Look): Unseen | null {
  const isShaded = shades.length > 0 && shades.every((shade) => areAlike(color, shade));
  const isAlike = isShaded || color[3] <= FAINT || (background !== null && areAlike(color, background));
  return firmest([
    hidden,
    visibility,
    size.unseen,
    opacity <= FAINT ? FADED : null,
    unread === null && isAlike ? SAME_COLOR : null,
    unread,
  ]);
}

const FADED: Unseen = { kind: 'hidden', detail: 'opacity of several elements' };
const SAME_COLOR: Unseen = { kind: 'same_color', detail: 'its color is that of the background' };
const CLOSED: Unseen = { kind: 'collapsed', detail: 'in <details> that is closed' };

function hidingWithin(
  element: Element,
  value: (name: string) => string | undefined,
  declarations: Declarations,
): Unseen | null {
  const kind = KINDS[element.nodeName];
  if (kind !== undefined) return kind;
  if (value('hidden') !== undefined) return { kind: 'hidden', detail: 'the attribute hidden' };
  if (value('popover') !== undefined) return { kind: 'hidden', detail: 'the attribute popover' };
  if (element.nodeName === 'details' && value('open') === undefined) return CLOSED;
  if (element.nodeName === 'dialog' && value('open') === undefined)
    return { kind: 'hidden', detail: 'in <dialog> that is closed' };
  const hiding = findHiding(declarations);
  if (hiding !== null) return hiding;
  if (element.nodeName === 'font' && /^-[2-9]|^0$/.test(value('size')?.trim() ?? ''))
    return { kind: 'tiny', detail: `size="${value('size')}"` };
  if (element.nodeName === 'bdo') return { kind: 'some_readers', detail: `<bdo dir="${value('dir') ?? ''}">` };
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

/** Adds a link that has no text of its own: around a picture, or over an area. */
function addEmptyLink({ nodeName, attrs, childNodes }: Element, look: Look, list: PieceList): void {
  const value = (name: string) => attrs.find((each) => each.name === name)?.value.trim() ?? '';
  const isPicture = (nodeName === 'img' && look.target !== null) || nodeName === 'area';
  const isEmpty =
    nodeName === 'a' &&
    childNodes.every((child) => child.nodeName === '#text' && !('value' in child && child.value.trim() !== ''));
  if ((isPicture && value('alt') === '') || isEmpty)
    if (look.target !== null && look.target !== '')
      list.add('[link]', { kind: 'attribute', detail: `<${nodeName}> without a text` }, look.target);
}

/** Attributes whose text some readers see: when an image is not loaded, or under the pointer. */
const TEXTS: ReadonlySet<string> = new Set(
  'alt title aria-label aria-description placeholder value label summary content abbr standby srcdoc'.split(' '),
);

/** Programs keep names, numbers and JSON in attributes of their own; words between spaces are for a reader. */
function isSentence(name: string, value: string): boolean {
  return name.startsWith('data-') && /[^\s"{}]\s+[^\s"{}]+\s+[^\s"{}]/.test(value.slice(0, 2_000));
}

/** Whether a browser shows the value of an element. */
function isLabel(nodeName: string, attrs: Element['attrs']): boolean {
  const type = attrs.find(({ name }) => name === 'type')?.value.toLowerCase() ?? 'text';
  return nodeName === 'input' && !/^(?:hidden|checkbox|radio|password|file|color|range|image)$/.test(type);
}

function addAttributes({ attrs, nodeName }: Element, look: Look, list: PieceList): void {
  for (const { name, value } of attrs)
    if (
      (TEXTS.has(name) || isSentence(name, value)) &&
      value.trim() !== '' &&
      !(nodeName === 'meta' && /^(?:text\/html|width=|IE=|telephone=|[\w-]{1,30}$|light)/i.test(value))
    )
      list.add(
        `${value}\n`,
        name === 'value' && isLabel(nodeName, attrs)
          ? (unseenAt(look) ?? { kind: 'some_readers', detail: `<${nodeName}>` })
          : { kind: 'attribute', detail: `${name} of <${nodeName}>` },
        look.target,
      );
}
