/** A message that is odd in one way, and how mail programs read it. */
export interface OddCase {
  name: string;
  raw: Buffer;
  is: OddFacts;
}

/** Facts of a message. Absent: left open. Texts are compared without outer white space. */
interface OddFacts {
  subject?: string;
  fromName?: string | null;
  date?: string | null;
  text?: string | null;
  textHas?: string[];
  textLacks?: string[];
  html?: string | null;
  htmlHas?: string[];
  /** `name type: content`, as latin1 */
  attachments?: string[];
  contentIds?: (string | null)[];
  /** name, address */
  to?: [string | null, string][];
}

/** Returns a message; its lines end in CRLF, and each character is a byte. */
export function oddMail(fields: readonly string[], ...body: readonly string[]): Buffer {
  return Buffer.from(['From: Mara Quill <mara@quill.example>', ...fields, '', ...body].join('\r\n'), 'latin1');
}

/** Returns a multipart/mixed message of whole parts, each with its fields. */
export function oddParts(...parts: readonly (readonly string[])[]): Buffer {
  return oddMultipart('mixed', ...parts);
}

/** Returns a multipart message of whole parts, each with its fields. */
export function oddMultipart(subtype: string, ...parts: readonly (readonly string[])[]): Buffer {
  const lines = parts.flatMap((part) => ['--b', ...part]);
  return oddMail(['Subject: Odd', `Content-Type: multipart/${subtype}; boundary=b`], ...lines, '--b--', '');
}

/** Returns the bytes of a text in UTF-8, each as a character. */
export function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Returns base64 of a text in UTF-8, or of bytes. */
export function base64(content: string | Buffer): string {
  return Buffer.from(content).toString('base64');
}
