import { describe, expect, test } from 'vitest';
import { type Authentication, undecided } from '../../../core/mime/authentication.ts';
import { readListUnsubscribe } from '../../../core/mime/list-unsubscribe.ts';

const URL_FIELD: [string, string] = [
  'list-unsubscribe',
  '<mailto:leave@list.test?subject=u1>, <https://list.test/u/1>',
];
const POST: [string, string] = ['list-unsubscribe-post', 'List-Unsubscribe=One-Click'];
const sign = (covered: string, domain = 'list.test'): [string, string] => [
  'dkim-signature',
  `v=1; a=rsa-sha256; d=${domain}; s=s1;\r\n h=${covered}; bh=abc=; b=def=`,
];
const COVERED = 'From:Subject:List-Unsubscribe:\r\n List-Unsubscribe-Post';
const SIGNATURE = sign(COVERED);
const PASSES: Authentication = {
  ...undecided(false),
  dkim: [{ result: 'pass', domain: 'list.test', selector: 's1' }],
};
const read = (headers: [string, string][], authentication: Authentication | null = PASSES) =>
  readListUnsubscribe({ headers, authentication });

test('a signed offer of one click is returned with the page and the address', () => {
  expect(read([URL_FIELD, POST, SIGNATURE])).toEqual({
    oneClickUrl: 'https://list.test/u/1',
    url: 'https://list.test/u/1',
    mailto: 'mailto:leave@list.test?subject=u1',
  });
});

describe('one click is not offered when', () => {
  test.each<[why: string, headers: [string, string][], authentication: Authentication | null]>([
    ['the mail has no List-Unsubscribe-Post', [URL_FIELD, SIGNATURE], PASSES],
    ['List-Unsubscribe-Post has another value', [URL_FIELD, ['list-unsubscribe-post', 'yes'], SIGNATURE], PASSES],
    ['no signature passed', [URL_FIELD, POST, SIGNATURE], undecided(false)],
    ['nothing was checked', [URL_FIELD, POST, SIGNATURE], null],
    ['the signature of another domain passed', [URL_FIELD, POST, sign(COVERED, 'other.test')], PASSES],
    ['the signature does not cover the address', [URL_FIELD, POST, sign('From:List-Unsubscribe-Post')], PASSES],
    ['the signature does not cover the offer', [URL_FIELD, POST, sign('From:List-Unsubscribe')], PASSES],
    [
      'a server on the way added it, with a copy of the valid signature that covers it',
      [URL_FIELD, POST, SIGNATURE, sign('From:Subject')],
      PASSES,
    ],
    ['the page has no TLS', [['list-unsubscribe', '<http://list.test/u>, <mailto:x@y.test>'], POST, SIGNATURE], PASSES],
  ])('%s', (_why, headers, authentication) => {
    expect(read(headers, authentication)).toMatchObject({ oneClickUrl: null });
  });
});

test.each<[what: string, headers: [string, string][]]>([
  ['a mail without the field', [POST, SIGNATURE]],
  ['a mail with two fields, of which programs would take different ones', [URL_FIELD, URL_FIELD, POST, SIGNATURE]],
  ['a field without an address', [['list-unsubscribe', 'NO'], POST, SIGNATURE]],
  ['a field with a sentence', [['list-unsubscribe', 'https://list.test/u or mailto:off@list.test'], POST, SIGNATURE]],
  ['a field with a script', [['list-unsubscribe', '<javascript:alert(1)>'], POST, SIGNATURE]],
  ['a field with an address of 3 KB', [['list-unsubscribe', `<https://list.test/${'a'.repeat(3_000)}>`], POST]],
])('%s says nothing about leaving a list', (_what, headers) => {
  expect(read(headers)).toBeNull();
});
