import { afterAll, beforeAll, expect, test } from 'vitest';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { lockThreads } from '../../../db/queries/threads/thread-claim.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { updateEmail } from '../../../operations/emails/email-flags.ts';
import { updateThreads } from '../../../operations/threads/thread-changes.ts';
import { mergeThreads, moveEmails, splitThread } from '../../../operations/threads/thread-moves.ts';
import { loadThreads } from '../../../operations/threads/threads.ts';
import type { StoredMail } from '../../support/rows/email-rows.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import {
  makeMail,
  makeReply,
  newWorkspace,
  openThreadStage,
  type ThreadStage,
} from '../../support/stages/thread-stage.ts';

const ROUNDS = 8;

let stage: ThreadStage;
/** two gateways */
let contexts: (workspaceId: string) => [OperationContext, OperationContext];

beforeAll(async () => {
  stage = await openThreadStage();
  const other = stage.open('postroom_gateway');
  contexts = (workspaceId) => [stage.makeContext(workspaceId), stage.makeContext(workspaceId, other)];
});
afterAll(() => stage.close());

const listIds = async (workspaceId: string) => (await stage.listThreads(workspaceId)).map(({ id }) => id);

/** Threads of one message each, `em_0`, `em_1` and so on, oldest first. */
async function threadsOfOne(count: number) {
  const workspaceId = newWorkspace();
  await stage.arrive(
    workspaceId,
    Array.from({ length: count }, (_, n) => makeMail(`em_${n}`, n)),
  );
  return { workspaceId, threadIds: await listIds(workspaceId), gateways: contexts(workspaceId) };
}

/** Lets mails that are stored get their threads, each by a batch of its own, by two actors. */
function threadBySelf(workspaceId: string, mails: readonly StoredMail[]): Promise<unknown> {
  const actors = [stage.threading, testActorContext(stage.actor)] as const;
  return Promise.all(
    mails.map(({ emailId }, at) => assignThreads(actors[at % 2] ?? actors[0], workspaceId, [emailId])),
  );
}

test('threads that two gateways merge concurrently, in rings, end as one; every id leads there', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { workspaceId, threadIds, gateways } = await threadsOfOne(6);
    const merges = threadIds.map((id, at) => [id, threadIds[(at + 1) % 6] ?? '']);
    const replies = await Promise.all(merges.map((ids, at) => mergeThreads(gateways[at % 2] ?? gateways[0], ids)));
    expect(await listIds(workspaceId)).toEqual([threadIds[0]]);
    const living = await loadThreads(gateways[0], threadIds);
    expect(new Set(living.map((thread) => thread?.id))).toEqual(new Set([threadIds[0]]));
    expect(replies).toHaveLength(6);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  }
});

test('threads are merged while mail arrives in both, and nothing is lost or counted twice', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { workspaceId, threadIds, gateways } = await threadsOfOne(2);
    const replies = Array.from({ length: 12 }, (_, n) => makeReply([`em_${n % 2}`], `em_to_${n}`, 3 + n));
    await stage.insert(workspaceId, replies);
    await Promise.all([
      threadBySelf(workspaceId, replies),
      ...gateways.map((gateway) => mergeThreads(gateway, threadIds)),
      updateThreads(gateways[1], threadIds, { isRead: true }),
    ]);
    expect(await stage.listThreads(workspaceId)).toMatchObject([{ id: threadIds[0], message_count: 14 }]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  }
});

test('a thread is split while mail arrives in it: earlier mail stays, and replies join the right half', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const workspaceId = newWorkspace();
    const [one, other] = contexts(workspaceId);
    await stage.arrive(workspaceId, [
      makeMail('em_0', 0),
      makeReply(['em_0'], 'em_1', 1),
      makeReply(['em_0', 'em_1'], 'em_2', 2),
    ]);
    const threadId = await stage.findThread(workspaceId, 'em_0');
    const toOld = Array.from({ length: 6 }, (_, n) => makeReply(['em_0'], `em_old_${n}`, 3 + n));
    const toNew = Array.from({ length: 6 }, (_, n) => makeReply(['em_0', 'em_1'], `em_new_${n}`, 3 + n));
    await stage.insert(workspaceId, [...toOld, ...toNew]);
    const [{ newThreadId }] = await Promise.all([
      splitThread(one, threadId, ['em_1']),
      threadBySelf(workspaceId, [...toOld, ...toNew]),
      ...['em_0', 'em_1', 'em_2'].map((id) => updateEmail(other, id, { isRead: true, isArchived: round % 2 === 0 })),
    ]);
    for (const { emailId } of toOld) expect(await stage.findThread(workspaceId, emailId)).toBe(threadId);
    // Answers that came before the split stayed.
    const homes = await Promise.all(toNew.map(({ emailId }) => stage.findThread(workspaceId, emailId)));
    expect(homes.every((home) => home === threadId || home === newThreadId)).toBe(true);
    await stage.arrive(workspaceId, [makeReply(['em_0', 'em_1'], 'em_after', 20)]);
    expect(await stage.findThread(workspaceId, 'em_after')).toBe(newThreadId);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  }
});

test('two gateways move messages back and forth while threads are merged and marked', async () => {
  const workspaceId = newWorkspace();
  const gateways = contexts(workspaceId);
  const mails = Array.from({ length: 24 }, (_, n) =>
    n % 6 === 0 ? makeMail(`em_${n}`, n) : makeReply([`em_${n - (n % 6)}`], `em_${n}`, n),
  );
  await stage.arrive(workspaceId, mails);
  for (let round = 0; round < ROUNDS; round++) {
    const threadIds = await listIds(workspaceId);
    const at = (n: number) => threadIds[(n + round) % threadIds.length] ?? '';
    const works = [
      moveEmails(gateways[0], [`em_${round}`, `em_${round + 6}`, `em_${round + 12}`], at(0)),
      moveEmails(gateways[1], [`em_${round}`, `em_${round + 7}`], at(1)),
      updateThreads(gateways[0], threadIds, { isRead: round % 2 === 0, addLabels: [`a${round}`] }),
      updateThreads(gateways[1], threadIds.toReversed(), { isArchived: round % 2 === 0, addLabels: [`b${round}`] }),
      ...(at(2) === at(3) ? [] : [mergeThreads(gateways[1], [at(2), at(3)])]),
      ...mails.slice(0, 6).map(({ emailId }) => updateEmail(gateways[1], emailId, { isRead: round % 3 === 0 })),
    ];
    await Promise.all(works);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  }
});

test('a change that waits too long for locks fails with conflict, and mail is still threaded', async () => {
  const { workspaceId, threadIds, gateways } = await threadsOfOne(2);
  await inTransaction(stage.actor, async (client) => {
    await lockThreads(client, workspaceId);
    const refused = { code: 'conflict', retryAfterSeconds: 1, isFinal: false };
    await Promise.all([
      expect(mergeThreads(gateways[0], threadIds)).rejects.toMatchObject(refused),
      expect(updateThreads(gateways[1], threadIds, { isRead: true })).rejects.toMatchObject(refused),
    ]);
  });
  expect(await stage.listThreads(workspaceId)).toMatchObject([{ unread_count: 1 }, { unread_count: 1 }]);
  expect(await mergeThreads(gateways[0], threadIds)).toBe(threadIds[0]);
});

test('a change that loses a deadlock is retried', async () => {
  const { workspaceId, threadIds, gateways } = await threadsOfOne(2);
  const [one = '', other = ''] = threadIds;
  const touch = `update email set preview = 'x' where workspace_id = $1 and thread_id = $2`;
  let changing: Promise<unknown> = Promise.resolve();
  await inTransaction(stage.owner, async (client) => {
    // The change is the one that finds the deadlock, and is ended.
    await client.query(`set local deadlock_timeout = '1min'`);
    await client.query(touch, [workspaceId, other]);
    changing = updateThreads(gateways[0], threadIds, { isRead: true });
    await untilWaiting();
    await client.query(touch, [workspaceId, one]);
  });
  await changing;
  expect(await stage.listThreads(workspaceId)).toMatchObject([{ unread_count: 0 }, { unread_count: 0 }]);
  expect(await stage.findFaults(workspaceId)).toEqual([]);
});

/** Until some connection waits for a row that another holds. */
async function untilWaiting(): Promise<void> {
  for (;;) {
    const { rows } = await stage.owner.pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return;
  }
}
