import { describe, expect, test } from 'vitest';
import { listDnsRecords, type PublishedKey } from '../../../core/domains/dns-records.ts';
import { conflictMessage, toAuthAdvice } from '../../../core/domains/domain-advice.ts';
import {
  type DnsResult,
  type DomainCheck,
  type DomainRecords,
  findDnsProvider,
  judgeDomain,
  readDomainCheck,
} from '../../../core/domains/domain-check.ts';

const HOST = 'mx.postroom.test';
const dkimKeys: PublishedKey[] = [{ selector: 'one', publicKey: 'AAAA', state: 'active' }];
const records = listDnsRecords({ id: 'dom_1', name: 'x.test', isInherited: false, dkimKeys }, HOST);

const all = <T>(...found: T[]): DnsResult<T> => ({ kind: 'records', records: found });
const none = { kind: 'none' } as const;
const unknown = { kind: 'unknown', code: 'ESERVFAIL' } as const;
const ours = { exchange: HOST, priority: 10 };
const SPF = `v=spf1 a:${HOST} ~all`;

const complete: DomainRecords = {
  mx: all(ours),
  txt: all(SPF),
  cname: none,
  proof: all('postroom-verification=dom_1'),
  mailFromMx: all(ours),
  mailFromTxt: all(SPF),
  dmarc: all('v=DMARC1; p=reject'),
  dkim: new Map([['one._domainkey.x.test', all('v=DKIM1; k=rsa; p=AAAA')]]),
  mtaSts: none,
  tlsReports: none,
  nameServers: all('ns1.hover.com'),
};
const nothing: DomainRecords = {
  ...complete,
  mx: none,
  txt: none,
  proof: none,
  mailFromMx: none,
  mailFromTxt: none,
  dmarc: none,
  dkim: new Map(),
  mtaSts: none,
  tlsReports: none,
  nameServers: none,
};
const judge = (more: Partial<DomainRecords>, previous: DomainCheck | null = null, from = complete) =>
  judgeDomain(records, { ...from, ...more }, { mailHostname: HOST, previous });
const findError = (check: DomainCheck, name: string, type = 'TXT') =>
  check.records.find((record) => record.name === name && record.type === type)?.error;

test('finds all records of a domain', () => {
  const check = judge({});
  expect(check.records.map(({ isSeen, isAnswered, error }) => [isSeen, isAnswered, error])).toEqual(
    records.map(() => [true, true, null]),
  );
  expect(check).toMatchObject({
    hasMx: true,
    spf: SPF,
    hasDmarc: true,
    conflict: null,
    provider: { name: 'Hover', confidence: 'high' },
    error: null,
    unanswered: 0,
    reason: null,
  });
  expect(readDomainCheck(JSON.parse(JSON.stringify(check)))).toEqual(check);
});

test('finds no records of a domain without any', () => {
  const check = judge({}, null, nothing);
  expect(new Set(check.records.map(({ isSeen, error }) => `${isSeen} ${error}`))).toEqual(
    new Set(['false No such record']),
  );
  expect(check).toMatchObject({
    hasMx: false,
    spf: null,
    hasDmarc: false,
    conflict: null,
    provider: null,
    error: null,
  });
});

describe('finds a record', () => {
  test.each<[string, Partial<DomainRecords>]>([
    ['the proof among others', { proof: all('other', 'postroom-verification=dom_1') }],
    ['a key that is folded, with other tags', { dkim: keyed('k=rsa; t=s; p=AA AA') }],
    ['the MX beside a backup', { mx: all(ours, { exchange: 'backup.test', priority: 20 }) }],
    ['the MX in any case, with its dot', { mx: all({ exchange: 'MX.postroom.TEST.', priority: 1 }) }],
    ['any policy of DMARC', { dmarc: all('v=DMARC1;p=quarantine; rua=mailto:a@b.test') }],
  ])('%s', (_name, responses) => {
    const check = judge(responses);
    expect(check.records.filter(({ isSeen }) => !isSeen)).toEqual([]);
    expect(check.conflict).toBeNull();
  });
});

function keyed(text: string): DomainRecords['dkim'] {
  return new Map([['one._domainkey.x.test', all(text)]]);
}

describe('does not find a record, and says why', () => {
  test.each<[string, Partial<DomainRecords>, string, string]>([
    [
      'the proof of another',
      { proof: all('postroom-verification=dom_2') },
      '_postroom.x.test',
      'Found instead: postroom-verification=dom_2',
    ],
    [
      'a longer proof',
      { proof: all('postroom-verification=dom_12') },
      '_postroom.x.test',
      'Found instead: postroom-verification=dom_12',
    ],
    ['another key', { dkim: keyed('v=DKIM1; p=BBBB') }, 'one._domainkey.x.test', 'Found instead: v=DKIM1; p=BBBB'],
    ['a revoked key', { dkim: keyed('v=DKIM1; p=') }, 'one._domainkey.x.test', 'Found instead: v=DKIM1; p='],
    ['no key', { dkim: keyed('hello') }, 'one._domainkey.x.test', 'Found instead: hello'],
    [
      'two SPF records',
      { txt: all(SPF, 'v=spf1 -all') },
      'x.test',
      'There are 2 SPF records, but only one is allowed (RFC 7208 §4.5)',
    ],
    ['the SPF of others', { txt: all('v=spf1 -all', 'verify=1') }, 'x.test', 'Found instead: v=spf1 -all'],
    ['texts that are no SPF', { txt: all('verify=1') }, 'x.test', 'No such record'],
    [
      'two DMARC records',
      { dmarc: all('v=DMARC1; p=none', 'v=DMARC1; p=none') },
      '_dmarc.x.test',
      'There are 2 DMARC records, but only one is allowed',
    ],
    ['no DMARC', { dmarc: all('hello') }, '_dmarc.x.test', 'No such record'],
  ])('%s', (_name, responses, name, error) => {
    expect(findError(judge(responses), name)).toBe(error);
  });

  test('the MX of another host', () => {
    const check = judge({ mx: all({ exchange: 'mx.other.test', priority: 5 }, { ...ours }) });
    expect(findError(check, 'x.test', 'MX')).toBe(`Found instead: 5 mx.other.test, 10 ${HOST}`);
  });

  test('what was found is made safe to show', () => {
    const lie = `${'a'.repeat(70_000)}`;
    const check = judge({ proof: all('\0\u202eevil\n', lie, ...Array.from({ length: 500 }, () => 'x')) });
    const error = findError(check, '_postroom.x.test') ?? '';
    expect(error).toMatch(/^Found instead: \ufffd\ufffdevil\ufffd, a{255}…(?:, x){8}$/);
  });
});

describe('records of other servers are a conflict', () => {
  const foreign = { exchange: 'mx.other.test', priority: 10 };
  test.each<[string, Partial<DomainRecords>, string, string[]]>([
    ['a foreign MX', { mx: all(foreign) }, 'mx', ['MX 10 mx.other.test']],
    ['one that is as good as ours', { mx: all(ours, foreign) }, 'mx', [`MX 10 ${HOST}`, 'MX 10 mx.other.test']],
    ['a null MX', { mx: all({ exchange: '', priority: 0 }) }, 'mx', ['MX 0 .']],
    ['an alias', { mx: none, cname: all('other.test') }, 'cname', ['CNAME other.test']],
    ['both', { mx: all(foreign), cname: all('other.test') }, 'both', ['MX 10 mx.other.test', 'CNAME other.test']],
  ])('%s', (_name, responses, type, found) => {
    const { conflict } = judge(responses);
    expect(conflict?.type).toBe(type);
    expect(conflict?.records.map((record) => `${record.type} ${record.value}`)).toEqual(found);
    expect(conflictMessage(conflict?.type ?? 'mx')).not.toBe('');
  });
});

test('a failed lookup keeps the previous result, and is reported', () => {
  const seen = judge({});
  const away = Object.fromEntries(Object.keys(complete).map((key) => [key, unknown])) as unknown as DomainRecords;
  const dkim = new Map([['one._domainkey.x.test', unknown]]);
  const check = judge({ ...away, dkim }, seen);
  expect(check).toMatchObject({
    ...seen,
    records: expect.anything(),
    error: 'DNS did not respond (ESERVFAIL)',
    unanswered: 1,
  });
  expect(check.records.map(({ isSeen, isAnswered, error }) => [isSeen, isAnswered, error])).toEqual(
    records.map(() => [true, false, 'DNS did not respond (ESERVFAIL)']),
  );
  expect(judge({ ...away, dkim }, check).unanswered).toBe(2);
  expect(judge({ ...away, dkim }).records.every(({ isSeen }) => !isSeen)).toBe(true);
  expect(judge({}, check)).toMatchObject({ error: null, unanswered: 0 });
  expect(judge({ nameServers: unknown }, seen)).toMatchObject({ provider: seen.provider, error: null });
});

test('a result for an outdated value does not count', () => {
  const previous = judgeDomain(records, complete, { mailHostname: HOST, previous: null });
  const moved = listDnsRecords({ id: 'dom_1', name: 'x.test', isInherited: false, dkimKeys }, 'new.test');
  const check = judgeDomain(moved, { ...complete, mx: unknown }, { mailHostname: 'new.test', previous });
  expect(check.records[0]).toMatchObject({ isSeen: false, isAnswered: false });
});

test.each([null, undefined, 7, {}, { records: [{}] }])('%j is no stored check', (stored) => {
  expect(readDomainCheck(stored)).toBeNull();
});

describe('recommended SPF and DMARC records', () => {
  const domain = { name: 'x.test', isInherited: false, canReceive: true, isSpfSeen: false };
  const adviceFor = (spf: string | null) => toAuthAdvice(domain, { ...judge({}, null, nothing), spf }, HOST);
  test.each([
    [null, SPF],
    ['v=spf1 include:other.test -all', `v=spf1 include:other.test a:${HOST} -all`],
    ['v=spf1 redirect=_spf.other.test', `v=spf1 a:${HOST} redirect=_spf.other.test`],
    ['v=spf1 mx:other.test', `v=spf1 mx:other.test a:${HOST}`],
  ])('beside %s it is %s', (spf, value) => {
    expect(adviceFor(spf).spf).toMatchObject({ name: 'x.test', value });
  });

  test('appear only where something is missing', () => {
    expect(toAuthAdvice({ ...domain, isSpfSeen: true }, judge({}), HOST)).toEqual({ spf: null, dmarc: null });
    expect(toAuthAdvice(domain, null, HOST)).toEqual({ spf: null, dmarc: null });
    expect(adviceFor(null).dmarc?.value).toBe('v=DMARC1; p=none; rua=mailto:dmarc@x.test');
    const deaf = toAuthAdvice({ ...domain, canReceive: false }, judge({}, null, nothing), HOST);
    expect(deaf.dmarc).toMatchObject({ name: '_dmarc.x.test', value: 'v=DMARC1; p=none' });
    expect(toAuthAdvice({ ...domain, isInherited: true }, judge({}, null, nothing), HOST).dmarc).toBeNull();
  });
});

test.each([
  [['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'], 'Cloudflare', 'high'],
  [['dns1.registrar-servers.com', 'dns2.registrar-servers.com'], 'Namecheap', 'high'],
  [['NS51.DOMAINCONTROL.COM.', 'ns52.domaincontrol.com'], 'GoDaddy', 'high'],
  [['ns-1.awsdns-01.com', 'ns-2.awsdns-63.net', 'ns-3.awsdns-12.org', 'ns-4.awsdns-09.co.uk'], 'AWS Route 53', 'high'],
  [['ns-cloud-a1.googledomains.com'], 'Google Domains', 'high'],
  [['ns1.vercel-dns.com', 'ns2.vercel-dns.com'], 'Vercel', 'high'],
  [['ns1.digitalocean.com'], 'DigitalOcean', 'high'],
  [['dns1.p01.nsone.net'], 'Netlify', 'high'],
  [['ns1.dnsimple.com', 'ns2.dnsimple-edge.net'], 'DNSimple', 'high'],
  [['ns1.hover.com'], 'Hover', 'high'],
  [['maceio.ns.porkbun.com', 'salvador.porkbun.com'], 'Porkbun', 'high'],
  [['ns01.squarespacedns.com'], 'Squarespace', 'high'],
  [['ada.ns.cloudflare.com', 'ns1.example.net'], 'Cloudflare', 'medium'],
  [['ada.ns.cloudflare.com', 'ns1.hover.com', 'ns2.hover.com'], 'Hover', 'medium'],
  [['ns1.example.net'], 'Custom DNS Provider', 'low'],
  [['cloudflare.com.example.net', 'evilcloudflare.com'], 'Custom DNS Provider', 'low'],
])('%j are of %s (%s)', (servers, name, confidence) => {
  expect(findDnsProvider(servers)).toEqual({ name, confidence });
});

test('without name servers there is no provider', () => {
  expect(findDnsProvider([])).toBeNull();
});
