import type { Original } from './composer-documents.ts';
import { NO_QUOTE, type Quote } from './draft.ts';
import { linesOf } from './mail-html.ts';

/** Maximum number of characters of a quoted message. */
const MAX_QUOTE_LENGTH = 100_000;
/** The bar beside quotations, which not all mail programs draw by themselves. */
const BAR = 'margin:0;padding-left:0.8em;border-left:2px solid #ccc';
const exactly = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' });

/** Returns the quoted original for a reply: as text, each line marked (RFC 3676 §4.5), and as HTML. Empty if it has no text. */
export function quoteOriginal(original: Original): Quote {
  const { text } = original.content;
  if (text === null || text.trim() === '') return NO_QUOTE;
  const cut = text.trimEnd().slice(0, MAX_QUOTE_LENGTH).toWellFormed().replaceAll('\r\n', '\n');
  const lines = cut.split('\n').map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`.trimEnd()));
  const at = exactly.format(new Date(original.date ?? original.createdAt));
  const opening = `On ${at}, ${original.from.name ?? original.from.address} wrote:`;
  return {
    text: `${opening}\n${lines.join('\n')}`,
    html: `<p>${linesOf(opening)}</p><blockquote type="cite" style="${BAR}">${linesOf(cut)}</blockquote>`,
  };
}
