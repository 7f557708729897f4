/**
 * Returns the beginning of a file that mail programs find in plain text and show as an attachment: uuencode, xxencode, yEnc, BinHex. Null:
 * there is none. Takes linear time.
 */
export function findEncodedFile(text: string): string | null {
  for (const { 0: start, index } of text.matchAll(/^begin(?:-base64)?[ \t]{1,20}[0-7]{3,6}[ \t][^\r\n]{1,200}\r?$/gm)) {
    const next = index + start.length + 1;
    const line = text.slice(next, next + MAX_LINE_LENGTH).split(/\r?\n/, 1)[0] ?? '';
    if (start.startsWith('begin-base64') || isEncodedLine(line)) return start.trim();
  }
  return OTHER.exec(text)?.[0] ?? null;
}

const OTHER = /^(?:=ybegin [^\r\n]{0,200}|\(This file must be converted with BinHex[^\r\n]{0,20})/m;
const MAX_LINE_LENGTH = 100;
const XX_DIGITS = '+-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns whether a line has as many characters as its first one says; programs remove spaces at its end. */
function isEncodedLine(line: string): boolean {
  const isUu = /^[\x20-\x60]+$/.test(line);
  if (isUu && line.length - 1 <= encodedLength((line.charCodeAt(0) - 0x20) & 0x3f) + 2) return true;
  const expected = encodedLength(XX_DIGITS.indexOf(line[0] ?? ' '));
  return /^[+0-9A-Za-z-]+$/.test(line) && Math.abs(line.length - 1 - expected) <= 2;
}

function encodedLength(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}
