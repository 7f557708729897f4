import { randomBytes } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDnsResolver } from '../../../actors/network/dns-resolver.ts';
import { authenticateMessage } from '../../../actors/receiving/authenticate-message.ts';
import { createDomainChecker } from '../../../actors/scheduling/check-domains.ts';
import type { DnsRecord } from '../../../core/domains/dns-records.ts';
import { parentDomains } from '../../../core/domains/domain-name.ts';
import type { Authentication } from '../../../core/mime/authentication.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { decryptSecret } from '../../../core/shared/secret-box.ts';
import type { Database } from '../../../db/connection/database.ts';
import { findSigningKey } from '../../../db/queries/domains/dkim-key.ts';
import { claimDueDomains } from '../../../db/queries/domains/domain-check.ts';
import { removeAccounts } from '../../support/rows/holdings.ts';
import { moveClock } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const HOST = 'mx.postroom.test';
const SENDER_ADDRESS = '192.0.2.25';
const secretKey = randomBytes(32);
const MINUTE_S = 60;
const DAY_S = 86_400;

let dns: DnsServer;
let gateway: TestGateway;
let owner: Database;
let box: TestMailbox;

beforeAll(async () => {
  dns = await startDnsServer();
  gateway = await openTestGateway({ config: { mailHostname: HOST, secretKey, trustedDomains: ['x.test'] } });
  owner = gateway.owner;
});
afterAll(async () => {
  await gateway?.close();
  await dns.stop();
});
beforeEach(async () => {
  dns.clear();
  dns.set(HOST, 'A', [SENDER_ADDRESS]);
  dns.queries.length = 0;
  await removeAccounts(owner);
  box = await gateway.mailbox({ domain: 'other.test', domainStatus: 'failed' });
  await owner.pool.query(`update domain set check_due_at = 'infinity'`);
});

const look = () =>
  createDomainChecker(testActorContext(gateway.actor), { dnsServers: [dns.address], mailHostname: HOST }).checkDue();

async function addDomain(name: string): Promise<{ id: string; dnsRecords: DnsRecord[] }> {
  const made = await gateway.call(box.apiKey, 'POST', '/domains', { domain: name });
  expect(made.statusCode).toBe(201);
  return made.json();
}

/** Publishes records as they were told, each a zone file's line. */
function publish(records: readonly DnsRecord[]): void {
  for (const { type, name, value } of records) {
    const [preference = '', exchange = ''] = value.split(' ');
    dns.set(name, type, [type === 'MX' ? { preference: Number(preference), exchange } : value]);
  }
}

async function readShown(domainId: string): Promise<[status: string, at: string | null]> {
  const shown = (await gateway.call(box.apiKey, 'GET', `/domains/${domainId}`)).json();
  return [shown.mailFromDomainStatus, shown.mailFromDomainVerifiedAt];
}

const passTime = (seconds: number) => moveClock(owner, seconds);

describe('a domain whose owner has published the requested records', () => {
  test('has its MAIL FROM domain verified, and its mail passes SPF, DKIM and DMARC at a receiver', async () => {
    const { id, dnsRecords } = await addDomain('x.test');
    expect(await readShown(id)).toEqual(['pending', null]);
    publish(dnsRecords);
    await look();
    expect(await readShown(id)).toEqual(['Success', expect.any(String)]);
    expect(await readVerdict('joe@x.test', 'bounce+1@mail.x.test')).toMatchObject({
      spf: { result: 'pass', domain: 'mail.x.test' },
      dkim: [{ result: 'pass', domain: 'x.test' }],
      dmarc: { result: 'pass', policy: 'none', domain: 'x.test' },
    });
  });

  test('passes SPF with its own name too, until the MAIL FROM records are seen', async () => {
    const { dnsRecords } = await addDomain('x.test');
    publish(dnsRecords.filter(({ name }) => name !== 'mail.x.test'));
    expect(await readVerdict('joe@x.test', 'bounce+1@x.test')).toMatchObject({
      spf: { result: 'pass', domain: 'x.test' },
      dmarc: { result: 'pass' },
    });
  });

  test('lends its key to a subdomain that inherits from it', async () => {
    publish((await addDomain('x.test')).dnsRecords);
    const sub = await addDomain('sub.x.test');
    expect(sub.dnsRecords.map(({ name }) => name)).not.toContain('_dmarc.sub.x.test');
    publish(sub.dnsRecords);
    expect(await readVerdict('joe@sub.x.test', 'bounce+1@mail.sub.x.test')).toMatchObject({
      spf: { result: 'pass' },
      dkim: [{ result: 'pass', domain: 'x.test' }],
      dmarc: { result: 'pass', domain: 'sub.x.test' },
    });
    const { rows } = await gateway.actor.pool.query('select count(*) as count from dkim_key');
    expect(rows).toEqual([{ count: 1 }]);
  });
});

/** What a receiver makes of a message that this service signs with the key it stored. */
async function readVerdict(from: string, reversePath: string): Promise<Authentication> {
  const name = from.split('@')[1] ?? '';
  const key = await findSigningKey(gateway.actor, box.workspaceId, [name, ...parentDomains(name)]);
  if (key === null) return expect.fail('no key');
  const privateKey = decryptSecret(secretKey, 'dkim-key', key.privateKeyCiphertext);
  const dkim = { domainName: key.domain, keySelector: key.selector, privateKey };
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows', dkim });
  const { message } = await transport.sendMail({ from, to: 'ann@y.test', subject: 'Signed', text: 'Hello' });
  if (!Buffer.isBuffer(message)) return expect.fail('not composed');
  const sender = { remoteAddress: SENDER_ADDRESS, helo: HOST, reversePath };
  const resolver = createDnsResolver({ servers: [dns.address] });
  return authenticateMessage(message, await parseMessage(message), sender, resolver);
}

describe('the records of MAIL FROM domains', () => {
  const mailFrom = 'mail.x.test';
  const state = async () => {
    const { rows } = await gateway.actor.pool.query(
      `select mail_from_verified_at is not null as "isVerified",
         extract(epoch from check_due_at - postroom_now())::float8 as "dueInSeconds"
       from domain where name = 'x.test'`,
    );
    const { isVerified, dueInSeconds } = rows[0];
    return { isVerified, dueInSeconds, dueIn: Math.round(dueInSeconds) };
  };
  const asked = () => dns.queries.filter((query) => query.endsWith(mailFrom)).length;

  test.each([
    ['there is no MX', () => dns.set(mailFrom, 'MX', [])],
    ['the MX is another host', () => dns.set(mailFrom, 'MX', [{ preference: 10, exchange: 'mx.other.test' }])],
    ['there is no SPF', () => dns.set(mailFrom, 'TXT', ['hello'])],
    ['SPF lets others send only', () => dns.set(mailFrom, 'TXT', ['v=spf1 a:mx.other.test -all'])],
    ['DNS does not respond', () => dns.set(mailFrom, 'MX', 'SERVFAIL')],
  ])('are not found when %s', async (_name, spoil) => {
    const { id, dnsRecords } = await addDomain('x.test');
    publish(dnsRecords);
    spoil();
    expect(await look()).toBe(1);
    expect(await readShown(id)).toEqual(['Pending', null]);
  });

  test('are checked a minute after the domain was verified, then at intervals that double to an hour', async () => {
    await addDomain('x.test');
    const waits = [];
    for (let n = 0; n < 9; n++) {
      expect(await look()).toBe(1);
      const { dueInSeconds } = await state();
      waits.push(Math.round(dueInSeconds / MINUTE_S));
      expect(await look()).toBe(0);
      await passTime(dueInSeconds + 0.1);
    }
    expect(waits).toEqual([1, 1, 2, 4, 8, 16, 32, 60, 60]);
  });

  test('are checked daily once found, and lost only when DNS says that they are gone', async () => {
    const { id, dnsRecords } = await addDomain('x.test');
    publish(dnsRecords);
    await look();
    expect(await state()).toMatchObject({ isVerified: true, dueIn: DAY_S });
    const [, since] = await readShown(id);
    dns.set(mailFrom, 'MX', 'SERVFAIL');
    await passTime(DAY_S + 1);
    expect(await look()).toBe(1);
    expect(await state()).toMatchObject({ isVerified: true, dueIn: MINUTE_S });
    expect(await readShown(id)).toEqual(['Success', since]);
    dns.set(mailFrom, 'MX', 'NXDOMAIN');
    await passTime(MINUTE_S + 1);
    await look();
    expect(await state()).toMatchObject({ isVerified: false, dueIn: 3_600 });
    publish(dnsRecords);
    await passTime(3_601);
    await look();
    expect((await state()).isVerified).toBe(true);
  });

  test('are checked by one actor', async () => {
    await addDomain('x.test');
    const before = asked();
    expect((await Promise.all([look(), look(), look()])).reduce((sum, count) => sum + count)).toBe(1);
    expect(asked() - before).toBe(2);
  });

  test('are checked again after a minute when a check did not finish', async () => {
    await addDomain('x.test');
    expect(await claimDueDomains(gateway.actor)).toHaveLength(1);
    expect(await look()).toBe(0);
    await passTime(MINUTE_S + 1);
    expect(await look()).toBe(1);
  });
});
