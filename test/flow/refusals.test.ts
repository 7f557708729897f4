import { afterAll, beforeAll, expect, test } from 'vitest';
import { greetFrom, TEST_PROXY } from '../support/servers/outside-client.ts';
import { type DomainAccount, Service, until } from '../support/servers/service.ts';

let service: Service;
let account: DomainAccount;
let stranger: DomainAccount;

beforeAll(async () => {
  service = await Service.start('single', { environment: { SMTP_PROXIES: TEST_PROXY } });
  account = await service.createAccount();
  stranger = await service.createAccount();
}, 300_000);
afterAll(() => service?.stop());

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
