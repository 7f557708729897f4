import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logRecords } from '../support/servers/postgresql-process.ts';
import { type DomainAccount, Service, until } from '../support/servers/service.ts';
import { type SinkMta, startSinkMta } from '../support/servers/sink-mta.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';

/** Ends of single processes. `drain.long.ts` ends one of two of each kind under load. */
let service: Service;
let receiver: WebhookReceiver;
let sink: SinkMta;
let account: DomainAccount;
let database: pg.Client;

const PROCESSES = ['receiving', 'threading', 'delivery', 'sending', 'scheduling', 'gateway', 'smtp'];

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  sink = await startSinkMta();
  service = await Service.start('split', {
    environment: { DRAIN_DELAY_SECONDS: '0', OUTBOUND_RELAY_URL: `smtp://127.0.0.1:${sink.port}` },
  });
  account = await service.createAccount();
  const config = { url: receiver.url };
  const endpoint = await account.call('POST', '/endpoints', { name: 'hook', type: 'webhook', config });
  const body = { address: box(), domainId: account.domainId, endpointId: endpoint.body.id };
  await account.call('POST', '/email-addresses', body);
  database = new pg.Client({ connectionString: await service.databaseUrl() });
  await database.connect();
});

afterAll(async () => {
  await database?.end();
  await service?.stop();
  await receiver?.stop();
  await sink?.stop();
});

const box = () => `box@${account.domain}`;
const about = () => service.output.slice(-3000);
const message = (name: string) =>
  Buffer.from(
    `Message-ID: <${name}@drain.test>\r\nFrom: a@drain.test\r\nTo: ${box()}\r\nSubject: ${name}\r\n\r\nBody\r\n`,
  );

async function count(text: string): Promise<number> {
  const { rows } = await database.query<{ count: string }>(`select count(*) from ${text}`);
  return Number(rows[0]?.count);
}

async function say(client: SmtpClient, line: string, code: number): Promise<void> {
  expect((await client.say(line)).code, line).toBe(code);
}

async function begin(client: SmtpClient): Promise<void> {
  await say(client, 'MAIL FROM:<a@drain.test>', 250);
  await say(client, `RCPT TO:<${box()}>`, 250);
}

test('SMTP finishes a transaction that has begun, and sends 421 to an idle session', async () => {
  const [idle, begun, sending] = [
    await SmtpClient.greet(service.smtpPort),
    await SmtpClient.greet(service.smtpPort),
    await SmtpClient.greet(service.smtpPort),
  ];
  for (const client of [begun, sending]) await begin(client);
  await say(sending, 'DATA', 354);
  sending.send(message('in-data').subarray(0, 40));
  const ended = service.end('smtp', 'SIGTERM');
  expect((await idle.reply()).text).toMatch(/^421 4\.3\.2/);
  await say(begun, 'DATA', 354);
  sending.send(message('in-data').subarray(40));
  await say(sending, '.', 250);
  begun.send(message('begun'));
  await say(begun, '.', 250);
  for (const client of [begun, sending]) expect((await client.reply()).text).toMatch(/^421 4\.3\.2/);
  expect(await ended).toBe(0);
  service.startProcess('smtp');
  await service.awaitReady();
});

test('each process finishes its work at SIGTERM, leaves no lease, and nothing is delivered or sent twice', async () => {
  const taken = receiver.requests.length;
  const release = Promise.withResolvers<void>();
  receiver.respond(async () => {
    await release.promise;
    return 200;
  });
  sink.respond({
    async data() {
      await release.promise;
      return undefined;
    },
  });
  const client = await SmtpClient.greet(service.smtpPort);
  for (let n = 0; n < 10; n++) {
    await begin(client);
    await say(client, 'DATA', 354);
    client.send(message(`held-${n}`));
    await say(client, '.', 250);
    const email = { from: box(), to: `r${n}@away.test`, subject: `Out ${n}`, text: 'Body' };
    expect((await account.call('POST', '/emails', email)).status).toBe(200);
  }
  await until(
    'a webhook and a message to send are held',
    about,
    async () => receiver.requests.length > taken && (await count('recipient where claimed_until > now()')) > 0,
  );
  const ends = PROCESSES.map((name) => service.end(name, 'SIGTERM'));
  await until('the actors are draining', about, async () => {
    const stopping = logRecords(service.output).filter(({ event }) => event === 'process.stopping');
    return ['delivery', 'sending'].every((name) => stopping.some(({ program }) => program === name));
  });
  release.resolve();
  expect(await Promise.all(ends)).toEqual(PROCESSES.map(() => 0));
  for (const table of ['reception', 'route', 'delivery', 'recipient'])
    expect(await count(`${table} where claimed_by is not null and claimed_until > now()`), table).toBe(0);

  for (const name of PROCESSES) service.startProcess(name);
  await service.awaitReady();
  await until(
    'everything is delivered and sent',
    about,
    async () =>
      (await count('delivery')) === (await count('reception')) &&
      (await count(`delivery where status = 'pending'`)) === 0 &&
      (await count(`recipient where status = 'pending'`)) === 0,
  );
  const webhooks = receiver.requests.map(({ webhookId }) => webhookId);
  expect(webhooks).toHaveLength(await count('reception'));
  expect(new Set(webhooks).size).toBe(webhooks.length);
  const recipients = sink.messages.flatMap((each) => each.recipients);
  expect(recipients).toHaveLength(10);
  expect(new Set(recipients).size).toBe(10);
});
