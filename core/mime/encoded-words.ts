import { findCharset } from '../shared/charset-name.ts';
import { decodeCharset } from '../shared/text.ts';

/**
 * Decodes the encoded words of a text (RFC 2047; RFC 2231 §5, language tags). White space between words of any charset is dropped, and
 * words of one charset are decoded together, because mail programs split characters between them. Broken words stay. Linear; never throws.
 */
export function decodeEncodedWords(text: string): string {
  const decoded = decodeWords(text);
  if (decoded === text || !ONLY_WORDS.test(decoded)) return decoded;
  // Seen: programs that encode what is encoded. Words within other text keep their form, and so do words that hide a line end.
  const twice = decodeWords(decoded);
  return /\p{Cc}/u.test(twice) ? decoded : twice;
}

const ONLY_WORDS = /^(?:\s*=\?[^?\s=]{1,60}\?[BbQq]\?[^?]{0,2000}\?=){1,20}\s*$/;

function decodeWords(text: string): string {
  if (!text.includes('=?')) return text;
  const pieces: string[] = [];
  let group: { charset: string; bytes: Buffer[] } | null = null;
  let from = 0;
  for (const match of text.matchAll(ENCODED_WORD)) {
    const [word, label = '', encoding = '', content = ''] = match;
    const between = text.slice(from, match.index);
    const bytes = encoding.toUpperCase() === 'B' ? decodeB(content) : decodeQ(content);
    const charset = label.split('*', 1).join('');
    const isAdjacent = group !== null && between.trim() === '';
    if (group !== null && isAdjacent && isSameCharset(group.charset, charset)) group.bytes.push(bytes);
    else {
      if (group !== null) pieces.push(decodeGroup(group));
      if (!isAdjacent) pieces.push(between);
      group = { charset, bytes: [bytes] };
    }
    from = match.index + word.length;
  }
  if (group !== null) pieces.push(decodeGroup(group));
  pieces.push(text.slice(from));
  return pieces.join('');
}

/** Bytes above 127 within encoded words belong to the word's charset (seen: `=?iso-8859-1?Q?J<FC>rgen?=`). */
export function escapeEncodedWords(line: string): string {
  if (!/[\x80-\xff]/.test(line)) return line;
  return line.replace(/=\?[^?]{1,40}\?[Qq]\?[^?]*\?=/g, (word) =>
    word.replace(/[\x80-\xff]/g, (byte) => `=${byte.charCodeAt(0).toString(16)}`),
  );
}

/** A question mark within the content must not be followed by an equals sign, except as an escape: `?=3F` (seen: `=?utf-8?Q?who?_?=`). */
const ENCODED_WORD = /=\?([^?\s=]{0,60})\?([BbQq])\?([^?]*(?:\?(?!=(?![0-9A-Fa-f]{2}))[^?]*){0,20})\?=/g;

function isSameCharset(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase() || (findCharset(a) ?? a) === (findCharset(b) ?? b);
}

function decodeGroup({ charset, bytes }: { charset: string; bytes: readonly Buffer[] }): string {
  const [first] = bytes;
  return decodeCharset(first !== undefined && bytes.length === 1 ? first : Buffer.concat(bytes), charset);
}

/** Padding within the word ends a block; another one may follow. */
function decodeB(content: string): Buffer {
  const blocks = content.split(/=+/).filter((block) => block !== '');
  const [first = ''] = blocks;
  return blocks.length < 2
    ? Buffer.from(first, 'base64')
    : Buffer.concat(blocks.map((block) => Buffer.from(block, 'base64')));
}

/** Blanks are not allowed in a word, but some programs write them; a soft line end may be within an escape. */
function decodeQ(content: string): Buffer {
  const latin1 = content
    .replace(/=\s+(?=[0-9A-Fa-f])/g, '=')
    .replace(/[_\s]/g, ' ')
    .replace(/=([0-9A-Fa-f]{2})/g, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  // What is beyond latin1 was decoded before.
  return Buffer.from(latin1, /[^\0-\xff]/.test(latin1) ? 'utf8' : 'latin1');
}
