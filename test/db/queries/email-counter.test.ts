import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../db/database.ts';
import { countEmailsSql } from '../../../db/queries/email-counter.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let test_: TestDatabase;
let actor: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
});
afterAll(() => test_.drop());

const sql =
  countEmailsSql(`json_to_recordset($1) as changed (user_id text, created_at timestamptz, own_address text, own_domain text,
  type text, status text, is_read boolean, is_archived boolean, delta integer)`);

const email = {
  user_id: 'usr_a',
  created_at: '2026-11-26T10:59:59.999Z',
  own_address: 'x@a.test',
  own_domain: 'a.test',
  type: 'received',
  status: 'delivered',
  is_read: false,
  is_archived: false,
  delta: 1,
};

async function change(...rows: Partial<typeof email>[]): Promise<void> {
  await actor.pool.query({
    name: 'count',
    text: sql,
    values: [JSON.stringify(rows.map((row) => ({ ...email, ...row })))],
  });
}

async function counters(userId: string): Promise<unknown[]> {
  const { rows } = await actor.pool.query<{ hour: Date; is_read: boolean; count: number }>(
    'select hour, is_read, count from email_counter where user_id = $1 order by hour, is_read',
    [userId],
  );
  return rows.map((row) => [row.hour.toISOString(), row.is_read, row.count]);
}

test('emails of one hour that bear the same values share a counter, those of the next have another', async () => {
  await change({}, { created_at: '2026-11-26T10:00:00Z' }, { created_at: '2026-11-26T12:00:00+01:00' });
  await change({});
  expect(await counters('usr_a')).toEqual([
    ['2026-11-26T10:00:00.000Z', false, 3],
    ['2026-11-26T11:00:00.000Z', false, 1],
  ]);
});

test('an email that is read moves from one counter to the other', async () => {
  const user_id = 'usr_b';
  await change({ user_id }, { user_id });
  await change({ user_id, delta: -1 }, { user_id, is_read: true });
  expect(await counters(user_id)).toEqual([
    ['2026-11-26T10:00:00.000Z', false, 1],
    ['2026-11-26T10:00:00.000Z', true, 1],
  ]);
});

test('many writers in different orders count exactly and do not wait for each other in a ring', async () => {
  const user_id = 'usr_c';
  const hours = Array.from({ length: 20 }, (_, n) => ({
    user_id,
    created_at: `2026-11-26T${String(n).padStart(2, '0')}:00:00Z`,
  }));
  await Promise.all(Array.from({ length: 30 }, (_, n) => change(...(n % 2 === 0 ? hours : hours.toReversed()))));
  const { rows } = await actor.pool.query('select count from email_counter where user_id = $1', [user_id]);
  expect(rows).toEqual(Array.from({ length: 20 }, () => ({ count: 30 })));
});
