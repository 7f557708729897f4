import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { canonicalAddress } from '../../../core/domains/domain-name.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import {
  canonicalSender,
  deriveReplyAddressKey,
  isSenderAllowed,
  makeReplyAddress,
  readReplyAddress,
} from '../../../core/smtp/reply-address.ts';

const key = deriveReplyAddressKey(Buffer.alloc(32, 7));
const id = 'rpl_0195f0c0ffee7abc8def0123456789ab';
const expiresAt = new Date('2027-01-31T12:00:00.123Z');
const address = makeReplyAddress(key, { id, expiresAt }, 'mail.example.com');

test('a reply address yields its identifier and its expiry time to the millisecond', () => {
  expect(readReplyAddress(key, address)).toEqual({ id, expiresAt });
  const lasting = makeReplyAddress(key, { id, expiresAt: null }, 'mail.example.com');
  expect(readReplyAddress(key, lasting)).toEqual({ id, expiresAt: null });
});

test('the local-part has 64 bytes and is an address that mail can be sent to', () => {
  expect(address.indexOf('@')).toBe(64);
  expect(canonicalAddress(address)?.address).toBe(address);
});

test('is stable, because mail in transit contains it', () => {
  expect(address).toMatch(/^reply\+agk7bqh75z5lzdppaerukz4jvm[a-z2-7]{32}@mail\.example\.com$/);
  expect(makeReplyAddress(key, { id, expiresAt }, 'Mail.Example.COM.')).toBe(address);
});

test.each([
  ['upper case', address.toUpperCase()],
  ['a domain in other spelling', address.replace('mail.example.com', 'Mail.Example.COM.')],
])('%s makes no difference', (_, given) => {
  expect(readReplyAddress(key, given)).toEqual({ id, expiresAt });
});

test('every identifier and expiry time can be decoded', () => {
  for (let round = 0; round < 200; round++) {
    const token = {
      id: makeIdentifier('replyAddress', new Date(round * 1e9), randomBytes(10)),
      expiresAt: new Date(1 + round * 1e10),
    };
    expect(readReplyAddress(key, makeReplyAddress(key, token, 'a.test'))).toEqual(token);
  }
});

test('a change of any character, of the domain or of the key makes it an ordinary address', () => {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  for (let at = 'reply+'.length; at < 64; at++)
    for (const letter of alphabet) {
      if (letter === address[at]) continue;
      expect(readReplyAddress(key, address.slice(0, at) + letter + address.slice(at + 1))).toBeNull();
    }
  expect(readReplyAddress(key, address.replace('mail.', 'mall.'))).toBeNull();
  expect(readReplyAddress(deriveReplyAddressKey(Buffer.alloc(32, 8)), address)).toBeNull();
  for (const other of [
    'reply@mail.example.com',
    'reply+tag@mail.example.com',
    `x${address}`,
    address.replace('@', 'a@'),
  ])
    expect(readReplyAddress(key, other)).toBeNull();
});

test('only identifiers of reply addresses and valid domains make a reply address', () => {
  expect(() => makeReplyAddress(key, { id: id.replace('rpl', 'rcp'), expiresAt }, 'a.test')).toThrow(RangeError);
  expect(() => makeReplyAddress(key, { id, expiresAt }, 'no domain')).toThrow(RangeError);
});

test.each([
  [['ada@example.org'], 'Ada@Example.org', true],
  [['ada@example.org'], 'ada+tag@example.org', false],
  [['example.org'], 'anyone@EXAMPLE.org', true],
  [['example.org'], 'anyone@sub.example.org', false],
  [['example.org', 'bob@other.test'], 'bob@other.test', true],
  [['example.org'], '', false],
  [['example.org'], 'not an address', false],
  [[], '', true],
])('of the senders %j, %s is allowed: %s', (senders, sender, isAllowed) => {
  expect(isSenderAllowed(senders, sender)).toBe(isAllowed);
});

test.each([
  ['Ada@Example.org', 'ada@example.org'],
  ['Bücher.example', 'xn--bcher-kva.example'],
  ['no domain', null],
  ['@example.org', null],
  ['a@b', null],
])('%s is stored as the sender %s', (text, stored) => {
  expect(canonicalSender(text)).toBe(stored);
});
