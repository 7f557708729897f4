import { sanitizeHtmlBody } from '../html/sanitize-html.ts';
import { stripTags } from '../html/text-of-html.ts';
import type { AddressFields } from '../mime/address.ts';
import { isForwardSubject } from '../mime/subject.ts';
import { MAX_SUBJECT_LENGTH } from './outgoing-headers.ts';

/** The email that a forward or a reply contains. */
export interface ForwardedMail {
  addresses: AddressFields;
  /** decoded */
  subject: string;
  date: Date;
  /** null: it has none */
  text: string | null;
  html: string | null;
}

/** The user's text above it; null: none. */
export interface ForwardNote {
  text: string | null;
  html: string | null;
}

/** Of a forward or a reply. */
export interface Bodies {
  text: string | null;
  html: string | null;
}

/** What the bodies of a forward, or of a reply that includes the original, are made of. */
export interface ForwardParts {
  kind: 'forward' | 'reply';
  mail: ForwardedMail;
  note: ForwardNote;
}

/** Returns bodies that contain the mail. */
export function composeBodies({ kind, mail, note }: ForwardParts): Bodies {
  return kind === 'reply' ? replyBodies(mail, note) : forwardBodies(mail, note);
}

/** Maximum characters of HTML that is converted to text when there is no text body. */
const MAX_HTML_AS_TEXT = 200_000;
const HEADLINE = '---------- Forwarded message ----------';

/**
 * Returns the subject of a forward: `Fwd: ` in front, unless the subject has a forward marker in any language. One line, cut to the
 * maximum length.
 */
export function forwardSubject(subject: string): string {
  const line = subject.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const forward = isForwardSubject(line) ? line : `Fwd: ${line}`.trim();
  return forward.length <= MAX_SUBJECT_LENGTH ? forward : forward.slice(0, MAX_SUBJECT_LENGTH).toWellFormed().trim();
}

/**
 * Returns the bodies of a forward as mail programs write them: the note, the original's header fields, and the original. HTML is
 * sanitized; if neither side has any, the result has none.
 */
export function forwardBodies(mail: ForwardedMail, note: ForwardNote): { text: string; html: string | null } {
  const fields = quotedFields(mail);
  const original = readText(mail) ?? '';
  const noteText = readText(note);
  const text = [
    ...(noteText === null ? [] : [noteText.trimEnd(), '']),
    HEADLINE,
    ...fields.map(([name, value]) => `${name}: ${value}`),
    '',
    original,
  ].join('\n');
  const shown = mail.html === null ? null : sanitizeHtmlBody(mail.html);
  if (shown === null && note.html === null) return { text, html: null };
  const above = note.html ?? (note.text === null ? '' : paragraph(note.text.trimEnd()));
  const head = [HEADLINE, ...fields.map(([name, value]) => `<b>${name}:</b> ${escaped(value)}`)].join('<br>\n');
  const html = `${above}\n<div>\n<div>${head}</div>\n<br>\n<div>\n${shown ?? paragraph(original)}\n</div>\n</div>\n`;
  return { text, html };
}

/**
 * Returns the bodies of a reply with the original below it: quoted line by line (RFC 3676 §4.5), and as a citation in HTML. An original
 * without text or HTML is not quoted.
 */
export function replyBodies(mail: ForwardedMail, note: ForwardNote): Bodies {
  const fields = Object.fromEntries(quotedFields(mail));
  const opening = `On ${fields['Date']}, ${fields['From'] ?? 'the sender'} wrote:`;
  const original = (readText(mail) ?? '').replaceAll(/\r\n?/g, '\n').trimEnd();
  if (original === '' && mail.html === null) return note;
  const lines = original.split('\n').map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`.trimEnd()));
  const text = note.text === null ? null : [note.text.trimEnd(), '', opening, ...lines].join('\n');
  if (note.html === null) return { text, html: null };
  const shown = mail.html === null ? paragraph(original) : sanitizeHtmlBody(mail.html);
  return {
    text,
    html: `${note.html}\n<p>${escaped(opening)}</p>\n<blockquote type="cite">\n${shown}\n</blockquote>\n`,
  };
}

function readText({ text, html }: ForwardNote): string | null {
  return text ?? (html === null ? null : stripTags(html.slice(0, MAX_HTML_AS_TEXT)));
}

function quotedFields({ addresses, subject, date }: ForwardedMail): [string, string][] {
  const fields: [string, string | undefined][] = [
    ['From', addresses.from?.text],
    ['Date', date.toUTCString().replace('GMT', '+0000')],
    ['Subject', subject],
    ['To', addresses.to?.text],
    ['Cc', addresses.cc?.text],
  ];
  return fields.flatMap(([name, value]) => {
    const line = (value ?? '').replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
    return line === '' ? [] : [[name, line]];
  });
}

function paragraph(text: string): string {
  return `<p>${escaped(text).replace(/\r\n|\r|\n/g, '<br>\n')}</p>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
