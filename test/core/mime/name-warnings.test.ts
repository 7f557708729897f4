import { describe, expect, test } from 'vitest';
import { findAddressInName, findImitatedName } from '../../../core/mime/name-warnings.ts';

const known = [
  { address: 'ada@friend.test', names: ['Ada Lovelace'], isUser: false },
  { address: 'me@own.test', names: ['Jo Müller'], isUser: true },
  { address: 'help@shop.test', names: ['Support', 'Al'], isUser: false },
];
const imitated = (name: string, address = 'x@evil.test') => findImitatedName(name, address, known);

describe('A display name imitates a known person when it is', () => {
  test.each([
    'Ada Lovelace',
    'ada  LOVELACE',
    'Lovelace, Ada',
    '"Ada" (Lovelace)',
    'Аdа Lоvеlасе',
    'Ada L0velace',
    'Adá Lovelace',
    'Ada Love\u200blace',
  ])('%s', (name) => {
    expect(imitated(name)).toEqual({
      kind: 'imitated_name',
      shown: name,
      actual: 'x@evil.test',
      knownAddress: 'ada@friend.test',
      isUser: false,
    });
  });

  test('the name of the user', () => {
    expect(imitated('Jo Muller')).toMatchObject({ knownAddress: 'me@own.test', isUser: true });
  });
});

test.each([
  ['Ada Lovelace', 'ADA@friend.test'],
  ['Ada Lovelace', 'help@shop.test'],
  ['Ada Byron', 'x@evil.test'],
  ['Ada', 'x@evil.test'],
  ['Support', 'x@evil.test'],
  ['', 'x@evil.test'],
])('%j from %s imitates no one', (name, address) => {
  expect(imitated(name, address)).toBeNull();
});

test.each([
  ['boss@corp.test', 'x@evil.test', 'boss@corp.test'],
  ['The Boss <boss@corp.test>', 'x@evil.test', 'boss@corp.test'],
  ["'boss@corp.test' via List", 'list@lists.test', 'boss@corp.test'],
  ['Boss@Corp.test', 'boss@corp.test', null],
  ['me @ home', 'x@evil.test', null],
  ['@handle', 'x@evil.test', null],
])('The name %j of %s contains the address %j', (name, address, shown) => {
  expect(findAddressInName(name, address)?.shown ?? null).toBe(shown);
});
