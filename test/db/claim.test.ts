import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { claimStatement } from '../../db/claim.ts';
import type { Database } from '../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';

let test_: TestDatabase;
let actor: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
});
afterAll(() => test_.drop());
beforeEach(() =>
  actor.pool.query(`
    delete from reception;
    insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
      trace_fields, accepted_at)
    select 'usr_a', 'em_' || lpad(n::text, 3, '0'), 'raw', '', '', '', '', '', '', false, '', now() - make_interval(secs => 200 - n)
    from generate_series(1, 120) n`),
);

const claimSql = claimStatement({
  table: 'reception',
  isDue: 'd.parsed_at is null',
  orderBy: 'd.accepted_at',
  returning: ['email_id', 'tries'],
  set: 'tries = t.tries + 1',
});

async function claim(claimant: string, limit = 50): Promise<string[]> {
  const { rows } = await actor.pool.query<{ email_id: string }>({
    name: 'claim',
    text: claimSql,
    values: [claimant, limit],
  });
  return rows.map((row) => row.email_id).sort();
}

test('a claim takes the oldest due rows, up to its limit, and counts the attempt', async () => {
  expect(await claim('one', 3)).toEqual(['em_001', 'em_002', 'em_003']);
  const { rows } = await actor.pool.query('select email_id, tries from reception where claimed_by = $1', ['one']);
  expect(rows.map((row) => row.tries)).toEqual([1, 1, 1]);
});

test('concurrent claimants share the rows, and none is taken twice', async () => {
  const batches = await Promise.all(Array.from({ length: 6 }, (_, n) => claim(`claimant ${n}`)));
  const taken = batches.flat();
  expect(new Set(taken).size).toBe(taken.length);
  const rest = [await claim('last'), await claim('last'), await claim('last')];
  expect([...taken, ...rest.flat()]).toHaveLength(120);
});

test('rows that another locks are skipped, not awaited', async () => {
  const other = await actor.pool.connect();
  await other.query(`begin; select 1 from reception where email_id = 'em_001' for update`);
  expect(await claim('one', 2)).toEqual(['em_002', 'em_003']);
  await other.query('rollback');
  other.release();
  expect(await claim('one', 1)).toEqual(['em_001']);
});

test('a lease holds for 30 seconds, then the row is due again', async () => {
  expect(await claim('one', 200)).toHaveLength(120);
  await shiftClock(29);
  expect(await claim('two')).toEqual([]);
  await shiftClock(31);
  expect(await claim('two', 1)).toEqual(['em_001']);
  await shiftClock(0);
});

test('a finish by a previous claimant changes nothing', async () => {
  await claim('slow', 1);
  await shiftClock(31);
  await claim('quick', 1);
  await shiftClock(0);
  const finish = (claimant: string) =>
    actor.pool.query(`update reception set parsed_at = now() where email_id = 'em_001' and claimed_by = $1`, [
      claimant,
    ]);
  expect((await finish('slow')).rowCount).toBe(0);
  expect((await finish('quick')).rowCount).toBe(1);
});

test('the plan uses the index from the empty table on, and keeps it as the table grows', async () => {
  const client = await actor.pool.connect();
  await client.query('delete from reception');
  await client.query('analyze reception').catch(() => undefined);
  await client.query(`set plan_cache_mode = force_generic_plan; prepare planned (text, bigint) as ${claimSql}`);
  const { rows } = await client.query<Record<string, string>>(`explain execute planned ('one', 50)`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/Tid Scan on reception t/);
  expect(plan).toMatch(/Index Scan using reception_unparsed on reception d/);
  await client.query('reset plan_cache_mode; deallocate planned');
  client.release();
});

async function shiftClock(seconds: number): Promise<void> {
  await test_.open(null).pool.query('update clock set shift = make_interval(secs => $1)', [seconds]);
}
