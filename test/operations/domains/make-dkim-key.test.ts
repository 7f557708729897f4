import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { UserError } from '../../../core/shared/errors.ts';
import { decryptSecret } from '../../../core/shared/secret-box.ts';
import { makeDkimKey } from '../../../operations/domains/make-dkim-key.ts';

const secretKey = randomBytes(32);
const parts = {
  secretKey,
  now: () => new Date('2026-11-07T12:00:00Z'),
  random: (bytes: number) => randomBytes(bytes),
};

test('a key has 2048 bits, is decrypted only for its purpose, and its halves belong together', async () => {
  const key = await makeDkimKey(parts);
  expect(key.selector).toMatch(/^pr20261107-[0-9a-f]{8}$/);
  const published = createPublicKey({ key: Buffer.from(key.publicKey, 'base64'), format: 'der', type: 'spki' });
  expect(published.asymmetricKeyDetails?.modulusLength).toBe(2048);
  const pem = decryptSecret(secretKey, 'dkim-key', key.privateKeyCiphertext);
  expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  expect(createPublicKey(createPrivateKey(pem)).equals(published)).toBe(true);
  expect(() => decryptSecret(secretKey, 'webhook-secret', key.privateKeyCiphertext)).toThrow();
  expect(() => decryptSecret(randomBytes(32), 'dkim-key', key.privateKeyCiphertext)).toThrow();
});

test('rejects requests for keys above a limit, and serves the next one', async () => {
  const settled = await Promise.allSettled(Array.from({ length: 22 }, () => makeDkimKey(parts)));
  const refused = settled.filter((one) => one.status === 'rejected');
  expect(refused.map(({ reason }) => reason instanceof UserError && reason.code)).toEqual([
    'unavailable',
    'unavailable',
  ]);
  const keys = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(new Set(keys.map(({ selector }) => selector)).size).toBe(20);
  await expect(makeDkimKey(parts)).resolves.toBeDefined();
});
