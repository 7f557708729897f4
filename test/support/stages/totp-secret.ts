const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns the secret that an authenticator app reads from base32 (RFC 4648), with or without spaces. */
export function readTotpSecret(base32: string): string {
  let bits = '';
  for (const letter of base32.replaceAll(' ', '')) bits += ALPHABET.indexOf(letter).toString(2).padStart(5, '0');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))).toString();
}
