const OCTETS = 16;

/** 128 random bits as hexadecimal text. crypto.randomUUID is there on https and localhost only. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(OCTETS)), (octet) =>
    octet.toString(16).padStart(2, '0'),
  ).join('');
}
