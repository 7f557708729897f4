import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createInProcessBus } from '../../../actors/bus/in-process.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { type BacktestSpan, backtestRule } from '../../../operations/routing/guard-backtest.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';

const MAILS = 20_000;
const USER = 'usr_backtest';
/** a user with fewer emails, three in each second */
const OTHER_USER = 'usr_backtest_ties';
const TIED_MAILS = 1_234;

let testDatabase: TestDatabase;
let actor: Database;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
  database = testDatabase.open('postroom_gateway');
  await insertEmails(USER, MAILS, `n * interval '1 minute'`);
  await insertEmails(OTHER_USER, TIED_MAILS, `(n / 3) * interval '1 second'`);
});
afterAll(() => testDatabase.drop());

/** Inserts received emails; `age` is an SQL expression of `n`, their number. */
async function insertEmails(workspaceId: string, count: number, age: string): Promise<void> {
  await actor.pool.query(
    `with e as (
       insert into email (workspace_id, id, type, status, created_at, own_address, own_domain, message_id, subject, base_subject, from_address,
         from_text, to_addresses, cc_addresses, preview)
       select $1, 'em_' || n, 'received', 'delivered', now() - ${age}, 'a@b.test', 'b.test', 'm' || n, 'casino', 'casino',
         'a@b.test', 'a@b.test', '{}', '{}', '' from generate_series(1, $2::integer) n returning workspace_id, id)
     insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, html_body, attachments,
       parser_version)
     select workspace_id, id, '[]', '{}', '{}', '{}', repeat('some words of a mail ', 100), repeat('<p>some words of a mail</p>', 100), '[]', 1
     from e`,
    [workspaceId, count],
  );
}

/** Returns the context of an operation, as far as a backtest uses it. */
function makeContext(respondBy: number, workspaceId = USER): OperationContext {
  return {
    workspaceId,
    database,
    bus: createInProcessBus(),
    now: () => new Date(),
    random: randomBytes,
    respondBy,
    settings: { hasGuardModel: false },
  } as unknown as OperationContext;
}

const tried = (config: unknown) => ({ type: 'explicit', config, action: { action: 'block' }, priority: 0 }) as const;
const span: BacktestSpan = { days: 30, limit: 1 };

test('a back-test returns its results, and where it stopped', async () => {
  const startedAt = performance.now();
  const words = await backtestRule(makeContext(startedAt + 9_000), tried({ hasWords: 'casino' }), span);
  const tookMs = performance.now() - startedAt;
  const subject = await backtestRule(makeContext(performance.now() + 9_000), tried({ subject: 'casino' }), span);
  const subjectMs = performance.now() - startedAt - tookMs;
  process.stdout.write(
    `back-test of ${MAILS} mails: words ${words.scanned} in ${Math.round(tookMs)} ms, subject ${subject.scanned} in ${Math.round(subjectMs)} ms\n`,
  );
  for (const { scanned, matched, isComplete, stoppedAt } of [words, subject]) {
    expect(matched).toBe(scanned);
    expect(isComplete).toBe(scanned === MAILS);
    expect(stoppedAt === null).toBe(isComplete);
  }
});

test('a back-test without enough time reports how far it came', async () => {
  // A clock on which each look takes a millisecond, so that the time is up after some mails on any machine.
  let tick = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++tick);
  const result = await backtestRule(makeContext(2_150), tried({ hasWords: 'casino' }), span).finally(() =>
    clock.mockRestore(),
  );
  expect(result.isComplete).toBe(false);
  expect(result.scanned).toBeGreaterThan(0);
  expect(result.scanned).toBeLessThan(150);
  expect(result.examples).toHaveLength(Math.min(1, result.scanned));
  const { rows } = await actor.pool.query<{ created_at: Date }>('select created_at from email where id = $1', [
    `em_${result.scanned}`,
  ]);
  expect(result.stoppedAt).toEqual(rows[0]?.created_at);
});

test.each([
  ['the outlines of emails', { subject: 'casino' }],
  ['the texts of emails', { hasWords: 'words' }],
])('a back-test reads %s in batches, each email once', async (_what, config) => {
  // A clock that stands still, so that the result does not depend on the speed of the machine.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  const result = await backtestRule(makeContext(9_000, OTHER_USER), tried(config), {
    days: 30,
    limit: TIED_MAILS,
  }).finally(() => clock.mockRestore());
  expect(result).toMatchObject({ scanned: TIED_MAILS, matched: TIED_MAILS, isComplete: true });
  expect(new Set(result.examples.map(({ emailId }) => emailId)).size).toBe(TIED_MAILS);
});
