import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database } from '../../../../db/connection/database.ts';
import { asWorkspace } from '../../../../db/connection/transaction.ts';
import {
  type CountedEmails,
  countEmailsSql,
  countedEmails,
  nextHour,
} from '../../../../db/queries/emails/email-counter.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import { insertMail } from '../../../support/rows/mail-rows.ts';
import { seededRandom } from '../../../support/rows/thread-mail.ts';

let test_: TestDatabase;
let actor: Database;
let gateway: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
  gateway = test_.open('postroom_gateway');
});
afterAll(() => test_.drop());

const countSql =
  countEmailsSql(`json_to_recordset($1) as changed (workspace_id text, created_at timestamptz, own_address text, own_domain text,
  type text, status text, is_read boolean, is_archived boolean, delta integer)`);

const email = {
  workspace_id: 'usr_a',
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
    text: countSql,
    values: [JSON.stringify(rows.map((row) => ({ ...email, ...row })))],
  });
}

/** [address or *, grain, beginning, is read, how many] */
async function counters(workspaceId: string): Promise<unknown[]> {
  const { rows } = await actor.pool.query<Record<string, unknown>>(
    `select own_address, grain, to_char(begins_at, 'MM-DD HH24') as begins, is_read, count from email_counter where workspace_id = $1
     order by own_address, grain, begins_at, is_read`,
    [workspaceId],
  );
  return rows.map((row) => Object.values(row));
}

/** What is expected of an address is expected of all its domain, where it is alone in it. */
const alone = (rows: unknown[][]) => ['*', 'x@a.test'].flatMap((address) => rows.map((row) => [address, ...row]));

test('emails with the same values share a counter by the hour, by the day and for all time', async () => {
  await change({}, { created_at: '2026-11-26T10:00:00Z' }, { created_at: '2026-11-26T12:00:00+01:00' });
  await change({ created_at: '2026-11-27T00:30:00+01:00' }, { created_at: '2026-11-27T00:00:00Z' });
  expect(await counters('usr_a')).toEqual(
    alone([
      ['all', null, false, 5],
      ['day', '11-26 00', false, 4],
      ['day', '11-27 00', false, 1],
      ['hour', '11-26 10', false, 2],
      ['hour', '11-26 11', false, 1],
      ['hour', '11-26 23', false, 1],
      ['hour', '11-27 00', false, 1],
    ]),
  );
});

test('the addresses of a domain are counted together, and each domain apart', async () => {
  const workspace_id = 'usr_domains';
  await change(
    { workspace_id },
    { workspace_id, own_address: 'y@a.test' },
    { workspace_id, own_address: 'x@b.test', own_domain: 'b.test' },
  );
  const { rows } = await actor.pool.query(
    `select own_address, own_domain, count from email_counter where workspace_id = $1 and grain = 'day' order by 1, 2`,
    [workspace_id],
  );
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['*', 'a.test', 2],
    ['*', 'b.test', 1],
    ['x@a.test', 'a.test', 1],
    ['x@b.test', 'b.test', 1],
    ['y@a.test', 'a.test', 1],
  ]);
});

test('an email that is read moves from one counter to the other', async () => {
  const workspace_id = 'usr_b';
  await change({ workspace_id }, { workspace_id });
  await change({ workspace_id, delta: -1 }, { workspace_id, is_read: true });
  expect(await counters(workspace_id)).toEqual(
    alone([
      ['all', null, false, 1],
      ['all', null, true, 1],
      ['day', '11-26 00', false, 1],
      ['day', '11-26 00', true, 1],
      ['hour', '11-26 10', false, 1],
      ['hour', '11-26 10', true, 1],
    ]),
  );
});

test('an email that does not change changes no counter', async () => {
  const workspace_id = 'usr_same';
  await change({ workspace_id, delta: -1 }, { workspace_id });
  expect(await counters(workspace_id)).toEqual([]);
});

test('many writers in different orders count exactly and without deadlock', async () => {
  const workspace_id = 'usr_c';
  const hours = Array.from({ length: 20 }, (_, n) => ({
    workspace_id,
    created_at: `2026-11-26T${String(n).padStart(2, '0')}:00:00Z`,
  }));
  await Promise.all(Array.from({ length: 30 }, (_, n) => change(...(n % 2 === 0 ? hours : hours.toReversed()))));
  expect(await counters(workspace_id)).toEqual(
    alone([
      ['all', null, false, 600],
      ['day', '11-26 00', false, 600],
      ...hours.map((_, n) => ['hour', `11-26 ${String(n).padStart(2, '0')}`, false, 30]),
    ]),
  );
});

describe('the total', () => {
  const workspaceId = 'usr_total';
  const midnight = Date.parse('2026-03-01T00:00:00Z');
  const hour = 3_600_000;
  const edges = [-48 * hour, -24 * hour, 0, hour, 13 * hour, 23 * hour, 24 * hour].flatMap((at) => [
    at - 1,
    at,
    at + 1,
  ]);

  beforeAll(async () => {
    const random = seededRandom(5);
    await insertMail(
      actor,
      [...edges, ...Array.from({ length: 100 }, () => (random() - 0.7) * 120 * hour)].map((at, n) => ({
        workspaceId,
        id: `em_${String(n).padStart(4, '0')}`,
        createdAt: new Date(midnight + Math.round(at)),
        ownAddress: ['x@a.test', 'y@a.test', 'x@b.test'][n % 3] ?? '',
        isRead: random() < 0.5,
      })),
    );
    await insertMail(actor, [{ workspaceId: 'usr_other', createdAt: new Date(midnight), ownAddress: 'x@a.test' }]);
  });

  const total = (of: CountedEmails) =>
    asWorkspace(gateway, workspaceId, async (transaction) => {
      const { rows } = await sql<{ n: number }>`select ${countedEmails(workspaceId, of)} as n`.execute(transaction);
      return rows[0]?.n;
    });

  test.each([
    ['of all', null, null],
    ['of a domain', null, sql<boolean>`c.own_domain = 'a.test'`],
    ['of an address', 'x@a.test', null],
    ['of an address of another domain', 'x@b.test', sql<boolean>`c.own_domain = 'a.test'`],
    ['of what is read', null, sql<boolean>`c.is_read`],
  ])('%s is exact for the whole hours since any instant', async (_, address, condition) => {
    const conditions = condition === null ? [] : [condition];
    for (const since of [null, ...edges.map((edge) => new Date(midnight + edge))]) {
      const wholeHours = since === null ? new Date(0) : nextHour(since);
      const { n } = await actor.kysely
        .selectFrom('email as c')
        .select((build) => build.fn.countAll<number>().as('n'))
        .where('workspace_id', '=', workspaceId)
        .$if(address !== null, (query) => query.where('own_address', '=', address))
        .where('created_at', '>=', wholeHours)
        .$if(condition !== null, (query) => query.where(condition ?? sql<boolean>`true`))
        .executeTakeFirstOrThrow();
      const counted = await total({
        address: address === null ? null : sql<string>`${address}::text`,
        conditions,
        since,
      });
      expect(counted, `${since?.toISOString()}`).toBe(n);
    }
  });

  test.each([
    ['of all by the key', [], 'email_counter_pkey', ['own_address', 'grain', 'begins_at']],
    [
      'of a domain by its index',
      [sql<boolean>`c.own_domain = 'a.test'`],
      'email_counter_domain',
      ['own_domain', 'grain', 'begins_at'],
    ],
  ])('is read %s, days and hours apart, under the policy', async (_, conditions, index, columns) => {
    // Many domains of which each day has few emails, so that reading all of them costs more than the rows of one.
    const ofDomains = `(select '${workspaceId}' as workspace_id, timestamptz '${new Date(midnight).toISOString()}' - d * interval '1 day' as created_at,
        'x@d' || n || '.test' as own_address, 'd' || n || '.test' as own_domain, 'received' as type, 'delivered' as status,
        false as is_read, false as is_archived, 1 as delta from generate_series(1, 60) n, generate_series(100, 110) d) s`;
    await actor.pool.query(countEmailsSql(ofDomains));
    await test_.open(null).pool.query('analyze email_counter');
    const since = new Date(midnight - 47 * hour);
    const plan = await asWorkspace(gateway, workspaceId, async (transaction) => {
      const counted = countedEmails(workspaceId, { address: null, conditions, since });
      await sql`set local enable_seqscan = off`.execute(transaction);
      await sql`set local enable_bitmapscan = off`.execute(transaction);
      const { rows } = await sql<{ 'QUERY PLAN': unknown }>`explain (format json) select ${counted}`.execute(
        transaction,
      );
      return JSON.stringify(rows[0]?.['QUERY PLAN']);
    });
    // Each sum has a second part, for the addresses that the transaction is limited to.
    const ofAddresses = 'email_counter_pkey';
    expect([...plan.matchAll(/"Index Name":"(.*?)"/g)].map(([, name]) => name)).toEqual([
      index,
      ofAddresses,
      index,
      ofAddresses,
    ]);
    const ranges = [...plan.matchAll(/"Index Cond":"(.*?)"[,}]/g)].map(([, condition]) => condition);
    expect(ranges).toHaveLength(4);
    for (const [n, range] of ranges.entries())
      for (const column of ['workspace_id', ...(n % 2 === 0 ? columns : ['own_address', 'grain', 'begins_at'])])
        expect(range).toContain(`${column} `);
  });
});
