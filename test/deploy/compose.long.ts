import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DnsServer, startDnsServer } from '../support/servers/dns.ts';
import { callers, type DomainAccount, type ServiceResponse, until } from '../support/servers/service.ts';
import { type SinkMta, startSinkMta } from '../support/servers/sink-mta.ts';
import { smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { ComposeStage } from '../support/stages/compose-stage.ts';
import { readMessageId } from '../support/stages/sending-stage.ts';

const run = promisify(execFile);

/** Of one user, at both gateways together; the polling of these tests stays far below it. */
const REQUESTS_PER_SECOND = 50;
const LIMIT_MS = 120_000;

/** What tells that an actor had work. */
const workMetrics = {
  receiving: 'postroom_receiving_commit_messages_count',
  threading: 'postroom_threading_emails_total',
  delivery: 'postroom_delivery_outcomes_total',
  sending: 'postroom_sending_outcomes_total',
};

let stage: ComposeStage;
let dns: DnsServer;
let sink: SinkMta;
let receiver: WebhookReceiver;
let account: DomainAccount;
let address: string;
let database: pg.Client;

beforeAll(async () => {
  dns = await startDnsServer();
  sink = await startSinkMta({ name: 'mx.elsewhere.test' });
  receiver = await startWebhookReceiver();
  dns.set('mx.elsewhere.test', 'A', [sink.host]);
  dns.set('elsewhere.test', 'MX', [{ preference: 10, exchange: 'mx.elsewhere.test' }]);
  stage = await ComposeStage.start({
    env: {
      DNS_SERVERS: dns.address,
      OUTBOUND_PORT: String(sink.port),
      RATE_LIMIT_PER_SECOND: String(REQUESTS_PER_SECOND),
      DRAIN_DELAY_SECONDS: '0',
    },
  });
  database = new pg.Client({ connectionString: stage.databaseUrl });
  await database.connect();
  account = await stage.createAccount();
  address = `help@${account.domain}`;
  const endpoint = await account.call('POST', '/endpoints', {
    name: 'flow',
    type: 'webhook',
    config: { url: receiver.url, retryAttempts: 3 },
  });
  const made = await account.call('POST', '/email-addresses', {
    address,
    domainId: account.domainId,
    endpointId: endpoint.body.id,
  });
  expect(made.status).toBe(201);
}, 300_000);

afterAll(async () => {
  await database?.end();
  await stage?.stop();
  await receiver?.stop();
  await sink?.stop();
  await dns?.stop();
});

test('the health checks report healthy processes', async () => {
  for (const name of ['gateway-2', 'smtp-1', 'delivery-2']) {
    const [, program = '', ...words] = stage.readHealthcheck(name) ?? [];
    await run(program, words);
    const isAsked = (from: string, to: string) =>
      run(
        program,
        words.map((word) => word.replace(from, to)),
      );
    await expect(isAsked('/9464', '/1'), 'nothing listens').rejects.toThrow();
    await expect(isAsked('/ready', '/no-such-path'), 'not 200').rejects.toThrow();
  }
});

test('a message received by either SMTP server is sent as one webhook and can be read at either gateway', async () => {
  for (const [n, name] of ['smtp-1', 'smtp-2'].entries()) {
    const id = await take(stage.findSmtp(name), `<either.${n}@elsewhere.test>`);
    await awaitWebhook(`<either.${n}@elsewhere.test>`);
    for (const gateway of ['gateway-1', 'gateway-2']) {
      const read = await at(gateway).call('GET', `/emails/${id}`);
      expect(read).toMatchObject({ status: 200, body: { id, message_id: `<either.${n}@elsewhere.test>` } });
    }
  }
  expect(listWebhooks('<either.0@elsewhere.test>')).toHaveLength(1);
});

test('the service sees the addresses of clients behind the proxy', async () => {
  const id = await take(stage.smtp, '<proxied@elsewhere.test>');
  await awaitWebhook('<proxied@elsewhere.test>');
  const { rows } = await database.query('select remote_address from reception where email_id = $1', [id]);
  expect(rows).toEqual([{ remote_address: '127.0.0.1' }]);
  expect(stage.readAddress('proxy')).not.toBe('127.0.0.1');
  expect((await fetch(`${stage.url}/ready`)).status).toBe(200);
});

test('an email sent at one gateway leaves once, and its reply joins the thread', async () => {
  const sent = await at('gateway-1').call('POST', '/emails', {
    from: address,
    to: 'friend@elsewhere.test',
    subject: 'A question',
    text: 'Do you hear me?',
  });
  expect(sent.status).toBe(200);
  const status = () => at('gateway-2').call('GET', `/emails/${sent.body.id}`);
  await soon('it is delivered', async () => (await status()).body.status === 'delivered');
  const { body } = await status();
  const received = sink.messages.filter((message) => readMessageId(message) === body.message_id);
  expect(received).toHaveLength(1);

  const replyId = await take(stage.smtp, '<answer@elsewhere.test>', [
    'Subject: Re: A question',
    `In-Reply-To: ${body.message_id}`,
  ]);
  await soon('the reply is in the thread', async () => {
    const response = (await at('gateway-1').call('GET', `/emails/${replyId}`)).body;
    return response.thread_id !== null && response.thread_id === (await status()).body.thread_id;
  });
});

test('with two of every actor, one handles each received, sent and scheduled message', async () => {
  const COUNT = 25;
  const instant = await scheduledInstant(3_600);
  const [incoming, outgoing, scheduled] = await Promise.all([
    Promise.all(
      ['smtp-1', 'smtp-2'].map((name) =>
        smtpLoad({
          ...makeLoad(stage.findSmtp(name)),
          count: COUNT,
          message: (n) => mail(`<in.${name}.${n}@elsewhere.test>`),
        }),
      ),
    ),
    Promise.all(Array.from({ length: COUNT }, (_, n) => submit(n, {}))),
    Promise.all(Array.from({ length: COUNT }, (_, n) => submit(n, { scheduled_at: instant }))),
  ]);
  expect(incoming.flat().every(({ code }) => code === 250)).toBe(true);
  expect([...outgoing, ...scheduled].every(({ status }) => status === 200 || status === 201)).toBe(true);

  await soon('all webhooks came', () => Promise.resolve(webhooks('<in.').length >= 2 * COUNT));
  await soon('what is not scheduled left', async () => (await waiting()) === COUNT);
  // Not before: the leases of what is in hand would be over, too.
  await database.query(`update clock set shift = shift + interval '2 hours'`);
  await soon('nothing waits', async () => (await waiting()) === 0);
  expect(webhooks('<in.')).toHaveLength(2 * COUNT);
  expect(new Set(webhooks('<in.').map(({ webhookId }) => webhookId)).size).toBe(2 * COUNT);
  expect(sentWith('Subject: number')).toHaveLength(2 * COUNT);
  const { rows } = await database.query<{ twice: number }>(
    `select count(*)::int as twice from (select thread_id, thread_position from email where thread_id is not null group by 1, 2 having count(*) > 1) doubled`,
  );
  expect(rows[0]?.twice).toBe(0);
  // Both of a kind had some of the work.
  for (const [kind, metric] of Object.entries(workMetrics))
    for (const n of [1, 2]) expect(await readSum(metric, `${kind}-${n}`), `${kind}-${n}`).toBeGreaterThan(0);
});

test('a key revoked at one gateway is invalid at the other', async () => {
  const made = await at('gateway-1').graphql(
    'mutation { createApiKey(input: { name: "short" }) { ... on CreateApiKeyPayload { secret apiKey { id } } } }',
  );
  const { secret, apiKey } = made.body.data.createApiKey;
  const status = async (gateway: string) =>
    (await callers(stage.readUrl(gateway), secret).call('GET', '/domains')).status;
  for (const gateway of ['gateway-1', 'gateway-2']) expect(await status(gateway)).toBe(200);
  const revoked = await at('gateway-1').graphql(
    `mutation { revokeApiKey(input: { id: "${apiKey.id}" }) { __typename } }`,
  );
  expect(revoked.body.errors).toBeUndefined();
  for (const gateway of ['gateway-1', 'gateway-2'])
    await soon(`${gateway} refuses it`, async () => (await status(gateway)) === 401);
});

test('both gateways share the request limit', async () => {
  const other = await stage.createAccount();
  const startedAt = performance.now();
  const responses: ServiceResponse[] = await Promise.all(
    Array.from({ length: 6 * REQUESTS_PER_SECOND }, (_, n) =>
      callers(stage.readUrl(`gateway-${(n % 2) + 1}`), other.apiKey).call('GET', '/domains/none'),
    ),
  );
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000) + 1;
  const counts = Object.groupBy(responses, ({ status }) => status);
  const passed = counts[404]?.length ?? 0;
  // A machine that is very busy returns 503 to what it does not get to in time.
  expect(Object.keys(counts).filter((status) => !['404', '429', '503'].includes(status))).toEqual([]);
  expect(counts[429]?.length).toBeGreaterThan(0);
  expect(passed).toBeLessThanOrEqual(seconds * REQUESTS_PER_SECOND);
  expect(passed).toBeGreaterThan(0);
});

test('NATS refused no permission, and no process died', () => {
  expect(stage.output).not.toMatch(/permissions? violation/i);
  expect(
    stage.services.filter(({ name }) => name !== 'postgres' && name !== 'migrate' && !stage.isRunning(name)),
  ).toEqual([]);
});

/** The account's calls at one gateway. */
function at(gateway: string): ReturnType<typeof callers> {
  return callers(stage.readUrl(gateway), account.apiKey);
}

function soon(what: string, holds: () => Promise<boolean>): Promise<void> {
  return until(what, () => stage.output.slice(-3_000), holds, LIMIT_MS);
}

function mail(messageId: string, more: string[] = ['Subject: hello']): Uint8Array {
  const lines = [`Message-ID: ${messageId}`, 'From: ann@elsewhere.test', `To: ${address}`, ...more, '', 'hello', ''];
  return toWireForm(Buffer.from(lines.join('\r\n')));
}

function makeLoad(server: { host: string; port: number }) {
  return {
    ...server,
    sessions: 4,
    isReusingConnections: true,
    reversePath: 'ann@elsewhere.test',
    recipients: () => [address],
  };
}

/** Hands a mail in there; returns the id of its email. */
async function take(server: { host: string; port: number }, messageId: string, more?: string[]): Promise<string> {
  const [result] = await smtpLoad({ ...makeLoad(server), count: 1, sessions: 1, message: () => mail(messageId, more) });
  expect(result).toMatchObject({ code: 250 });
  return /em_[0-9a-f]{32}/.exec(result?.reply ?? '')?.[0] ?? '';
}

/** Hands in a mail, as a client does that repeats what was refused for now. */
async function submit(n: number, more: object): Promise<ServiceResponse> {
  const key = `${n} ${JSON.stringify(more)}`;
  const body = { from: address, to: 'friend@elsewhere.test', subject: `number ${n}`, text: 'hello', ...more };
  for (let turn = n; ; turn++) {
    const response = await at(`gateway-${(turn % 2) + 1}`).call('POST', '/emails', body, { 'idempotency-key': key });
    if (response.status !== 429 && response.status !== 503 && response.status !== 409) return response;
    await pause(200);
  }
}

async function scheduledInstant(seconds: number): Promise<string> {
  const { rows } = await database.query<{ at: Date }>(`select postroom_now() + $1 * interval '1 second' as at`, [
    seconds,
  ]);
  return rows[0]?.at.toISOString() ?? '';
}

/** Recipients and deliveries that are not settled. */
async function waiting(): Promise<number> {
  const { rows } = await database.query<{ open: number }>(
    `select (select count(*) from recipient where status = 'pending')::int + (select count(*) from delivery where status = 'pending')::int as open`,
  );
  return rows[0]?.open ?? 0;
}

function webhooks(prefix: string) {
  return receiver.requests.filter(({ headers }) => String(headers['x-message-id']).startsWith(prefix));
}

function listWebhooks(messageId: string) {
  return receiver.requests.filter(({ headers }) => headers['x-message-id'] === messageId);
}

async function awaitWebhook(messageId: string): Promise<void> {
  await soon(`a webhook for ${messageId}`, () => Promise.resolve(listWebhooks(messageId).length > 0));
}

function sentWith(words: string) {
  return sink.messages.filter(({ bytes }) => bytes.toString('latin1').includes(words));
}

/** What one process counted, all labels together. */
async function readSum(metric: string, name: string): Promise<number> {
  const metrics = await (await fetch(`${stage.readMonitoringUrl(name)}/metrics`)).text();
  const values = metrics.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
