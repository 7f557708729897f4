import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { SmtpServer } from './smtp-server.ts';

/** The most memory that the process may ever have. Bytes. */
const MAX_MEMORY = 600 * 1_024 * 1_024;
const MB = 1_000_000;
const SESSIONS = 50;
const MESSAGE_BYTES = 25 * MB;
const SENDER = 'hello@sender.test';

let server: SmtpServer;
let port: number;

beforeAll(async () => {
  port = await freePort();
  server = await SmtpServer.start({ SUBMISSION_PORT: String(port), SMTP_MAX_CONNECTIONS_PER_ADDRESS: '100' });
  server.bus.serve('gateway.key.check', async () => ({ verdict: 'accept' }));
  server.bus.serve('gateway.message.submit', async () => ({
    verdict: 'accepted',
    emailId: 'em_1',
    isRepeated: false,
    awaitsApprovalUntil: null,
  }));
});
afterAll(() => server?.stop());

/** Begins a session that may submit; returns the reply to MAIL with it. */
async function begin(parameters = ''): Promise<{ client: SmtpClient; reply: string }> {
  const client = await SmtpClient.greet(port);
  await client.startTls();
  await client.say('EHLO client.test');
  await client.say(`AUTH PLAIN ${Buffer.from('\0user\0key').toString('base64')}`);
  return { client, reply: (await client.say(`MAIL FROM:<${SENDER}>${parameters}`)).text };
}

/** Submits a message; returns the reply to its end. */
async function submit(bytes: number): Promise<string> {
  const { client } = await begin();
  try {
    await client.say('RCPT TO:<ada@elsewhere.test>');
    expect((await client.say('DATA')).code).toBe(354);
    const head = `From: <${SENDER}>\r\nSubject: Large\r\n\r\n`;
    client.send(Buffer.from(`${head}${`${'x'.repeat(98)}\r\n`.repeat(bytes / 100)}.\r\n`));
    return (await client.reply()).text;
  } finally {
    client.destroy();
  }
}

test('a message that says that it has 25 MB is refused before it is sent', async () => {
  const { client, reply } = await begin(` SIZE=${MESSAGE_BYTES}`);
  client.destroy();
  expect(reply).toMatch(/^552 5\.3\.4 /);
});

test(`${SESSIONS} sessions that submit 25 MB each are refused, within 600 MiB, and a small message is accepted meanwhile`, async () => {
  const replies: string[] = [];
  const large = Promise.all(
    Array.from({ length: SESSIONS }, async () => void replies.push(await submit(MESSAGE_BYTES))),
  );
  expect(await submit(1_000)).toMatch(/^250 /);
  await large;
  expect([...new Set(replies.map((text) => text.slice(0, 9)))]).toEqual(['552 5.3.4']);
  const status = await readFile(`/proc/${server.child.pid}/status`, 'utf8');
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1_024;
  expect(peak, `${Math.round(peak / MB)} MB`).toBeLessThan(MAX_MEMORY);
});
