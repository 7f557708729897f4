import LinkifyIt from 'linkify-it';
import { FOLD, FOLD_END } from './mail-document-html.ts';
import { escapeText } from './mail-document-markup.ts';

/** Characters; what is behind them is not shown. */
export const MAX_SHOWN_TEXT_LENGTH = 500_000;
/** Characters of a line that links are looked for in: the finder is not linear in the length of what it is given. */
const MAX_LINKED_LINE = 4_000;

const finder = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false }).add('ftp:', null).add('//', null);

/**
 * Plain text as HTML that may be shown, with its lines as they are and addresses of the web as links. Quoted mail is folded on the terms of
 * findQuotedPart.
 */
export function showText(text: string, isFolded: boolean): string {
  const lines = text.slice(0, MAX_SHOWN_TEXT_LENGTH).toWellFormed().replace(/\r\n?/g, '\n').split('\n');
  const quoted = isFolded ? findQuotedLines(lines) : null;
  const show = (part: readonly string[]) => `<div class="text">${part.map(linked).join('\n')}</div>`;
  if (quoted === null) return show(lines);
  const [start, end] = quoted;
  const rest = lines.slice(end);
  const behind = isBlank(rest) ? '' : show(rest);
  return `${show(lines.slice(0, start))}${FOLD}${show(lines.slice(start, end))}${FOLD_END}${behind}`;
}

/** The first quoted line and the one behind the last; null when there is none, more than one part, or nothing before it. */
function findQuotedLines(lines: readonly string[]): [start: number, end: number] | null {
  let start = -1;
  let end = -1;
  for (const [at, line] of lines.entries()) {
    if (ORIGINAL.test(line) || (RULE.test(line) && OUTLOOK_FIELD.test(lines[at + 1] ?? ''))) {
      if (start === -1 || isBlank(lines.slice(end, at))) [start, end] = [start === -1 ? at : start, lines.length];
      else return null;
      break;
    }
    if (!line.startsWith('>')) continue;
    if (start === -1) start = at;
    else if (!isBlank(lines.slice(end, at))) return null;
    end = at + 1;
  }
  return start === -1 || isBlank(lines.slice(0, start)) ? null : [start, end];
}

const ORIGINAL =
  /^-{2,12} ?(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original) ?-{2,12}\s*$/i;
const RULE = /^_{20,80}\s*$/;
const OUTLOOK_FIELD = /^(?:From|Von|De|Da|Van|Od|Fra|Från): /;

function isBlank(lines: readonly string[]): boolean {
  return lines.every((line) => line.trim() === '');
}

function linked(line: string): string {
  if (!line.includes(':') || line.length > MAX_LINKED_LINE) return escapeText(line);
  const pieces: string[] = [];
  let at = 0;
  for (const { index, lastIndex, url } of finder.match(line) ?? []) {
    if (!/^(?:https?:\/\/|mailto:)/i.test(url)) continue;
    const words = escapeText(line.slice(index, lastIndex));
    pieces.push(
      escapeText(line.slice(at, index)),
      `<a href="${escapeText(url)}" rel="noopener noreferrer nofollow" target="_blank">${words}</a>`,
    );
    at = lastIndex;
  }
  return `${pieces.join('')}${escapeText(line.slice(at))}`;
}
