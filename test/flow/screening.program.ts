import { afterAll, beforeAll, expect, test } from 'vitest';
import { diagnose } from '../../bin/doctor/diagnose.ts';
import { openDatabase } from '../../db/connection/database.ts';
import { insertKey } from '../support/rows/key-rows.ts';
import {
  EICAR,
  type FilterServer,
  GTUBE,
  startFilter,
  startVirusScanner,
  type VirusServer,
} from '../support/servers/scanners.ts';
import { type DomainAccount, Service, until } from '../support/servers/service.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';

let filter: FilterServer;
let viruses: VirusServer;
let service: Service;
let account: DomainAccount;
let [subscribed, plain]: (WebhookReceiver | undefined)[] = [];
let address = '';
let isFilterAway = false;

beforeAll(async () => {
  filter = await startFilter((_request, response) => {
    if (isFilterAway) response.destroy();
    return isFilterAway;
  });
  viruses = await startVirusScanner();
  [subscribed, plain] = [await startWebhookReceiver(), await startWebhookReceiver()];
  service = await Service.start('single', {
    hasMetrics: true,
    environment: {
      RSPAMD_URL: filter.url,
      CLAMD_ADDRESS: `${viruses.address.host}:${viruses.address.port}`,
      VIRUS_ACTION: 'quarantine',
    },
  });
  account = await service.createAccount();
  address = `inbox@${account.domain}`;
  const made = await account.call('POST', '/endpoints', {
    name: 'plain',
    type: 'webhook',
    config: { url: plain.url },
  });
  await account.call('POST', '/email-addresses', { address, domainId: account.domainId, endpointId: made.body.id });
  const other = await account.call('POST', '/endpoints', {
    name: 'spam',
    type: 'webhook',
    events: ['email.spam'],
    config: { url: subscribed.url },
  });
  expect([made.status, other.status]).toEqual([201, 201]);
}, 300_000);
afterAll(async () => {
  await service?.stop();
  await Promise.all([filter?.stop(), viruses?.stop(), subscribed?.stop(), plain?.stop()]);
});

let count = 0;
const makeMessage = (text: string, subject: string) =>
  `Message-ID: <${++count}@elsewhere.test>\r\nDate: Sun, 29 Nov 2026 10:00:00 +0000\r\nFrom: Ann <ann@elsewhere.test>\r\nSubject: ${subject}\r\n\r\n${text}\r\n.\r\n`;

async function offer(text: string, subject: string): Promise<string> {
  const client = await SmtpClient.greet(service.smtpPort);
  const { text: reply } = await client.deliver(makeMessage(text, subject), [address]);
  client.destroy();
  return reply;
}

/** Delivers a message, and returns its email once it is stored. */
async function receive(text: string, subject: string): Promise<{ id: string; kept_apart: string | null }> {
  expect(await offer(text, subject)).toMatch(/^250 /);
  let found: { id: string; subject: string; kept_apart: string | null } | undefined;
  await until(
    `${subject} is stored`,
    () => service.output.slice(-2_000),
    async () => {
      const { body } = await account.call('GET', '/emails?type=received&spam=include&time_range=all&limit=100');
      found = body.data.find((email: { subject: string }) => email.subject === subject);
      return found !== undefined;
    },
  );
  if (found === undefined) throw new Error(subject);
  return found;
}

const posted = (receiver: WebhookReceiver | undefined) =>
  (receiver?.requests ?? []).map(({ body }) => JSON.parse(String(body)) as Record<string, unknown>);

test('email.spam is posted to the endpoint that subscribes to it, and spam to no other', async () => {
  await receive(GTUBE, 'First spam');
  await receive('Hello', 'Ordinary');
  await until(
    'both webhooks are posted',
    () => JSON.stringify([posted(subscribed), posted(plain)]),
    async () => posted(subscribed).length === 1 && posted(plain).length === 1,
  );
  const [event] = posted(subscribed);
  expect(event).toMatchObject({ type: 'email.spam' });
  expect(JSON.stringify(event)).toContain('"verdict":"spam"');
  expect(JSON.stringify(posted(plain))).toContain('Ordinary');
  expect(JSON.stringify(posted(plain))).not.toContain('First spam');
});

test('guard rules match the verdict and the score of the filter', async () => {
  const rules = [
    { name: 'Suspected', config: { spam: ['suspected'], subject: { operator: 'OR', values: ['by verdict'] } } },
    { name: 'Score', config: { minSpamScore: 4, subject: { operator: 'OR', values: ['by score'] } } },
    { name: 'High', config: { minSpamScore: 5, subject: { operator: 'OR', values: ['too low'] } } },
  ];
  for (const rule of rules)
    expect(
      (await account.call('POST', '/guard', { ...rule, type: 'explicit', action: { action: 'block' } })).status,
    ).toBe(201);
  const outcomes: Record<string, string> = {};
  for (const subject of ['by verdict', 'by score', 'too low']) {
    const { id } = await receive('suspect', `${subject} suspect`);
    await until(
      `${subject} is routed`,
      () => JSON.stringify(outcomes),
      async () => {
        const { body } = await account.call('GET', `/emails/${id}/route`);
        outcomes[subject] = body.outcome;
        return typeof body.outcome === 'string' && body.outcome !== 'pending';
      },
    );
  }
  const { id } = await receive('Hello', 'by verdict, clean');
  await until(
    'the clean one is routed',
    () => JSON.stringify(outcomes),
    async () => {
      outcomes['clean'] = (await account.call('GET', `/emails/${id}/route`)).body.outcome;
      return typeof outcomes['clean'] === 'string' && outcomes['clean'] !== 'pending';
    },
  );
  expect(outcomes).toEqual({
    'by verdict': 'blocked',
    'by score': 'blocked',
    'too low': 'endpoint',
    clean: 'endpoint',
  });
});

test('a message in quarantine is downloaded by an owner who names the virus, and by no other', async () => {
  const { id, kept_apart: apart } = await receive(EICAR, 'Infected');
  expect(apart).toBe('virus');
  const get = (of: string, query = '') =>
    fetch(`${service.url}/api/e2/emails/${id}/quarantine${query}`, { headers: { authorization: `Bearer ${of}` } });
  const warned = await get(account.apiKey);
  const warning = (await warned.json()) as { message: string };
  expect([warned.status, warning.message]).toEqual([400, expect.stringContaining('Eicar-Signature.UNOFFICIAL')]);
  expect((await get(account.apiKey, '?confirm=yes')).status).toBe(400);
  const name = encodeURIComponent('Eicar-Signature.UNOFFICIAL');
  const file = await get(account.apiKey, `?confirm=${name}`);
  expect([file.status, file.headers.get('content-type'), file.headers.get('content-disposition')]).toEqual([
    200,
    'application/octet-stream',
    expect.stringMatching(/^attachment; .*\.infected/),
  ]);
  expect(await file.text()).toContain(EICAR);
  const stranger = await service.createAccount();
  expect((await get(stranger.apiKey, `?confirm=${name}`)).status).toBe(404);
  const database = openDatabase({
    url: await service.databaseUrl(),
    role: null,
    poolSize: 1,
    applicationName: 'test',
    onError: () => undefined,
  });
  const limited = await insertKey(database, account, { scopes: ['read', 'send'] });
  const ofDomain = await insertKey(database, account, {
    scopes: ['read'],
    domain: { id: account.domainId, name: account.domain },
  });
  await database.close();
  for (const { secret } of [limited, ofDomain]) expect((await get(secret, `?confirm=${name}`)).status).toBe(403);
  // No other way leads to the content.
  for (const route of ['raw', 'html', 'attachments', 'review', 'checks']) {
    const { body } = await account.call('GET', `/emails/${id}/${route}`);
    expect(JSON.stringify(body), route).not.toContain('EICAR-STANDARD');
  }
  expect(JSON.stringify((await account.call('GET', `/emails/${id}`)).body)).not.toContain('EICAR-STANDARD');
});

test('the metrics and the doctor say whether the scanners respond', async () => {
  const isAway = (value: number) => new RegExp(`postroom_scanner_away\\{scanner="rspamd"[^}]*\\} ${value}\n`);
  const metrics = async () => (await fetch(`${service.metricsUrl('runner')}/metrics`)).text();
  expect(await metrics()).toMatch(isAway(0));
  const examine = async (whenAway: string) => {
    const findings = await diagnose(
      { ...process.env, ...service.environment, SPAM_WHEN_AWAY: whenAway },
      { outbound: null, networks: null },
    );
    return findings.filter(({ area }) => area === 'scanners').map(({ name, state }) => `${name} ${state}`);
  };
  // This filter on loopback does not know /ping, and this scanner knows one command.
  expect((await examine('accept')).filter((finding) => finding.endsWith('fail'))).toEqual([]);
  isFilterAway = true;
  await receive('Hello', 'While it is away');
  await receive('Hello', 'While it is still away');
  await receive('Hello', 'And a third one');
  expect(await metrics()).toMatch(isAway(1));
  expect(await examine('accept')).toContain('rspamd warn');
  expect(await examine('defer')).toContain('rspamd fail');
  isFilterAway = false;
  await until(
    'the filter is asked again',
    () => service.output.slice(-2_000),
    async () => {
      await offer('Hello', `Again ${count}`);
      return isAway(0).test(await metrics());
    },
  );
  expect(await metrics()).toMatch(/postroom_scan_seconds_count\{.*scanner="rspamd"/);
}, 120_000);

test.each(['receiving.screened', 'receiving.before-commit'])(
  'a kill at %s, after the verdict, loses and repeats nothing',
  async (fault) => {
    await service.end('runner', 'SIGTERM');
    await service.start({ FAULT: fault });
    const subject = `Killed at ${fault}`;
    const wire = makeMessage(GTUBE, subject);
    const first = await SmtpClient.greet(service.smtpPort)
      .then((client) => client.deliver(wire, [address]))
      .then(({ text }) => text)
      .catch((error: Error) => error.message);
    expect(first).not.toMatch(/^250 /);
    await service.end('runner', 'SIGKILL');
    await service.start();
    const client = await SmtpClient.greet(service.smtpPort);
    expect((await client.deliver(wire, [address])).text).toMatch(/^250 /);
    client.destroy();
    const stored = async () =>
      (await account.call('GET', '/emails?spam=only&time_range=all&limit=100')).body.data.filter(
        (email: { subject: string }) => email.subject === subject,
      );
    await until(
      'it is stored',
      () => service.output.slice(-2_000),
      async () => (await stored()).length > 0,
    );
    expect(await stored()).toMatchObject([{ kept_apart: 'spam' }]);
  },
  180_000,
);
