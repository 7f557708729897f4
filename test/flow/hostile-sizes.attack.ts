import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';
import type { EmailBody } from '../support/mail/hostile-emails.ts';
import { createMailbox } from '../support/rows/routing-rows.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/servers/gateway-process.ts';
import { type NatsServer, startNatsServer } from '../support/servers/nats.ts';
import { callers, type TestAccount } from '../support/servers/service.ts';

const DOMAIN = 'own.test';

let database: TestDatabase;
let nats: NatsServer;
let gateway: GatewayProcess;
let account: Pick<TestAccount, 'call'>;
let domainId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  nats = await startNatsServer();
  const owner = database.open(null);
  await createMailbox(owner, { domain: 'foreign.test', address: 'hello@foreign.test' });
  const box = await createMailbox(owner, { domain: DOMAIN, address: `hello@${DOMAIN}` });
  domainId = box.domainId;
  gateway = await startGatewayProcess({
    ...database.environment,
    NATS_URL: nats.url,
    RATE_LIMIT_PER_SECOND: '0',
    ALLOW_UNSAFE_WRITES: 'true',
    LOG_LEVEL: 'warn',
  });
  account = callers(gateway.url, box.apiKey);
});
afterAll(async () => {
  await gateway?.end('SIGTERM');
  await nats?.close();
  await database?.drop();
});

describe('no text takes more time than its size requires', () => {
  const SIZE = 50_000;
  const fill = (unit: string) => unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE);
  const units = [
    ...'a|<|>|(|"|\\|,|:|;|@|%|_|[Fwd: |re: |a@b.c |a@b.c,|"a" <|=?utf-8?q?|=?utf-8?q?a?= |<a@b> |tomorrow at |1'.split(
      '|',
    ),
    ...' |2026-01-01T|QQ==|data:;|a.|<div>|\n>|\t|ü|🙂'.split('|'),
  ];
  const fields: [string, (text: string) => EmailBody][] = [
    ['from', (text) => ({ from: text })],
    ['name of the sender', (text) => ({ from: `${text} <hello@${DOMAIN}>` })],
    ['to', (text) => ({ to: text })],
    ['to, in a list', (text) => ({ to: [text] })],
    ['cc', (text) => ({ cc: text })],
    ['bcc', (text) => ({ bcc: text })],
    ['reply_to', (text) => ({ reply_to: text })],
    ['subject', (text) => ({ subject: text })],
    ['name of a header', (text) => ({ headers: { [text]: 'x' } })],
    ['header', (text) => ({ headers: { 'X-One': text } })],
    ['References', (text) => ({ headers: { References: text } })],
    ['filename', (text) => ({ attachments: [{ filename: text, content: 'QQ==' }] })],
    ['content', (text) => ({ attachments: [{ content: text }] })],
    ['content_type', (text) => ({ attachments: [{ content_type: text, content: 'QQ==' }] })],
    ['content_id', (text) => ({ attachments: [{ content_id: text, content: 'QQ==' }] })],
    ['tag', (text) => ({ tags: [{ name: text, value: text }] })],
    ['scheduled_at', (text) => ({ scheduled_at: text })],
    ['timezone', (text) => ({ scheduled_at: 'in 2 hours', timezone: text })],
    ['text', (text) => ({ text, to: 'refused' })],
    ['html', (text) => ({ html: text, to: 'refused' })],
  ];
  /** Times the processor time of a harmless request of the size that is refused last of all; a quadratic reader takes hundreds of times as much. */
  const MOST = 15;

  /** Nanoseconds that the main thread of the gateway ran (proc_pid_schedstat): unlike the time of day, other processes do not add to it. */
  const ranNs = async () => Number((await readFile(`/proc/${gateway.child.pid}/schedstat`, 'utf8')).split(' ')[0]);

  async function leastMs(call: () => Promise<unknown>, goodMs = 0): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5 && least > goodMs; round++) {
      const startedNs = await ranNs();
      await call();
      least = Math.min(least, ((await ranNs()) - startedNs) / 1e6);
    }
    return least;
  }

  test(`50 KB in any field of an email take about as much processor time as 50 KB of harmless text`, async () => {
    const harmless = {
      from: 'hello@foreign.test',
      to: 'ada@elsewhere.test',
      subject: 'Hello',
      text: fill('Good morning. '),
    };
    const send = (body: EmailBody) => account.call('POST', '/emails', body);
    expect((await send(harmless)).status).toBe(403);
    const harmlessMs = await leastMs(() => send(harmless));
    const slow: string[] = [];
    for (const [field, over] of fields) {
      for (const unit of units) {
        // From another's domain, so that what is well-formed is refused as late as possible and nothing is stored.
        const body = { ...harmless, text: 'x', ...over(fill(unit)) };
        const ms = await leastMs(() => send(body), harmlessMs * MOST);
        if (ms > harmlessMs * MOST) slow.push(`${field} of ${JSON.stringify(unit)}: ${Math.round(ms)} ms`);
      }
    }
    expect(slow, `harmless: ${harmlessMs} ms`).toEqual([]);
  });

  test('50 KB in the fields of the other resources take about as much processor time', async () => {
    const harmlessMs = await leastMs(() => account.call('POST', '/endpoints', { name: fill('Good morning. ') }));
    const slow: string[] = [];
    const routes: [string, (text: string) => EmailBody][] = [
      ['/domains', (text) => ({ domain: text })],
      ['/email-addresses', (text) => ({ address: text, domainId: domainId })],
      ['/email-addresses', (text) => ({ address: `${text}@${DOMAIN}`, domainId: domainId })],
      ['/endpoints', (text) => ({ name: 'x', type: 'webhook', config: { url: text } })],
      [
        '/endpoints',
        (text) => ({
          name: 'x',
          type: 'webhook',
          config: { url: `https://a.test/${text}`, headers: { [text]: text } },
        }),
      ],
      ['/endpoints', (text) => ({ name: 'x', type: 'email', config: { forwardTo: text } })],
      ['/endpoints', (text) => ({ name: 'x', type: 'email_group', config: { emails: [text] }, description: text })],
    ];
    for (const [route, readBody] of routes) {
      for (const unit of units) {
        const body = readBody(fill(unit));
        const ms = await leastMs(() => account.call('POST', route, body), harmlessMs * MOST);
        if (ms > harmlessMs * MOST) slow.push(`${route} ${unit}: ${Math.round(ms)} ms`);
      }
    }
    expect(slow, `harmless: ${harmlessMs} ms`).toEqual([]);
  });
});
