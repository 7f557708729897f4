import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../support/gateway.ts';
import { insertMail } from '../support/mail-rows.ts';
import type { TestMailbox } from '../support/routing-rows.ts';

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
  test('a trusted domain is verified at once and shows every field of interface.md', async () => {
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
      updatedAt: expect.any(String),
      userId: box.userId,
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
          type: 'MX',
          recordType: 'MX',
          name,
          value: '10 mx.postroom.test',
          description: expect.any(String),
          isRequired: true,
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

  test('a subdomain of an own verified domain is verified, of another user’s it is not', async () => {
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
    expect(foreign.body.parentDomain).toBeUndefined();
  });

  test('a new domain gets a DKIM key, whose record is shown wherever the domain is, and whose private part nowhere', async () => {
    const box = await gateway.mailbox();
    const name = nextTrusted();
    const made = await gateway.call(box.apiKey, 'POST', '/domains', { domain: name });
    const dkim = made.json().dnsRecords.find((record: { name: string }) => record.name.includes('_domainkey'));
    expect(dkim).toEqual({
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
      'select private_key_ciphertext as ciphertext from dkim_key where user_id = $1',
      [box.userId],
    );
    expect(rows).toEqual([{ ciphertext: expect.stringMatching(/^v1\.[0-9a-f]{12}\.[A-Za-z0-9_-]{2000,}$/) }]);
    for (const { body } of [made, listed, read]) expect(body).not.toContain(rows[0].ciphertext);
  });

  test('two users who claim one domain are told different keys', async () => {
    const records = [];
    for (const box of [await gateway.mailbox(), await gateway.mailbox()])
      records.push(...(await post(box, '/domains', { domain: 'claimed.org' })).body.dnsRecords);
    const keys = records.filter((record) => record.name.includes('_domainkey'));
    expect(new Set(keys.map(({ name }) => name)).size).toBe(2);
    expect(new Set(keys.map(({ value }) => value)).size).toBe(2);
  });

  test('a domain twice is 409, and so is one that another user has verified', async () => {
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

  test('of many users who claim a trusted domain at once one gets it', async () => {
    const boxes = await Promise.all(Array.from({ length: 8 }, () => gateway.mailbox()));
    const name = nextTrusted();
    const answers = await Promise.all(boxes.map((box) => post(box, '/domains', { domain: name })));
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([201, ...Array(7).fill(409)]);
  });

  test('an international name is kept in its one ASCII form', async () => {
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
  ])('%j is no domain', async (domain) => {
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
        userId: box.userId,
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
    const names = (answer: { data: { domain: string }[] }) => answer.data.map((domain) => domain.domain);
    const page = await get(box, '/domains?limit=2&offset=1');
    expect(names(page)).toEqual(['two.example', 'one.example']);
    expect(page.pagination).toEqual({ limit: 2, offset: 1, total: 4, hasMore: true });
    expect(names(await get(box, '/domains?status=pending'))).toEqual(['two.example', 'one.example']);
    expect((await get(box, '/domains?canReceive=true')).pagination.total).toBe(2);
    expect((await get(box, '/domains?canReceive=false&limit=1')).pagination.total).toBe(2);
    expect((await gateway.call(box.apiKey, 'GET', '/domains?status=gone')).statusCode).toBe(400);
  });
});

describe('endpoints', () => {
  const url = 'https://hooks.example.com/in';

  test('a webhook gets its token and its secret, and shows every field of interface.md', async () => {
    const box = await gateway.mailbox();
    const made = await post(box, '/endpoints', {
      name: 'Hook',
      type: 'webhook',
      config: { url, retryAttempts: 0 },
      description: 'd',
      webhookFormat: 'discord',
    });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^ep_/),
      name: 'Hook',
      type: 'webhook',
      webhookFormat: 'chat_a',
      config: { url, timeout: 30, retryAttempts: 0, verificationToken: expect.stringMatching(/^[0-9a-f]{64}$/) },
      isActive: true,
      description: 'd',
      userId: box.userId,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      groupEmails: null,
      deliveryStats: { total: 0, successful: 0, failed: 0, lastDelivery: null },
      signingSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      recentDeliveries: [],
      associatedEmails: [],
      catchAllDomains: [],
    });
    expect(await get(box, `/endpoints/${made.body.id}`)).toEqual(made.body);
    const { rows } = await gateway.actor.pool.query('select secret_ciphertext from endpoint where id = $1', [
      made.body.id,
    ]);
    expect(rows[0].secret_ciphertext).not.toContain('whsec_');
  });

  test('what uses an endpoint, and its last ten deliveries, are shown with it', async () => {
    const box = await gateway.mailbox({ endpointUrl: url, isCatchAllEnabled: true });
    await gateway.actor.pool.query(
      `insert into delivery (user_id, id, email_id, endpoint_id, delivery_type, status, attempts, attempts_allowed, response_data, created_at)
       select $1, 'dlv_' || n, 'em_x', $2, 'webhook', 'failed', 1, 4, '{"error": "x", "statusCode": 500}', now() + n * interval '1 second'
       from generate_series(1, 12) n`,
      [box.userId, box.endpointId],
    );
    await gateway.actor.pool.query(
      `insert into endpoint_stat (user_id, endpoint_id, total, successful, failed, last_delivery_at) values ($1, $2, 12, 0, 12, now())`,
      [box.userId, box.endpointId],
    );
    const endpoint = await get(box, `/endpoints/${box.endpointId}`);
    expect(endpoint.deliveryStats).toEqual({ total: 12, successful: 0, failed: 12, lastDelivery: expect.any(String) });
    expect(endpoint.associatedEmails).toEqual([
      { id: box.addressId, address: box.address, isActive: true, createdAt: expect.any(String) },
    ]);
    expect(endpoint.catchAllDomains).toEqual([
      { id: box.domainId, domain: box.address.split('@')[1], status: 'verified' },
    ]);
    expect(endpoint.recentDeliveries).toHaveLength(10);
    expect(endpoint.recentDeliveries[0]).toEqual({
      id: 'dlv_12',
      emailId: 'em_x',
      endpointId: box.endpointId,
      deliveryType: 'webhook',
      status: 'failed',
      attempts: 1,
      lastAttemptAt: null,
      responseData: { error: 'x', statusCode: 500 },
      createdAt: expect.any(String),
    });
  });

  test.each([
    ['webhook', {}, 'Webhook URL is required'],
    ['webhook', { url: 'nonsense' }, 'Invalid webhook URL format'],
    ['webhook', { url, timeout: 301 }, 'Timeout must be a number between 1 and 300 seconds'],
    ['webhook', { url, retryAttempts: 11 }, 'Retry attempts must be a number between 0 and 10'],
    ['email', { forwardTo: 'x' }, 'Invalid forward-to email address format'],
    [
      'email_group',
      { emails: Array.from({ length: 51 }, (_, n) => `a${n}@x.test`) },
      'Email group cannot have more than 50 email addresses',
    ],
    ['email_group', { emails: ['a@x.test', 'bad'] }, 'Invalid email address in group: bad'],
    ['email_group', { emails: ['a@x.test', 'A@x.test'] }, 'Email group contains duplicate email addresses'],
  ])('%s with %j is 400 Invalid configuration', async (type, config, details) => {
    const box = await gateway.mailbox();
    expect(await post(box, '/endpoints', { name: 'x', type, config })).toEqual({
      status: 400,
      body: {
        error: 'Invalid configuration',
        message: 'Invalid configuration',
        statusCode: 400,
        name: 'validation_error',
        details,
      },
    });
  });

  test.each([
    'http://example.com/',
    'https://10.0.0.1/',
    'https://169.254.169.254/',
    'http://127.0.0.1:2525/',
    'https://user:pw@example.com/',
    'file:///etc/passwd',
  ])('a webhook to %s is refused', async (target) => {
    const box = await gateway.mailbox();
    const made = await post(box, '/endpoints', { name: 'x', type: 'webhook', config: { url: target } });
    expect([made.status, made.body.error]).toEqual([400, 'Invalid configuration']);
  });

  test.each([
    [{ type: 'webhook', config: {} }, 'name'],
    [{ name: '', type: 'webhook', config: {} }, 'name'],
    [{ name: 'a'.repeat(256), type: 'webhook', config: {} }, 'name'],
    [{ name: 'a\0', type: 'webhook', config: {} }, 'name'],
    [{ name: 'a', type: 'pigeon', config: {} }, 'type'],
    [{ name: 'a', type: 'email', config: {}, description: 'd'.repeat(1001) }, 'description'],
    [{ name: 'a', type: 'email', config: {}, webhookFormat: 'xml' }, 'webhookFormat'],
  ])('%j is 400 and names the field', async (body, field) => {
    const box = await gateway.mailbox();
    expect(await post(box, '/endpoints', body)).toMatchObject({ status: 400, body: { details: [{ field }] } });
  });

  test('the list is sorted, filtered, searched and counted', async () => {
    const box = await gateway.mailbox();
    await post(box, '/endpoints', { name: 'First_1', type: 'webhook', config: { url } });
    await post(box, '/endpoints', {
      name: 'Second',
      type: 'email',
      config: { forwardTo: 'me@away.test' },
      isActive: false,
    });
    await post(box, '/endpoints', { name: 'Third', type: 'email_group', config: { emails: ['a@x.test', 'b@x.test'] } });
    const names = async (query: string) =>
      (await get(box, `/endpoints?${query}`)).data.map((endpoint: { name: string }) => endpoint.name);
    expect(await names('')).toEqual(['Third', 'Second', 'First_1']);
    expect(await names('sortBy=oldest')).toEqual(['First_1', 'Second', 'Third']);
    expect(await names('type=email')).toEqual(['Second']);
    expect(await names('isActive=false')).toEqual(['Second']);
    expect(await names('active=true')).toEqual(['Third', 'First_1']);
    expect(await names('search=T_1')).toEqual(['First_1']);
    expect(await names('search=AWAY.test')).toEqual(['Second']);
    expect(await names('search=%25')).toEqual([]);
    const page = await get(box, '/endpoints?limit=1&offset=2');
    expect(page.pagination).toEqual({ limit: 1, offset: 2, total: 3, hasMore: false });
    const group = (await get(box, '/endpoints?type=email_group')).data[0];
    expect(group.groupEmails).toEqual(['a@x.test', 'b@x.test']);
    expect((await gateway.call(box.apiKey, 'GET', `/endpoints?search=${'a'.repeat(101)}`)).statusCode).toBe(400);
  });
});

describe('email addresses', () => {
  let box: TestMailbox;
  let domain: { id: string; name: string };

  beforeAll(async () => {
    box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
    domain = (await post(box, '/domains', { domain: nextTrusted() })).body;
  });

  test('one with an endpoint shows every field of interface.md', async () => {
    const address = `Help.Desk@${domain.name.toUpperCase()}`;
    const made = await post(box, '/email-addresses', { address, domainId: domain.id, endpointId: box.endpointId });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^addr_/),
      address: address.toLowerCase(),
      domainId: domain.id,
      webhookId: null,
      endpointId: box.endpointId,
      isActive: true,
      isReceiptRuleConfigured: true,
      receiptRuleName: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      userId: box.userId,
      domain: { id: domain.id, name: domain.name, status: 'verified' },
      routing: {
        type: 'endpoint',
        id: box.endpointId,
        name: 'test',
        config: expect.objectContaining({ url: 'https://hooks.example.com/' }),
        isActive: true,
      },
    });
    expect(await get(box, `/email-addresses/${made.body.id}`)).toEqual(made.body);
    expect(changed).toContain(address.toLowerCase());
  });

  test('one without an endpoint has routing of type none', async () => {
    const made = await post(box, '/email-addresses', {
      address: `quiet@${domain.name}`,
      domainId: domain.id,
      isActive: false,
    });
    expect(made.body).toMatchObject({
      isActive: false,
      isReceiptRuleConfigured: false,
      endpointId: null,
      routing: { type: 'none', id: null, name: null, isActive: false },
    });
  });

  test('one whose mail does not come here bears a warning', async () => {
    const elsewhere = await gateway.mailbox();
    await gateway.actor.pool.query('update domain set is_trusted = false where id = $1', [elsewhere.domainId]);
    expect(await get(elsewhere, `/email-addresses/${elsewhere.addressId}`)).toMatchObject({
      isActive: true,
      isReceiptRuleConfigured: false,
      warning: expect.stringContaining('MX'),
    });
    expect(await get(box, `/email-addresses/${box.addressId}`)).not.toHaveProperty('warning');
  });

  test('what cannot be is refused with its text', async () => {
    const other = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
    const inactive = (
      await post(box, '/endpoints', {
        name: 'off',
        type: 'email',
        config: { forwardTo: 'a@x.test' },
        isActive: false,
      })
    ).body.id;
    const pending = (await post(box, '/domains', { domain: 'not-yet.example' })).body.id;
    const address = `new@${domain.name}`;
    const domainId = domain.id;
    await post(box, '/email-addresses', { address: `taken@${domain.name}`, domainId });
    const cases: [object, number, string][] = [
      [{ address: 'nonsense', domainId }, 400, 'Invalid email address format'],
      [{ address: `two words@${domain.name}`, domainId }, 400, 'Invalid email address format'],
      [{ address: `a@b@${domain.name}`, domainId }, 400, 'Invalid email address format'],
      [{ address: `${'a'.repeat(65)}@${domain.name}`, domainId }, 400, 'Invalid email address format'],
      [{ address: `x\r\nBcc: y@${domain.name}`, domainId }, 400, 'Invalid email address format'],
      [{ address, domainId: other.domainId }, 404, 'Domain not found or access denied'],
      [{ address, domainId: 'dom_00000000000000000000000000000000' }, 404, 'Domain not found or access denied'],
      [{ address, domainId: "';" }, 404, 'Domain not found or access denied'],
      [{ address: 'new@elsewhere.test', domainId }, 400, `Email must belong to domain ${domain.name}`],
      [{ address: `new@sub.${domain.name}`, domainId }, 400, `Email must belong to domain ${domain.name}`],
      [{ address: 'new@not-yet.example', domainId: pending }, 400, 'Domain must be verified'],
      [{ address: `TAKEN@${domain.name}`, domainId }, 409, 'Email address already exists'],
      [{ address, domainId, endpointId: other.endpointId }, 404, 'Endpoint not found'],
      [{ address, domainId, endpointId: 'ep_00000000000000000000000000000000' }, 404, 'Endpoint not found'],
      [{ address, domainId, endpointId: inactive }, 400, 'Endpoint is not active'],
      [
        { address, domainId, endpointId: box.endpointId, webhookId: 'w' },
        400,
        'Cannot specify both endpoint and webhook',
      ],
      [{ address, domainId, webhookId: 'w' }, 404, 'Webhook not found'],
    ];
    for (const [body, status, error] of cases) {
      const made = await post(box, '/email-addresses', body);
      expect([made.status, made.body.error], JSON.stringify(body)).toEqual([status, error]);
    }
    expect(
      (await get(box, `/email-addresses?domainId=${domainId}`)).data.map((each: { address: string }) => each.address),
    ).not.toContain(address);
  });

  test('a missing field is 400 and named', async () => {
    expect(await post(box, '/email-addresses', { address: 'a@b.test' })).toMatchObject({
      status: 400,
      body: { details: [{ field: 'domainId' }] },
    });
  });

  test('the list is filtered and counted', async () => {
    const total = async (query: string) => (await get(box, `/email-addresses?${query}`)).pagination.total;
    const all = await total('');
    expect(await total(`domainId=${domain.id}`)).toBe(all - 1);
    expect(await total('domainId=dom_none')).toBe(0);
    expect((await total('isActive=true')) + (await total('isActive=false'))).toBe(all);
    expect(await total('isActive=false')).toBe(1);
    expect(await total('isReceiptRuleConfigured=false')).toBe(1);
    const every = (await get(box, '/email-addresses')).data.map((address: { id: string }) => address.id);
    const page = await get(box, '/email-addresses?limit=1&offset=1');
    expect(page.data.map((address: { id: string }) => address.id)).toEqual([every[1]]);
    expect(page.pagination).toEqual({ limit: 1, offset: 1, total: all, hasMore: all > 2 });
    // Newest first: the one that the account began with comes last.
    expect(every.at(-1)).toBe(box.addressId);
  });
});

test('an id that is unknown is 404 with the text of its resource', async () => {
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
