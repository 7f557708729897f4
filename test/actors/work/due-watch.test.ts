import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createDueWatch, makeDueWatch } from '../../../actors/work/due-watch.ts';
import { type Database, openDatabase } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Long enough never to come within a test. */
const NEVER_MS = 1_000_000;

let base: TestDatabase;
let owner: Database;
let database: Database;
const log = pino({ level: 'silent' });

beforeAll(async () => {
  base = await createTestDatabase();
  owner = base.open(null);
  database = base.open('postroom_actor');
});
afterAll(() => base.drop());
beforeEach(() => owner.pool.query('truncate domain cascade'));

async function addDomain(checkDueAt: string): Promise<void> {
  await owner.pool.query(
    `insert into domain (workspace_id, id, name, status, check_due_at) values ('user', 'domain', 'b.test', 'pending', ${checkDueAt})`,
  );
}

test('a row that becomes due starts its step, and no other', async () => {
  const domains = vi.fn();
  const send = vi.fn();
  const watch = makeDueWatch(database, log);
  const ends = [watch.add('domains', domains), watch.add('send', send)];
  await addDomain('now()');
  await waitFor(() => expect(domains).toHaveBeenCalled());
  for (const end of ends) end();
  expect(send).not.toHaveBeenCalled();
});

test('a row that falls due before the next check starts its step when it is due', async () => {
  await addDomain(`now() + interval '1 second'`);
  const domains = vi.fn();
  const end = createDueWatch(database, log, NEVER_MS).add('domains', domains);
  await waitFor(() => expect(domains).toHaveBeenCalled());
  end();
  const { rows } = await owner.pool.query<{ is_due: boolean }>('select check_due_at <= now() as is_due from domain');
  expect(rows).toEqual([{ is_due: true }]);
});

test('all steps are started while PostgreSQL does not respond', async () => {
  const away = openDatabase({
    url: 'postgresql://nobody@127.0.0.1:1/none',
    role: null,
    poolSize: 1,
    applicationName: 'test',
    onError: () => undefined,
  });
  const starts = [vi.fn(), vi.fn()] as const;
  const watch = makeDueWatch(away, log);
  const ends = [watch.add('send', starts[0]), watch.add('domains', starts[1])];
  await waitFor(() => {
    for (const start of starts) expect(start).toHaveBeenCalled();
  });
  for (const end of ends) end();
  await away.close();
});
