import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { afterEach, expect, test } from 'vitest';
import { type SinkMta, type SinkOptions, startSinkMta } from './sink-mta.ts';

const sinks: SinkMta[] = [];
afterEach(async () => {
  await Promise.all(sinks.splice(0).map((sink) => sink.stop()));
});

async function start(options: SinkOptions = {}): Promise<SinkMta> {
  const sink = await startSinkMta(options);
  sinks.push(sink);
  return sink;
}

async function send(
  sink: SinkMta,
  to: string[],
  bytes: string,
  options: { secure?: boolean; auth?: { user: string; pass: string } } = {},
) {
  const connection = new SMTPConnection({
    host: sink.host,
    port: sink.port,
    secure: options.secure ?? false,
    tls: { rejectUnauthorized: false, servername: 'mx.peer.test' },
  });
  await new Promise<void>((resolve, reject) => {
    connection.once('error', reject);
    connection.connect((error) => (error ? reject(error) : resolve()));
  });
  const { auth } = options;
  if (auth !== undefined)
    await new Promise<void>((resolve, reject) =>
      connection.login({ credentials: auth }, (error) => (error ? reject(error) : resolve())),
    );
  const result = await new Promise((resolve, reject) =>
    connection.send({ from: 'a@client.test', to }, bytes, (error, info) => (error ? reject(error) : resolve(info))),
  );
  connection.close();
  return result;
}

test('the sink records envelope, bytes and dialogue', async () => {
  const sink = await start();
  await send(sink, ['b@peer.test', 'c@peer.test'], 'Subject: x\r\n\r\n.dot\r\n..two\r\n');
  const [message] = await sink.received(1);
  expect(message).toMatchObject({ from: 'a@client.test', recipients: ['b@peer.test', 'c@peer.test'], isTls: false });
  expect(message?.bytes.toString()).toBe('Subject: x\r\n\r\n.dot\r\n..two\r\n');
  expect(message?.wireBytes.toString()).toBe('Subject: x\r\n\r\n..dot\r\n...two\r\n.\r\n');
  expect(sink.connections[0]?.transcript.slice(0, 2)).toEqual([
    'S: 220 sink.test ESMTP',
    expect.stringMatching(/^C: EHLO /),
  ]);
});

test('the sink speaks TLS by STARTTLS and from the start, and on IPv6', async () => {
  const opportunistic = await start({ startTls: 'offered', host: '::1' });
  await send(opportunistic, ['b@peer.test'], 'x');
  const immediate = await start({ isTlsFromStart: true });
  await send(immediate, ['b@peer.test'], 'x', { secure: true });
  expect(opportunistic.messages[0]).toMatchObject({ isTls: true, connection: { serverName: 'mx.peer.test' } });
  expect(immediate.messages[0]).toMatchObject({ isTls: true, connection: { serverName: 'mx.peer.test' } });
});

test('the sink asks for credentials', async () => {
  const sink = await start({ auth: { user: 'ann', pass: 'p@ss' } });
  await expect(send(sink, ['b@peer.test'], 'x')).rejects.toMatchObject({ responseCode: 530 });
  await expect(send(sink, ['b@peer.test'], 'x', { auth: { user: 'ann', pass: 'no' } })).rejects.toMatchObject({
    responseCode: 535,
  });
  await send(sink, ['b@peer.test'], 'x', { auth: { user: 'ann', pass: 'p@ss' } });
  expect(sink.messages[0]?.user).toBe('ann');
});

test('the sink follows its script', async () => {
  const sink = await start({ mostRecipients: 2 });
  await send(sink, ['b@peer.test', 'c@peer.test', 'd@peer.test'], 'x');
  expect(sink.transactions[0]?.offered.map(({ code }) => code)).toEqual([250, 250, 452]);
  sink.respond({ rcpt: (address) => (address.startsWith('b') ? '550 5.1.1 no such user' : undefined) });
  await send(sink, ['b@peer.test', 'c@peer.test'], 'x');
  expect(sink.messages[1]?.recipients).toEqual(['c@peer.test']);
  sink.respond({ body: () => 'drop' });
  await expect(send(sink, ['b@peer.test'], 'x')).rejects.toThrow();
  expect(sink.offered).toHaveLength(2);
  sink.respond({ message: () => 'drop' });
  await expect(send(sink, ['b@peer.test'], 'x')).rejects.toThrow();
  expect(sink.messages).toHaveLength(3);
  sink.respond({ message: () => '451 4.3.0 later' });
  await expect(send(sink, ['b@peer.test'], 'x')).rejects.toMatchObject({ responseCode: 451 });
  expect(sink.offered).toHaveLength(4);
  expect(sink.messages).toHaveLength(3);
});

test('the sink ends a connection that had its messages, and a failed TLS handshake', async () => {
  const sink = await start({ mostMessages: 0 });
  await expect(send(sink, ['b@peer.test'], 'x')).rejects.toMatchObject({ responseCode: 421 });
  const broken = await start({ startTls: 'broken' });
  await expect(send(broken, ['b@peer.test'], 'x')).rejects.toMatchObject({ code: 'ESOCKET' });
});
