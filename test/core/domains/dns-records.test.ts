import { describe, expect, test } from 'vitest';
import { dkimRecordName, dkimRecordValue, makeDkimSelector } from '../../../core/domains/dkim-key.ts';
import { isCoveredBySpf, listDnsRecords, prefersMailHost } from '../../../core/domains/dns-records.ts';

const HOST = 'mx.postroom.test';

test('a selector is a lower-case label that contains its date', () => {
  const selector = makeDkimSelector(new Date('2026-03-01T23:59:59Z'), Uint8Array.of(0xab, 0, 1, 255));
  expect(selector).toBe('pr20260301-ab0001ff');
  expect(dkimRecordName(selector, 'x.test')).toBe('pr20260301-ab0001ff._domainkey.x.test');
  expect(dkimRecordValue('MIIB')).toBe('v=DKIM1; k=rsa; p=MIIB');
});

test('a domain with keys has a record for each, and a DMARC policy', () => {
  const dkimKeys = [
    { selector: 'two', publicKey: 'BBBB', state: 'waiting' as const },
    { selector: 'one', publicKey: 'AAAA', state: 'active' as const },
  ];
  const records = listDnsRecords({ id: 'dom_1', name: 'x.test', isInherited: false, dkimKeys }, HOST);
  expect(records.map(({ type, name, value, isRequired }) => [type, name, value, isRequired])).toEqual([
    ['MX', 'x.test', `10 ${HOST}`, true],
    ['TXT', '_postroom.x.test', 'postroom-verification=dom_1', true],
    ['TXT', 'x.test', `v=spf1 a:${HOST} ~all`, false],
    ['MX', 'mail.x.test', `10 ${HOST}`, false],
    ['TXT', 'mail.x.test', `v=spf1 a:${HOST} ~all`, false],
    ['TXT', 'two._domainkey.x.test', 'v=DKIM1; k=rsa; p=BBBB', false],
    ['TXT', 'one._domainkey.x.test', 'v=DKIM1; k=rsa; p=AAAA', false],
    ['TXT', '_dmarc.x.test', 'v=DMARC1; p=none', false],
  ]);
  for (const { description } of records) expect(description).not.toBe('');
});

test('a domain without keys has neither, and one verified through its parent needs no proof', () => {
  const sub = { id: 'dom_1', name: 'sub.x.test', dkimKeys: [] };
  const listNames = (isInherited: boolean) => listDnsRecords({ ...sub, isInherited }, HOST).map(({ name }) => name);
  expect(listNames(true)).toEqual(['sub.x.test', 'sub.x.test', 'mail.sub.x.test', 'mail.sub.x.test']);
  expect(listNames(false)).toContain('_postroom.sub.x.test');
});

describe('SPF records authorize a host', () => {
  test.each([
    ['as they were asked for', [`v=spf1 a:${HOST} ~all`]],
    ['in any case', [`V=SPF1 A:MX.Postroom.Test -ALL`]],
    ['beside other texts', ['google-site-verification=x', 'v=spf10 -all', `v=spf1 a:${HOST} -all`]],
    ['among other senders', [`v=spf1 include:other.test ip4:192.0.2.0/24 +a:${HOST}  -all`]],
    ['by their MX', ['v=spf1 mx -all']],
    ['without an end', [`v=spf1 a:${HOST}`]],
  ])('%s', (_name, texts) => {
    expect(isCoveredBySpf(texts, HOST)).toBe(true);
  });

  test.each([
    ['not when there is none', []],
    ['not when there are two', [`v=spf1 a:${HOST} ~all`, `v=spf1 a:${HOST} ~all`]],
    ['not another host', ['v=spf1 a:mx.other.test ~all']],
    ['not a host under it', [`v=spf1 a:evil.${HOST} a:${HOST}.evil.test ~all`]],
    ['not by a term that excludes it', [`v=spf1 -a:${HOST} ~all`]],
    ['not behind the term that ends the record', [`v=spf1 -all a:${HOST}`]],
    ['not in a text that is no SPF', [`spf1 a:${HOST} ~all`]],
    ['not by the MX of another name', ['v=spf1 mx:other.test -all']],
  ])('%s', (_name, texts) => {
    expect(isCoveredBySpf(texts, HOST)).toBe(false);
  });
});

describe('mail goes to a host', () => {
  test.each([
    ['when it is the only MX', [{ exchange: HOST, priority: 10 }], true],
    ['in any case, with a dot at its end', [{ exchange: 'MX.Postroom.Test.', priority: 10 }], true],
    [
      'when it is the most preferred',
      [
        { exchange: 'backup.test', priority: 20 },
        { exchange: HOST, priority: 10 },
      ],
      true,
    ],
    [
      'not when another is preferred',
      [
        { exchange: 'other.test', priority: 5 },
        { exchange: HOST, priority: 10 },
      ],
      false,
    ],
    ['not by a null MX', [{ exchange: '', priority: 0 }], false],
    ['not without MX', [], false],
  ])('%s', (_name, records, expected) => {
    expect(prefersMailHost(records, HOST)).toBe(expected);
  });
});
