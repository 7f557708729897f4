import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { acceptedKeys } from './previous-key.ts';

/** Purpose of a derived key; a ciphertext can be decrypted only for the purpose it was encrypted for. */
export type SecretPurpose =
  | 'webhook-secret'
  | 'dkim-key'
  | 'canary'
  | 'unsubscribe'
  | 'provider-secret'
  | 'totp-secret';

/** The ciphertext was encrypted with another SECRET_KEY or for another purpose, or was changed. Does not contain its content. */
export class SecretBoxError extends Error {
  override name = 'SecretBoxError';
}

/** Length of SECRET_KEY in bytes; RFC 5869 requires only that it is hard to guess. */
const SECRET_KEY_BYTES = 32;
/** NIST SP 800-38D §8.2: a nonce of 96 bits, never used twice with one key. */
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 6;
const VERSION = 'v1';

/**
 * Encrypts a text under SECRET_KEY by AES-256-GCM with a key derived per purpose (HKDF-SHA256, RFC 5869). `nonce` is 12 bytes from a
 * cryptographic source, new for each call. Returns `v1.KEYID.BASE64URL`, suitable for a text column.
 */
export function encryptSecret(
  secretKey: Uint8Array,
  purpose: SecretPurpose,
  plaintext: string,
  nonce: Uint8Array,
): string {
  if (nonce.length !== NONCE_BYTES) throw new RangeError(`a nonce has ${NONCE_BYTES} bytes`);
  const head = `${VERSION}.${secretKeyId(secretKey)}`;
  const cipher = createCipheriv('aes-256-gcm', derive(secretKey, purpose, SECRET_KEY_BYTES), nonce);
  cipher.setAAD(Buffer.from(`${head}.${purpose}`));
  const sealed = Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${head}.${sealed.toString('base64url')}`;
}

/** Decrypts a result of encryptSecret, also one of the key that this one replaces. Throws SecretBoxError when key, purpose or bytes do not match. */
export function decryptSecret(secretKey: Uint8Array, purpose: SecretPurpose, ciphertext: string): string {
  const [version, keyId, body, ...rest] = ciphertext.split('.');
  if (version !== VERSION || keyId === undefined || body === undefined || rest.length > 0)
    throw new SecretBoxError('not a ciphertext of Postroom');
  const ownKey = acceptedKeys(secretKey).find((each) => secretKeyId(each) === keyId);
  if (ownKey === undefined) throw new SecretBoxError('encrypted with another SECRET_KEY');
  const sealed = Buffer.from(body, 'base64url');
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new SecretBoxError('the ciphertext is truncated');
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const key = derive(ownKey, purpose, SECRET_KEY_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(`${version}.${keyId}.${purpose}`));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const opened = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    return opened.toString('utf8');
  } catch (cause) {
    throw new SecretBoxError('the ciphertext does not match its key or purpose', { cause });
  }
}

/** Returns an id of a SECRET_KEY that reveals nothing about it: 12 hex digits. */
export function secretKeyId(secretKey: Uint8Array): string {
  return derive(secretKey, 'key-id', KEY_ID_BYTES).toString('hex');
}

function derive(secretKey: Uint8Array, purpose: string, bytes: number): Buffer {
  if (secretKey.length !== SECRET_KEY_BYTES) throw new RangeError(`SECRET_KEY has ${SECRET_KEY_BYTES} bytes`);
  return Buffer.from(hkdfSync('sha256', secretKey, new Uint8Array(0), `postroom ${purpose}`, bytes));
}
