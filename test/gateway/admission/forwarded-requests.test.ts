import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const PROXY_HEADERS: [name: string, value: string][] = [
  ['X-Forwarded-For', '203.0.113.7'],
  ['Forwarded', 'for=203.0.113.7;proto=https'],
  ['X-Real-IP', '203.0.113.7'],
  ['CF-Connecting-IP', '203.0.113.7'],
  ['True-Client-IP', '203.0.113.7'],
  ['Via', '1.1 proxy'],
  ['X-Forwarded-Host', 'mail.example.com'],
  ['X-Forwarded-Proto', 'https'],
  ['x-forwarded-for', ''],
];

describe('a service for its own machine only', () => {
  let gateway: TestGateway;
  let box: TestMailbox;
  let people = 0;

  beforeAll(async () => {
    gateway = await openTestGateway({
      config: {
        publicUrl: 'http://localhost:3000',
        isSignUpOpen: true,
        trustedDomains: ['inbox.test', '*.inbox.test'],
        allowedPrivateNetworks: ['127.0.0.0/8', '::1/128'],
        openForLocal: ['SIGN_UP', 'TRUSTED_DOMAINS', 'ALLOWED_PRIVATE_NETWORKS'],
      },
    });
    box = await gateway.mailbox();
  });
  afterAll(() => gateway.close());

  const signUp = (headers: Record<string, string> = {}) =>
    gateway.app.inject({
      method: 'POST',
      url: '/api/auth/sign-up/email',
      headers: { host: 'localhost:3000', ...headers },
      payload: { name: 'A', email: `a${people++}@example.com`, password: 'correct horse' },
    });
  const webhook = { name: 'x', type: 'webhook', config: { url: 'http://127.0.0.1:8025/' } };
  const warnings = () => gateway.logged.filter(({ event }) => event === 'http.forwarded');

  test('lets its own machine sign up, trust a domain and post to itself, without a warning', async () => {
    expect((await signUp()).statusCode).toBe(200);
    const added = await gateway.call(box.apiKey, 'POST', '/domains', { domain: 'ada.inbox.test' });
    expect(added.json().status).toBe('verified');
    expect((await gateway.call(box.apiKey, 'POST', '/endpoints', webhook)).statusCode).toBe(201);
    expect(warnings()).toEqual([]);
    expect((await gateway.app.inject({ url: '/ready' })).json()).toEqual({ status: 'ok' });
  });

  test.each(PROXY_HEADERS)(
    'is closed for a request with %s, and logs once which setting to change',
    async (name, value) => {
      const refused = await signUp({ [name]: value });
      expect([refused.statusCode, refused.json().message]).toEqual([403, expect.stringContaining('TRUSTED_PROXIES')]);
      const settings = await gateway.app.inject({ url: '/api/auth/settings', headers: { [name]: value } });
      expect(settings.json().signUp).toBe(false);
      const as = { [name]: value };
      const posted = await gateway.call(box.apiKey, 'POST', '/endpoints', webhook, as);
      expect([posted.statusCode, posted.body.includes('https://')]).toEqual([400, true]);
      const domain = `via${people}.inbox.test`;
      expect((await gateway.call(box.apiKey, 'POST', '/domains', { domain }, as)).json().status).not.toBe('verified');
      expect(warnings()).toHaveLength(1);
      const ready = await gateway.app.inject({ url: '/ready' });
      expect(ready.json().forwarded).toEqual({
        header: 'x-forwarded-for',
        at: expect.stringMatching(/^\d{4}-/),
        closed: ['SIGN_UP', 'TRUSTED_DOMAINS', 'ALLOWED_PRIVATE_NETWORKS'],
      });
      expect((await gateway.app.inject({ url: '/ready', headers: as })).json()).toEqual({ status: 'ok' });
      expect(String(warnings()[0]?.['msg'])).toContain('PUBLIC_URL');
    },
  );

  test('is closed for forwarded requests over GraphQL, too', async () => {
    const query = `mutation { createWebhookEndpoint(input: { name: "x", url: "http://127.0.0.1:8025/" }) { __typename } }`;
    const forwarded = await gateway.call(box.apiKey, 'POST', '/graphql', { query }, { via: '1.1 proxy' });
    expect(forwarded.json().data.createWebhookEndpoint.__typename).toBe('ValidationError');
    const own = await gateway.graphql(box.apiKey, query);
    expect(own.json().data.createWebhookEndpoint.__typename).toBe('CreateWebhookEndpointPayload');
  });
});

test('a service whose operator opened sign-up lets people sign up through a proxy', async () => {
  const gateway = await openTestGateway({ config: { isSignUpOpen: true } });
  const response = await gateway.app.inject({
    method: 'POST',
    url: '/api/auth/sign-up/email',
    headers: { host: 'postroom.test', 'x-forwarded-for': '203.0.113.7' },
    payload: { name: 'A', email: 'a@example.com', password: 'correct horse' },
  });
  expect(response.statusCode).toBe(200);
  await gateway.close();
});
