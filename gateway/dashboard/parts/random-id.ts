const OCTETS = 16;

/** Returns 128 random bits in hex. crypto.randomUUID exists only on https and localhost. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(OCTETS)), (octet) =>
    octet.toString(16).padStart(2, '0'),
  ).join('');
}
