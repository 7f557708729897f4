import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDnsResolver, type DnsResolver, MAX_DNS_ANSWERS } from '../../../actors/network/dns-resolver.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';

let dns: DnsServer;
let resolver: DnsResolver;

beforeAll(async () => {
  dns = await startDnsServer();
});
beforeEach(() => {
  dns.clear();
  dns.queries.length = 0;
  resolver = createDnsResolver({ servers: [dns.address] });
});
afterAll(() => dns.stop());

test('responses have the forms of node:dns', async () => {
  dns.set('x.test', 'TXT', ['short', 'l'.repeat(600)]);
  dns.set('x.test', 'A', ['192.0.2.1']);
  dns.set('x.test', 'AAAA', ['2001:db8::1']);
  dns.set('x.test', 'MX', [{ preference: 10, exchange: 'mx.x.test' }]);
  const lookUp = resolver.within(3_000);
  expect((await lookUp('x.test', 'TXT')).map((strings) => [strings].flat().join(''))).toEqual([
    'short',
    'l'.repeat(600),
  ]);
  expect(await lookUp('x.test', 'A')).toEqual(['192.0.2.1']);
  expect(await lookUp('x.test', 'AAAA')).toEqual(['2001:db8::1']);
  expect(await lookUp('x.test', 'MX')).toEqual([expect.objectContaining({ priority: 10, exchange: 'mx.x.test' })]);
});

test('names with characters that host names do not allow are looked up, over TCP too, with the errors of node:dns', async () => {
  const lookUp = resolver.within(3_000);
  dns.set("joe+a=b'c._u.x.test", 'A', ['127.0.0.2']);
  dns.set('foo:bar/baz.x.test', 'MX', [{ preference: 5, exchange: 'mx.x.test' }]);
  dns.set('a b.x.test', 'TXT', ['l'.repeat(2_000)]);
  dns.set('a%b.x.test', 'TXT', 'SERVFAIL');
  dns.set('a!b.x.test', 'TXT', 'garbage');
  expect(await lookUp("joe+a=b'c._u.x.test", 'A')).toEqual(['127.0.0.2']);
  expect(await lookUp('foo:bar/baz.x.test', 'MX')).toEqual([{ priority: 5, exchange: 'mx.x.test' }]);
  expect((await lookUp('a b.x.test', 'TXT')).map((strings) => [strings].flat().join(''))).toEqual(['l'.repeat(2_000)]);
  const codes = ['a b.x.test A', 'none+none.x.test A', 'a%b.x.test TXT', 'a!b.x.test TXT'].map((question) => {
    const [, name = '', type = ''] = /^(.*) (\w+)$/.exec(question) ?? [];
    return lookUp(name, type).then(
      () => 'answered',
      (error: { code: string }) => error.code,
    );
  });
  expect(await Promise.all(codes)).toEqual(['ENODATA', 'ENOTFOUND', 'ESERVFAIL', 'EBADRESP']);
});

test('one query is sent for many callers of the same name, at once or later, in any letter case', async () => {
  dns.set('x.test', 'A', ['192.0.2.1']);
  await Promise.all(Array.from({ length: 50 }, () => resolver.within(3_000)('x.test', 'A')));
  await resolver.within(3_000)('X.TEST', 'A');
  expect(dns.queries).toEqual(['A x.test']);
});

test('a missing record is cached, and each caller gets an error of its own', async () => {
  dns.set('empty.test', 'A', ['192.0.2.1']);
  const ask = (name: string) =>
    resolver
      .within(3_000)(name, 'TXT')
      .then(
        () => expect.fail('answered'),
        (error: Error & { code: string }) => error,
      );
  const [first, second, empty] = [await ask('none.test'), await ask('none.test'), await ask('empty.test')];
  expect([first.code, second.code, empty.code]).toEqual(['ENOTFOUND', 'ENOTFOUND', 'ENODATA']);
  expect(first).not.toBe(second);
  expect(dns.queries).toEqual(['TXT none.test', 'TXT empty.test']);
});

test('lookups end at their time limit', async () => {
  dns.set('slow.test', 'A', 'silent');
  dns.set('other.test', 'A', 'silent');
  const lookUp = resolver.within(200);
  await expect(lookUp('slow.test', 'A')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  await expect(lookUp('other.test', 'A')).rejects.toMatchObject({ code: 'ETIMEOUT' });
});

test('lookups fail without a query after no server replied', async () => {
  for (let n = 0; n < 10; n++) dns.set(`silent${n}.test`, 'A', 'silent');
  const ask = (n: number) =>
    resolver
      .within(10_000)(`silent${n}.test`, 'A')
      .catch((error: { code: string }) => error.code);
  expect(await Promise.all([0, 1, 2, 3, 4].map(ask))).toEqual(Array.from({ length: 5 }, () => 'ETIMEOUT'));
  const asked = dns.queries.length;
  expect(await ask(9)).toBe('ETIMEOUT');
  expect(dns.queries.length).toBe(asked);
});

test('an invalid reply spoils no other lookup', async () => {
  dns.set('liar.test', 'A', 'garbage');
  const names = Array.from({ length: 40 }, (_, n) => `honest${n}.test`);
  for (const name of names) dns.set(name, 'A', ['192.0.2.1']);
  const lookUp = resolver.within(3_000);
  const [lie, ...responses] = await Promise.all(
    ['liar.test', ...names].map((name) => lookUp(name, 'A').catch((error: { code: string }) => error.code)),
  );
  expect(lie).toBe('EBADRESP');
  expect(responses).toEqual(names.map(() => ['192.0.2.1']));
});

test('the cache of replies is limited in total bytes', async () => {
  const strings = Array.from({ length: 200 }, () => 'l'.repeat(250));
  const names = Array.from({ length: MAX_DNS_ANSWERS / 50_000 + 2 }, (_, at) => `large-${at}.x.test`);
  for (const name of names) dns.set(name, 'TXT', strings);
  for (const name of names) await resolver.within(10_000)(name, 'TXT');
  const asked = dns.queries.length;
  await resolver.within(10_000)(names.at(-1) ?? '', 'TXT');
  expect(dns.queries.length).toBe(asked);
  await resolver.within(10_000)(names[0] ?? '', 'TXT');
  expect(dns.queries.length).toBeGreaterThan(asked);
});
