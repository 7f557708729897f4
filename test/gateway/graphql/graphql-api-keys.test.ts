import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asWorkspace } from '../../../db/connection/transaction.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { PAGE, walk } from '../../support/stages/graph-pages.ts';
import { mutate } from '../../support/stages/graph-results.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let box: TestMailbox;
let now = () => new Date();

beforeAll(async () => {
  gateway = await openTestGateway({ now: () => now(), config: { rateLimitPerSecond: 1_000, sendLimitPerHour: 5 } });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  now = () => new Date();
  box = await gateway.mailbox();
});

const ask = async (query: string, variables?: Record<string, unknown>, key = box.apiKey) => {
  const response = (await gateway.graphql(key, query, variables)).json();
  expect(response.errors).toBeUndefined();
  return response.data;
};
const change = (name: string, input: Record<string, unknown>, payload = '__typename', key = box.apiKey) =>
  mutate(gateway, key, name, input, payload);
const status = async (key: string) => (await gateway.call(key, 'GET', '/endpoints')).statusCode;
const make = async (name = 'new', more: object = {}, key = box.apiKey) => {
  const made = await change('createApiKey', { name, ...more }, 'secret apiKey { id }', key);
  return { id: made.apiKey.id as string, secret: made.secret as string };
};
const ownKeyId = async (as: TestMailbox) =>
  (await ask('{ apiKeys { edges { node { id } } } }', {}, as.apiKey)).apiKeys.edges.at(-1).node.id as string;

describe('createApiKey', () => {
  test('returns the secret once; it is valid for the account, and is shown nowhere else', async () => {
    const made = await change(
      'createApiKey',
      { name: '  deploy  ' },
      'secret apiKey { id name status createdAt expiresAt revokedAt lastUsedAt }',
    );
    expect(made).toMatchObject({
      __typename: 'CreateApiKeyPayload',
      secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      apiKey: { name: 'deploy', status: 'ACTIVE', expiresAt: null, revokedAt: null, lastUsedAt: null },
    });
    expect(await ask('{ viewer { id } }', {}, made.secret)).toEqual({ viewer: { id: box.workspaceId } });
    const { rows } = await gateway.owner.pool.query('select to_jsonb(k)::text as text from api_key k where id = $1', [
      made.apiKey.id,
    ]);
    expect(rows[0].text).not.toContain(made.secret);
    expect(JSON.stringify(gateway.logged)).not.toContain(made.secret);
    expect(JSON.stringify(await ask(`{ apiKey(id: "${made.apiKey.id}") { id name } }`))).not.toContain(made.secret);
  });

  test('creates a key that is rejected after its expiry', async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const { id, secret } = await make('short', { expiresAt });
    expect(await status(secret)).toBe(200);
    now = () => new Date(Date.now() + 61_000);
    expect(await status(secret)).toBe(401);
    expect((await ask(`{ apiKey(id: "${id}") { status expiresAt } }`)).apiKey).toEqual({
      status: 'EXPIRED',
      expiresAt,
    });
  });

  test.each([
    [{ name: '' }, 'name', 'An API key needs a name'],
    [{ name: '  ' }, 'name', 'An API key needs a name'],
    [{ name: 'x'.repeat(101) }, 'name', 'The name must not be longer than 100 characters'],
    [{ name: 'a\0' }, 'name', 'must not contain NUL'],
    [{ name: 'late', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt', 'The expiry must be in the future'],
  ])('refuses %o', async (input, field, message) => {
    expect(await change('createApiKey', input)).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: [field], message }],
    });
  });

  test('refuses more than 100 keys, and a revoked one makes room', async () => {
    await fill(98);
    const made = await change('createApiKey', { name: 'the last' }, 'apiKey { id }');
    expect(made.__typename).toBe('CreateApiKeyPayload');
    expect(await change('createApiKey', { name: 'too many' })).toMatchObject({
      __typename: 'Conflict',
      message: 'An account can have at most 100 keys. Revoke one that is no longer used.',
      code: 'TOO_MANY_API_KEYS',
      isRetryable: false,
    });
    await change('revokeApiKey', { id: made.apiKey.id });
    expect(await change('createApiKey', { name: 'room' })).toMatchObject({ __typename: 'CreateApiKeyPayload' });
  });

  test('creates one key when two requests create the hundredth at once', async () => {
    await fill(98);
    const first = await gateway.database.pool.connect();
    try {
      await first.query('begin');
      await first.query(`select set_config('postroom.workspace_id', $1, true)`, [box.workspaceId]);
      await first.query(`select create_api_key($1, 'key_first', 'first', sha256('first'), null, 100, null, null)`, [
        box.workspaceId,
      ]);
      const second = change('createApiKey', { name: 'second' });
      await Promise.race([second, aLockIsAwaited()]);
      await first.query('commit');
      expect(await second).toMatchObject({ __typename: 'Conflict' });
    } finally {
      first.release();
    }
  });
});

/** Gives the box so many keys more. */
async function fill(count: number): Promise<void> {
  await gateway.owner.pool.query(
    `insert into api_key (id, workspace_id, name, secret_sha256) select 'key_' || $1 || n, $1, 'k', sha256(convert_to($1 || n, 'UTF8'))
     from generate_series(1, $2::integer) n`,
    [box.workspaceId, count],
  );
}

/** Resolves when some statement waits for a row. */
async function aLockIsAwaited(): Promise<void> {
  const waiting = `select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await gateway.owner.pool.query(waiting)).rows[0].waiting).toBeGreaterThan(0);
}

describe('revokeApiKey', () => {
  test('ends a key at once, also on another gateway that had it cached', async () => {
    const other = await gateway.beside();
    try {
      const { id, secret } = await make();
      expect([await status(secret), (await other.call(secret, 'GET', '/endpoints')).statusCode]).toEqual([200, 200]);
      const revoked = await change('revokeApiKey', { id }, 'apiKey { id status revokedAt }');
      expect(revoked.apiKey).toEqual({ id, status: 'REVOKED', revokedAt: expect.any(String) });
      expect([await status(secret), (await other.call(secret, 'GET', '/endpoints')).statusCode]).toEqual([401, 401]);
      expect(await status(box.apiKey)).toBe(200);
    } finally {
      await other.app.close();
    }
  });

  test('ends a key at once even where the broadcast is lost', async () => {
    const { id, secret } = await make();
    expect(await status(secret)).toBe(200);
    const publish = gateway.bus.publish.bind(gateway.bus);
    gateway.bus.publish = () => undefined;
    try {
      await change('revokeApiKey', { id });
      expect(await status(secret)).toBe(401);
    } finally {
      gateway.bus.publish = publish;
    }
  });

  test('lets the last key revoke itself', async () => {
    const id = await ownKeyId(box);
    expect((await change('revokeApiKey', { id }, 'apiKey { status }')).apiKey).toEqual({ status: 'REVOKED' });
    expect(await status(box.apiKey)).toBe(401);
    expect((await gateway.graphql(box.apiKey, '{ viewer { id } }')).statusCode).toBe(401);
  });

  test('finds neither a key of another user, nor a revoked one, nor an unknown one', async () => {
    const other = await gateway.mailbox();
    const foreign = await ownKeyId(other);
    const { id: gone } = await make();
    await change('revokeApiKey', { id: gone });
    const responses = [];
    for (const id of [foreign, gone, 'key_00000000000000000000000000000000', "';", 'x\0'])
      responses.push(await change('revokeApiKey', { id }));
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(responses[0]).toMatchObject({ __typename: 'NotFound', message: 'API key not found' });
    expect(await status(other.apiKey)).toBe(200);
    expect(await ask(`{ apiKey(id: "${foreign}") { id } node(id: "${foreign}") { id } }`)).toEqual({
      apiKey: null,
      node: null,
    });
  });
});

test('the database returns keys only to the user of the transaction, whatever user the query names', async () => {
  const other = await gateway.mailbox();
  const named = `'${other.workspaceId}'`;
  const asBox = <T>(text: string) =>
    asWorkspace(
      gateway.database,
      box.workspaceId,
      async (transaction) => (await sql.raw<T>(text).execute(transaction)).rows,
    );
  const keyId = await ownKeyId(other);
  expect(await asBox(`select * from api_keys_of(${named})`)).toEqual([]);
  expect(await asBox(`select * from revoke_api_key(${named}, '${keyId}')`)).toEqual([]);
  expect(
    await asBox(`select create_api_key(${named}, 'key_mine', 'x', sha256('stolen'), null, 100, null, null) as done`),
  ).toEqual([{ done: null }]);
  expect((await gateway.database.pool.query(`select * from api_keys_of(${named})`)).rows).toEqual([]);
  await expect(gateway.database.pool.query('select from api_key')).rejects.toThrow(/permission denied/);
  expect(await status(other.apiKey)).toBe(200);
});

test('keys are listed newest first, page by page both ways, with their last use', async () => {
  const ids: string[] = [await ownKeyId(box)];
  for (let n = 0; n < 6; n++) ids.unshift((await make(`k${n}`)).id);
  await change('revokeApiKey', { id: ids[2] });
  const page = (more: string) => async (args: string) => (await ask(`{ apiKeys(${args}${more}) ${PAGE} }`)).apiKeys;
  expect(await walk(page(''), 3)).toEqual(ids);
  expect(await walk(page(', isRevoked: false'), 4)).toEqual(ids.filter((_, at) => at !== 2));
  expect(await walk(page(', isRevoked: true'), 4)).toEqual([ids[2]]);
  expect(await ask('{ apiKeys { totalCount } living: apiKeys(isRevoked: false) { totalCount } }')).toEqual({
    apiKeys: { totalCount: 7 },
    living: { totalCount: 6 },
  });
  const usedAt = new Date().toISOString();
  await gateway.actor.pool.query('select note_key_uses($1)', [JSON.stringify([{ id: ids[0], at: usedAt }])]);
  expect((await ask(`{ node(id: "${ids[0]}") { ... on ApiKey { lastUsedAt } } }`)).node.lastUsedAt).toBe(usedAt);
  const query = 'query($n: Int) { apiKeys(first: $n) { edges { node { name status lastUsedAt } } } }';
  const one = await countStatements(() => ask(query, { n: 1 }));
  const seven = await countStatements(() => ask(query, { n: 7 }));
  expect(seven.response.apiKeys.edges).toHaveLength(7);
  expect(seven.statements).toBe(one.statements);
});

describe('viewer', () => {
  test('returns the account, its limits and the settings of the service', async () => {
    await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId, type: 'sent' },
      { workspaceId: box.workspaceId, type: 'sent' },
      { workspaceId: box.workspaceId },
    ]);
    expect(
      await ask(`{ viewer { id email createdAt limits { requestsPerSecond sendsPerHour sendsLeft }
        service { publicUrl mailHostname trustedDomains hasGuardModel } } }`),
    ).toEqual({
      viewer: {
        id: box.workspaceId,
        email: `${box.workspaceId}@account.test`,
        createdAt: expect.any(String),
        limits: { requestsPerSecond: 1_000, sendsPerHour: 5, sendsLeft: 3 },
        service: {
          publicUrl: 'http://postroom.test/',
          mailHostname: 'mx.postroom.test',
          trustedDomains: ['inbox.test', 'second.test'],
          hasGuardModel: false,
        },
      },
    });
  });

  test("is the node of the user's own account only", async () => {
    const other = await gateway.mailbox();
    const { nodes } = await ask('query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }', {
      ids: [box.workspaceId, other.workspaceId, 'usr_none'],
    });
    expect(nodes).toEqual([{ __typename: 'Viewer', id: box.workspaceId }, null, null]);
  });
});
