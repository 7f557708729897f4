import { describe, expect, test } from 'vitest';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { openForFile } from '../../support/open-for-file.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';

const gateway = openForFile(() => openTestGateway());

const call = async (box: TestMailbox, method: string, path: string, body?: unknown) => {
  const response = await gateway.call(box.apiKey, method, path, body);
  return { status: response.statusCode, body: response.json() };
};
const post = (box: TestMailbox, path: string, body?: unknown) => call(box, 'POST', path, body);
const get = async (box: TestMailbox, path: string) => (await call(box, 'GET', path)).body;

const url = 'https://hooks.example.com/in';

test('a webhook gets its token and its secret, and shows every documented field', async () => {
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
    webhookFormat: 'discord',
    config: { url, timeout: 30, retryAttempts: 0, verificationToken: expect.stringMatching(/^[0-9a-f]{64}$/) },
    isActive: true,
    isDisabled: false,
    inactiveReason: null,
    description: 'd',
    events: ['email.received'],
    filter: null,
    payloadQuery: null,
    ordering: 'none',
    allowActions: false,
    userId: box.workspaceId,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    groupEmails: null,
    deliveryStats: { total: 0, successful: 0, failed: 0, lastDelivery: null },
    signingSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    signingSecrets: [{ secret: made.body.signingSecret, validUntil: null }],
    recentDeliveries: [],
    associatedEmails: [],
    catchAllDomains: [],
  });
  expect(await get(box, `/endpoints/${made.body.id}`)).toEqual({ ...made.body, webhookFormat: 'chat_a' });
  const { rows } = await gateway.actor.pool.query('select secret_ciphertext from endpoint where id = $1', [
    made.body.id,
  ]);
  expect(rows[0].secret_ciphertext).not.toContain('whsec_');
});

test('an endpoint shows the objects that use it, and its last ten deliveries', async () => {
  const box = await gateway.mailbox({ endpointUrl: url, isCatchAllEnabled: true });
  await gateway.actor.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts, attempts_allowed, response_data, created_at)
     select $1, 'dlv_' || n, 'em_x', $2, 'webhook', 'failed', 1, 4, '{"error": "x", "statusCode": 500}', now() + n * interval '1 second'
     from generate_series(1, 12) n`,
    [box.workspaceId, box.endpointId],
  );
  await gateway.actor.pool.query(
    `insert into endpoint_stat (workspace_id, endpoint_id, total, successful, failed, last_delivery_at) values ($1, $2, 12, 0, 12, now())`,
    [box.workspaceId, box.endpointId],
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
    event: 'email.received',
    endpointId: box.endpointId,
    deliveryType: 'webhook',
    status: 'failed',
    attempts: 1,
    lastAttemptAt: null,
    responseData: { error: 'x', statusCode: 500 },
    createdAt: expect.any(String),
    completedAt: null,
    nextAttemptAt: null,
    cause: 'route',
    actions: null,
    attemptLog: [],
    recipients: [],
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

const make = async (box: TestMailbox, more: object = {}) => {
  const made = await post(box, '/endpoints', { name: 'hook', type: 'webhook', config: { url }, ...more });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body;
};

/** As the service does that sees nothing but failures. */
async function switchOff(box: TestMailbox, id: string): Promise<void> {
  await gateway.actor.pool.query(
    `update endpoint set is_active = false, inactive_reason = 'Nothing but failures for 120 hours' where workspace_id = $1 and id = $2`,
    [box.workspaceId, id],
  );
  await gateway.actor.pool.query(
    `insert into endpoint_stat (workspace_id, endpoint_id, total, failed, failing_since) values ($1, $2, 9, 9, now() - interval '121 hours')`,
    [box.workspaceId, id],
  );
}

async function failingSince(id: string): Promise<Date | null> {
  const { rows } = await gateway.actor.pool.query('select failing_since from endpoint_stat where endpoint_id = $1', [
    id,
  ]);
  return rows[0]?.failing_since ?? null;
}

describe.each(['PATCH', 'PUT'])('%s', (method) => {
  const change = (box: TestMailbox, id: string, body: unknown) => call(box, method, `/endpoints/${id}`, body);

  test('waits for outcomes that are being counted, and keeps nothing locked that disabling needs', async () => {
    const box = await gateway.mailbox();
    const { id } = await make(box);
    await switchOff(box, id);
    let changed: ReturnType<typeof call> | undefined;
    await inTransaction(gateway.owner, async (client) => {
      await client.query('select from endpoint_stat where endpoint_id = $1 for update', [id]);
      changed = change(box, id, { isActive: true });
      await expect
        .poll(async () => {
          const { rows } = await gateway.owner.pool.query(
            `select count(*)::integer as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          return rows[0]?.waiting;
        })
        .toBe(1);
      await client.query('select from endpoint where id = $1 for update nowait', [id]);
    });
    expect((await changed)?.status).toBe(200);
    expect(await failingSince(id)).toBeNull();
  });

  test('fields that are not given stay, and given ones are shown', async () => {
    const box = await gateway.mailbox();
    const before = await make(box, { description: 'old' });
    const renamed = await change(box, before.id, { name: 'new name' });
    expect(renamed).toEqual({
      status: 200,
      body: { ...before, name: 'new name', updatedAt: expect.any(String) },
    });
    expect(Date.parse(renamed.body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt));
    expect((await change(box, before.id, { description: null })).body.description).toBeNull();
    expect((await change(box, before.id, { type: 'webhook', isActive: false })).body).toMatchObject({
      isActive: false,
      isDisabled: false,
      inactiveReason: null,
    });
  });

  test('a config replaces the old one; token and secret stay', async () => {
    const box = await gateway.mailbox();
    const before = await make(box, { config: { url, timeout: 5, headers: { 'X-A': 'b' }, payload: 'flat' } });
    const config = { url: 'https://other.example.com/', retryAttempts: 1, verificationToken: 'mine' };
    const after = await change(box, before.id, { config });
    expect(after.body.config).toEqual({
      url: 'https://other.example.com/',
      timeout: 30,
      retryAttempts: 1,
      verificationToken: before.config.verificationToken,
    });
    expect(after.body.signingSecret).toBe(before.signingSecret);
    expect(await get(box, `/endpoints/${before.id}`)).toEqual(after.body);
  });

  test.each([
    ['native', 'native'],
    ['chat_a', 'chat_a'],
    ['chat_b', 'chat_b'],
    ['inbound', 'native'],
    ['discord', 'chat_a'],
    ['slack', 'chat_b'],
  ])('the format %s is echoed, and stored as %s', async (webhookFormat, kept) => {
    const box = await gateway.mailbox();
    const { id } = await make(box);
    expect((await change(box, id, { webhookFormat })).body.webhookFormat).toBe(webhookFormat);
    expect((await gateway.call(box.apiKey, 'GET', `/endpoints/${id}`)).json().webhookFormat).toBe(kept);
  });

  test('an endpoint that Postroom disabled shows why, and its failures are reset when it is enabled', async () => {
    const box = await gateway.mailbox();
    const { id } = await make(box);
    await switchOff(box, id);
    const disabled = { isActive: false, isDisabled: true, inactiveReason: 'Nothing but failures for 120 hours' };
    expect((await get(box, '/endpoints')).data[0]).toMatchObject(disabled);
    // What is said again is no change.
    expect((await change(box, id, { name: 'x', isActive: false })).body).toMatchObject(disabled);
    expect(await failingSince(id)).not.toBeNull();
    expect((await change(box, id, { isActive: true })).body).toMatchObject({
      isActive: true,
      isDisabled: false,
      inactiveReason: null,
      deliveryStats: { total: 9, failed: 9 },
    });
    expect(await failingSince(id)).toBeNull();
  });

  test('changing the URL resets the failures', async () => {
    const box = await gateway.mailbox();
    const { id } = await make(box);
    await switchOff(box, id);
    await change(box, id, { config: { url: 'https://mended.example.com/' } });
    expect(await failingSince(id)).toBeNull();
  });

  test('an invalid change is refused with its text, and changes nothing', async () => {
    const box = await gateway.mailbox();
    const { recentDeliveries: _, ...before } = await make(box);
    const nothing = 'At least one field must be provided: name, config, isActive, description, webhookFormat';
    const cases: [unknown, string, unknown][] = [
      [{}, nothing, undefined],
      [{ type: 'webhook' }, nothing, undefined],
      [{ name: 'x', type: 'email' }, 'The type of an endpoint cannot be changed', expect.anything()],
      [{ name: 'x', config: {} }, 'Invalid configuration', 'Webhook URL is required'],
      [{ name: 'x', config: null }, 'Invalid configuration', 'Configuration must be an object'],
      [{ name: 'x', config: [] }, 'Invalid configuration', 'Configuration must be an object'],
      [{ name: 'x', config: { forwardTo: 'a@b.test' } }, 'Invalid configuration', 'Webhook URL is required'],
      [{ name: 'x', config: { url: 'https://169.254.169.254/' } }, 'Invalid configuration', expect.any(String)],
      [
        { name: 'x', config: { url, headers: { 'X-A': 'a\r\nHost: b' } } },
        'Invalid configuration',
        'Invalid value for header: X-A',
      ],
      [{ name: '' }, 'Bad Request', expect.anything()],
      [{ name: 'a'.repeat(256) }, 'Bad Request', expect.anything()],
      [{ description: 'd'.repeat(1_001) }, 'Bad Request', expect.anything()],
      [{ webhookFormat: 'xml' }, 'Bad Request', expect.anything()],
      [{ isActive: 'true' }, 'Bad Request', expect.anything()],
    ];
    for (const [body, error, details] of cases) {
      const response = await change(box, before.id, body);
      expect([response.status, response.body.error, response.body.details], JSON.stringify(body)).toEqual([
        400,
        error,
        details,
      ]);
    }
    expect(await get(box, `/endpoints/${before.id}`)).toMatchObject(before);
  });

  test('an endpoint of another user is not found, like an unknown one', async () => {
    const other = await gateway.mailbox();
    const { id } = await make(await gateway.mailbox());
    const responses = [];
    for (const each of [id, 'ep_00000000000000000000000000000000', 'x', "';"])
      responses.push(await change(other, each, { name: 'mine' }));
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(responses[0]).toMatchObject({ status: 404, body: { error: 'Endpoint not found' } });
  });
});

describe('deleting an endpoint', () => {
  test('removes it from the objects that used it, and lists them', async () => {
    const box = await gateway.mailbox({ endpointUrl: url, isCatchAllEnabled: true });
    const [, domain = ''] = box.address.split('@');
    const legacy = { address: `legacy@${domain}`, domainId: box.domainId, webhookId: box.endpointId };
    await post(box, '/email-addresses', legacy);
    await gateway.actor.pool.query(
      `insert into guard_rule (workspace_id, id, name, type, config, action, endpoint_id)
       values ($1, 'grd_x', 'rule', 'explicit', '{}', 'route', $2)`,
      [box.workspaceId, box.endpointId],
    );
    const kept = await make(box);
    const changes: string[] = [];
    const names = gateway.bus.subscribe('routing.changed', ({ name }) => void changes.push(name));
    const rules = gateway.bus.subscribe('guard.changed', ({ workspaceId }) => void changes.push(workspaceId));
    expect(await call(box, 'DELETE', `/endpoints/${box.endpointId}`)).toEqual({
      status: 200,
      body: {
        success: true,
        message: 'Endpoint deleted successfully',
        id: box.endpointId,
        cleanup: {
          emailAddressesUpdated: 2,
          emailAddresses: [box.address, legacy.address],
          domainsUpdated: 1,
          domains: [domain],
          groupEmailsDeleted: 0,
          guardRulesUpdated: 1,
          deliveriesDeleted: 0,
          deliveriesEnded: 0,
        },
      },
    });
    await Promise.all([names.stop(), rules.stop()]);
    expect(changes).toEqual([box.address, legacy.address, domain, box.workspaceId]);
    expect((await call(box, 'GET', `/endpoints/${box.endpointId}`)).status).toBe(404);
    expect((await get(box, '/endpoints')).data.map(({ id }: { id: string }) => id)).toEqual([kept.id]);
    expect(await get(box, `/email-addresses/${box.addressId}`)).toMatchObject({
      endpointId: null,
      routing: { type: 'none' },
    });
    // Mail to the whole domain goes on being taken, and is stored.
    expect(await get(box, `/domains/${box.domainId}`)).toMatchObject({
      isCatchAllEnabled: true,
      catchAllEndpointId: null,
      catchAllEndpoint: null,
    });
    const { rows } = await gateway.actor.pool.query(
      `select endpoint_id, is_active from guard_rule where workspace_id = $1`,
      [box.workspaceId],
    );
    expect(rows).toEqual([{ endpoint_id: null, is_active: true }]);
    expect((await call(box, 'DELETE', `/endpoints/${box.endpointId}`)).status).toBe(404);
  });

  test('removes its statistics', async () => {
    const box = await gateway.mailbox({ endpointUrl: url });
    await gateway.actor.pool.query(
      `insert into endpoint_stat (workspace_id, endpoint_id, total, failed, failing_since) values ($1, $2, 1, 1, now())`,
      [box.workspaceId, box.endpointId],
    );
    await call(box, 'DELETE', `/endpoints/${box.endpointId}`);
    const { rows } = await gateway.actor.pool.query('select from endpoint_stat where workspace_id = $1', [
      box.workspaceId,
    ]);
    expect(rows).toHaveLength(0);
  });

  test('returns the number of addresses of a group', async () => {
    const box = await gateway.mailbox();
    const { id } = await make(box, { type: 'email_group', config: { emails: ['a@x.test', 'b@x.test'] } });
    expect((await call(box, 'DELETE', `/endpoints/${id}`)).body.cleanup.groupEmailsDeleted).toBe(2);
  });

  test('ends its pending deliveries, finishes a running one, and keeps finished ones', async () => {
    const box = await gateway.mailbox({ endpointUrl: url });
    await gateway.actor.pool.query(
      `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts, attempts_allowed, next_attempt_at,
         claimed_by, claimed_until, created_at)
       values ($1, 'dlv_waits', 'em_1', $2, 'webhook', 'pending', 1, 4, now() + interval '1 hour', null, null, now()),
              ($1, 'dlv_open', 'em_2', $2, 'webhook', 'pending', 0, 4, now(), 'actor', now() + interval '30 seconds', now()),
              ($1, 'dlv_done', 'em_3', $2, 'webhook', 'success', 1, 4, null, null, null, now())`,
      [box.workspaceId, box.endpointId],
    );
    const told: unknown[] = [];
    const appended = gateway.bus.subscribe('event.appended', (event) => void told.push(event));
    expect((await call(box, 'DELETE', `/endpoints/${box.endpointId}`)).body.cleanup.deliveriesEnded).toBe(1);
    const { rows } = await gateway.actor.pool.query(
      `select id, status, response_data->>'error' as error, completed_at is not null as is_completed, claimed_by
       from delivery where workspace_id = $1 order by id`,
      [box.workspaceId],
    );
    expect(rows).toEqual([
      { id: 'dlv_done', status: 'success', error: null, is_completed: false, claimed_by: null },
      { id: 'dlv_open', status: 'pending', error: null, is_completed: false, claimed_by: 'actor' },
      { id: 'dlv_waits', status: 'failed', error: 'Endpoint not found', is_completed: true, claimed_by: null },
    ]);
    const events = await gateway.actor.pool.query(
      `select seq, kind, email_id, delivery_id, endpoint_id, data from event where workspace_id = $1`,
      [box.workspaceId],
    );
    expect(events.rows).toEqual([
      {
        seq: 1,
        kind: 'delivery.failed',
        email_id: 'em_1',
        delivery_id: 'dlv_waits',
        endpoint_id: box.endpointId,
        data: { attempts: 1, statusCode: null, error: 'Endpoint not found' },
      },
    ]);
    await appended.stop();
    expect(told).toEqual([{ workspaceId: box.workspaceId, lastSeq: 1 }]);
  });

  test('keeps another user’s endpoint', async () => {
    const other = await gateway.mailbox();
    const box = await gateway.mailbox({ endpointUrl: url });
    expect((await call(other, 'DELETE', `/endpoints/${box.endpointId}`)).status).toBe(404);
    expect(await get(box, `/email-addresses/${box.addressId}`)).toMatchObject({ endpointId: box.endpointId });
  });
});

describe('rotating the secret', () => {
  const rotate = (box: TestMailbox, id: string, body?: unknown) => post(box, `/endpoints/${id}/rotate-secret`, body);

  test('keeps the previous secret valid for 24 hours beside the new one, but not older ones', async () => {
    const box = await gateway.mailbox();
    const before = await make(box);
    const asked = Date.now();
    const first = await rotate(box, before.id);
    expect(first.status).toBe(200);
    expect(first.body.signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(first.body.signingSecret).not.toBe(before.signingSecret);
    expect(first.body.signingSecrets).toEqual([
      { secret: first.body.signingSecret, validUntil: null },
      { secret: before.signingSecret, validUntil: expect.any(String) },
    ]);
    const overlap = Date.parse(first.body.signingSecrets[1].validUntil) - asked;
    expect(overlap).toBeGreaterThanOrEqual(24 * 3_600_000);
    expect(overlap).toBeLessThan(24 * 3_600_000 + 120_000);
    expect(first.body.config.verificationToken).toBe(before.config.verificationToken);
    const second = await rotate(box, before.id, {});
    expect(second.body.signingSecrets.map(({ secret }: { secret: string }) => secret)).toEqual([
      second.body.signingSecret,
      first.body.signingSecret,
    ]);
    expect((await get(box, `/endpoints/${before.id}`)).signingSecrets).toEqual(second.body.signingSecrets);
  });

  test('hides an expired secret', async () => {
    let now = new Date();
    const later = await openTestGateway({ now: () => now });
    try {
      const box = await later.mailbox();
      const made = await later.call(box.apiKey, 'POST', '/endpoints', { name: 'x', type: 'webhook', config: { url } });
      const { id } = made.json();
      await later.call(box.apiKey, 'POST', `/endpoints/${id}/rotate-secret`);
      now = new Date(now.getTime() + 24 * 3_600_000 + 1);
      expect((await later.call(box.apiKey, 'GET', `/endpoints/${id}`)).json().signingSecrets).toHaveLength(1);
    } finally {
      await later.close();
    }
  });

  test('replaces the verification token on request', async () => {
    const box = await gateway.mailbox();
    const before = await make(box, { config: { url, timeout: 7 } });
    const { body } = await rotate(box, before.id, { verificationToken: true });
    expect(body.config).toEqual({ ...before.config, verificationToken: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(body.config.verificationToken).not.toBe(before.config.verificationToken);
  });

  test('twice at once loses neither secret', async () => {
    const box = await gateway.mailbox();
    let rotations: Promise<unknown>[] = [];
    const before = await make(box);
    await inTransaction(gateway.owner, async (client) => {
      await client.query('select from endpoint where id = $1 for update', [before.id]);
      rotations = [rotate(box, before.id), rotate(box, before.id)];
      // Until both wait for the row, each has read what there is if it means to.
      await expect
        .poll(async () => {
          const { rows } = await gateway.owner.pool.query(
            `select count(*)::integer as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          return rows[0]?.waiting;
        })
        .toBe(2);
    });
    await Promise.all(rotations);
    const { signingSecrets } = await get(box, `/endpoints/${before.id}`);
    expect(signingSecrets).toHaveLength(2);
    expect(signingSecrets.map(({ secret }: { secret: string }) => secret)).not.toContain(before.signingSecret);
  });

  test('is available for webhooks only', async () => {
    const box = await gateway.mailbox();
    const { id } = await make(box, { type: 'email', config: { forwardTo: 'a@x.test' } });
    expect(await rotate(box, id)).toMatchObject({
      status: 400,
      body: { error: 'Only webhooks have a signing secret' },
    });
    expect((await get(box, `/endpoints/${id}`)).signingSecrets).toEqual([]);
    expect((await rotate(box, 'x')).status).toBe(404);
  });
});

test('a search text with wildcards is taken literally', async () => {
  const box = await gateway.mailbox();
  await make(box, { name: 'a_b', config: { url: 'https://hooks.example.com/100%25/x' } });
  await make(box, { name: 'acb' });
  const names = async (search: string) =>
    (await get(box, `/endpoints?search=${encodeURIComponent(search)}`)).data.map(({ name }: { name: string }) => name);
  expect(await names('a_b')).toEqual(['a_b']);
  expect(await names('100%25')).toEqual(['a_b']);
  expect(await names('\\')).toEqual([]);
  expect(await names('HOOKS.example')).toEqual(['acb', 'a_b']);
});

describe('the events of a webhook', () => {
  const hook = { name: 'x', type: 'webhook', config: { url } };

  test('include mail routed to it by default', async () => {
    const box = await gateway.mailbox();
    const made = await post(box, '/endpoints', hook);
    expect(made.body).toMatchObject({
      events: ['email.received'],
      filter: null,
      payloadQuery: null,
      ordering: 'none',
      allowActions: false,
    });
    const asked = {
      events: ['email.*', 'domain.verified'],
      filter: { domains: [box.domainId], addresses: [box.address.toUpperCase()] },
      payloadQuery: '{ id }',
      ordering: 'thread',
      allowActions: true,
    };
    const stored = { ...asked, filter: { domains: [box.address.split('@')[1]], addresses: [box.address] } };
    expect((await post(box, '/endpoints', { ...hook, ...asked })).body).toMatchObject(stored);
    const path = `/endpoints/${made.body.id}`;
    expect((await call(box, 'PATCH', path, asked)).body).toMatchObject(stored);
    const cleared = await call(box, 'PATCH', path, { filter: null, payloadQuery: null, events: ['*', '*'] });
    expect(cleared.body).toMatchObject({ ...stored, filter: null, payloadQuery: null, events: ['*'] });
    expect(await get(box, path)).toEqual(cleared.body);
  });

  test.each([
    [{ events: ['email.bounced', 'email.bouncd'] }, 'events[1]'],
    [{ events: ['*.bounced'] }, 'events[0]'],
    [{ events: ['emai.*'] }, 'events[0]'],
    [{ events: [] }, 'events'],
    [{ events: [1] }, 'events.0'],
    [{ events: null }, 'events'],
    [{ filter: {} }, 'filter'],
    [{ filter: { domains: ['elsewhere.example'] } }, 'filter.domains[0]'],
    [{ filter: { addresses: ['nobody@elsewhere.example'] } }, 'filter.addresses[0]'],
    [{ filter: { domains: 'elsewhere.example' } }, 'filter.domains'],
    [{ payloadQuery: '' }, 'payloadQuery'],
    [{ payloadQuery: 'x'.repeat(10_001) }, 'payloadQuery'],
    [{ payloadQuery: '{ kind' }, 'payloadQuery'],
    [{ payloadQuery: '{ subject }' }, 'payloadQuery'],
    [{ payloadQuery: '{ kind }', webhookFormat: 'slack' }, 'payloadQuery'],
    [{ ordering: 'address' }, 'ordering'],
    [{ allowActions: 'yes' }, 'allowActions'],
  ])('%j are 400 and name the position', async (input, field) => {
    const box = await gateway.mailbox({ endpointUrl: url });
    const refusal = { status: 400, body: { details: [{ field }] } };
    expect(await post(box, '/endpoints', { ...hook, ...input })).toMatchObject(refusal);
    expect(await call(box, 'PATCH', `/endpoints/${box.endpointId}`, input)).toMatchObject(refusal);
  });

  test('are posted as a query selects them, whose errors have their positions', async () => {
    const box = await gateway.mailbox({ endpointUrl: url });
    const path = `/endpoints/${box.endpointId}`;
    const message = 'Line 2, column 3: Cannot query field "subject" on type "Event".';
    expect(await call(box, 'PATCH', path, { payloadQuery: '{ kind\n  subject }' })).toMatchObject({
      status: 400,
      body: {
        message: `\`payloadQuery\` is not valid. ${message}`,
        details: [{ field: 'payloadQuery', message, line: 2, column: 3 }],
      },
    });
    const payloadQuery = '{ endpoint { name } }';
    expect(await call(box, 'PATCH', path, { payloadQuery })).toMatchObject({ status: 200, body: { payloadQuery } });
    const filter = { addresses: [box.address] };
    expect(await call(box, 'PATCH', path, { filter })).toMatchObject({ status: 400 });
    expect(await call(box, 'PATCH', path, { filter, payloadQuery: null })).toMatchObject({ status: 200 });
    await gateway.owner.pool.query(`update endpoint set payload_query = '{ old }' where id = $1`, [box.endpointId]);
    expect(await call(box, 'PATCH', path, { name: 'y' })).toMatchObject({
      status: 200,
      body: { payloadQuery: '{ old }' },
    });
  });

  test('are not filtered by the domains and addresses of other accounts', async () => {
    const box = await gateway.mailbox();
    const other = await gateway.mailbox();
    for (const [list, name] of [
      ['domains', other.domainId],
      ['domains', other.address.split('@')[1]],
      ['addresses', other.addressId],
      ['addresses', other.address],
    ] as const)
      expect(await post(box, '/endpoints', { ...hook, filter: { [list]: [name] } })).toMatchObject({
        status: 400,
        body: { details: [{ field: `filter.${list}[0]` }] },
      });
  });

  test('are refused for endpoints that forward', async () => {
    const box = await gateway.mailbox();
    const forwarding = { name: 'x', type: 'email', config: { forwardTo: 'a@elsewhere.example' } };
    expect(await post(box, '/endpoints', { ...forwarding, events: ['email.bounced'] })).toMatchObject({
      status: 400,
      body: { details: [{ field: 'events', message: expect.stringContaining('Only webhooks') }] },
    });
    expect((await post(box, '/endpoints', { ...forwarding, events: ['email.received'] })).status).toBe(201);
  });
});
