import { expect, test } from 'vitest';
import { isLocalMailHostname } from '../../../core/domains/mail-hostname.ts';
import { isTrustedDomain, trustedNamesFor } from '../../../core/domains/trusted-domain.ts';

const TRUSTED = ['inbox.test', '*.inbox.test'];

test.each<[string, boolean]>([
  ['inbox.test', true],
  ['ada.inbox.test', true],
  ['a.ada.inbox.test', false],
  ['notinbox.test', false],
  ['test', false],
  ['*.inbox.test', true],
])('trusts %s: %s', (name, isTrusted) => {
  expect(isTrustedDomain(name, TRUSTED)).toBe(isTrusted);
});

test.each<[string, string]>([
  ['Ada.Lovelace+mail@example.com', 'ada-lovelace-mail.inbox.test'],
  ['"@"@example.com', 'mail.inbox.test'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(61)}.inbox.test`],
  ['', 'mail.inbox.test'],
])('offers %s the name %s', (email, name) => {
  const names = trustedNamesFor(email, TRUSTED);
  expect(names[0]).toBe(name);
  expect(names[1]).toBe(name.replace('.', '2.'));
  expect(names).toHaveLength(10);
});

test('offers no name where none is trusted', () => {
  expect(trustedNamesFor('ada@example.com', ['inbox.test'])).toEqual([]);
});

test.each<[string, boolean]>([
  ['localhost', true],
  ['mail', true],
  ['mx.office.local', true],
  ['server.lan', true],
  ['mx.example.com', false],
  ['mx.postroom.test', false],
])('holds %s for a local name: %s', (name, isLocal) => {
  expect(isLocalMailHostname(name)).toBe(isLocal);
});
