import { hash } from 'node:crypto';
import {
  endOfHeaderSection,
  firstField,
  type HeaderSection,
  readHeaderSection,
  unfold,
} from '../mime/header-fields.ts';
import { parseMessageId } from '../mime/message-id.ts';
import { isTransferable } from '../mime/transfer-form.ts';

/** A message that a mail program or an application submitted over SMTP, as it is sent. */
export interface SubmittedMessage {
  bytes: Buffer;
  messageId: string;
  /** whether the client wrote the Message-ID, so that a repeated submission can be recognized */
  hasOwnId: boolean;
}

/** Maximum recipients of one submission (RFC 5321 §4.5.3.1.8 asks for at least 100). */
export const MAX_SUBMITTED_RECIPIENTS = 100;

const LINE_FEED = 0x0a;

/**
 * Returns a submitted message in the form in which it is sent: without Bcc fields, and with Message-ID and Date where they are missing
 * (RFC 6409 §8). Everything else stays as it is, byte for byte. Returns an error for the user when it cannot be sent like that.
 */
export function prepareSubmitted(
  bytes: Buffer,
  made: { messageId: string; date: Date },
): SubmittedMessage | { error: string } {
  if (!isTransferable(bytes, '8bit'))
    return {
      error: 'A line has more than 998 bytes, a NUL or a lone CR. Encode the part as quoted-printable or base64.',
    };
  const end = endOfHeaderSection(bytes);
  if (!isTransferable(bytes.subarray(0, end), '7bit'))
    return { error: 'The header section has 8-bit characters. Write them as encoded words (RFC 2047).' };
  const section = readHeaderSection(bytes);
  const repeated = ['from', 'date', 'message-id', 'subject'].find((name) => countFields(section, name) > 1);
  if (repeated !== undefined) return { error: `The header has several ${repeated} fields. Send one.` };
  if (section.hidesFrom || mayNameOthers(unfold(firstField(section, 'from')?.raw ?? '')))
    return {
      error: 'The From field must name exactly one address, as `Name <name@example.com>` or `name@example.com`.',
    };
  const idField = section.fields.find(({ name }) => name === 'message-id');
  const ownId = idField === undefined ? null : parseMessageId(idField.raw.trim());
  if (idField !== undefined && ownId === null)
    return { error: 'The Message-ID is not valid. Use `<name@example.com>`.' };
  const added = [
    ...(ownId === null ? [`Message-ID: ${made.messageId}\r\n`] : []),
    ...(countFields(section, 'date') === 0 ? [`Date: ${fieldDate(made.date)}\r\n`] : []),
  ];
  const kept = withoutBcc(bytes, end);
  return {
    bytes: added.length === 0 ? kept : Buffer.concat([Buffer.from(added.join(''), 'latin1'), kept]),
    messageId: ownId ?? made.messageId,
    hasOwnId: ownId !== null,
  };
}

/**
 * Returns whether programs may read another author from a From field than the one whose rights are checked: `Ann <ann@example.com, x <bob@example.com>`.
 */
function mayNameOthers(from: string): boolean {
  if (from.length > MAX_FROM_LENGTH) return true;
  // What begins within a comment is no quoted string to all programs.
  if (/\([^)"]*"/.test(from)) return true;
  const unquoted = from.replace(/"(?:[^"\\]|\\.)*"|=\?[^?\s]+\?[bq]\?[^?\s]*\?=/gi, 'q');
  const named = new Set(unquoted.toLowerCase().match(/[^\s"<>(),;:@]+@[^\s"<>(),;:@]+/g));
  return named.size > 1 || unquoted.includes('"') || unquoted.split('<').length > 2;
}

const MAX_FROM_LENGTH = 2_000;

/**
 * Returns what tells a repeated submission: the same Message-ID, to the same recipients. A client that splits many recipients over several
 * transactions submits each of them.
 */
export function submissionSha256(messageId: string, recipients: readonly string[]): string {
  return hash(
    'sha256',
    JSON.stringify([messageId, recipients.map((address) => address.toLowerCase()).toSorted()]),
    'hex',
  );
}

function countFields({ fields }: HeaderSection, name: string): number {
  return fields.filter((field) => field.name === name).length;
}

/** Removes Bcc fields, with their folded lines. The same buffer when there is none. */
function withoutBcc(bytes: Buffer, end: number): Buffer {
  const pieces: Buffer[] = [];
  let keptFrom = 0;
  for (let at = 0; at < end; ) {
    const next = endOfField(bytes, at, end);
    if (/^(?:resent-)?bcc[ \t]*:/i.test(bytes.toString('latin1', at, Math.min(next, at + 32)))) {
      pieces.push(bytes.subarray(keptFrom, at));
      keptFrom = next;
    }
    at = next;
  }
  return pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(keptFrom)]);
}

function endOfField(bytes: Buffer, start: number, end: number): number {
  for (let at = start; ; ) {
    const lineFeed = bytes.indexOf(LINE_FEED, at);
    if (lineFeed === -1 || lineFeed >= end) return end;
    at = lineFeed + 1;
    const isFolded = at < end && (bytes[at] === 0x20 || bytes[at] === 0x09);
    if (!isFolded) return at;
  }
}

/** RFC 5322 §3.3 */
function fieldDate(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}
