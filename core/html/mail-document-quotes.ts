import { type MarkupTag, VOID_ELEMENTS } from './mail-document-markup.ts';

/** A part of sanitised HTML, from its first character to behind its last. */
export interface MarkupRange {
  start: number;
  end: number;
}

/**
 * The quoted mail in HTML of sanitizeHtmlForDisplay when it may be folded: one part (or several with nothing between them) with words of
 * the author's own before it. Null otherwise: of a mail that is answered piece by piece the quotes are what makes it readable, and a mail
 * that is nothing but quoted has nothing else to show.
 */
export function findQuotedPart(html: string, tags: readonly MarkupTag[]): MarkupRange | null {
  if (!html.includes(' data-quoted="')) return null;
  const elements = readElements(html, tags);
  if (elements === null) return null;
  const parts: Part[] = [];
  for (const element of elements) {
    const last = parts.at(-1);
    const mark = /^[^<>]* data-quoted="(\w+)"/.exec(html.slice(element.start + 1, element.startEnd))?.[1];
    if (mark === undefined || (last !== undefined && element.start < last.end)) continue;
    const part = mark === 'inside' ? element : onwards(html, element);
    if (part.parent !== null && TABLE_PARTS.has(part.parent.name)) return null;
    if (last !== undefined && last.parent === part.parent && !isSeen(html.slice(last.end, part.start)))
      last.end = part.end;
    else if (last !== undefined) return null;
    else parts.push({ start: part.start, end: part.end, parent: part.parent });
  }
  const [part] = parts;
  if (part === undefined || !isSeen(html.slice(0, part.start))) return null;
  return { start: part.start, end: part.end };
}

interface Element extends MarkupRange {
  name: string;
  /** behind its start tag */
  startEnd: number;
  parent: Element | null;
}
type Part = MarkupRange & Pick<Element, 'parent'>;

/** A `details` between these would be put elsewhere by the browser. */
const TABLE_PARTS = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'colgroup', 'ul', 'ol', 'dl']);

/** The elements in the order of their start tags; null when they do not lie one within the other. */
function readElements(html: string, tags: readonly MarkupTag[]): Element[] | null {
  const elements: Element[] = [];
  const open: Element[] = [];
  for (const { name, start, end, isEnd } of tags) {
    if (VOID_ELEMENTS.has(name) && !isEnd) {
      elements.push({ name, start, end, startEnd: end, parent: open.at(-1) ?? null });
    } else if (!isEnd) {
      const element = { name, start, end: html.length, startEnd: end, parent: open.at(-1) ?? null };
      elements.push(element);
      open.push(element);
    } else {
      const closed = open.pop();
      if (closed?.name !== name) return null;
      closed.end = end;
    }
  }
  return open.length === 0 ? elements : null;
}

/** Outlook wraps the line above a quoted mail in two. */
const MAX_STEPS_OUT = 10;

/** From the element to the end of what surrounds it: as far out as nothing is seen in front of it. */
function onwards(html: string, element: Element): Part {
  let first = element;
  for (let step = 0; step < MAX_STEPS_OUT && first.parent !== null; step++) {
    if (isSeen(html.slice(first.parent.startEnd, first.start))) break;
    first = first.parent;
  }
  const end = first.parent === null ? html.length : html.lastIndexOf('</', first.parent.end);
  return { start: first.start, end, parent: first.parent };
}

function isSeen(html: string): boolean {
  return html.includes('<img') || /[^\s\u00a0\u200b]/.test(html.replace(/<[^<>]*>|&nbsp;/g, ''));
}
