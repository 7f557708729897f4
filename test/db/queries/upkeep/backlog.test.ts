import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../../db/connection/database.ts';
import { backlogSql, MAX_COUNTED, type QueueBacklog, readBacklog } from '../../../../db/queries/upkeep/backlog.ts';
import { ACTOR_OF_STEP } from '../../../../db/queries/upkeep/dead-row.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';

let base: TestDatabase;
let owner: Database;
let actor: Database;

beforeAll(async () => {
  base = await createTestDatabase();
  owner = base.open(null);
  actor = base.open('postroom_actor');
});
afterAll(() => base.drop());
beforeEach(async () => {
  await owner.pool.query(
    'truncate reception, email, route, delivery, recipient, domain, dead_row, endpoint, endpoint_subscription, event, event_counter, unindexed_email cascade',
  );
});

/** Mail of one user that is done, and rows of each queue: `per` that are due for 1 to `per` minutes. */
async function fill(done: number, per: number): Promise<void> {
  const email = (id: string, status: string, type: string, thread: string, scheduledAt: string) => `
    insert into email (workspace_id, id, type, status, created_at, scheduled_at, own_address, own_domain, message_id, subject, base_subject,
      from_address, from_text, to_addresses, cc_addresses, preview, thread_id)
    select 'user', ${id}, '${type}', '${status}', now() - n * interval '1 minute', ${scheduledAt}, 'a@b.test', 'b.test', '<' || n || '@c.test>',
      '', '', 'd@e.test', '', '{}', '{}', '', ${thread}
    from generate_series(1, $1::integer) n`;
  const reception = (id: string, parsedAt: string) => `
    insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
      trace_fields, accepted_at, parsed_at)
    select 'user', ${id}, 'raw', '', '', '', 'domain', '', '', false, '', now() - n * interval '1 minute', ${parsedAt}
    from generate_series(1, $1::integer) n`;
  const route = (id: string, outcome: string, askAt: string) => `
    insert into route (workspace_id, email_id, created_at, threaded_at, outcome, next_ask_at)
    select 'user', ${id}, now() - n * interval '1 minute', now() - n * interval '1 minute', ${outcome}, ${askAt}
    from generate_series(1, $1::integer) n`;
  const delivery = (id: string, type: string, status: string, at: string) => `
    insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts_allowed, next_attempt_at, created_at)
    select 'user', ${id}, 'email', 'endpoint' || n % 3, '${type}', '${status}', 4, ${at}, now()
    from generate_series(1, $1::integer) n`;
  const recipient = (id: string, status: string, at: string, settledAt: string) => `
    insert into recipient (workspace_id, id, email_id, address, domain, status, next_attempt_at, settled_at, created_at)
    select 'user', ${id}, 'email', 'a@b.test', 'b.test', '${status}', ${at}, ${settledAt}, now() from generate_series(1, $1::integer) n`;
  const due = `now() - n * interval '1 minute'`;
  const later = `now() + n * interval '1 minute'`;
  for (const sql of [
    email(`'done' || n`, 'delivered', 'received', `'thread'`, 'null'),
    reception(`'done' || n`, 'now()'),
    route(`'done' || n`, `'stored'`, 'null'),
    delivery(`'done' || n`, 'webhook', 'success', 'null'),
    recipient(`'done' || n`, 'delivered', 'null', 'now()'),
  ])
    await owner.pool.query(sql, [done]);
  for (const sql of [
    email(`'new' || n`, 'delivered', 'received', 'null', 'null'),
    email(`'timed' || n`, 'scheduled', 'scheduled', 'null', due),
    email(`'soon' || n`, 'scheduled', 'scheduled', 'null', later),
    reception(`'new' || n`, 'null'),
    route(`'new' || n`, 'null', 'null'),
    route(`'asking' || n`, `'asking'`, due),
    delivery(`'new' || n`, 'webhook', 'pending', due),
    delivery(`'soon' || n`, 'webhook', 'pending', later),
    delivery(`'copy' || n`, 'email', 'pending', due),
    delivery(`'handed' || n`, 'email', 'pending', 'null'),
    recipient(`'new' || n`, 'pending', due, 'null'),
    recipient(`'soon' || n`, 'pending', later, 'null'),
    recipient(`'failed' || n`, 'failed', 'null', due),
  ])
    await owner.pool.query(sql, [per]);
  await owner.pool.query(
    `insert into domain (workspace_id, id, name, status, check_due_at) select 'user', n::text, n || '.test', 'pending', ${due}
     from generate_series(1, $1::integer) n`,
    [per],
  );
  // The nth endpoint is n - 1 events behind the oldest.
  for (const sql of [
    `insert into endpoint (workspace_id, id, name, type, config) select 'user', n::text, '', 'webhook', '{}' from generate_series(1, $1::integer) n`,
    `insert into endpoint_subscription (workspace_id, endpoint_id, event_seq) select 'user', n::text, n - 1 from generate_series(1, $1::integer) n`,
    `insert into event_counter (workspace_id, last_seq) values ('user', $1::integer)`,
    `insert into unindexed_email (workspace_id, email_id, state, created_at, noted_at) select 'user', 'new' || n, 'new', ${due}, ${due} from generate_series(1, $1::integer) n`,
    `insert into unindexed_email (workspace_id, email_id, state, created_at, noted_at) select 'user', 'old' || n, 'changed', ${due}, ${due} from generate_series(1, $1::integer + 1) n`,
    `insert into event (workspace_id, seq, id, kind, at) select 'user', $1 - n + 1, n::text, 'email.sent', ${due} from generate_series(1, $1::integer) n`,
  ])
    await owner.pool.query(sql, [per]);
  await owner.pool.query('analyze');
}

const findQueue = (backlog: readonly QueueBacklog[], queue: string) => backlog.find((entry) => entry.queue === queue);

test('every queue reports its due rows, the oldest, and those that wait for a retry', async () => {
  await fill(5, 7);
  const backlog = await readBacklog(actor);
  // Of every work that may leave dead rows behind.
  const queues = [...Object.keys(ACTOR_OF_STEP), 'domains', 'words'];
  expect(backlog.map(({ queue }) => queue).toSorted()).toEqual(queues.toSorted());
  for (const { queue, rowCount, oldestSeconds, deadCount } of backlog) {
    expect({ queue, rowCount, deadCount }).toEqual({ queue, rowCount: 7, deadCount: 0 });
    expect(oldestSeconds, queue).toBeGreaterThanOrEqual(7 * 60 - 1);
    expect(oldestSeconds, queue).toBeLessThan(7 * 60 + 120);
  }
  const later = Object.fromEntries(backlog.map(({ queue, laterCount }) => [queue, laterCount]));
  expect(later).toMatchObject({ deliver: 7, send: 7, release: 7, forward: 0, ask: 0, parse: null, assign: null });
});

test('an empty service has no backlog', async () => {
  for (const entry of await readBacklog(actor))
    expect(entry).toMatchObject({ rowCount: 0, oldestSeconds: 0, deadCount: 0 });
});

test('a dead row is counted as dead only, and the oldest row is one that is not dead', async () => {
  await fill(0, 3);
  await owner.pool.query(
    `insert into dead_row (workspace_id, step, actor, subject_id, tries, last_error, first_failed_at, last_failed_at, retry_at, dead_at)
     select 'user', step, 'any', 'new3', 25, '', now(), now(), 'infinity', now()
     from unnest('{parse,assign,route,deliver,send}'::text[]) step`,
  );
  const backlog = await readBacklog(actor);
  for (const queue of ['parse', 'assign', 'route', 'deliver', 'send']) {
    const entry = findQueue(backlog, queue);
    expect(entry, queue).toMatchObject({ rowCount: 2, deadCount: 1 });
    expect(entry?.oldestSeconds, queue).toBeLessThan(3 * 60 - 1);
  }
  expect(findQueue(backlog, 'ask')).toMatchObject({ rowCount: 3, deadCount: 0 });
});

test('counting stops at its limit', async () => {
  await fill(0, MAX_COUNTED + 5);
  const backlog = await readBacklog(actor);
  for (const { queue, rowCount, laterCount } of backlog.filter((entry) => entry.queue !== 'deliver')) {
    expect(rowCount, queue).toBe(MAX_COUNTED);
    expect(laterCount ?? 0, queue).toBeLessThanOrEqual(MAX_COUNTED);
  }
  const deliver = findQueue(backlog, 'deliver');
  expect((deliver?.rowCount ?? 0) + (deliver?.laterCount ?? 0)).toBe(MAX_COUNTED);
  expect(deliver?.oldestSeconds).toBeGreaterThanOrEqual(MAX_COUNTED * 60);
});

test('finished rows cost nothing: no table is scanned, and few pages are read however much is stored', async () => {
  await fill(20_000, 10);
  await owner.pool.query('vacuum');
  const client = await actor.pool.connect();
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `explain (analyze, buffers, format json) ${backlogSql}`,
    );
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
    if (plan === undefined) throw new Error('no plan');
    const walked = listNodes(plan)
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .map((node) => node['Relation Name']);
    // The last one has only what waits.
    expect(walked.filter((table) => table !== 'clock' && table !== 'unindexed_email')).toEqual([]);
    expect((plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)).toBeLessThan(1_000);
  } finally {
    client.release();
  }
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

function listNodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(listNodes)];
}
