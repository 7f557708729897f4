import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { DAY_MS } from '../shared/durations.ts';

const KEY_BYTES = 32;
/** How long a sign-in link and a password reset link are valid; milliseconds. */
export const SIGN_IN_LINK_LIFE_MS = DAY_MS;
/** How long an invitation is valid; milliseconds. */
export const INVITATION_LIFE_MS = 7 * DAY_MS;
export const RESET_LINK_LIFE_MS = 3_600_000;

/** Derives the key that signs cookies from SECRET_KEY (RFC 5869): 43 characters. */
export function deriveAuthSecret(secretKey: Uint8Array): string {
  return derive(secretKey, 'postroom auth').toString('base64url');
}

/** Derives the secret of `providerToken` from SECRET_KEY. */
export function deriveProviderSecret(secretKey: Uint8Array): Uint8Array {
  return derive(secretKey, 'postroom provider sign-in');
}

/**
 * Returns a secret of one sign-in by single sign-on, which follows from its state: the nonce, the PKCE verifier, or the cookie of the browser
 * that started it. 43 characters, so that none of them has to be stored.
 */
export function providerToken(secret: Uint8Array, purpose: 'nonce' | 'verifier' | 'browser', state: string): string {
  return createHmac('sha256', secret).update(`${purpose}\0${state}`).digest('base64url');
}

/** Derives the secret of the cookies that mark the browsers of a person. */
export function deriveDeviceSecret(secretKey: Uint8Array): Uint8Array {
  return derive(secretKey, 'postroom device');
}

/** Derives the secret of the keys and codes of agents that sign up. */
export function deriveAgentSecret(secretKey: Uint8Array): Uint8Array {
  return derive(secretKey, 'postroom agent sign-up');
}

/** Derives the secret of `triesKey` from SECRET_KEY. */
export function deriveTriesSecret(secretKey: Uint8Array): Uint8Array {
  return derive(secretKey, 'postroom auth-tries');
}

/**
 * Returns the key under which sign-in attempts are counted. `what` is an email address, a network or an account; it cannot be read from
 * the key.
 */
export function triesKey(secret: Uint8Array, kind: string, what: string): string {
  return createHmac('sha256', secret).update(`${kind}\0${what}`).digest('base64url');
}

/** Returns the identifier of a sign-in link with this token. */
export function signInLinkIdentifier(token: string): string {
  return `sign-in-link:${token}`;
}

/** Returns the URL of a sign-in link. The token is in the fragment, which browsers do not send to servers, so it never reaches a log. */
export function signInLinkUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/sign-in/link#${token}`;
}

/** Like signInLinkUrl, for a link that resets a password. */
export function resetLinkUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/reset-password#token=${token}`;
}

/** Like signInLinkUrl, for an invitation to a workspace. */
export function invitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/invitation#${token}`;
}

/** Hashes the token of an invitation as workspace_invitation stores it. */
export function hashInvitationToken(token: string): Buffer {
  return createHash('sha256').update(`invitation:${token}`).digest();
}

/** Hashes an identifier as better-auth stores it in auth_verification, so that the table does not reveal tokens. */
export function storedIdentifier(identifier: string): string {
  return createHash('sha256').update(identifier).digest('base64url');
}

function derive(secretKey: Uint8Array, purpose: string): Buffer {
  if (secretKey.length !== KEY_BYTES) throw new RangeError(`SECRET_KEY has ${KEY_BYTES} bytes`);
  return Buffer.from(hkdfSync('sha256', secretKey, new Uint8Array(0), purpose, KEY_BYTES));
}
