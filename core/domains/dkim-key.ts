/** A DKIM key pair of a domain (RFC 6376), as stored. */
export interface DkimKey {
  selector: string;
  /** PKCS #8 in PEM, encrypted for the purpose `dkim-key` (core/shared/secret-box.ts) */
  privateKeyCiphertext: string;
  /** SubjectPublicKeyInfo in base64, as in the `p=` tag of the record (RFC 6376 §3.6.1) */
  publicKey: string;
}

/** Bits of the RSA modulus: RFC 8301 §3.2 recommends 2048 for signers. */
export const DKIM_KEY_BITS = 2048;
/** Random bytes that makeDkimSelector needs. */
export const SELECTOR_BYTES = 4;

/**
 * Returns a selector for a new key: its date and eight random digits, so that keys of one domain never share a selector, even if several
 * users claim the domain. Lower case, because DNS compares selectors without case (RFC 6376 §3.1).
 */
export function makeDkimSelector(at: Date, random: Uint8Array): string {
  if (random.length !== SELECTOR_BYTES) throw new RangeError(`a selector needs ${SELECTOR_BYTES} random bytes`);
  const day = at.toISOString().slice(0, 10).replaceAll('-', '');
  return `pr${day}-${Buffer.from(random).toString('hex')}`;
}

/** Returns the DNS name of a selector's public key (RFC 6376 §3.6.2.1). */
export function dkimRecordName(selector: string, domain: string): string {
  return `${selector}._domainkey.${domain}`;
}

/** Returns the record's value (RFC 6376 §3.6.1) as one text; DNS splits it into strings of at most 255 bytes. */
export function dkimRecordValue(publicKey: string): string {
  return `v=DKIM1; k=rsa; p=${publicKey}`;
}
