import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { accepted, ordinaryScript, SmtpServer, until } from './smtp-server.ts';

const message = 'Subject: one\r\n\r\nbody\r\n.\r\n';

describe('an error on our side is 451 4.3.0:', () => {
  let server: SmtpServer;
  beforeAll(async () => {
    server = await SmtpServer.start();
  });
  afterAll(() => server.stop());
  afterEach(async () => {
    Object.assign(server.script, ordinaryScript());
    expect(server.child.exitCode).toBeNull();
    await until(async () => {
      const client = await SmtpClient.greet(server.port);
      const { code } = await client.deliver(message);
      client.destroy();
      return code === 250;
    });
  });
  const fail = () => {
    throw new Error('planted');
  };

  test('the actor throws at MAIL', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    server.script.hasRoom = fail;
    const client = await SmtpClient.greet(server.port);
    expect((await client.say('MAIL FROM:<a@client.test>')).text).toMatch(/^451 4\.3\.0 /);
    client.destroy();
  });

  test('the actor throws at RCPT', async () => {
    server.script.recipient = fail;
    const client = await SmtpClient.greet(server.port);
    await client.say('MAIL FROM:<a@client.test>');
    expect((await client.say('RCPT TO:<throws@inbox.test>')).text).toMatch(/^451 4\.3\.0 /);
    server.script.recipient = accepted;
    expect((await client.say('RCPT TO:<throws@inbox.test>')).code).toBe(250);
    client.destroy();
  });

  test('the actor throws at the end of data', async () => {
    server.script.message = fail;
    const client = await SmtpClient.greet(server.port);
    expect((await client.deliver(message)).text).toMatch(/^451 4\.3\.0 /);
    server.script.message = ordinaryScript().message;
    expect((await client.deliver(message)).code).toBe(250);
    client.destroy();
  });

  test('the actor never replies: RCPT and the end of data get 451 at our time limits', async () => {
    const never = () => new Promise<never>(() => {});
    const atData = await SmtpClient.greet(server.port);
    await atData.begin(['waits@inbox.test']);
    server.script.recipient = never;
    server.script.message = never;
    const atRcpt = await SmtpClient.greet(server.port);
    await atRcpt.say('MAIL FROM:<a@client.test>');
    const replied = async (client: SmtpClient, bytes: string) => {
      client.send(bytes);
      return client.reply();
    };
    const [rcpt, data] = await Promise.all([
      replied(atRcpt, 'RCPT TO:<hangs@inbox.test>\r\n'),
      replied(atData, message),
    ]);
    expect(rcpt.text).toMatch(/^451 4\.3\.0 /);
    expect(data.text).toMatch(/^451 4\.3\.0 /);
    atRcpt.destroy();
    atData.destroy();
  });

  test('the bus is down, at each step; service returns with it', async () => {
    const atData = await SmtpClient.greet(server.port);
    await atData.begin();
    const atRcpt = await SmtpClient.greet(server.port);
    await atRcpt.say('MAIL FROM:<a@client.test>');
    await server.closeBus();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await atRcpt.say('RCPT TO:<away@inbox.test>')).text).toMatch(/^451 4\.3\.0 /);
    atData.send(message);
    expect((await atData.reply()).text).toMatch(/^451 4\.3\.0 /);
    expect((await atData.say('MAIL FROM:<a@client.test>')).text).toMatch(/^451 4\.3\.0 /);
    await server.openBus();
    atRcpt.destroy();
    atData.destroy();
  });

  test('verdicts cached before the bus went down are requested again after it', async () => {
    const client = await SmtpClient.greet(server.port);
    await client.say('MAIL FROM:<a@client.test>');
    await client.say('RCPT TO:<lost@inbox.test>');
    await server.closeBus();
    server.script.recipient = () => ({ verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No such mailbox' });
    await server.openBus();
    await expect.poll(async () => (await client.say('RCPT TO:<lost@inbox.test>')).code).toBe(550);
    client.destroy();
  });
});

describe('the process ends without losing acknowledged mail:', () => {
  test('SIGTERM lets a transaction finish, sends 421 to idle sessions, accepts no more and exits with 0', async () => {
    const server = await SmtpServer.start();
    let respond = () => {};
    const stored = new Promise<void>((resolve) => {
      respond = resolve;
    });
    server.script.message = async () => {
      await stored;
      return { verdict: 'accepted', emailIds: ['em_1'] };
    };
    const idle = await SmtpClient.greet(server.port);
    const busy = await SmtpClient.greet(server.port);
    await busy.begin();
    busy.send(message);
    await until(() => server.messages.length === 1);
    server.child.kill('SIGTERM');
    expect((await idle.reply()).text).toMatch(/^421 4\.3\.2 /);
    await idle.closed;
    await expect(SmtpClient.connect(server.port)).rejects.toThrow();
    respond();
    expect((await busy.reply()).code).toBe(250);
    expect((await busy.reply()).text).toMatch(/^421 4\.3\.2 /);
    expect(await server.exited).toBe(0);
    await server.stop();
  });

  test('a session that does not end is closed', async () => {
    const server = await SmtpServer.start();
    const client = await SmtpClient.greet(server.port);
    await client.begin();
    client.send('Subject: never ends\r\n');
    expect(await server.end()).toBe(0);
    await client.closed;
    await server.stop();
  });

  test('the process finishes when its parent dies, says so, and exits in any case', async () => {
    const server = await SmtpServer.start();
    const client = await SmtpClient.greet(server.port);
    server.child.disconnect();
    expect((await client.reply()).text).toMatch(/^421 4\.3\.2 /);
    await server.exited;
    expect(server.child.signalCode).toBe('SIGKILL');
    expect(server.output).toContain('"reason":"parent gone"');
    await server.stop();
  });

  test.each([
    ['smtp.before-ask', 0],
    ['smtp.after-reply', 1],
  ])(
    'a process that ends at %s sends no reply, and %i message was offered; a new process accepts it',
    async (fault, offered) => {
      const server = await SmtpServer.start({ FAULT: fault });
      const client = await SmtpClient.greet(server.port);
      await expect(client.deliver(message)).rejects.toThrow('connection closed');
      expect(await server.exited).toBe(137);
      expect(server.messages).toHaveLength(offered);
      await server.stop();
    },
  );
});

describe('the process does not start on unusable parts:', () => {
  test('a port is in use', async () => {
    const server = await SmtpServer.start();
    const second = new SmtpServer(server.port, server.directory, {});
    expect(await second.exited).toBe(1);
    expect(second.output).toContain(`cannot listen on 127.0.0.1:${server.port}`);
    await server.stop();
  });

  test('there is no bus', async () => {
    const server = new SmtpServer(1, '/nonexistent', { BUS_SOCKET: '' });
    expect(await server.exited).toBe(1);
    expect(server.output).toContain('NATS_URL is required');
  });
});

test('several processes share the port, and one that dies is replaced', async () => {
  const server = await SmtpServer.start({ SMTP_PROCESSES: '2' });
  const pids = () => [
    ...new Set([...server.output.matchAll(/"pid":(\d+),"event":"smtp.listening"/g)].map(([, pid]) => pid)),
  ];
  await until(() => pids().length === 2);
  const deliver = async () => {
    const client = await SmtpClient.greet(server.port);
    const { code } = await client.deliver(message);
    client.destroy();
    return code;
  };
  for (let i = 0; i < 10; i++) expect(await deliver()).toBe(250);
  process.kill(Number(pids()[0]), 'SIGKILL');
  await until(() => pids().length === 3);
  await until(async () => (await deliver()) === 250);
  expect(await server.end()).toBe(0);
  const isListening = await new Promise((resolve) => {
    connect(server.port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
  });
  expect(isListening).toBe(false);
  await server.stop();
});

test('the log has one line of JSON per message, without subject, body or keys of the mail', async () => {
  const server = await SmtpServer.start({ LOG_LEVEL: 'debug' });
  const client = await SmtpClient.greet(server.port);
  await client.deliver('Subject: canary-subject\r\n\r\ncanary-body\r\n.\r\n', ['canary-address@inbox.test']);
  await client.say('QUIT');
  await client.closed;
  await server.end();
  const lines = server.output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const messages = lines.filter(({ event }) => event === 'smtp.message');
  expect(messages).toHaveLength(1);
  expect(messages[0]).toMatchObject({ recipients: 1, sizeBytes: 40, reply: '250 2.0.0 Ok: queued as em_1' });
  expect(
    lines.filter(({ event, acceptedMessages }) => event === 'smtp.session' && acceptedMessages === 1),
  ).toHaveLength(1);
  expect(server.output).not.toContain('canary');
  await server.stop();
});
