import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { SmtpServer, until } from './smtp-server.ts';

const message = 'Subject: one\r\n\r\nbody\r\n.\r\n';

// All at once: each waits for the limit, which is long enough for commands from a busy machine.
describe.concurrent('the time limit is total time:', () => {
  const LIMIT_SECONDS = 8;
  let server: SmtpServer;
  beforeAll(async () => {
    server = await SmtpServer.start({ SMTP_COMMAND_SECONDS: String(LIMIT_SECONDS) });
  });
  afterAll(() => server.stop());

  /** How long it took the server to end the session, and its last words; one byte each 200 ms keeps the line busy. */
  async function drip(client: SmtpClient, byte: string): Promise<{ durationMs: number; text: string }> {
    const startedAt = performance.now();
    const last = client.reply();
    const timer = setInterval(() => client.send(byte), 200);
    const { text } = await last;
    await client.closed;
    clearInterval(timer);
    return { durationMs: performance.now() - startedAt, text };
  }

  test('a client that says nothing after the banner gets 421 4.4.2', async () => {
    const client = await SmtpClient.connect(server.port);
    await client.reply();
    expect((await client.reply()).text).toMatch(/^421 4\.4\.2 /);
    await client.closed;
  });

  test('a client that never ends its command gets 421 4.4.2', async () => {
    const client = await SmtpClient.greet(server.port);
    const { text } = await drip(client, 'N');
    expect(text).toMatch(/^421 4\.4\.2 /);
  });

  test('a client that sends its message byte by byte gets 421 4.4.2, and no actor is asked', async () => {
    const client = await SmtpClient.greet(server.port);
    await client.begin();
    const { durationMs, text } = await drip(client, 'x');
    expect(text).toMatch(/^421 4\.4\.2 /);
    expect(durationMs).toBeGreaterThan((LIMIT_SECONDS - 2) * 1_000);
    expect(server.messages.filter(({ bytes }) => !bytes.toString().startsWith('Subject: slow'))).toEqual([]);
  });

  test('a message that arrives at a fair pace may take longer', async () => {
    const client = await SmtpClient.greet(server.port);
    await client.begin();
    client.send(`Subject: slow\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(500)}`);
    await new Promise((resolve) => setTimeout(resolve, (LIMIT_SECONDS + 1) * 1_000));
    client.send('.\r\n');
    expect((await client.reply()).code).toBe(250);
    client.destroy();
  });

  test('a client that keeps the socket open after the end is disconnected', async () => {
    const client = await SmtpClient.connect(server.port);
    await client.reply();
    const timer = setInterval(() => client.send('x'), 100);
    await client.closed;
    clearInterval(timer);
  });
});

describe('recipients that do not exist', () => {
  const MAX = 8;
  let server: SmtpServer;
  beforeAll(async () => {
    server = await SmtpServer.start({ SMTP_MAX_UNKNOWN_RECIPIENTS: String(MAX) });
    const known = server.script.recipient;
    server.script.recipient = (recipient) =>
      recipient.startsWith('no-')
        ? { verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No' }
        : known(recipient);
  });
  afterAll(() => server.stop());

  /** Starts a server that knows no recipient that begins with `no-`. */
  async function start(environment: Record<string, string>): Promise<SmtpServer> {
    const started = await SmtpServer.start(environment);
    const known = started.script.recipient;
    started.script.recipient = (recipient) =>
      recipient.startsWith('no-')
        ? { verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No' }
        : known(recipient);
    return started;
  }

  const open = async (localAddress: string, { port } = server) => {
    const client = await SmtpClient.greet(port, { localAddress });
    await client.say('MAIL FROM:<a@elsewhere.test>');
    return client;
  };
  /** Guesses `count` addresses; returns the codes of the replies and how long they took. */
  const guess = async (client: SmtpClient, count: number) => {
    const startedAt = performance.now();
    const codes: number[] = [];
    for (let n = 0; n < count && codes.at(-1) !== 421; n++)
      codes.push((await client.say(`RCPT TO:<no-${n}@postroom.test>`)).code);
    return { codes, milliseconds: performance.now() - startedAt };
  };
  /** Delays of the sixth to the eighth, less a clock tick each. */
  const DELAYS_MS = 250 + 500 + 1_000 - 6;

  test('are refused at once five times, then later and later, and end the session with 421', async () => {
    const client = await open('127.0.0.9');
    expect((await guess(client, 5)).codes).toEqual([550, 550, 550, 550, 550]);
    const { codes, milliseconds } = await guess(client, MAX);
    expect([codes, milliseconds > DELAYS_MS]).toEqual([[550, 550, 421], true]);
    await client.closed;
    await until(() => server.output.includes('smtp.unknown-recipients'));
  });

  test('delay no other session, and no known recipient', async () => {
    const slow = await open('127.0.0.10');
    await guess(slow, 6);
    const order: string[] = [];
    const last = guess(slow, 1).then(() => order.push('slow'));
    const other = await open('127.0.0.11');
    expect((await other.say('RCPT TO:<b@postroom.test>')).code).toBe(250);
    order.push('other');
    await last;
    expect(order).toEqual(['other', 'slow']);
    expect((await slow.say('RCPT TO:<b@postroom.test>')).code).toBe(250);
    slow.destroy();
    other.destroy();
  });

  test('are counted over the sessions of a client, whose later sessions end at the first', async () => {
    const own = await start({ SMTP_MAX_UNKNOWN_RECIPIENTS: '2', SMTP_FREE_UNKNOWN_RECIPIENTS: '100' });
    const ended: number[][] = [];
    for (let session = 0; session < 7; session++) ended.push((await guess(await open('127.0.0.12', own), 3)).codes);
    expect(ended).toEqual([[550, 421], ...Array(6).fill([421])]);
    const client = await open('127.0.0.12', own);
    expect((await client.say('RCPT TO:<b@postroom.test>')).code).toBe(250);
    const neighbor = await open('127.0.0.13', own);
    expect((await guess(neighbor, 3)).codes).toEqual([550, 421]);
    for (let session = 0; session < 6; session++)
      expect((await guess(await open('127.0.0.1', own), 3)).codes).toEqual([550, 421]);
    client.destroy();
    await own.stop();
  });

  test('do not delay a stop', async () => {
    const own = await SmtpServer.start();
    own.script.recipient = () => ({ verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No' });
    const client = await SmtpClient.greet(own.port);
    await client.say('MAIL FROM:<a@elsewhere.test>');
    for (let n = 0; n < 9; n++) await client.say(`RCPT TO:<no-${n}@postroom.test>`);
    client.send('RCPT TO:<no-10@postroom.test>\r\n');
    const replies = [(await client.say('')).code];
    await own.stop();
    expect(replies).toEqual([550]);
    await client.closed;
  });
});

describe('connections are counted:', () => {
  let server: SmtpServer;
  beforeAll(async () => {
    server = await SmtpServer.start({ SMTP_MAX_CONNECTIONS: '5', SMTP_MAX_CONNECTIONS_PER_ADDRESS: '2' });
  });
  afterAll(() => server.stop());

  test('too many from one address are 421 4.7.0, too many in total 421 4.3.2, and one that ends makes room', async () => {
    // The probe that awaited the start may still be on its way out.
    await until(async () => {
      const client = await SmtpClient.connect(server.port, { localAddress: '127.0.0.2' });
      const { code } = await client.reply();
      client.destroy();
      await client.closed;
      return code === 220;
    });
    const open = async (localAddress: string) => {
      const client = await SmtpClient.connect(server.port, { localAddress });
      return { client, banner: await client.reply() };
    };
    const first = await open('127.0.0.2');
    const second = await open('127.0.0.2');
    expect([first.banner.code, second.banner.code]).toEqual([220, 220]);
    const third = await open('127.0.0.2');
    expect(third.banner.text).toMatch(/^421 4\.7\.0 /);
    await third.client.closed;
    const others = [await open('127.0.0.1'), await open('127.0.0.1'), await open('127.0.0.1')];
    expect(others.map(({ banner }) => banner.code)).toEqual([220, 220, 220]);
    const sixth = await open('127.0.0.3');
    expect(sixth.banner.text).toMatch(/^421 4\.3\.2 /);
    await sixth.client.closed;
    await first.client.say('QUIT');
    await first.client.closed;
    const again = await open('127.0.0.3');
    expect(again.banner.code).toBe(220);
    for (const { client } of [second, ...others, again]) client.destroy();
  });
});

describe('connections through a proxy are counted by the client of its PROXY line:', () => {
  const PROXY = '127.0.0.9';
  let server: SmtpServer;
  beforeAll(async () => {
    server = await SmtpServer.start({ SMTP_PROXIES: PROXY, SMTP_MAX_CONNECTIONS_PER_ADDRESS: '2' });
  });
  afterAll(() => server.stop());

  const open = async (address: string) => {
    const client = await SmtpClient.connect(server.port, { localAddress: PROXY });
    const kind = address.includes(':') ? 'TCP6' : 'TCP4';
    client.send(`PROXY ${kind} ${address} ${kind === 'TCP6' ? '2001:db8:f::1' : '198.51.100.1'} 40000 25\r\n`);
    return { client, banner: await client.reply() };
  };
  const REFUSED = /^421 4\.7\.0 /;

  test('an IPv6 /64 has as many connections as one address', async () => {
    const first = await open('2001:db8:0:1::1');
    const second = await open('2001:db8:0:1:ffff::2');
    expect([first.banner.code, second.banner.code]).toEqual([220, 220]);
    const third = await open('2001:0db8:0000:0001:8000::3');
    expect(third.banner.text).toMatch(REFUSED);
    await third.client.closed;
    const neighbor = await open('2001:db8:0:2::1');
    expect(neighbor.banner.code).toBe(220);
    await first.client.say('QUIT');
    await first.client.closed;
    const again = await open('2001:db8:0:1::4');
    expect(again.banner.code).toBe(220);
    for (const { client } of [second, neighbor, again]) client.destroy();
  });

  test('an IPv4 address mapped into IPv6 is that IPv4 address', async () => {
    const opened = [await open('192.0.2.7'), await open('::ffff:192.0.2.7')];
    expect(opened.map(({ banner }) => banner.code)).toEqual([220, 220]);
    const third = await open('192.0.2.7');
    expect(third.banner.text).toMatch(REFUSED);
    await third.client.closed;
    const other = await open('::ffff:192.0.2.8');
    expect(other.banner.code).toBe(220);
    for (const { client } of [...opened, other]) client.destroy();
  });
});

describe('invalid input ends the session and affects no other:', () => {
  let server: SmtpServer;
  beforeAll(async () => {
    server = await SmtpServer.start();
  });
  afterAll(async () => {
    const client = await SmtpClient.greet(server.port);
    expect((await client.deliver(message)).code).toBe(250);
    client.destroy();
    expect(server.child.exitCode).toBeNull();
    expect(residentBytes(server)).toBeLessThan(300_000_000);
    await server.stop();
  });

  test('a command line without end is 521', async () => {
    const client = await SmtpClient.greet(server.port);
    client.send('X'.repeat(10_000_000));
    expect((await client.reply()).code).toBe(521);
    await client.closed;
  });

  test('a command of 600 bytes gets a reply, one of 1,100 is 521', async () => {
    const client = await SmtpClient.greet(server.port);
    expect((await client.say('X'.repeat(600))).code).toBe(500);
    expect((await client.say('X'.repeat(1_100))).code).toBe(521);
    await client.closed;
  });

  test('the twentieth invalid command in a row gets 421 4.7.0', async () => {
    const client = await SmtpClient.greet(server.port);
    client.send('\0\xff\x16garbage\r\n'.repeat(100_000));
    const codes = [];
    for (let i = 0; i < 21; i++) codes.push((await client.reply()).code);
    expect(codes.slice(0, 20).every((code) => code === 500)).toBe(true);
    expect(codes[20]).toBe(421);
    await client.closed;
  });

  test('commands before the banner are queued or refused', async () => {
    const client = await SmtpClient.connect(server.port);
    client.send('EHLO early.test\r\nNONSENSE\r\n');
    const codes = [];
    for (let i = 0; i < 3; i++) codes.push((await client.reply()).code);
    expect(codes).toEqual([220, 250, 500]);
    client.destroy();
  });

  test('a TLS handshake in the clear is refused', async () => {
    const client = await SmtpClient.greet(server.port);
    client.send(Buffer.from('16030100c8010000c40303\r\n', 'latin1'));
    expect((await client.reply()).code).toBe(500);
    client.send(Buffer.from([0x16, 0x03, 0x01, 0x00, 0xc8, 0x01, 0xff, 0x0d, 0x0a]));
    expect((await client.reply()).code).toBeGreaterThanOrEqual(500);
    client.destroy();
  });

  test('a client that pipelines forever and reads nothing is disconnected', async () => {
    const client = await SmtpClient.greet(server.port);
    client.stopReading();
    const chunk = 'NOOP\r\n'.repeat(20_000);
    for (let i = 0; i < 100 && !client.isClosed; i++) {
      client.send(chunk);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    client.destroy();
    await client.closed;
  });

  test('a client that only sends NOOP and the like gets 421 4.7.0', async () => {
    const client = await SmtpClient.greet(server.port);
    client.send('NOOP\r\n'.repeat(6_000));
    let last = await client.reply();
    while (last.code === 250) last = await client.reply();
    expect(last.text).toMatch(/^421 4\.7\.0 /);
    await client.closed;
  });

  test('recipients that are pipelined by the thousand all get a reply while one is slow', async () => {
    const client = await SmtpClient.greet(server.port);
    const { recipient } = server.script;
    server.script.recipient = async (name) => {
      if (name.startsWith('slow')) await new Promise((resolve) => setTimeout(resolve, 300));
      return recipient(name);
    };
    client.send('MAIL FROM:<a@client.test>\r\nRCPT TO:<slow@inbox.test>\r\n');
    client.send('RCPT TO:<quick@inbox.test>\r\n'.repeat(4_000));
    const codes = new Map<number, number>();
    for (let i = 0; i < 4_002; i++) {
      const { code } = await client.reply();
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(Object.fromEntries(codes)).toEqual({ 250: 1_001, 452: 3_001 });
    server.script.recipient = recipient;
    client.destroy();
  });
});

describe('memory for messages is limited:', () => {
  test('forty messages of 14 MB at once are accepted or deferred with 452, and the process stays small', async () => {
    const server = await SmtpServer.start();
    server.script.message = async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return { verdict: 'accepted', emailIds: ['em_1'] };
    };
    const bytes = Buffer.from(`Subject: big\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(14_000)}.\r\n`, 'latin1');
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, residentBytes(server));
    }, 50);
    const codes = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const client = await SmtpClient.greet(server.port);
        await client.say('MAIL FROM:<a@client.test>');
        await client.say('RCPT TO:<hello@inbox.test>');
        const data = await client.say('DATA');
        if (data.code !== 354) {
          client.destroy();
          return data.code;
        }
        client.send(bytes);
        const { code } = await client.reply();
        client.destroy();
        return code;
      }),
    );
    clearInterval(watch);
    expect(codes.filter((code) => code !== 250 && code !== 452)).toEqual([]);
    expect(codes).toContain(250);
    expect(peak).toBeLessThan(900_000_000);
    const client = await SmtpClient.greet(server.port);
    expect((await client.deliver(message)).code).toBe(250);
    client.destroy();
    await server.stop();
  });
});

/** Resident memory of the SMTP process. */
function residentBytes(server: SmtpServer): number {
  const status = readFileSync(`/proc/${server.child.pid}/status`, 'latin1');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}
