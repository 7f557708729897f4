import { detectImageType } from '../html/mail-document-html.ts';

/** Bytes of a text that are shown. */
export const MAX_TEXT_PREVIEW_BYTES = 1_000_000;

export interface Preview {
  contentType: string;
  bytes: Uint8Array;
  /** whether this is only the beginning of a text */
  isCut: boolean;
}

/**
 * Returns how a browser can show a file without running anything: as an image, a PDF or plain text. The type is found in the bytes, because
 * a sender may call anything an image: what is neither image nor PDF is text, also HTML and SVG. Null when it is binary.
 */
export function makePreview(bytes: Uint8Array): Preview | null {
  const image = detectImageType(bytes);
  if (image !== null) return { contentType: image, bytes, isCut: false };
  if (Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-')
    return { contentType: 'application/pdf', bytes, isCut: false };
  const isCut = bytes.length > MAX_TEXT_PREVIEW_BYTES;
  const text = readText(isCut ? bytes.subarray(0, MAX_TEXT_PREVIEW_BYTES) : bytes, isCut);
  return text === null ? null : { contentType: 'text/plain; charset=utf-8', bytes: Buffer.from(text), isCut };
}

/** Control characters that no text has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const BINARY = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/** Decodes UTF-8 and UTF-16 with a byte order mark, and otherwise Windows-1252. Null when it is no text. */
function readText(bytes: Uint8Array, isCut: boolean): string | null {
  const [first, second] = bytes;
  const utf16 = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : null;
  const text = utf16 === null ? readBytes(bytes, isCut) : new TextDecoder(utf16).decode(bytes);
  return BINARY.test(text) ? null : text.toWellFormed();
}

function readBytes(bytes: Uint8Array, isCut: boolean): string {
  try {
    // With `stream`, a character that was cut is left out.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
