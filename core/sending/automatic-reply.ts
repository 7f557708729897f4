import { AUTOMATIC_FIELDS } from '../mime/report-text.ts';

/** What decides whether a program may reply to a received message. */
export interface AnswerableMail {
  /** lower-case names and decoded values, as stored */
  headers: readonly (readonly [name: string, value: string])[];
  /** of the envelope; empty: the null return path; null: unknown */
  returnPath: string | null;
  /** of From */
  fromAddress: string;
}

/** Automatic replies in one thread within an hour. */
export const MAX_AUTOMATIC_REPLIES = 5;
/** RFC 3834 §5: marks a reply that a program sends, so that other programs do not reply to it. */
export const AUTOMATIC_REPLY_FIELDS: Readonly<Record<string, string>> = { 'Auto-Submitted': 'auto-replied' };

const FORWARD_FIELD = 'X-Postroom-Forwarded';
/** Marks mail that a program forwards, so that programs neither reply to it nor forward it in a circle. */
export const AUTOMATIC_FORWARD_FIELDS: Readonly<Record<string, string>> = {
  'Auto-Submitted': 'auto-generated',
  [FORWARD_FIELD]: 'action',
};

/** Returns why a program must not forward the message; null when it may. */
export function automaticForwardRefusal(headers: AnswerableMail['headers']): string | null {
  const isForwarded = headers.some(([name]) => name === FORWARD_FIELD.toLowerCase());
  return isForwarded ? 'The email was itself forwarded by an action, so it is not forwarded again.' : null;
}

/**
 * Returns why a program must not reply to the message (RFC 3834 §2); null when it may. Automatic mail, bulk mail and mail of lists get no
 * reply, and neither does mail without a return path.
 */
export function automaticReplyRefusal({ headers, returnPath, fromAddress }: AnswerableMail): string | null {
  if (returnPath === '') return 'The email has no return path, so it gets no automatic reply (RFC 3834).';
  for (const address of [returnPath, fromAddress])
    if (address !== null && isRobot(address))
      return `The email is from ${address}, which gets no automatic reply (RFC 3834).`;
  const field = headers.find(([name, value]) => isAutomatic(name, value.trim().toLowerCase()));
  if (field === undefined) return null;
  const [name, value] = field;
  return `The email is automatic or bulk mail (${name}: ${value.trim().slice(0, MAX_SHOWN_LENGTH)}), so it gets no automatic reply (RFC 3834).`;
}

/** Characters of a value that a refusal repeats. */
const MAX_SHOWN_LENGTH = 100;

/** RFC 3834 §2: list owners, list request addresses, and mail servers. */
function isRobot(address: string): boolean {
  const localPart = address.slice(0, address.lastIndexOf('@')).toLowerCase();
  return (
    localPart === 'mailer-daemon' ||
    localPart.startsWith('owner-') ||
    localPart.endsWith('-request') ||
    localPart.endsWith('-owner')
  );
}

/** `value` is trimmed, in lower case. */
function isAutomatic(name: string, value: string): boolean {
  switch (name) {
    case 'auto-submitted':
      // RFC 3834 §5: parameters and comments may follow the keyword.
      return !/^no(?:$|[\s;(])/.test(value);
    case 'precedence':
      return /^(?:bulk|list|junk|auto[_-]?reply)\b/.test(value);
    case 'x-auto-response-suppress':
      return /\b(?:all|autoreply)\b/.test(value);
    case 'content-type':
      return value.startsWith('multipart/report');
    default:
      return name.startsWith('list-') || AUTOMATIC_FIELDS.includes(name);
  }
}
