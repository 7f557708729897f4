import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDomainChecker } from '../../../actors/scheduling/check-domains.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const HOST = 'mx.postroom.test';
const url = 'https://hooks.example.com/in';
let dns: DnsServer;
let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  dns = await startDnsServer();
  gateway = await openTestGateway({ config: { mailHostname: HOST } });
  const checker = createDomainChecker(testActorContext(gateway.actor), {
    dnsServers: [dns.address],
    mailHostname: HOST,
  });
  gateway.bus.serve('scheduling.domain.check', (request) => checker.checkNow(request));
  box = await gateway.mailbox({ endpointUrl: url });
});
afterAll(async () => {
  await gateway.close();
  await dns.stop();
});

const call = async (method: string, path: string, body?: unknown) => {
  const response = await gateway.call(box.apiKey, method, path, body);
  return { status: response.statusCode, body: response.json() };
};

test('a domain of 253 characters is accepted, and one more is refused', async () => {
  const name = `${'a.'.repeat(124)}abc.d`;
  expect(name).toHaveLength(253);
  const made = await call('POST', '/domains', { domain: name });
  expect(made).toMatchObject({ status: 201, body: { domain: name, status: 'pending' } });
  expect(await call('GET', `/domains/${made.body.id}?check=true`)).toMatchObject({
    status: 200,
    body: { domain: name, status: 'pending' },
  });
  expect((await call('POST', '/domains', { domain: `a${name}` })).status).toBe(400);
});

describe('an endpoint is accepted with', () => {
  const webhook = { name: 'x', type: 'webhook', config: { url } };
  const group = (count: number) => ({ emails: Array.from({ length: count }, (_, n) => `a${n}@x.test`) });
  test.each([
    ['with a name of 1 character', { name: 'n' }],
    ['with a name of 255', { name: 'n'.repeat(255) }],
    ['with a description of 1,000', { description: 'd'.repeat(1_000) }],
    ['with a timeout of 1 s', { config: { url, timeout: 1 } }],
    ['with a timeout of 300 s', { config: { url, timeout: 300 } }],
    ['without any retry', { config: { url, retryAttempts: 0 } }],
    ['with 10 retries', { config: { url, retryAttempts: 10 } }],
    ['with a group of 1', { type: 'email_group', config: group(1) }],
    ['with a group of 50', { type: 'email_group', config: group(50) }],
  ])('%s', async (_, more) => {
    const made = await call('POST', '/endpoints', { ...webhook, ...more });
    expect(made).toMatchObject({ status: 201, body: more });
    const { name, description, config } = made.body;
    expect(await call('PATCH', `/endpoints/${made.body.id}`, { name, description, config })).toMatchObject({
      status: 200,
      body: more,
    });
  });
});

test('a search of 100 characters is accepted, and one more is refused', async () => {
  for (const path of ['/endpoints', '/guard']) {
    expect((await call('GET', `${path}?search=${'x'.repeat(100)}`)).body.data, path).toEqual([]);
    expect((await call('GET', `${path}?search=${'x'.repeat(101)}`)).status, path).toBe(400);
  }
});

test('lists of rules and of deliveries have 50 rows a page by default, and at most 100', async () => {
  for (const path of ['/guard', `/endpoints/${box.endpointId}/deliveries`])
    for (const [query, limit] of [
      ['', 50],
      ['?limit=1', 1],
      ['?limit=101', 100],
    ])
      expect((await call('GET', `${path}${query}`)).body.pagination, path).toEqual({
        limit,
        offset: 0,
        total: 0,
        hasMore: false,
      });
});

test('domains are listed by each of their states', async () => {
  const other = await gateway.mailbox();
  const { workspaceId } = other;
  for (const domainStatus of ['pending', 'failed'] as const)
    await gateway.mailbox({
      workspaceId,
      domain: `${domainStatus}.test`,
      address: `a@${domainStatus}.test`,
      domainStatus,
    });
  for (const [status, name] of [
    ['verified', other.address.split('@')[1]],
    ['pending', 'pending.test'],
    ['failed', 'failed.test'],
  ]) {
    const listed = await gateway.call(other.apiKey, 'GET', `/domains?status=${status}`);
    expect(listed.json(), status).toMatchObject({ data: [{ domain: name, status }], pagination: { total: 1 } });
  }
});
