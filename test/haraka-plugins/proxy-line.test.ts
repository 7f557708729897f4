import { afterAll, beforeAll, expect, test } from 'vitest';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { SmtpServer } from './smtp-server.ts';

const PROXY = '127.0.0.9';

let server: SmtpServer;
beforeAll(async () => {
  server = await SmtpServer.start({ SMTP_PROXIES: `${PROXY},2001:db8::/32` });
});
afterAll(() => server.stop());

async function sendMessage(client: SmtpClient): Promise<void> {
  await client.say('EHLO client.test');
  await client.say('MAIL FROM:<sender@elsewhere.test>');
  await client.say('RCPT TO:<hello@inbox.test>');
  await client.say('DATA');
  client.send('Subject: one\r\n\r\nbody\r\n.\r\n');
  expect((await client.reply()).code).toBe(250);
}

test('behind a proxy the client is whom the PROXY line names, also when more comes with it', async () => {
  const client = await SmtpClient.connect(server.port, { localAddress: PROXY });
  client.send('PROXY TCP4 192.0.2.77 198.51.100.1 40000 25\r\n');
  expect((await client.reply()).code).toBe(220);
  await sendMessage(client);
  expect(server.messages.at(-1)?.request).toMatchObject({ remoteAddress: '192.0.2.77' });
  expect(server.messages.at(-1)?.request.traceFields).toContain('[192.0.2.77]');

  const other = await SmtpClient.connect(server.port, { localAddress: PROXY });
  other.send('PROXY TCP6 2001:db8::5 2001:db8::1 40000 ');
  other.send('25\r\n');
  expect((await other.reply()).code).toBe(220);
  await sendMessage(other);
  expect(server.messages.at(-1)?.request).toMatchObject({ remoteAddress: '2001:db8::5' });
});

test('a proxy that speaks for itself is greeted', async () => {
  const client = await SmtpClient.connect(server.port, { localAddress: PROXY });
  client.send('PROXY UNKNOWN\r\n');
  expect((await client.reply()).code).toBe(220);
  await client.say('QUIT');
});

test.each(['EHLO client.test\r\n', 'PROXY TCP4 nowhere 198.51.100.1 1 2\r\n', `PROXY ${'x'.repeat(200)}`])(
  'what a proxy says in the place of the line ends the connection: %s',
  async (words) => {
    const client = await SmtpClient.connect(server.port, { localAddress: PROXY });
    client.send(words);
    await client.closed;
  },
);

test('nobody else can claim another address', async () => {
  const early = await SmtpClient.connect(server.port);
  await early.reply();
  expect((await early.say('PROXY TCP4 192.0.2.77 198.51.100.1 40000 25')).code).toBe(500);
  await sendMessage(early);
  expect(server.messages.at(-1)?.request).toMatchObject({ remoteAddress: '127.0.0.1' });

  const late = await SmtpClient.connect(server.port, { localAddress: PROXY });
  late.send('PROXY TCP4 192.0.2.77 198.51.100.1 40000 25\r\n');
  await late.reply();
  expect((await late.say('PROXY TCP4 192.0.2.99 198.51.100.1 40000 25')).code).toBe(500);
});
