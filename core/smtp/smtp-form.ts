import { endOfHeaderSection } from '../mime/header-fields.ts';
import {
  MAX_HEADER_BYTES,
  MAX_HEADER_LINES,
  MAX_LINE_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_RECEIVED_FIELDS,
} from './smtp-limits.ts';

/** A message in the form that SMTP delivers, or the reply with which our SMTP server would reject it. */
export type SmtpForm = { bytes: Buffer; refusal?: undefined } | { bytes?: undefined; refusal: string };

/**
 * Ends every line of a message with CRLF and checks it against the limits of our SMTP server (haraka-plugins). A refusal has the text of
 * the server's reply.
 */
export function toSmtpForm(message: Uint8Array): SmtpForm {
  if (message.length > MAX_MESSAGE_BYTES) return { refusal: TOO_BIG };
  const lines = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
    .toString('latin1')
    .replace(/\r?\n/g, '\r\n');
  const bytes = Buffer.from(lines.endsWith('\r\n') ? lines : `${lines}\r\n`, 'latin1');
  if (bytes.length > MAX_MESSAGE_BYTES) return { refusal: TOO_BIG };
  const end = endOfHeaderSection(bytes);
  const header = bytes
    .toString('latin1', 0, end)
    .split('\r\n')
    .filter((line) => line !== '');
  if (end > MAX_HEADER_BYTES || header.length > MAX_HEADER_LINES) return { refusal: HEADER_TOO_BIG };
  if (header.filter((line) => /^received[ \t]*:/i.test(line)).length > MAX_RECEIVED_FIELDS)
    return { refusal: '554 5.4.0 Too many hops' };
  return hasLongLine(bytes) ? { refusal: '554 5.6.0 A line is too long' } : { bytes };
}

const TOO_BIG = '552 5.3.4 Message size exceeds the limit';
const HEADER_TOO_BIG = '552 5.3.4 Header section exceeds the limit';

function hasLongLine(bytes: Buffer): boolean {
  let start = 0;
  for (let end = bytes.indexOf('\n'); end !== -1; end = bytes.indexOf('\n', start)) {
    if (end + 1 - start > MAX_LINE_BYTES) return true;
    start = end + 1;
  }
  return bytes.length - start > MAX_LINE_BYTES;
}
