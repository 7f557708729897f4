import { createHash } from 'node:crypto';
import { createOTP } from '@better-auth/utils/otp';

/** RFC 6238 §5.2: the length of a step; seconds. */
const STEP_SECONDS = 30;
/** Steps before and after the present one whose codes count, because clocks differ. */
const TOLERATED_STEPS = 1;
const DIGITS = 6;
/** Length of a secret, which is used as text; characters. RFC 4226 §4 recommends 160 bits. */
const SECRET_LENGTH = 32;
/** Recovery codes that a person gets at once. */
const RECOVERY_CODES = 10;
/** 120 bits in base32: from 112 bits on, a hash without a salt suffices (OWASP ASVS 6.5.2). */
const RECOVERY_CODE_LENGTH = 24;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns a new secret of an authenticator app, from 32 random bytes. */
export function makeTotpSecret(random: (bytes: number) => Uint8Array): string {
  return spell(random(SECRET_LENGTH));
}

/** Returns the URL that authenticator apps read, with the secret in it. */
export function totpUrl(secret: string, account: string): string {
  return createOTP(secret, { digits: DIGITS, period: STEP_SECONDS }).url('Postroom', account);
}

/** Returns the secret as authenticator apps take it: base32 (RFC 4648), by hand in groups of four. */
export function spellTotpSecret(url: string): string {
  return (new URL(url).searchParams.get('secret') ?? '').replaceAll(/(.{4})(?=.)/g, '$1 ');
}

/** Returns the step of a code at `now`; null if the code is wrong. A step that was used must not be used again (RFC 6238 §5.2). */
export async function findTotpStep(secret: string, code: string, now: Date): Promise<number | null> {
  const present = Math.floor(now.getTime() / 1_000 / STEP_SECONDS);
  let found: number | null = null;
  for (let step = present - TOLERATED_STEPS; step <= present + TOLERATED_STEPS; step++)
    if ((await createOTP(secret, { digits: DIGITS }).hotp(step)) === code) found = step;
  return found;
}

/** Returns the code of an authenticator app at `at`. */
export function totpCode(secret: string, at: Date): Promise<string> {
  return createOTP(secret, { digits: DIGITS }).hotp(Math.floor(at.getTime() / 1_000 / STEP_SECONDS));
}

/** Returns new recovery codes, such as `abcd-efgh-2345-wxyz-abcd-efgh`. */
export function makeRecoveryCodes(random: (bytes: number) => Uint8Array): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    spell(random(RECOVERY_CODE_LENGTH)).replaceAll(/(.{4})(?=.)/g, '$1-'),
  );
}

/** Returns the digest of a recovery code of a person, as it is stored: case, spaces and dashes make no difference. */
export function hashRecoveryCode(personId: string, code: string): Buffer {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, '');
  return createHash('sha256').update(`recovery-code:${personId}:${plain}`).digest();
}

/** Spells bytes by 5 bits each. */
function spell(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
