import { expect, test } from 'vitest';
import { isLocalMailHostname } from '../../../core/domains/mail-hostname.ts';
import { isNameOfService, isTrustedDomain, trustedNamesFor } from '../../../core/domains/trusted-domain.ts';

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
  ['"@"@example.com', 'inbox.inbox.test'],
  ['mail@example.com', 'inbox.inbox.test'],
  ['mta-sts@example.com', 'inbox.inbox.test'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(61)}.inbox.test`],
  ['', 'inbox.inbox.test'],
])('offers %s the name %s', (email, name) => {
  const names = trustedNamesFor(email, TRUSTED);
  expect(names[0]).toBe(name);
  expect(names[1]).toBe(name.replace('.', '2.'));
  expect(names.some((each) => isNameOfService(each, TRUSTED, []))).toBe(false);
  expect(names).toHaveLength(10);
});

test.each<[string, boolean]>([
  ['mail.inbox.test', true],
  ['mta-sts.inbox.test', true],
  ['app.inbox.test', true],
  ['smtp.inbox.test', false],
  ['inbox.test', false],
  // Not trusted: it needs DNS records, which its owner has.
  ['mail.example.com', false],
  ['mail.ada.inbox.test', false],
])('below a trusted wildcard, %s belongs to the service: %s', (name, isOfService) => {
  expect(isNameOfService(name, TRUSTED, ['app.inbox.test', 'inbox.test'])).toBe(isOfService);
});

test('a name of the service that the operator trusts by itself is given away', () => {
  expect(isNameOfService('mail.inbox.test', [...TRUSTED, 'mail.inbox.test'], [])).toBe(false);
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
