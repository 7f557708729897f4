import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from 'parse5';
import { drawPlaceholder, escapeXml } from './placeholders.ts';
import type { StyleSheetSource } from './sanitize-css.ts';

/** How browsers lay a document out, by its doctype (HTML §13.2.6.4.1). */
export type LayoutMode = 'quirks' | 'limited-quirks' | 'no-quirks';

/** HTML of a message as a browser without scripts reads it. Not safe to show. */
export interface MailTree {
  /** the content of its body as well-formed XML without styles and scripts */
  content: string;
  sheets: StyleSheetSource[];
  /** attributes of the elements html and body */
  root: Record<string, string>;
  body: Record<string, string>;
  mode: LayoutMode;
}

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Elements; a browser repeats unclosed ones in each paragraph, so that a small message can have millions. */
const MAX_ELEMENTS = 100_000;
/** Style elements of a mail. */
const MAX_SHEETS = 100;

class TooManyElements extends Error {}

/** Returns the tree of HTML in two parts: what is shown, and its design. Null when it has too many elements. */
export function readMailTree(html: string): MailTree | null {
  const document = parseMailHtml(html);
  return document === null ? null : splitTree(document);
}

/** Parses HTML as a browser without scripts does. Null when it has too many elements. */
export function parseMailHtml(html: string): DefaultTreeAdapterTypes.Document | null {
  let elements = 0;
  const treeAdapter: typeof defaultTreeAdapter = {
    ...defaultTreeAdapter,
    createElement(...given) {
      if (++elements > MAX_ELEMENTS) throw new TooManyElements();
      return defaultTreeAdapter.createElement(...given);
    },
  };
  try {
    return parse(html, { scriptingEnabled: false, treeAdapter });
  } catch (error) {
    if (error instanceof TooManyElements) return null;
    throw error;
  }
}

function splitTree(document: DefaultTreeAdapterTypes.Document): MailTree {
  const root = document.childNodes.find((node): node is Element => node.nodeName === 'html');
  const body = root?.childNodes.find((node): node is Element => node.nodeName === 'body');
  const sheets: StyleSheetSource[] = [];
  for (const node of root?.childNodes ?? []) if (node.nodeName === 'head') write(node, sheets);
  return {
    content: body === undefined ? '' : write(body, sheets),
    sheets,
    root: readAttributes(root),
    body: readAttributes(body),
    mode: document.mode as LayoutMode,
  };
}

function readAttributes(element: Element | undefined): Record<string, string> {
  return Object.fromEntries((element?.attrs ?? []).map(({ name, value }) => [name, value]));
}

/** Elements of which nothing is shown, or nothing that is safe to show. */
const UNSEEN: ReadonlySet<string> = new Set(
  'script template title textarea select option xmp iframe noembed noframes frameset svg math head'.split(' '),
);
const HTML_NAMESPACE = 'http://www.w3.org/1999/xhtml';

/** Returns the content of an element as XML; adds its style sheets to `sheets`. Without recursion: mail nests deeply. */
function write(top: Element, sheets: StyleSheetSource[]): string {
  const pieces: string[] = [];
  const left: (Node | string)[] = top.childNodes.toReversed();
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'string') pieces.push(next);
    else if ('value' in next) pieces.push(escapeXml(next.value));
    else if ('tagName' in next) {
      const { tagName } = next;
      pieces.push(drawPlaceholder(next));
      if (tagName === 'style') addSheet(next, sheets);
      if (tagName === 'style' || UNSEEN.has(tagName) || next.namespaceURI !== HTML_NAMESPACE) continue;
      if (!/^[a-z][a-z0-9]*$/.test(tagName)) left.push(...next.childNodes.toReversed());
      else if (next.childNodes.length === 0) pieces.push(`${startTag(next)}></${tagName}>`);
      else {
        pieces.push(`${startTag(next)}>`);
        left.push(`</${tagName}>`);
        for (let at = next.childNodes.length - 1; at >= 0; at--) left.push(next.childNodes[at] ?? '');
      }
    }
  }
  return pieces.join('');
}

function addSheet({ childNodes, attrs }: Element, sheets: StyleSheetSource[]): void {
  const type = attrs.find(({ name }) => name === 'type')?.value ?? '';
  if (sheets.length >= MAX_SHEETS || !/^\s*(?:text\/css\s*)?$/i.test(type)) return;
  const css = childNodes.map((node) => ('value' in node ? node.value : '')).join('');
  sheets.push({ css, media: attrs.find(({ name }) => name === 'media')?.value ?? '' });
}

function startTag({ tagName, attrs }: Element): string {
  const written = attrs.map(({ name, value }) =>
    /^[a-z][a-z0-9-]*$/.test(name) ? ` ${name}="${escapeXml(value)}"` : '',
  );
  return `<${tagName}${written.join('')}`;
}
