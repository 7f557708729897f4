import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { DKIM_KEY_BITS, type DkimKey, makeDkimSelector, SELECTOR_OCTETS } from '../../core/domains/dkim-key.ts';
import { UserError } from '../../core/shared/errors.ts';
import { encryptSecret, NONCE_OCTETS } from '../../core/shared/secret-box.ts';

export interface DkimKeyParts {
  /** see core/shared/secret-box.ts */
  secretKey: Uint8Array;
  now: () => Date;
  /** octets from a cryptographic source */
  random: (octets: number) => Uint8Array;
}

/** A key takes a tenth of a second or more of one core, so they are made one by one, and a crowd of requests is turned away. */
const MAX_WAITING = 20;

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/** Makes a key pair, off this thread. Throws unavailable when too many are being made. */
export async function makeDkimKey(parts: DkimKeyParts): Promise<DkimKey> {
  if (waiting >= MAX_WAITING) throw new UserError('unavailable', 'Too many domains are being added');
  waiting++;
  const pair = last.then(() => generatePair('rsa', PAIR_OPTIONS)).finally(() => waiting--);
  last = pair.catch(() => undefined);
  const { privateKey, publicKey } = await pair;
  return {
    selector: makeDkimSelector(parts.now(), parts.random(SELECTOR_OCTETS)),
    privateKeyCiphertext: encryptSecret(parts.secretKey, 'dkim-key', privateKey, parts.random(NONCE_OCTETS)),
    publicKey: publicKey.toString('base64'),
  };
}

const generatePair = promisify(generateKeyPair);
const PAIR_OPTIONS = {
  modulusLength: DKIM_KEY_BITS,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const;
