import { Parser } from 'htmlparser2';
import { INLINE_ELEMENTS, PARAGRAPH_ELEMENTS, UNSEEN_ELEMENTS } from '../html/elements.ts';
import { isTooComplex } from '../html/sanitize-html.ts';
import { announcesForward } from './quote-introductions.ts';
import { type Fate, type Line, type LineMark, readLine } from './reply-line.ts';
import { decideFates } from './reply-reader.ts';
import { MAX_PARTS, type RemovedPart } from './reply-text.ts';

/**
 * Returns an HTML body without quoted mail and signature, unless nothing else remains; HTML that is too large or too deeply nested is
 * returned whole. Its lines are read like those of a plain text
 * (reply-reader.ts), with what mail programs mark in HTML, and elements that become empty are cut out. Takes linear time. The result
 * is not safe to show.
 */
export function stripQuotedHtml(html: string): string {
  return readHtmlReply(html).html;
}

/** What its author typed into an HTML body. */
export interface HtmlReply {
  html: string;
  /** with offsets in the whole HTML, in its order, not overlapping; empty when they are too many */
  removed: RemovedPart[];
}

/** Finds lines that nothing marks as quoted, by their texts: from the first one to the one before `to`. */
type FindCopied = (lines: readonly string[]) => { from: number; to: number } | null;

/** How the HTML of a message is read. */
interface HtmlReplyOptions {
  /** see {@link decideFates} */
  isReply?: boolean;
  /** whether its subject says so */
  isReplyTitle?: boolean;
  /** without it finding something, the HTML stays whole */
  findCopied?: FindCopied;
}

/** The same as {@link stripQuotedHtml}, with what was removed. */
export function readHtmlReply(
  html: string,
  { isReply = true, isReplyTitle = true, findCopied }: HtmlReplyOptions = {},
): HtmlReply {
  const whole: HtmlReply = { html, removed: [] };
  if (isTooComplex(html)) return whole;
  const outline = readOutline(html, isReply);
  if (
    !isReplyTitle &&
    announcesForward(
      outline.lines.map(({ text }) => text),
      false,
    )
  )
    return whole;
  const fates = [...decideFates(outline.lines, isReply)];
  if (findCopied !== undefined) {
    const copied = findCopied(outline.lines.map(({ text }) => text));
    if (copied === null) return whole;
    fates.fill('quote', copied.from, copied.to);
  }
  const isKept = outline.lines.some(({ isBlank }, at) => !isBlank && fates[at] === 'kept');
  if (!isKept || !fates.some((fate) => fate !== 'kept')) return whole;
  const cuts = findCuts(outline, withoutOuterBlanks(outline.lines, fates));
  return { html: withoutCuts(html, cuts), removed: listRemovedParts(outline, fates) };
}

/** Maximum characters of a line that matter to the reader. */
const MAX_LINE_LENGTH = 10_000;
/** Placeholder of an image. */
const IMAGE = '\ufffc';
/** Placeholder of a horizontal rule. */
const RULE = '_____';
/** Placeholder of the line that Outlook draws above the fields of a quoted message. */
const BORDER = '_'.repeat(32);
/** Images up to this width or height are not seen. */
const MAX_PIXEL = 2;

interface HtmlOutline {
  lines: Line[];
  atoms: Atom[];
  elements: HtmlElement[];
}

/** Text, a line break, an image or a rule: a piece of the source that belongs to one line. */
interface Atom {
  start: number;
  end: number;
  line: number;
  /** index of the innermost element; -1: none */
  element: number;
}

interface HtmlElement {
  start: number;
  end: number;
  parent: number;
}

/** What is known of an open element. */
interface OpenElement {
  name: string;
  index: number;
  mark: LineMark | null;
  isUnseen: boolean;
  isPreformatted: boolean;
}

const UNSEEN: ReadonlySet<string> = new Set([...UNSEEN_ELEMENTS, 'object']);

const QUOTE_CLASS =
  /(?:^|\s)(?:x_|ecx)?(?:cite\d?|yahoo_quoted|iosymail|protonmail_quote|tutanota_quote|nylas-quote|front-blockquote)(?:\s|$)/;
const GMAIL_CLASS = /(?:^|\s)(?:x_|ecx)?gmail_quote(?:\s|$)/;
const CONTAINER_CLASS =
  /(?:^|\s)(?:x_)?(?:yahoo_quoted|moz-forward-container|zmail_extra|hs_reply|edo-original)(?:\s|$)/;
const INTRODUCTION_CLASS = /(?:^|\s)(?:x_|ecx)?(?:gmail_attr|moz-cite-prefix|airmail_on|airmail_ext_on)(?:\s|$)/;
const INTRODUCTION_ID = /^(?:x_)?(?:reply-intro)$/i;
const ONWARDS_ID =
  /^(?:x_)?(?:divRplyFwdMsg|appendonsend|stopSpelling|zwchr|OLK_SRC_BODY_SECTION|mail-editor-reference-message-container|isForwardContent|isReplyContent|yahoo_quoted_\w*)$/i;
/** Those of mail programs by name: contracts and forms have signatures, too. */
const SIGNATURE_CLASS =
  /(?:^|\s)(?:x_|ecx)*(?:(?:gmail|moz|aolmail|front|tutanota|airmail|sh|cm|edo|hs|missive|zoho|fastmail|polymail|yahoo|mailspring|postbox|nylas|apple-mail|outlook|zmail|protonmail)[_-]signature(?:_block|_below|_above)?|ydp\w*signature|psignature|MsoSignature)(?:\s|$)/i;
const SIGNATURE_ID =
  /^(?:x_)*(?:Signature|(?:ms-outlook-mobile|composer|mail-app-auto(?:-default)?|edo|hs|zimbra|outlook|apple-?mail|airmail|missive)[_-]?signature)$/i;
const SIGNATURE_NAME = 'messageSignatureSection';
const QUOTE_NAME = 'quote';
/** Outlook draws a line above the fields of a quoted message. */
const BORDER_ABOVE = /border-top(?:-width|-style|-color)?\s*:/i;
const HIDDEN = /display\s*:\s*none|mso-hide\s*:\s*all/i;
const MAX_STYLE_LENGTH = 2_000;

function readMark(name: string, attributes: Record<string, string>, isReply: boolean): LineMark | null {
  const { id = '', class: names = '', type = '', name: own = '' } = attributes;
  if (SIGNATURE_CLASS.test(names) || SIGNATURE_ID.test(id) || own === SIGNATURE_NAME) return 'signature';
  if (INTRODUCTION_CLASS.test(names) || INTRODUCTION_ID.test(id)) return 'introduction';
  if (name === 'blockquote') {
    // The editor of Gmail makes such elements for the author, too.
    const isGmail = GMAIL_CLASS.test(names);
    // People draw a line beside what they cite, too.
    const isMarked = type === 'cite' || QUOTE_CLASS.test(names) || (isReply && hasBorderLeft(attributes));
    return !isGmail && isMarked ? 'quote' : 'block';
  }
  if (ONWARDS_ID.test(id) || CONTAINER_CLASS.test(names) || own === QUOTE_NAME) return 'onwards';
  return null;
}

/** Reads lines and where they are in the source, in one pass. */
function readOutline(html: string, isReply: boolean): HtmlOutline {
  const outline: HtmlOutline = { lines: [], atoms: [], elements: [] };
  const open: OpenElement[] = [];
  let text = '';
  /** the mark of the first text of the line, and one for the next text */
  let mark: LineMark | null = null;
  let isOnwards = false;

  /** whether the line has more than white space */
  let isFilled = false;

  const endLine = () => {
    outline.lines.push(readLine(text, mark));
    text = '';
    mark = null;
    isFilled = false;
  };
  const endBlock = (name: string) => {
    if (INLINE_ELEMENTS.has(name)) return;
    if (isFilled) endLine();
    if (PARAGRAPH_ELEMENTS.has(name) && outline.lines.at(-1)?.isBlank === false) endLine();
  };
  const addAtom = (start: number, end: number, shown: string) => {
    const inside = open.at(-1);
    outline.atoms.push({ start, end, line: outline.lines.length, element: inside?.index ?? -1 });
    if (inside?.isUnseen === true || shown === '') return;
    if (!isFilled) mark = inside?.mark ?? null;
    isFilled ||= shown.trim() !== '';
    if (isOnwards && isFilled && mark !== 'signature') {
      mark = 'onwards';
      isOnwards = false;
    }
    if (text.length < MAX_LINE_LENGTH) text += shown;
  };
  const addRule = (start: number, end: number) => {
    if (isFilled) endLine();
    addAtom(start, end, RULE);
    endLine();
  };

  const parser = new Parser({
    onopentag(name, attributes) {
      const [start, end] = [parser.startIndex, parser.endIndex + 1];
      if (name === 'br') {
        addAtom(start, end, '');
        endLine();
        return;
      }
      const outer = open.at(-1);
      const isUnseen = outer?.isUnseen === true || UNSEEN.has(name) || isHidden(attributes);
      const own = isUnseen ? null : readMark(name, attributes, isReply);
      if (own === 'onwards') isOnwards = true;
      if (name === 'hr') return addRule(start, end);
      if (name === 'img') return addAtom(start, end, isPixel(attributes) ? '' : IMAGE);
      if (VOID_ELEMENTS.has(name)) return;
      endBlock(name);
      const index = outline.elements.length;
      outline.elements.push({ start, end: html.length, parent: outer?.index ?? -1 });
      open.push({
        name,
        index,
        mark: inner(outer?.mark ?? null, own),
        isUnseen,
        isPreformatted: outer?.isPreformatted === true || name === 'pre',
      });
      if (!isUnseen && !INLINE_ELEMENTS.has(name) && hasBorderAbove(attributes))
        outline.lines.push(readLine(BORDER, null));
    },
    ontext(data) {
      const [start, end] = [parser.startIndex, parser.endIndex + 1];
      const inside = open.at(-1);
      if (inside?.isPreformatted !== true || data.length !== end - start)
        return addAtom(start, end, data.replace(/\s+/g, ' '));
      let from = 0;
      for (let at = data.indexOf('\n'); at !== -1; at = data.indexOf('\n', from)) {
        addAtom(start + from, start + at + 1, data.slice(from, at));
        endLine();
        from = at + 1;
      }
      if (from < data.length) addAtom(start + from, end, data.slice(from));
    },
    onclosetag(name, isImplied) {
      if (VOID_ELEMENTS.has(name)) return;
      const closed = open.pop();
      if (closed === undefined) return;
      const element = outline.elements[closed.index];
      if (element !== undefined) element.end = isImplied ? parser.startIndex : parser.endIndex + 1;
      endBlock(name);
    },
  });
  parser.end(html);
  endLine();
  return outline;
}

const VOID_ELEMENTS = new Set(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr'.split(
    ' ',
  ),
);

function inner(outer: LineMark | null, own: LineMark | null): LineMark | null {
  if (outer === 'quote' || outer === 'signature') return outer;
  return own === null || own === 'onwards' ? outer : own;
}

function isHidden(attributes: Record<string, string>): boolean {
  const style = attributes['style'] ?? '';
  return style !== '' && style.length <= MAX_STYLE_LENGTH && HIDDEN.test(style);
}

function isPixel(attributes: Record<string, string>): boolean {
  return [attributes['width'], attributes['height']].some(
    (size) => size !== undefined && /^\d+(?:px)?$/.test(size) && Number.parseInt(size, 10) <= MAX_PIXEL,
  );
}

/** Mail programs draw a line beside quoted mail. */
function hasBorderLeft(attributes: Record<string, string>): boolean {
  const style = attributes['style'] ?? '';
  return style.length <= MAX_STYLE_LENGTH && /border-left(?:-width|-style|-color)?\s*:(?!\s*(?:none|0))/i.test(style);
}

function hasBorderAbove(attributes: Record<string, string>): boolean {
  const style = attributes['style'] ?? '';
  return style.length <= MAX_STYLE_LENGTH && BORDER_ABOVE.test(style);
}

/** Removes blank lines before and behind all that is kept, too. */
function withoutOuterBlanks(lines: readonly Line[], fates: readonly Fate[]): boolean[] {
  const isContent = (line: Line, at: number) => !line.isBlank && fates[at] === 'kept';
  const first = lines.findIndex(isContent);
  const last = lines.findLastIndex(isContent);
  return lines.map((_, at) => at < first || at > last || fates[at] !== 'kept');
}

interface Cut {
  start: number;
  end: number;
}

/** Returns where the lines that are removed are, in order: whole elements where all of their content is. They may overlap. */
function findCuts({ atoms, elements }: HtmlOutline, isRemoved: readonly boolean[]): Cut[] {
  const hasContent = elements.map(() => false);
  const isLeft = elements.map(() => false);
  for (const { element, line } of atoms) {
    if (element < 0) continue;
    hasContent[element] = true;
    if (isRemoved[line] !== true) isLeft[element] = true;
  }
  // Parents come before their children.
  for (let at = elements.length - 1; at >= 0; at--) {
    const parent = elements[at]?.parent ?? -1;
    if (parent < 0) continue;
    hasContent[parent] ||= hasContent[at] === true;
    isLeft[parent] ||= isLeft[at] === true;
  }
  return [
    ...elements.filter((_, at) => hasContent[at] === true && isLeft[at] !== true),
    ...atoms.filter(({ line }) => isRemoved[line] === true),
  ].toSorted((one, other) => one.start - other.start);
}

/** Returns from the first to the last character of what is removed; neighbors of the same kind are one part. */
function listRemovedParts({ atoms, lines }: HtmlOutline, fates: readonly Fate[]): RemovedPart[] {
  const parts: RemovedPart[] = [];
  let isOpen = false;
  for (const { start, end, line } of atoms) {
    const kind = fates[line] ?? 'kept';
    const last = parts.at(-1);
    if (kind === 'kept') {
      if (lines[line]?.isBlank === false) isOpen = false;
    } else if (isOpen && last?.kind === kind) {
      last.end = end;
    } else {
      parts.push({ kind, start, end });
      isOpen = true;
    }
  }
  return parts.length > MAX_PARTS ? [] : parts;
}

function withoutCuts(html: string, cuts: readonly Cut[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of cuts) {
    if (start > at) pieces.push(html.slice(at, start));
    at = Math.max(at, end);
  }
  pieces.push(html.slice(at));
  return pieces.join('');
}
