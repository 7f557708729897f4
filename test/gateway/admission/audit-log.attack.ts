import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import {
  auditedRequests,
  changingRequests,
  makeAudited,
  unauditedRequests,
} from '../../support/stages/audited-requests.ts';
import { makeStoringWorld, type StoringWorld } from '../../support/stages/storing-world.ts';

let gateway: TestGateway;
let world: StoringWorld;

beforeAll(async () => {
  gateway = await openTestGateway();
  world = await makeStoringWorld(gateway);
  await gateway.owner.pool.query(`
    create table kill_switch (is_on boolean not null);
    insert into kill_switch values (false);
    create function end_at_commit() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
      begin
        if (select is_on from kill_switch) then raise exception 'the process ends here'; end if;
        return null;
      end $$;
    create constraint trigger audit_entry_kill after insert on audit_entry deferrable initially deferred
      for each row execute function end_at_commit();`);
});
afterAll(() => gateway.close());

interface Entry {
  id: string;
  actor_kind: string;
  actor_id: string | null;
  actor_name: string | null;
  client_address: string | null;
  user_agent: string | null;
  request_id: string | null;
  action: string;
  object_kind: string;
  object_id: string;
  object_name: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  is_denied: boolean;
  reason: string | null;
  times: number;
}

async function readEntries(workspaceId = world.box.workspaceId): Promise<Entry[]> {
  const { rows } = await gateway.owner.pool.query<Entry>(
    'select * from audit_entry where workspace_id = $1 order by created_at, id',
    [workspaceId],
  );
  return rows;
}

/** Returns the entries that the work leaves. */
async function listEntries(work: () => Promise<unknown>, workspaceId = world.box.workspaceId): Promise<Entry[]> {
  const known = new Set((await readEntries(workspaceId)).map(({ id }) => id));
  await work();
  return (await readEntries(workspaceId)).filter(({ id }) => !known.has(id));
}

const ask = (key: string, name: string, { id, body }: { id?: string; body?: object }) => {
  const [method = '', path = ''] = name.split(' ');
  return gateway.call(key, method, path.replace(/:\w+/, id ?? ''), body, { 'user-agent': 'audit-test/1' });
};

/** Sets whether transactions with an entry fail as they commit. */
const killCommits = (isOn: boolean) => gateway.owner.pool.query('update kill_switch set is_on = $1', [isOn]);

describe('every changing request of REST', () => {
  test('has an entry in the audit log, or a reason why it has none', () => {
    expect([...Object.keys(auditedRequests), ...Object.keys(unauditedRequests)].toSorted()).toEqual(
      changingRequests.toSorted(),
    );
  });

  test.each(Object.entries(auditedRequests))('%s leaves one entry of its object', async (name, { action, isOther }) => {
    const key = await insertKey(gateway.owner, world.box, { scopes: null });
    const given = await makeAudited(name, world);
    let requestId: unknown;
    const entries = await listEntries(async () => {
      const response = await ask(key.secret, name, given);
      expect(response.statusCode, response.body).toBeLessThan(300);
      requestId = response.headers['x-request-id'];
    });
    const own = entries.filter((entry) => entry.action === action);
    expect(entries.map((entry) => entry.action)).toContain(action);
    expect(own).toHaveLength(1);
    expect(own[0]).toMatchObject({
      actor_kind: 'key',
      actor_id: key.id,
      client_address: '127.0.0.1',
      user_agent: 'audit-test/1',
      request_id: requestId,
      is_denied: false,
      times: 1,
    });
    if (given.id !== undefined && isOther !== true && !given.id.includes('@')) expect(own[0]?.object_id).toBe(given.id);
  });

  test.each(Object.keys(auditedRequests))('%s leaves no entry when its transaction fails', async (name) => {
    const key = await insertKey(gateway.owner, world.box, { scopes: null });
    const given = await makeAudited(name, world);
    await killCommits(true);
    try {
      const entries = await listEntries(async () => {
        const response = await ask(key.secret, name, given);
        expect(response.statusCode, response.body).toBe(500);
      });
      expect(entries).toEqual([]);
    } finally {
      await killCommits(false);
    }
    // Nothing of the change is left: it can be made now.
    const response = await ask(key.secret, name, given);
    expect(response.statusCode, response.body).toBeLessThan(300);
  });
});

describe('the audit log', () => {
  test('has no secrets of an endpoint, a key or a DKIM key', async () => {
    const secrets = ['zq7header', 'zq7path', 'zq7user'];
    const entries = await listEntries(async () => {
      const key = world.box.apiKey;
      const made = await ask(key, 'POST /endpoints', {
        body: {
          name: 'hook',
          type: 'webhook',
          config: { url: 'https://hooks.example.com/zq7path?x=zq7path', headers: { 'X-Shop': 'zq7header' } },
        },
      });
      const { id, config } = made.json();
      secrets.push(config.verificationToken);
      const changed = await ask(key, 'PATCH /endpoints/:id', {
        id,
        body: { config: { url: 'https://other.example.com/zq7path', headers: { 'X-Shop': 'zq7header' } } },
      });
      secrets.push(changed.json().config.verificationToken);
      secrets.push((await ask(key, 'POST /endpoints/:id/rotate-secret', { id, body: {} })).json().signingSecret ?? id);
      secrets.push((await ask(key, 'POST /api-keys', { body: { name: 'x' } })).json().token);
      await ask(key, 'POST /domains/:id/dkim', { id: await world.domain() });
    });
    const { rows } = await gateway.owner.pool.query(
      'select private_key_ciphertext as secret from dkim_key where workspace_id = $1',
      [world.box.workspaceId],
    );
    secrets.push(...rows.map(({ secret }) => secret));
    const text = JSON.stringify(entries.map(({ object_id: _id, ...entry }) => entry));
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    const [created, updated, rotated] = entries.filter(({ object_kind }) => object_kind === 'endpoint');
    expect(created?.after).toMatchObject({
      name: 'hook',
      config: {
        url: 'https://hooks.example.com/[redacted]',
        headers: { 'X-Shop': '[redacted]' },
        verificationToken: '[redacted]',
      },
      secret: '[redacted]',
    });
    expect(Object.keys(updated?.after ?? {})).toEqual(['config']);
    expect(updated?.before).toMatchObject({ config: { url: 'https://hooks.example.com/[redacted]' } });
    expect(rotated?.after).toEqual({ secret: '[redacted]' });
  });

  test('shortens fields of more than 8 KB', async () => {
    const values = Array.from({ length: 100 }, (_, n) => `${n}`.padStart(100, 'x'));
    const config = { subject: { operator: 'OR', values } };
    const [entry] = await listEntries(() =>
      ask(world.box.apiKey, 'POST /guard', {
        body: { name: 'long', type: 'explicit', config, action: { action: 'block' } },
      }),
    );
    expect(entry?.after).toMatchObject({ name: 'long', config: expect.stringMatching(/^\[1\d,\d{3} bytes\]$/) });
  });

  test('cannot be written, changed or emptied by any role of the service', async () => {
    await world.endpoint('webhook');
    const { workspaceId } = world.box;
    const as = (role: string, statement: string) =>
      gateway.owner.pool.query(
        `begin; set local role ${role}; select set_config('postroom.workspace_id', '${workspaceId}', true); ${statement}; rollback`,
      );
    const insert = `insert into audit_entry (workspace_id, id, created_at, actor_kind, action, object_kind) values ('${workspaceId}', 'x', now(), 'system', 'a', 'b')`;
    const statements = [
      insert,
      `update audit_entry set action = 'x'`,
      'delete from audit_entry',
      'truncate audit_entry',
    ];
    const allowed: string[] = [];
    for (const role of ['postroom_gateway', 'postroom_actor', 'postroom_auth', 'postroom_domain'])
      for (const statement of statements)
        await as(role, statement).then(
          () => allowed.push(`${role}: ${statement.slice(0, 6)}`),
          () => gateway.owner.pool.query('rollback'),
        );
    expect(allowed).toEqual([]);
  });

  test('counts requests that are refused again and again in one entry', async () => {
    const key = await insertKey(gateway.owner, world.box, { scopes: ['read'] });
    const entries = await listEntries(async () => {
      for (let n = 0; n < 50; n++) await ask(key.secret, 'POST /endpoints', { body: {} });
      await gateway.graphql(key.secret, 'mutation Drop { deleteEndpoint(input: { id: "x" }) { __typename } }');
      await gateway.call(world.box.apiKey, 'GET', '/audit');
    });
    const denied = entries.filter(({ actor_id }) => actor_id === key.id);
    expect(denied.map(({ object_name, is_denied }) => [object_name, is_denied])).toEqual(
      expect.arrayContaining([
        ['POST /api/e2/endpoints', true],
        ['mutation Drop', true],
      ]),
    );
    const times = denied.filter((entry) => entry.object_name?.startsWith('POST')).map((entry) => entry.times);
    expect(times.reduce((sum, each) => sum + each, 0)).toBe(50);
    // The first of them may be stored before the others.
    expect(times.length).toBeLessThanOrEqual(2);
  });

  test('names the other requests of a key that is refused in more than 100 ways', async () => {
    const key = await insertKey(gateway.owner, world.box, { scopes: ['read'] });
    const entries = await listEntries(async () => {
      for (let n = 0; n < 120; n++)
        await gateway.graphql(key.secret, `mutation M${n} { deleteEndpoint(input: { id: "x" }) { __typename } }`);
      await gateway.call(world.box.apiKey, 'GET', '/audit');
    });
    const denied = entries.filter(({ actor_id }) => actor_id === key.id);
    expect(denied.length).toBeLessThanOrEqual(102);
    expect(denied.map(({ object_name }) => object_name)).toContain('(other requests)');
    expect(denied.reduce((sum, { times }) => sum + times, 0)).toBe(120);
  });

  test('is not shown to keys without manage, keys of a domain and other accounts', async () => {
    const { box } = world;
    const domain = { id: box.domainId, name: box.address.split('@')[1] ?? '' };
    const sender = await insertKey(gateway.owner, box, { scopes: ['read', 'send', 'approve'] });
    const ofDomain = await insertKey(gateway.owner, box, { scopes: ['read', 'send'], domain });
    const [{ id } = { id: '' }] = await readEntries();
    for (const { secret } of [sender, ofDomain])
      for (const path of ['/audit', `/audit/${id}`])
        expect((await gateway.call(secret, 'GET', path)).statusCode).toBe(403);
    const other = await gateway.mailbox();
    expect((await gateway.call(other.apiKey, 'GET', `/audit/${id}`)).statusCode).toBe(404);
    const foreign = (await gateway.call(other.apiKey, 'GET', '/audit?limit=100')).json();
    expect(foreign.data.map((entry: { id: string }) => entry.id)).not.toContain(id);
    expect((await gateway.call(box.apiKey, 'GET', `/audit/${id}`)).json()).toMatchObject({ id, object: 'audit_entry' });
  });

  test('filters by actor, action, object, time and whether it was denied', async () => {
    const { apiKey } = world.box;
    const key = await insertKey(gateway.owner, world.box, { scopes: null });
    const [made] = await listEntries(async () =>
      ask(key.secret, 'POST /guard', await makeAudited('POST /guard', world)),
    );
    const id = made?.object_id ?? '';
    await ask(key.secret, 'DELETE /guard/:id', { id });
    const read = async (query: string) =>
      (await gateway.call(apiKey, 'GET', `/audit?limit=100&${query}`))
        .json()
        .data.map((entry: { action: string }) => entry.action);
    const both = ['guard_rule.deleted', 'guard_rule.created'];
    expect(await read(`actor=${key.id}`)).toEqual(both);
    expect(await read(`object_id=${id}`)).toEqual(both);
    expect(await read(`object_id=${id}&action=guard_rule`)).toEqual(both);
    expect(await read(`object_id=${id}&action=guard_rule.created`)).toEqual(['guard_rule.created']);
    expect(await read(`object_id=${id}&action=guard`)).toEqual([]);
    expect(await read(`object_id=${id}&object_kind=guard_rule&actor_kind=key&is_denied=false`)).toEqual(both);
    expect(await read(`object_id=${id}&is_denied=true`)).toEqual([]);
    expect(await read(`object_id=${id}&until=2026-01-01T00:00:00Z`)).toEqual([]);
    const query = `{ auditEntries(filter: { objectId: "${id}" }, first: 1) {
      totalCount pageInfo { hasNextPage } nodes { action actorKind actorName objectName isDenied before after } } }`;
    expect((await gateway.graphql(apiKey, query)).json().data.auditEntries).toMatchObject({
      totalCount: 2,
      pageInfo: { hasNextPage: true },
      nodes: [{ action: 'guard_rule.deleted', actorKind: 'KEY', actorName: 'test', isDenied: false, after: null }],
    });
  });

  test('says that the system made a change of a program', async () => {
    const { workspaceId, endpointId } = world.box;
    const entries = await listEntries(() =>
      gateway.actor.pool.query(`update endpoint set is_active = false where workspace_id = $1 and id = $2`, [
        workspaceId,
        endpointId,
      ]),
    );
    expect(entries).toMatchObject([
      { actor_kind: 'system', actor_id: null, action: 'endpoint.updated', after: { is_active: false } },
    ]);
    await gateway.actor.pool.query(`update endpoint set is_active = true where workspace_id = $1`, [workspaceId]);
  });

  test('has no entry for a change that changes nothing', async () => {
    const id = await world.endpoint('webhook', { name: 'same' });
    expect(
      await listEntries(() => ask(world.box.apiKey, 'PATCH /endpoints/:id', { id, body: { name: 'same' } })),
    ).toEqual([]);
  });
});
