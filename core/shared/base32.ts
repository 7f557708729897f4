/** RFC 4648 §6, lower case without padding, because local-parts are often compared and stored without case. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns the characters that encode this many bytes. */
export function base32Length(bytes: number): number {
  return Math.ceil((bytes * 8) / 5);
}

export function toBase32(bytes: Buffer): string {
  let text = '';
  for (let bit = 0; bit < bytes.length * 8; bit += 5) {
    const at = bit >> 3;
    const pair = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    text += ALPHABET[(pair >> (11 - (bit & 7))) & 31] ?? '';
  }
  return text;
}

/** Decodes lower-case text of the alphabet. Unused bits are ignored, so a signature is checked on the text. */
export function fromBase32(text: string): Buffer {
  const bytes = Buffer.alloc((text.length * 5) >> 3);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const character of text) {
    held = ((held << 5) | ALPHABET.indexOf(character)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = held >> bits;
  }
  return bytes;
}
