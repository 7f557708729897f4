import LinkifyIt from 'linkify-it';
import { isForwardSubject } from '../mime/subject.ts';
import { escapeText, FOLD, FOLD_END, showHtml } from './mail-document-html.ts';
import { visibleText } from './visible-text.ts';

/** A message to show. */
export interface MailToShow {
  /** decoded */
  subject: string;
  /** null: it has none, or the body is unreadable */
  html: string | null;
  text: string | null;
  /** whether to load remote images */
  hasRemoteImages: boolean;
  /** data: URLs of the message's inline images, by contentIdKey */
  inlineImages: ReadonlyMap<string, string>;
  /** host names of this service (ownHostNames) */
  ownHosts: ReadonlySet<string>;
}

/** A complete HTML document that shows a message. It contains no scripts and loads only remote images, if requested. */
export interface MailDocument {
  html: string;
  /** see ShownHtml */
  remoteImageCount: number;
  trackingPixelCount: number;
}

/** Builds the document of a message from its HTML, or from its text when the HTML is missing or cannot be sanitized. */
export function makeMailDocument(mail: MailToShow): MailDocument {
  const { html, text, subject } = mail;
  // The reader of a forward wants to see the forwarded mail.
  const isFolded = !isForwardSubject(subject);
  const shown = html === null || html.trim() === '' ? null : showHtml(html, { ...mail, isFolded });
  if (shown !== null) {
    const { remoteImageCount, trackingPixelCount } = shown;
    return frame(mail, `<div class="mail">${shown.html}</div>`, { remoteImageCount, trackingPixelCount });
  }
  const isTooComplex = html !== null && html.trim() !== '';
  const notices = isTooComplex ? [TOO_COMPLEX] : [];
  const words = text !== null && text.trim() !== '' ? text : isTooComplex ? wordsOf(html) : '';
  if (words === '' && !isTooComplex) notices.push('This email has no text.');
  if (words.length > MAX_SHOWN_TEXT_LENGTH)
    notices.push('This email is too long to show. Only its beginning is shown.');
  return frame(
    mail,
    `${notices.map(notice).join('')}<div class="mail">${showText(words, isFolded)}</div>`,
    NOTHING_REMOTE,
  );
}

/** Builds the document for a message that cannot be shown, with the reason. */
export function makeMailNotice(subject: string, reason: string): MailDocument {
  return frame({ subject, html: null }, notice(reason), NOTHING_REMOTE);
}

const TOO_COMPLEX = 'The HTML of this email is too large or too deeply nested to show safely. Only its text is shown.';
/** Maximum characters of HTML from which text is extracted. */
const MAX_READ_HTML = 2_000_000;
const NOTHING_REMOTE = { remoteImageCount: 0, trackingPixelCount: 0 };

function wordsOf(html: string): string {
  const words = visibleText(html.slice(0, MAX_READ_HTML), MAX_SHOWN_TEXT_LENGTH);
  return words
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
}

function notice(text: string): string {
  return `<p class="notice">${escapeText(text)}</p>`;
}

/** Mail is designed for a white background, so it is shown on white in every theme. */
const STYLE = `
html { color-scheme: only light; background: #fff; color: #1a1b1e; }
body { margin: 0; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
.mail { display: flow-root; padding: 12px 16px; overflow-x: auto; overflow-wrap: break-word; }
.mail img { max-width: 100%; }
.mail img:not([src]) { background: #f1f3f5; outline: 1px dashed #868e96; }
.mail blockquote { margin: 0.5em 0; padding-left: 12px; border-left: 3px solid #ced4da; }
.mail pre { white-space: pre-wrap; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.quoted { margin: 8px 0; }
.quoted > summary { width: fit-content; padding: 2px 10px; border-radius: 6px; background: #f1f3f5; color: #1a1b1e; font: 13px/1.6 system-ui, sans-serif; cursor: pointer; }
.quoted > summary:focus-visible { outline: 2px solid #1c7ed6; outline-offset: 2px; }
.notice { margin: 12px 16px; padding: 8px 12px; border-radius: 6px; background: #fff3bf; color: #1a1b1e; }
`;

function frame(
  { subject, html }: Pick<MailToShow, 'subject' | 'html'>,
  body: string,
  counts: Omit<MailDocument, 'html'>,
): MailDocument {
  const { remoteImageCount, trackingPixelCount } = counts;
  const title = escapeText(subject.trim() === '' ? 'Email' : subject.toWellFormed());
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style>`;
  const marks = `data-remote-images="${remoteImageCount}" data-tracking-pixels="${trackingPixelCount}"`;
  return {
    html: `<!doctype html>\n<html lang="${languageOf(html)}" ${marks}><head>${head}</head><body>${body}</body></html>\n`,
    ...counts,
  };
}

/** Language of the message, for screen readers; BCP 47 `und` when unknown. */
function languageOf(html: string | null): string {
  return (
    /<html\b[^<>]{0,500}?\slang=["']?([a-z]{2,3}(?:-[a-z0-9]{2,8})?)["'\s>]/i.exec((html ?? '').slice(0, 5_000))?.[1] ??
    'und'
  );
}

/** Maximum characters; the rest is not shown. */
const MAX_SHOWN_TEXT_LENGTH = 500_000;
/** Maximum characters of a line in which links are searched: the search is not linear. */
const MAX_LINKED_LINE = 4_000;

const finder = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false }).add('ftp:', null).add('//', null);

/**
 * Returns plain text as safe HTML, with its lines preserved and web addresses as links. Quoted mail is collapsed under the conditions of
 * findQuotedPart.
 */
function showText(text: string, isFolded: boolean): string {
  const lines = text.slice(0, MAX_SHOWN_TEXT_LENGTH).toWellFormed().replace(/\r\n?/g, '\n').split('\n');
  const quoted = isFolded ? findQuotedLines(lines) : null;
  const show = (part: readonly string[]) => `<div class="text">${part.map(linked).join('\n')}</div>`;
  if (quoted === null) return show(lines);
  const [start, end] = quoted;
  const rest = lines.slice(end);
  const behind = isBlank(rest) ? '' : show(rest);
  return `${show(lines.slice(0, start))}${FOLD}${show(lines.slice(start, end))}${FOLD_END}${behind}`;
}

/** Returns the first quoted line and the one after the last; null when there is none, more than one part, or nothing before it. */
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
