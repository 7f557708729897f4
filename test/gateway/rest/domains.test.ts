import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDomainChecker } from '../../../actors/scheduling/check-domains.ts';
import type { DnsRecord } from '../../../core/domains/dns-records.ts';
import type { Subscription } from '../../../schema/messages.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const HOST = 'mx.postroom.test';
let dns: DnsServer;
let gateway: TestGateway;
let serving: Subscription;
let box: TestMailbox;
let names = 0;
const changed: string[] = [];

beforeAll(async () => {
  dns = await startDnsServer();
  gateway = await openTestGateway({
    config: {
      mailHostname: HOST,
      trustedDomains: ['trusted.test', '*.shared.test'],
      publicUrl: 'https://app.shared.test',
    },
  });
  gateway.bus.subscribe('routing.changed', ({ name }) => void changed.push(name));
  serving = serveLooks();
});
afterAll(async () => {
  await gateway.close();
  await dns.stop();
});
beforeEach(async () => {
  dns.clear();
  box = await gateway.mailbox();
});

function serveLooks(): Subscription {
  const options = { dnsServers: [dns.address], mailHostname: HOST };
  const checker = createDomainChecker(testActorContext(gateway.actor), options);
  return gateway.bus.serve('scheduling.domain.check', (request) => checker.checkNow(request));
}

const call = async (method: string, path: string, body?: unknown, as = box) => {
  const response = await gateway.call(as.apiKey, method, path, body);
  return { status: response.statusCode, headers: response.headers, body: response.json() };
};
const nextName = () => `name${names++}.test`;

function publish(records: readonly Pick<DnsRecord, 'type' | 'name' | 'value'>[]): void {
  for (const { type, name, value } of records) {
    const [preference = '', exchange = ''] = value.split(' ');
    dns.set(name, type, [type === 'MX' ? { preference: Number(preference), exchange } : value]);
  }
}

/** A domain of the box with all its records published. */
async function verified(name = nextName()) {
  const made = await call('POST', '/domains', { domain: name });
  publish(made.body.dnsRecords);
  const { body } = await call('POST', `/domains/${made.body.id}/verify`);
  expect(body).toMatchObject({ status: 'verified', canReceiveEmails: true });
  return body;
}

describe('adding a domain', () => {
  test.each(['mail.shared.test', 'mta-sts.shared.test', 'app.shared.test'])(
    'below a trusted wildcard does not give away %s, which the service uses',
    async (domain) => {
      const { status, body } = await call('POST', '/domains', { domain });
      expect([status, body.message]).toEqual([
        400,
        `${domain} is a name that the service uses itself, such as for bounces. Use another one.`,
      ]);
      expect((await call('POST', '/domains', { domain: domain.toUpperCase() })).status).toBe(400);
      expect((await call('POST', '/domains', { domain: `x${names++}.shared.test` })).body.status).toBe('verified');
    },
  );

  test('checks its DNS records', async () => {
    const name = nextName();
    dns.set(name, 'MX', [{ preference: 5, exchange: 'mx.other.test' }]);
    dns.set(name, 'TXT', ['v=spf1 include:other.test -all']);
    dns.set(name, 'NS', ['ns1.hover.com', 'ns2.hover.com']);
    const { status, body } = await call('POST', '/domains', { domain: name });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      status: 'pending',
      hasMxRecords: true,
      canReceiveEmails: false,
      domainProvider: 'Hover',
      providerConfidence: 'high',
      lastDnsCheck: expect.any(String),
      lastProviderCheck: body.lastDnsCheck,
      lastSesCheck: body.lastDnsCheck,
      mailFromDomainStatus: 'Pending',
      dnsConflict: {
        hasConflict: true,
        conflictType: 'mx',
        message: expect.stringMatching(/another server/),
        existingRecords: [{ type: 'MX', value: '5 mx.other.test' }],
      },
      authRecommendations: {
        spf: { name, value: `v=spf1 include:other.test a:${HOST} -all`, description: expect.any(String) },
        dmarc: { name: `_dmarc.${name}`, value: 'v=DMARC1; p=none', description: expect.any(String) },
      },
      message: 'Publish the DNS records to verify the domain.',
    });
    const [mx] = body.dnsRecords;
    expect(mx).toMatchObject({ isVerified: false, error: 'Found instead: 5 mx.other.test' });
    expect(new Set(body.dnsRecords.map(({ id }: { id: string }) => id)).size).toBe(body.dnsRecords.length);
  });

  test('detects the provider of a subdomain by its zone, and an alias', async () => {
    const name = nextName();
    dns.set(name, 'NS', ['a.ns.cloudflare.com', 'ns.other.test']);
    dns.set(`a.b.${name}`, 'CNAME', ['elsewhere.test']);
    expect((await call('POST', '/domains', { domain: `a.b.${name}` })).body).toMatchObject({
      domainProvider: 'Cloudflare',
      providerConfidence: 'medium',
      dnsConflict: { conflictType: 'cname', existingRecords: [{ type: 'CNAME', value: 'elsewhere.test' }] },
    });
  });

  test('does not accept the proof of an abandoned claim', async () => {
    const name = nextName();
    const first = await call('POST', '/domains', { domain: name });
    publish(first.body.dnsRecords);
    await call('DELETE', `/domains/${first.body.id}`);
    expect((await call('POST', '/domains', { domain: name })).body.status).toBe('pending');
  });

  test('does not fail when no worker can check DNS', async () => {
    await serving.stop();
    try {
      const made = await call('POST', '/domains', { domain: nextName() });
      expect(made).toMatchObject({ status: 201, body: { status: 'pending', lastDnsCheck: null } });
      for (const [method, path] of [
        ['GET', `/domains/${made.body.id}?check=true`],
        ['GET', '/domains?check=true'],
        ['POST', `/domains/${made.body.id}/verify`],
        ['POST', `/domains/${made.body.id}/auth`],
        ['PATCH', `/domains/${made.body.id}/auth`],
      ] as const) {
        const response = await call(method, path);
        expect(response, path).toMatchObject({ status: 503, body: { error: 'Service Unavailable' } });
        expect(response.headers['retry-after'], path).toMatch(/^\d+$/);
      }
      expect((await call('GET', `/domains/${made.body.id}`)).status).toBe(200);
    } finally {
      serving = serveLooks();
    }
  });

  test('refuses the name of the mail server itself', async () => {
    expect(await call('POST', '/domains', { domain: `${HOST.toUpperCase()}.` })).toMatchObject({
      status: 400,
      body: { details: [{ field: 'domain' }] },
    });
  });

  test('inherits nothing from a verified domain of another user, nor from one that is not verified', async () => {
    const { domain } = await verified();
    const other = await gateway.mailbox();
    const foreign = await call('POST', '/domains', { domain: `sub.${domain}` }, other);
    expect(foreign.body).toMatchObject({ status: 'pending', inheritsFromParent: false });
    expect(foreign.body).not.toHaveProperty('parentDomain');
    const pending = nextName();
    await call('POST', '/domains', { domain: pending });
    expect((await call('POST', '/domains', { domain: `sub.${pending}` })).body).toMatchObject({ status: 'pending' });
  });

  test('of a subdomain requires no proof, and receives its mail with the MX', async () => {
    const { domain } = await verified();
    const { body } = await call('POST', '/domains', { domain: `sub.${domain}` });
    expect(body).toMatchObject({
      status: 'verified',
      parentDomain: domain,
      inheritsFromParent: true,
      canReceiveEmails: false,
    });
    expect(body.dnsRecords.map(({ name }: DnsRecord) => name)).not.toContain(`_postroom.sub.${domain}`);
    publish(body.dnsRecords.filter(({ isRequired }: DnsRecord) => isRequired));
    expect((await call('GET', `/domains/${body.id}?check=true`)).body).toMatchObject({
      canReceiveEmails: true,
      verificationCheck: { isFullyVerified: true, dkimVerified: true },
    });
  });
});

describe('a live check', () => {
  test('shows the result for each record, in the form of every client', async () => {
    const name = nextName();
    const made = await call('POST', '/domains', { domain: name });
    const { id, dnsRecords } = made.body;
    publish(dnsRecords.filter((record: DnsRecord) => record.isRequired));
    const { body } = await call('GET', `/domains/${id}?check=true`);
    expect(body).toMatchObject({ status: 'verified', canReceiveEmails: true, hasMxRecords: true });
    expect(body).not.toHaveProperty('dnsConflict');
    expect(body.verificationCheck).toMatchObject({
      sesStatus: 'Success',
      providerStatus: 'Success',
      dkimStatus: 'Pending',
      dkimVerified: false,
      dkimTokens: [expect.stringMatching(/^pr\d{8}-/)],
      mailFromDomain: `mail.${name}`,
      mailFromStatus: 'Pending',
      mailFromVerified: false,
      isFullyVerified: true,
      lastChecked: body.lastDnsCheck,
    });
    expect(body.verificationCheck.dnsRecords).toContainEqual({
      type: 'TXT',
      name: `_dmarc.${name}`,
      value: 'v=DMARC1; p=none',
      isVerified: false,
      status: 'pending',
      lastChecked: body.lastDnsCheck,
      error: 'No such record',
    });
    expect(body.authRecommendations.dmarc.value).toBe(`v=DMARC1; p=none; rua=mailto:dmarc@${name}`);
    expect(body.dnsRecords.map((record: { id: string }) => record.id)).toEqual(
      dnsRecords.map((record: { id: string }) => record.id),
    );
    expect(body.records.find((record: { record: string }) => record.record === 'Receiving')).toEqual({
      record: 'Receiving',
      name,
      type: 'MX',
      ttl: 'Auto',
      status: 'verified',
      value: HOST,
      priority: 10,
    });
    publish(dnsRecords);
    const complete = (await call('GET', `/domains/${id}?check=1`)).body;
    expect(complete).not.toHaveProperty('authRecommendations');
    expect(complete).toMatchObject({ mailFromDomainStatus: 'Success', verificationCheck: { dkimStatus: 'Success' } });
    expect((await call('GET', `/domains/${id}`)).body).not.toHaveProperty('verificationCheck');
  });

  test('reports failed lookups, and keeps the earlier results', async () => {
    const { id, domain } = await verified();
    dns.set(domain, 'MX', 'SERVFAIL');
    dns.set(`_postroom.${domain}`, 'TXT', 'SERVFAIL');
    const { body } = await call('GET', `/domains/${id}?check=true`);
    expect(body).toMatchObject({ status: 'verified', canReceiveEmails: true, proofLostAt: null });
    expect(body.verificationCheck).toMatchObject({ error: 'DNS did not respond (ESERVFAIL)', isFullyVerified: true });
  });

  test('of a list checks the domains of the shown page', async () => {
    const one = await verified();
    const made = await call('POST', '/domains', { domain: nextName() });
    publish(made.body.dnsRecords);
    const listed = (await call('GET', '/domains?check=true&limit=1')).body;
    expect(listed).toMatchObject({
      object: 'list',
      has_more: true,
      data: [{ id: made.body.id, status: 'verified', verificationCheck: { isFullyVerified: true } }],
      meta: { totalCount: 3, verifiedCount: 3, statusBreakdown: { pending: 0, verified: 3, failed: 0 } },
    });
    expect((await call('GET', '/domains?canReceive=true')).body.pagination.total).toBe(3);
    publish([{ type: 'MX', name: one.domain, value: '5 mx.other.test' }]);
    await call('GET', `/domains/${one.id}?check=true`);
    expect((await call('GET', '/domains?canReceive=false')).body.data).toMatchObject([{ id: one.id }]);
    expect((await call('GET', '/domains')).body.data[0]).not.toHaveProperty('verificationCheck');
  });

  test('is available at the paths of other clients too', async () => {
    const made = await call('POST', '/domains', { domain: nextName() });
    const { id, dnsRecords } = made.body;
    publish(dnsRecords);
    for (const [method, path] of [
      ['POST', 'auth'],
      ['PATCH', 'auth'],
      ['POST', 'verify'],
    ] as const)
      expect(await call(method, `/domains/${id}/${path}`)).toMatchObject({
        status: 200,
        body: { object: 'domain', id, status: 'verified', verificationCheck: { isFullyVerified: true } },
      });
    const listed = await call('GET', `/domains/${id}/dns-records`);
    expect(listed.body).toMatchObject({ domainId: id, records: listed.body.dnsRecords });
    expect(listed.body.records).toHaveLength(dnsRecords.length);
  });
});

describe('settings of a domain', () => {
  const catchAll = (id: string, body: unknown, method = 'PATCH') => call(method, `/domains/${id}`, body);

  test.each(['PATCH', 'PUT'])('switch the catch-all by %s', async (method) => {
    box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/in' });
    const { id, domain } = await verified();
    changed.length = 0;
    const on = await catchAll(id, { isCatchAllEnabled: true, catchAllEndpointId: box.endpointId }, method);
    expect(on).toMatchObject({
      status: 200,
      body: {
        id,
        domain,
        status: 'verified',
        isCatchAllEnabled: true,
        catchAllEndpointId: box.endpointId,
        catchAllEndpoint: { id: box.endpointId, type: 'webhook', isActive: true },
        stats: { hasCatchAll: true },
      },
    });
    expect(changed).toEqual([domain]);
    const dmarc = await catchAll(id, { receiveDmarcEmails: true }, method);
    expect(dmarc.body).toMatchObject({ receiveDmarcEmails: true, isCatchAllEnabled: true });
    const off = await catchAll(id, { isCatchAllEnabled: false, catchAllEndpointId: null }, method);
    expect(off.body).toMatchObject({
      isCatchAllEnabled: false,
      catchAllEndpointId: null,
      catchAllEndpoint: null,
      receiveDmarcEmails: true,
    });
    expect(Date.parse(off.body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(on.body.updatedAt));
  });

  test('accept mail to unknown addresses and only store it, without an endpoint', async () => {
    const { id } = await verified();
    const stored = await catchAll(id, { isCatchAllEnabled: true, isCatchAllStoreOnly: true });
    expect(stored).toMatchObject({
      status: 200,
      body: { isCatchAllEnabled: true, catchAllEndpointId: null, catchAllEndpoint: null, stats: { hasCatchAll: true } },
    });
    const { rows } = await gateway.owner.pool.query(
      'select is_catch_all_enabled, catch_all_endpoint_id, route_set_by_key_id from domain where id = $1',
      [id],
    );
    expect(rows).toEqual([{ is_catch_all_enabled: true, catch_all_endpoint_id: null, route_set_by_key_id: null }]);
    const off = await catchAll(id, { isCatchAllEnabled: false });
    expect(off.body.isCatchAllEnabled).toBe(false);
    const graph = await gateway.graphql(
      box.apiKey,
      `mutation { updateDomain(input: { id: "${id}", isCatchAllEnabled: true, isCatchAllStoreOnly: true }) {
         ... on UpdateDomainPayload { domain { catchAll { isEnabled endpoint { id } } } } } }`,
    );
    expect(graph.json().data.updateDomain).toEqual({ domain: { catchAll: { isEnabled: true, endpoint: null } } });
  });

  test('are refused with the documented text when invalid', async () => {
    box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/in' });
    const other = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/in' });
    const { id } = await verified();
    const pending = (await call('POST', '/domains', { domain: nextName() })).body.id;
    const enable = (catchAllEndpointId?: unknown) => ({ isCatchAllEnabled: true, catchAllEndpointId });
    for (const [domainId, body, status, error] of [
      [pending, { isCatchAllEnabled: false }, 400, 'Domain must be verified'],
      [pending, { receiveDmarcEmails: true }, 400, 'Domain must be verified'],
      [id, {}, 400, 'isCatchAllEnabled is required'],
      [id, { catchAllEndpointId: box.endpointId }, 400, 'isCatchAllEnabled is required'],
      [id, { isCatchAllEnabled: true }, 400, 'catchAllEndpointId is required when enabling catch-all'],
      [id, enable(null), 400, 'catchAllEndpointId is required when enabling catch-all'],
      [id, { ...enable(), isCatchAllStoreOnly: false }, 400, 'catchAllEndpointId is required when enabling catch-all'],
      [
        id,
        { ...enable(box.endpointId), isCatchAllStoreOnly: true },
        400,
        'Give either catchAllEndpointId or isCatchAllStoreOnly: true, not both',
      ],
      [
        id,
        { isCatchAllEnabled: false, isCatchAllStoreOnly: true },
        400,
        'isCatchAllStoreOnly needs isCatchAllEnabled: true',
      ],
      [id, enable(other.endpointId), 404, 'Endpoint not found'],
      [id, enable('ep_00000000000000000000000000000000'), 404, 'Endpoint not found'],
      [id, enable("';"), 404, 'Endpoint not found'],
      [other.domainId, { isCatchAllEnabled: false }, 404, 'Domain not found'],
      ['nonsense', { isCatchAllEnabled: false }, 404, 'Domain not found'],
    ] as const)
      expect(await catchAll(domainId, body), JSON.stringify(body)).toMatchObject({ status, body: { error } });
    for (const body of [{ isCatchAllEnabled: 'yes' }, { isCatchAllEnabled: true, catchAllEndpointId: 7 }, []])
      expect((await catchAll(id, body)).status).toBe(400);
    await gateway.owner.pool.query('update endpoint set is_active = false where id = $1', [box.endpointId]);
    expect(await catchAll(id, enable(box.endpointId))).toMatchObject({
      status: 400,
      body: { error: 'Endpoint is not active', details: [{ field: 'catchAllEndpointId' }] },
    });
  });
});

describe('deleting a domain', () => {
  test('deletes its addresses and keys, says so, and leaves its mail readable', async () => {
    const { id, domain, dnsRecords } = await verified();
    for (const local of ['a', 'b']) {
      const made = await call('POST', '/email-addresses', { address: `${local}@${domain}`, domainId: id });
      expect(made.status).toBe(201);
    }
    const [emailId] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ownAddress: `a@${domain}` }]);
    await gateway.actor.pool.query(
      `insert into dmarc_report (workspace_id, id, email_id, domain, domain_id, organization, report_id, begins_at, ends_at, policy, records,
         record_count, message_count, aligned_count, created_at)
       values ($1, 'dmr_gone', $2, $3, $4, 'o', 'r', now(), now(), '{}', '[]', 0, 0, 0, now())`,
      [box.workspaceId, emailId, domain, id],
    );
    changed.length = 0;
    const gone = await call('DELETE', `/domains/${id}`);
    expect(gone).toMatchObject({
      status: 200,
      body: {
        success: true,
        message: expect.any(String),
        object: 'domain',
        id,
        deleted: true,
        deletedResources: {
          domain,
          emailAddresses: 2,
          dnsRecords: dnsRecords.length,
          blockedEmails: 0,
          providerIdentity: true,
          providerReceiptRules: true,
          sesIdentity: true,
          sesReceiptRules: true,
        },
      },
    });
    expect(changed.toSorted()).toEqual([`a@${domain}`, `b@${domain}`, domain]);
    expect((await call('GET', `/domains/${id}`)).status).toBe(404);
    expect((await call('DELETE', `/domains/${id}`)).body).toMatchObject({ error: 'Domain not found' });
    expect((await call('GET', `/emails/${emailId}`)).status).toBe(200);
    const tables = ['dkim_key', 'email_address', 'verified_domain_name', 'dmarc_report'].map(
      (table) => `select from ${table} where domain_id = $1`,
    );
    const { rowCount } = await gateway.owner.pool.query(tables.join(' union all '), [id]);
    expect(rowCount).toBe(0);
    const other = await gateway.mailbox();
    expect((await call('POST', '/domains', { domain }, other)).body).toMatchObject({
      stats: { totalEmailAddresses: 0 },
    });
  });

  test('is refused while it has subdomains, which are listed', async () => {
    const { id, domain } = await verified();
    const sub = (await call('POST', '/domains', { domain: `a.${domain}` })).body;
    await call('POST', '/domains', { domain: `x${domain}` });
    const other = await gateway.mailbox();
    await call('POST', '/domains', { domain: `b.${domain}` }, other);
    const refused = await call('DELETE', `/domains/${id}`);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        error: 'Delete the subdomains of this domain first',
        code: 'DOMAIN_HAS_DEPENDENT_SUBDOMAINS',
        dependentSubdomains: [{ id: sub.id, domain: `a.${domain}`, status: 'verified' }],
      },
    });
    expect(refused.headers['x-should-retry']).toBe('false');
    expect((await call('DELETE', `/domains/${sub.id}`)).status).toBe(200);
    expect((await call('DELETE', `/domains/${id}`)).status).toBe(200);
  });

  test('leaves nothing to inherit for a subdomain that is added meanwhile', async () => {
    const { id, domain } = await verified();
    const client = await gateway.owner.pool.connect();
    try {
      await client.query('begin');
      await client.query('select from domain where id = $1 for update', [id]);
      const adding = call('POST', '/domains', { domain: `sub.${domain}` });
      await Promise.race([adding, aLockIsAwaited()]);
      await client.query('delete from domain where id = $1', [id]);
      await client.query('commit');
      expect((await adding).body).toMatchObject({ status: 'pending', inheritsFromParent: false });
    } finally {
      client.release();
    }
  });
});

/** Resolves when some statement waits for a row. */
async function aLockIsAwaited(): Promise<void> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await gateway.owner.pool.query(waiting)).rowCount === 0)
    await new Promise((resolve) => setImmediate(resolve));
}

describe('the DKIM key of a domain', () => {
  test('is replaced; while a new one waits there is no other, and a subdomain has none', async () => {
    const { id, domain } = await verified();
    const rotated = await call('POST', `/domains/${id}/dkim`);
    expect(rotated).toMatchObject({ status: 200, body: { id, message: expect.stringMatching(/new DKIM key/) } });
    expect(rotated.body.dnsRecords.filter(({ name }: DnsRecord) => name.includes('_domainkey'))).toHaveLength(2);
    expect(await call('POST', `/domains/${id}/dkim`)).toMatchObject({
      status: 409,
      body: { code: 'DKIM_KEY_WAITING' },
    });
    const sub = (await call('POST', '/domains', { domain: `sub.${domain}` })).body;
    expect(await call('POST', `/domains/${sub.id}/dkim`)).toMatchObject({
      status: 400,
      body: { error: `Mail of this domain is signed with the key of ${domain}. Rotate the key of ${domain} instead.` },
    });
  });

  test('is replaced once by concurrent requests', async () => {
    const { id } = await verified();
    const responses = await Promise.all(Array.from({ length: 4 }, () => call('POST', `/domains/${id}/dkim`)));
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
  });
});

test('a domain of another user gets the same response as an unknown one, on every route', async () => {
  const other = await gateway.mailbox();
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['GET', '?check=true', undefined],
    ['PATCH', '', { isCatchAllEnabled: false }],
    ['PUT', '', {}],
    ['DELETE', '', undefined],
    ['POST', '/dkim', undefined],
    ['POST', '/verify', undefined],
    ['POST', '/auth', undefined],
    ['PATCH', '/auth', undefined],
    ['GET', '/dns-records', undefined],
  ] as const) {
    const ask = async (id: string) => {
      const { status, body: response } = await call(method, `/domains/${id}${path}`, body);
      return [status, response];
    };
    const foreign = await ask(other.domainId);
    expect(foreign, `${method} ${path}`).toMatchObject([404, { error: 'Domain not found' }]);
    expect(await ask('dom_00000000000000000000000000000000')).toEqual(foreign);
    expect(await ask('%00')).toEqual(foreign);
  }
});
