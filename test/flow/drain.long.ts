import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { type Backend, type Balancer, startBalancer } from '../support/servers/balancer.ts';
import { startClients } from '../support/servers/http-clients.ts';
import { type DomainAccount, Service, until } from '../support/servers/service.ts';
import { type SinkMta, startSinkMta } from '../support/servers/sink-mta.ts';
import { smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';

/** Whoever sends work learns within this time that a process is about to end; seconds. */
const DRAIN_DELAY_SECONDS = 3;
const ACTORS = ['receiving', 'threading', 'delivery', 'sending', 'scheduling'];
const WAIT_MS = 120_000;

let service: Service;
/** Of the webhook receiver and of the sink; milliseconds. */
let respondsAfterMs = 1_000;
let receiver: WebhookReceiver;
let sink: SinkMta;
let account: DomainAccount;
let database: pg.Client;
let http: Balancer;
let smtp: Balancer;
const environments = new Map<string, Record<string, string>>();
let secondGateway: number;

beforeAll(async () => {
  receiver = await startWebhookReceiver({ script: () => ({ status: 200, delayMs: respondsAfterMs }) });
  sink = await startSinkMta({ script: { message: () => ({ reply: '250 2.0.0 taken', afterMs: respondsAfterMs }) } });
  service = await Service.start('split', {
    hasMetrics: true,
    environment: {
      DRAIN_DELAY_SECONDS: String(DRAIN_DELAY_SECONDS),
      OUTBOUND_RELAY_URL: `smtp://127.0.0.1:${sink.port}`,
    },
  });
  secondGateway = await freePort();
  const [secondSmtp, secondSmtpReady] = [await freePort(), await freePort()];
  environments.set('gateway-2', { HTTP_PORT: String(secondGateway) });
  environments.set('smtp-2', { SMTP_PORT: String(secondSmtp), METRICS_PORT: String(secondSmtpReady) });
  for (const name of ['gateway-2', 'smtp-2', ...ACTORS.map((actor) => `${actor}-2`)]) start(name);
  const gateways: Backend[] = [service.httpPort, secondGateway].map((port) => ({
    port,
    readyUrl: `http://127.0.0.1:${port}/ready`,
  }));
  http = await startBalancer(gateways);
  smtp = await startBalancer([
    { port: service.smtpPort, readyUrl: `${service.metricsUrl('smtp')}/ready` },
    { port: secondSmtp, readyUrl: `http://127.0.0.1:${secondSmtpReady}/ready` },
  ]);
  account = await service.createAccount();
  const endpoint = await account.call('POST', '/endpoints', {
    name: 'hook',
    type: 'webhook',
    config: { url: receiver.url },
  });
  const body = { address: box(), domainId: account.domainId, endpointId: endpoint.body.id };
  await account.call('POST', '/email-addresses', body);
  database = new pg.Client({ connectionString: await service.databaseUrl() });
  await database.connect();
}, 300_000);

afterAll(async () => {
  await database?.end();
  await http?.close();
  await smtp?.close();
  await service?.stop();
  await receiver?.stop();
  await sink?.stop();
});

const box = () => `box@${account.domain}`;
const start = (name: string) => service.startProcess(name, environments.get(name));
const said = () => service.output.slice(-3000);
const message = (name: string) =>
  Buffer.from(
    `Message-ID: <${name}@drain.test>\r\nFrom: a@drain.test\r\nTo: ${box()}\r\nSubject: ${name}\r\n\r\nBody\r\n`,
  );
const email = (n: number) => ({ from: box(), to: `r${n}@away.test`, subject: `Out ${n}`, text: 'Body' });

async function ready(url: string): Promise<void> {
  await until(`${url}/ready returns 200`, said, async () => (await fetch(`${url}/ready`)).ok, WAIT_MS);
}

async function count(text: string, values: unknown[] = []): Promise<number> {
  const { rows } = await database.query<{ count: string }>(`select count(*) from ${text}`, values);
  return Number(rows[0]?.count);
}

/** Offers messages, again and again until each was taken, as MTAs do; returns every reply that was not 250. */
async function offer(
  name: string,
  total: number,
  options: { perSecond: number; isReusing: boolean },
): Promise<string[]> {
  let open = Array.from({ length: total }, (_, n) => `${name}-${n}`);
  const refusals: string[] = [];
  for (let round = 0; open.length > 0 && round < 10; round++) {
    const offered = open;
    const results = await smtpLoad({
      host: '127.0.0.1',
      port: smtp.port,
      count: offered.length,
      sessions: 5,
      isReusingConnections: options.isReusing,
      reversePath: 'a@drain.test',
      recipients: () => [box()],
      message: (n) => toWireForm(message(offered[n] ?? '')),
      perSecond: options.perSecond,
    });
    refusals.push(...results.filter(({ code }) => code !== 250).map(({ code, reply }) => `${code} ${reply}`));
    open = results.filter(({ code }) => code !== 250).map(({ n }) => offered[n] ?? '');
  }
  return refusals;
}

describe('of two gateways', () => {
  test('one after the other stops and starts, and clients with or without kept connections see no error', async () => {
    const clients = startClients(() => `http://127.0.0.1:${http.port}`, account.apiKey, email);
    const stream = await fetch(`${service.url}/api/e2/events`, {
      headers: { authorization: `Bearer ${account.apiKey}`, accept: 'text/event-stream' },
    });
    const streamed = stream.text();
    try {
      for (const [name, url] of [
        ['gateway', service.url],
        ['gateway-2', `http://127.0.0.1:${secondGateway}`],
      ] as const) {
        const ended = service.end(name, 'SIGTERM');
        await until(`${name} is draining`, said, async () => (await fetch(`${url}/ready`)).status === 503);
        const response = await fetch(`${url}/api/e2/emails?limit=1`, {
          headers: { authorization: `Bearer ${account.apiKey}` },
        });
        expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
        await response.text();
        expect(await (await fetch(`${url}/ready`)).json()).toEqual({ status: 'unavailable', missing: ['draining'] });
        expect(await ended).toBe(0);
        start(name);
        await ready(url);
      }
    } finally {
      await clients.stop();
    }
    const { kept, single } = clients.reports;
    expect({ kept: kept.failures, single: single.failures }).toEqual({ kept: [], single: [] });
    for (const { responses } of [kept, single]) {
      expect(Object.keys(responses)).toEqual(['200']);
      expect(responses[200]).toBeGreaterThan(20);
    }
    expect(await streamed).toMatch(/event: error\nid: .*\ndata: \{"code":"GOING_AWAY".*\}\n\n$/);
  }, 300_000);
});

describe('of two SMTP processes', () => {
  test('one after the other stops and starts, and senders see at most a 421 between two messages', async () => {
    const before = await count('reception');
    const load = Promise.all([
      offer('kept', 400, { perSecond: 20, isReusing: true }),
      offer('single', 200, { perSecond: 10, isReusing: false }),
    ]);
    for (const name of ['smtp', 'smtp-2']) {
      expect(await service.end(name, 'SIGTERM')).toBe(0);
      start(name);
      const port = name === 'smtp' ? null : environments.get(name)?.['METRICS_PORT'];
      await ready(port === null ? service.metricsUrl('smtp') : `http://127.0.0.1:${port}`);
    }
    const [kept, single] = await load;
    for (const refusal of kept) expect(refusal).toMatch(/^421 421 4\.3\.2 Shutting down/);
    expect(single).toEqual([]);
    expect((await count('reception')) - before).toBe(600);
  }, 300_000);
});

describe('of two actors of each kind', () => {
  test('one stops with much work in progress, leaves no lease behind, and the other does the rest once', async () => {
    // Long enough that work of both kinds is in hand at once, and shorter than a drain.
    respondsAfterMs = 6_000;
    const offered = offer('actors', 300, { perSecond: 100, isReusing: true });
    const sent = Promise.all(Array.from({ length: 150 }, (_, n) => account.call('POST', '/emails', email(10_000 + n))));
    const firsts = new Map(ACTORS.map((name) => [name, service.processes.get(name)?.pid]));
    const heldBy = (table: string, name: string) =>
      count(`${table} where claimed_by like $1`, [`%-${firsts.get(name)}-%`]);
    await until(
      'deliveries and recipients are in the hands of the first of two',
      said,
      async () => (await heldBy('delivery', 'delivery')) > 0 && (await heldBy('recipient', 'sending')) > 0,
      WAIT_MS,
    );
    const ends = ACTORS.map((name) => service.end(name, 'SIGTERM'));
    respondsAfterMs = 1_000;
    const codes = await Promise.all(ends);
    expect(codes).toEqual(ACTORS.map(() => 0));
    for (const table of ['reception', 'route', 'delivery', 'recipient'])
      for (const name of ACTORS)
        expect(
          await count(`${table} where claimed_by like $1 and claimed_until > now()`, [`%-${firsts.get(name)}-%`]),
          `${table} in the hands of ${name}`,
        ).toBe(0);
    expect((await sent).map(({ status }) => status)).toEqual(Array.from({ length: 150 }, () => 200));
    expect(await offered).toEqual([]);
    await until(
      'all is delivered and sent',
      said,
      async () =>
        (await count(`delivery where status = 'pending'`)) === 0 &&
        (await count(`recipient where status = 'pending'`)) === 0 &&
        (await count('reception where parsed_at is null')) === 0 &&
        (await count(`email where type = 'received' and thread_id is null`)) === 0 &&
        (await count('delivery')) === (await count('reception')),
      WAIT_MS,
    );
    const webhooks = receiver.requests.map(({ webhookId }) => webhookId);
    expect(new Set(webhooks).size).toBe(await count('delivery'));
    expect(webhooks.length).toBe(new Set(webhooks).size);
    const recipients = sink.messages.flatMap((taken) => taken.recipients);
    expect(recipients.length).toBe(new Set(recipients).size);
    expect(recipients.length).toBe(await count(`recipient where status = 'delivered'`));
    for (const name of ACTORS) start(name);
  }, 300_000);
});
