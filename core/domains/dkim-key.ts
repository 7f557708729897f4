/** A key pair that mail of a domain is signed with (RFC 6376), in the forms in which it is stored. */
export interface DkimKey {
  selector: string;
  /** PKCS #8 in PEM, encrypted for the purpose `dkim-key` (core/shared/secret-box.ts) */
  privateKeyCiphertext: string;
  /** SubjectPublicKeyInfo in base64, as the `p=` of the record wants it (RFC 6376 §3.6.1) */
  publicKey: string;
}

/** Bits of the RSA modulus: RFC 8301 §3.2 asks signers for 2048. */
export const DKIM_KEY_BITS = 2048;
/** Bytes that makeDkimSelector takes from a cryptographic source. */
export const SELECTOR_BYTES = 4;

/**
 * A name for a new key: its day and eight random digits, so that keys of one domain never share a name, though several users may have
 * claimed the domain. In lower case, as selectors are compared by DNS (RFC 6376 §3.1).
 */
export function makeDkimSelector(at: Date, random: Uint8Array): string {
  if (random.length !== SELECTOR_BYTES) throw new RangeError(`a selector takes ${SELECTOR_BYTES} random bytes`);
  const day = at.toISOString().slice(0, 10).replaceAll('-', '');
  return `pr${day}-${Buffer.from(random).toString('hex')}`;
}

/** Where the public key of a selector is published (RFC 6376 §3.6.2.1). */
export function dkimRecordName(selector: string, domain: string): string {
  return `${selector}._domainkey.${domain}`;
}

/** What is published there (RFC 6376 §3.6.1), as one text; in DNS it is cut in strings of at most 255 bytes. */
export function dkimRecordValue(publicKey: string): string {
  return `v=DKIM1; k=rsa; p=${publicKey}`;
}
