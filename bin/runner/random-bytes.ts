import { randomBytes } from 'node:crypto';

const RANDOM_POOL_BYTES = 4_096;
let randomPool = Buffer.alloc(0);

/**
 * Returns bytes from a cryptographic source, each returned once. Reads them in bulk, because one call per identifier costs more than the
 * identifier.
 */
export function drawRandom(count: number): Uint8Array {
  if (count > RANDOM_POOL_BYTES) return randomBytes(count);
  if (randomPool.length < count) randomPool = randomBytes(RANDOM_POOL_BYTES);
  const drawn = randomPool.subarray(0, count);
  randomPool = randomPool.subarray(count);
  return drawn;
}
