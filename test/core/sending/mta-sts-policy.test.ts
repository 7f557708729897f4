import { expect, test } from 'vitest';
import { findPolicyId, listsHost, parseMtaStsPolicy } from '../../../core/sending/mta-sts-policy.ts';

test.each([
  [['v=STSv1; id=20160831085700Z;'], '20160831085700Z'],
  [['v=STSv1;id=1', 'unrelated'], '1'],
  [['v=STSv1 ; ext=a ; id = abc'], 'abc'],
  [['v=STSv1; id=1;', 'v=STSv1; id=2;'], null],
  [['v=STSv1; id=a-b;'], null],
  [['v=STSv1;'], null],
  [['v=STSv2; id=1;'], null],
  [[], null],
])('finds the policy id in %j: %s', (records, id) => {
  expect(findPolicyId(records)).toBe(id);
});

test('reads the example of RFC 8461 §3.2, and an unknown field is ignored', () => {
  const text =
    'version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.Example.net\r\nmax_age: 604800\r\nfuture: x\r\n';
  expect(parseMtaStsPolicy(text)).toEqual({
    mode: 'enforce',
    mx: ['mail.example.com', '*.example.net'],
    maxAgeSeconds: 604_800,
  });
});

test('the first of repeated fields counts, lines may end in LF, and max_age is at most a year', () => {
  expect(parseMtaStsPolicy('version: STSv1\nmode: testing\nmode: enforce\nmx: a.b\nmax_age: 9999999999')).toEqual({
    mode: 'testing',
    mx: ['a.b'],
    maxAgeSeconds: 31_557_600,
  });
  expect(parseMtaStsPolicy('version: STSv1\nmode: none\nmax_age: 5')).toEqual({
    mode: 'none',
    mx: [],
    maxAgeSeconds: 5,
  });
});

test.each([
  ['', 'empty'],
  ['mode: enforce\nmx: a.b\nmax_age: 1', 'no version'],
  ['version: STSv2\nmode: enforce\nmx: a.b\nmax_age: 1', 'another version'],
  ['version: STSv1\nmode: strict\nmx: a.b\nmax_age: 1', 'unknown mode'],
  ['version: STSv1\nmode: enforce\nmx: a.b', 'no max_age'],
  ['version: STSv1\nmode: enforce\nmx: a.b\nmax_age: -1', 'negative max_age'],
  ['version: STSv1\nmode: enforce\nmax_age: 1', 'no mx'],
  ['version: STSv1\nmode: enforce\nmx: a b\nmax_age: 1', 'mx with a space'],
  ['version: STSv1\nmode: enforce\nmx: a.*.b\nmax_age: 1', 'wildcard within mx'],
  ['<html>version: STSv1\nmode: enforce\nmx: a.b\nmax_age: 1', 'HTML'],
])('rejects a policy: %#. %s', (text) => {
  expect(parseMtaStsPolicy(text)).toBeNull();
});

test.each([
  ['mail.example.com', 'mail.example.com', true],
  ['mail.example.com', 'MAIL.example.com.', true],
  ['*.example.com', 'mx.example.com', true],
  ['*.example.com', 'a.mx.example.com', false],
  ['*.example.com', 'example.com', false],
  ['example.com', 'mx.example.com', false],
  ['*.example.com', 'mx.badexample.com', false],
])('%s lists %s: %s', (pattern, host, isListed) => {
  expect(listsHost({ mode: 'enforce', mx: [pattern], maxAgeSeconds: 1 }, host)).toBe(isListed);
});
