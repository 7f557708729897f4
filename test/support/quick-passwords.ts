import crypto, { type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/**
 * vitest setupFiles: within the processes of the tests, hashes of passwords cost 64 rounds instead of 16,384. Hundreds of sign-ins would
 * otherwise take longer than everything else these tests do. Processes of the service hash as always, so a password that is stored by a
 * test does not work there.
 */
const { scrypt } = crypto;
const QUICK_ROUNDS = 64;
const PRODUCT_ROUNDS = 16_384;

type Done = (error: Error | null, key: Buffer) => void;

function scryptQuickly(password: string, salt: string, length: number, options: ScryptOptions, done: Done): void {
  scrypt(password, salt, length, options.N === PRODUCT_ROUNDS ? { ...options, N: QUICK_ROUNDS } : options, done);
}

// Files that share a process run this again.
if (scrypt.name !== scryptQuickly.name) {
  crypto.scrypt = scryptQuickly as typeof crypto.scrypt;
  syncBuiltinESMExports();
}
