/**
 * Charsets in which every reader finds the same text: single bytes above ASCII, or multi-byte forms whose ASCII is ASCII. Not UTF-7, UTF-16,
 * HZ or EBCDIC, in which ASCII bytes are other characters; of those with escapes only ISO-2022-JP, which Japanese mail uses.
 */
const READABLE =
  /^(?:us-ascii|ascii|ansi_x3\.4-1968|utf-?8|iso-?8859-?(?:[1-9]|1[013456])(?:-[ei])?|latin-?[1-9]|(?:windows|cp|x-cp)-?(?:874|125[0-8])|koi8-[ru]|gb2312|gbk|gb18030|x-gbk|big5|big5-hkscs|euc-jp|x-euc-jp|shift_jis|shift-jis|sjis|x-sjis|ms_kanji|windows-31j|cp932|euc-kr|ks_c_5601-1987|windows-949|tis-620|macintosh|iso-2022-jp)$/i;

/** Labels that TextDecoder has under another name. */
const NAMES: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  'shift-jis': 'shift_jis',
  'big5-hkscs': 'big5',
  'x-euc-jp': 'euc-jp',
};

/** Returns whether a charset is one in which every reader finds the same text. */
export function isReadableCharset(charset: string): boolean {
  return READABLE.test(charset);
}

/**
 * Decodes bytes strictly; null when they are not text of the charset. Bytes beyond ASCII without a charset, or as US-ASCII, are UTF-8 to
 * most readers, and must be that.
 */
export function decodeStrictly(bytes: Uint8Array, charset: string): string | null {
  const lower = charset.toLowerCase();
  const label = /^(?:us-)?ascii$|^ansi_/.test(lower)
    ? 'utf-8'
    : (NAMES[lower] ?? lower.replace(/^cp-?(?=\d)/, 'windows-'));
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
