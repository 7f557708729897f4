import { hash } from 'node:crypto';

/*
 * A claim says who answers a thread: its holder, until it expires, is released, or another holder takes the thread. It stops no one: only a
 * reply that names a claim is refused when the claim is lost.
 */

/** How long a claim holds, in seconds: by default, and the bounds of what a holder may ask for. */
export const DEFAULT_CLAIM_SECONDS = 300;
export const MIN_CLAIM_SECONDS = 10;
export const MAX_CLAIM_SECONDS = 86_400;
/** Maximum length of a holder's name; characters (code points). */
export const MAX_HOLDER_LENGTH = 100;
/** Random bytes of a token. */
export const CLAIM_TOKEN_BYTES = 16;

/** Why a claim ended: its holder released it, its time was over, or its thread was merged into one with another claim. */
export type ClaimEnd = 'released' | 'expired' | 'merged';

/** Returns the name of a holder in its stored form: NFC, trimmed. Null when it is empty, too long, or has control characters. */
export function normalizeHolder(text: string): string | null {
  if (!text.isWellFormed()) return null;
  const holder = text.normalize('NFC').trim();
  const { length } = Array.from(holder);
  return length === 0 || length > MAX_HOLDER_LENGTH || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(holder) ? null : holder;
}

/** Returns whether a claim may hold that long. */
export function isClaimTime(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= MIN_CLAIM_SECONDS && seconds <= MAX_CLAIM_SECONDS;
}

/** Returns the token of a claim. `random` has CLAIM_TOKEN_BYTES bytes from a cryptographic source. */
export function makeClaimToken(random: Uint8Array): string {
  return `clm_${Buffer.from(random).toString('hex')}`;
}

/** Returns what is stored of a token. */
export function claimTokenSha256(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
