import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
const changed: string[] = [];

beforeAll(async () => {
  gateway = await openTestGateway({
    config: { trustedDomains: Array.from({ length: 20 }, (_, n) => `trusted${n}.test`) },
  });
  gateway.bus.subscribe('routing.changed', ({ name }) => void changed.push(name));
});
afterAll(() => gateway.close());

let trusted = 0;
const nextTrusted = () => `trusted${trusted++}.test`;
const post = async (box: TestMailbox, path: string, body: unknown) => {
  const response = await gateway.call(box.apiKey, 'POST', path, body);
  return { status: response.statusCode, body: response.json() };
};
const get = async (box: TestMailbox, path: string) => (await gateway.call(box.apiKey, 'GET', path)).json();

describe('domains', () => {
  test('a trusted domain is verified at once and shows every documented field', async () => {
    const box = await gateway.mailbox();
    const name = nextTrusted();
    const made = await post(box, '/domains', { domain: name.toUpperCase() });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      object: 'domain',
      id: expect.stringMatching(/^dom_[0-9a-f]{32}$/),
      domain: name,
      name,
      status: 'verified',
      canReceiveEmails: true,
      hasMxRecords: false,
      domainProvider: null,
      providerConfidence: null,
      lastDnsCheck: null,
      lastProviderCheck: null,
      lastSesCheck: null,
      isCatchAllEnabled: false,
      catchAllEndpointId: null,
      mailFromDomain: `mail.${name}`,
      mailFromDomainStatus: 'pending',
      mailFromDomainVerifiedAt: null,
      receiveDmarcEmails: false,
      createdAt: expect.any(String),
      created_at: expect.any(String),
      updatedAt: expect.any(String),
      userId: box.workspaceId,
      region: 'us-east-1',
      capabilities: { sending: 'enabled', receiving: 'enabled' },
      proofLostAt: null,
      transportSecurity: {
        mode: 'testing',
        policyHost: `mta-sts.${name}`,
        policyUrl: `https://mta-sts.${name}/.well-known/mta-sts.txt`,
        mtaSts: expect.objectContaining({ name: `_mta-sts.${name}`, isSeen: false }),
        tlsReports: expect.objectContaining({ name: `_smtp._tls.${name}`, isSeen: false }),
      },
      records: expect.arrayContaining([
        {
          record: 'Receiving',
          name,
          type: 'MX',
          ttl: 'Auto',
          status: 'not_started',
          value: 'mx.postroom.test',
          priority: 10,
        },
      ]),
      stats: {
        totalEmailAddresses: 0,
        activeEmailAddresses: 0,
        hasCatchAll: false,
        emailsLast24h: 0,
        emailsLast7d: 0,
        emailsLast30d: 0,
      },
      catchAllEndpoint: null,
      dnsRecords: expect.arrayContaining([
        {
          id: expect.stringMatching(/^dns_[0-9a-f]{32}$/),
          domainId: made.body.id,
          type: 'MX',
          recordType: 'MX',
          name,
          value: '10 mx.postroom.test',
          description: expect.any(String),
          isRequired: true,
          isVerified: false,
          lastChecked: null,
          createdAt: made.body.createdAt,
        },
      ]),
      inheritsFromParent: false,
      message: 'The domain is verified.',
    });
    expect(made.body.dnsRecords.map((record: { type: string }) => record.type)).toEqual([
      'MX',
      'TXT',
      'TXT',
      'MX',
      'TXT',
      'TXT',
      'TXT',
    ]);
    expect(changed).toContain(name);
    const { message: _, ...rest } = made.body;
    expect(await get(box, `/domains/${made.body.id}`)).toEqual(rest);
  });

  test('any other domain is pending until its records are found', async () => {
    const box = await gateway.mailbox();
    expect(await post(box, '/domains', { name: 'example.org' })).toMatchObject({
      status: 201,
      body: { domain: 'example.org', status: 'pending', canReceiveEmails: false },
    });
  });

  test('a subdomain of an own verified domain is verified, and one of another user’s is not', async () => {
    const box = await gateway.mailbox();
    const other = await gateway.mailbox();
    const name = nextTrusted();
    await post(box, '/domains', { domain: name });
    expect(await post(box, '/domains', { domain: `sub.${name}` })).toMatchObject({
      status: 201,
      body: { status: 'verified', parentDomain: name, inheritsFromParent: true, canReceiveEmails: true },
    });
    const foreign = await post(other, '/domains', { domain: `theirs.${name}` });
    expect(foreign).toMatchObject({ status: 201, body: { status: 'pending', canReceiveEmails: false } });
    expect(foreign.body).toMatchObject({ inheritsFromParent: false });
    expect(foreign.body).not.toHaveProperty('parentDomain');
  });

  test('a new domain gets a DKIM key, whose record is shown with the domain, and whose private part is never shown', async () => {
    const box = await gateway.mailbox();
    const name = nextTrusted();
    const made = await gateway.call(box.apiKey, 'POST', '/domains', { domain: name });
    const dkim = made.json().dnsRecords.find((record: { name: string }) => record.name.includes('_domainkey'));
    expect(dkim).toMatchObject({
      type: 'TXT',
      recordType: 'TXT',
      name: expect.stringMatching(new RegExp(`^pr\\d{8}-[0-9a-f]{8}\\._domainkey\\.${name}$`)),
      value: expect.stringMatching(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]{392}$/),
      description: expect.any(String),
      isRequired: false,
    });
    const listed = await gateway.call(box.apiKey, 'GET', '/domains');
    const read = await gateway.call(box.apiKey, 'GET', `/domains/${made.json().id}`);
    expect(listed.json().data[0].dnsRecords).toContainEqual(dkim);
    expect(read.json().dnsRecords).toContainEqual(dkim);
    const { rows } = await gateway.actor.pool.query(
      'select private_key_ciphertext as ciphertext from dkim_key where workspace_id = $1',
      [box.workspaceId],
    );
    expect(rows).toEqual([{ ciphertext: expect.stringMatching(/^v1\.[0-9a-f]{12}\.[A-Za-z0-9_-]{2000,}$/) }]);
    for (const { body } of [made, listed, read]) expect(body).not.toContain(rows[0].ciphertext);
  });

  test('two users who claim one domain get different keys', async () => {
    const records = [];
    for (const box of [await gateway.mailbox(), await gateway.mailbox()])
      records.push(...(await post(box, '/domains', { domain: 'claimed.org' })).body.dnsRecords);
    const keys = records.filter((record) => record.name.includes('_domainkey'));
    expect(new Set(keys.map(({ name }) => name)).size).toBe(2);
    expect(new Set(keys.map(({ value }) => value)).size).toBe(2);
  });

  test('adding a domain twice is 409, and so is adding one that another user has verified', async () => {
    const box = await gateway.mailbox();
    const other = await gateway.mailbox();
    const name = nextTrusted();
    await post(box, '/domains', { domain: name });
    expect(await post(box, '/domains', { domain: `${name}.` })).toMatchObject({
      status: 409,
      body: { error: 'Domain already exists' },
    });
    expect(await post(other, '/domains', { domain: name })).toMatchObject({
      status: 409,
      body: { code: 'DOMAIN_ALREADY_REGISTERED' },
    });
    await post(box, '/domains', { domain: 'pending.org' });
    expect((await post(other, '/domains', { domain: 'pending.org' })).status).toBe(201);
  });

  test('exactly one of many users who claim a trusted domain at once gets it', async () => {
    const boxes = await Promise.all(Array.from({ length: 8 }, () => gateway.mailbox()));
    const name = nextTrusted();
    const responses = await Promise.all(boxes.map((box) => post(box, '/domains', { domain: name })));
    expect(responses.map((response) => response.status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array(7).fill(409),
    ]);
  });

  test('an international name is stored in its one ASCII form', async () => {
    const box = await gateway.mailbox();
    const one = await post(box, '/domains', { domain: 'BÜCHER.example' });
    expect(one.body.domain).toBe('xn--bcher-kva.example');
    expect((await post(box, '/domains', { domain: 'xn--bcher-kva.example' })).status).toBe(409);
  });

  test.each([
    'localhost',
    'a b.test',
    'under_score.test',
    '-x.test',
    'x-.test',
    'a..test',
    '127.0.0.1',
    '[::1]',
    'http://x.test',
    'x.test/path',
    'user@x.test',
    'x.test:25',
    `${'a'.repeat(64)}.test`,
    'x.123',
    'x.test\r\nBcc: y',
    '%65xample.com',
  ])('%j is refused as a domain', async (domain) => {
    const box = await gateway.mailbox();
    expect(await post(box, '/domains', { domain })).toMatchObject({
      status: 400,
      body: { error: 'Invalid domain format', details: [{ field: 'domain' }] },
    });
  });

  test.each([{}, { domain: '' }, { domain: 7 }, { domain: 'a'.repeat(254) }, { domain: 'a\0.test' }])(
    '%j is 400 and names the field',
    async (body) => {
      const box = await gateway.mailbox();
      expect(await post(box, '/domains', body)).toMatchObject({
        status: 400,
        body: { details: [{ field: 'domain' }] },
      });
    },
  );

  test('its catch-all, its addresses and its mail are shown with it', async () => {
    const box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/', isCatchAllEnabled: true });
    const name = box.address.split('@')[1];
    await gateway.actor.pool.query('update email_address set is_active = false where id = $1', [box.addressId]);
    const hours = [0, 48, 24 * 20, 24 * 40];
    await insertMail(
      gateway.actor,
      hours.map((age) => ({
        workspaceId: box.workspaceId,
        ownAddress: box.address,
        createdAt: new Date(Date.now() - age * 3_600_000),
      })),
    );
    const shown = {
      domain: name,
      isCatchAllEnabled: true,
      catchAllEndpointId: box.endpointId,
      catchAllEndpoint: { id: box.endpointId, name: 'test', type: 'webhook', isActive: true },
    };
    const stats = { totalEmailAddresses: 1, activeEmailAddresses: 0, hasCatchAll: true };
    expect((await get(box, '/domains')).data[0]).toMatchObject({ ...shown, stats });
    expect(await get(box, `/domains/${box.domainId}`)).toMatchObject({
      ...shown,
      stats: { ...stats, emailsLast24h: 1, emailsLast7d: 2, emailsLast30d: 3 },
    });
  });

  test('the list is paged, filtered and counted', async () => {
    const box = await gateway.mailbox();
    for (const domain of ['one.example', 'two.example', nextTrusted()]) await post(box, '/domains', { domain });
    const names = (response: { data: { domain: string }[] }) => response.data.map((domain) => domain.domain);
    const page = await get(box, '/domains?limit=2&offset=1');
    expect(names(page)).toEqual(['two.example', 'one.example']);
    expect(page.pagination).toEqual({ limit: 2, offset: 1, total: 4, hasMore: true });
    expect(names(await get(box, '/domains?status=pending'))).toEqual(['two.example', 'one.example']);
    expect((await get(box, '/domains?canReceive=true')).pagination.total).toBe(2);
    expect((await get(box, '/domains?canReceive=false&limit=1')).pagination.total).toBe(2);
    expect((await gateway.call(box.apiKey, 'GET', '/domains?status=gone')).statusCode).toBe(400);
  });
});

test('an unknown id is 404 with the text of its resource', async () => {
  const box = await gateway.mailbox();
  for (const [path, error] of [
    ['/emails/x', 'Email not found'],
    ['/mail/threads/x', 'Thread not found'],
    ['/domains/x', 'Domain not found'],
    ['/email-addresses/x', 'Email address not found'],
    ['/endpoints/x', 'Endpoint not found'],
  ]) {
    const response = await gateway.call(box.apiKey, 'GET', path ?? '');
    expect([response.statusCode, response.json()]).toEqual([
      404,
      { error, message: error, statusCode: 404, name: 'not_found' },
    ]);
  }
});
