import { endOfHeaderSection } from '../mime/header-fields.ts';

/**
 * Seconds in which the same bytes from the same client to the same recipient are one message. A client that does not receive the 250
 * cannot know that the message was stored, and sends it again (RFC 5321 §4.1.1.4, §6.1).
 */
const REPEAT_SECONDS = {
  /** with Message-ID and Date the bytes are one message, and senders retry for up to 5 days (RFC 5321 §4.5.4.1) */
  identified: 5 * 24 * 60 * 60,
  /** without either, a device may say the same again on purpose: only a retry comes this soon */
  unidentified: 10 * 60,
};

/** Bytes of a message in which its fields are looked for. */
const HEAD_BYTES = 65_536;

/** Returns how long the client of a message may repeat it without creating another email. Seconds. Linear, never throws. */
export function readRepeatSeconds(bytes: Buffer): number {
  const head = bytes.toString('latin1', 0, Math.min(endOfHeaderSection(bytes.subarray(0, HEAD_BYTES)), HEAD_BYTES));
  const isIdentified = hasField(head, 'message-id') && hasField(head, 'date');
  return isIdentified ? REPEAT_SECONDS.identified : REPEAT_SECONDS.unidentified;
}

/** Returns whether the field is there with a value on its first line or the next one. */
function hasField(head: string, name: 'message-id' | 'date'): boolean {
  return PATTERNS[name].test(head);
}

const PATTERNS = {
  'message-id': /^message-id[ \t]{0,20}:[ \t]{0,900}(?:\r?\n[ \t]{1,900})?[^ \t\r\n]/im,
  date: /^date[ \t]{0,20}:[ \t]{0,900}(?:\r?\n[ \t]{1,900})?[^ \t\r\n]/im,
};
