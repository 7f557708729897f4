import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { findCharset } from './charset-name.ts';
import { detectCharset } from './detect-charset.ts';
import { decodeSevenBit, detectSevenBit, isSevenBitCharset } from './seven-bit-charsets.ts';
import { decodeSingleByte, isSingleByteCharset } from './single-byte-charsets.ts';

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
 * Decodes bytes by the charset that a message names, in any spelling (findCharset). What the bytes themselves prove is believed before the
 * name: byte order marks, the escape sequences of ISO-2022, and bytes above 127 in a charset of 7 bits. Without a known charset, bytes are
 * UTF-8 if they are valid, else what the statistics of their letters say, mostly windows-1252 (detectCharset). Invalid sequences become U+FFFD. Never throws.
 */
export function decodeCharset(bytes: Buffer, charset: string | null): string {
  const name = charset === null ? null : findCharset(charset);
  const marked = markedCharset(bytes);
  if (marked !== null) return marked === 'utf8' ? bytes.toString('utf8', 3) : decodeNamed(bytes, marked);
  const isUnknown = name === null || name === 'ascii';
  if ((name === null || !isSevenBitCharset(name)) && bytes.includes(ESCAPE)) {
    const detected = detectSevenBit(bytes);
    if (detected !== null && isAscii(bytes)) return decodeSevenBit(bytes, detected);
  }
  if (isUnknown) return isUtf8(bytes) ? bytes.toString('utf8') : decodeDetected(bytes);
  if (name === 'utf8' || isMislabeled(bytes, name)) return decodeUtf8(bytes);
  if (isSevenBitCharset(name) && !isAscii(bytes)) return decodeEightBit(bytes, name);
  return decodeNamed(bytes, name);
}

/**
 * Decodes bytes that were read as latin1, such as header fields: UTF-8 if valid (RFC 6532), else by the charset of the body, else
 * windows-1252. Text with characters beyond latin1 has already been decoded and stays as it is.
 */
export function decodeRawText(latin1: string, bodyCharset: string | null = null): string {
  if (!/[\x1b\x80-\xff]/.test(latin1) || /[^\0-\xff]/.test(latin1)) return latin1;
  const bytes = Buffer.from(latin1, 'latin1');
  return decodeCharset(bytes, bodyCharset === null || isUtf8(bytes) ? null : bodyCharset);
}

const ESCAPE = 0x1b;

/** Plain text of single bytes is neither UTF-16 nor UTF-32, and text of 8 bits is not UTF-7. */
function isMislabeled(bytes: Buffer, name: string): boolean {
  const isWide = /^utf-?(?:16|32)/i.test(name);
  return isWide ? isAscii(bytes) && !bytes.includes(0) : /^utf-?7$/i.test(name) && !isAscii(bytes);
}

/** Returns the charset of a byte order mark (Unicode §23.8); null when there is none. */
function markedCharset(bytes: Buffer): 'utf8' | 'utf-16' | 'utf-32' | null {
  const [first, second, third, fourth] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf8';
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? 'utf-32' : 'utf-16';
  if (first === 0xfe && second === 0xff) return 'utf-16';
  return first === 0 && second === 0 && third === 0xfe && fourth === 0xff ? 'utf-32' : null;
}

function decodeNamed(bytes: Buffer, name: string): string {
  if (isSevenBitCharset(name)) return decodeSevenBit(bytes, name);
  if (isSingleByteCharset(name)) return decodeSingleByte(bytes, name);
  try {
    return iconv.decode(bytes, name);
  } catch {
    return bytes.toString('utf8');
  }
}

/** Bytes without the beginning of any sequence of UTF-8 are in another charset although they claim to be UTF-8. */
function decodeUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  return /[\xc2-\xf4][\x80-\xbf]|[\xfe\xff]/.test(bytes.toString('latin1'))
    ? bytes.toString('utf8')
    : decodeDetected(bytes);
}

function decodeDetected(bytes: Buffer): string {
  const charset = detectCharset(bytes);
  return charset === 'utf8' ? bytes.toString('utf8') : iconv.decode(bytes, charset);
}

/** Decodes bytes above 127 that claim to be in a charset of 7 bits: UTF-8, or the 8-bit charset of the same language. */
function decodeEightBit(bytes: Buffer, name: Parameters<typeof decodeSevenBit>[1]): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  // The bytes may still have escape sequences, beside a few damaged ones.
  if (detectSevenBit(bytes) !== null) return decodeSevenBit(bytes, name);
  const decoded = EIGHT_BIT[name].map((charset) => iconv.decode(bytes, charset));
  return decoded.find((text) => !text.includes('\ufffd')) ?? decoded[0] ?? '';
}

const EIGHT_BIT = {
  iso2022jp: ['eucjp', 'cp932'],
  iso2022kr: ['cp949'],
  iso2022cn: ['gb18030'],
  hzgb2312: ['gb18030'],
} as const;

/** Returns whether `decodeURIComponent` can read the text: every percent sign begins an escape, and the escapes are UTF-8. */
export function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
