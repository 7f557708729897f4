import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { DKIM_KEY_BITS, type DkimKey, makeDkimSelector, SELECTOR_BYTES } from '../../core/domains/dkim-key.ts';
import { UserError } from '../../core/shared/errors.ts';
import { encryptSecret, NONCE_BYTES } from '../../core/shared/secret-box.ts';

export interface DkimKeyParts {
  /** see core/shared/secret-box.ts */
  secretKey: Uint8Array;
  now: () => Date;
  /** returns that many bytes from a cryptographic source */
  random: (bytes: number) => Uint8Array;
}

/**
 * Generating a key takes 0.1 seconds or more of one core, so keys are made one at a time, and requests beyond this
 * queue length are rejected.
 */
const MAX_WAITING = 20;

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/** Generates a key pair off the main thread. Throws unavailable when the queue is full. */
export async function makeDkimKey(parts: DkimKeyParts): Promise<DkimKey> {
  if (waiting >= MAX_WAITING) throw new UserError('unavailable', 'Too many domains are being added');
  waiting++;
  const pair = last.then(() => generatePair('rsa', PAIR_OPTIONS)).finally(() => waiting--);
  last = pair.catch(() => undefined);
  const { privateKey, publicKey } = await pair;
  return {
    selector: makeDkimSelector(parts.now(), parts.random(SELECTOR_BYTES)),
    privateKeyCiphertext: encryptSecret(parts.secretKey, 'dkim-key', privateKey, parts.random(NONCE_BYTES)),
    publicKey: publicKey.toString('base64'),
  };
}

const generatePair = promisify(generateKeyPair);
const PAIR_OPTIONS = {
  modulusLength: DKIM_KEY_BITS,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const;
