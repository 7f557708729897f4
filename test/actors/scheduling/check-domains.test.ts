import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDomainChecker, type DomainChecker } from '../../../actors/scheduling/check-domains.ts';
import type { DnsRecord } from '../../../core/domains/dns-records.ts';
import { readDomainCheck } from '../../../core/domains/domain-check.ts';
import { removeAccounts } from '../../support/rows/holdings.ts';
import { moveClock } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const HOST = 'mx.postroom.test';
const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

let dns: DnsServer;
let gateway: TestGateway;
let ann: TestMailbox;
let bob: TestMailbox;
let checker: DomainChecker;
let published: { kind: string; name: string }[];

beforeAll(async () => {
  dns = await startDnsServer();
  gateway = await openTestGateway({ config: { mailHostname: HOST } });
});
afterAll(async () => {
  await gateway?.close();
  await dns.stop();
});
beforeEach(async () => {
  dns.clear();
  dns.queries.length = 0;
  await removeAccounts(gateway.owner);
  ann = await gateway.mailbox();
  bob = await gateway.mailbox();
  await gateway.owner.pool.query(`update domain set check_due_at = 'infinity'`);
  published = [];
  checker = newChecker();
});

function newChecker(): DomainChecker {
  const context = testActorContext(gateway.actor);
  context.bus.subscribe('routing.changed', ({ name }) => void published.push({ kind: 'routing', name }));
  return createDomainChecker(context, { dnsServers: [dns.address], mailHostname: HOST });
}

interface Added {
  id: string;
  name: string;
  workspaceId: string;
  dnsRecords: DnsRecord[];
}

async function add(box: TestMailbox, name: string): Promise<Added> {
  const made = await gateway.call(box.apiKey, 'POST', '/domains', { domain: name });
  expect(made.statusCode, made.body).toBe(201);
  const domain: Omit<Added, 'workspaceId'> = JSON.parse(made.body);
  return { ...domain, workspaceId: box.workspaceId };
}

const isProof = ({ name }: { name: string }) => name.startsWith('_postroom.');

/** Publishes records as they were told; of one name and type all of them. */
function publish(records: readonly Pick<DnsRecord, 'type' | 'name' | 'value'>[]): void {
  const zone = Map.groupBy(records, ({ type, name }) => `${type} ${name}`);
  for (const [key, same] of zone) {
    const [type = '', name = ''] = key.split(' ');
    dns.set(
      name,
      type,
      same.map(({ value }) => {
        const [preference = '', exchange = ''] = value.split(' ');
        return type === 'MX' ? { preference: Number(preference), exchange } : value;
      }),
    );
  }
}

async function readState({ id }: Pick<Added, 'id'>) {
  const { rows } = await gateway.owner.pool.query(
    `select status, is_mx_seen as "isMxSeen", proof_lost_at is not null as "isProofLost", dns_check as "dnsCheck",
       checked_at is not null as "isChecked", round(extract(epoch from check_due_at - postroom_now()))::int as "dueIn" from domain where id = $1`,
    [id],
  );
  const { dnsCheck, ...state } = rows[0];
  return { ...state, check: readDomainCheck(dnsCheck) };
}

async function listEvents(workspaceId: string): Promise<{ kind: string; data: Record<string, unknown> }[]> {
  const { rows } = await gateway.owner.pool.query(
    `select kind, data from event where workspace_id = $1 and kind like 'domain.%' order by seq`,
    [workspaceId],
  );
  return rows;
}

const look = () => checker.checkDue();
const lookAt = (...added: Added[]) =>
  checker.checkNow({ workspaceId: added[0]?.workspaceId ?? '', domainIds: added.map(({ id }) => id) });
const passTime = (seconds: number) => moveClock(gateway.owner, seconds);
const receives = async (address: string) => {
  const { rows } = await gateway.owner.pool.query(
    `select n.workspace_id from email_address_name n join verified_domain_name v on v.workspace_id = n.workspace_id
     where n.address = $1 and v.name = split_part($1, '@', 2)`,
    [address],
  );
  return rows[0]?.workspace_id ?? null;
};

describe('a domain is verified', () => {
  test('in the background once its records are published, and its owner is notified', async () => {
    const domain = await add(ann, 'x.test');
    expect(await look()).toBe(1);
    expect(await readState(domain)).toMatchObject({ status: 'pending', isMxSeen: false, dueIn: MINUTE_S });
    publish(domain.dnsRecords);
    expect(await look()).toBe(0);
    await passTime(MINUTE_S);
    expect(await look()).toBe(1);
    expect(await readState(domain)).toMatchObject({ status: 'verified', isMxSeen: true, dueIn: DAY_S });
    expect(await listEvents(ann.workspaceId)).toEqual([
      { kind: 'domain.verified', data: { domainId: domain.id, domain: 'x.test' } },
    ]);
    expect(published).toEqual([{ kind: 'routing', name: 'x.test' }]);
  });

  test('by the proof alone, when its owner asks; it receives mail with the MX', async () => {
    const domain = await add(ann, 'x.test');
    publish(domain.dnsRecords.filter(isProof));
    expect(await lookAt(domain)).toEqual({ checked: [domain.id] });
    expect(await readState(domain)).toMatchObject({ status: 'verified', isMxSeen: false, dueIn: MINUTE_S });
    publish(domain.dnsRecords);
    await lookAt(domain);
    expect(await readState(domain)).toMatchObject({ status: 'verified', isMxSeen: true, dueIn: DAY_S });
    expect(await listEvents(ann.workspaceId)).toHaveLength(1);
  });

  test.each<[string, (value: string) => unknown[]]>([
    ['cut in chunks', (value) => [[value.slice(0, 7), value.slice(7)]]],
    ['among others', (value) => ['something else', value, 'postroom-verification=dom_0']],
  ])('by a proof that is %s', async (_name, listRecords) => {
    const domain = await add(ann, 'x.test');
    dns.set('_postroom.x.test', 'TXT', listRecords(domain.dnsRecords.find(isProof)?.value ?? ''));
    await lookAt(domain);
    expect(await readState(domain)).toMatchObject({ status: 'verified' });
  });

  test('and not by the proof of another user, at another name, or in another type', async () => {
    const domain = await add(ann, 'x.test');
    const foreign = await add(bob, 'x.test');
    const value = domain.dnsRecords.find(isProof)?.value;
    publish(foreign.dnsRecords.filter(isProof));
    dns.set('x.test', 'TXT', [value]);
    dns.set('_postroom.y.test', 'TXT', [value]);
    await lookAt(domain);
    expect(await readState(domain)).toMatchObject({ status: 'pending' });
  });

  test('and not for a user who asks with the id of another user', async () => {
    const domain = await add(ann, 'x.test');
    publish(domain.dnsRecords);
    expect(await lookAt({ ...domain, workspaceId: bob.workspaceId })).toEqual({ checked: [] });
    expect(await readState(domain)).toMatchObject({ isChecked: false });
  });

  test('even though it failed after 72 hours without proof', async () => {
    const domain = await add(ann, 'x.test');
    await passTime(72 * HOUR_S - 60);
    await look();
    expect(await readState(domain)).toMatchObject({ status: 'pending', dueIn: HOUR_S });
    await passTime(HOUR_S);
    await look();
    expect(await readState(domain)).toMatchObject({ status: 'failed', check: { reason: 'unproven' } });
    publish(domain.dnsRecords);
    await passTime(DAY_S);
    await look();
    expect(await readState(domain)).toMatchObject({ status: 'verified', check: { reason: null } });
    expect((await listEvents(ann.workspaceId)).map(({ kind }) => kind)).toEqual(['domain.failed', 'domain.verified']);
  });
});

describe('a verified domain', () => {
  let domain: Added;
  beforeEach(async () => {
    domain = await add(ann, 'x.test');
    publish(domain.dnsRecords);
    await look();
  });

  test('is checked daily, and stays verified when records disappear; its owner is notified once', async () => {
    dns.clear();
    dns.set('x.test', 'TXT', ['still here']);
    expect(await look()).toBe(0);
    await passTime(DAY_S + 1);
    expect(await look()).toBe(1);
    expect(await readState(domain)).toMatchObject({
      status: 'verified',
      isProofLost: true,
      isMxSeen: false,
      dueIn: HOUR_S,
    });
    await passTime(HOUR_S);
    await look();
    const [, lost, ...more] = await listEvents(ann.workspaceId);
    expect(lost).toMatchObject({ kind: 'domain.records_lost', data: { domainId: domain.id, domain: 'x.test' } });
    expect(lost?.data['records']).toContainEqual({ type: 'TXT', name: '_postroom.x.test' });
    expect(more).toEqual([]);
    const shown = (await gateway.call(ann.apiKey, 'GET', `/domains/${domain.id}`)).json();
    expect(shown).toMatchObject({ status: 'verified', canReceiveEmails: false, proofLostAt: expect.any(String) });
    publish(domain.dnsRecords);
    await passTime(HOUR_S);
    await look();
    expect(await readState(domain)).toMatchObject({ isProofLost: false, isMxSeen: true, dueIn: DAY_S });
  });

  test.each(['SERVFAIL', 'silent', 'garbage'] as const)(
    'keeps its status when DNS responds %s, and is checked again soon',
    async (trouble) => {
      const before = await readState(domain);
      for (const { type, name } of domain.dnsRecords) dns.set(name, type, trouble);
      await passTime(DAY_S);
      await look();
      const after = await readState(domain);
      expect(after).toMatchObject({ status: 'verified', isProofLost: false, isMxSeen: true, dueIn: MINUTE_S });
      expect(after.check.error).toMatch(/^DNS did not respond \(E[A-Z]+\)$/);
      expect(after.check).toMatchObject({ hasMx: true, spf: before.check.spf, unanswered: 1 });
      await passTime(MINUTE_S);
      await look();
      await passTime(MINUTE_S);
      expect(await look()).toBe(0);
      expect(await listEvents(ann.workspaceId)).toHaveLength(1);
    },
  );

  test('keeps its status while DNS is unreachable', async () => {
    const away = createDomainChecker(testActorContext(gateway.actor), {
      dnsServers: ['127.0.0.1:1'],
      mailHostname: HOST,
    });
    expect(await away.checkNow({ workspaceId: ann.workspaceId, domainIds: [domain.id] })).toEqual({
      checked: [domain.id],
    });
    expect(await readState(domain)).toMatchObject({
      status: 'verified',
      isMxSeen: true,
      check: { error: 'DNS did not respond (ECONNREFUSED)' },
    });
  });
});

test('false replies harm no other domain', async () => {
  const liar = await add(ann, 'liar.test');
  const honest = await add(bob, 'honest.test');
  publish(honest.dnsRecords);
  dns.set(
    '_postroom.liar.test',
    'TXT',
    Array.from({ length: 60 }, () => `\0\u202e${'x'.repeat(900)}`),
  );
  dns.set(
    'liar.test',
    'MX',
    Array.from({ length: 300 }, (_, n) => ({ preference: n, exchange: `${'m'.repeat(60)}.test` })),
  );
  dns.set('liar.test', 'CNAME', 'garbage');
  dns.set(
    'liar.test',
    'NS',
    Array.from({ length: 50 }, (_, n) => `ns${n}.cloudflare.com.liar.test`),
  );
  expect(await look()).toBe(2);
  expect(await readState(honest)).toMatchObject({ status: 'verified' });
  const { status, check } = await readState(liar);
  expect(status).toBe('pending');
  expect(JSON.stringify(check).length).toBeLessThan(20_000);
});

test('a domain that is deleted during its check is skipped', async () => {
  const domain = await add(ann, 'x.test');
  publish(domain.dnsRecords);
  // The check waits for this record until the domain is gone, and asks again.
  dns.set('x.test', 'MX', 'silent');
  const looking = lookAt(domain);
  await expect.poll(() => dns.queries, { timeout: 10_000 }).toContain('MX x.test');
  await gateway.owner.pool.query('delete from domain where id = $1', [domain.id]);
  publish(domain.dnsRecords);
  expect((await looking).checked.length).toBeLessThanOrEqual(1);
  expect(await listEvents(ann.workspaceId)).toEqual([]);
  const { rows } = await gateway.owner.pool.query(`select from verified_domain_name where name = 'x.test'`);
  expect(rows).toEqual([]);
});

describe('several checkers', () => {
  test('share the domains that are due', async () => {
    for (let n = 0; n < 6; n++) await add(ann, `x${n}.test`);
    dns.queries.length = 0;
    const counts = await Promise.all([look(), newChecker().checkDue(), newChecker().checkDue()]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(6);
    expect(dns.queries.filter((query) => query.startsWith('TXT _postroom.'))).toHaveLength(6);
  });

  test('leave a claimed domain to its holder, for a minute', async () => {
    await add(ann, 'x.test');
    const { claimDueDomains } = await import('../../../db/queries/domains/domain-check.ts');
    expect(await claimDueDomains(gateway.actor)).toHaveLength(1);
    expect(await look()).toBe(0);
    await passTime(MINUTE_S + 1);
    expect(await look()).toBe(1);
  });

  test('serve a few concurrent checks of one user, and do not delay others', async () => {
    const mine = await add(ann, 'slow.test');
    const theirs = await add(bob, 'quick.test');
    for (const { type, name } of mine.dnsRecords) dns.set(name, type, 'silent');
    const slow = Array.from({ length: 6 }, () => lookAt(mine));
    expect(await lookAt(theirs)).toEqual({ checked: [theirs.id] });
    const responded = (await Promise.all(slow)).map(({ checked }) => checked.length);
    expect(responded.toSorted((a, b) => a - b)).toEqual([0, 0, 1, 1, 1, 1]);
  });

  test('stop before all of a hundred domains are checked when DNS does not respond', async () => {
    const names = Array.from({ length: 100 }, (_, n) => `silent${n}.test`);
    await gateway.owner.pool.query(
      `insert into domain (workspace_id, id, name) select $1, 'dom_' || n, n from unnest($2::text[]) n`,
      [ann.workspaceId, names],
    );
    for (const name of names) for (const type of ['MX', 'TXT', 'CNAME', 'NS']) dns.set(name, type, 'silent');
    const { checked } = await checker.checkNow({
      workspaceId: ann.workspaceId,
      domainIds: names.map((name) => `dom_${name}`),
    });
    expect(checked.length).toBeLessThan(100);
  });
});

describe('of several users who claim one name', () => {
  test('at once, with all proofs published, exactly one is verified', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `claimed${round}.test`;
      const claims = await Promise.all([ann, bob].map((box) => add(box, name)));
      publish(claims.flatMap(({ dnsRecords }) => dnsRecords));
      const others = newChecker();
      await Promise.all(
        claims.map(({ workspaceId, id }, n) => (n === 0 ? checker : others).checkNow({ workspaceId, domainIds: [id] })),
      );
      // On a slow machine the reply comes before the check is stored, which goes on.
      await expect
        .poll(async () => (await Promise.all(claims.map(readState))).every(({ isChecked }) => isChecked))
        .toBe(true);
      const states = await Promise.all(claims.map(readState));
      expect(states.map(({ status }) => String(status)).toSorted()).toEqual(['pending', 'verified']);
      expect(states.find(({ status }) => status === 'pending')?.check.reason).toBe('taken');
      const { rows } = await gateway.owner.pool.query('select domain_id from verified_domain_name where name = $1', [
        name,
      ]);
      expect(rows).toEqual([{ domain_id: claims[states.findIndex(({ status }) => status === 'verified')]?.id }]);
    }
  });

  test('the second sees why the domain stays pending, and does not fail while its proof is there', async () => {
    const first = await add(ann, 'x.test');
    const second = await add(bob, 'x.test');
    publish([...first.dnsRecords, ...second.dnsRecords]);
    await lookAt(first);
    await lookAt(second);
    await passTime(80 * HOUR_S);
    await look();
    const shown = (await gateway.call(bob.apiKey, 'GET', `/domains/${second.id}`)).json();
    expect(shown).toMatchObject({
      status: 'pending',
      message: expect.stringMatching(/another account is the verified owner/),
    });
  });
});

describe('a name whose proof is gone', () => {
  let old: Added;
  let sub: Added;
  let deep: Added;
  let claim: Added;
  beforeEach(async () => {
    old = await add(ann, 'x.test');
    claim = await add(bob, 'x.test');
    publish(old.dnsRecords);
    await lookAt(old);
    sub = await add(ann, 'sub.x.test');
    deep = await add(ann, 'deep.sub.x.test');
    expect([sub, deep]).toMatchObject([{ status: 'verified' }, { status: 'verified' }]);
    for (const [address, { id }] of [
      ['a@x.test', old],
      ['a@sub.x.test', sub],
    ] as const) {
      const made = await gateway.call(ann.apiKey, 'POST', '/email-addresses', { address, domainId: id });
      expect(made.statusCode).toBe(201);
    }
    // The domain has a new owner.
    publish(claim.dnsRecords);
    await lookAt(old);
    expect(await readState(old)).toMatchObject({ status: 'verified', isProofLost: true });
  });

  test('passes to another user who proves it after 7 days, with its addresses and subdomains', async () => {
    await passTime(7 * DAY_S - 60);
    await lookAt(claim);
    expect(await readState(claim)).toMatchObject({ check: { reason: 'taken' } });
    expect(await receives('a@x.test')).toBe(ann.workspaceId);
    await passTime(61);
    published = [];
    await lookAt(claim);
    expect(await readState(claim)).toMatchObject({ status: 'verified', check: { reason: null } });
    for (const lost of [old, sub, deep]) expect(await readState(lost)).toMatchObject({ status: 'failed' });
    expect(await readState(old)).toMatchObject({ check: { reason: 'lost' } });
    expect([await receives('a@x.test'), await receives('a@sub.x.test')]).toEqual([null, null]);
    expect(published.map(({ name }) => name).toSorted()).toEqual(['deep.sub.x.test', 'sub.x.test', 'x.test', 'x.test']);
    expect((await listEvents(ann.workspaceId)).filter(({ kind }) => kind === 'domain.failed')).toHaveLength(3);
    const again = await gateway.call(bob.apiKey, 'POST', '/email-addresses', {
      address: 'a@x.test',
      domainId: claim.id,
    });
    expect(again.statusCode, again.body).toBe(201);
    expect(await receives('a@x.test')).toBe(bob.workspaceId);
    const shown = (await gateway.call(ann.apiKey, 'GET', `/domains/${sub.id}`)).json();
    expect(shown).toMatchObject({ inheritsFromParent: false });
    expect(shown).not.toHaveProperty('parentDomain');
    expect(shown.dnsRecords.filter(isProof)).toHaveLength(1);
  });

  test('stays with an owner who proves it again, even a moment before', async () => {
    await passTime(7 * DAY_S + 60);
    publish([...claim.dnsRecords, ...old.dnsRecords]);
    await lookAt(old);
    await lookAt(claim);
    expect(await readState(old)).toMatchObject({ status: 'verified', isProofLost: false });
    expect(await readState(claim)).toMatchObject({ status: 'pending' });
  });

  test('returns with its addresses to an owner who proves it when it is free again', async () => {
    await passTime(7 * DAY_S + 60);
    await lookAt(claim);
    expect((await gateway.call(bob.apiKey, 'DELETE', `/domains/${claim.id}`)).statusCode).toBe(200);
    publish(old.dnsRecords);
    await lookAt(old);
    expect(await readState(old)).toMatchObject({ status: 'verified' });
    expect(await receives('a@x.test')).toBe(ann.workspaceId);
  });

  test('is not inherited by new subdomains, and may be claimed by a third user', async () => {
    expect(await add(ann, 'new.x.test')).toMatchObject({ status: 'pending', inheritsFromParent: false });
    const carl = await gateway.mailbox();
    expect(await add(carl, 'x.test')).toMatchObject({ status: 'pending' });
  });
});

test('a claim on a verified name checks its owner, at most every 10 minutes', async () => {
  const owned = await add(ann, 'x.test');
  publish(owned.dnsRecords);
  await lookAt(owned);
  const claim = () => gateway.call(bob.apiKey, 'POST', '/domains', { domain: 'x.test' });
  expect((await claim()).json()).toMatchObject({ statusCode: 409, code: 'DOMAIN_ALREADY_REGISTERED' });
  expect(await look()).toBe(0);
  await passTime(601);
  await claim();
  expect(await look()).toBe(1);
  await claim();
  expect(await look()).toBe(0);
});

describe('a new DKIM key', () => {
  const keys = async (id: string) => {
    const { rows } = await gateway.owner.pool.query(
      `select selector, activated_at is not null as "isActive", retired_at is not null as "isRetired" from dkim_key
       where domain_id = $1 order by created_at`,
      [id],
    );
    return rows.map(({ isActive, isRetired }) => (isRetired ? 'retired' : isActive ? 'active' : 'waiting'));
  };
  const shownKeys = async (id: string) => {
    const { dnsRecords } = (await gateway.call(ann.apiKey, 'GET', `/domains/${id}`)).json();
    return dnsRecords.filter(({ name }: DnsRecord) => name.includes('_domainkey'));
  };

  test('signs once its record is seen; the previous record is shown for 7 more days', async () => {
    const domain = await add(ann, 'x.test');
    publish(domain.dnsRecords);
    await lookAt(domain);
    const rotated = await gateway.call(ann.apiKey, 'POST', `/domains/${domain.id}/dkim`);
    expect(rotated.statusCode).toBe(200);
    await look();
    expect(await keys(domain.id)).toEqual(['active', 'waiting']);
    expect(await readState(domain)).toMatchObject({ dueIn: MINUTE_S });
    const shown = await shownKeys(domain.id);
    expect(shown).toMatchObject([{ isVerified: false, error: 'No such record' }, { isVerified: true }]);
    expect(await gateway.call(ann.apiKey, 'POST', `/domains/${domain.id}/dkim`)).toMatchObject({ statusCode: 409 });
    publish(shown);
    await passTime(MINUTE_S);
    await look();
    expect(await keys(domain.id)).toEqual(['retired', 'active']);
    expect(await readState(domain)).toMatchObject({ dueIn: DAY_S });
    expect(await shownKeys(domain.id)).toHaveLength(2);
    await passTime(7 * DAY_S + 60);
    expect(await shownKeys(domain.id)).toHaveLength(1);
    await look();
    expect(await keys(domain.id)).toEqual(['active']);
  });
});
