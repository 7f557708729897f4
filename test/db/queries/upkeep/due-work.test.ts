import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../../db/connection/database.ts';
import { ACTOR_OF_STEP } from '../../../../db/queries/upkeep/dead-row.ts';
import { type DueStep, dueWorkSql, findDueWork } from '../../../../db/queries/upkeep/due-work.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';

let base: TestDatabase;
let owner: Database;
let actor: Database;

const steps = [...Object.keys(ACTOR_OF_STEP), 'domains', 'claims', 'snoozes', 'erasures', 'words'] as DueStep[];

beforeAll(async () => {
  base = await createTestDatabase();
  owner = base.open(null);
  actor = base.open('postroom_actor');
});
afterAll(() => base.drop());
beforeEach(async () => {
  await owner.pool.query(
    'truncate reception, email, route, delivery, recipient, domain, thread, thread_claim, approval, dead_row, endpoint, endpoint_subscription, event_counter, person, workspace, unindexed_email, word_build cascade',
  );
});

/** Statements that insert one row of each queue, due at the SQL expression `at` if the queue has a time. */
const inserts: Record<DueStep, (at: string) => string> = {
  parse: () =>
    `insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
       trace_fields, accepted_at) values ('user', 'parse', 'raw', '', '', '', 'domain', '', '', false, '', now())`,
  report: () => recipient('report', 'failed', 'null', 'now()'),
  assign: () => email('assign', 'delivered', 'received', 'null'),
  route: () => route('route', 'null', 'null'),
  ask: (at) => route('ask', `'asking'`, at),
  'fan-out': () =>
    `with feed as (insert into event_counter (workspace_id, last_seq) values ('user', 1)), target as (
       insert into endpoint (workspace_id, id, name, type, config) values ('user', 'fan-out', '', 'webhook', '{}'))
     insert into endpoint_subscription (workspace_id, endpoint_id, event_seq) values ('user', 'fan-out', 0)`,
  deliver: (at) => delivery('deliver', 'webhook', at),
  forward: (at) => delivery('forward', 'email', at),
  send: (at) => recipient('send', 'pending', at, 'null'),
  release: (at) => email('release', 'scheduled', 'scheduled', at),
  domains: (at) =>
    `insert into domain (workspace_id, id, name, status, check_due_at) values ('user', 'domain', 'b.test', 'pending', ${at})`,
  claims: (at) =>
    `insert into thread_claim (workspace_id, thread_id, token_sha256, holder, claimed_at, expires_at)
     values ('user', 'thread', '', 'holder', now(), ${at})`,
  snoozes: (at) =>
    `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text, message_count,
       received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at, snoozed_until)
     values ('user', 'thread', '<1@c.test>', '', '{}', '{}', '', 1, 1, 0, 0, 'email', now(), now(), ${at})`,
  approvals: (at) =>
    `insert into approval (workspace_id, email_id, rule, policy_of, requested_at, expires_at)
     values ('user', 'email', 'always', 'key', now(), ${at})`,
  words: () =>
    `insert into unindexed_email (workspace_id, email_id, state, created_at, noted_at) values ('user', 'words', 'new', now(), now() - interval '2 minutes')`,
  erasures: (at) => `insert into person (id, email, erase_at) values ('user', 'a@b.test', ${at})`,
};

const email = (id: string, status: string, type: string, at: string) =>
  `insert into email (workspace_id, id, type, status, created_at, scheduled_at, own_address, own_domain, message_id, subject, base_subject,
     from_address, from_text, to_addresses, cc_addresses, preview)
   values ('user', '${id}', '${type}', '${status}', now(), ${at}, 'a@b.test', 'b.test', '<1@c.test>', '', '', 'd@e.test', '', '{}', '{}', '')`;
const route = (id: string, outcome: string, at: string) =>
  `insert into route (workspace_id, email_id, created_at, threaded_at, outcome, next_ask_at) values ('user', '${id}', now(), now(), ${outcome}, ${at})`;
const delivery = (id: string, type: string, at: string) =>
  `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts_allowed, next_attempt_at, created_at)
   values ('user', '${id}', 'email', 'endpoint', '${type}', 'pending', 4, ${at}, now())`;
const recipient = (id: string, status: string, at: string, settledAt: string) =>
  `insert into recipient (workspace_id, id, email_id, address, domain, status, next_attempt_at, settled_at, created_at)
   values ('user', '${id}', 'email', 'a@b.test', 'b.test', '${status}', ${at}, ${settledAt}, now())`;

const timed = new Set<DueStep>([
  'ask',
  'deliver',
  'forward',
  'send',
  'release',
  'domains',
  'claims',
  'snoozes',
  'erasures',
]);
const leased: Partial<Record<DueStep, string>> = {
  parse: 'reception',
  report: 'recipient',
  ask: 'route',
  deliver: 'delivery',
  forward: 'delivery',
  send: 'recipient',
};

async function readSeconds(): Promise<Partial<Record<DueStep, number | null>>> {
  return Object.fromEntries((await findDueWork(actor, steps)).map(({ step, seconds }) => [step, seconds]));
}

test('no step has work when no row waits', async () => {
  expect(await readSeconds()).toEqual(Object.fromEntries(steps.map((step) => [step, null])));
});

test.each(steps)('a due row of the queue %s is found, for that step alone', async (step) => {
  await owner.pool.query(inserts[step](`now() - interval '1 second'`));
  expect(await readSeconds()).toEqual(Object.fromEntries(steps.map((each) => [each, each === step ? 0 : null])));
});

test.each(steps.filter((step) => timed.has(step)))('the step %s learns when its next row falls due', async (step) => {
  await owner.pool.query(inserts[step](`now() + interval '1 hour'`));
  const seconds = (await readSeconds())[step] ?? 0;
  expect(seconds).toBeGreaterThan(3_000);
  expect(seconds).toBeLessThanOrEqual(3_600);
});

test.each(Object.entries(leased))(
  'a row of the queue %s is found again when its lease ends, not before',
  async (step, table) => {
    await owner.pool.query(inserts[step as DueStep](`now() - interval '1 second'`));
    const lease = (until: string) =>
      owner.pool.query(`update ${table} set claimed_by = 'other', claimed_until = ${until}`);
    await lease(`now() + interval '1 minute'`);
    expect((await readSeconds())[step as DueStep]).toBeNull();
    await lease(`now() - interval '1 second'`);
    expect((await readSeconds())[step as DueStep]).toBe(0);
  },
);

test.each(Object.entries(ACTOR_OF_STEP))(
  'a row of the queue %s that is set aside is found when it is due',
  async (step, of) => {
    await owner.pool.query(inserts[step as DueStep](`now() - interval '1 second'`));
    await owner.pool.query(
      `insert into dead_row (workspace_id, step, actor, subject_id, tries, last_error, first_failed_at, last_failed_at, retry_at)
     values ('user', $1, $2, $1, 1, 'any', now(), now(), now() + interval '1 minute')`,
      [step, of],
    );
    expect((await readSeconds())[step as DueStep]).toBeNull();
    await owner.pool.query(`update dead_row set retry_at = now() - interval '1 second'`);
    expect((await readSeconds())[step as DueStep]).toBe(0);
  },
);

test('a free row behind many claimed rows is found', async () => {
  await owner.pool.query(
    `insert into recipient (workspace_id, id, email_id, address, domain, status, next_attempt_at, created_at, claimed_by, claimed_until)
     select 'user', 'claimed' || n, 'email', 'a@b.test', 'b.test', 'pending', now() - interval '1 minute', now(), 'other',
       now() + interval '1 minute' from generate_series(1, 5000) n`,
  );
  await owner.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts_allowed, next_attempt_at, created_at,
       claimed_by, claimed_until)
     select 'user', 'claimed' || n, 'email', 'endpoint' || n % 300, 'webhook', 'pending', 4, now() - interval '1 minute', now(), 'other',
       now() + interval '1 minute' from generate_series(1, 5000) n`,
  );
  await owner.pool.query(inserts.send('now()'));
  await owner.pool.query(inserts.deliver('now()'));
  expect(await readSeconds()).toMatchObject({ send: 0, deliver: 0 });
});

test('no table is scanned', async () => {
  const { rows } = await actor.pool.query<{ 'QUERY PLAN': string }>(`explain ${dueWorkSql(steps)}`);
  const scans = rows.map((row) => row['QUERY PLAN']).filter((line) => /Seq Scan on/.test(line));
  expect(scans.filter((line) => !/ on (?:clock|dead_row|unindexed_email|word_build)\b/.test(line))).toEqual([]);
});
