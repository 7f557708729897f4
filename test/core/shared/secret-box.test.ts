import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { keepPreviousKey } from '../../../core/shared/previous-key.ts';
import { decryptSecret, encryptSecret, SecretBoxError, secretKeyId } from '../../../core/shared/secret-box.ts';
import { deriveReplyAddressKey, makeReplyAddress, readReplyAddress } from '../../../core/smtp/reply-address.ts';
import { deriveReturnAddressKey, makeReturnAddress, readReturnAddress } from '../../../core/smtp/return-address.ts';

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

test('what the previous key encrypted and signed still counts, and nothing of a third key does', () => {
  const [before, third] = [Buffer.alloc(32, 1), Buffer.alloc(32, 3)];
  const after = keepPreviousKey(Buffer.alloc(32, 2), before);
  const nonce = Buffer.alloc(12, 4);
  expect(decryptSecret(after, 'dkim-key', encryptSecret(before, 'dkim-key', 'text', nonce))).toBe('text');
  expect(() => decryptSecret(before, 'dkim-key', encryptSecret(after, 'dkim-key', 'text', nonce))).toThrow();
  expect(() => decryptSecret(after, 'dkim-key', encryptSecret(third, 'dkim-key', 'text', nonce))).toThrow();
  const id = `rcp_${'0'.repeat(32)}`;
  const read = (key: Uint8Array) =>
    readReturnAddress(deriveReturnAddressKey(after), makeReturnAddress(deriveReturnAddressKey(key), id, 'a.test'));
  expect([read(before), read(after), read(third)]).toEqual([id, id, null]);
  const reply = { id: `rpl_${'0'.repeat(32)}`, expiresAt: null };
  const readReply = (key: Uint8Array) =>
    readReplyAddress(deriveReplyAddressKey(after), makeReplyAddress(deriveReplyAddressKey(key), reply, 'a.test'));
  expect([readReply(before), readReply(after), readReply(third)]).toEqual([reply, reply, null]);
});
