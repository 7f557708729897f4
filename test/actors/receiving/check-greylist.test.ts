import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createGreylist } from '../../../actors/receiving/check-greylist.ts';
import { doorNetwork } from '../../../core/screening/door/door-network.ts';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { moveClock } from '../../support/rows/outgoing-rows.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';

let testDatabase: TestDatabase;
let database: Database;
let owner: Database;
let dns: DnsServer;
let check: ReturnType<typeof createGreylist>;
let count = 0;
let workspaceId = '';

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
  dns = await startDnsServer();
  dns.set('pool.test', 'TXT', ['v=spf1 ip4:8.8.0.0/16 -all']);
  dns.set('other.test', 'TXT', ['v=spf1 -all']);
  check = createGreylist(database, { dnsServers: [dns.address], mailHostname: 'mx.inbox.test' });
});
afterAll(async () => {
  await dns?.stop();
  await testDatabase?.drop();
});
beforeEach(() => {
  workspaceId = `usr_${count++}`;
});

const offer = async (address: string, more: { helo?: string; sender?: string; recipient?: string } = {}) => {
  const { isPassed } = await check({
    workspaceId,
    address,
    network: doorNetwork(address),
    helo: 'client.test',
    sender: 'ada@other.test',
    recipient: 'hello@inbox.test',
    waitSeconds: 300,
    ...more,
  });
  return isPassed;
};
const wait = () => moveClock(owner, 301);

test('a pool whose SPF passes is known after an attempt from another network, for all that it sends', async () => {
  const sender = 'ada@pool.test';
  expect(await offer('8.8.1.1', { sender, helo: 'one.test' })).toBe(false);
  expect(await offer('8.8.2.1', { sender, helo: 'two.test' })).toBe(false);
  await wait();
  expect(await offer('8.8.3.1', { sender, helo: 'three.test' })).toBe(true);
  expect(await offer('8.8.4.1', { sender: 'bob@pool.test', recipient: 'new@inbox.test', helo: 'four.test' })).toBe(
    true,
  );
  // Others that name the domain, and fail its SPF.
  expect(await offer('9.9.9.9', { sender })).toBe(false);
  // Another workspace.
  workspaceId = `usr_${count++}`;
  expect(await offer('8.8.5.1', { sender })).toBe(false);
});

test('a pool of one HELO domain passes with what it offered before, and with nothing else', async () => {
  expect(await offer('9.9.1.1', { helo: 'a1.mail.large.co.uk' })).toBe(false);
  await wait();
  expect(await offer('9.9.2.1', { helo: 'b2.large.co.uk', recipient: 'other@inbox.test' })).toBe(false);
  expect(await offer('9.9.2.1', { helo: 'b2.large.co.uk', sender: 'ada@elsewhere.test' })).toBe(false);
  expect(await offer('9.9.2.1', { helo: 'b2.small.co.uk' })).toBe(false);
  expect(await offer('9.9.3.1', { helo: 'B2.large.co.uk' })).toBe(true);
  expect(await offer('9.9.4.1', { helo: 'b2.large.co.uk', recipient: 'third@inbox.test' })).toBe(false);
});

test.each([['localhost'], ['[192.0.2.1]'], ['192.0.2.1'], ['co.uk'], ['mail.inbox.test'], ['']])(
  'a client that calls itself %j is of no pool',
  async (helo) => {
    expect(await offer('9.9.1.1', { helo })).toBe(false);
    await wait();
    expect(await offer('9.9.2.1', { helo })).toBe(false);
    expect(await offer('9.9.1.1', { helo })).toBe(true);
  },
);

test('a network with many first contacts stores no more than a few hundred rows', async () => {
  for (let n = 0; n < 150; n++)
    await offer('9.9.1.1', { helo: `h${n}.example${n}.test`, recipient: `r${n}@inbox.test` });
  const { rows } = await owner.pool.query('select from greylist where workspace_id = $1', [workspaceId]);
  expect(rows.length).toBeLessThanOrEqual(201);
});

test('a sender whose DNS does not respond is of no SPF pool', async () => {
  dns.set('broken.test', 'TXT', 'SERVFAIL');
  expect(await offer('9.9.1.1', { sender: 'ada@broken.test', helo: 'x' })).toBe(false);
  await wait();
  expect(await offer('9.9.2.1', { sender: 'ada@broken.test', helo: 'x' })).toBe(false);
});
