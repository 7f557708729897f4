/** Types of formatted text that is shown as plain text (RFC 1896; RFC 1341 §7.1.3). */
const ENRICHED = 'text/enriched';
const RICHTEXT = 'text/richtext';

/** Returns whether {@link readEnrichedText} knows the type (lower case). */
export function isEnrichedType(contentType: string): boolean {
  return contentType === ENRICHED || contentType === RICHTEXT;
}

/** Literal `<`, or a command. */
const TOKEN = /(?:<<)+|<(\/?)([-a-z0-9]{1,60})>/gi;
const EXCERPTS = new Set(['excerpt', 'quotation']);
/** Content that is not shown. */
const UNSEEN = new Set(['param', 'comment']);
const LINE_COMMANDS: Readonly<Record<string, string>> = { nl: '\n', np: '\n\n', paragraph: '\n' };
const MAX_EXCERPT_DEPTH = 9;

/**
 * Returns the text of text/enriched or text/richtext as plain text: without commands, with `> ` before the lines of excerpts. One line end
 * is a space; of several, one is left out (RFC 1896). Takes linear time.
 */
export function readEnrichedText(text: string, contentType: string): string {
  const isRichtext = contentType === RICHTEXT;
  const pieces: string[] = [];
  let excerpts = 0;
  let unseen = 0;
  let unfilled = 0;
  let isLineStart = true;

  const endLine = () => {
    pieces.push('\n');
    isLineStart = true;
  };
  const addLine = (line: string) => {
    if (line === '' || (isLineStart && line.trim() === '')) return;
    if (isLineStart && excerpts > 0) pieces.push(`${'>'.repeat(Math.min(excerpts, MAX_EXCERPT_DEPTH))} `);
    pieces.push(isLineStart && excerpts > 0 ? line.trimStart() : line);
    isLineStart = false;
  };
  const addText = (content: string) => {
    if (unseen > 0) return;
    const filled = unfilled > 0 ? content : fill(content, isRichtext);
    for (const [at, line] of filled.split('\n').entries()) {
      if (at > 0) endLine();
      addLine(line);
    }
  };
  const addExcerpt = (change: number) => {
    if (!isLineStart) endLine();
    excerpts = Math.max(0, excerpts + change);
  };

  let from = 0;
  for (const { 0: token, 1: slash, 2: written = '', index } of text.matchAll(TOKEN)) {
    addText(text.slice(from, index));
    from = index + token.length;
    const name = written.toLowerCase();
    const change = slash === '/' ? -1 : 1;
    if (token.startsWith('<<')) addText('<'.repeat(token.length / 2));
    else if (name === 'lt') addText('<');
    else if (EXCERPTS.has(name)) addExcerpt(change);
    else if (UNSEEN.has(name)) unseen = Math.max(0, unseen + change);
    else if (name === 'nofill') unfilled = Math.max(0, unfilled + change);
    else if (isRichtext) for (const _ of LINE_COMMANDS[name] ?? '') endLine();
  }
  addText(text.slice(from));
  return pieces.join('');
}

function fill(content: string, isRichtext: boolean): string {
  if (isRichtext) return content.replace(/\n/g, ' ');
  return content.replace(/\n+/g, (ends) => (ends.length === 1 ? ' ' : ends.slice(1)));
}
