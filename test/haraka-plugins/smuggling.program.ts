import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { SmtpServer, until } from './smtp-server.ts';

let server: SmtpServer;

beforeAll(async () => {
  server = await SmtpServer.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.messages.length = 0;
});

/** Sequences that some servers accept as the end of data. */
const ends = [
  '\n.\r\n',
  '\n.\n',
  '\r\n.\n',
  '\r.\r\n',
  '\r.\r',
  '\r\n.\r',
  '\r\n\0.\r\n',
  '\r\r\n.\r\n',
  '\r\n.\r\r\n',
  '\n.\r\r\n',
  '\r\n.\0\r\n',
  '\n\r.\r\n',
  '\r\n. \r\n',
  '\n\n.\n\n',
];
const inner =
  'MAIL FROM:<smuggled@evil.test>\r\nRCPT TO:<victim@inbox.test>\r\nDATA\r\nSubject: smuggled\r\n\r\nsmuggled\r\n.\r\n';

describe('a message hidden behind a false end of data never becomes a message of its own:', () => {
  test.each(ends)('%j', async (end) => {
    const client = await SmtpClient.greet(server.port);
    await client.begin();
    client.send(`Subject: outer\r\n\r\nouter${end}${inner}`);
    const reply = await client.reply();
    const isClosing = reply.text.startsWith('550 5.5.2');
    if (isClosing) await client.closed;
    else expect([250, 503]).toContain(reply.code);
    // Whatever else the server has to say, it says before this.
    if (!client.isClosed) {
      client.send('QUIT\r\n');
      await client.closed;
    }
    expect(server.messages.map(({ request }) => request.reversePath)).not.toContain('smuggled@evil.test');
    expect(server.recipients).not.toContain('victim@inbox.test');
    expect(server.messages.length).toBeLessThanOrEqual(1);
    if (isClosing) expect(server.messages).toHaveLength(0);
  });
});

describe('a bare line feed is refused with 550 5.5.2, and the session ends:', () => {
  test.each([
    ['within the body', 'Subject: a\r\n\r\none\ntwo\r\n.\r\n'],
    ['within the header section', 'Subject: a\nTo: b\r\n\r\n.\r\n'],
    ['throughout', 'Subject: a\n\nbody\n.\n'],
    ['at the very start', '\n.\r\n'],
    ['behind a message that is too long anyway', `${'X: 1\r\n'.repeat(2_000)}\r\none\ntwo\r\n.\r\n`],
  ])('%s', async (_, wire) => {
    const client = await SmtpClient.greet(server.port);
    expect((await client.deliver(wire)).text).toMatch(/^550 5\.5\.2 /);
    await client.closed;
    expect(server.messages).toHaveLength(0);
  });
});

test('commands pipelined after the end of data get 503 and do not run', async () => {
  const client = await SmtpClient.greet(server.port);
  await client.begin();
  client.send(`Subject: outer\r\n\r\nouter\r\n.\r\n${inner}`);
  const codes = [(await client.reply()).code];
  for (let i = 0; i < 7; i++) codes.push((await client.reply()).code);
  expect(codes).toEqual([250, 503, 503, 503, 503, 503, 503, 503]);
  expect((await client.say('NOOP')).code).toBe(250);
  client.destroy();
  expect(server.messages).toHaveLength(1);
});

test('a message that arrives in one piece with its DATA command is one message', async () => {
  const client = await SmtpClient.greet(server.port);
  await client.say('MAIL FROM:<a@client.test>');
  await client.say('RCPT TO:<hello@inbox.test>');
  client.send('DATA\r\nSubject: eager\r\n\r\nbody\r\n.\r\n');
  expect((await client.reply()).code).toBe(354);
  expect((await client.reply()).code).toBe(250);
  client.destroy();
  expect(server.messages).toHaveLength(1);
});

test('a client that disconnects within DATA leaves no row; after the final dot its message is kept', async () => {
  const early = await SmtpClient.greet(server.port);
  await early.begin();
  early.send('Subject: half\r\n\r\nhalf a body\r\n');
  await new Promise((resolve) => setTimeout(resolve, 50));
  early.destroy();
  const late = await SmtpClient.greet(server.port);
  await late.begin();
  late.send('Subject: whole\r\n\r\nbody\r\n.\r\n');
  await until(() => server.messages.length > 0);
  late.destroy();
  const after = await SmtpClient.greet(server.port);
  expect((await after.deliver('Subject: next\r\n\r\n.\r\n')).code).toBe(250);
  after.destroy();
  expect(server.messages.map(({ bytes }) => bytes.toString())).toEqual([
    'Subject: whole\r\n\r\nbody\r\n',
    'Subject: next\r\n\r\n',
  ]);
});
