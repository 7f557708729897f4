import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../core/shared/durations.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

/* Keys that create keys: none of them gets, or keeps, more than the key that created it, and all of them are one approver. */

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  box = await gateway.mailbox();
});

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

interface Made {
  id: string;
  token: string;
  expires_at: string | null;
}
const tryMake = (as: string, input: object) => gateway.call(as, 'POST', '/api-keys', { name: 'x', ...input });
async function make(as: string, input: object): Promise<Made> {
  const response = await tryMake(as, input);
  expect(response.statusCode, response.body).toBe(201);
  return response.json();
}
const change = (as: string, id: string, input: object) => gateway.call(as, 'PATCH', `/api-keys/${id}`, input);
const revoke = (as: string, id: string, query = '') => gateway.call(as, 'DELETE', `/api-keys/${id}${query}`);
const works = async (token: string) => (await gateway.call(token, 'GET', '/emails')).statusCode === 200;
const email = (more: object = {}) => ({ from: box.address, to: 'a@x.test', subject: 'Hi', text: 'Hello', ...more });
const send = async (as: string): Promise<string> => (await gateway.call(as, 'POST', '/emails', email())).json().id;
const approve = async (as: string, id: string) => (await gateway.call(as, 'POST', `/emails/${id}/approve`)).json();

describe('an empty policy, list of scopes, or list of domains', () => {
  test('creates no key over GraphQL', async () => {
    const { rows: before } = await gateway.owner.pool.query('select id from api_key where workspace_id = $1', [
      box.workspaceId,
    ]);
    for (const input of ['policy: {}', 'policy: { perHour: null }', 'scopes: []', 'domains: []']) {
      const response = await gateway.graphql(
        box.apiKey,
        `mutation { createApiKey(input: { name: "x", ${input} }) { __typename ... on Error { message } } }`,
      );
      expect([input, response.json().data.createApiKey.__typename]).toEqual([input, 'ValidationError']);
    }
    const { rows } = await gateway.owner.pool.query('select id from api_key where workspace_id = $1', [
      box.workspaceId,
    ]);
    expect(rows).toEqual(before);
  });

  test('removes no policy, of a key or of an address', async () => {
    const { id } = await make(box.apiKey, { policy: { per_hour: 1 } });
    const refused = await change(box.apiKey, id, { policy: {} });
    expect([refused.statusCode, refused.json().details?.[0]?.field]).toEqual([400, 'policy']);
    const ofAddress = await gateway.call(box.apiKey, 'PATCH', `/email-addresses/${box.addressId}`, { policy: {} });
    expect(ofAddress.statusCode).toBe(400);
    const { rows } = await gateway.owner.pool.query('select send_policy from api_key where id = $1', [id]);
    expect(rows).toEqual([{ send_policy: { per_hour: 1 } }]);
  });
});

describe('the keys that a key creates', () => {
  test('approve no mail of each other, also after the key that created them is revoked', async () => {
    const writer = await make(box.apiKey, { policy: { approval: 'always' } });
    const maker = await make(box.apiKey, { scopes: ['read', 'manage', 'approve'] });
    const sibling = await make(box.apiKey, { scopes: ['approve'] });
    const niece = await make(maker.token, { scopes: ['approve'] });
    const id = await send(writer.token);
    for (const { token } of [{ token: box.apiKey }, maker, sibling, niece])
      expect(await approve(token, id)).toMatchObject({ code: 'OWN_EMAIL' });
    const other = await insertKey(gateway.owner, box, { scopes: ['manage', 'send', 'read', 'approve'] });
    const { rows } = await gateway.owner.pool.query(
      'select id from api_key where workspace_id = $1 and parent_id is null and id <> $2',
      [box.workspaceId, other.id],
    );
    const full = await insertKey(gateway.owner, box, { scopes: null });
    expect((await revoke(full.secret, rows[0].id, '?keep_configuration=true')).statusCode).toBe(200);
    for (const { token } of [maker, sibling, niece])
      expect(await approve(token, id)).toMatchObject({ code: 'OWN_EMAIL' });
    await gateway.owner.pool.query('delete from api_key where id = $1', [rows[0].id]);
    for (const { token } of [maker, sibling, niece])
      expect(await approve(token, id)).toMatchObject({ code: 'OWN_EMAIL' });
    expect(await approve(other.secret, id)).toMatchObject({ approval: 'approved' });
  });

  test('expire with it at the latest, and do not extend it or themselves', async () => {
    const end = inDays(2);
    const parent = await make(box.apiKey, { scopes: ['read', 'manage'], expires_at: end });
    expect((await make(parent.token, { scopes: ['read'] })).expires_at).toBe(new Date(end).toISOString());
    const child = await make(parent.token, { scopes: ['read'], expires_at: inDays(1) });
    for (const expiry of [null, inDays(3)]) {
      if (expiry !== null)
        expect((await tryMake(parent.token, { scopes: ['read'], expires_at: expiry })).statusCode).toBe(403);
      for (const id of [parent.id, child.id])
        expect((await change(parent.token, id, { expires_at: expiry })).statusCode, `${expiry}`).toBe(403);
      expect((await change(box.apiKey, child.id, { expires_at: expiry })).statusCode).toBe(403);
    }
    const sooner = inDays(0.5);
    expect((await change(box.apiKey, parent.id, { expires_at: sooner })).statusCode).toBe(200);
    const { expires_at: shown } = (await gateway.call(box.apiKey, 'GET', `/api-keys/${child.id}`)).json();
    expect(shown).toBe(new Date(sooner).toISOString());
  });

  test('lose the scopes that it loses, and its policy is theirs', async () => {
    const parent = await make(box.apiKey, { scopes: ['read', 'send', 'manage'] });
    const child = await make(parent.token, { scopes: ['read', 'send', 'manage'] });
    const grandchild = await make(child.token, { scopes: ['manage'] });
    const changed = await change(box.apiKey, parent.id, { scopes: ['read', 'send'], policy: { links: false } });
    expect(changed.statusCode, changed.body).toBe(200);
    const { rows } = await gateway.owner.pool.query(
      'select id, scopes, send_policy, revoked_at is null as "isActive" from api_key where id = any ($1) order by created_at, id',
      [[child.id, grandchild.id]],
    );
    expect(rows).toEqual([
      { id: child.id, scopes: ['read', 'send'], send_policy: { links: false }, isActive: true },
      { id: grandchild.id, scopes: ['manage'], send_policy: null, isActive: false },
    ]);
  });

  test('are revoked with it, except the one that revokes it, or when they are kept', async () => {
    const parent = await make(box.apiKey, { scopes: ['read', 'send', 'manage'] });
    const child = await make(parent.token, { scopes: ['read', 'manage'] });
    const other = await make(parent.token, { scopes: ['read'] });
    const grandchild = await make(child.token, { scopes: ['read'] });
    expect((await revoke(child.token, parent.id)).statusCode).toBe(200);
    expect(await Promise.all([parent, child, other, grandchild].map(({ token }) => works(token)))).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect((await revoke(box.apiKey, child.id, '?keep_configuration=true')).statusCode).toBe(200);
    expect([await works(child.token), await works(grandchild.token)]).toEqual([false, true]);
  });

  test('are not kept by a key with fewer rights', async () => {
    const parent = await make(box.apiKey, { scopes: ['read', 'send', 'manage'] });
    const weak = await insertKey(gateway.owner, box, { scopes: ['manage'] });
    expect((await revoke(weak.secret, parent.id, '?keep_configuration=true')).statusCode).toBe(403);
    expect((await revoke(weak.secret, parent.id)).statusCode).toBe(200);
  });
});

describe('an idempotency key', () => {
  const request = (as: string, key: string, text: string) =>
    gateway.app.inject({
      method: 'POST',
      url: '/api/e2/emails',
      headers: { authorization: `Bearer ${as}`, 'idempotency-key': key },
      payload: email({ text }),
    });

  test('belongs to the API key: another one neither gets its response nor is refused', async () => {
    const [one, other] = [await make(box.apiKey, { scopes: ['send'] }), await make(box.apiKey, { scopes: ['send'] })];
    const first = await request(one.token, 'k', 'Hello');
    const same = await request(other.token, 'k', 'Hello');
    const different = await request(box.apiKey, 'k', 'Another');
    expect([first, same, different].map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect(new Set([first, same, different].map((response) => response.json().id)).size).toBe(3);
    expect((await request(one.token, 'k', 'Hello')).body).toBe(first.body);
    expect((await request(one.token, 'k', 'Another')).statusCode).toBe(409);
  });

  test('used at the same time by two API keys sends two emails', async () => {
    const keys = [await make(box.apiKey, { scopes: ['send'] }), await make(box.apiKey, { scopes: ['send'] })];
    const responses = await Promise.all(
      keys.flatMap(({ token }) => Array.from({ length: 5 }, () => request(token, 'k', 'x'))),
    );
    expect(responses.map(({ statusCode }) => statusCode)).toEqual(Array(10).fill(200));
    expect(new Set(responses.map((response) => response.json().id)).size).toBe(2);
  });
});
