import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../../db/connection/database.ts';
import { claimOfEmailsSql } from '../../../../db/queries/sending/recipient-claim.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';

let testDatabase: TestDatabase;
let actor: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
});
afterAll(() => testDatabase.drop());

test('recipients of an email are found by its id, from the empty table on and behind any backlog', async () => {
  const client = await actor.pool.connect();
  try {
    await client.query(
      `set plan_cache_mode = force_generic_plan; prepare planned (text, bigint, text[], text[], text[], text[]) as ${claimOfEmailsSql}`,
    );
    const explain = async () => {
      const { rows } = await client.query<Record<string, string>>(
        `explain (analyze, timing off) execute planned ('one', 50, '{usr_a}', '{em_fresh}', '{}', '{}')`,
      );
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    const planAtFirst = await explain();
    // No statistics are taken: this transaction is not committed.
    await client.query('begin');
    await client.query(
      `insert into recipient (workspace_id, id, email_id, address, domain, queued_at, next_attempt_at, created_at)
       select 'usr_a', 'rcp_' || n, 'em_backlog', 'ann@dead.test', 'dead.test', now(), now(), now() from generate_series(1, 25000) n`,
    );
    await client.query(
      `insert into recipient (workspace_id, id, email_id, address, domain, queued_at, next_attempt_at, created_at)
       values ('usr_a', 'rcp_fresh', 'em_fresh', 'ann@well.test', 'well.test', now(), now(), now())`,
    );
    for (const plan of [planAtFirst, await explain()]) {
      expect(plan).toMatch(/Tid Scan on recipient d/);
      expect(plan).toMatch(/Index Scan using recipient_email on recipient r/);
      expect(plan).not.toMatch(/using recipient_(lane_)?due/);
      expect(plan).not.toMatch(/Rows Removed by Filter: [1-9]\d\d/);
    }
  } finally {
    await client.query('rollback; deallocate planned; reset plan_cache_mode');
    client.release();
  }
});
