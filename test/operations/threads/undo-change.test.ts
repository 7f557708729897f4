import { describe, expect, test } from 'vitest';
import { removeLeftovers } from '../../../db/queries/upkeep/remove-leftovers.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { updateThread, updateThreads } from '../../../operations/threads/thread-changes.ts';
import { restoreThreads, trashThreads } from '../../../operations/threads/trash.ts';
import { undoThreadChange } from '../../../operations/threads/undo-change.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { makeMail, makeReply, newWorkspace, openThreadStage } from '../../support/stages/thread-stage.ts';

const stage = openForFile(() => openThreadStage());

/** Two threads: one with a received, a sent and an archived message, and one of a single message. */
async function mailbox() {
  const workspaceId = newWorkspace();
  await stage.arrive(workspaceId, [
    makeMail('em_1', 0),
    makeReply(['em_1'], 'em_2', 1, { type: 'sent' }),
    makeReply(['em_1'], 'em_3', 2, { isArchived: true }),
    makeMail('em_4', 3),
  ]);
  const context = stage.makeContext(workspaceId);
  const [one, other] = [await stage.findThread(workspaceId, 'em_1'), await stage.findThread(workspaceId, 'em_4')];
  await updateThread(context, one, { labels: ['rent', 'Home'] });
  return { workspaceId, context, one, other };
}

/** What a change and its undoing may touch. */
async function readState(workspaceId: string) {
  const emails = (await stage.listEmails(workspaceId)).map(({ id, is_read, is_archived, read_at, trashed_at }) => {
    return { id, is_read, is_archived, read_at, isTrashed: trashed_at !== null };
  });
  const threads = (await stage.listThreads(workspaceId)).map((thread) => {
    const { id, labels, unread_count, archived_count, trashed_at } = thread;
    return { id, labels, unread_count, archived_count, isTrashed: trashed_at !== null };
  });
  return { emails, threads };
}

const readCode = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ code }: { code: string }) => code,
  );
const readUndoId = ({ undoId }: { undoId: string | null }) => undoId ?? 'no undo';

describe('an undone change', () => {
  test.each<[string, (context: OperationContext, ids: string[]) => ReturnType<typeof updateThreads>]>([
    ['of the read flag', (context, ids) => updateThreads(context, ids, { isRead: true })],
    ['back to unread', (context, ids) => updateThreads(context, ids, { isRead: false })],
    ['of the archive', (context, ids) => updateThreads(context, ids, { isArchived: true })],
    ['out of the archive', (context, ids) => updateThreads(context, ids, { isArchived: false })],
    ['of labels', (context, ids) => updateThreads(context, ids, { addLabels: ['work'], removeLabels: ['rent'] })],
    ['of all labels', (context, ids) => updateThreads(context, ids, { labels: [] })],
    [
      'of flags and labels',
      (context, ids) => updateThreads(context, ids, { isRead: true, isArchived: true, labels: ['x'] }),
    ],
    ['to the trash', trashThreads],
  ])('%s leaves everything as it was before', async (_what, change) => {
    const { workspaceId, context, one, other } = await mailbox();
    // One message is read before, at a time that comes back.
    await updateThreads(context, [other], { isRead: true });
    const before = await readState(workspaceId);
    const changed = await change(context, [one, other]);
    expect(await readState(workspaceId)).not.toEqual(before);
    const undone = await undoThreadChange(context, readUndoId(changed));
    expect(undone.skippedCount).toBe(0);
    expect(await readState(workspaceId)).toEqual(before);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('from the trash moves the threads there again', async () => {
    const { workspaceId, context, one, other } = await mailbox();
    await trashThreads(context, [one, other]);
    const before = await readState(workspaceId);
    const restored = await restoreThreads(context, [one, other]);
    await undoThreadChange(context, readUndoId(restored));
    expect(await readState(workspaceId)).toEqual(before);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('leaves threads alone that mail, the user or a merge changed since', async () => {
    const { workspaceId, context, one, other } = await mailbox();
    await stage.arrive(workspaceId, [makeMail('em_5', 4), makeMail('em_6', 5)]);
    const [third, fourth] = [await stage.findThread(workspaceId, 'em_5'), await stage.findThread(workspaceId, 'em_6')];
    const { undoId } = await updateThreads(context, [one, other, third, fourth], { isArchived: true, isRead: true });
    await stage.arrive(workspaceId, [makeReply(['em_1'], 'em_7', 6)]);
    await updateThread(context, other, { isRead: false });
    await updateThread(context, other, { isRead: true });
    await trashThreads(context, [third]);
    const before = await readState(workspaceId);
    expect(await undoThreadChange(context, undoId ?? '')).toEqual({ threadIds: [fourth], skippedCount: 3 });
    const after = await readState(workspaceId);
    const without = ({ threads }: typeof before) => threads.filter(({ id }) => id !== fourth);
    expect(without(after)).toEqual(without(before));
    expect(after.threads.find(({ id }) => id === fourth)).toMatchObject({ unread_count: 1, archived_count: 0 });
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('announces what it changed back', async () => {
    const { workspaceId, context, one, other } = await mailbox();
    const changed = await updateThreads(context, [one, other], { isRead: true, addLabels: ['work'] });
    const { length } = await stage.listEvents(workspaceId);
    await undoThreadChange(context, readUndoId(changed));
    const events = (await stage.listEvents(workspaceId, length)).map(({ kind, thread_id }) => `${kind} ${thread_id}`);
    const expected = [one, other].flatMap((id) => [`thread.labelled ${id}`, `thread.unread ${id}`]);
    expect(events.toSorted((a, b) => a.localeCompare(b))).toEqual(expected.toSorted((a, b) => a.localeCompare(b)));
  });
});

test('a change is undone once, also by 50 requests at once', async () => {
  const { workspaceId, context, one, other } = await mailbox();
  const before = await readState(workspaceId);
  const id = readUndoId(await updateThreads(context, [one, other], { isRead: true, labels: [] }));
  const codes = await Promise.all(Array.from({ length: 50 }, () => readCode(undoThreadChange(context, id))));
  expect(codes.filter((code) => code === 'done')).toHaveLength(1);
  expect(new Set(codes)).toEqual(new Set(['done', 'not_found']));
  expect(await readState(workspaceId)).toEqual(before);
});

test.each(['undo.taken', 'undo.before-commit'] as const)(
  'a process that ends at %s undoes nothing, and the change can still be undone',
  async (point) => {
    const { workspaceId, context, one, other } = await mailbox();
    const before = await readState(workspaceId);
    const id = readUndoId(await updateThreads(context, [one, other], { isRead: true, labels: ['x'] }));
    const changed = await readState(workspaceId);
    const fault = (at: string) => {
      if (at === point) throw new Error('ends here');
    };
    await expect(undoThreadChange({ ...context, fault }, id)).rejects.toThrow('ends here');
    expect(await readState(workspaceId)).toEqual(changed);
    await undoThreadChange(context, id);
    expect(await readState(workspaceId)).toEqual(before);
  },
);

test('a change of another account is not found', async () => {
  const { workspaceId, context, one } = await mailbox();
  const stranger = stage.makeContext(newWorkspace());
  const id = readUndoId(await updateThreads(context, [one], { isRead: true }));
  const before = await readState(workspaceId);
  for (const asked of [id, id.toUpperCase(), `${id} `, '', 'chg_x', "' or true --"])
    expect(await readCode(undoThreadChange(stranger, asked))).toBe('not_found');
  expect(await readState(workspaceId)).toEqual(before);
  expect(await readCode(undoThreadChange(context, id))).toBe('done');
});

test('a request that changes nothing has no undo', async () => {
  const { context, one } = await mailbox();
  await updateThreads(context, [one], { isRead: true });
  expect(await updateThreads(context, [one], { isRead: true })).toEqual({ threadIds: [one], undoId: null });
});

test('a change can be undone for a day, and the scheduling actor removes it then', async () => {
  const { workspaceId, context, one } = await mailbox();
  const id = readUndoId(await updateThreads(context, [one], { isRead: true }));
  const age = (interval: string) =>
    stage.owner.pool.query(
      `update thread_undo set expires_at = created_at + interval '24 hours' - $3::interval where workspace_id = $1 and id = $2`,
      [workspaceId, id, interval],
    );
  const stored = async () =>
    (await stage.owner.pool.query('select from thread_undo where workspace_id = $1 and id = $2', [workspaceId, id]))
      .rowCount;
  await age('23 hours 50 minutes');
  await removeLeftovers(stage.actor);
  expect(await stored()).toBe(1);
  await age('25 hours');
  expect(await readCode(undoThreadChange(context, id))).toBe('not_found');
  await removeLeftovers(stage.actor);
  expect(await stored()).toBe(0);
});

test('an account keeps its newest 2,000 changes', async () => {
  const { workspaceId, context, one } = await mailbox();
  await stage.owner.pool.query(
    `insert into thread_undo (workspace_id, id, thread_count, message_count, state, created_at, expires_at)
     select $1, 'chg_' || lpad(n::text, 32, '0'), 1, 1, '[]', now(), now() + interval '1 day' from generate_series(1, 2500) n`,
    [workspaceId],
  );
  await updateThreads(context, [one], { isRead: true });
  const { rows } = await stage.owner.pool.query<{ count: number; least: string }>(
    'select count(*)::int as count, min(id) as least from thread_undo where workspace_id = $1',
    [workspaceId],
  );
  expect(rows).toEqual([{ count: 2_000, least: `chg_${String(503).padStart(32, '0')}` }]);
});
