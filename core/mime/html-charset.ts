import { isUtf8 } from 'node:buffer';
import { findCharset } from '../shared/charset-name.ts';

/** Bytes in which a document states its charset. */
const MAX_HEAD_BYTES = 8_192;
/** `<meta charset=…>`, `<meta http-equiv=… content="text/html; charset=…">` and `<?xml encoding="…"?>`. */
const STATEMENT =
  /<(?:meta\b[^<>]{0,500}?\bcharset|\?xml\b[^<>]{0,200}?\bencoding)\s*=\s*["']?\s*([^\s"'/<>;]{1,100})/gi;

/**
 * Returns the charset of an HTML part: the one that its field states, unless that is missing, unknown or disproved by the bytes. Then it is
 * the one that the document states (HTML §4.2.5.4), as Exchange sends it.
 */
export function chooseHtmlCharset(content: Buffer, label: string | null): string | null {
  if (isUtf8(content)) return label;
  const name = label === null ? null : findCharset(label);
  if (name !== null && name !== 'ascii' && name !== 'utf8') return label;
  const head = content.toString('latin1', 0, MAX_HEAD_BYTES);
  const stated = [...head.matchAll(STATEMENT)].map(([, charset = '']) => charset);
  // The statement itself was read as ASCII, so that it is no charset of wide characters.
  return stated.find((charset) => findCharset(charset) !== null && !/^utf-?(?:16|32)/i.test(charset)) ?? label;
}
