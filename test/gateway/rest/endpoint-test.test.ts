import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../../../actors/actor.ts';
import { SECRET_KEY, startDelivering } from '../../actors/delivery/delivering.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';

const FORMATS = ['native', 'chat_a', 'chat_b', 'inbound', 'discord', 'slack'];
let gateway: TestGateway;
let receiver: WebhookReceiver;
let actor: Actor | null = null;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { secretKey: SECRET_KEY } });
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  await actor?.stop();
  actor = null;
  receiver.respond([200]);
  receiver.requests.length = 0;
});
afterAll(async () => {
  await receiver.stop();
  await gateway.close();
});

async function start(): Promise<void> {
  actor = await startDelivering(gateway.actor, gateway.owner, { bus: gateway.bus, publicUrl: 'http://postroom.test' });
}

const run = async (box: TestMailbox, body?: unknown, id = box.endpointId) => {
  const response = await gateway.call(box.apiKey, 'POST', `/endpoints/${id}/test`, body);
  return { status: response.statusCode, body: response.json(), headers: response.headers };
};

describe('a webhook', () => {
  test('is sent the production request, with its token, and returns the response', async () => {
    await start();
    const box = await gateway.mailbox({ endpointUrl: `${receiver.url}/in` });
    receiver.respond([{ status: 201, body: 'x'.repeat(3_000) }]);
    const { status, body } = await run(box);
    expect(status).toBe(200);
    const [request] = await receiver.received(1);
    expect(body).toEqual({
      success: true,
      message: 'Webhook responded successfully (201)',
      responseTime: expect.any(Number),
      statusCode: 201,
      responseBody: 'x'.repeat(1_000),
      webhookFormat: 'native',
      urlTested: `${receiver.url}/in`,
      testPayload: JSON.parse(request?.body ?? ''),
    });
    expect(body.testPayload).toMatchObject({
      event: 'email.received',
      email: { recipient: box.address, parsedData: expect.anything(), cleanedContent: expect.anything() },
      endpoint: { id: box.endpointId, name: 'test', type: 'webhook' },
    });
    const { config } = (await gateway.call(box.apiKey, 'GET', `/endpoints/${box.endpointId}`)).json();
    expect(request?.headers).toMatchObject({
      'x-webhook-verification-token': config.verificationToken,
      'x-endpoint-id': box.endpointId,
      'x-test-request': 'true',
    });
    // Nothing of it is counted.
    const shown = (await gateway.call(box.apiKey, 'GET', `/endpoints/${box.endpointId}`)).json();
    expect([shown.deliveryStats.total, shown.recentDeliveries]).toEqual([0, []]);
  });

  test('that refuses, or does not respond, is a failed test, not a failed request', async () => {
    await start();
    const box = await gateway.mailbox({ endpointUrl: receiver.url });
    receiver.respond([{ status: 503, body: 'busy' }]);
    expect(await run(box)).toMatchObject({
      status: 200,
      body: {
        success: false,
        message: 'Webhook returned error (503)',
        statusCode: 503,
        responseBody: 'busy',
        responseTime: expect.any(Number),
      },
    });
    receiver.respond(['reset']);
    const reset = await run(box);
    expect(reset).toMatchObject({ status: 200, body: { success: false, urlTested: receiver.url } });
    expect(reset.body).not.toHaveProperty('statusCode');
    expect(reset.body).not.toHaveProperty('responseBody');
    expect(reset.body.error).toBe(reset.body.message);
  });

  test('is tested at another URL, which must be a valid webhook URL', async () => {
    await start();
    const box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
    const overrideUrl = `${receiver.url}/other`;
    expect((await run(box, { overrideUrl })).body).toMatchObject({ success: true, urlTested: overrideUrl });
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/other']);
    for (const [url, details] of [
      [
        'http://169.254.169.254/',
        'Webhook URL must begin with https://, or with http:// for localhost, 127.0.0.1 and [::1]',
      ],
      ['https://10.0.0.1/', 'Webhook URL must not point to a private address'],
      ['http://127.0.0.1:2525/', 'Webhook URL must not use port 2525'],
      ['file:///etc/passwd', 'Invalid webhook URL format'],
      ['', 'Webhook URL is required'],
    ])
      expect(await run(box, { overrideUrl: url }), url).toMatchObject({
        status: 400,
        body: { error: 'Invalid configuration', details },
      });
    expect(receiver.requests).toHaveLength(1);
  });
});

test.each([
  ['native', 'email'],
  ['inbound', 'email'],
  ['chat_a', 'embeds'],
  ['discord', 'embeds'],
  ['chat_b', 'blocks'],
  ['slack', 'blocks'],
])('the format %s is echoed and sent', async (webhookFormat, key) => {
  await start();
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const { status, body } = await run(box, { webhookFormat });
  expect([status, body.webhookFormat]).toEqual([200, webhookFormat]);
  expect(body.testPayload).toHaveProperty(key);
  expect(JSON.parse((await receiver.received(1))[0]?.body ?? '')).toEqual(body.testPayload);
});

test.each([
  ['email', { forwardTo: 'me@away.test' }],
  ['email_group', { emails: ['a@away.test', 'b@away.test'] }],
])('%s queues a sample, and returns how long that took', async (type, config) => {
  await start();
  const box = await gateway.mailbox();
  const made = await gateway.call(box.apiKey, 'POST', '/endpoints', { name: 'out', type, config });
  const { id } = made.json();
  const { status, body } = await run(box, undefined, id);
  expect([status, body]).toEqual([
    200,
    { success: true, message: expect.any(String), responseTime: expect.any(Number) },
  ]);
});

describe('without a delivery actor', () => {
  test('a JSON content type without a body counts as no body; without a delivery actor it is 503', async () => {
    const box = await gateway.mailbox({ endpointUrl: receiver.url });
    const response = await gateway.app.inject({
      method: 'POST',
      url: `/api/e2/endpoints/${box.endpointId}/test`,
      headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json' },
    });
    expect(response.statusCode).toBe(503);
    expect(response.headers['retry-after']).toBeDefined();
    expect(response.json()).toMatchObject({ error: 'Service Unavailable' });
  });

  test('an unknown format is 400 and lists the known ones', async () => {
    const box = await gateway.mailbox({ endpointUrl: receiver.url });
    for (const webhookFormat of ['xml', 7, {}, ''])
      expect(await run(box, { webhookFormat })).toMatchObject({
        status: 400,
        body: { error: 'Invalid webhook format', name: 'validation_error', validFormats: FORMATS },
      });
  });

  test('a disabled endpoint is 400', async () => {
    const box = await gateway.mailbox({ endpointUrl: receiver.url });
    await gateway.actor.pool.query('update endpoint set is_active = false where id = $1', [box.endpointId]);
    const { status, body } = await run(box);
    expect([status, body]).toEqual([
      400,
      {
        error: 'Endpoint is disabled',
        message: 'Endpoint is disabled',
        statusCode: 400,
        name: 'validation_error',
        success: false,
        responseTime: 0,
      },
    ]);
  });

  test('an address has no other URL to test', async () => {
    const box = await gateway.mailbox({ endpointUrl: receiver.url });
    await gateway.actor.pool.query(`update endpoint set type = 'email' where id = $1`, [box.endpointId]);
    expect(await run(box, { overrideUrl: receiver.url })).toMatchObject({
      status: 400,
      body: { details: [{ field: 'overrideUrl' }] },
    });
  });

  test('an endpoint of another user is not found, like an unknown one', async () => {
    const box = await gateway.mailbox({ endpointUrl: receiver.url });
    const other = await gateway.mailbox();
    const responses = [];
    for (const id of [box.endpointId, 'ep_00000000000000000000000000000000', 'x', "';"]) {
      const { status, body } = await run(other, {}, id);
      responses.push({ status, body });
    }
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(responses[0]).toMatchObject({ status: 404, body: { error: 'Endpoint not found' } });
  });
});

test('a user may make 30 tests a minute, over all gateways, at once or one by one', async () => {
  const served = gateway.bus.serve('delivery.endpoint.test', async () => ({
    verdict: 'refused',
    reason: 'invalid',
    details: 'asked',
  }));
  const beside = await gateway.beside();
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const path = `/endpoints/${box.endpointId}/test`;
  const responses = await Promise.all(
    Array.from({ length: 36 }, (_, n) => (n % 2 === 0 ? gateway : beside).call(box.apiKey, 'POST', path)),
  );
  expect(responses.filter(({ statusCode }) => statusCode === 400)).toHaveLength(30);
  const [refused] = responses.filter(({ statusCode }) => statusCode === 429);
  expect(refused?.json()).toMatchObject({ error: 'Too Many Requests', name: 'rate_limit_exceeded', statusCode: 429 });
  const wait = Number(refused?.headers['retry-after']);
  expect(wait).toBeGreaterThan(50);
  expect(wait).toBeLessThanOrEqual(60);
  // What is refused before a test is made does not count, and other users have their own 30.
  const other = await gateway.mailbox({ endpointUrl: receiver.url });
  for (let n = 0; n < 32; n++) expect((await run(other, { overrideUrl: 'https://10.0.0.1/' })).status).toBe(400);
  expect((await run(other)).body).toMatchObject({ error: 'Invalid configuration', details: 'asked' });
  await beside.app.close();
  await served.stop();
});

test('a forwarded sample counts as sent mail', async () => {
  const limited = await openTestGateway({ config: { secretKey: SECRET_KEY, sendLimitPerHour: 1 } });
  try {
    const options = { bus: limited.bus, publicUrl: 'http://postroom.test', allowedPrivateNetworks: [] };
    const delivering = await startDelivering(limited.actor, limited.owner, options);
    const box = await limited.mailbox();
    const config = { forwardTo: 'joe@x.test' };
    const made = await limited.call(box.apiKey, 'POST', '/endpoints', { name: 'Joe', type: 'email', config });
    const path = `/endpoints/${made.json().id}/test`;
    expect((await limited.call(box.apiKey, 'POST', path)).json()).toMatchObject({ success: true });
    const refused = await limited.call(box.apiKey, 'POST', path);
    expect([refused.statusCode, refused.json().message]).toEqual([
      429,
      'Hourly sending limit reached (1 emails per hour). Please try again later.',
    ]);
    await delivering.stop();
  } finally {
    await limited.close();
  }
});
