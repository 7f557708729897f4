import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { accepted, ordinaryScript, SmtpServer } from './smtp-server.ts';

let server: SmtpServer;
let client: SmtpClient;

beforeAll(async () => {
  server = await SmtpServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  Object.assign(server.script, ordinaryScript());
  server.bus.publish('routing.changed', { name: 'inbox.test' });
  server.messages.length = 0;
  server.recipients.length = 0;
  client = await SmtpClient.greet(server.port);
});
afterEach(() => client.destroy());

const message = 'Subject: one\r\n\r\nbody\r\n.\r\n';

test('the banner and EHLO contain the mail host name and our extensions, and no AUTH', async () => {
  const other = await SmtpClient.connect(server.port);
  expect((await other.reply()).text).toBe('220 mx.postroom.test ESMTP Postroom ready');
  const { code, lines } = await other.say('EHLO client.test');
  expect(code).toBe(250);
  expect(lines).toEqual([
    'mx.postroom.test Hello [127.0.0.1], pleased to meet you',
    'PIPELINING',
    '8BITMIME',
    'SMTPUTF8',
    'SIZE 15000000',
    'STARTTLS',
  ]);
  expect((await other.say('AUTH PLAIN AGEAYg==')).code).toBe(500);
  expect((await other.say('QUIT')).code).toBe(221);
  await other.closed;
});

test('the reply to a message that was stored before says so', async () => {
  server.script.message = () => ({ verdict: 'accepted', emailIds: ['em_1'], isRepeated: true });
  expect((await client.deliver(message)).text).toBe('250 2.0.0 Ok: accepted before as em_1');
});

test('the 250 names the email after the actor has stored it, with envelope and trace fields', async () => {
  const reply = await client.deliver(message);
  expect(reply.text).toBe('250 2.0.0 Ok: queued as em_1');
  const [{ request } = { request: null }] = server.messages;
  expect(request).toMatchObject({
    reversePath: 'sender@client.test',
    recipients: [{ recipient: 'hello@inbox.test', workspaceId: 'usr_1', ownAddress: 'hello@inbox.test' }],
    remoteAddress: '127.0.0.1',
    helo: 'client.test',
    isTls: false,
  });
  expect(request?.traceFields).toMatch(
    /^Received: from client\.test \(\[127\.0\.0\.1\]\)\r\n\tby mx\.postroom\.test with ESMTP id [\w.-]+\r\n\tfor <hello@inbox\.test>; \w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000\r\n$/,
  );
});

test('a session may have many transactions, with a null reverse-path too', async () => {
  expect((await client.deliver(message)).code).toBe(250);
  expect((await client.say('MAIL FROM:<>')).code).toBe(250);
  expect((await client.say('RSET')).code).toBe(250);
  expect((await client.deliver(message, ['a@inbox.test', 'b@inbox.test'])).code).toBe(250);
  expect(server.messages.at(-1)?.request.recipients.map(({ recipient }) => recipient)).toEqual([
    'a@inbox.test',
    'b@inbox.test',
  ]);
  expect(server.messages.at(-1)?.request.traceFields).not.toContain('inbox.test');
});

describe('a refusal of the actor is sent with its own text:', () => {
  test('of a recipient', async () => {
    server.script.recipient = (recipient) =>
      recipient.startsWith('nobody')
        ? { verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No such mailbox' }
        : accepted(recipient);
    await client.say('MAIL FROM:<sender@client.test>');
    expect((await client.say('RCPT TO:<nobody@inbox.test>')).text).toBe('550 5.1.1 No such mailbox');
    expect((await client.say('DATA')).code).toBe(503);
    expect((await client.say('RCPT TO:<hello@inbox.test>')).code).toBe(250);
    expect((await client.say('DATA')).code).toBe(354);
    client.send(message);
    expect((await client.reply()).code).toBe(250);
    expect(server.messages[0]?.request.recipients).toHaveLength(1);
  });

  test('of a message, permanent or temporary', async () => {
    server.script.message = () => ({ verdict: 'refused', code: 554, enhancedCode: '5.7.1', text: 'Not wanted' });
    expect((await client.deliver(message)).text).toBe('554 5.7.1 Not wanted');
    server.script.message = () => ({ verdict: 'refused', code: 452, enhancedCode: '4.2.2', text: 'Mailbox full' });
    expect((await client.deliver(message)).text).toBe('452 4.2.2 Mailbox full');
    server.script.message = ordinaryScript().message;
    expect((await client.deliver(message)).code).toBe(250);
  });
});

test('MAIL is 452 4.3.1 without disk space, and 250 a moment after there is space', async () => {
  server.script.hasRoom = () => false;
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect((await client.say('MAIL FROM:<sender@client.test>')).text).toMatch(/^452 4\.3\.1 /);
  server.script.hasRoom = () => true;
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect((await client.say('MAIL FROM:<sender@client.test>')).code).toBe(250);
});

describe('recipients are taken literally:', () => {
  const paths: [string, string][] = [
    ['<"x@else.test"@inbox.test>', '"x@else.test"@inbox.test'],
    ['<user%else.test@inbox.test>', 'user%else.test@inbox.test'],
    ['<else.test!user@inbox.test>', 'else.test!user@inbox.test'],
    ['<@relay.test,@other.test:user@inbox.test>', 'user@inbox.test'],
    ['<User+Tag@INBOX.test>', 'User+Tag@inbox.test'],
    ['<postmaster>', 'postmaster@mx.postroom.test'],
    ['<"quoted \\"local\\" part"@inbox.test>', '"quoted \\"local\\" part"@inbox.test'],
  ];
  test.each(paths)('%s is passed on as %s', async (path, asked) => {
    await client.say('MAIL FROM:<sender@client.test>');
    expect((await client.say(`RCPT TO:${path}`)).code).toBe(250);
    expect(server.recipients).toEqual([asked]);
  });

  test.each(['<>', '<user@>', '<@inbox.test>', '<user@inbox.test', 'a b@inbox.test', '<a@b\x01.test>'])(
    '%j is no forward-path',
    async (path) => {
      await client.say('MAIL FROM:<sender@client.test>');
      const reply = await client.say(`RCPT TO:${path}`);
      expect(reply.code).toBeGreaterThanOrEqual(500);
      expect(server.recipients).toEqual([]);
    },
  );
});

test('an accepting verdict is cached until routing changes; a refusal never is', async () => {
  const ask = async (recipient: string) => {
    await client.say('RSET');
    await client.say('MAIL FROM:<sender@client.test>');
    return (await client.say(`RCPT TO:<${recipient}>`)).code;
  };
  expect(await ask('kept@inbox.test')).toBe(250);
  expect(await ask('kept@inbox.test')).toBe(250);
  expect(server.recipients).toEqual(['kept@inbox.test']);
  server.script.recipient = () => ({ verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No such mailbox' });
  server.bus.publish('routing.changed', { name: 'kept@inbox.test' });
  await expect.poll(() => ask('kept@inbox.test')).toBe(550);
  server.script.recipient = accepted;
  expect(await ask('kept@inbox.test')).toBe(250);
});

test('the thousandth recipient is accepted, the next is 452 4.5.3, and all thousand reach the actor', async () => {
  await client.say('MAIL FROM:<sender@client.test>');
  const commands = Array.from({ length: 1_001 }, (_, n) => `RCPT TO:<u${n}@inbox.test>\r\n`);
  client.send(commands.join(''));
  const replies = [];
  for (const _ of commands) replies.push((await client.reply()).text);
  expect(replies.slice(0, 1_000).every((text) => text.startsWith('250 '))).toBe(true);
  expect(replies[1_000]).toMatch(/^452 4\.5\.3 /);
  await client.say('DATA');
  client.send(message);
  expect((await client.reply()).code).toBe(250);
  expect(server.messages[0]?.request.recipients).toHaveLength(1_000);
});

test('the same recipient twice is one recipient', async () => {
  expect((await client.deliver(message, ['a@inbox.test', 'a@inbox.test'])).code).toBe(250);
  expect(server.messages[0]?.request.recipients).toHaveLength(1);
});

test('MAIL checks SIZE and BODY before any byte is sent.', async () => {
  expect((await client.say('MAIL FROM:<a@b.test> SIZE=15000001')).text).toMatch(/^552 5\.3\.4 /);
  expect((await client.say('MAIL FROM:<a@b.test> SIZE=lots')).text).toMatch(/^501 5\.5\.4 /);
  expect((await client.say('MAIL FROM:<a@b.test> BODY=BINARYMIME')).text).toMatch(/^501 5\.5\.4 /);
  expect((await client.say('MAIL FROM:<a@b.test> SIZE=15000000 BODY=8BITMIME SMTPUTF8')).code).toBe(250);
});

test('commands out of order or unknown are refused, and the session continues', async () => {
  expect((await client.say('DATA')).code).toBe(503);
  expect((await client.say('RCPT TO:<hello@inbox.test>')).code).toBe(503);
  for (const command of ['NONSENSE', 'INTERNALCMD performShutdown', 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2', 'ETRN x', ''])
    expect((await client.say(command)).code).toBe(500);
  expect((await client.say('VRFY hello')).code).toBe(252);
  expect((await client.deliver(message)).code).toBe(250);
});

test('HELO is not ESMTP, and a HELO that is no domain is not repeated in the trace field', async () => {
  const other = await SmtpClient.connect(server.port);
  await other.reply();
  expect((await other.say('HELO evil(by);x')).code).toBe(250);
  expect((await other.deliver(message)).code).toBe(250);
  expect(server.messages.at(-1)?.request.traceFields).toMatch(
    /^Received: from unknown \(\[127\.0\.0\.1\]\)\r\n\tby \S+ with SMTP id/,
  );
  other.destroy();
});

test('commands that are pipelined after HELO wait for their turn', async () => {
  const other = await SmtpClient.connect(server.port);
  await other.reply();
  other.send('HELO client.test\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<slow@inbox.test>\r\nNOOP\r\n');
  const codes = [];
  for (let i = 0; i < 4; i++) codes.push((await other.reply()).code);
  expect(codes).toEqual([250, 250, 250, 250]);
  other.destroy();
});
