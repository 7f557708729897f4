import type { Original } from './composer-documents.ts';

/** Maximum number of characters of a quoted message. */
const MAX_QUOTE_LENGTH = 100_000;
const exactly = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' });

/** Returns the quoted original for a reply, each line marked (RFC 3676 §4.5). Empty if it has no text. */
export function quoteOriginal(original: Original): string {
  const { text } = original.content;
  if (text === null || text.trim() === '') return '';
  const cut = text.trimEnd().slice(0, MAX_QUOTE_LENGTH).toWellFormed();
  const lines = cut.split(/\r?\n/).map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`.trimEnd()));
  const at = exactly.format(new Date(original.date ?? original.createdAt));
  return `On ${at}, ${original.from.name ?? original.from.address} wrote:\n${lines.join('\n')}`;
}
