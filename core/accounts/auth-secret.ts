import { createHash, createHmac, hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;
/** For how long a link to sign in or to reset a password serves; milliseconds. */
export const SIGN_IN_LINK_LIFE_MS = 24 * 3_600_000;
export const RESET_LINK_LIFE_MS = 3_600_000;

/** Derives from SECRET_KEY what cookies are signed with (RFC 5869): 43 characters. */
export function deriveAuthSecret(secretKey: Uint8Array): string {
  return derive(secretKey, 'postroom auth').toString('base64url');
}

/** Derives from SECRET_KEY the key of `triesKey`. */
export function deriveTriesSecret(secretKey: Uint8Array): Uint8Array {
  return derive(secretKey, 'postroom auth-tries');
}

/** By what tries are counted, `what` being an email address, a network or an account: neither can be read from it. */
export function triesKey(secret: Uint8Array, kind: string, what: string): string {
  return createHmac('sha256', secret).update(`${kind}\0${what}`).digest('base64url');
}

/** Under which a link to sign in is found, by the token that it bears. */
export function signInLinkIdentifier(token: string): string {
  return `sign-in-link:${token}`;
}

/** Where the dashboard takes it. The token stands in the fragment, which browsers send to nobody, so that no log has it. */
export function signInLinkUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/sign-in/link#${token}`;
}

/** As signInLinkUrl, of a link by which a password is set. */
export function resetLinkUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/reset-password#token=${token}`;
}

/** An identifier as auth_verification keeps it, so that nobody learns a token from the table: as better-auth hashes it. */
export function storedIdentifier(identifier: string): string {
  return createHash('sha256').update(identifier).digest('base64url');
}

function derive(secretKey: Uint8Array, purpose: string): Buffer {
  if (secretKey.length !== KEY_BYTES) throw new RangeError(`SECRET_KEY has ${KEY_BYTES} bytes`);
  return Buffer.from(hkdfSync('sha256', secretKey, new Uint8Array(0), purpose, KEY_BYTES));
}
