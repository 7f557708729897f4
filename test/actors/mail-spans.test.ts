import { SpanStatusCode } from '@opentelemetry/api';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { switchTracing } from '../../actors/bus/tracing.ts';
import { noteStage, recordNoted } from '../../actors/mail-spans.ts';
import { type Database, openDatabase } from '../../db/connection/database.ts';
import { removeOldTraces } from '../../db/queries/emails/email-trace.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';
import { type RecordedSpans, recordSpans } from '../support/recorded-spans.ts';
import { waitFor } from '../support/wait-for.ts';

let testDatabase: TestDatabase;
let actor: Database;
let spans: RecordedSpans;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
  spans = recordSpans();
});
afterAll(async () => {
  await spans.close();
  await testDatabase.drop();
});
beforeEach(async () => {
  switchTracing(true);
  spans.clear();
  await actor.pool.query('delete from email_trace');
});

const parent = (n: number) => `00-${String(n).padStart(32, '1')}-${String(n).padStart(16, '2')}-01`;

async function keep(workspaceId: string, emailId: string, n: number, age = '0'): Promise<void> {
  await actor.pool.query(
    'insert into email_trace (workspace_id, email_id, trace_parent, created_at) values ($1, $2, $3, now() - $4::interval)',
    [workspaceId, emailId, parent(n), age],
  );
}

const mail = (emailId: string, workspaceId = 'usr_1') => ({ workspaceId, emailId });

test('work on an email becomes a span below the one that accepted it, with its real times', async () => {
  await keep('usr_1', 'em_1', 1);
  const startedTick = performance.now() - 5_000;
  noteStage(actor, [mail('em_1'), mail('em_2')], { name: 'parse', startedTick, attributes: { 'postroom.tries': 2 } });
  await recordNoted(actor);
  const span = spans.one('parse');
  expect(spans.all()).toHaveLength(1);
  expect(span.parentSpanContext).toMatchObject({ traceId: '1'.repeat(32), spanId: `${'2'.repeat(15)}1` });
  expect(span.attributes).toEqual({ 'postroom.email.id': 'em_1', 'postroom.tries': 2 });
  expect(span.status.code).toBe(SpanStatusCode.UNSET);
  expect(span.duration[0]).toBeGreaterThanOrEqual(5);
  expect(span.duration[0]).toBeLessThan(60);
  expect(span.endTime[0]).toBeGreaterThan(Date.now() / 1_000 - 60);
});

test('mail of another user with the same id gets no span', async () => {
  await keep('usr_2', 'em_1', 1);
  noteStage(actor, [mail('em_1')], { name: 'parse', startedTick: performance.now() });
  await recordNoted(actor);
  expect(spans.all()).toEqual([]);
});

test('a failure is recorded by its kind', async () => {
  await keep('usr_1', 'em_1', 1);
  noteStage(actor, [mail('em_1')], { name: 'smtp attempt', startedTick: performance.now(), error: 'deferred' });
  await recordNoted(actor);
  expect(spans.one('smtp attempt').status).toEqual({ code: SpanStatusCode.ERROR });
  expect(spans.one('smtp attempt').attributes['error.type']).toBe('deferred');
});

test('spans are recorded without a caller, and many stages are looked up together', async () => {
  await keep('usr_1', 'em_1', 1);
  await keep('usr_1', 'em_3', 3);
  const query = vi.spyOn(actor.pool, 'query');
  try {
    for (const name of ['parse', 'thread', 'route'])
      for (const id of ['em_1', 'em_3']) noteStage(actor, [mail(id)], { name, startedTick: performance.now() });
    await waitFor(() => expect(spans.all()).toHaveLength(6));
    expect(query).toHaveBeenCalledTimes(1);
  } finally {
    query.mockRestore();
  }
  expect(new Set(spans.all().map((span) => span.spanContext().traceId)).size).toBe(2);
});

test('without tracing, no row is looked up', async () => {
  await keep('usr_1', 'em_1', 1);
  switchTracing(false);
  const query = vi.spyOn(actor.pool, 'query');
  noteStage(actor, [mail('em_1')], { name: 'parse', startedTick: performance.now() });
  await recordNoted(actor);
  expect(query).not.toHaveBeenCalled();
  query.mockRestore();
});

test('while PostgreSQL is unreachable spans are lost, and nothing else', async () => {
  const url = 'postgresql://nobody@127.0.0.1:1/none';
  const away = openDatabase({ url, role: null, poolSize: 1, applicationName: 'test', onError: () => undefined });
  await keep('usr_1', 'em_1', 1);
  noteStage(away, [mail('em_1')], { name: 'parse', startedTick: performance.now() });
  await expect(recordNoted(away)).resolves.toBeUndefined();
  await away.close();
  expect(spans.all()).toEqual([]);
});

test('trace rows are removed after seven days, oldest first, in batches', async () => {
  for (const [n, age] of ['30 days', '8 days', '7 days 1 hour', '6 days 23 hours', '0'].entries())
    await keep('usr_1', `em_${n}`, n + 1, age);
  const left = async () =>
    (await actor.pool.query<{ id: string }>('select email_id as id from email_trace order by 1')).rows.map(
      ({ id }) => id,
    );
  expect(await removeOldTraces(actor, 2)).toBe(2);
  expect(await left()).toEqual(['em_2', 'em_3', 'em_4']);
  expect(await removeOldTraces(actor, 2)).toBe(1);
  expect(await removeOldTraces(actor, 2)).toBe(0);
  expect(await left()).toEqual(['em_3', 'em_4']);
});

test('a user of the gateway reads and writes no traces of other users', async () => {
  await keep('usr_1', 'em_1', 1);
  const gateway = testDatabase.open('postroom_gateway');
  const client = await gateway.pool.connect();
  try {
    await client.query('begin');
    await client.query(`select set_config('postroom.workspace_id', 'usr_2', true)`);
    expect((await client.query('select * from email_trace')).rows).toEqual([]);
    await expect(
      client.query(`insert into email_trace (workspace_id, email_id, trace_parent) values ('usr_1', 'em_9', 'x')`),
    ).rejects.toThrow(/row-level security/);
  } finally {
    await client.query('rollback');
    client.release();
  }
});
