import { expect, test } from 'vitest';
import { settleKeys } from '../../../actors/scheduling/settle-expired-keys.ts';
import { asWorkspace, inTransaction } from '../../../db/connection/transaction.ts';
import { closeAccount } from '../../../db/queries/accounts/erase-account.ts';
import { claimName } from '../../../db/queries/domains/domain-owner.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { openTeam } from '../../support/stages/team-stage.ts';

const ROUNDS = 50;

const gateway = openForFile(() => openTestGateway({ config: { rateLimitPerSecond: 0 } }));

/** What no request may come to. */
const isFault = ({ statusCode }: { statusCode: number }) => statusCode >= 500;

test('references to an endpoint are changed while it is deleted, without a deadlock', async () => {
  const faults = [];
  for (let round = 0; round < ROUNDS; round++) {
    const domain = `crosswise${round}.test`;
    const options = { domain, address: `a@${domain}`, endpointUrl: 'https://hooks.test/', isCatchAllEnabled: true };
    const box = await gateway.mailbox(options);
    const { endpointId, domainId } = box;
    const responses = await Promise.all([
      gateway.call(box.apiKey, 'PATCH', `/email-addresses/${box.addressId}`, { endpointId }),
      gateway.call(box.apiKey, 'DELETE', `/endpoints/${endpointId}`),
      gateway.call(box.apiKey, 'PATCH', `/domains/${domainId}`, {
        isCatchAllEnabled: true,
        catchAllEndpointId: endpointId,
      }),
      gateway.call(box.apiKey, 'POST', '/email-addresses', { address: `b@${domain}`, domainId, endpointId }),
      ...(round % 2 === 0 ? [gateway.call(box.apiKey, 'DELETE', `/domains/${domainId}`)] : []),
    ]);
    faults.push(...responses.filter(isFault).map(({ body }) => body));
  }
  expect(faults).toEqual([]);
});

test('a name is claimed while its domain is deleted, without a deadlock', async () => {
  const faults: unknown[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const domain = `claimed${round}.test`;
    const owner = await gateway.mailbox({ domain, address: `a@${domain}` });
    const claimant = await gateway.mailbox({ domain, address: `b@${domain}`, domainStatus: 'pending' });
    const claim = { name: domain, workspaceId: claimant.workspaceId, domainId: claimant.domainId };
    const [response] = await Promise.all([
      gateway.call(owner.apiKey, 'DELETE', `/domains/${owner.domainId}`),
      inTransaction(gateway.actor, (client) => claimName(client, claim, { afterDays: 7, reason: 'lost' })).catch(
        (error: unknown) => faults.push(error),
      ),
    ]);
    if (isFault(response)) faults.push(response.body);
  }
  expect(faults).toEqual([]);
});

/** How many transactions PostgreSQL ended because of a deadlock, also those that were tried again. */
async function countDeadlocks(): Promise<number> {
  await gateway.owner.pool.query('select pg_stat_clear_snapshot()');
  const { rows } = await gateway.owner.pool.query<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.deadlocks);
}

test('an account is closed while its customers get keys and are changed, without a deadlock', async () => {
  const before = await countDeadlocks();
  const faults: unknown[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { apiKey, workspaceId } = await gateway.mailbox({ domain: `closing${round}.test` });
    const customers: string[] = [];
    for (const clientId of ['a', 'b', 'c'])
      customers.push((await gateway.call(apiKey, 'POST', '/workspaces', { client_id: clientId })).json().id);
    const [responses] = await Promise.all([
      Promise.all(
        customers
          .toReversed()
          .flatMap((id) => [
            gateway.call(apiKey, 'POST', `/workspaces/${id}/api-keys`, { name: 'k', scopes: ['read'] }),
            gateway.call(apiKey, 'PATCH', `/workspaces/${id}`, { is_suspended: true }),
            gateway.call(apiKey, 'POST', '/workspaces', { client_id: `more of ${id}` }),
          ]),
      ),
      asWorkspace(gateway.database, workspaceId, (transaction) => closeAccount(transaction, workspaceId)).catch(
        (error: unknown) => faults.push(error),
      ),
    ]);
    faults.push(...responses.filter(isFault).map(({ body }) => body));
  }
  expect(faults).toEqual([]);
  expect(await countDeadlocks()).toBe(before);
});

test('changes that a webhook hears of as audit events run beside mail and each other, without a deadlock', async () => {
  const before = await countDeadlocks();
  const faults: unknown[] = [];
  const box = await gateway.mailbox({ domain: 'heard.test', address: 'a@heard.test' });
  const call = (method: string, path: string, body?: unknown) => gateway.call(box.apiKey, method, path, body);
  const hears = {
    name: 'audit',
    type: 'webhook',
    config: { url: 'https://hooks.example.com/' },
    events: ['*', 'audit.*'],
  };
  const made = await call('POST', '/endpoints', hears);
  expect(made.statusCode, made.body).toBe(201);
  const send = { from: 'a@heard.test', to: 'bob@elsewhere.test', subject: 'x', text: 'x' };
  const customers: string[] = [];
  for (const clientId of ['a', 'b'])
    customers.push((await call('POST', '/workspaces', { client_id: clientId })).json().id);
  for (let round = 0; round < ROUNDS; round++) {
    const responses = await Promise.all([
      call('POST', '/emails', send),
      call('POST', '/emails', { ...send, scheduled_at: 'in 2 days' }),
      call('PATCH', `/domains/${box.domainId}`, {
        isCatchAllEnabled: round % 2 === 0,
        catchAllEndpointId: made.json().id,
      }),
      call('POST', '/suppressions', { address: `gone${round}@elsewhere.test` }),
      call('PATCH', `/endpoints/${made.json().id}`, { name: `audit ${round}` }),
      call('POST', '/email-addresses', { address: `n${round}@heard.test`, domainId: box.domainId }),
      ...customers.flatMap((id) => [
        call('POST', `/workspaces/${id}/api-keys`, { name: 'k', scopes: ['read'] }),
        call('PATCH', `/workspaces/${id}`, { is_suspended: round % 2 === 0 }),
      ]),
    ]);
    faults.push(...responses.filter(({ statusCode }) => statusCode >= 300).map(({ body }) => body));
  }
  const { rows } = await gateway.owner.pool.query<{ count: string }>(
    `select count(*) from event where workspace_id = $1 and kind like 'audit.%'`,
    [box.workspaceId],
  );
  expect(Number(rows[0]?.count)).toBeGreaterThan(ROUNDS);
  expect(faults).toEqual([]);
  expect(await countDeadlocks()).toBe(before);
});

test('keys are changed, revoked and settled while what they are limited to is deleted, without a deadlock', async () => {
  const before = await countDeadlocks();
  const faults: unknown[] = [];
  const settling = testActorContext(gateway.actor);
  for (let round = 0; round < ROUNDS; round++) {
    const name = `limited${round}.test`;
    const box = await gateway.mailbox({ domain: name, address: `a@${name}` });
    const call = (method: string, path: string, body?: unknown) => gateway.call(box.apiKey, method, path, body);
    const limited = () =>
      insertKey(gateway.owner, box, {
        scopes: ['read', 'send'],
        domain: { id: box.domainId, name },
        addresses: [`a@${name}`],
      });
    const [first, second, expired] = [await limited(), await limited(), await limited()];
    await gateway.owner.pool.query(`update api_key set expires_at = now() where id = $1`, [expired.id]);
    const [responses] = await Promise.all([
      Promise.all([
        call('PATCH', `/api-keys/${first.id}`, { scopes: ['send'] }),
        call('DELETE', `/api-keys/${second.id}`),
        round % 2 === 0
          ? call('DELETE', `/email-addresses/${box.addressId}`)
          : call('DELETE', `/domains/${box.domainId}`),
      ]),
      settleKeys(settling).catch((error: unknown) => faults.push(error)),
    ]);
    faults.push(...responses.filter(isFault).map(({ body }) => body));
  }
  expect(faults).toEqual([]);
  expect(await countDeadlocks()).toBe(before);
});

test.each([
  ['the key that made their keys is revoked', `select revoke_api_key($1, $2)`],
  ['the parent is closed', `select close_account($1, interval '1 hour') where $2 <> ''`],
])('a parent of many customers needs a bounded number of locks when %s', async (_when, change) => {
  const { workspaceId } = await gateway.mailbox({ domain: `many${change.length}.test` });
  const { id: maker } = await insertKey(gateway.owner, { workspaceId }, { scopes: null });
  const client = await gateway.owner.pool.connect();
  try {
    await client.query(
      `with customer as (
         insert into workspace (id, name, parent_id, client_id) select $1 || '_' || n, 'x', $1, n from generate_series(1, 1500) n returning id)
       insert into api_key (id, workspace_id, name, secret_sha256, made_by_parent_key_id)
         select 'key_' || id, id, 'x', sha256(id::bytea), $2 from customer`,
      [workspaceId, maker],
    );
    await client.query('begin');
    await client.query(`select set_config('postroom.workspace_id', $1, true)`, [workspaceId]);
    await client.query(change, [workspaceId, maker]);
    const { rows } = await client.query<{ locks: number; revoked: number }>(
      `select (select count(*)::integer from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
         (select count(*)::integer from api_key where made_by_parent_key_id = $1 and revoked_at is not null) as revoked`,
      [maker],
    );
    expect(rows[0]?.revoked).toBe(1_500);
    expect(rows[0]?.locks).toBeGreaterThan(700);
    expect(rows[0]?.locks).toBeLessThanOrEqual(1_025);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('rights change while mail is sent, answered and read, without a deadlock', async () => {
  const before = await countDeadlocks();
  const faults: unknown[] = [];
  const box = await gateway.mailbox({ domain: 'changing.test', address: 'a@changing.test' });
  const call = (method: string, path: string, body?: unknown) => gateway.call(box.apiKey, method, path, body);
  const send = { from: 'a@changing.test', to: 'bob@elsewhere.test', subject: 'x', text: 'x' };
  const policies = [{ per_hour: 1_000 }, { undo_seconds: 60 }, null];
  for (let round = 0; round < ROUNDS; round++) {
    const key = (await call('POST', '/api-keys', { name: 'k', scopes: ['read', 'send'] })).json();
    const { id } = (await call('POST', '/emails', send)).json();
    const { id: addressId } = (
      await call('POST', '/email-addresses', { address: `n${round}@changing.test`, domainId: box.domainId })
    ).json();
    const member = `person_${round}`;
    await gateway.owner.pool.query(`insert into person (id, email) values ($1, $1 || '@account.test')`, [member]);
    await gateway.owner.pool.query(
      `insert into workspace_member (workspace_id, person_id, role, domain_ids, addresses) values ($1, $2, 'agent', '{}', '{a@changing.test}')`,
      [box.workspaceId, member],
    );
    const responses = await Promise.all([
      call('POST', '/emails', send),
      call('POST', `/emails/${id}/reply`, { from: 'a@changing.test', text: 'x' }),
      gateway.call(key.token, 'POST', '/emails', { ...send, scheduled_at: 'in 2 days' }),
      gateway.call(key.token, 'POST', `/emails/${id}/reply`, { from: 'a@changing.test', text: 'x' }),
      call('PATCH', `/api-keys/${key.id}`, { policy: { per_hour: 1_000 } }),
      call('PATCH', `/email-addresses/${box.addressId}`, { policy: policies[round % 3] }),
      call('DELETE', `/email-addresses/${addressId}`),
      call('PATCH', `/members/${member}`, { role: 'viewer', addresses: ['a@changing.test'] }),
      ...(round % 2 === 0 ? [call('DELETE', `/members/${member}`)] : []),
    ]);
    faults.push(...responses.filter(isFault).map(({ body }) => body));
  }
  expect(faults).toEqual([]);
  expect(await countDeadlocks()).toBe(before);
});

test('members and keys store what acts later while the key that stored it before is revoked, without a deadlock', async () => {
  const before = await countDeadlocks();
  const faults: unknown[] = [];
  let stored = 0;
  const team = await openTeam(gateway, 'setters', { address: 'a@setters.test' });
  const { browser } = await team.makeMember('admin');
  const { box } = team;
  for (let round = 0; round < ROUNDS / 2; round++) {
    const setter = await insertKey(gateway.owner, box, { scopes: ['read', 'manage'] });
    const hook = { type: 'webhook', config: { url: 'https://hooks.test/' } };
    const made = await gateway.call(setter.secret, 'POST', '/endpoints', { ...hook, name: `hook ${round}` });
    const endpointId = made.json().id;
    const rule = { type: 'explicit', name: `rule ${round}`, config: { subject: { operator: 'OR', values: ['x'] } } };
    const action = { action: 'route', endpointId };
    const ruled = await gateway.call(setter.secret, 'POST', '/guard', { ...rule, action });
    expect([made.statusCode, ruled.statusCode], ruled.body).toEqual([201, 201]);
    const changes = [
      [`/endpoints/${endpointId}`, { config: { url: 'https://other.test/' } }],
      [`/email-addresses/${box.addressId}`, { endpointId }],
      [`/domains/${box.domainId}`, { isCatchAllEnabled: true, catchAllEndpointId: endpointId }],
      [`/guard/${ruled.json().data.id}`, { action, priority: round }],
    ] as const;
    const responses = await Promise.all([
      ...changes.map(([path, body]) => browser.rest('PATCH', path, {}, body)),
      ...changes.map(([path, body]) => gateway.call(box.apiKey, 'PATCH', path, body)),
      gateway.call(box.apiKey, 'DELETE', `/api-keys/${setter.id}`),
    ]);
    stored += responses.filter(({ statusCode }) => statusCode === 200).length;
    faults.push(...responses.filter(isFault).map(({ body }) => body));
  }
  expect(stored).toBeGreaterThan(ROUNDS * 2);
  expect(faults).toEqual([]);
  expect(await countDeadlocks()).toBe(before);
});
