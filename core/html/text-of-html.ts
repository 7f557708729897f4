import { Parser } from 'htmlparser2';
import { storableText } from '../shared/text.ts';
import { INLINE_ELEMENTS, PARAGRAPH_ELEMENTS, UNSEEN_ELEMENTS } from './elements.ts';
import { hiddenClasses, isHidden } from './hidden-elements.ts';
import { sanitizeHtmlBody } from './sanitize-html.ts';

/** Maximum characters of HTML that are read; the text is for readers and programs that show no HTML. */
export const MAX_HTML_LENGTH = 500_000;
/** Maximum nesting; deeper elements are ignored. The parser's time grows with the depth. */
const MAX_DEPTH = 500;

/** Elements that stay on their line: cells share that of their row. */
const ON_LINE: ReadonlySet<string> = new Set([...INLINE_ELEMENTS, 'img', 'td', 'th']);

/** Spaces, and invisible characters that newsletters use to fill the preview. */
const SPACES = /(?: |\u00a0|\u200b|\u200c|\ufeff|\u00ad|\u034f)+/g;

/**
 * Returns the plain-text form of an HTML body: paragraphs and lines as displayed, `text (URL)` for links, `- ` before list items, the
 * alternative text of images; no hidden elements (preheaders), unless nothing else remains. Null when nothing would be visible. Never throws.
 */
export function textOfHtml(html: string): string | null {
  const read = html.slice(0, MAX_HTML_LENGTH);
  return readText(read, hiddenClasses(read)) ?? readText(read, null);
}

/** Runs work of a few milliseconds when its turn comes. */
export type RunStep = <T>(step: () => T) => Promise<T>;

/** Characters that are read in a step: at most 3 ms of CPU, for `<p>x<p>x…` (2 cores, November 2026). */
const STEP_LENGTH = 8_192;

/** Like textOfHtml, which takes up to 160 ms of CPU, in steps between which other requests go on. */
export async function textOfHtmlInSteps(html: string, run: RunStep): Promise<string | null> {
  const read = html.slice(0, MAX_HTML_LENGTH);
  const classes = await run(() => hiddenClasses(read));
  for (const hidden of [classes, null]) {
    const reader = openReader(hidden);
    for (let at = 0; at < read.length; at += STEP_LENGTH)
      await run(() => reader.write(read.slice(at, at + STEP_LENGTH)));
    const text = await run(() => reader.end());
    if (text !== null) return text;
  }
  return null;
}

function readText(html: string, classes: ReadonlySet<string> | null): string | null {
  const reader = openReader(classes);
  reader.write(html);
  return reader.end();
}

interface HtmlReader {
  write(html: string): void;
  /** Returns the text of what was written; null when nothing would be visible. */
  end(): string | null;
}

/** Reads the text without hidden elements; `classes` null: with them. */
function openReader(classes: ReadonlySet<string> | null): HtmlReader {
  const pieces: string[] = [];
  const links: { href: string; from: number }[] = [];
  /** of each open element whether it hides its content */
  const hiding: boolean[] = [];
  let unseen = 0;
  /** line ends since the last text */
  let lineEnds = 0;
  let depth = 0;

  const endLine = (count: number) => {
    if (lineEnds < count) pieces.push('\n'.repeat(count - lineEnds));
    lineEnds = Math.max(lineEnds, count);
  };
  const addText = (text: string) => {
    pieces.push(text);
    if (text.trim() !== '') lineEnds = 0;
  };
  const endLink = () => {
    const { href, from } = links.pop() ?? { href: '', from: 0 };
    if (href === '') return;
    const shown = pieces.slice(from).join('').trim();
    if (shown === '') addText(href);
    else if (href.replace(/^mailto:/i, '') !== shown) pieces.push(` (${href})`);
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (++depth > MAX_DEPTH) return parser.pause();
      const isUnseen = UNSEEN_ELEMENTS.has(name) || (classes !== null && isHidden(attributes, classes));
      hiding.push(isUnseen);
      if (isUnseen) unseen++;
      if (unseen > 0) return;
      if (name === 'br') endLine(lineEnds + 1);
      else if (!ON_LINE.has(name)) endLine(PARAGRAPH_ELEMENTS.has(name) ? 2 : 1);
      if (name === 'td' || name === 'th') pieces.push(' ');
      if (name === 'li') addText('- ');
      if (name === 'img') addText(line(attributes['alt'] ?? ''));
      if (name === 'a') {
        const href = line(attributes['href'] ?? '').trim();
        links.push({ href: /^(?:https?|mailto|tel):/i.test(href) ? href : '', from: pieces.length });
      }
    },
    ontext(text) {
      if (unseen === 0) addText(line(text));
    },
    onclosetag(name) {
      depth--;
      const wasUnseen = unseen > 0;
      if (hiding.pop() === true) unseen--;
      if (wasUnseen) return;
      if (name === 'a') endLink();
      else if (name !== 'br' && !ON_LINE.has(name)) endLine(PARAGRAPH_ELEMENTS.has(name) ? 2 : 1);
    },
  });
  return {
    write: (html) => parser.write(html),
    end() {
      parser.end();
      const text = pieces
        .join('')
        .split('\n')
        .map((part) => part.replace(SPACES, ' ').trim())
        .join('\n')
        .replace(/\n{3,}/g, '\n\n')
        .trim();
      return text === '' ? null : storableText(text.toWellFormed());
    },
  };
}

/** In HTML any white space is one space. */
function line(text: string): string {
  return text.replace(/[\t\n\f\r\u2028\u2029]+/g, ' ');
}

/** Returns the text that HTML shows, or most of it if the HTML is too complex; tags within words do not split them. */
export function stripTags(html: string): string {
  return (
    (sanitizeHtmlBody(html) ?? html)
      // The name is matched whole: giving letters back would retry every length, in quadratic time.
      .replace(/<(\/?[a-z0-9]*)(?![a-z0-9])[^<>]*(?:>|$)/gi, (_, tag: string) =>
        INLINE_ELEMENTS.has(tag.replace('/', '').toLowerCase()) ? '' : ' ',
      )
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
  );
}
