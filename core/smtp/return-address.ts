import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { canonicalDomainName } from '../domains/domain-name.ts';
import { base32Length, fromBase32, toBase32 } from '../shared/base32.ts';
import { hmacKey } from '../shared/hmac-key.ts';
import { isIdentifier } from '../shared/identifiers.ts';
import { acceptedKeys, deriveKeys } from '../shared/previous-key.ts';

const KEY_BYTES = 32;
const IDENTIFIER_BYTES = 16;
/** 128 bits: cannot be guessed by sending mail. */
const SIGNATURE_BYTES = 16;
const PREFIX = 'bounce+';
const TOKEN_LENGTH = base32Length(IDENTIFIER_BYTES + SIGNATURE_BYTES);

/** Derives the key that signs return addresses from SECRET_KEY (RFC 5869); call it once. */
export function deriveReturnAddressKey(secretKey: Uint8Array): Uint8Array {
  if (secretKey.length !== KEY_BYTES) throw new RangeError(`SECRET_KEY has ${KEY_BYTES} bytes`);
  return deriveKeys(
    secretKey,
    (each) => new Uint8Array(hkdfSync('sha256', each, new Uint8Array(0), 'postroom return-address', KEY_BYTES)),
  );
}

/**
 * Returns the reverse-path of a message: `bounce+TOKEN@DOMAIN`, 59 bytes before the at sign (RFC 5321 §4.5.3.1.1 allows 64). The token
 * contains the recipient's identifier and a signature over it and the domain, so that a DSN finds its row and cannot be forged. Throws
 * RangeError when the identifier is not a recipient's or the domain is invalid.
 */
export function makeReturnAddress(key: Uint8Array, recipientId: string, domain: string): string {
  const name = canonicalDomainName(domain);
  if (name === null || !isIdentifier('recipient', recipientId))
    throw new RangeError('a return address needs the identifier of a recipient and a domain');
  const identifier = Buffer.from(recipientId.slice(-2 * IDENTIFIER_BYTES), 'hex');
  return `${PREFIX}${toBase32(signed(key, identifier, name))}@${name}`;
}

/** Returns whether an address has the form of a return address; readReturnAddress verifies it. */
export function isReturnAddress(address: string): boolean {
  return RETURN_ADDRESS.test(address);
}

/** Returns the recipient identifier of a return address; null when it is not one of ours. Case does not matter. */
export function readReturnAddress(key: Uint8Array, address: string): string | null {
  const match = RETURN_ADDRESS.exec(address);
  const token = match?.[1]?.toLowerCase();
  const domain = canonicalDomainName(match?.[2] ?? '');
  if (token === undefined || domain === null) return null;
  const identifier = fromBase32(token).subarray(0, IDENTIFIER_BYTES);
  // The address is generated again and compared as text, which also covers unused bits of the encoding.
  const isOwn = acceptedKeys(key).some((each) =>
    timingSafeEqual(Buffer.from(toBase32(signed(each, identifier, domain))), Buffer.from(token)),
  );
  return isOwn ? `rcp_${identifier.toString('hex')}` : null;
}

const RETURN_ADDRESS = new RegExp(`^bounce\\+([a-z2-7]{${TOKEN_LENGTH}})@([^@\\s]{1,254})$`, 'i');

function signed(key: Uint8Array, identifier: Buffer, domain: string): Buffer {
  const signature = createHmac('sha256', hmacKey(key)).update(identifier).update(domain).digest();
  return Buffer.concat([identifier, signature.subarray(0, SIGNATURE_BYTES)]);
}
