import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dmarcRow } from '../../../actors/receiving/email-rows.ts';
import { createDomainChecker } from '../../../actors/scheduling/check-domains.ts';
import { readDmarcReport } from '../../../core/domains/dmarc-report.ts';
import type { DnsRecord } from '../../../core/domains/dns-records.ts';
import { type IdentifierKind, makeIdentifier } from '../../../core/shared/identifiers.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { insertDmarcReports } from '../../../db/queries/domains/dmarc-write.ts';
import type { Subscription } from '../../../schema/messages.ts';
import { dmarcXml, type ReportOptions } from '../../support/mail/dmarc-reports.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { PAGE, walk } from '../../support/stages/graph-pages.ts';
import { expectSame, mutate } from '../../support/stages/graph-results.ts';
import { countStatements } from '../../support/statements.ts';

const HOST = 'mx.postroom.test';
let dns: DnsServer;
let gateway: TestGateway;
let serving: Subscription;
let box: TestMailbox;
let names = 0;

beforeAll(async () => {
  dns = await startDnsServer();
  gateway = await openTestGateway({ config: { mailHostname: HOST, trustedDomains: ['trusted.test', '*.inbox.test'] } });
  serving = serveLooks();
});
afterAll(async () => {
  await gateway.close();
  await dns.stop();
});
beforeEach(async () => {
  dns.clear();
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/in' });
});

function serveLooks(): Subscription {
  const checker = createDomainChecker(testActorContext(gateway.actor), {
    dnsServers: [dns.address],
    mailHostname: HOST,
  });
  return gateway.bus.serve('scheduling.domain.check', (request) => checker.checkNow(request));
}

const nextName = () => `graph${names++}.test`;
const rest = async (method: string, path: string, body?: unknown, as = box) => {
  const response = await gateway.call(as.apiKey, method, path, body);
  return { status: response.statusCode, body: response.json() };
};
const ask = async (query: string, variables?: Record<string, unknown>, as = box) => {
  const response = (await gateway.graphql(as.apiKey, query, variables)).json();
  expect(response.errors).toBeUndefined();
  return response.data;
};
const change = (name: string, input: Record<string, unknown>, payload: string, as = box) =>
  mutate(gateway, as.apiKey, name, input, payload);

function publish(records: readonly Pick<DnsRecord, 'type' | 'name' | 'value'>[]): void {
  for (const { type, name, value } of records) {
    const [preference = '', exchange = ''] = value.split(' ');
    dns.set(name, type, [type === 'MX' ? { preference: Number(preference), exchange } : value]);
  }
}

const FIELDS = `id name status statusReason canReceive canSend isTrusted isFullyVerified isDkimVerified hasMxRecords lastCheckedAt
  lastCheckError proofLostAt createdAt updatedAt receiveDmarcEmails
  dnsRecords { id type purpose name value priority exchange description isRequired status error lastCheckedAt }
  dkimKeys { selector publicKey state record { name } } provider { name confidence }
  dnsConflict { type message records { type value } }
  authRecommendations { spf { name value description } dmarc { name value description } }
  mailFrom { name status verifiedAt } catchAll { isEnabled endpoint { id } } parent { id name }
  emailStatistics { last24Hours last7Days last30Days } addresses { totalCount } active: addresses(filter: {isActive: true}) { totalCount }
  subdomains { totalCount edges { node { id } } }`;

/** Demands that the graph and REST tell the same of a domain. */
async function expectSameDomain(id: string) {
  const { domain } = await ask(`query($id: ID!) { domain(id: $id) { ${FIELDS} } }`, { id });
  const { body } = await rest('GET', `/domains/${id}`);
  expect(domain).toMatchObject({
    id: body.id,
    name: body.domain,
    status: body.status.toUpperCase(),
    statusReason: body.message ?? null,
    canReceive: body.canReceiveEmails,
    canSend: body.capabilities.sending === 'enabled',
    hasMxRecords: body.hasMxRecords,
    lastCheckedAt: body.lastDnsCheck,
    proofLostAt: body.proofLostAt,
    createdAt: body.createdAt,
    updatedAt: body.updatedAt,
    receiveDmarcEmails: body.receiveDmarcEmails,
    provider:
      body.domainProvider === null
        ? null
        : { name: body.domainProvider, confidence: body.providerConfidence.toUpperCase() },
    dnsConflict:
      body.dnsConflict === undefined
        ? null
        : {
            type: body.dnsConflict.conflictType.toUpperCase(),
            message: body.dnsConflict.message,
            records: body.dnsConflict.existingRecords,
          },
    authRecommendations: { spf: null, dmarc: null, ...body.authRecommendations },
    mailFrom: {
      name: body.mailFromDomain,
      status:
        body.mailFromDomainVerifiedAt === null ? (body.lastDnsCheck === null ? 'NOT_STARTED' : 'PENDING') : 'VERIFIED',
      verifiedAt: body.mailFromDomainVerifiedAt,
    },
    catchAll: {
      isEnabled: body.isCatchAllEnabled,
      endpoint: body.catchAllEndpointId === null ? null : { id: body.catchAllEndpointId },
    },
    emailStatistics: {
      last24Hours: body.stats.emailsLast24h,
      last7Days: body.stats.emailsLast7d,
      last30Days: body.stats.emailsLast30d,
    },
    addresses: { totalCount: body.stats.totalEmailAddresses },
    active: { totalCount: body.stats.activeEmailAddresses },
  });
  expect(domain.parent?.name).toBe(body.parentDomain);
  expect(domain.dnsRecords).toEqual(
    body.dnsRecords.map((record: Record<string, unknown>, at: number) => ({
      id: record['id'],
      type: record['type'],
      purpose: expect.any(String),
      name: record['name'],
      value: record['value'],
      priority: body.records[at].priority ?? null,
      exchange: record['type'] === 'MX' ? body.records[at].value : null,
      description: record['description'],
      isRequired: record['isRequired'],
      status: body.records[at].status.toUpperCase(),
      error: record['error'] ?? null,
      lastCheckedAt: record['lastChecked'],
    })),
  );
  return domain;
}

/** A domain of the box with all its records published. */
async function verified(name = nextName()): Promise<{ id: string; name: string }> {
  const { domain } = await change('createDomain', { domain: name }, 'domain { id dnsRecords { type name value } }');
  publish(domain.dnsRecords);
  const checked = await change('verifyDomain', { id: domain.id }, 'domain { status }');
  expect(checked.domain.status).toBe('VERIFIED');
  return { id: domain.id, name };
}

test('each account is offered a trusted name of its own, while it has none', async () => {
  const other = await gateway.mailbox();
  const suggestion = async (as: TestMailbox) =>
    (await ask('{ viewer { suggestedDomain service { isMailHostnameLocal } } }', {}, as)).viewer;
  const { suggestedDomain: name } = await suggestion(box);
  expect(name).toMatch(/^[a-z0-9-]+\.inbox\.test$/);
  expect((await rest('POST', '/domains', { domain: name })).body).toMatchObject({ domain: name, status: 'verified' });
  expect(await suggestion(box)).toEqual({ suggestedDomain: null, service: { isMailHostnameLocal: false } });
  await gateway.owner.pool.query('update person set email = $2 where id = $1', [
    other.workspaceId,
    `${name.split('.')[0]}@elsewhere.test`,
  ]);
  expect((await suggestion(other)).suggestedDomain).toBe(name.replace('.', '2.'));
  expect((await rest('POST', '/domains', { domain: name }, other)).status).toBe(409);
});

describe('createDomain', () => {
  test('adds a domain that shows every fact of REST, before and after it is verified', async () => {
    const name = nextName();
    dns.set(name, 'MX', [{ preference: 5, exchange: 'mx.other.test' }]);
    dns.set(name, 'TXT', ['v=spf1 include:other.test -all']);
    dns.set(name, 'NS', ['ns1.hover.com', 'ns2.hover.com']);
    const made = await change('createDomain', { domain: `${name.toUpperCase()}.` }, 'domain { id name status }');
    expect(made).toMatchObject({ __typename: 'CreateDomainPayload', domain: { name, status: 'PENDING' } });
    const { id } = made.domain;
    const pending = await expectSameDomain(id);
    expect(pending).toMatchObject({
      provider: { name: 'Hover', confidence: 'HIGH' },
      dnsConflict: { type: 'MX' },
      isFullyVerified: false,
      isDkimVerified: false,
      dkimKeys: [{ state: 'ACTIVE', record: { name: expect.stringMatching(/_domainkey/) } }],
    });
    expect(pending.dnsRecords.map(({ purpose }: { purpose: string }) => purpose)).toEqual([
      'RECEIVING',
      'PROOF',
      'SPF',
      'MAIL_FROM_MX',
      'MAIL_FROM_SPF',
      'DKIM',
      'DMARC',
    ]);
    dns.clear();
    publish(pending.dnsRecords);
    await change('verifyDomain', { id }, 'domain { id }');
    await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ownAddress: `a@${name}` }]);
    await rest('POST', '/email-addresses', { address: `a@${name}`, domainId: id, isActive: false });
    expect(await expectSameDomain(id)).toMatchObject({
      status: 'VERIFIED',
      isFullyVerified: true,
      isDkimVerified: true,
      emailStatistics: { last24Hours: 1, last7Days: 1, last30Days: 1 },
      addresses: { totalCount: 1 },
      active: { totalCount: 0 },
    });
    dns.set(name, 'MX', 'SERVFAIL');
    const untold = await change('verifyDomain', { id }, 'domain { lastCheckError isFullyVerified }');
    expect(untold.domain).toEqual({ lastCheckError: 'DNS did not respond (ESERVFAIL)', isFullyVerified: true });
  });

  test('refuses invalid input with the error of REST', async () => {
    const { name } = await verified();
    const other = await gateway.mailbox();
    const cases: [string, TestMailbox][] = [
      ['', box],
      ['x'.repeat(254), box],
      ['nul\0.test', box],
      ['no domain', box],
      [HOST, box],
      [name.toUpperCase(), box],
      [name, other],
    ];
    for (const [domain, as] of cases) {
      const response = await rest('POST', '/domains', { domain }, as);
      const result = await change('createDomain', { domain }, 'domain { id }', as);
      if (response.status === 400 && response.body.details === undefined) throw new Error(domain);
      expectSame(result, response);
    }
    expect(await change('createDomain', { domain: name }, 'domain { id }', other)).toMatchObject({
      code: 'DOMAIN_ALREADY_REGISTERED',
    });
  });

  test('does not fail when no worker can check DNS, and verifyDomain says so', async () => {
    await serving.stop();
    try {
      const made = await change(
        'createDomain',
        { domain: nextName() },
        'domain { id lastCheckedAt mailFrom { status } dnsRecords { status } }',
      );
      expect(made.domain).toMatchObject({ lastCheckedAt: null, mailFrom: { status: 'NOT_STARTED' } });
      expect(made.domain.dnsRecords[0].status).toBe('NOT_STARTED');
      await expectSameDomain(made.domain.id);
      for (const [name, input] of [
        ['verifyDomain', { id: made.domain.id }],
        ['verifyDomains', { ids: [made.domain.id] }],
      ] as const) {
        const { errors } = await change(name, input, '__typename');
        const response = await rest('POST', `/domains/${made.domain.id}/verify`);
        expect(errors[0]).toMatchObject({ message: response.body.message, extensions: { statusCode: 503 } });
      }
    } finally {
      serving = serveLooks();
    }
  });
});

describe('updateDomain', () => {
  test('switches the catch-all and DMARC mail, and a second change in one request shows its own result', async () => {
    const { id } = await verified();
    const response = await ask(
      `mutation($id: ID!, $endpoint: ID!) {
        on: updateDomain(input: {id: $id, isCatchAllEnabled: true, catchAllEndpointId: $endpoint}) { ...shown }
        dmarc: updateDomain(input: {id: $id, receiveDmarcEmails: true, isCatchAllEnabled: null}) { ...shown }
        off: updateDomain(input: {id: $id, isCatchAllEnabled: false, catchAllEndpointId: null}) { ...shown } }
      fragment shown on UpdateDomainResult { ... on UpdateDomainPayload { domain {
        catchAll { isEnabled endpoint { id name } } receiveDmarcEmails } } }`,
      { id, endpoint: box.endpointId },
    );
    const endpoint = { id: box.endpointId, name: 'test' };
    expect(response).toEqual({
      on: { domain: { catchAll: { isEnabled: true, endpoint }, receiveDmarcEmails: false } },
      dmarc: { domain: { catchAll: { isEnabled: true, endpoint }, receiveDmarcEmails: true } },
      off: { domain: { catchAll: { isEnabled: false, endpoint: null }, receiveDmarcEmails: true } },
    });
    await expectSameDomain(id);
  });

  test('refuses invalid input with the error of REST', async () => {
    const { id } = await verified();
    const other = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/in' });
    const pending = (await rest('POST', '/domains', { domain: nextName() })).body.id;
    const enable = (catchAllEndpointId?: unknown) => ({ isCatchAllEnabled: true, catchAllEndpointId });
    const cases: [string, Record<string, unknown>][] = [
      [pending, { isCatchAllEnabled: false }],
      [id, {}],
      [id, enable()],
      [id, enable(null)],
      [id, enable('a\0b')],
      [id, enable(other.endpointId)],
      [id, enable("';")],
      [other.domainId, { isCatchAllEnabled: false }],
      ['dom_00000000000000000000000000000000', { isCatchAllEnabled: false }],
      ['nonsense', { isCatchAllEnabled: false }],
    ];
    for (const [domainId, body] of cases)
      expectSame(
        await change('updateDomain', { id: domainId, ...body }, 'domain { id }'),
        await rest('PATCH', `/domains/${domainId}`, body),
      );
    await gateway.owner.pool.query('update endpoint set is_active = false where id = $1', [box.endpointId]);
    const inactive = enable(box.endpointId);
    expectSame(
      await change('updateDomain', { id, ...inactive }, 'domain { id }'),
      await rest('PATCH', `/domains/${id}`, inactive),
    );
  });
});

describe('deleteDomain', () => {
  const GONE = 'deletedId name deletedAddressCount obsoleteRecordCount wasVerified';

  test('returns the deleted objects, and refuses a domain with subdomains, which it names', async () => {
    const { id, name } = await verified();
    const sub = await change('createDomain', { domain: `a.${name}` }, 'domain { id parent { id } dkimKeys { state } }');
    expect(sub.domain).toMatchObject({ parent: { id }, dkimKeys: [] });
    const above = await expectSameDomain(id);
    expect(above.subdomains).toEqual({ totalCount: 1, edges: [{ node: { id: sub.domain.id } }] });
    const refused = await change('deleteDomain', { id }, GONE);
    const response = await rest('DELETE', `/domains/${id}`);
    expectSame(refused, response);
    expect(refused).toMatchObject({
      isRetryable: false,
      details: { dependentSubdomains: response.body.dependentSubdomains },
    });
    await rest('POST', '/email-addresses', { address: `a@${name}`, domainId: id });
    expect((await change('deleteDomain', { id: sub.domain.id }, GONE)).deletedId).toBe(sub.domain.id);
    expect(await change('deleteDomain', { id }, GONE)).toMatchObject({
      __typename: 'DeleteDomainPayload',
      deletedId: id,
      name,
      deletedAddressCount: 1,
      obsoleteRecordCount: 7,
      wasVerified: true,
    });
    expect(await ask('query($id: ID!) { domain(id: $id) { id } node(id: $id) { id } }', { id })).toEqual({
      domain: null,
      node: null,
    });
    expectSame(await change('deleteDomain', { id }, GONE), await rest('DELETE', `/domains/${id}`));
  });
});

describe('verifyDomains', () => {
  test('checks several domains at once', async () => {
    const made = [];
    for (let n = 0; n < 3; n++) made.push((await rest('POST', '/domains', { domain: nextName() })).body);
    for (const { dnsRecords } of made) publish(dnsRecords);
    const ids = made.map(({ id }) => id);
    const { domains } = await change('verifyDomains', { ids }, 'domains { id status }');
    expect(domains).toEqual(ids.map((id) => ({ id, status: 'VERIFIED' })));
    for (const id of ids) expect((await rest('GET', `/domains/${id}`)).body.status).toBe('verified');
  });

  test('refuses ids of other users, none and too many', async () => {
    const other = await gateway.mailbox();
    const unknown = { __typename: 'NotFound', message: 'Domain not found' };
    expect(await change('verifyDomains', { ids: [box.domainId, other.domainId] }, '__typename')).toMatchObject(unknown);
    expect(await change('verifyDomain', { id: other.domainId }, '__typename')).toMatchObject(unknown);
    for (const ids of [[], Array.from({ length: 101 }, (_, n) => `dom_${n}`)])
      expect(await change('verifyDomains', { ids }, '__typename')).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path: ['ids'], message: '1 to 100 domains are allowed' }],
      });
  });
});

describe('rotateDkimKey', () => {
  test('shows both keys until the new one is found, and refuses with the error of REST', async () => {
    const { id, name } = await verified();
    const rotated = await change(
      'rotateDkimKey',
      { id },
      'domain { dkimKeys { selector state record { name value } } }',
    );
    expect(rotated.domain.dkimKeys.map(({ state }: { state: string }) => state)).toEqual(['WAITING', 'ACTIVE']);
    expectSame(await change('rotateDkimKey', { id }, '__typename'), await rest('POST', `/domains/${id}/dkim`));
    const sub = (await rest('POST', '/domains', { domain: `sub.${name}` })).body.id;
    expectSame(await change('rotateDkimKey', { id: sub }, '__typename'), await rest('POST', `/domains/${sub}/dkim`));
    expectSame(await change('rotateDkimKey', { id: 'x' }, '__typename'), await rest('POST', '/domains/x/dkim'));
    publish([{ type: 'TXT', ...rotated.domain.dkimKeys[0].record }]);
    const seen = await change('verifyDomain', { id }, 'domain { dkimKeys { state } }');
    expect(seen.domain.dkimKeys).toEqual([{ state: 'ACTIVE' }, { state: 'RETIRED' }]);
    await expectSameDomain(id);
  });
});

describe('lists', () => {
  test('show domains newest first, page by page both ways, filtered and counted', async () => {
    const ids = [box.domainId];
    for (let n = 0; n < 7; n++) ids.unshift((await rest('POST', '/domains', { domain: nextName() })).body.id);
    const page = (filter: string) => async (args: string) =>
      (await ask(`{ domains(${args}${filter}) ${PAGE} }`)).domains;
    expect(await walk(page(''), 3)).toEqual(ids);
    expect(await walk(page(', filter: {status: PENDING}'), 2)).toEqual(ids.slice(0, 7));
    expect(await walk(page(', filter: {canReceive: true}'), 2)).toEqual([box.domainId]);
    const { body } = await rest('GET', '/domains?limit=3');
    expect(
      await ask(
        '{ domains { totalCount } pending: domains(filter: {status: PENDING}) { totalCount } domainCounts { total pending verified failed } }',
      ),
    ).toEqual({
      domains: { totalCount: body.pagination.total },
      pending: { totalCount: 7 },
      domainCounts: { total: body.meta.totalCount, ...body.meta.statusBreakdown },
    });
  });

  test('find a domain of the user by its name in any spelling', async () => {
    const { name } = (await ask('query($id: ID!) { domain(id: $id) { name } }', { id: box.domainId })).domain;
    const byName = async (text: string, as = box) =>
      (await ask('query($name: String!) { domainByName(name: $name) { id } }', { name: text }, as)).domainByName;
    expect(await byName(`${name.toUpperCase()}.`)).toEqual({ id: box.domainId });
    expect([await byName('no domain'), await byName('unknown.test')]).toEqual([null, null]);
    expect(await byName(name, await gateway.mailbox())).toBeNull();
  });

  test('show addresses and subdomains of a domain page by page both ways', async () => {
    const { id, name } = await verified();
    const addresses: string[] = [];
    const subs: string[] = [];
    for (let n = 0; n < 5; n++) {
      addresses.unshift((await rest('POST', '/email-addresses', { address: `a${n}@${name}`, domainId: id })).body.id);
      subs.unshift((await rest('POST', '/domains', { domain: `s${n}.${name}` })).body.id);
    }
    await rest('POST', '/domains', { domain: `x${name}` });
    const page =
      (field: string, filter = '') =>
      async (args: string) =>
        (await ask(`query($id: ID!) { domain(id: $id) { ${field}(${args}${filter}) ${PAGE} } }`, { id })).domain[field];
    expect(await walk(page('addresses'), 2)).toEqual(addresses);
    expect(await walk(page('addresses', ', filter: {isActive: true, isReceiving: true}'), 2)).toEqual(addresses);
    expect(await walk(page('subdomains'), 2)).toEqual(subs);
  });

  test('take as few statements for a page of 50 domains as for a page of 1', async () => {
    const owner = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/in' });
    await gateway.actor.pool.query(
      `insert into domain (workspace_id, id, name, status, is_trusted, is_catch_all_enabled, catch_all_endpoint_id, parent_id)
       select $1, 'dom_many' || n, 'n' || n || '.many.test', 'verified', true, true, $2, $3 from generate_series(1, 60) n`,
      [owner.workspaceId, owner.endpointId, owner.domainId],
    );
    await gateway.actor.pool.query(
      `insert into email_address (workspace_id, id, domain_id, address, endpoint_id)
       select $1, 'addr_many' || n || '_' || m, 'dom_many' || n, 'a' || m || '@n' || n || '.many.test', $2
       from generate_series(1, 60) n, generate_series(1, 3) m`,
      [owner.workspaceId, owner.endpointId],
    );
    const query = `query($n: Int) { domains(first: $n) { totalCount edges { node {
      name dnsRecords { name } dkimKeys { selector } parent { name } catchAll { endpoint { name } } emailStatistics { last7Days }
      subdomains(first: 1) { totalCount edges { node { name } } }
      addresses(first: 2) { totalCount edges { node { address routing endpoint { name } emailStatistics { last24Hours } } } }
      dmarcReports(first: 1) { totalCount edges { node { messageCount } } } } } } }`;
    await ask('{ viewer { id } }', {}, owner);
    const one = await countStatements(() => ask(query, { n: 1 }, owner));
    const fifty = await countStatements(() => ask(query, { n: 50 }, owner));
    expect(fifty.response.domains.edges).toHaveLength(50);
    expect(fifty.response.domains.edges[49].node).toMatchObject({
      parent: { name: expect.any(String) },
      addresses: { totalCount: 3, edges: [{}, { node: { endpoint: { name: 'test' } } }] },
    });
    expect(fifty.statements).toBe(one.statements);
  });

  test('compute counts only on request', async () => {
    const id = box.domainId;
    await ask('query($id: ID!) { domain(id: $id) { id } }', { id });
    const count = async (fields: string) =>
      (await countStatements(() => ask(`query($id: ID!) { domain(id: $id) { ${fields} } }`, { id }))).statements;
    const plain = await count('name');
    expect(await count('name status dnsRecords { value } dkimKeys { state } mailFrom { name }')).toBe(plain);
    expect(await count('name emailStatistics { last24Hours }')).toBe(plain + 1);
  });
});

describe('DMARC reports', () => {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000);

  async function insert(options: Partial<ReportOptions>): Promise<string> {
    const report = readDmarcReport(dmarcXml({ domain: box.address.split('@')[1] ?? '', ...options }));
    if (report === null) throw new Error('no report');
    const make = (kind: IdentifierKind) => makeIdentifier(kind, new Date(), randomBytes(10));
    const [emailId = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    const row = dmarcRow({ workspaceId: box.workspaceId, emailId }, report, make);
    await inTransaction(gateway.actor, (client) => insertDmarcReports(client, [row]));
    return emailId;
  }

  test('are nodes with every fact of REST, listed by their time, both ways', async () => {
    const records = Array.from({ length: 5 }, (_, n) => ({
      sourceIp: `192.0.2.${n}`,
      count: n + 1,
      ...(n === 4 ? ({ dkim: 'fail', spf: 'fail' } as const) : {}),
    }));
    const emailId = await insert({ end: day(1), reportId: 'first', records });
    for (const ago of [3, 2, 5, 4]) await insert({ end: day(ago) });
    const listed = (await rest('GET', `/domains/${box.domainId}/dmarc-reports`)).body;
    const ids = listed.data.map(({ id }: { id: string }) => id);
    const page = async (args: string) =>
      (await ask(`query($id: ID!) { domain(id: $id) { dmarcReports(${args}) ${PAGE} } }`, { id: box.domainId })).domain
        .dmarcReports;
    expect(await walk(page, 2)).toEqual(ids);
    const [report] = listed.data;
    const response = await ask(
      `query($id: ID!) { node(id: $id) { ... on DmarcReport {
        id domain { id dmarcReports { totalCount } } policyDomain organization reportId beginsAt endsAt messageCount alignedCount alignedPercent isTruncated
        createdAt email { id }
        policy { domain dkimAlignment spfAlignment request subdomainRequest nonexistentSubdomainRequest percent }
        records(first: 2, skip: 3) { sourceIp count disposition isAligned isDkimAligned isSpfAligned headerFrom envelopeFrom
          dkimResults { domain selector result } spfResults { domain result } } all: records { count } } } }`,
      { id: report.id },
    );
    expect(response.node).toEqual({
      id: report.id,
      domain: { id: box.domainId, dmarcReports: { totalCount: 5 } },
      policyDomain: report.domain,
      organization: report.organization,
      reportId: 'first',
      beginsAt: report.begin,
      endsAt: report.end,
      messageCount: 15,
      alignedCount: 10,
      alignedPercent: 66.6,
      isTruncated: false,
      createdAt: report.createdAt,
      email: { id: emailId },
      policy: {
        domain: report.domain,
        dkimAlignment: 'RELAXED',
        spfAlignment: 'STRICT',
        request: 'NONE',
        subdomainRequest: 'NONE',
        nonexistentSubdomainRequest: null,
        percent: 100,
      },
      records: [4, 5].map((count) => ({
        sourceIp: `192.0.2.${count - 1}`,
        count,
        disposition: 'NONE',
        isAligned: count !== 5,
        isDkimAligned: count !== 5,
        isSpfAligned: count !== 5,
        headerFrom: report.domain,
        envelopeFrom: null,
        dkimResults: [{ domain: report.domain, selector: 's1', result: count === 5 ? 'fail' : 'pass' }],
        spfResults: [{ domain: `bounce.${report.domain}`, result: count === 5 ? 'fail' : 'pass' }],
      })),
      all: [1, 2, 3, 4, 5].map((count) => ({ count })),
    });
    const other = await gateway.mailbox();
    const foreign =
      'query($id: ID!, $domain: ID!) { node(id: $id) { id } dmarcReport(id: $id) { id } dmarcSummary(domainId: $domain) { advice } }';
    expect(await ask(foreign, { id: report.id, domain: box.domainId }, other)).toEqual({
      node: null,
      dmarcReport: null,
      dmarcSummary: null,
    });
  });

  test('are summed up as REST does', async () => {
    await insert({
      records: [
        { sourceIp: '192.0.2.1', count: 90 },
        { sourceIp: '192.0.2.9', count: 20, dkim: 'fail', spf: 'fail' },
      ],
    });
    const { body } = await rest('GET', `/domains/${box.domainId}/dmarc`);
    const { dmarcSummary } = await ask(
      `query($id: ID!) { dmarcSummary(domainId: $id) { domain reportCount messageCount alignedCount alignedPercent policy { request }
        sources { sourceIp headerFrom messageCount alignedCount } advice isTruncated since until } }`,
      { id: box.domainId },
    );
    expect(dmarcSummary).toEqual({
      domain: body.domain,
      reportCount: 1,
      messageCount: 110,
      alignedCount: 90,
      alignedPercent: body.alignedPercent,
      policy: { request: 'NONE' },
      sources: body.sources.map(({ count, ...source }: { count: number }) => ({ ...source, messageCount: count })),
      advice: body.advice,
      isTruncated: false,
      since: expect.any(String),
      until: expect.any(String),
    });
  });
});
