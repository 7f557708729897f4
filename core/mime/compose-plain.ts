import { foldLines } from 'nodemailer/lib/mime-funcs';
import type { Mailbox } from './address.ts';

/** A message whose header section needs no encoding, as most have. All values are checked or made by composeMessage. */
export interface PlainMessage {
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  replyTo: readonly Mailbox[];
  inReplyTo: string | null;
  references: readonly string[];
  messageId: string;
  date: Date;
  /** as it is in the field */
  subject: string;
  /** one, or two forms of the same, in lines that end in CRLF */
  bodies: readonly { type: 'text/plain' | 'text/html'; content: string }[];
  boundary: string;
}

/** Encodes a body that cannot be sent as it is. */
type Encode = (content: string) => { encoding: 'quoted-printable' | 'base64'; text: string };

/**
 * Returns the message, one character per byte, equal to what nodemailer composes, or null when a value of its header needs more than
 * quotation marks and folding: then nodemailer has to compose it. Its general way through header fields takes longer than all the rest of
 * a message (docs/decisions/0065).
 */
export function composePlain(message: PlainMessage, encode: Encode): string | null {
  const { from, to, cc, replyTo, inReplyTo, references, bodies, boundary } = message;
  const ids = [...(inReplyTo === null ? [] : [inReplyTo]), ...references];
  const mailboxes = [from, ...to, ...cc, ...replyTo];
  const isPlain =
    message.subject.trim() !== '' &&
    ids.every((id) => PLAIN_ID.test(id)) &&
    mailboxes.every(isPlainMailbox) &&
    bodies.length > 0 &&
    bodies.every(({ content }) => content !== '');
  if (!isPlain) return null;
  const fields = [
    `From: ${written(from)}`,
    ...listField('To', to),
    ...listField('Cc', cc),
    ...listField('Reply-To', replyTo),
    ...(inReplyTo === null ? [] : [`In-Reply-To: ${inReplyTo}`]),
    ...(references.length === 0 ? [] : [`References: ${references.join(' ')}`]),
    `Message-ID: ${message.messageId}`,
    `Date: ${message.date.toUTCString().replace('GMT', '+0000')}`,
    `Subject: ${message.subject}`,
  ];
  const parts = bodies.map(({ type, content }) => {
    const contentType = `Content-Type: ${type}; charset=utf-8`;
    if (isPlainContent(content)) return { contentType, encoding: '7bit', text: content };
    return { contentType, ...encode(content) };
  });
  const [first, second] = parts;
  if (first !== undefined && second === undefined) {
    fields.push(`Content-Transfer-Encoding: ${first.encoding}`, 'MIME-Version: 1.0', first.contentType);
    return ended(`${section(fields)}${first.text}`);
  }
  fields.push('MIME-Version: 1.0', `Content-Type: multipart/alternative; boundary="${boundary}"`);
  const alternatives = parts.map(
    ({ contentType, encoding, text }) =>
      `--${boundary}\r\n${section([contentType, `Content-Transfer-Encoding: ${encoding}`])}${text}\r\n`,
  );
  return `${section(fields)}${alternatives.join('')}--${boundary}--\r\n`;
}

/** RFC 5322 §3.6.4, without white space */
const PLAIN_ID = /^<[\x21-\x3b\x3d\x3f-\x7e]+>$/;
/** A dot-atom, and a domain that is not to be changed */
const PLAIN_ADDRESS =
  /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?!.*xn--)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/;
const PLAIN_NAME = /^[\x20-\x7e]*$/;

function isPlainMailbox({ name, address }: Mailbox): boolean {
  return PLAIN_ADDRESS.test(address) && PLAIN_NAME.test(name ?? '');
}

/** Whether a body can be sent without encoding: ASCII in short lines. */
function isPlainContent(content: string): boolean {
  return content.length <= MAX_PLAIN_LENGTH && !ENCODED.test(content) && !hasLongLine(content);
}

/** Longer texts are encoded without a look at their lines. */
const MAX_PLAIN_LENGTH = 131_072;
// oxlint-disable-next-line no-control-regex
const ENCODED = /[\x00-\x08\x0b\x0c\x0e-\x1f\u0080-\uffff]/;
/** Characters of a line that is not encoded. */
const MAX_PLAIN_LINE_LENGTH = 76;

function hasLongLine(content: string): boolean {
  let start = 0;
  for (let end = content.indexOf('\n'); end !== -1; end = content.indexOf('\n', start)) {
    const length = end - start - (content[end - 1] === '\r' ? 1 : 0);
    if (length > MAX_PLAIN_LINE_LENGTH) return true;
    start = end + 1;
  }
  return content.length - start > MAX_PLAIN_LINE_LENGTH;
}

function listField(name: string, mailboxes: readonly Mailbox[]): string[] {
  return mailboxes.length === 0 ? [] : [`${name}: ${mailboxes.map(written).join(', ')}`];
}

function written({ name, address }: Mailbox): string {
  if (name === null || name === '') return address;
  return `${/^[\w ]*$/.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`;
}

function section(fields: readonly string[]): string {
  return `${fields.map((field) => (field.length < LINE_LENGTH ? field : foldLines(field, LINE_LENGTH))).join('\r\n')}\r\n\r\n`;
}

/** Characters of a line of the header section. */
const LINE_LENGTH = 76;

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\r\n`;
}
