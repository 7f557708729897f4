import { describe, expect, test } from 'vitest';
import { removeTrash } from '../../../actors/scheduling/remove-trash.ts';
import { removeOldMail } from '../../../actors/scheduling/retention.ts';
import { KEEP_FOREVER } from '../../../core/upkeep/retention.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { updateEmail } from '../../../operations/emails/email-flags.ts';
import { listEmails, pageEmails } from '../../../operations/emails/emails.ts';
import { listLabels, updateThread } from '../../../operations/threads/thread-changes.ts';
import { mergeThreads, moveEmails, splitThread } from '../../../operations/threads/thread-moves.ts';
import { countInbox, listThreads, pageInbox, readThread } from '../../../operations/threads/threads.ts';
import {
  removeEmails,
  removeThreads,
  restoreEmails,
  restoreThreads,
  trashEmails,
  trashThreads,
} from '../../../operations/threads/trash.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { makeMail, makeReply, newWorkspace, openThreadStage } from '../../support/stages/thread-stage.ts';

const stage = openForFile(() => openThreadStage());

/** A thread of a received, a sent and an archived message, and another of one unread message. */
async function mailbox() {
  const workspaceId = newWorkspace();
  await stage.arrive(workspaceId, [
    makeMail('em_1', 0),
    makeReply(['em_1'], 'em_2', 1, { type: 'sent' }),
    makeReply(['em_1'], 'em_3', 2, { isArchived: true }),
    makeMail('em_4', 3),
  ]);
  const one = await stage.findThread(workspaceId, 'em_1');
  const other = await stage.findThread(workspaceId, 'em_4');
  const events = (await stage.listEvents(workspaceId)).length;
  const bus = {
    publish: () => undefined,
    ask: (_subject: string, request: Parameters<typeof removeTrash>[2]) =>
      removeTrash(testActorContext(stage.actor), {}, request),
  };
  const context = { ...stage.makeContext(workspaceId), bus } as unknown as OperationContext;
  return { workspaceId, context, one, other, events };
}

const ALL = { after: null, before: null, isInverted: false, limit: 100 };
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/** What the lists and counts of a user show, and what they show of the trash. */
async function shown(context: OperationContext, isTrashed = false) {
  const query = { timeRange: 'all', isTrashed } as const;
  const { emails, total } = await listEmails(context, query, { limit: 100, offset: 0 });
  const { threads } = await listThreads(context, { isTrashed }, { limit: 100, cursor: null });
  const inbox = await pageInbox(context, { isTrashed, isArchived: 'any' }, ALL);
  const count = await countInbox(context, { isTrashed, isArchived: 'any' });
  return { emails: ids(emails), total, threads: ids(threads), inbox: ids(inbox), count };
}

const kindsSince = async (workspaceId: string, skipped: number) =>
  (await stage.listEvents(workspaceId, skipped)).map(({ kind, thread_id, data }) => [kind, thread_id, data]);

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ code }) => code,
  );

const NOTHING = { emails: [], total: 0, threads: [], inbox: [], count: 0 };

describe('a thread', () => {
  test('in the trash is in no list, count or search but those of the trash, and is restored unchanged', async () => {
    const { workspaceId, context, one, other, events } = await mailbox();
    const before = await shown(context);
    await updateThread(context, one, { addLabels: ['rent'] });
    expect((await trashThreads(context, [one])).threadIds).toEqual([one]);
    expect(await shown(context)).toEqual({ emails: ['em_4'], total: 1, threads: [other], inbox: [other], count: 1 });
    expect(await shown(context, true)).toEqual({
      emails: ['em_3', 'em_2', 'em_1'],
      total: 3,
      threads: [one],
      inbox: [one],
      count: 1,
    });
    expect(await listLabels(context)).toEqual([]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
    // Its id still leads to it.
    expect((await readThread(context, one)).thread.trashedAt).toBeInstanceOf(Date);

    expect((await trashThreads(context, [one])).threadIds).toEqual([one]);
    expect((await restoreThreads(context, [one])).threadIds).toEqual([one]);
    expect((await restoreThreads(context, [one])).threadIds).toEqual([one]);
    expect(await shown(context)).toEqual(before);
    expect(await shown(context, true)).toEqual(NOTHING);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
    expect(await kindsSince(workspaceId, events)).toEqual([
      ['thread.labelled', one, { labels: ['rent'] }],
      ['thread.trashed', one, {}],
      ['thread.restored', one, {}],
    ]);
  });

  test('is found in the trash by its words, and elsewhere again once it is restored', async () => {
    const { workspaceId, context, one } = await mailbox();
    await stage.actor.pool.query(
      `insert into unindexed_email (workspace_id, email_id, state, created_at)
       select workspace_id, id, 'new', created_at from email where workspace_id = $1 on conflict do nothing`,
      [workspaceId],
    );
    await stage.actor.pool.query(
      `insert into email_search (workspace_id, email_id, created_at, text, parties)
       select workspace_id, id, created_at, 'a text of ' || id, '{ann@a.test}' from email where workspace_id = $1`,
      [workspaceId],
    );
    const rows = async () =>
      (
        await stage.actor.pool.query(
          `select s.email_id, s.text, s.parties from email_search s where s.workspace_id = $1 order by 1`,
          [workspaceId],
        )
      ).rows;
    const before = await rows();
    await trashThreads(context, [one]);
    expect((await rows()).map(({ email_id }) => email_id)).toEqual(['em_4']);
    const search = (isTrashed: boolean, query: object) =>
      listEmails(context, { timeRange: 'all', isTrashed, ...query }, { limit: 9, offset: 0 });
    expect((await search(true, { search: 'text of em_2' })).total).toBe(1);
    expect((await search(false, { search: 'text of em_2' })).total).toBe(0);
    expect((await search(true, { address: 'ann@a.test' })).total).toBe(3);
    expect((await search(false, { address: 'ann@a.test' })).total).toBe(1);
    expect(ids(await pageEmails(context, { words: 'in:trash is:archived' }, ALL))).toEqual(['em_3']);
    expect(ids(await pageInbox(context, { search: 'in:trash is:unread' }, ALL))).toEqual([one]);
    expect(await pageInbox(context, { search: 'in:trash nothing' }, ALL)).toEqual([]);
    await restoreThreads(context, [one]);
    expect(await rows()).toEqual(before);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('is restored by a new message that joins it, and keeps its earlier ones', async () => {
    const { workspaceId, context, one, events } = await mailbox();
    await trashThreads(context, [one]);
    await stage.arrive(workspaceId, [makeReply(['em_1'], 'em_5', 5)]);
    expect(await stage.findThread(workspaceId, 'em_5')).toBe(one);
    expect((await shown(context)).threads[0]).toBe(one);
    expect(await shown(context, true)).toEqual(NOTHING);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
    expect((await kindsSince(workspaceId, events)).map(([kind]) => kind)).toEqual([
      'thread.trashed',
      'thread.restored',
      'email.threaded',
    ]);
  });

  test('does not change while it is in the trash', async () => {
    const { context, one, other } = await mailbox();
    await trashThreads(context, [one]);
    for (const change of [
      () => updateThread(context, one, { isRead: true }),
      () => updateEmail(context, 'em_1', { isRead: true }),
      () => mergeThreads(context, [one, other]),
      () => splitThread(context, one, ['em_1']),
      () => moveEmails(context, ['em_1'], other),
      () => moveEmails(context, ['em_4'], one),
    ])
      expect(await refusal(change())).toBe('conflict');
  });

  test('of another user is not found', async () => {
    const { one } = await mailbox();
    const { context } = await mailbox();
    for (const change of [trashThreads, restoreThreads, removeThreads])
      expect(await refusal(change(context, [one]))).toBe('not_found');
    for (const change of [trashEmails, restoreEmails])
      expect(await refusal(change(context, ['em_0']))).toBe('not_found');
  });
});

describe('an email', () => {
  test('leaves its thread for the trash, and returns to it with its place and its reason', async () => {
    const { workspaceId, context, one, events } = await mailbox();
    const before = await stage.listEmails(workspaceId);
    const [trashed] = await trashEmails(context, ['em_2']);
    expect(trashed?.threadId).not.toBe(one);
    expect(await shown(context)).toMatchObject({ emails: ['em_4', 'em_3', 'em_1'], total: 3, count: 2 });
    expect(await shown(context, true)).toMatchObject({ emails: ['em_2'], threads: [trashed?.threadId] });
    expect(await stage.findFaults(workspaceId)).toEqual([]);
    expect(await restoreEmails(context, ['em_2'])).toEqual([{ emailId: 'em_2', threadId: one }]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
    const unchanged = (email: (typeof before)[number]) => ({ ...email, updated_at: null });
    expect((await stage.listEmails(workspaceId)).map(unchanged)).toEqual(before.map(unchanged));
    expect(await kindsSince(workspaceId, events)).toEqual([
      ['thread.renumbered', one, {}],
      ['thread.trashed', trashed?.threadId, { from: one }],
      ['thread.merged', one, { alias: trashed?.threadId, thread: one }],
      ['thread.renumbered', one, {}],
      ['thread.restored', one, {}],
    ]);
  });

  test('that gets a reply returns to its thread, which takes both', async () => {
    const { workspaceId, context, one } = await mailbox();
    await trashEmails(context, ['em_3']);
    await stage.arrive(workspaceId, [makeReply(['em_3'], 'em_5', 5)]);
    expect(await stage.findThread(workspaceId, 'em_5')).toBe(one);
    expect(await stage.findThread(workspaceId, 'em_3')).toBe(one);
    expect(await shown(context, true)).toEqual(NOTHING);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('takes its thread with it when no other message is left', async () => {
    const { workspaceId, context, one, other } = await mailbox();
    const trashed = await trashEmails(context, ['em_1', 'em_2', 'em_3', 'em_4']);
    expect(trashed.map(({ threadId }) => threadId)).toEqual([one, one, one, other]);
    expect(await shown(context)).toEqual(NOTHING);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('stays apart when the thread that it left is in the trash, too', async () => {
    const { workspaceId, context, one } = await mailbox();
    const [trashed] = await trashEmails(context, ['em_2']);
    await trashThreads(context, [one]);
    expect(await restoreEmails(context, ['em_2'])).toEqual([{ emailId: 'em_2', threadId: trashed?.threadId }]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
    await restoreThreads(context, [one]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });
});

describe('deleting forever', () => {
  const settle = (workspaceId: string) =>
    stage.actor.pool.query(`update route set outcome = 'stored', decided_at = now() where workspace_id = $1`, [
      workspaceId,
    ]);

  test('removes a thread with its messages, from the lists or from the trash, and says so in the feed', async () => {
    const { workspaceId, context, one, other, events } = await mailbox();
    await settle(workspaceId);
    await trashThreads(context, [one]);
    expect(await removeThreads(context, [one, other])).toEqual({ removed: 4, inWork: 0 });
    expect([await shown(context), await shown(context, true)]).toEqual([NOTHING, NOTHING]);
    expect(await stage.listEmails(workspaceId)).toEqual([]);
    expect(await stage.listThreads(workspaceId)).toEqual([]);
    expect(await refusal(readThread(context, one))).toBe('not_found');
    expect((await kindsSince(workspaceId, events)).map(([kind]) => kind)).toEqual([
      'thread.trashed',
      'thread.trashed',
      'thread.deleted',
      'thread.deleted',
    ]);
  });

  test('removes one email of a thread, and none that is still being processed', async () => {
    const { workspaceId, context, one } = await mailbox();
    expect(await removeEmails(context, ['em_4'])).toEqual({ removed: 0, inWork: 1 });
    await settle(workspaceId);
    expect(await removeEmails(context, ['em_4', 'em_2'])).toEqual({ removed: 2, inWork: 0 });
    expect(await shown(context)).toMatchObject({ emails: ['em_3', 'em_1'], threads: [one] });
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('happens automatically after 30 days in the trash, and not before', async () => {
    const { workspaceId, context, one, other } = await mailbox();
    await settle(workspaceId);
    await trashThreads(context, [one, other]);
    const age = (emailId: string, interval: string) =>
      stage.actor.pool.query(
        'update trashed_email set trashed_at = now() - $3::interval where workspace_id = $1 and email_id = $2',
        [workspaceId, emailId, interval],
      );
    for (const id of ['em_1', 'em_2', 'em_3']) await age(id, '30 days 1 second');
    await age('em_4', '29 days 23 hours');
    await removeOldMail(testActorContext(stage.actor), { retention: KEEP_FOREVER }, { isStopping: () => false });
    expect(await shown(context, true)).toMatchObject({ emails: ['em_4'], threads: [other] });
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });
});

test('a process that ends before the commit has moved nothing, and after it everything, once', async () => {
  const { workspaceId, context, one, events } = await mailbox();
  const endAt = (point: string) => ({
    ...context,
    fault: (reached: string) => {
      if (reached === point) throw new Error('the process ends here');
    },
  });
  await expect(trashThreads(endAt('trash.before-commit'), [one])).rejects.toThrow('ends here');
  expect([await shown(context, true), await stage.listEvents(workspaceId, events)]).toEqual([NOTHING, []]);
  await expect(trashThreads(endAt('trash.after-commit'), [one])).rejects.toThrow('ends here');
  expect((await trashThreads(context, [one])).threadIds).toEqual([one]);
  expect(await kindsSince(workspaceId, events)).toEqual([['thread.trashed', one, {}]]);
  const fault = () => {
    throw new Error('the process ends here');
  };
  const request = { workspaceId, threadIds: [one], emailIds: null };
  await expect(removeTrash(testActorContext(stage.actor), { fault }, request)).rejects.toThrow('ends here');
  expect((await shown(context, true)).total).toBe(3);
  expect(await stage.findFaults(workspaceId)).toEqual([]);
});
