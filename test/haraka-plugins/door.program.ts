import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DnsServer, startDnsServer } from '../support/servers/dns.ts';
import { connectFrom, greetFrom, TEST_PROXY } from '../support/servers/outside-client.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { SmtpServer, until } from './smtp-server.ts';

const KNOWN = 'hello@inbox.test';

/** Starts a server behind the tests' proxy. */
function start(environment: Record<string, string> = {}): Promise<SmtpServer> {
  return SmtpServer.start({ SMTP_PROXIES: TEST_PROXY, INBOUND_SMTP: '127.0.0.1:25', ...environment });
}

/** Names a recipient, and returns the reply. */
async function offer(
  client: SmtpClient,
  { sender = 'ada@elsewhere.test', recipient = KNOWN }: { sender?: string; recipient?: string } = {},
): Promise<string> {
  await client.say(`MAIL FROM:<${sender}>`);
  const { text } = await client.say(`RCPT TO:<${recipient}>`);
  client.destroy();
  return text;
}

describe('without settings', () => {
  let server: SmtpServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.stop());

  test('a client that talks before the greeting is refused at RCPT, and the refusal is kept', async () => {
    const client = await connectFrom(server.port, '8.8.4.4', 'EHLO early.test\r\n');
    expect((await client.reply()).code).toBe(220);
    await client.reply();
    expect(await offer(client)).toMatch(/^554 5\.5\.1 Your server sent commands before its turn/);
    await until(() => server.refusals.some(({ reason }) => reason === 'early_talker'));
    expect(server.refusals.find(({ reason }) => reason === 'early_talker')).toMatchObject({
      workspaceId: 'usr_1',
      address: '8.8.4.4',
      network: '8.8.4.0/24',
      helo: 'early.test',
      sender: 'ada@elsewhere.test',
      recipient: KNOWN,
      times: 1,
    });
  });

  test('a client that sends MAIL behind EHLO is refused, and one that pipelines after it is not', async () => {
    const early = await connectFrom(server.port, '8.8.4.5');
    await early.reply();
    early.send(`EHLO early.test\r\nMAIL FROM:<a@elsewhere.test>\r\nRCPT TO:<${KNOWN}>\r\n`);
    const replies = [await early.reply(), await early.reply(), await early.reply()];
    expect(replies.map(({ code }) => code)).toEqual([250, 250, 554]);
    const client = await greetFrom(server.port, '8.8.4.6');
    client.send(`MAIL FROM:<a@elsewhere.test>\r\nRCPT TO:<${KNOWN}>\r\nDATA\r\n`);
    expect([await client.reply(), await client.reply(), await client.reply()].map(({ code }) => code)).toEqual([
      250, 250, 354,
    ]);
    early.destroy();
    client.destroy();
  });

  test('a client of this machine may talk early', async () => {
    const client = await SmtpClient.connect(server.port);
    client.send('EHLO early.test\r\n');
    await client.reply();
    await client.reply();
    expect(await offer(client)).toMatch(/^250 /);
  });

  test.each(['mx.postroom.test', 'MX.Postroom.TEST.', '[198.51.100.1]', '198.51.100.1'])(
    'a client from outside that calls itself %s is refused',
    async (helo) => {
      // DNS has no such host, or does not respond: only the first is a lie.
      const own = await start({ DNS_SERVERS: dns.address });
      expect(await offer(await greetFrom(own.port, '8.8.4.7', helo))).toMatch(/^554 5\.7\.1 /);
      await own.stop();
    },
  );

  test('a client whose address is of our host name may use it, and so may one while DNS is silent', async () => {
    dns.set('mx.postroom.test', 'A', ['8.8.4.8']);
    const own = await start({ DNS_SERVERS: dns.address });
    expect(await offer(await greetFrom(own.port, '8.8.4.8', 'mx.postroom.test'))).toMatch(/^250 /);
    expect(await offer(await greetFrom(own.port, '8.8.4.9', 'mx.postroom.test'))).toMatch(/^554 /);
    await own.stop();
    dns.set('mx.postroom.test', 'A', 'silent');
    dns.set('mx.postroom.test', 'AAAA', 'silent');
    const silent = await start({ DNS_SERVERS: dns.address });
    expect(await offer(await greetFrom(silent.port, '8.8.4.9', 'mx.postroom.test'))).toMatch(/^250 /);
    await silent.stop();
    dns.clear();
  });

  test.each(['client.test', '[8.8.4.10]', 'localhost'])('a client that calls itself %s is accepted', async (helo) => {
    expect(await offer(await greetFrom(server.port, '8.8.4.10', helo))).toMatch(/^250 /);
  });

  test('nothing is asked in DNS', async () => {
    const own = await start({ DNS_SERVERS: dns.address });
    const before = dns.queries.length;
    expect(await offer(await greetFrom(own.port, '8.8.4.11'), { sender: 'a@no-such-domain.test' })).toMatch(/^250 /);
    expect(dns.queries.length).toBe(before);
    await own.stop();
  });
});

let dns: DnsServer;
beforeAll(async () => {
  dns = await startDnsServer();
});
afterAll(() => dns.stop());

describe('SMTP_SENDER_DOMAIN=refuse', () => {
  let server: SmtpServer;
  beforeAll(async () => {
    server = await start({ SMTP_SENDER_DOMAIN: 'refuse', DNS_SERVERS: dns.address });
    dns.set('null-mx.test', 'MX', [{ preference: 0, exchange: '.' }]);
    dns.set('mx.test', 'MX', [{ preference: 10, exchange: 'mx.mx.test' }]);
    dns.set('a.test', 'A', ['192.0.2.1']);
    dns.set('aaaa.test', 'AAAA', ['2001:db8::1']);
    dns.set('txt.test', 'TXT', ['nothing']);
    dns.set('broken.test', 'MX', 'SERVFAIL');
    dns.set('silent.test', 'MX', 'silent');
    dns.set('half.test', 'A', 'SERVFAIL');
  });
  afterAll(() => server.stop());

  test.each([
    ['a@no-such-domain.test', '550 5.1.8 '],
    ['a@txt.test', '550 5.1.8 '],
    ['a@null-mx.test', '550 5.7.27 '],
    ['a@mx.test', '250 '],
    ['a@a.test', '250 '],
    ['a@aaaa.test', '250 '],
    ['a@broken.test', '250 '],
    ['a@silent.test', '250 '],
    ['a@half.test', '250 '],
    ['', '250 '],
  ])('mail from %s gets %s', async (sender, expected) => {
    expect((await offer(await greetFrom(server.port, '8.8.4.20'), { sender })).startsWith(expected)).toBe(true);
  });

  test('mail to postmaster is accepted from any domain', async () => {
    const client = await greetFrom(server.port, '8.8.4.20');
    expect(await offer(client, { sender: 'a@no-such-domain.test', recipient: 'postmaster@inbox.test' })).toMatch(
      /^250 /,
    );
  });
});

describe('DNS lists', () => {
  let server: SmtpServer;
  const lists = ['block.test', 'hang.test', 'all.test', 'refusing.test', 'parked.test'];
  beforeAll(async () => {
    server = await start({
      DNS_BLOCK_LISTS: lists.join(','),
      DNS_ALLOW_LISTS: 'allow.test',
      DNS_SERVERS: dns.address,
    });
    dns.set('20.7.8.8.block.test', 'A', ['127.0.0.2']);
    dns.set('21.7.8.8.block.test', 'A', ['127.0.0.2']);
    dns.set('21.7.8.8.allow.test', 'A', ['127.0.10.3']);
    for (const address of ['22.7.8.8', '1.0.0.127']) dns.set(`${address}.all.test`, 'A', ['127.0.0.2']);
    dns.set('22.7.8.8.refusing.test', 'A', ['127.255.255.254']);
    dns.set('22.7.8.8.parked.test', 'A', ['203.0.113.80']);
    for (const last of [20, 21, 22, 23]) dns.set(`${last}.7.8.8.hang.test`, 'A', 'silent');
  });
  afterAll(() => server.stop());

  test('a listed client is refused with the name of the list, and one that is allowed as well is not', async () => {
    expect(await offer(await greetFrom(server.port, '8.8.7.20'))).toBe(
      '554 5.7.1 Your address 8.8.7.20 is on the block list block.test',
    );
    expect(await offer(await greetFrom(server.port, '8.8.7.21'))).toMatch(/^250 /);
  });

  test('a list that lists everything, refuses queries or is parked has no effect', async () => {
    expect(await offer(await greetFrom(server.port, '8.8.7.22'))).toMatch(/^250 /);
  });

  test('a list that hangs delays a session by two seconds at most, and after three times no more', async () => {
    const startedAt = performance.now();
    expect(await offer(await greetFrom(server.port, '8.8.7.23'))).toMatch(/^250 /);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    for (const last of [24, 25]) dns.set(`${last}.7.8.8.hang.test`, 'A', 'silent');
    for (const last of [24, 25]) await offer(await greetFrom(server.port, `8.8.7.${last}`));
    const before = dns.queries.length;
    expect(await offer(await greetFrom(server.port, '8.8.7.26'))).toMatch(/^250 /);
    expect(dns.queries.slice(before)).not.toContain('A 26.7.8.8.hang.test');
    expect(dns.queries.slice(before)).toContain('A 26.7.8.8.block.test');
  });

  test('replies are cached', async () => {
    await offer(await greetFrom(server.port, '8.8.7.20'));
    const before = dns.queries.length;
    expect(await offer(await greetFrom(server.port, '8.8.7.20'))).toMatch(/^554 /);
    expect(dns.queries.length).toBe(before);
  });

  test('a client of a private network is asked about nowhere', async () => {
    const before = dns.queries.length;
    expect(await offer(await greetFrom(server.port, '10.1.2.3'))).toMatch(/^250 /);
    expect(dns.queries.length).toBe(before);
  });
});

describe('rates of a network', () => {
  test('connections beyond the rate get 421, and messages beyond it 450; another network is not affected', async () => {
    const server = await start({ SMTP_CONNECTIONS_PER_MINUTE: '3', SMTP_MESSAGES_PER_MINUTE: '2' });
    const clients = [];
    for (const last of [1, 2, 3]) clients.push(await greetFrom(server.port, `8.8.9.${last}`));
    const replies = [];
    for (const client of clients) {
      await client.say('MAIL FROM:<a@elsewhere.test>');
      replies.push((await client.say(`RCPT TO:<${KNOWN}>`)).text);
    }
    expect(replies.map((text) => text.slice(0, 9))).toEqual(['250 2.1.5', '250 2.1.5', '450 4.7.1']);
    // Further recipients of a message are of the same message.
    expect((await clients[0]?.say('RCPT TO:<other@inbox.test>'))?.code).toBe(250);
    const fourth = await connectFrom(server.port, '8.8.9.4');
    expect((await fourth.reply()).text).toMatch(/^421 4\.7\.0 Too many connections from your network/);
    await fourth.closed;
    expect(await offer(await greetFrom(server.port, '8.8.10.1'))).toMatch(/^250 /);
    for (const client of clients) client.destroy();
    await until(() =>
      ['connection_rate', 'message_rate'].every((one) => server.refusals.some(({ reason }) => reason === one)),
    );
    expect(server.refusals.find(({ reason }) => reason === 'connection_rate')).toMatchObject({
      workspaceId: null,
      recipient: null,
    });
    await server.stop();
  });

  test('a trusted network has no limits', async () => {
    const server = await start({
      SMTP_CONNECTIONS_PER_MINUTE: '1',
      SMTP_MESSAGES_PER_MINUTE: '1',
      SMTP_MAX_UNKNOWN_RECIPIENTS: '2',
      SMTP_TRUSTED_NETWORKS: '8.8.11.0/24',
    });
    for (let n = 0; n < 4; n++)
      expect(await offer(await greetFrom(server.port, '8.8.11.1', 'mx.postroom.test'))).toMatch(/^250 /);
    server.script.recipient = () => ({ verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'No' });
    const client = await greetFrom(server.port, '8.8.11.1');
    await client.say('MAIL FROM:<a@elsewhere.test>');
    for (let n = 0; n < 8; n++) expect((await client.say(`RCPT TO:<no${n}@inbox.test>`)).code).toBe(550);
    client.destroy();
    await server.stop();
  });
});

describe('GREYLIST_SECONDS', () => {
  test('asks whether an attempt passes, and says when to try again; a reply address is not asked about', async () => {
    const server = await start({ GREYLIST_SECONDS: '300' });
    const asked: unknown[] = [];
    server.bus.serve('receiving.greylist.check', async (question) => {
      asked.push(question);
      return { isPassed: asked.length > 1, secondsLeft: 300 };
    });
    const known = server.script.recipient;
    server.script.recipient = (recipient) => {
      const verdict = known(recipient);
      return recipient.startsWith('reply') && !(verdict instanceof Promise) && verdict.verdict === 'accept'
        ? { ...verdict, replyAddressId: 'rpl_1' }
        : verdict;
    };
    expect(await offer(await greetFrom(server.port, '8.8.12.1'))).toBe(
      '451 4.7.1 Greylisted: mail from your network is new here. Please try again in 300 seconds',
    );
    expect(await offer(await greetFrom(server.port, '8.8.12.1'))).toMatch(/^250 /);
    expect(await offer(await greetFrom(server.port, '8.8.12.1'), { recipient: 'reply-x@inbox.test' })).toMatch(/^250 /);
    expect(asked).toEqual(
      Array(2).fill({
        workspaceId: 'usr_1',
        address: '8.8.12.1',
        network: '8.8.12.0/24',
        helo: 'client.test',
        sender: 'ada@elsewhere.test',
        recipient: KNOWN,
        waitSeconds: 300,
      }),
    );
    await server.stop();
  });
});
