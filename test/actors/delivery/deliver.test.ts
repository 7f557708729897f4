import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { encodeSigningSecrets, signStandardWebhook } from '../../../core/endpoints/webhook-signature.ts';
import { encryptSecret } from '../../../core/shared/secret-box.ts';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { listDeliveries, SECRET_KEY, startDelivering, type TestDelivery, untilDeliveries } from './delivering.ts';

let testDatabase: TestDatabase;
let database: Database;
let owner: Database;
let receiver: WebhookReceiver;
let actor: TestDelivery | undefined;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
});
afterEach(async () => {
  await actor?.stop();
  actor = undefined;
  await receiver?.stop();
});
afterAll(() => testDatabase.drop());

/** A mailbox of its own whose endpoint posts to the receiver. */
async function mailboxFor(endpointConfig: Record<string, unknown> = {}) {
  const domain = `deliver${count++}.test`;
  return createMailbox(database, {
    domain,
    address: `hello@${domain}`,
    endpointUrl: `${receiver.url}/hook?x=1`,
    endpointConfig,
  });
}

test('a routed email is posted with the payload and every header that receivers verify by', async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor({ verificationToken: 'a'.repeat(64), headers: { 'X-Mine': 'yes' } });
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const sealed = encryptSecret(
    SECRET_KEY,
    'webhook-secret',
    encodeSigningSecrets([{ secret, validUntil: null }]),
    Buffer.alloc(12, 3),
  );
  await database.pool.query('update endpoint set secret_ciphertext = $2 where id = $1', [mailbox.endpointId, sealed]);
  const [mail] = await insertReceivedMail(database, mailbox);
  actor = await startDelivering(database, owner);

  const [request] = await receiver.received(1);
  const [delivery] = await untilDeliveries(database, mailbox.endpointId, ([first]) => first?.status === 'success');
  expect(request?.method).toBe('POST');
  expect(request?.path).toBe('/hook?x=1');
  const body = request?.body ?? '';
  const hmac = createHmac('sha256', 'a'.repeat(64)).update(body).digest('hex');
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-signature': 'a'.repeat(64),
    'x-webhook-verification-token': 'a'.repeat(64),
    'x-webhook-signature': `sha256=${hmac}`,
    'x-inbound-signature': `sha256=${hmac}`,
    'x-webhook-event': 'email.received',
    'x-endpoint-id': mailbox.endpointId,
    'x-email-id': mail?.emailId,
    'x-message-id': mail?.messageId,
    'webhook-id': delivery?.id,
    'x-mine': 'yes',
    host: `127.0.0.1:${receiver.port}`,
  });
  const seconds = Number(request?.headers['webhook-timestamp']);
  expect(request?.headers['webhook-signature']).toBe(
    signStandardWebhook(secret, delivery?.id ?? '', seconds, Buffer.from(body)),
  );
  expect(Math.abs(seconds * 1_000 - Date.now())).toBeLessThan(60_000);
  expect(Math.floor(Number(request?.headers['x-service-timestamp']) / 1_000)).toBe(seconds);
  expect(String(request?.headers['x-webhook-timestamp'])).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  const payload = JSON.parse(body);
  expect(payload).toMatchObject({
    event: 'email.received',
    email: {
      id: mail?.emailId,
      messageId: mail?.messageId,
      recipient: mailbox.address,
      threadId: 'th_test',
      threadPosition: 0,
      from: { text: 'Ann <ann@sender.test>', addresses: [{ name: 'Ann', address: 'ann@sender.test' }] },
      parsedData: { raw: mail?.raw.toString('utf8'), headers: { 'x-repeated': 'one\ntwo' } },
    },
    endpoint: { id: mailbox.endpointId, name: 'test', type: 'webhook' },
  });
  const attempts = await database.pool.query(`select * from delivery_attempt where delivery_id = $1`, [delivery?.id]);
  expect(attempts.rows).toMatchObject([
    { number: 1, outcome: 'success', status_code: 200, error: null, response_body: '' },
  ]);
  expect(JSON.stringify(attempts.rows[0].request_headers)).not.toContain('aaaa');
  const stat = await database.pool.query('select total, successful, failed from endpoint_stat where endpoint_id = $1', [
    mailbox.endpointId,
  ]);
  expect(stat.rows).toEqual([{ total: 1, successful: 1, failed: 0 }]);
  const events = await database.pool.query('select kind, delivery_id, email_id from event where workspace_id = $1', [
    mailbox.workspaceId,
  ]);
  expect(events.rows).toEqual([{ kind: 'delivery.succeeded', delivery_id: delivery?.id, email_id: mail?.emailId }]);
});

test('a webhook that fails twice and then succeeds gets three attempts, 5 s and 5 min apart, with the same id and body', async () => {
  receiver = await startWebhookReceiver({ script: [500, 500, 200] });
  const mailbox = await mailboxFor();
  await insertReceivedMail(database, mailbox);
  actor = await startDelivering(database, owner);

  const [first] = await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.attempts === 1);
  expect(first).toMatchObject({
    status: 'pending',
    error: 'Webhook returned error (500)',
    status_code: 500,
    claimed_by: null,
  });
  expect(first?.pause_seconds).toBeGreaterThan(3.9);
  expect(first?.wait_seconds).toBeLessThanOrEqual(6);
  await actor.moveClock(6);
  const [second] = await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.attempts === 2);
  expect(second?.pause_seconds).toBeGreaterThan(239);
  expect(second?.wait_seconds).toBeLessThanOrEqual(360);
  await actor.moveClock(361);
  const [third] = await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status === 'success');
  expect(third?.attempts).toBe(3);
  expect(receiver.requests).toHaveLength(3);
  expect(new Set(receiver.requests.map((request) => request.webhookId)).size).toBe(1);
  expect(new Set(receiver.requests.map((request) => request.body)).size).toBe(1);
});

test.each([
  [0, 1],
  [3, 4],
  [10, 11],
])(
  'an endpoint with retryAttempts %i that always fails gets exactly %i requests, then the delivery is failed',
  async (retryAttempts, requests) => {
    receiver = await startWebhookReceiver({ script: [500] });
    const mailbox = await mailboxFor({ retryAttempts });
    await insertReceivedMail(database, mailbox);
    actor = await startDelivering(database, owner);
    for (let attempt = 1; attempt < requests; attempt++) {
      await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.attempts === attempt);
      await actor.moveClock(44_000);
    }
    await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status === 'failed');
    await actor.moveClock(440_000);
    const [delivery] = await listDeliveries(database, mailbox.endpointId);
    expect(delivery).toMatchObject({ status: 'failed', attempts: requests, wait_seconds: null });
    expect(receiver.requests).toHaveLength(requests);
  },
);
