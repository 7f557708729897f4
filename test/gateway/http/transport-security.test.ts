import { afterEach, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const gateways: TestGateway[] = [];
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close();
});

/** What the gateway says of HTTPS, by status and path. */
async function said(publicUrl: string): Promise<Record<string, unknown>> {
  const gateway = await openTestGateway({ config: { publicUrl } });
  gateways.push(gateway);
  const { apiKey } = await gateway.mailbox();
  const asked: [url: string, headers?: Record<string, string>][] = [
    ['/', { accept: 'text/html' }],
    ['/health'],
    ['/api/auth/settings'],
    ['/api/e2/emails'],
    ['/api/e2/emails', { authorization: `Bearer ${apiKey}` }],
    ['/api/e2/nothing'],
    ['/api/e2/openapi.json'],
    ['/graphql?query=%7Bviewer%7Bid%7D%7D', { authorization: `Bearer ${apiKey}` }],
    ['/api/v1'],
    ['/api/e2/emails', { host: 'evil.example' }],
    [`/api/e2/emails/${'x'.repeat(5_000)}`],
    ['/%zz'],
  ];
  const found: Record<string, unknown> = {};
  for (const [url, headers = {}] of asked) {
    const response = await gateway.app.inject({ url, headers });
    found[`${response.statusCode} ${url.slice(0, 40)}`] = response.headers['strict-transport-security'];
  }
  return found;
}

test('every response of a service at an https address tells browsers to use HTTPS for a year', async () => {
  const found = await said('https://mail.example.com');
  expect(Object.keys(found)).toEqual(
    expect.arrayContaining([
      '200 /api/auth/settings',
      '401 /api/e2/emails',
      '200 /api/e2/emails',
      '421 /api/e2/emails',
      `414 /api/e2/emails/${'x'.repeat(25)}`,
    ]),
  );
  for (const [response, field] of Object.entries(found))
    expect([response, field]).toEqual([response, 'max-age=31536000']);
});

test('a service at an http address, or at localhost, sends no such header', async () => {
  for (const publicUrl of ['http://mail.example.com', 'https://localhost:8443'])
    for (const [response, field] of Object.entries(await said(publicUrl)))
      expect([response, field]).toEqual([response, undefined]);
});
