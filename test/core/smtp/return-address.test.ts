import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import {
  deriveReturnAddressKey,
  isReturnAddress,
  makeReturnAddress,
  readReturnAddress,
} from '../../../core/smtp/return-address.ts';

const key = deriveReturnAddressKey(Buffer.alloc(32, 7));
const id = 'rcp_0195f0c0ffee7abc8def0123456789ab';
const address = makeReturnAddress(key, id, 'mail.example.com');
const token = address.slice('bounce+'.length, address.indexOf('@'));

test('a return address yields its recipient', () => {
  expect(readReturnAddress(key, address)).toBe(id);
  expect(isReturnAddress(address)).toBe(true);
});

test('is stable, because mail in transit contains it', () => {
  expect(address).toMatch(/^bounce\+agk7bqh75z5lzdppaerukz4jvm[a-z2-7]{26}@mail\.example\.com$/);
  expect(makeReturnAddress(key, id, 'mail.example.com')).toBe(address);
});

test('the local-part has at most 64 bytes', () => {
  expect(address.indexOf('@')).toBe(59);
});

test.each([
  ['upper case', address.toUpperCase()],
  ['mixed case', address.replace(/[a-m]/g, (letter) => letter.toUpperCase())],
  ['a domain in other spelling', address.replace('mail.example.com', 'Mail.Example.COM.')],
])('%s makes no difference', (_, given) => {
  expect(readReturnAddress(key, given)).toBe(id);
});

test('every identifier can be decoded, whatever its bytes', () => {
  for (let round = 0; round < 500; round++) {
    const recipient = makeIdentifier('recipient', new Date(round * 1e9), randomBytes(10));
    expect(readReturnAddress(key, makeReturnAddress(key, recipient, 'a.test'))).toBe(recipient);
  }
});

test('a domain beyond ASCII is written in A-labels', () => {
  const made = makeReturnAddress(key, id, 'bücher.example');
  expect(made).toMatch(/@xn--bcher-kva\.example$/);
  expect(readReturnAddress(key, made)).toBe(id);
});

describe('rejects a forged return address', () => {
  const other = deriveReturnAddressKey(Buffer.alloc(32, 8));
  const neighbour = makeReturnAddress(key, 'rcp_0195f0c0ffee7abc8def0123456789ac', 'mail.example.com').slice(7, -17);
  test.each([
    ['made with another key', makeReturnAddress(other, id, 'mail.example.com')],
    ['made for another domain', address.replace('mail.example.com', 'mail.example.org')],
    ['made for a parent domain', address.replace('mail.', '')],
    [
      'one recipient with the signature of another',
      `bounce+${token.slice(0, 26)}${neighbour.slice(26)}@mail.example.com`,
    ],
    ['only an identifier', `bounce+${token.slice(0, 26)}@mail.example.com`],
    ['a signature of zeros', `bounce+${token.slice(0, 26)}${'a'.repeat(26)}@mail.example.com`],
    ['cut by one', `bounce+${token.slice(0, -1)}@mail.example.com`],
    ['longer by one', `bounce+${token}a@mail.example.com`],
    ['digits of no base32', `bounce+${token.slice(0, -2)}01@mail.example.com`],
    ['another prefix', address.replace('bounce+', 'bounces+')],
    ['no prefix', address.replace('bounce+', '')],
    ['rewritten for another server', `prvs=1234567890=${address}`],
    ['no domain', `bounce+${token}@`],
    ['a domain that is none', `bounce+${token}@-`],
    ['two at signs', `bounce+${token}@mail.example.com@evil.test`],
    ['line ends', `${address}\r\n`],
    ['nothing', ''],
    ['a long text', `bounce+${'a'.repeat(100_000)}@mail.example.com`],
  ])('%s', (_, forged) => {
    expect(readReturnAddress(key, forged)).toBeNull();
  });

  test('with any one character changed', () => {
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === 'b' ? 'c' : 'b') + token.slice(at + 1);
      expect(readReturnAddress(key, `bounce+${changed}@mail.example.com`)).toBeNull();
    }
  });

  test('with the spare bits of the last character changed', () => {
    const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
    const last = alphabet.indexOf(token.at(-1) ?? '');
    for (let bits = 1; bits < 16; bits++) {
      const changed = `${token.slice(0, -1)}${alphabet[last ^ bits] ?? ''}`;
      expect(readReturnAddress(key, `bounce+${changed}@mail.example.com`)).toBeNull();
    }
  });
});

test.each([
  ['an email', 'em_0195f0c0ffee7abc8def0123456789ab', 'a.test'],
  ['nothing', '', 'a.test'],
  ['a recipient at no domain', id, 'not a domain'],
])('throws for %s', (_, recipient, domain) => {
  expect(() => makeReturnAddress(key, recipient, domain)).toThrow(RangeError);
});

test('throws for a SECRET_KEY of another length', () => {
  expect(() => deriveReturnAddressKey(Buffer.alloc(16))).toThrow(RangeError);
});
