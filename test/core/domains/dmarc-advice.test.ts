import { expect, test } from 'vitest';
import { alignedPercent, type DmarcFacts, dmarcAdvice } from '../../../core/domains/dmarc-advice.ts';

const facts: DmarcFacts = {
  domain: 'own.test',
  policy: 'none',
  reportCount: 9,
  days: 9,
  messages: 1_000,
  aligned: 1_000,
  worst: null,
};

test.each<[string, Partial<DmarcFacts>, RegExp]>([
  ['asks for reports when there are none', { reportCount: 0, messages: 0 }, /rua=mailto:dmarc@own\.test/],
  ['waits for mail', { messages: 0, aligned: 0 }, /no mail yet/],
  ['calls p=quarantine safe', {}, /^100 % of 1000 messages passed in 9 days: p=quarantine is safe/],
  ['calls p=quarantine safe for a domain that publishes nothing', { policy: null }, /p=quarantine is safe/],
  ['goes on from quarantine to reject', { policy: 'quarantine' }, /p=reject is safe/],
  [
    'wants more to pass for reject',
    { policy: 'quarantine', aligned: 985 },
    /15 messages failed.*before you publish p=reject/,
  ],
  ['wants fewer to pass for quarantine', { aligned: 985 }, /98\.5 %.*p=quarantine is safe/],
  ['waits for a week', { days: 1 }, /in 1 day\. Wait for a week/],
  [
    'names the source of most failures',
    { aligned: 900, worst: { sourceIp: '192.0.2.9', failed: 80 } },
    /100 messages failed, 80 of them from 192\.0\.2\.9.*DKIM for own\.test.*before you publish p=quarantine/,
  ],
  ['ends at p=reject', { policy: 'reject' }, /nothing left to do/],
  ['names what fails under p=reject', { policy: 'reject', aligned: 999 }, /1 message failed.*reject it as they should/],
])('the advice is right: %s', (_, changes, advice) => {
  expect(dmarcAdvice({ ...facts, ...changes })).toMatch(advice);
});

test('the percentage that passed is never rounded up', () => {
  expect(alignedPercent({ messages: 100_000, aligned: 99_999 })).toBe(99.9);
  expect(alignedPercent({ messages: 0, aligned: 0 })).toBeNull();
});
