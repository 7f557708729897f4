import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import type { Scope } from './key-rights.ts';

/** The rights that a browser token can have. */
export const BROWSER_RIGHTS = ['read', 'send'] as const satisfies readonly Scope[];
export type BrowserRight = (typeof BROWSER_RIGHTS)[number];

/** Seconds that a token is valid. */
export const MIN_TOKEN_SECONDS = 60;
export const MAX_TOKEN_SECONDS = 86_400;
export const DEFAULT_TOKEN_SECONDS = 900;
/** Addresses, and origins, of one token. */
export const MAX_TOKEN_ENTRIES = 20;
/** Longer texts are no tokens. Characters. */
const MAX_TOKEN_LENGTH = 8_192;
const KEY_BYTES = 32;
const AUDIENCE = 'postroom browser';
/** Before the 32 bytes of a private key of Ed25519 in PKCS #8 (RFC 8410 §7). */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** What a browser token says. */
const claimsShape = z.strictObject({
  /** issuer: PUBLIC_URL */
  iss: z.string(),
  aud: z.literal(AUDIENCE),
  /** the workspace */
  sub: z.string(),
  /** seconds since the epoch */
  iat: z.int(),
  exp: z.int(),
  /** the API key that created it, and the workspace of that key */
  key: z.string(),
  parent: z.string(),
  rights: z.array(z.enum(BROWSER_RIGHTS)),
  /** the only addresses, in lower case; null: the whole workspace */
  addresses: z.array(z.string()).nullable(),
  /** of the pages that may use it */
  origins: z.array(z.string()),
});
export type BrowserTokenClaims = Omit<z.output<typeof claimsShape>, 'iss' | 'aud'>;

/** Signs and reads tokens. */
export interface BrowserTokens {
  sign(claims: BrowserTokenClaims): string;
  /** Returns what a token says; null when its signature, form or time is not valid. */
  read(token: string, now: Date): BrowserTokenClaims | null;
}

/**
 * Returns what signs and reads browser tokens: JWTs (RFC 7519) signed with Ed25519 (EdDSA, RFC 8037), whose key is derived from SECRET_KEY
 * (RFC 5869). The header of a token must be the one that is written here, so that it chooses neither algorithm nor key.
 */
export function openBrowserTokens(secretKey: Uint8Array, issuer: string): BrowserTokens {
  if (secretKey.length !== KEY_BYTES) throw new RangeError(`SECRET_KEY has ${KEY_BYTES} bytes`);
  const seed = Buffer.from(hkdfSync('sha256', secretKey, new Uint8Array(0), 'postroom browser-token', KEY_BYTES));
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const header = encode({ alg: 'EdDSA', typ: 'JWT', kid: keyId(publicKey) });
  return {
    sign(claims) {
      const signed = `${header}.${encode({ iss: issuer, aud: AUDIENCE, ...claims })}`;
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
    },
    read(token, now) {
      if (!isBrowserToken(token)) return null;
      const [given, payload = '', signature = '', ...rest] = token.split('.');
      if (given !== header || rest.length > 0) return null;
      const bytes = Buffer.from(signature, 'base64url');
      // One token has one spelling.
      if (bytes.toString('base64url') !== signature) return null;
      if (!verify(null, Buffer.from(`${given}.${payload}`), publicKey, bytes)) return null;
      const claims = claimsShape.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
      if (!claims.success) return null;
      const { iss, aud: _, ...read } = claims.data;
      const seconds = now.getTime() / 1_000;
      const isTimely = read.exp > seconds && read.exp - read.iat <= MAX_TOKEN_SECONDS;
      return iss === issuer && isTimely ? read : null;
    },
  };
}

/** Returns whether a credential has the form of a browser token, which no API key has. */
export function isBrowserToken(credential: string): boolean {
  return credential.length <= MAX_TOKEN_LENGTH && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential);
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function keyId(publicKey: KeyObject): string {
  const der = publicKey.export({ format: 'der', type: 'spki' });
  return createHash('sha256').update(der).digest('base64url').slice(0, 11);
}
