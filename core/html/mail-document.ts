import { LinkifyIt } from 'linkify-it';
import { isForwardSubject } from '../mime/subject.ts';
import { escapeText, FOLD, FOLD_END, type ShownHtml, showHtml } from './mail-document-html.ts';
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
  if (shown !== null) return frame(mail, shown.html, shown);
  const isTooComplex = html !== null && html.trim() !== '';
  const notices = isTooComplex ? [TOO_COMPLEX] : [];
  const words = text !== null && text.trim() !== '' ? text : isTooComplex ? readWords(html) : '';
  if (words === '' && !isTooComplex) notices.push('This email has no text.');
  if (words.length > MAX_SHOWN_TEXT_LENGTH)
    notices.push('This email is too long to show. Only its beginning is shown.');
  return frame(mail, `${notices.map(notice).join('')}${showText(words, isFolded)}`, OWN_DESIGN);
}

/** Builds the document for a message that cannot be shown, with the reason. */
export function makeMailNotice(subject: string, reason: string): MailDocument {
  return frame({ subject, html: null, hasRemoteImages: false }, notice(reason), OWN_DESIGN);
}

const TOO_COMPLEX = 'The HTML of this email is too large or too deeply nested to show safely. Only its text is shown.';
/** Maximum characters of a body that are read; longer HTML is too large to be sanitized, and its text is extracted. */
export const MAX_READ_BODY = 2_000_000;

/** What a document needs besides its content. */
type FrameDesign = Omit<ShownHtml, 'html'>;

/** Of a document that shows text. */
const OWN_DESIGN: FrameDesign = {
  styleSheet: '',
  rootAttributes: '',
  bodyAttributes: '',
  mode: 'no-quirks',
  isDesigned: false,
  remoteImageCount: 0,
  trackingPixelCount: 0,
};

function readWords(html: string): string {
  const words = visibleText(html.slice(0, MAX_READ_BODY), MAX_SHOWN_TEXT_LENGTH);
  return words
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
}

function notice(text: string): string {
  return `<p class="postroom-notice">${escapeText(text)}</p>`;
}

/**
 * Mail is designed for a white background, so it is shown on white in every theme. The rules of the mail follow these. Images that are not
 * loaded keep their place.
 */
const STYLE = `
html { color-scheme: only light; }
.postroom-blocked { background: rgb(128 128 128 / 8%); outline: 1px dashed rgb(128 128 128 / 40%); outline-offset: -1px; }
.postroom-text { white-space: pre-wrap; overflow-wrap: anywhere; }
`;

/** Of mail that chooses neither fonts nor colors. */
const PLAIN_STYLE = `
html { color: #1a1b1e; }
body { margin: 12px 16px; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; overflow-wrap: break-word; }
img { max-width: 100%; }
blockquote { margin: 0.5em 0; padding-left: 12px; border-left: 3px solid #ced4da; }
pre { white-space: pre-wrap; }
`;

/** Our own parts, and what the frame needs: after the rules of the mail, which cannot change them. */
const OWN_STYLE = `
html, body { height: fit-content !important; min-height: 0 !important; max-height: none !important; }
details.postroom-quoted { display: block !important; visibility: visible !important; opacity: 1 !important; margin: 8px 0 !important; }
details.postroom-quoted > summary:first-child { all: revert !important; width: fit-content !important; padding: 2px 10px !important; border-radius: 6px !important; background: #f1f3f5 !important; color: #1a1b1e !important; font: 13px/1.6 system-ui, sans-serif !important; cursor: pointer !important; }
details.postroom-quoted > summary:first-child:focus-visible, a:focus-visible, area:focus-visible { outline: 2px solid #1c7ed6 !important; outline-offset: 2px !important; }
.postroom-notice { margin: 0 0 12px; padding: 8px 12px; border-radius: 6px; background: #fff3bf; color: #1a1b1e; }
`;

/** Doctypes of the layout modes; HTML without one is laid out as in the 1990s, which newsletters expect. */
const DOCTYPES = {
  quirks: '',
  'limited-quirks':
    '<!doctype html public "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">\n',
  'no-quirks': '<!doctype html>\n',
} as const;

function frame(
  { subject, html, hasRemoteImages }: Pick<MailToShow, 'subject' | 'html' | 'hasRemoteImages'>,
  body: string,
  design: FrameDesign,
): MailDocument {
  const { remoteImageCount, trackingPixelCount, rootAttributes, bodyAttributes, isDesigned } = design;
  const title = escapeText(subject.trim() === '' ? 'Email' : subject.toWellFormed());
  const style = `${STYLE}${isDesigned ? '' : PLAIN_STYLE}</style>`;
  const sheet = design.styleSheet === '' ? '' : `<style>${design.styleSheet}</style>`;
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${style}${sheet}<style>${OWN_STYLE}</style>`;
  const marks = `data-remote-images="${remoteImageCount}" data-tracking-pixels="${trackingPixelCount}"${hasRemoteImages ? ' data-images-loaded' : ''}`;
  return {
    html: `${DOCTYPES[design.mode]}<html lang="${readLanguage(html)}" ${marks}${rootAttributes}><head>${head}</head><body${bodyAttributes}>${body}</body></html>\n`,
    remoteImageCount,
    trackingPixelCount,
  };
}

/** Language of the message, for screen readers; BCP 47 `und` when unknown. */
function readLanguage(html: string | null): string {
  return (
    /<html\b[^<>]{0,500}?\slang=["']?([a-z]{2,3}(?:-[a-z0-9]{2,8})?)["'\s>]/i.exec((html ?? '').slice(0, 5_000))?.[1] ??
    'und'
  );
}

/** Maximum characters; the rest is not shown. */
const MAX_SHOWN_TEXT_LENGTH = 500_000;
/** Maximum characters of a line in which links are searched: the search is not linear. */
const MAX_LINKED_LINE = 4_000;

const finder = new LinkifyIt({ fuzzyLink: true, fuzzyEmail: true, fuzzyIP: false, urlAuth: true })
  .add('ftp:', null)
  .add('//', null);

/**
 * Returns plain text as safe HTML, with its lines preserved and web addresses as links. Quoted mail is collapsed under the conditions of
 * findQuotedPart.
 */
function showText(text: string, isFolded: boolean): string {
  const lines = text.slice(0, MAX_SHOWN_TEXT_LENGTH).toWellFormed().replace(/\r\n?/g, '\n').split('\n');
  const quoted = isFolded ? findQuotedLines(lines) : null;
  const show = (part: readonly string[]) => `<div class="postroom-text">${part.map(linked).join('\n')}</div>`;
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
  if (!/[:@]|www\./i.test(line) || line.length > MAX_LINKED_LINE) return escapeText(line);
  const pieces: string[] = [];
  let at = 0;
  for (const { index, lastIndex, raw, schema, url } of finder.match(line) ?? []) {
    // Names without a scheme are often names of files: `notes.rs`.
    if (!/^(?:https?:\/\/|mailto:)/i.test(url) || (schema === '' && !/^www\./i.test(raw))) continue;
    const words = escapeText(line.slice(index, lastIndex));
    pieces.push(
      escapeText(line.slice(at, index)),
      `<a href="${escapeText(schema === '' ? `https://${raw}` : url)}" rel="noopener noreferrer nofollow" target="_blank">${words}</a>`,
    );
    at = lastIndex;
  }
  return `${pieces.join('')}${escapeText(line.slice(at))}`;
}
