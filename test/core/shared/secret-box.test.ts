import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { decryptSecret, encryptSecret, SecretBoxError, secretKeyId } from '../../../core/shared/secret-box.ts';

const key = randomBytes(32);

test('decrypts a ciphertext with the same key and purpose', () => {
  const ciphertext = encryptSecret(key, 'webhook-secret', 'whsec_äöü', randomBytes(12));
  expect(decryptSecret(key, 'webhook-secret', ciphertext)).toBe('whsec_äöü');
  expect(ciphertext).toMatch(/^v1\.[0-9a-f]{12}\.[A-Za-z0-9_-]+$/);
  expect(ciphertext).toContain(secretKeyId(key));
});

test('decrypts what earlier versions stored', () => {
  const [fixedKey, nonce] = [Buffer.alloc(32, 7), Buffer.alloc(12, 3)];
  const stored = 'v1.52007e22baa8.AwMDAwMDAwMDAwMDEvvOFwIrE6rwRUbnphF7FlKvAwMXpIuYOKLpUQ';
  expect(encryptSecret(fixedKey, 'webhook-secret', 'whsec_äöü', nonce)).toBe(stored);
  expect(decryptSecret(fixedKey, 'webhook-secret', stored)).toBe('whsec_äöü');
});

test('says that the key is another one', () => {
  const ciphertext = encryptSecret(key, 'webhook-secret', 'secret', randomBytes(12));
  expect(() => decryptSecret(randomBytes(32), 'webhook-secret', ciphertext)).toThrow(
    new SecretBoxError('encrypted with another SECRET_KEY'),
  );
});

test('rejects another key, another purpose and a changed byte', () => {
  const ciphertext = encryptSecret(key, 'webhook-secret', 'secret', randomBytes(12));
  expect(() => decryptSecret(randomBytes(32), 'webhook-secret', ciphertext)).toThrow(SecretBoxError);
  expect(() => decryptSecret(key, 'canary', ciphertext)).toThrow(SecretBoxError);
  const at = ciphertext.length - 8;
  const changed = ciphertext.slice(0, at) + (ciphertext[at] === 'A' ? 'B' : 'A') + ciphertext.slice(at + 1);
  expect(() => decryptSecret(key, 'webhook-secret', changed)).toThrow(SecretBoxError);
});

test.each(['', 'v1', 'v1.x.y', 'v2.a.b', `v1.${secretKeyId(key)}.AAAA`, 'a.b.c.d'])('%j is refused', (text) => {
  expect(() => decryptSecret(key, 'canary', text)).toThrow(SecretBoxError);
});

test('throws for a key or nonce of another length', () => {
  expect(() => encryptSecret(randomBytes(16), 'canary', 'x', randomBytes(12))).toThrow(RangeError);
  expect(() => encryptSecret(key, 'canary', 'x', randomBytes(8))).toThrow(RangeError);
});

test('equal texts have different ciphertexts', () => {
  expect(encryptSecret(key, 'canary', 'x', randomBytes(12))).not.toBe(
    encryptSecret(key, 'canary', 'x', randomBytes(12)),
  );
});
