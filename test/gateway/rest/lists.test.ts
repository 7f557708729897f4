import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDomainChecker } from '../../../actors/scheduling/check-domains.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

let gateway: TestGateway;
let box: TestMailbox;
let dns: DnsServer;

beforeAll(async () => {
  gateway = await openTestGateway();
  dns = await startDnsServer();
  const looks = { dnsServers: [dns.address], mailHostname: 'mx.postroom.test' };
  const checker = createDomainChecker(testActorContext(gateway.actor), looks);
  gateway.bus.serve('scheduling.domain.check', (request) => checker.checkNow(request));
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
});
afterAll(async () => {
  await gateway.close();
  await dns.stop();
});

const get = (path: string) => gateway.call(box.apiKey, 'GET', path);

describe.each([
  ['/emails', 50, true],
  ['/mail/threads', 25, false],
  ['/domains', 50, true],
  ['/email-addresses', 50, true],
  ['/endpoints', 50, true],
])('the list %s', (path, standard, hasOffset) => {
  test('is JSON in UTF-8 and has its default limit', async () => {
    const response = await get(path);
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(response.json().pagination).toMatchObject({ limit: standard, ...(hasOffset ? { offset: 0 } : {}) });
  });

  test.each([
    ['1', 1],
    ['100', 100],
    ['101', 100],
    ['999999999', 100],
    ['99999999999999999999', 100],
  ])('counts a limit of %s as %i', async (limit, taken) => {
    const response = await get(`${path}?limit=${limit}`);
    expect([response.statusCode, response.json().pagination.limit]).toEqual([200, taken]);
  });

  test.each([
    'limit=0',
    'limit=-5',
    'limit=x',
    'limit=',
    'limit=1.5',
    ...(hasOffset ? ['offset=-1', 'offset=x', 'offset='] : []),
  ])('refuses %s and names the field', async (query) => {
    const response = await get(`${path}?${query}`);
    expect([response.statusCode, response.json()]).toEqual([
      400,
      {
        error: 'Bad Request',
        message: 'Validation failed. Check your request parameters.',
        statusCode: 400,
        name: 'validation_error',
        details: [{ field: query.split('=')[0], message: expect.any(String) }],
      },
    ]);
  });

  test('is empty after its end and has no more', async () => {
    if (!hasOffset) return;
    const { data, pagination } = (await get(`${path}?offset=1000`)).json();
    expect(data).toEqual([]);
    expect([pagination.hasMore ?? pagination.has_more, pagination.offset]).toEqual([false, 1000]);
    const farthest = await get(`${path}?offset=99999999999999999999`);
    expect([farthest.statusCode, farthest.json().data]).toEqual([200, []]);
  });
});

test.each([
  ['/mail/threads', 'unread'],
  ['/domains', 'canReceive'],
  ['/domains', 'check'],
  ['/email-addresses', 'isActive'],
  ['/email-addresses', 'isReceiptRuleConfigured'],
  ['/endpoints', 'isActive'],
  ['/endpoints', 'active'],
])('%s accepts true, false, 1 and 0 for %s and nothing else', async (path, field) => {
  for (const value of ['true', 'false', '1', '0'])
    expect((await get(`${path}?${field}=${value}`)).statusCode).toBe(200);
  for (const value of ['yes', '2', '', 'null']) {
    const response = await get(`${path}?${field}=${value}`);
    expect([response.statusCode, response.json().details[0].field], value).toEqual([400, field]);
  }
});
