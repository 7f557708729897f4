import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DnsServer, startDnsServer } from '../support/servers/dns.ts';
import { greetFrom, TEST_PROXY } from '../support/servers/outside-client.ts';
import { type DomainAccount, Service, until } from '../support/servers/service.ts';

let dns: DnsServer;
let service: Service;
let account: DomainAccount;
let stranger: DomainAccount;

beforeAll(async () => {
  dns = await startDnsServer();
  for (const [domain, policy] of [
    ['strict.test', 'reject'],
    ['careful.test', 'quarantine'],
    ['open.test', 'none'],
  ] as const) {
    dns.set(`_dmarc.${domain}`, 'TXT', [`v=DMARC1; p=${policy}`]);
    dns.set(domain, 'TXT', ['v=spf1 ip4:8.8.6.6 -all']);
  }
  dns.set('_dmarc.broken.test', 'TXT', 'SERVFAIL');
  service = await Service.start('single', {
    environment: { SMTP_PROXIES: TEST_PROXY, DMARC_ENFORCE: 'reject', DNS_SERVERS: dns.address },
  });
  account = await service.createAccount();
  stranger = await service.createAccount();
}, 300_000);
afterAll(async () => {
  await service?.stop();
  await dns?.stop();
});

/** Names one recipient, and returns the reply. */
async function offer(address: string, recipient: string, helo?: string): Promise<string> {
  const client = await greetFrom(service.smtpPort, address, helo);
  await client.say('MAIL FROM:<ada@elsewhere.test>');
  const { text } = await client.say(`RCPT TO:<${recipient}>`);
  client.destroy();
  return text;
}

interface Listed {
  id: string;
  reason: string;
  recipient: string | null;
  sender: string | null;
  client_address: string;
  helo: string | null;
  reply: string;
  times: number;
}

async function list(of: DomainAccount, query = ''): Promise<Listed[]> {
  const { status, body } = await of.call('GET', `/refusals?${query}`);
  expect(status).toBe(200);
  return body.data;
}

async function awaitListed(of: DomainAccount, query: string, count: number): Promise<Listed[]> {
  let found: Listed[] = [];
  await until(
    `${count} refusals match ${query}`,
    () => `${JSON.stringify(found)} ${service.output.slice(-2_000)}`,
    async () => {
      found = await list(of, query);
      return found.length === count;
    },
  );
  return found;
}

test('a refused recipient is listed for its workspace with the reply, and for no other', async () => {
  const recipient = `nobody@${account.domain}`;
  expect(await offer('8.8.4.1', recipient)).toBe('550 5.1.1 No such mailbox');
  expect(await offer('8.8.4.1', recipient)).toBe('550 5.1.1 No such mailbox');
  let refusals: Listed[] = [];
  await until(
    'both are counted',
    () => JSON.stringify(refusals),
    async () => {
      refusals = await list(account, `search=NOBODY@`);
      return refusals[0]?.times === 2;
    },
  );
  expect(refusals).toMatchObject([
    {
      reason: 'unknown_recipient',
      recipient,
      sender: 'ada@elsewhere.test',
      client_address: '8.8.4.1',
      network: '8.8.4.0/24',
      helo: 'client.test',
      reply: '550 5.1.1 No such mailbox',
    },
  ]);
  const [{ id } = { id: '' }] = refusals;
  expect((await account.call('GET', `/refusals/${id}`)).body).toMatchObject({ object: 'door_refusal', id, times: 2 });
  const { body } = await account.graphql(
    'query ($id: ID!) { refusals(first: 5, filter: { search: "nobody" }) { edges { node { id reason times } } } refusal(id: $id) { reply } }',
    { id },
  );
  expect(body.data.refusals.edges[0].node).toMatchObject({ reason: 'UNKNOWN_RECIPIENT', times: 2 });
  expect(body.data.refusal.reply).toBe('550 5.1.1 No such mailbox');
  expect(await list(stranger)).toEqual([]);
  expect((await stranger.call('GET', `/refusals/${id}`)).status).toBe(404);
  expect(service.output).toContain('"event":"smtp.refused"');
});

test('a refused recipient of an unknown domain is listed for no workspace', async () => {
  expect(await offer('8.8.5.1', 'anyone@unknown-domain.test')).toBe('550 5.7.1 Relay denied');
  expect(await offer('8.8.5.1', `marker@${account.domain}`)).toBe('550 5.1.1 No such mailbox');
  await awaitListed(account, 'search=marker', 1);
  expect(await list(account, 'search=unknown-domain')).toEqual([]);
  expect(await list(stranger)).toEqual([]);
});

/** Sends a message from a domain, and returns the reply to its data. */
async function send(address: string, from: string, recipient: string, body = 'Hi\r\n'): Promise<string> {
  const client = await greetFrom(service.smtpPort, address);
  await client.begin([recipient], `bounces@${from}`);
  client.send(`From: ada@${from}\r\nTo: ${recipient}\r\nSubject: From ${from}\r\n\r\n${body}.\r\n`);
  const { text } = await client.reply();
  client.destroy();
  return text;
}

test('DMARC_ENFORCE=reject refuses what fails where the policy asks for it, and holds where it asks for quarantine', async () => {
  const recipient = `inbox@${account.domain}`;
  const made = await account.call('POST', '/email-addresses', { address: recipient, domainId: account.domainId });
  expect(made.status).toBe(201);
  expect(await send('8.8.6.1', 'strict.test', recipient)).toBe(
    '550 5.7.1 The message failed DMARC, and the policy of strict.test asks for it to be rejected',
  );
  expect(await send('8.8.6.6', 'strict.test', recipient)).toMatch(/^250 /);
  expect(await send('8.8.6.1', 'careful.test', recipient)).toMatch(/^250 /);
  expect(await send('8.8.6.1', 'open.test', recipient)).toMatch(/^250 /);
  expect(await send('8.8.6.1', 'broken.test', recipient)).toMatch(/^250 /);
  // So large that it is not read before its commit.
  const large = `${'x'.repeat(900)}\r\n`.repeat(700);
  expect(await send('8.8.6.1', 'strict.test', recipient, large)).toMatch(/^550 5\.7\.1 /);
  const [refusal] = await awaitListed(account, 'reason=dmarc', 1);
  expect(refusal).toMatchObject({ recipient, sender: 'bounces@strict.test', client_address: '8.8.6.1' });
  await until(
    'one is held, and the others are not',
    () => service.output.slice(-2_000),
    async () => {
      const { body } = await account.graphql(
        '{ emails(first: 10) { edges { node { subject route { outcome reason } } } } }',
      );
      const routes = body.data.emails.edges.map(
        ({ node }: { node: { subject: string; route: { outcome: string } } }) => [node.subject, node.route?.outcome],
      );
      return (
        routes.length === 4 &&
        JSON.stringify(routes.toSorted()) ===
          JSON.stringify([
            ['From broken.test', 'STORED'],
            ['From careful.test', 'REVIEW'],
            ['From open.test', 'STORED'],
            ['From strict.test', 'STORED'],
          ])
      );
    },
  );
  const { body } = await account.call('GET', '/emails?time_range=all&search=careful');
  const [held] = body.data;
  const explained = await account.call('GET', `/emails/${held.id}/route`);
  expect(explained.body).toMatchObject({ outcome: 'review', reason: expect.stringContaining('failed DMARC') });
  const now = await account.call('GET', `/emails/${held.id}/route?now=true`);
  expect(now.body.would).toMatchObject({
    outcome: 'review',
    reason: expect.stringContaining('failed DMARC'),
  });
  const raw = (domain: string) => `From: ada@${domain}\r\nTo: ${recipient}\r\nSubject: Hi\r\n\r\nHi\r\n`;
  const preview = async (mail: object) =>
    (await account.call('POST', '/emails/explain-route', { to: recipient, ...mail })).body;
  expect(await preview({ raw: raw('careful.test') })).toMatchObject({ outcome: 'review' });
  const refused = await preview({ raw: raw('strict.test') });
  expect(refused.steps).toEqual([
    expect.objectContaining({ step: 'received', detail: expect.stringContaining('It would be refused: 550 5.7.1') }),
  ]);
  expect(await preview({ from: 'ada@strict.test', subject: 'Hi', text: 'Hi' })).toMatchObject({ outcome: 'stored' });
});

test('greylisting survives a kill, and knows the network of a host that tried again', async () => {
  const own = await Service.start('single', { environment: { SMTP_PROXIES: TEST_PROXY, GREYLIST_SECONDS: '1' } });
  const owner = await own.createAccount();
  const recipient = `inbox@${owner.domain}`;
  await owner.call('POST', '/email-addresses', { address: recipient, domainId: owner.domainId });
  await owner.call('POST', '/email-addresses', { address: `other@${owner.domain}`, domainId: owner.domainId });
  const name = async (address: string, to = recipient, helo = 'client.test') => {
    const client = await greetFrom(own.smtpPort, address, helo);
    await client.say('MAIL FROM:<ada@elsewhere.test>');
    const { text } = await client.say(`RCPT TO:<${to}>`);
    client.destroy();
    return text;
  };
  expect(await name('8.8.13.1')).toMatch(/^451 4\.7\.1 Greylisted: .* Please try again in 1 seconds/);
  await own.end('runner', 'SIGKILL');
  await own.start();
  await until(
    'a later attempt passes',
    () => own.output.slice(-2_000),
    async () => (await name('8.8.13.1')).startsWith('250 '),
  );
  // Another host of the network, to another recipient.
  expect(await name('8.8.13.77', `other@${owner.domain}`)).toMatch(/^250 /);
  expect(await name('8.8.14.1', recipient, 'client.example')).toMatch(/^451 /);
  // Another network of the same pool, with what the first one offered.
  expect(await name('8.8.15.1', recipient, 'relay7.client.test')).toMatch(/^250 /);
  await own.stop();
}, 300_000);
