import { describe, expect, test } from 'vitest';
import { countEmailsSql } from '../../../db/queries/emails/email-counter.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { updateEmail } from '../../../operations/emails/email-flags.ts';
import {
  listLabels,
  type ThreadChange,
  updateThread,
  updateThreads,
} from '../../../operations/threads/thread-changes.ts';
import { mergeThreads } from '../../../operations/threads/thread-moves.ts';
import { loadThreads } from '../../../operations/threads/threads.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { makeMail, makeReply, newWorkspace, openThreadStage } from '../../support/stages/thread-stage.ts';
import { countStatements } from '../../support/statements.ts';

const stage = openForFile(() => openThreadStage());

/** A thread of a received, a sent, a read, and an archived message, and another of one. */
async function mailbox() {
  const workspaceId = newWorkspace();
  await stage.arrive(workspaceId, [
    makeMail('em_1', 0),
    makeReply(['em_1'], 'em_2', 1, { type: 'sent' }),
    makeReply(['em_1'], 'em_3', 2, { isRead: true, ownAddress: 'us@home.test' }),
    makeReply(['em_1'], 'em_4', 3, { isArchived: true }),
    makeMail('em_5', 4),
  ]);
  const [one = '', other = ''] = (await stage.listThreads(workspaceId)).map(({ id }) => id);
  const events = (await stage.listEvents(workspaceId)).length;
  return { workspaceId, context: stage.makeContext(workspaceId), one, other, events };
}

const kindsSince = async (workspaceId: string, skipped: number) =>
  (await stage.listEvents(workspaceId, skipped)).map(({ kind, thread_id, data }) => [kind, thread_id, data]);

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ code, details, message }) => [code, details?.[0]?.field, message],
  );

describe('flags', () => {
  test('are set on all received messages, once, with exact counters and one event each', async () => {
    const { workspaceId, context, one, events } = await mailbox();
    await updateThread(context, one, { isRead: true, isArchived: true });
    expect(await stage.listThreads(workspaceId)).toMatchObject([
      { unread_count: 0, archived_count: 3 },
      { unread_count: 1 },
    ]);
    const emails = (await stage.listEmails(workspaceId)).filter((email) => email.thread_id === one);
    expect(emails.map((email) => [email.type, email.is_read, email.is_archived, email.read_at !== null])).toEqual([
      ['received', true, true, true],
      ['sent', false, false, false],
      ['received', true, true, true],
      ['received', true, true, true],
    ]);
    expect(await kindsSince(workspaceId, events)).toEqual([
      ['thread.read', one, {}],
      ['thread.archived', one, {}],
    ]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);

    await updateThread(context, one, { isRead: false, isArchived: false });
    expect(await stage.listThreads(workspaceId)).toMatchObject([
      { unread_count: 3, archived_count: 0 },
      { unread_count: 1 },
    ]);
    expect((await kindsSince(workspaceId, events + 2)).map(([kind]) => kind)).toEqual([
      'thread.unread',
      'thread.unarchived',
    ]);
    expect((await stage.listEmails(workspaceId)).every((email) => email.read_at === null)).toBe(true);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('that are already set change nothing and add no event', async () => {
    const { workspaceId, context, one, other, events } = await mailbox();
    await updateThreads(context, [one, other], { isRead: true });
    const before = await stage.listThreads(workspaceId);
    await updateThreads(context, [one, other, one], { isRead: true, addLabels: [], removeLabels: ['none'] });
    expect(await stage.listThreads(workspaceId)).toEqual(before);
    expect(await kindsSince(workspaceId, events)).toEqual([
      ['thread.read', expect.any(String), {}],
      ['thread.read', expect.any(String), {}],
    ]);
  });

  test('of a thread without received messages stay unchanged', async () => {
    const workspaceId = newWorkspace();
    await stage.arrive(workspaceId, [makeMail('em_1', 0, { type: 'sent' })]);
    await updateThread(stage.makeContext(workspaceId), await stage.findThread(workspaceId, 'em_1'), {
      isRead: true,
      isArchived: true,
    });
    expect(await stage.listThreads(workspaceId)).toMatchObject([{ unread_count: 0, archived_count: 0 }]);
    expect(await stage.listEvents(workspaceId)).toHaveLength(1);
  });

  test('do not apply to later mail, which unarchives a thread', async () => {
    const { workspaceId, context, one } = await mailbox();
    const isArchived = async () => (await loadThreads(context, [one])).map((thread) => thread?.isArchived);
    await updateThread(context, one, { isRead: true, isArchived: true });
    expect(await isArchived()).toEqual([true]);
    await stage.arrive(workspaceId, [makeReply(['em_1'], 'em_6', 6)]);
    expect(await isArchived()).toEqual([false]);
    expect(await loadThreads(context, [one])).toMatchObject([{ unreadCount: 1 }]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('of several threads are set for all or none; another user’s id counts as unknown', async () => {
    const { workspaceId, context, one, other } = await mailbox();
    const foreign = (await mailbox()).one;
    const before = await stage.listThreads(workspaceId);
    // The second has no wall of row-level security, so that the statements alone must know whose rows they touch.
    for (const gateway of [context, stage.makeContext(workspaceId, stage.actor)])
      for (const unknown of [foreign, 'th_none', "';--"])
        expect(await refusal(updateThreads(gateway, [one, unknown, other], { isRead: true, labels: ['a'] }))).toEqual([
          'not_found',
          undefined,
          'Thread not found',
        ]);
    expect(await stage.listThreads(workspaceId)).toEqual(before);
    expect((await updateThreads(context, [other, one], { isRead: true })).threadIds).toEqual([other, one]);
    expect(await stage.listThreads(workspaceId)).toMatchObject([{ unread_count: 0 }, { unread_count: 0 }]);
  });

  test('may be set by the id of a merged thread', async () => {
    const { context, one, other } = await mailbox();
    await mergeThreads(context, [one, other]);
    expect((await updateThreads(context, [other, one], { isRead: true })).threadIds).toEqual([one]);
    expect(await updateThread(context, other, { isRead: false })).toEqual({ threadId: one });
  });

  test('of 10,000 messages need only one statement more than of 1', async () => {
    const workspaceId = newWorkspace();
    const context = stage.makeContext(workspaceId);
    await manyMessages(workspaceId, 10_000);
    await stage.arrive(workspaceId, [makeMail('em_x', 0)]);
    const small = await stage.findThread(workspaceId, 'em_x');
    const of = (threadId: string) =>
      countStatements(() => updateThread(context, threadId, { isRead: true, isArchived: true }));
    const startedAt = performance.now();
    const large = await of('th_large');
    process.stdout.write(`10,000 messages read and archived in ${Math.round(performance.now() - startedAt)} ms\n`);
    expect((await of(small)).statements).toBe(8);
    expect(large.statements).toBe(9);
    expect((await stage.listEvents(workspaceId)).map(({ kind, thread_id }) => [kind, thread_id]).slice(1, 3)).toEqual([
      ['thread.read', 'th_large'],
      ['thread.archived', 'th_large'],
    ]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('of more than 20,000 messages cannot be set for several threads in one call', async () => {
    const workspaceId = newWorkspace();
    const context = stage.makeContext(workspaceId);
    await manyMessages(workspaceId, 20_001);
    await stage.arrive(workspaceId, [makeMail('em_x', 0)]);
    const threadIds = (await stage.listThreads(workspaceId)).map(({ id }) => id);
    const [code, field, message] = await refusal(updateThreads(context, threadIds, { isRead: true }));
    expect([code, field]).toEqual(['validation', 'threadIds']);
    expect(message).toBe('20002 messages would change; at most 20000 can change at once. Give fewer threads.');
    expect(await stage.listThreads(workspaceId)).toMatchObject([{ unread_count: 20_001 }, { unread_count: 1 }]);
  });

  test('stay exact while single messages are marked concurrently', async () => {
    const { workspaceId, context, one } = await mailbox();
    const other = stage.makeContext(workspaceId, stage.open('postroom_gateway'));
    for (let round = 0; round < 15; round++) {
      const value = round % 2 === 0;
      const works: [OperationContext, ThreadChange][] = [
        [context, { isRead: value }],
        [other, { isArchived: value, isRead: !value }],
      ];
      await Promise.all([
        ...works.map(([of, change]) => updateThread(of, one, change)),
        ...['em_1', 'em_3', 'em_4'].map((id) => updateEmail(other, id, { isRead: !value, isArchived: value })),
      ]);
      expect(await stage.findFaults(workspaceId)).toEqual([]);
    }
  });
});

describe('labels', () => {
  test('are added, removed and replaced, keep their spelling and are compared without case', async () => {
    const { workspaceId, context, one, other, events } = await mailbox();
    const readLabels = async (id: string) => (await loadThreads(context, [id]))[0]?.labels;
    await updateThreads(context, [one, other], { addLabels: [' Work ', 'Cafe\u0301', 'WORK'] });
    expect(await readLabels(one)).toEqual(['Work', 'Caf\u00e9']);
    await updateThread(context, one, { addLabels: ['work', 'Tax'], removeLabels: ['CAF\u00c9'] });
    expect(await readLabels(one)).toEqual(['Work', 'Tax']);
    await updateThread(context, one, { labels: ['tax', 'TAX', 'home'] });
    expect(await readLabels(one)).toEqual(['tax', 'home']);
    await updateThread(context, one, { labels: [] });
    expect(await readLabels(one)).toEqual([]);
    expect(await readLabels(other)).toEqual(['Work', 'Caf\u00e9']);
    expect(await kindsSince(workspaceId, events)).toEqual([
      ['thread.labelled', expect.any(String), { labels: ['Work', 'Caf\u00e9'] }],
      ['thread.labelled', expect.any(String), { labels: ['Work', 'Caf\u00e9'] }],
      ['thread.labelled', one, { labels: ['Work', 'Tax'] }],
      ['thread.labelled', one, { labels: ['tax', 'home'] }],
      ['thread.labelled', one, { labels: [] }],
    ]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('are listed with their total and unread threads, regardless of case', async () => {
    const { workspaceId, context, one, other } = await mailbox();
    await stage.arrive(workspaceId, [makeMail('em_6', 6, { isRead: true })]);
    const third = await stage.findThread(workspaceId, 'em_6');
    await updateThreads(context, [one, third], { addLabels: ['Work'] });
    await updateThread(context, other, { addLabels: ['work', 'Tax'] });
    expect(await listLabels(context)).toEqual([
      { name: 'Tax', threadCount: 1, unreadThreadCount: 1 },
      { name: 'Work', threadCount: 3, unreadThreadCount: 2 },
    ]);
    expect(await listLabels(stage.makeContext(newWorkspace()))).toEqual([]);
    await mergeThreads(context, [one, other, third]);
    expect(await listLabels(context)).toEqual([
      { name: 'Tax', threadCount: 1, unreadThreadCount: 1 },
      { name: 'Work', threadCount: 1, unreadThreadCount: 1 },
    ]);
  });

  test('of a thread that mail merges into another are kept', async () => {
    const workspaceId = newWorkspace();
    const context = stage.makeContext(workspaceId);
    await stage.arrive(workspaceId, [makeMail('em_1', 0), makeMail('em_2', 1)]);
    const [one = '', other = ''] = (await stage.listThreads(workspaceId)).map(({ id }) => id);
    await updateThread(context, one, { labels: ['Work'] });
    await updateThread(context, other, { labels: ['tax', 'WORK'] });
    await stage.arrive(workspaceId, [makeReply(['em_1', 'em_2'], 'em_3', 2)]);
    expect(await stage.listThreads(workspaceId)).toMatchObject([
      { id: one, labels: ['Work', 'tax'], label_keys: ['work', 'tax'] },
    ]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('are at most 32 per thread; a merge keeps all, and then they can only decrease', async () => {
    const { context, one, other } = await mailbox();
    const many = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);
    await updateThread(context, one, { labels: many('a', 32) });
    expect(await refusal(updateThreads(context, [other, one], { addLabels: ['b'] }))).toEqual([
      'validation',
      'addLabels',
      'A thread can have at most 32 labels',
    ]);
    await updateThread(context, one, { addLabels: ['b'], removeLabels: ['a0'] });
    await updateThread(context, other, { labels: many('c', 32) });
    await mergeThreads(context, [one, other]);
    expect((await loadThreads(context, [one]))[0]?.labels).toHaveLength(64);
    await updateThread(context, one, { removeLabels: ['b'] });
    expect((await refusal(updateThread(context, one, { addLabels: ['b'] })))[0]).toBe('validation');
    expect((await loadThreads(context, [one]))[0]?.labels).toHaveLength(63);
  });
});

test.each<[ThreadChange, string]>([
  [{}, 'isRead'],
  [{ labels: ['a'], addLabels: ['b'] }, 'labels'],
  [{ addLabels: ['a', 'B'], removeLabels: ['b'] }, 'removeLabels'],
  [{ addLabels: ['a', ' '] }, 'addLabels.1'],
  [{ labels: ['a'.repeat(65)] }, 'labels.0'],
  [{ removeLabels: ['a\u0000'] }, 'removeLabels.0'],
  [{ addLabels: Array.from({ length: 33 }, (_, n) => `${n}`) }, 'addLabels'],
])('%j is rejected and the field named', async (change, field) => {
  const { context, one, workspaceId, events } = await mailbox();
  expect((await refusal(updateThread(context, one, change))).slice(0, 2)).toEqual(['validation', field]);
  expect(await stage.listEvents(workspaceId, events)).toEqual([]);
});

test('changes between 1 and 100 threads per call', async () => {
  const { context, one } = await mailbox();
  for (const ids of [[], Array.from({ length: 101 }, () => one)])
    expect((await refusal(updateThreads(context, ids, { isRead: true }))).slice(0, 2)).toEqual([
      'validation',
      'threadIds',
    ]);
});

const INSERTED_AT_ONCE = 2_500;

/** A thread th_large of so many received messages, an hour apart, straight into the tables. */
async function manyMessages(workspaceId: string, count: number): Promise<void> {
  for (let first = 0; first < count; first += INSERTED_AT_ONCE)
    await stage.actor.pool.query(
      `with e as (
         insert into email (workspace_id, id, type, status, created_at, own_address, own_domain, message_id, subject, base_subject, from_address,
           from_text, to_addresses, cc_addresses, preview, thread_id, thread_position, thread_reason)
         select $1, 'em_' || lpad(n::text, 5, '0'), 'received', 'delivered', '2026-01-01'::timestamptz + n * interval '1 hour', 'me@home.test',
           'home.test', '<' || n || '@x.test>', 'rent', 'rent', 'ann@a.test', 'ann@a.test', '{me@home.test}', '{}', '', 'th_large', n, 'new'
         from generate_series($2::integer, $3::integer) n returning *)
       ${countEmailsSql('(select e.*, 1 as delta from e) x')}`,
      [workspaceId, first, Math.min(first + INSERTED_AT_ONCE, count) - 1],
    );
  await stage.actor.pool.query(
    `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text,
       message_count, received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at)
     select $1, 'th_large', '<0@x.test>', 'rent', '{ann@a.test,me@home.test}', '{ann@a.test,me@home.test}',
       E'rent\\nann@a.test\\nme@home.test', $2, $2, $2, 0, max(id), max(created_at), min(created_at)
     from email where workspace_id = $1`,
    [workspaceId, count],
  );
}
