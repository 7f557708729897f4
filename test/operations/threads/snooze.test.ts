import { describe, expect, test } from 'vitest';
import { wakeDueThreads } from '../../../actors/scheduling/wake-threads.ts';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { remindOfEmail, remindOfThread, snoozeThread } from '../../../operations/threads/snooze.ts';
import { updateThread } from '../../../operations/threads/thread-changes.ts';
import { mergeThreads } from '../../../operations/threads/thread-moves.ts';
import { loadThreads, pageInbox } from '../../../operations/threads/threads.ts';
import { trashThreads } from '../../../operations/threads/trash.ts';
import { undoThreadChange } from '../../../operations/threads/undo-change.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { makeMail, makeReply, newWorkspace, openThreadStage } from '../../support/stages/thread-stage.ts';

const stage = openForFile(() => openThreadStage());

const ALL = { after: null, before: null, isInverted: false, limit: 100 };
const IN_AN_HOUR = { text: 'in 1 hour', timezone: null };

/** An account with two received threads and a sent one, oldest first. */
async function openAccount() {
  const workspaceId = newWorkspace();
  await stage.arrive(workspaceId, [
    makeMail('em_1', 0),
    makeMail('em_2', 1),
    makeMail('em_3', 2, { type: 'sent', subject: 'Offer' }),
  ]);
  const [first = '', second = '', sent = ''] = await Promise.all(
    ['em_1', 'em_2', 'em_3'].map((id) => stage.findThread(workspaceId, id)),
  );
  const context = stage.makeContext(workspaceId);
  const inbox = async (search?: string) =>
    (await pageInbox(context, { isOfInbox: true, search }, ALL)).map(({ id }) => id);
  const read = async (id: string) => (await loadThreads(context, [id]))[0];
  /** Lets the times of its snoozes and reminders pass. */
  const pass = () =>
    stage.owner.pool.query(
      `update thread set snoozed_until = snoozed_until - interval '2 hours', remind_at = remind_at - interval '2 hours' where workspace_id = $1`,
      [workspaceId],
    );
  return { workspaceId, context, first, second, sent, inbox, read, pass };
}
const wake = () => wakeDueThreads(stage.threading, {});

describe('a snoozed thread', () => {
  test('leaves the inbox, is found by is:snoozed, and comes back on top when its time is over', async () => {
    const { context, first, second, inbox, read, pass, workspaceId } = await openAccount();
    await snoozeThread(context, first, IN_AN_HOUR);
    expect(await inbox()).toEqual([second]);
    expect(await inbox('is:snoozed')).toEqual([first]);
    expect(await inbox('-is:snoozed in:received')).toEqual([second]);
    expect(await wake()).toBe(0);
    await pass();
    expect(await wake()).toBe(1);
    expect(await inbox()).toEqual([first, second]);
    expect(await read(first)).toMatchObject({ snoozedUntil: null, returnedBy: 'snooze', returnedAt: expect.any(Date) });
    const events = (await stage.listEvents(workspaceId)).filter(({ thread_id: id }) => id === first);
    expect(events.slice(-2).map(({ kind, data }) => [kind, data])).toEqual([
      ['thread.snoozed', { until: expect.any(String), remindAt: null }],
      ['thread.returned', { by: 'snooze' }],
    ]);
    expect(await wake()).toBe(0);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('comes back at once when a reply comes, with why', async () => {
    const { context, first, second, inbox, read, workspaceId } = await openAccount();
    await snoozeThread(context, first, IN_AN_HOUR);
    await stage.arrive(workspaceId, [makeReply(['em_1'], 'em_4', 4)]);
    expect(await inbox()).toEqual([first, second]);
    expect(await read(first)).toMatchObject({ snoozedUntil: null, returnedBy: 'reply' });
    expect(await wake()).toBe(0);
  });

  test('stays snoozed when its user sends mail in it', async () => {
    const { context, first, second, inbox, workspaceId } = await openAccount();
    await snoozeThread(context, first, IN_AN_HOUR);
    await stage.arrive(workspaceId, [makeReply(['em_1'], 'em_4', 4, { type: 'sent' })]);
    expect(await inbox()).toEqual([second]);
  });

  test('comes back with null, and returns to its snooze with undo', async () => {
    const { context, first, second, inbox } = await openAccount();
    await snoozeThread(context, first, IN_AN_HOUR);
    const { undoId } = await snoozeThread(context, first, null);
    expect(await inbox()).toEqual([second, first]);
    await undoThreadChange(context, undoId ?? '');
    expect(await inbox()).toEqual([second]);
    const again = await snoozeThread(context, first, null);
    expect((await snoozeThread(context, first, null)).undoId).toBeNull();
    expect(again.undoId).not.toBeNull();
  });

  test('stays in the trash when its time is over there', async () => {
    const { context, first, second, inbox, pass, read } = await openAccount();
    await snoozeThread(context, first, IN_AN_HOUR);
    await trashThreads(context, [first]);
    await pass();
    await wake();
    expect(await inbox()).toEqual([second]);
    expect(await read(first)).toMatchObject({ snoozedUntil: null, returnedAt: null });
  });
});

describe('a thread that came back', () => {
  test('leaves the inbox when it is archived, and is on top again after undo', async () => {
    const { context, first, second, inbox, pass } = await openAccount();
    await updateThread(context, first, { isArchived: true });
    await snoozeThread(context, first, IN_AN_HOUR);
    await pass();
    await wake();
    expect(await inbox()).toEqual([first, second]);
    await updateThread(context, first, { isArchived: true });
    expect(await inbox()).toEqual([second]);
  });
});

describe('a reminder', () => {
  test('brings sent mail to the inbox when no reply came', async () => {
    const { context, first, second, sent, inbox, read, pass } = await openAccount();
    await remindOfThread(context, sent, IN_AN_HOUR);
    expect(await inbox()).toEqual([second, first]);
    await pass();
    expect(await wake()).toBe(1);
    expect(await inbox()).toEqual([sent, second, first]);
    expect(await read(sent)).toMatchObject({ remindAt: null, returnedBy: 'reminder', isArchived: false });
    await updateThread(context, sent, { isArchived: true });
    expect(await inbox()).toEqual([second, first]);
  });

  test('is cancelled by a reply', async () => {
    const { context, sent, read, pass, workspaceId } = await openAccount();
    await remindOfThread(context, sent, IN_AN_HOUR);
    await stage.arrive(workspaceId, [makeReply(['em_3'], 'em_4', 4)]);
    expect(await read(sent)).toMatchObject({ remindAt: null, returnedBy: null });
    await pass();
    expect(await wake()).toBe(0);
  });

  test('of an email that has no thread yet waits for it', async () => {
    const { context, workspaceId, read } = await openAccount();
    await stage.insert(workspaceId, [makeMail('em_9', 9, { type: 'sent', subject: 'Later' })]);
    const { remindAt } = await remindOfEmail(context, 'em_9', IN_AN_HOUR);
    await assignThreads(stage.threading, workspaceId, ['em_9']);
    const threadId = await stage.findThread(workspaceId, 'em_9');
    expect((await read(threadId))?.remindAt).toEqual(remindAt);
    expect((await remindOfEmail(context, 'em_9', null)).remindAt).toBeNull();
    expect((await read(threadId))?.remindAt).toBeNull();
    await expect(remindOfEmail(context, 'em_1', IN_AN_HOUR)).rejects.toThrow('not found');
  });

  test('goes to the thread that takes its messages in a merge', async () => {
    const { context, first, sent, read } = await openAccount();
    const { remindAt } = await remindOfThread(context, sent, IN_AN_HOUR);
    const merged = await mergeThreads(context, [first, sent]);
    expect((await read(merged))?.remindAt).toEqual(remindAt);
  });
});

describe('a time', () => {
  test.each([
    ['in 5 seconds', null, 'until', /at least 1 minute/],
    ['in 3 years', null, 'until', /1 year/],
    ['whenever', null, 'until', /ISO 8601/],
    ['05/06/2027', null, 'until', /can mean/],
    ['tomorrow', 'Mars/Base', 'timezone', /IANA/],
  ])('`%s` in the zone %s is refused at %s', async (text, timezone, field, message) => {
    const { context, first } = await openAccount();
    await expect(snoozeThread(context, first, { text, timezone })).rejects.toMatchObject({
      details: [{ field, message: expect.stringMatching(message) }],
    });
  });
});

test('threads due in many accounts come back once when two workers wake them at the same time', async () => {
  const accounts = await Promise.all(Array.from({ length: 4 }, () => openAccount()));
  for (const { context, first, second } of accounts)
    for (const id of [first, second]) await snoozeThread(context, id, IN_AN_HOUR);
  for (const { pass } of accounts) await pass();
  const counts = await Promise.all([wake(), wake(), wake()]);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(8);
  for (const { workspaceId } of accounts)
    expect((await stage.listEvents(workspaceId)).filter(({ kind }) => kind === 'thread.returned')).toHaveLength(2);
});

test('a worker that is killed before its commit leaves the thread due, with no event', async () => {
  const { context, first, pass, read, workspaceId } = await openAccount();
  await snoozeThread(context, first, IN_AN_HOUR);
  await pass();
  const fault = (point: string) => {
    if (point === 'snoozes.before-commit') throw new Error('killed');
  };
  await expect(wakeDueThreads(stage.threading, { fault })).rejects.toThrow('killed');
  expect((await read(first))?.returnedAt).toBeNull();
  expect((await stage.listEvents(workspaceId)).filter(({ kind }) => kind === 'thread.returned')).toEqual([]);
  expect(await wake()).toBe(1);
});
