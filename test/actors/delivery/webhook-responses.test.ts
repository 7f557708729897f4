import { Agent } from 'undici';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { postWebhook, type ResponseMemory } from '../../../actors/delivery/post-webhook.ts';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import {
  type ScriptedResponse,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts';
import {
  type DeliverySight,
  listDeliveries,
  startDelivering,
  type TestDelivery,
  untilDeliveries,
} from './delivering.ts';

let testDatabase: TestDatabase;
let database: Database;
let owner: Database;
let receiver: WebhookReceiver;
let actor: TestDelivery;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
  receiver = await startWebhookReceiver();
  actor = await startDelivering(database, owner);
});
afterEach(() => {
  receiver.requests.length = 0;
});
afterAll(async () => {
  await actor.stop();
  await receiver.stop();
  await testDatabase.drop();
});

/** Delivers one mail to the URL and answers the delivery after its first attempt. */
async function afterFirstAttempt(
  url: string,
  config: Record<string, unknown> = {},
): Promise<DeliverySight & { endpointId: string | null }> {
  const domain = `answers${count++}.test`;
  const mailbox = await createMailbox(database, {
    domain,
    address: `hello@${domain}`,
    endpointUrl: url,
    endpointConfig: config,
  });
  await insertReceivedMail(database, mailbox);
  actor.wakeRouter();
  const [delivery] = await untilDeliveries(database, mailbox.endpointId, ([one]) => (one?.attempts ?? 0) > 0);
  if (delivery === undefined) throw new Error('no delivery');
  return { ...delivery, endpointId: mailbox.endpointId };
}

/** The requests of one delivery: those of earlier tests are retried meanwhile. */
const listRequests = ({ id }: DeliverySight) => receiver.requests.filter(({ webhookId }) => webhookId === id);

test.each([200, 201, 204, 299])('status %i is a success', async (status) => {
  receiver.respond([status]);
  expect(await afterFirstAttempt(receiver.url)).toMatchObject({ status: 'success', error: null, status_code: status });
});

test.each([301, 302, 303, 307, 308])('status %i is a failure, and its redirect is not followed', async (status) => {
  receiver.respond([{ status, headers: { Location: `${receiver.url}/elsewhere` } }]);
  const delivery = await afterFirstAttempt(receiver.url);
  expect(delivery).toMatchObject({
    status: 'pending',
    error: `Webhook returned error (${status})`,
    status_code: status,
  });
  expect(listRequests(delivery)).toHaveLength(1);
});

test('status 410 ends the delivery, and disables the endpoint with the reason', async () => {
  receiver.respond([410]);
  const delivery = await afterFirstAttempt(receiver.url);
  expect(delivery).toMatchObject({ status: 'failed', attempts: 1, status_code: 410 });
  const { rows } = await database.pool.query('select is_active, inactive_reason from endpoint where id = $1', [
    delivery.endpointId,
  ]);
  expect(rows).toEqual([{ is_active: false, inactive_reason: 'The receiver responded with 410 Gone' }]);
});

test('status 429 waits for Retry-After, at most twice the retry interval', async () => {
  receiver.respond([{ status: 429, headers: { 'Retry-After': '9' } }]);
  const patient = await afterFirstAttempt(receiver.url);
  expect(patient.pause_seconds).toBeGreaterThan(6);
  expect(patient.wait_seconds).toBeLessThanOrEqual(9);
  receiver.respond([{ status: 429, headers: { 'Retry-After': '86400' } }]);
  const capped = await afterFirstAttempt(receiver.url);
  expect(capped.pause_seconds).toBeGreaterThan(6);
  expect(capped.wait_seconds).toBeLessThanOrEqual(10);
});

test('at most 20 KB of a body of 50 MB are read and 4 KB stored, and the connection is closed', async () => {
  receiver.respond([{ status: 200, bodyBytes: 50_000_000 }]);
  const before = receiver.bytesSent();
  const delivery = await afterFirstAttempt(receiver.url);
  expect(delivery).toMatchObject({ status: 'success', status_code: 200 });
  const { rows } = await database.pool.query(
    'select length(response_body) as length from delivery_attempt where delivery_id = $1',
    [delivery.id],
  );
  expect(rows).toEqual([{ length: 4_096 }]);
  // What the sockets' buffers took was written, and no more.
  expect(receiver.bytesSent() - before).toBeLessThan(20_000_000);
});

test('a body without end is cut off', async () => {
  receiver.respond(['endless body']);
  expect(await afterFirstAttempt(receiver.url)).toMatchObject({ status: 'success', status_code: 200 });
});

const failures: [string, ScriptedResponse, string][] = [
  ['header fields without end', 'endless headers', 'Header section of the response is too large'],
  ['a reset connection', 'reset', 'Connection reset'],
];
test.each(failures)('%s fails the attempt and is retried', async (_, response, error) => {
  receiver.respond([response]);
  expect(await afterFirstAttempt(receiver.url)).toMatchObject({
    status: 'pending',
    attempts: 1,
    error,
    status_code: null,
  });
});

test('long responses that are kept for their actions share a limited memory', async () => {
  const agent = new Agent();
  receiver.respond([{ headers: { 'content-type': 'application/json' }, body: JSON.stringify('x'.repeat(100_000)) }]);
  const post = (memory: ResponseMemory) =>
    postWebhook(
      agent,
      { origin: receiver.url, path: '/', headers: [], body: Buffer.alloc(0), timeoutMs: 30_000, allowsActions: true },
      memory,
    ).response;
  const enough = { leftBytes: 100_002 - 4_096 };
  const kept = await post(enough);
  expect(kept).toMatchObject({ kind: 'responded', isTooLong: false });
  expect(kept.kind === 'responded' && kept.bytes.length).toBe(100_002);
  expect(enough.leftBytes).toBe(100_002 - 4_096);
  const little = { leftBytes: 100_001 - 4_096 };
  expect(await post(little)).toEqual({ kind: 'unanswered', error: 'Too many long responses at the same time' });
  expect(little.leftBytes).toBe(100_001 - 4_096);
  await agent.destroy();
});

test('a receiver that never responds fails the attempt at its timeout', async () => {
  receiver.respond(['hang']);
  const delivery = await afterFirstAttempt(receiver.url, { timeout: 1 });
  expect(delivery).toMatchObject({ status: 'pending', error: 'Request timed out after 1 seconds', status_code: null });
  const { rows } = await database.pool.query(
    'select outcome, status_code, duration_ms from delivery_attempt where delivery_id = $1',
    [delivery.id],
  );
  expect(rows).toMatchObject([{ outcome: 'failed', status_code: null }]);
  expect(rows[0].duration_ms).toBeGreaterThanOrEqual(950);
});

test('a refused connection fails the attempt', async () => {
  const gone = await startWebhookReceiver();
  await gone.stop();
  expect(await afterFirstAttempt(gone.url)).toMatchObject({ status: 'pending', error: 'Connection refused' });
});

test('a certificate of an unknown authority fails the attempt', async () => {
  const secure = await startWebhookReceiver({ tlsName: 'localhost' });
  const delivery = await afterFirstAttempt(`https://localhost:${secure.port}/`);
  expect(delivery).toMatchObject({ status: 'pending', status_code: null });
  expect(delivery.error).toMatch(/^TLS failed \([A-Z_]+\)$/);
  expect(secure.requests).toHaveLength(0);
  await secure.stop();
});

test('plain text instead of TLS fails the attempt', async () => {
  const delivery = await afterFirstAttempt(receiver.url.replace('http:', 'https:'));
  expect(delivery).toMatchObject({ status: 'pending', status_code: null });
  expect(listRequests(delivery)).toHaveLength(0);
});

test('a response with NUL and broken UTF-8 is stored as text', async () => {
  receiver.respond([{ status: 200, body: Buffer.from([0x61, 0x00, 0xff, 0x62]) }]);
  const delivery = await afterFirstAttempt(receiver.url);
  const { rows } = await database.pool.query('select response_body from delivery_attempt where delivery_id = $1', [
    delivery.id,
  ]);
  expect(rows).toEqual([{ response_body: 'a\uFFFD\uFFFDb' }]);
});

test('a delivery whose endpoint was disabled or deleted meanwhile ends without a request', async () => {
  receiver.respond([500]);
  const off = await afterFirstAttempt(receiver.url);
  const deleted = await afterFirstAttempt(receiver.url);
  await database.pool.query('update endpoint set is_active = false where id = $1', [off.endpointId]);
  await database.pool.query('delete from endpoint where id = $1', [deleted.endpointId]);
  receiver.requests.length = 0;
  await actor.moveClock(7);
  const [switchedOff] = await untilDeliveries(database, off.endpointId, ([one]) => one?.status !== 'pending');
  const [gone] = await untilDeliveries(database, deleted.endpointId, ([one]) => one?.status !== 'pending');
  expect(switchedOff).toMatchObject({ status: 'failed', attempts: 1, error: 'Endpoint is inactive' });
  expect(gone).toMatchObject({ status: 'failed', attempts: 1, error: 'Endpoint not found' });
  expect([...listRequests(off), ...listRequests(deleted)]).toEqual([]);
});

test('the flat form and the HMAC scheme are sent when the endpoint asks for them', async () => {
  receiver.respond([200]);
  const delivery = await afterFirstAttempt(receiver.url, { payload: 'flat', signatureScheme: 'hmac' });
  const [request] = listRequests(delivery);
  expect(JSON.parse(request?.body ?? '')).toMatchObject({ type: 'received', to: [expect.stringContaining('hello@')] });
  expect(`sha256=${String(request?.headers['x-service-signature'])}`).toBe(request?.headers['x-webhook-signature']);
});

test('a connection is reused for the next delivery to the same endpoint', async () => {
  receiver.respond([200]);
  const before = receiver.connectionCount();
  await afterFirstAttempt(receiver.url);
  await afterFirstAttempt(receiver.url);
  expect(receiver.connectionCount() - before).toBeLessThanOrEqual(1);
  expect((await listDeliveries(database, null)).length).toBe(0);
});
