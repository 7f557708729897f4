import type { ScreenedMail } from '../../../core/screening/screened-mail.ts';

/** A mail written to test the screening. */
export interface MailCase {
  name: string;
  mail: ScreenedMail;
}

/** Fields that a case gives; the others are those of an ordinary mail. */
type Given = Partial<ScreenedMail>;

/** Returns a case. `given`: HTML when it begins with `<`, else plain text; or several fields. */
export function mailCase(name: string, given: string | Given): MailCase {
  const fields: Given = typeof given !== 'string' ? given : given.startsWith('<') ? { html: given } : { text: given };
  return { name, mail: { subject: 'Hello', text: null, html: null, fileNames: [], ...fields } };
}

/** Returns the text in tag characters, which no reader sees. */
export function inTagCharacters(text: string): string {
  return Array.from(text, (each) => String.fromCodePoint(0xe0000 + (each.codePointAt(0) ?? 0))).join('');
}

/** Returns the text as bits of two invisible characters. */
export function inZeroWidthBits(text: string): string {
  const bits = Array.from(Buffer.from(text), (byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replaceAll('0', '\u200b').replaceAll('1', '\u200c');
}

/** Returns the bytes of the text as variation selectors. */
export function inVariationSelectors(text: string): string {
  return Array.from(Buffer.from(text), (byte) =>
    String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16),
  ).join('');
}

export function inBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

export function inHex(text: string): string {
  return Buffer.from(text).toString('hex');
}

export function inRot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}
