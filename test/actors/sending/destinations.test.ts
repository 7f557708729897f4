import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { SendingActorOptions } from '../../../actors/sending/actor.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import { listAttempts, type RecipientSight, untilRecipients, untilTried } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const isDelivered = ([first]: { status: string }[]) => first?.status === 'delivered';

/** Sends to a domain whose DNS stands already, and answers what one try came to. */
async function tryDomain(
  domain: string,
  options: Partial<SendingActorOptions> = {},
): Promise<RecipientSight | undefined> {
  await stage.start({ port: 1, ...options });
  const emailId = await stage.send({ to: [`ann@${domain}`] });
  const [recipient] = await untilTried(stage.owner, emailId);
  return recipient;
}

test('a domain that does not exist bounces', async () => {
  expect(await tryDomain('nowhere.test')).toMatchObject({
    status: 'bounced',
    last_code: null,
    last_status: '5.1.2',
    last_text: 'Domain not found: nowhere.test does not exist',
  });
  const { rows } = await stage.owner.pool.query(`select address, reason from suppression`);
  expect(rows).toEqual([{ address: 'ann@nowhere.test', reason: 'bounce' }]);
});

test('a domain with a null MX bounces, and its address is not looked up', async () => {
  stage.dns.set('null.test', 'MX', [{ preference: 0, exchange: '.' }]);
  stage.dns.set('null.test', 'A', ['127.0.0.1']);
  expect(await tryDomain('null.test')).toMatchObject({ status: 'bounced', last_code: 556, last_status: '5.1.10' });
  expect(stage.dns.queries.filter((query) => query.endsWith(' null.test'))).toEqual(['MX null.test']);
});

test('a domain with neither MX nor address bounces', async () => {
  stage.dns.set('silent-domain.test', 'TXT', ['v=spf1 -all']);
  expect(await tryDomain('silent-domain.test')).toMatchObject({ status: 'bounced', last_status: '5.1.2' });
});

test('mail servers without an address bounce', async () => {
  stage.dns.set('lost-hosts.test', 'MX', [{ preference: 10, exchange: 'gone.lost-hosts.test' }]);
  expect(await tryDomain('lost-hosts.test')).toMatchObject({ status: 'bounced', last_status: '5.4.4' });
  const { rows } = await stage.owner.pool.query(`select 1 from suppression`);
  expect(rows).toEqual([]);
});

test.each(['SERVFAIL', 'silent'] as const)(
  'a DNS failure (%s) defers',
  async (records) => {
    const domain = `dns-${records.toLowerCase()}.test`;
    stage.dns.set(domain, 'MX', records);
    expect(await tryDomain(domain)).toMatchObject({ status: 'pending', attempts: 1, last_status: '4.4.3' });
  },
  30_000,
);

test('the address of the domain itself is used when it has no MX', async () => {
  const sink = await stage.startSink();
  stage.dns.set('address.test', 'A', ['127.0.0.1']);
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@address.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([
    { host: 'address.test', remote_address: '127.0.0.1' },
  ]);
});

test('a host with only an IPv6 address is reached', async () => {
  const sink = await stage.startSink({ host: '::1' });
  stage.publish('six.test', '::1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@six.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(sink.connections[0]?.remoteAddress).toBe('::1');
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([{ host: 'mx1.six.test', remote_address: '::1' }]);
});

test('the most preferred host is tried first, and the next one when it is down', async () => {
  const second = await stage.startSink({ host: '127.0.0.2' });
  const third = await stage.startSink({ host: '127.0.0.3', port: second.port });
  stage.publish('order.test', '127.0.0.1', '127.0.0.2', '127.0.0.3');
  await stage.start({ port: second.port });
  const emailId = await stage.send({ to: ['ann@order.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect([second.messages.length, third.connections.length]).toEqual([1, 0]);
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([
    { number: 1, outcome: 'delivered', host: 'mx2.order.test', remote_address: '127.0.0.2' },
  ]);
});

test('a host whose greeting is a refusal is skipped', async () => {
  const first = await stage.startSink({ script: { banner: () => '554 5.3.2 not here' } });
  const second = await stage.startSink({ host: '127.0.0.2', port: first.port });
  stage.publish('refusing.test', '127.0.0.1', '127.0.0.2');
  await stage.start({ port: first.port });
  const emailId = await stage.send({ to: ['ann@refusing.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect([first.connections.length, second.messages.length]).toEqual([1, 1]);
});

test('the other address of a host is tried when the first does not respond', async () => {
  const silent = await stage.startSink({ script: { banner: () => 'hang' } });
  const second = await stage.startSink({ host: '127.0.0.2', port: silent.port });
  stage.dns.set('both.test', 'MX', [{ preference: 10, exchange: 'mx.both.test' }]);
  stage.dns.set('mx.both.test', 'A', ['127.0.0.1', '127.0.0.2']);
  // Long enough for the other address, whose server is slow where the machine is.
  await stage.start({ port: silent.port, limits: { greetingMs: 5_000 } });
  const emailId = await stage.send({ to: ['ann@both.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(second.messages).toHaveLength(1);
});

test('addresses that are not permitted are skipped', async () => {
  const sink = await stage.startSink();
  stage.dns.set('guarded.test', 'MX', [
    { preference: 10, exchange: 'inside.guarded.test' },
    { preference: 20, exchange: 'outside.guarded.test' },
  ]);
  stage.dns.set('inside.guarded.test', 'A', ['10.1.2.3', '169.254.169.254']);
  stage.dns.set('outside.guarded.test', 'A', ['127.0.0.1']);
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@guarded.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(sink.messages).toHaveLength(1);
});

test('a domain whose servers have no permitted address bounces without a connection', async () => {
  const canary = await stage.startSink();
  stage.publish('private.test', '127.0.0.1');
  const recipient = await tryDomain('private.test', { port: canary.port, allowedPrivateNetworks: [] });
  expect(recipient).toMatchObject({
    status: 'bounced',
    last_status: '5.4.4',
    last_text: 'The mail servers of private.test have no address that may be connected to',
  });
  expect(canary.connections).toHaveLength(0);
  expect((await stage.owner.pool.query(`select 1 from suppression`)).rows).toEqual([]);
});

test('our own ports are refused on private addresses', async () => {
  const canary = await stage.startSink();
  stage.publish('own-port.test', '127.0.0.1');
  const recipient = await tryDomain('own-port.test', { port: canary.port, refusedPorts: [canary.port] });
  expect(recipient).toMatchObject({ status: 'bounced', last_status: '5.4.4' });
  expect(canary.connections).toHaveLength(0);
});

test('mail for a domain whose MX is this service, and which it does not serve, is refused as a loop', async () => {
  stage.dns.set('loop.test', 'MX', [
    { preference: 10, exchange: 'OUT.postroom.test' },
    { preference: 20, exchange: 'backup.loop.test' },
  ]);
  stage.dns.set('backup.loop.test', 'A', ['127.0.0.1']);
  expect(await tryDomain('loop.test')).toMatchObject({ status: 'bounced', last_status: '5.4.6' });
});

test('mail for a domain of this service goes to its own listener', async () => {
  const inbound = await stage.startSink();
  await createMailbox(stage.owner, { domain: 'hosted.test', address: 'ann@hosted.test' });
  await stage.start({
    port: 1,
    inboundSmtp: { host: '127.0.0.1', port: inbound.port },
    refusedPorts: [inbound.port],
    allowedPrivateNetworks: [],
    relayUrl: 'smtp://127.0.0.1:1',
  });
  const emailId = await stage.send({ to: ['ann@hosted.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(inbound.messages[0]?.recipients).toEqual(['ann@hosted.test']);
  expect(stage.dns.queries.filter((query) => query.endsWith(' hosted.test'))).toEqual([]);
});

test('mail waits for our own listener while it is unreachable for a moment', async () => {
  const former = await stage.startSink();
  await former.stop();
  await createMailbox(stage.owner, { domain: 'restarting.test', address: 'ann@restarting.test' });
  const { promise: isMissed, resolve: miss } = Promise.withResolvers<void>();
  const log = pino(
    { level: 'warn' },
    { write: (line) => (line.includes('our own server is unreachable') ? miss() : undefined) },
  );
  await stage.start({ inboundSmtp: { host: '127.0.0.1', port: former.port }, log });
  const emailId = await stage.send({ to: ['ann@restarting.test'] });
  await isMissed;
  const inbound = await stage.startSink({ port: former.port });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(inbound.messages).toHaveLength(1);
  expect(await listAttempts(stage.owner, emailId)).toHaveLength(1);
});
