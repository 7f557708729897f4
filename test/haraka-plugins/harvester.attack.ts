import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { greetFrom, TEST_PROXY } from '../support/servers/outside-client.ts';
import type { SmtpClient } from '../support/servers/smtp-client.ts';
import { SmtpServer, until } from './smtp-server.ts';

let server: SmtpServer;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.stop());

/** Starts a server that knows the recipients that do not begin with `no-`. */
async function start(environment: Record<string, string> = {}): Promise<SmtpServer> {
  const started = await SmtpServer.start({ SMTP_PROXIES: TEST_PROXY, INBOUND_SMTP: '127.0.0.1:25', ...environment });
  const known = started.script.recipient;
  started.script.recipient = (recipient) =>
    recipient.startsWith('no-')
      ? { verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No such mailbox', workspaceId: 'wsp_1' }
      : known(recipient);
  return started;
}

/** Guesses recipients in one session until it ends; returns the codes of the replies. */
async function harvest(client: SmtpClient, count: number): Promise<number[]> {
  await client.say('MAIL FROM:<a@elsewhere.test>');
  const codes: number[] = [];
  for (let n = 0; n < count && codes.at(-1) !== 421; n++)
    codes.push((await client.say(`RCPT TO:<no-${n}@inbox.test>`)).code);
  client.destroy();
  return codes;
}

test('of 5,000 unknown recipients that a session pipelines, 20 get a reply, and the last one says why it ends', async () => {
  const client = await greetFrom(server.port, '8.8.20.1');
  await client.say('MAIL FROM:<a@elsewhere.test>');
  client.send(Array.from({ length: 5_000 }, (_, n) => `RCPT TO:<no-${n}@inbox.test>\r\n`).join(''));
  const replies = [];
  for (let n = 0; n < 20; n++) replies.push((await client.reply()).text);
  expect(replies.slice(0, 19)).toEqual(Array(19).fill('550 5.1.1 No such mailbox'));
  expect(replies[19]).toMatch(/^421 4\.7\.0 Too many unknown recipients/);
  await client.closed;
  // Its next session ends at once, over IPv4 or mapped into IPv6.
  expect(await harvest(await greetFrom(server.port, '8.8.20.1'), 5)).toEqual([421]);
  expect(await harvest(await greetFrom(server.port, '::ffff:8.8.20.1'), 5)).toEqual([421]);
});

test('50 clients of one network that guess at once get few replies, and their neighbor sends its mail', async () => {
  const clients = await Promise.all(Array.from({ length: 50 }, (_, n) => greetFrom(server.port, `8.8.21.${n + 1}`)));
  const codes = await Promise.all(clients.map((client) => harvest(client, 20)));
  // Without counting by network, each would have got 19 replies.
  const guesses = codes.flat().filter((code) => code === 550).length;
  expect(codes.every((each) => each.at(-1) === 421)).toBe(true);
  expect(guesses).toBeLessThan(50 * 8);

  const neighbor = await greetFrom(server.port, '8.8.21.200');
  await neighbor.say('MAIL FROM:<good@elsewhere.test>');
  expect((await neighbor.say('RCPT TO:<hello@inbox.test>')).code).toBe(250);
  expect((await neighbor.say('RCPT TO:<no-typo@inbox.test>')).code).toBe(550);
  expect((await neighbor.say('DATA')).code).toBe(354);
  neighbor.send('Subject: one\r\n\r\nbody\r\n.\r\n');
  expect((await neighbor.reply()).code).toBe(250);
  neighbor.destroy();
  // Another network is not affected.
  expect((await harvest(await greetFrom(server.port, '8.8.22.1'), 3)).slice(0, 3)).toEqual([550, 550, 550]);
});

test('an IPv6 client is counted by its /64', async () => {
  const codes: number[] = [];
  for (let n = 0; n < 10 && codes.at(-1) !== 421; n++)
    codes.push(...(await harvest(await greetFrom(server.port, `2a00:1450:1:2::${n + 1}`), 5)));
  // Some are forgotten while the refusals wait.
  expect(codes.at(-1)).toBe(421);
  expect(codes.length).toBeLessThan(25);
  expect(await harvest(await greetFrom(server.port, '2a00:1450:1:3::1'), 1)).toEqual([550]);
});

test('a process that starts knows who guessed before', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-smtp-'));
  const next = new SmtpServer(await freePort(), directory, { SMTP_PROXIES: TEST_PROXY, INBOUND_SMTP: '127.0.0.1:25' });
  let isRecalled = false;
  next.bus.serve('receiving.guesses.recall', async () => {
    isRecalled = true;
    return { guesses: [{ address: '8.8.23.1', times: 40, secondsAgo: 60 }] };
  });
  next.script.recipient = () => ({ verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No' });
  await next.openBus();
  await next.awaitBanner();
  await until(() => isRecalled);
  await until(async () => (await harvest(await greetFrom(next.port, '8.8.23.1'), 1))[0] === 421);
  await next.stop();
});

test('SMTP processes share what they count', async () => {
  const own = await start();
  own.bus.publish('guesses.counted', { from: 'another process', guesses: [{ address: '8.8.24.1', times: 30 }] });
  const counted: unknown[] = [];
  own.bus.subscribe('guesses.counted', (message) => void counted.push(message));
  await until(async () => (await harvest(await greetFrom(own.port, '8.8.24.1'), 1))[0] === 421);
  await until(() => counted.some((message) => JSON.stringify(message).includes('8.8.24.1')));
  await own.stop();
});

test('the refusals of a flood are kept in few rows', async () => {
  await until(() => server.refusals.length > 0);
  const kept = server.refusals.length;
  expect(kept).toBeLessThan(1_500);
  expect(server.refusals.every(({ workspaceId }) => workspaceId === 'wsp_1')).toBe(true);
});
