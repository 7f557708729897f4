import { isUtf8 } from 'node:buffer';
import charsets from 'libmime/lib/charset.js';

/**
 * The text as PostgreSQL and JSON take it: well-formed, without U+0000. What cannot be kept becomes U+FFFD.
 */
export function storableText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed;
}

/**
 * JSON whose strings and keys are well-formed once they are parsed: an escape of half a surrogate pair becomes that of U+FFFD. What is no
 * JSON stays none. The text itself has to be well-formed, as decoded bytes are.
 */
export function wellFormedJson(json: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return json;
  return json.replace(SURROGATE_ESCAPES, (escapes, backslashes: string, pair: string | undefined) =>
    pair === undefined ? `${backslashes}\\ufffd` : escapes,
  );
}

/** JSON as it was parsed, with no halves of surrogate pairs in its strings and keys, which PostgreSQL's JSON cannot hold: U+FFFD in their stead. */
export function wellFormedValue(value: unknown): unknown {
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) return value;
  const wellFormed = wellFormedJson(json);
  return wellFormed === json ? value : JSON.parse(wellFormed);
}

/** Behind backslashes that escape each other: a pair (the second group), or half of one. From the first backslash on, so in linear time. */
const SURROGATE_ESCAPES =
  /(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2})/g;

/**
 * The text of bytes in a charset as a message names it (aliases and misspellings included); null and unknown names mean UTF-8.
 * Bytes that are no UTF-8 and claim to be ASCII or nothing are read as windows-1252: that is what they are almost always.
 * What is not of the charset becomes U+FFFD. Never throws.
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
 * The text of bytes that were read as latin1, as header fields are: UTF-8 when they are (RFC 6532), else windows-1252. Characters
 * beyond latin1 show that it was decoded already, as mailsplit does with file names of RFC 2231; then it stays as it is.
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
