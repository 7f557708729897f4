import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { moveClock } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 1_000 } });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  box = await gateway.mailbox();
});

const call = (method: string, path: string, body?: object, key = box.apiKey) =>
  gateway.call(key, method, `/api-keys${path}`, body);
const make = async (more: object = {}) => (await call('POST', '', { name: 'agent', ...more })).json();
const send = (key: string) =>
  gateway.call(key, 'POST', '/emails', { from: box.address, to: 'ada@elsewhere.test', subject: 'Hi', text: 'Hi' });
const createKey = async (...scopes: Scope[]) => (await insertKey(gateway.owner, box, { scopes })).secret;
const readFields = (response: { json: () => { details?: { field: string }[] } }) =>
  response.json().details?.map(({ field }) => field);

const POLICY = { recipients: 'list', allow: ['Elsewhere.TEST'], per_hour: 2, links: false };
const STORED = { ...POLICY, allow: ['elsewhere.test'] };

describe('POST', () => {
  test('returns the token once; it has the rights of the key, and is shown nowhere else', async () => {
    const name = box.address.split('@')[1] ?? '';
    const expiresAt = '2099-01-31T12:00:00+01:00';
    const response = await call('POST', '', {
      name: ' Agent ',
      scopes: ['send', 'read'],
      domains: [name],
      expires_at: expiresAt,
      policy: POLICY,
    });
    const { token, id, created_at: createdAt, ...body } = response.json();
    expect([response.statusCode, body]).toEqual([
      201,
      {
        object: 'api_key',
        name: 'Agent',
        status: 'active',
        is_current: false,
        scopes: ['read', 'send'],
        domains: [{ id: box.domainId, name }],
        addresses: [],
        policy: STORED,
        policy_usage: { per_hour: { limit: 2, used: 0, remaining: 2, next_at: null } },
        expires_at: '2099-01-31T11:00:00.000Z',
        revoked_at: null,
        last_used_at: null,
        last_used_from: null,
        hint: `${token.slice(0, 4)}…${token.slice(-4)}`,
      },
    ]);
    expect(Date.parse(createdAt)).not.toBeNaN();
    expect((await send(token)).statusCode).toBe(200);
    expect((await gateway.call(token, 'POST', '/domains', { domain: 'other.test' })).statusCode).toBe(403);
    const shown = await call('GET', `/${id}`);
    expect(shown.json()).toMatchObject({ id, policy: STORED, policy_usage: { per_hour: { used: 1, remaining: 1 } } });
    expect([shown.body, (await call('GET', '')).body].join()).not.toContain(token);
  });

  test('creates a key with full rights by default, and understands the fields of the resend client', async () => {
    const shown = async (more: object) => {
      const { scopes, domains, policy, policy_usage: usage } = await make(more);
      return { scopes, domains: domains?.[0].id ?? null, policy, usage };
    };
    const none = { domains: null, policy: null, usage: null };
    expect(await shown({})).toEqual({ ...none, scopes: null });
    expect(await shown({ policy: null })).toEqual({ ...none, scopes: null });
    expect(await shown({ permission: 'full_access' })).toEqual({ ...none, scopes: null });
    expect(await shown({ permission: 'sending_access', domain_id: box.domainId })).toEqual({
      ...none,
      scopes: ['send'],
      domains: box.domainId,
    });
    expect(await shown({ policy: { attachments: false } })).toEqual({
      ...none,
      scopes: ['read', 'send'],
      policy: { attachments: false },
    });
  });

  test.for<[object, string]>([
    [{ name: '' }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ policy: {} }, 'policy'],
    [{ domains: [] }, 'domains'],
    [{ domain_id: '' }, 'domains'],
    [{ permission: 'sending_access', scopes: ['read'] }, 'permission'],
    [{ domain_id: 'a.test', domains: ['b.test'] }, 'domain_id'],
    [{ scopes: ['write'] }, 'scopes.0'],
    [{ domains: ['unknown.test'] }, 'domains'],
    [{ domains: ['a.test', 'b.test'] }, 'domains'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ policy: { per_hours: 1 } }, 'policy.per_hours'],
    [{ policies: { per_hour: 1 } }, 'policies'],
    [{ scope: ['read'] }, 'scope'],
    [{ policy: { per_hour: 0 } }, 'policy.per_hour'],
    [{ policy: { recipients: 'list', allow: ['nobody'] } }, 'policy.allow.0'],
    [{ policy: { links: false }, scopes: ['read', 'manage'] }, 'scopes'],
    [{ policy: { links: false }, scopes: ['approve'] }, 'scopes'],
  ])('%j is 400 and names %s', async ([body, field]) => {
    const response = await call('POST', '', { name: 'agent', ...body });
    expect([response.statusCode, readFields(response)]).toEqual([400, [field]]);
    expect((await call('GET', '')).json().pagination.total).toBe(1);
  });

  test('refuses a key with more rights than the creating key', async () => {
    const manager = await createKey('send', 'manage');
    expect((await call('POST', '', { name: 'x' }, manager)).statusCode).toBe(403);
    expect((await call('POST', '', { name: 'x', scopes: ['read'] }, manager)).statusCode).toBe(403);
    expect((await call('POST', '', { name: 'x', scopes: ['send'], policy: POLICY }, manager)).statusCode).toBe(201);
  });

  test('a key with a policy cannot manage keys, policies, addresses or approvals', async () => {
    const { token, id } = await make({ policy: POLICY });
    for (const [method, path, body] of [
      ['POST', '/api-keys', { name: 'x' }],
      ['PATCH', `/api-keys/${id}`, { policy: null }],
      ['PATCH', `/email-addresses/${box.addressId}`, { policy: null }],
    ] as const) {
      const response = await gateway.call(token, method, path, body);
      expect([response.statusCode, response.json().requiredScope]).toEqual([403, 'manage']);
    }
  });
});

describe('GET', () => {
  test('lists the newest first, and revoked ones only on request', async () => {
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) ids.push((await make({ name })).id);
    await call('DELETE', `/${ids[1]}`);
    const list = (await call('GET', '?limit=2')).json();
    expect(list).toMatchObject({
      object: 'list',
      has_more: true,
      pagination: { limit: 2, offset: 0, total: 3, hasMore: true },
    });
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[0]]);
    const rest = (await call('GET', '?limit=2&offset=2')).json();
    expect(rest.data).toMatchObject([{ is_current: true, scopes: null }]);
    const revoked = (await call('GET', '?is_revoked=true')).json();
    expect(revoked.data).toMatchObject([{ id: ids[1], status: 'revoked', revoked_at: expect.any(String) }]);
  });

  test('shows the rest of each budget, and when there is room again', async () => {
    const { token, id } = await make({ policy: { per_hour: 2, per_day: 5 } });
    await gateway.call(box.apiKey, 'PATCH', `/email-addresses/${box.addressId}`, { policy: { per_day: 2 } });
    expect((await send(token)).statusCode).toBe(200);
    await moveClock(gateway.owner, 600);
    expect((await send(token)).statusCode).toBe(200);
    const { per_hour: hour, per_day: day } = (await call('GET', `/${id}`)).json().policy_usage;
    expect([hour, day]).toMatchObject([
      { limit: 2, used: 2, remaining: 0 },
      { limit: 5, used: 2, remaining: 3, next_at: null },
    ]);
    const refused = await send(token);
    expect(refused.json()).toMatchObject({ name: 'policy_violation', rule: 'per_hour' });
    expect(refused.json().message).toContain(hour.next_at);
    const address = (await gateway.call(box.apiKey, 'GET', `/email-addresses/${box.addressId}`)).json();
    expect(address).toMatchObject({ policy: { per_day: 2 }, policyUsage: { per_day: { used: 2, remaining: 0 } } });
    await moveClock(gateway.owner, 3_600);
    expect((await call('GET', '')).json().data[0].policy_usage).toMatchObject({
      per_hour: { used: 0, remaining: 2, next_at: null },
      per_day: { used: 2 },
    });
  });
});

describe('PATCH', () => {
  test('changes name, expiry and policy, each alone, at once', async () => {
    const { token, id } = await make({ scopes: ['read', 'send'] });
    const change = async (body: object) => (await call('PATCH', `/${id}`, body)).json();
    expect(await change({ name: 'other' })).toMatchObject({ name: 'other', scopes: ['read', 'send'], policy: null });
    expect(await change({ policy: { recipients: 'list', allow: ['away.test'] } })).toMatchObject({ name: 'other' });
    expect((await send(token)).json()).toMatchObject({ rule: 'recipients' });
    expect(await change({ policy: { per_hour: 1 } })).toMatchObject({ policy: { per_hour: 1 } });
    expect((await send(token)).statusCode).toBe(200);
    expect((await send(token)).json()).toMatchObject({ rule: 'per_hour' });
    expect(await change({ policy: null })).toMatchObject({ policy: null, policy_usage: null });
    expect((await send(token)).statusCode).toBe(200);
    expect(await change({ expires_at: '2099-01-01T00:00:00Z' })).toMatchObject({
      expires_at: '2099-01-01T00:00:00.000Z',
    });
    expect(await change({ expires_at: null })).toMatchObject({ expires_at: null, name: 'other' });
  });

  test('removes scopes, and adds none', async () => {
    const { token, id } = await make();
    const scopes = async (given: unknown) => {
      const response = await call('PATCH', `/${id}`, { scopes: given });
      return response.statusCode === 200 ? response.json().scopes : readFields(response);
    };
    expect(await scopes(null)).toBe(null);
    expect(await scopes(['manage', 'read', 'send'])).toEqual(['read', 'send', 'manage']);
    expect(await scopes(null)).toEqual(['scopes']);
    expect(await scopes(['send'])).toEqual(['send']);
    expect(await scopes(['read', 'send'])).toEqual(['scopes']);
    expect((await gateway.call(token, 'GET', '/emails')).statusCode).toBe(403);
  });

  test('requires a key that only reads and sends for a policy', async () => {
    const { id } = await make();
    const response = await call('PATCH', `/${id}`, { policy: { links: false } });
    expect([response.statusCode, readFields(response)]).toEqual([400, ['scopes']]);
    expect((await call('PATCH', `/${id}`, { policy: { links: false }, scopes: ['send', 'manage'] })).statusCode).toBe(
      400,
    );
    const changed = await call('PATCH', `/${id}`, { policy: { links: false }, scopes: ['send'] });
    expect(changed.json()).toMatchObject({ scopes: ['send'], policy: { links: false } });
  });

  test('refuses to change a key with more rights', async () => {
    const { id } = await make({ scopes: ['read', 'send'] });
    const manager = await createKey('send', 'manage');
    const response = await call('PATCH', `/${id}`, { name: 'mine' }, manager);
    expect([response.statusCode, response.json().code]).toEqual([403, 'insufficient_scope']);
    const other = await make({ scopes: ['send'] });
    expect((await call('PATCH', `/${other.id}`, { name: 'mine' }, manager)).statusCode).toBe(200);
  });

  test.for([
    {},
    { name: 'x', scope: ['read'] },
    { name: '  ' },
    { expires_at: '2020-01-01T00:00:00Z' },
    { policy: { undo_seconds: 100_000 } },
  ])('%j is 400', async (body) => {
    const { id } = await make();
    expect((await call('PATCH', `/${id}`, body)).statusCode).toBe(400);
  });
});

test('DELETE revokes a key, which is not found by later requests', async () => {
  const { token, id } = await make();
  const response = await call('DELETE', `/${id}`);
  expect([response.statusCode, response.json()]).toEqual([200, { object: 'api_key', id, deleted: true }]);
  expect((await send(token)).statusCode).toBe(401);
  for (const [method, body] of [
    ['DELETE', undefined],
    ['PATCH', { name: 'x' }],
  ] as const)
    expect((await call(method, `/${id}`, body)).json()).toMatchObject({
      statusCode: 404,
      message: 'API key not found',
    });
});

describe('GraphQL', () => {
  const POLICY_FIELDS = 'recipients allow perHour links undoSeconds autoRepliesPerThreadPerHour approval';
  const ask = async (query: string, variables: Record<string, unknown>) => {
    const response = (await gateway.graphql(box.apiKey, query, variables)).json();
    expect(response.errors).toBe(undefined);
    return response.data;
  };

  test('creates, shows and updates the policy of a key', async () => {
    const input = { recipients: 'LIST', allow: ['Elsewhere.test'], perHour: 2, approval: 'NEVER' };
    const { createApiKey: made } = await ask(
      `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { ... on CreateApiKeyPayload {
        secret apiKey { id scopes policy { ${POLICY_FIELDS} } policyUsage { budget limit used remaining nextAt } } } } }`,
      { input: { name: 'agent', policy: input } },
    );
    expect(made.apiKey).toMatchObject({
      scopes: ['READ', 'SEND'],
      policy: { ...input, allow: ['elsewhere.test'], links: null, undoSeconds: null },
      policyUsage: [{ budget: 'PER_HOUR', limit: 2, used: 0, remaining: 2, nextAt: null }],
    });
    const update = `mutation ($input: UpdateApiKeyInput!) { updateApiKey(input: $input) { __typename
      ... on UpdateApiKeyPayload { apiKey { name policy { ${POLICY_FIELDS} } policyUsage { used } } }
      ... on ValidationError { fields { path message } } } }`;
    const { id } = made.apiKey;
    const changed = await ask(update, { input: { id, policy: { undoSeconds: 5, autoRepliesPerThreadPerHour: 0 } } });
    expect(changed.updateApiKey.apiKey).toMatchObject({
      name: 'agent',
      policy: { recipients: null, perHour: null, undoSeconds: 5, autoRepliesPerThreadPerHour: 0 },
      policyUsage: [],
    });
    const refused = await ask(update, { input: { id, policy: { perHour: 0 } } });
    expect(refused.updateApiKey.fields).toMatchObject([{ path: ['policy', 'perHour'] }]);
    expect((await ask(update, { input: { id, policy: null } })).updateApiKey.apiKey.policy).toBe(null);
  });

  test('creates, shows and updates the policy of an address, as REST does', async () => {
    const fields = `emailAddress { id policy { ${POLICY_FIELDS} } policyUsage { budget remaining } }`;
    const { updateEmailAddress: set } = await ask(
      `mutation ($input: UpdateEmailAddressInput!) { updateEmailAddress(input: $input) {
        ... on UpdateEmailAddressPayload { ${fields} } } }`,
      { input: { id: box.addressId, policy: { perHour: 3, links: false } } },
    );
    expect(set.emailAddress).toMatchObject({
      policy: { perHour: 3, links: false },
      policyUsage: [{ budget: 'PER_HOUR', remaining: 3 }],
    });
    const path = `/email-addresses/${box.addressId}`;
    const patched = await gateway.call(box.apiKey, 'PATCH', path, { isActive: false });
    expect(patched.json()).toMatchObject({ isActive: false, policy: { per_hour: 3, links: false } });
    const removed = await gateway.call(box.apiKey, 'PATCH', path, { policy: null });
    expect(removed.json()).toMatchObject({ policy: null, policyUsage: null });
    const { rows } = await gateway.owner.pool.query(
      'select send_policy is null as is_null from email_address where id = $1',
      [box.addressId],
    );
    expect(rows).toEqual([{ is_null: true }]);
    const name = `second@${box.address.split('@')[1]}`;
    const { createEmailAddress: made } = await ask(
      `mutation ($input: CreateEmailAddressInput!) { createEmailAddress(input: $input) {
        ... on CreateEmailAddressPayload { ${fields} } } }`,
      { input: { address: name, domainId: box.domainId, policy: { approval: 'ALWAYS' } } },
    );
    expect(made.emailAddress.policy.approval).toBe('ALWAYS');
    const bad = await gateway.call(box.apiKey, 'PATCH', path, { policy: { approval: 'sometimes' } });
    expect([bad.statusCode, readFields(bad)]).toEqual([400, ['policy.approval']]);
  });
});
