import { fork } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Holdings, makeHoldings, workspaceTables } from '../../support/rows/holdings.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let parent: Holdings;
let customer: Holdings;
let sibling: Holdings;
let tables: string[];
/** tables in the order in which an erasure empties them */
let erased: string[];

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  parent = await makeHoldings(gateway);
  customer = await makeHoldings(gateway);
  sibling = await makeHoldings(gateway);
  for (const [n, { mailbox }] of [customer, sibling].entries())
    await gateway.owner.pool.query('update workspace set parent_id = $1, client_id = $2 where id = $3', [
      parent.mailbox.workspaceId,
      `customer-${n}`,
      mailbox.workspaceId,
    ]);
  tables = await workspaceTables(gateway.owner);
  const { rows } = await gateway.actor.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relname = any ($1) and has_table_privilege(c.oid, 'delete')
       and c.relname not like 'auth\\_%' order by c.relname <> 'domain', c.relname`,
    [tables],
  );
  erased = rows.map(({ name }) => name);
}, 120_000);
afterAll(() => gateway.close());

/** Runs a scheduler in a process of its own until it is killed at that point, and returns its exit status. */
async function schedule(point: string): Promise<number> {
  const child = fork(
    new URL('./scheduling-process.ts', import.meta.url),
    [gateway.actor.pool.options.connectionString ?? '', point],
    { execArgv: [] },
  );
  return new Promise((resolve) => child.once('exit', resolve));
}

/** The tables with rows of the workspace. */
async function listTables({ mailbox }: Holdings): Promise<string[]> {
  const counted = tables.map((name) => `select '${name}' as name from ${name} where workspace_id = $1`).join(' union ');
  const { rows } = await gateway.owner.pool.query<{ name: string }>(counted, [mailbox.workspaceId]);
  return rows.map(({ name }) => name);
}

/** How many rows each table has of a workspace; a scheduler changes rows of all of them, and removes what has expired meanwhile. */
async function countRows({ mailbox }: Holdings): Promise<Record<string, number>> {
  const kept = ['api_key', 'domain', 'draft', 'email', 'email_content', 'endpoint', 'event', 'recipient', 'thread'];
  const counted = kept.map(
    (name) => `select '${name}' as name, count(*)::integer from ${name} where workspace_id = $1`,
  );
  const { rows } = await gateway.owner.pool.query<{ name: string; count: number }>(counted.join(' union all '), [
    mailbox.workspaceId,
  ]);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

const shown = () =>
  gateway.call(parent.mailbox.apiKey, 'GET', `/workspaces/${customer.mailbox.workspaceId}`).then((response) => ({
    status: response.statusCode,
    state: response.json().status,
  }));

test('an erasure of a customer that is killed after each table goes on there, and takes no row of another workspace', {
  timeout: 600_000,
}, async () => {
  expect(erased.length).toBeGreaterThan(50);
  const { apiKey } = parent.mailbox;
  const closed = await gateway.call(apiKey, 'DELETE', `/workspaces/${customer.mailbox.workspaceId}`);
  expect(closed.statusCode, closed.body).toBe(200);
  await gateway.owner.pool.query('update workspace set erase_at = postroom_now() where id = $1', [
    customer.mailbox.workspaceId,
  ]);
  const before = [await countRows(parent), await countRows(sibling)];
  const remaining: string[][] = [];
  for (const table of erased) {
    expect(await schedule(`erasure.${table}-removed`), table).toBe(137);
    const left = await listTables(customer);
    remaining.push(left);
    expect(left, table).not.toContain(table);
    // The parent sees that it is not over.
    expect(await shown(), table).toEqual({ status: 200, state: 'deleting' });
  }
  // Each kill left what comes after it: the rows went table by table.
  expect(remaining.findIndex((left) => left.length === 0)).toBeGreaterThan(erased.length - 10);
  expect(await schedule('erasure.before-end')).toBe(137);
  expect(await shown()).toEqual({ status: 200, state: 'deleting' });
  expect(await schedule('erasure.after-end')).toBe(137);
  expect((await shown()).status).toBe(404);
  expect(await listTables(customer)).toEqual([]);
  const { rows } = await gateway.owner.pool.query('select 1 from erased_account where id = $1', [
    customer.mailbox.workspaceId,
  ]);
  expect(rows).toHaveLength(1);
  expect([await countRows(parent), await countRows(sibling)]).toEqual(before);
});
