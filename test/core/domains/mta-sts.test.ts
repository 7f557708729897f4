import { expect, test } from 'vitest';
import {
  findMtaStsDomain,
  isMtaStsSeen,
  isTlsReportSeen,
  mtaStsPolicy,
  toTransportAdvice,
} from '../../../core/domains/mta-sts.ts';

const advice = toTransportAdvice('a.test', 'testing', 'mx.host.test');

test('the policy names our server, and is cached longer when enforced', () => {
  expect(mtaStsPolicy('testing', 'mx.host.test')).toBe(
    'version: STSv1\r\nmode: testing\r\nmx: mx.host.test\r\nmax_age: 86400\r\n',
  );
  expect(mtaStsPolicy('enforce', 'mx.host.test')).toContain('mode: enforce\r\nmx: mx.host.test\r\nmax_age: 2592000');
});

test('the records to publish have an id that changes with the policy', () => {
  expect(advice.policyUrl).toBe('https://mta-sts.a.test/.well-known/mta-sts.txt');
  expect(advice.mtaSts).toMatchObject({
    name: '_mta-sts.a.test',
    value: expect.stringMatching(/^v=STSv1; id=[0-9a-f]{16};$/),
  });
  expect(advice.tlsReports).toMatchObject({
    name: '_smtp._tls.a.test',
    value: 'v=TLSRPTv1; rua=mailto:tls-reports@a.test',
  });
  expect(toTransportAdvice('b.test', 'testing', 'mx.host.test').mtaSts.value).toBe(advice.mtaSts.value);
  expect(toTransportAdvice('a.test', 'enforce', 'mx.host.test').mtaSts.value).not.toBe(advice.mtaSts.value);
});

test.each([
  [[advice.mtaSts.value], true],
  [['v=spf1 ~all', advice.mtaSts.value.replace('; id=', ';id =').replace(/;$/, '')], true],
  [['v=STSv1; id=20200101;'], false],
  [[advice.mtaSts.value, 'v=STSv1; id=2;'], false],
  [[], false],
])('the MTA-STS record in %j is found: %s', (found, isSeen) => {
  expect(isMtaStsSeen(found, advice)).toBe(isSeen);
});

test('exactly one TLS reporting record is found, whatever its address', () => {
  expect(isTlsReportSeen(['v=TLSRPTv1;rua=https://reports.test/'])).toBe(true);
  expect(isTlsReportSeen([])).toBe(false);
  expect(isTlsReportSeen(['v=TLSRPTv1; rua=mailto:a@b.test', 'v=TLSRPTv1; rua=mailto:c@b.test'])).toBe(false);
});

test.each([
  ['mta-sts.a.test', 'a.test'],
  ['MTA-STS.A.test.:443', 'a.test'],
  ['a.test', null],
  ['mta-sts.', null],
])('the host %s has the policy of %s', (host, domain) => {
  expect(findMtaStsDomain(host)).toBe(domain);
});
