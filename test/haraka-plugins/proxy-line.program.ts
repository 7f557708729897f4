import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { SmtpServer } from './smtp-server.ts';

const PROXY = '127.0.0.9';

let server: SmtpServer;
let ports: { submission: number; submissions: number };
/** clients that tried a key */
const authenticating: string[] = [];
beforeAll(async () => {
  ports = { submission: await freePort(), submissions: await freePort() };
  server = await SmtpServer.start({
    SMTP_PROXIES: `${PROXY},2001:db8::/32`,
    SUBMISSION_PORT: String(ports.submission),
    SUBMISSIONS_PORT: String(ports.submissions),
  });
  server.bus.serve('gateway.key.check', async ({ remoteAddress }) => {
    authenticating.push(remoteAddress);
    return { verdict: 'accept' };
  });
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

test('the client behind a proxy is that of the PROXY line, also when more data follows it', async () => {
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

test('the PROXY line comes before TLS on the ports of submission, too', async () => {
  const line = 'PROXY TCP4 192.0.2.78 198.51.100.1 40000 25\r\n';
  const startTls = await SmtpClient.connect(ports.submission, { localAddress: PROXY });
  startTls.send(line);
  expect((await startTls.reply()).code).toBe(220);
  await startTls.say('EHLO client.test');
  await startTls.startTls();
  await startTls.say('EHLO client.test');
  expect((await startTls.say('AUTH PLAIN AABr')).code).toBe(235);

  const socket = connect({ port: ports.submissions, host: '127.0.0.1', localAddress: PROXY });
  await once(socket, 'connect');
  socket.write(line);
  const fromTheStart = new SmtpClient(connectTls({ socket, rejectUnauthorized: false }));
  expect((await fromTheStart.reply()).code).toBe(220);
  await fromTheStart.say('EHLO client.test');
  expect((await fromTheStart.say('AUTH PLAIN AABr')).code).toBe(235);
  expect(authenticating).toEqual(['192.0.2.78', '192.0.2.78']);
  startTls.destroy();
  fromTheStart.destroy();
});

test('a connection that the proxy makes for itself is greeted', async () => {
  const client = await SmtpClient.connect(server.port, { localAddress: PROXY });
  client.send('PROXY UNKNOWN\r\n');
  expect((await client.reply()).code).toBe(220);
  await client.say('QUIT');
});

test.each(['EHLO client.test\r\n', 'PROXY TCP4 nowhere 198.51.100.1 1 2\r\n', `PROXY ${'x'.repeat(200)}`])(
  'another line instead of the PROXY line ends the connection: %s',
  async (words) => {
    const client = await SmtpClient.connect(server.port, { localAddress: PROXY });
    client.send(words);
    await client.closed;
  },
);

test('a client that is no proxy cannot claim another address', async () => {
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
