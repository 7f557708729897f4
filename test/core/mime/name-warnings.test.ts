import { domainToASCII } from 'node:url';
import { describe, expect, test } from 'vitest';
import { findAddressInName, findImitatedName, findLookalikeDomain } from '../../../core/mime/name-warnings.ts';

const known = [
  { address: 'ada@friend.test', names: ['Ada Lovelace'], isUser: false },
  { address: 'me@own.test', names: ['Jo Müller'], isUser: true },
  { address: 'help@shop.test', names: ['Support', 'Al'], isUser: false },
];
const imitated = (name: string, address = 'x@evil.test') => findImitatedName(name, address, known);

describe('a display name imitates a known person when it is', () => {
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
])('the name %j of %s contains the address %j', (name, address, shown) => {
  expect(findAddressInName(name, address)?.shown ?? null).toBe(shown);
});

describe('the domain of a sender', () => {
  // One label before the public suffix, as in the list.
  const readOrganization = (domain: string) => /[^.]+\.(?:co\.uk|[^.]+)$/.exec(domain)?.[0] ?? null;
  const lookalike = (domain: string, ownDomains: string[] = ['mail.company.test']) =>
    findLookalikeDomain(
      `x@${domain}`,
      {
        people: ['ada@friend.com', 'bob@mail.shop.de', 'cy@gmail.com', 'dan@modern.co.uk', 'eve@a%b.test'].map(
          (address) => ({
            address,
            names: [],
            isUser: false,
          }),
        ),
        ownDomains,
      },
      readOrganization,
    );

  test.each([
    ['lookalike letters', 'frіend.com', 'friend.com', 'ada@friend.com'],
    ['lookalike letters in ASCII', 'xn--frend-o2e.com', 'friend.com', 'ada@friend.com'],
    ['an accent', 'friénd.com', 'friend.com', 'ada@friend.com'],
    ['rn for m', 'grnail.com', 'gmail.com', 'cy@gmail.com'],
    ['1 for l', 'gmai1.com', 'gmail.com', 'cy@gmail.com'],
    ['0 for o', 'm0dern.co.uk', 'modern.co.uk', 'dan@modern.co.uk'],
    ['a character more', 'friends.com', 'friend.com', 'ada@friend.com'],
    ['a character less', 'frend.com', 'friend.com', 'ada@friend.com'],
    ['another character', 'fr-end.com', 'friend.com', 'ada@friend.com'],
    ['swapped characters', 'gmial.com', 'gmail.com', 'cy@gmail.com'],
    ['a point less', 'modernco.uk', 'modern.co.uk', 'dan@modern.co.uk'],
    ['a suffix of one character less', 'friend.co', 'friend.com', 'ada@friend.com'],
    ['a host', 'smtp.Friends.com', 'friend.com', 'ada@friend.com'],
    ['a likeness of the own domain', 'cornpany.test', 'company.test', null],
  ])('looks like a known one by %s: %s', (_how, domain, shown, knownAddress) => {
    expect(lookalike(domain)).toEqual({
      kind: 'lookalike_domain',
      shown,
      actual: readOrganization(domainToASCII(domain)),
      knownAddress,
    });
  });

  test.each([
    ['known', 'friend.com'],
    ['a host of a known one', 'news.friend.com'],
    ['known, and like another', 'company.test', ['companys.test', 'company.test']],
    ['different in the first character', 'email.com'],
    ['without the first character', 'mail.com'],
    ['short, and different in a character', 'ship.de'],
    ['under another suffix', 'friend.org'],
    ['different in two characters', 'freund.com'],
    ['different in a character of its suffix', 'friend.cam'],
    ['an IP address', '[192.0.2.1]'],
    ['empty', ''],
  ])('gives no warning if it is %s: %s', (_what, domain, ownDomains?: string[]) => {
    expect(lookalike(domain, ownDomains)).toBeNull();
  });
});
