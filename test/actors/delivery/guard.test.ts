import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type DeliverySight, startDelivering, type TestDelivery, untilDeliveries } from './delivering.ts';
import { type LoopbackDns, startLoopbackDns } from './loopback-dns.ts';

/** The only network that webhooks may reach here; 127.0.0.1 stands for what they must not. */
const ALLOWED_HOST = '127.0.0.2';

let testDatabase: TestDatabase;
let database: Database;
let dns: LoopbackDns;
/** at the allowed address */
let receiver: WebhookReceiver;
/** there, too, over plain HTTP */
let plain: WebhookReceiver;
/** at 127.0.0.1, same port: nothing may ever come in */
let canary: WebhookReceiver;
let canarySix: WebhookReceiver;
let canaryPlain: WebhookReceiver;
let actor: TestDelivery | undefined;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  dns = await startLoopbackDns();
  receiver = await startWebhookReceiver({ host: ALLOWED_HOST, tlsName: 'hooks.test' });
  plain = await startWebhookReceiver({ host: ALLOWED_HOST });
  canaryPlain = await startWebhookReceiver({ host: '127.0.0.1', port: plain.port });
  canary = await startWebhookReceiver({ host: '127.0.0.1', port: receiver.port });
  canarySix = await startWebhookReceiver({ host: '::1', port: receiver.port });
});
afterEach(async () => {
  await actor?.stop();
  expect(canary.connectionCount() + canarySix.connectionCount() + canaryPlain.connectionCount()).toBe(0);
  receiver.requests.length = 0;
});
afterAll(async () => {
  await Promise.all([receiver.stop(), canary.stop(), canarySix.stop(), plain.stop(), canaryPlain.stop(), dns.stop()]);
  await testDatabase.drop();
});

async function start(options: { refusedPorts?: number[] } = {}) {
  actor = await startDelivering(database, testDatabase.open(null), {
    allowedPrivateNetworks: [`${ALLOWED_HOST}/32`],
    dnsServers: [dns.server],
    trustedCertificates: [receiver.certificate ?? ''],
    ...options,
  });
}

/** Delivers one mail to the URL and answers the delivery after its first attempt. */
async function deliverTo(url: string): Promise<DeliverySight | undefined> {
  const domain = `guard${count++}.test`;
  const mailbox = await createMailbox(database, { domain, address: `hello@${domain}`, endpointUrl: url });
  await insertReceivedMail(database, mailbox);
  actor?.wakeRouter();
  const [delivery] = await untilDeliveries(database, mailbox.endpointId, ([one]) => (one?.attempts ?? 0) > 0);
  return delivery;
}

const BLOCKED = { status: 'pending', attempts: 1, error: 'blocked address', status_code: null };

test('a name that resolves to an allowed address is connected there, with its name in SNI and Host', async () => {
  dns.set('hooks.test', { A: [[ALLOWED_HOST]] });
  await start();
  expect(await deliverTo(`https://hooks.test:${receiver.port}/in`)).toMatchObject({ status: 'success' });
  expect(receiver.requests[0]?.serverName).toBe('hooks.test');
  expect(receiver.requests[0]?.headers.host).toBe(`hooks.test:${receiver.port}`);
});

test('a name is resolved once per connection, so a later private address changes nothing', async () => {
  dns.set('hooks.test', { A: [[ALLOWED_HOST], ['127.0.0.1']] });
  await start();
  const before = dns.queries.length;
  expect(await deliverTo(`https://hooks.test:${receiver.port}/in`)).toMatchObject({ status: 'success' });
  expect(dns.queries.slice(before).filter((query) => query === 'A hooks.test').length).toBeLessThanOrEqual(1);
  // The next delivery uses the connection that stands, or is refused at a new look-up; never the private address.
  await deliverTo(`https://hooks.test:${receiver.port}/in`);
});

test('a kept-alive connection stays with its address, and a new connection checks the name again', async () => {
  dns.set('kept.test', { A: [[ALLOWED_HOST], ['127.0.0.1']] });
  const domain = `guard${count++}.test`;
  const mailbox = await createMailbox(database, {
    domain,
    address: `hello@${domain}`,
    endpointUrl: `http://kept.test:${plain.port}/`,
  });
  await start();
  for (const expected of [1, 2]) {
    await insertReceivedMail(database, mailbox);
    actor?.wakeRouter();
    await untilDeliveries(
      database,
      mailbox.endpointId,
      (all) => all.filter(({ status }) => status === 'success').length === expected,
    );
  }
  expect(new Set(plain.requests.map(({ remotePort }) => remotePort)).size).toBe(1);
  expect(dns.queries.filter((query) => query === 'A kept.test')).toHaveLength(1);
  plain.closeConnections();
  await insertReceivedMail(database, mailbox);
  actor?.wakeRouter();
  const deliveries = await untilDeliveries(database, mailbox.endpointId, (all) => all[2]?.attempts === 1);
  expect(deliveries[2]).toMatchObject(BLOCKED);
  expect(plain.requests).toHaveLength(2);
});

test.each([
  ['a private address', { A: [['127.0.0.1']] }],
  ['a metadata address', { A: [['169.254.169.254']] }],
  ['an allowed address beside a private one', { A: [[ALLOWED_HOST, '127.0.0.1']] }],
  ['an allowed address beside ::1', { A: [[ALLOWED_HOST]], AAAA: [['::1']] }],
  ['a mapped private address', { AAAA: [['::ffff:127.0.0.1']] }],
  ['a CNAME to a private name', { CNAME: 'internal.test', A: [['127.0.0.1']] }],
])('a name with %s is blocked, and the attempt counts', async (_, script) => {
  const name = `n${count}.test`;
  dns.set(name, script);
  await start();
  expect(await deliverTo(`https://${name}:${receiver.port}/`)).toMatchObject(BLOCKED);
  expect(receiver.requests).toHaveLength(0);
});

test.each([
  'https://127.0.0.1:PORT/',
  'https://[::1]:PORT/',
  'https://[::ffff:127.0.0.1]:PORT/',
  'https://0x7f.1:PORT/',
  'https://localhost:PORT/',
  'https://x.localhost:PORT/',
  'http://127.0.0.1:PORT/',
  `https://${ALLOWED_HOST}:25/`,
])('a stored URL that is not allowed is blocked too: %s', async (url) => {
  await start();
  expect(await deliverTo(url.replace('PORT', String(receiver.port)))).toMatchObject(BLOCKED);
});

test('our own ports are blocked at allowed addresses', async () => {
  await start({ refusedPorts: [receiver.port] });
  dns.set('own.test', { A: [[ALLOWED_HOST]] });
  expect(await deliverTo(`https://own.test:${receiver.port}/`)).toMatchObject(BLOCKED);
  expect(await deliverTo(`https://${ALLOWED_HOST}:${receiver.port}/`)).toMatchObject(BLOCKED);
});

test.each([301, 302, 303, 307, 308])('a redirect by %i to a private address is not followed', async (status) => {
  dns.set('hooks.test', { A: [[ALLOWED_HOST]] });
  receiver.respond([{ status, headers: { Location: `http://127.0.0.1:${canary.port}/` } }]);
  await start();
  expect(await deliverTo(`https://hooks.test:${receiver.port}/`)).toMatchObject({
    status: 'pending',
    status_code: status,
  });
  receiver.respond([200]);
});

test('a proxy of the environment is not used', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${canary.port}`);
  dns.set('hooks.test', { A: [[ALLOWED_HOST]] });
  await start();
  expect(await deliverTo(`https://hooks.test:${receiver.port}/`)).toMatchObject({ status: 'success' });
});

test('a name that does not exist fails the attempt', async () => {
  await start();
  expect(await deliverTo('https://missing.test/')).toMatchObject({ status: 'pending', error: 'Host not found' });
});
