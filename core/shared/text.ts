import { isUtf8 } from 'node:buffer';
import charsets from 'libmime/lib/charset.js';

/** Returns the text in a form that PostgreSQL and JSON accept: well-formed, without U+0000. Invalid characters become U+FFFD. */
export function storableText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed;
}

/**
 * Makes all strings and keys of a JSON text well-formed: the escape of a lone surrogate becomes that of U+FFFD. Invalid JSON stays
 * invalid. The text itself must be well-formed, as decoded bytes are.
 */
export function wellFormedJson(json: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return json;
  return json.replace(SURROGATE_ESCAPES, (escapes, backslashes: string, pair: string | undefined) =>
    pair === undefined ? `${backslashes}\\ufffd` : escapes,
  );
}

/** Replaces lone surrogates in all strings and keys of a parsed JSON value by U+FFFD, because PostgreSQL's JSON cannot store them. */
export function wellFormedValue(value: unknown): unknown {
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) return value;
  const wellFormed = wellFormedJson(json);
  return wellFormed === json ? value : JSON.parse(wellFormed);
}

/**
 * After backslashes that escape each other: a surrogate pair (the second group), or a lone one. Starts at the first backslash, so it
 * takes linear time.
 */
const SURROGATE_ESCAPES =
  /(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2})/g;

/**
 * Decodes bytes by the charset that a message names (including aliases and misspellings); null and unknown names mean UTF-8. Bytes that
 * are not UTF-8 and claim to be ASCII or nothing are decoded as windows-1252, which is almost always right. Invalid sequences become
 * U+FFFD. Never throws.
 */
export function decodeCharset(bytes: Buffer, charset: string | null): string {
  const name = charset === null ? '' : charset.toLowerCase().trim();
  if (name === 'utf-8' || isUtf8Alias(name) || ((name === '' || isAscii(name)) && isUtf8(bytes)))
    return bytes.toString('utf8');
  try {
    return charsets.decode(bytes, name === '' || isAscii(name) ? 'windows-1252' : name);
  } catch {
    return bytes.toString('utf8');
  }
}

/**
 * Decodes bytes that were read as latin1, such as header fields: UTF-8 if valid (RFC 6532), else windows-1252. Text with characters
 * beyond latin1 has already been decoded (mailsplit does this for RFC 2231 file names) and stays as it is.
 */
export function decodeRawText(latin1: string): string {
  if (!/[\x80-\xff]/.test(latin1) || /[^\0-\xff]/.test(latin1)) return latin1;
  return decodeCharset(Buffer.from(latin1, 'latin1'), null);
}

function isUtf8Alias(name: string): boolean {
  return name === 'utf8' || name === 'unicode-1-1-utf-8';
}

function isAscii(name: string): boolean {
  return name === 'us-ascii' || /^(?:(?:us-?)?ascii|7bit|8bit|unknown-8bit|default)$/.test(name);
}
