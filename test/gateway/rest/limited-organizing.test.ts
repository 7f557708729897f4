import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
/** an agent who sees one address */
let limited: TeamPerson;
let count = 0;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  team = await openTeam(gateway, 'part');
  await gateway.mailbox({ workspaceId: team.box.workspaceId, domain: 'part.test', address: 'sales@part.test' });
  limited = await team.makeMember('agent', { addresses: ['sales@part.test'] });
});
afterAll(() => gateway.close());

interface Made {
  threadId: string;
  emailIds: string[];
}

function makeThread(ownAddress: string, messages = 1): Promise<Made> {
  const lastMessageAt = new Date(Date.now() - 3_600_000 + count++ * 1_000);
  const { workspaceId } = team.box;
  return insertThread(gateway.owner, {
    workspaceId,
    count: messages,
    lastMessageAt,
    ownAddress,
    subject: `Case ${count}`,
  });
}
const seen = (messages = 1) => makeThread('sales@part.test', messages);
const unseen = () => makeThread(team.box.address);

/** A thread with a message that the agent sees, and one of another address. */
async function mixed(): Promise<Made> {
  const made = await seen();
  const { workspaceId, address } = team.box;
  const [other = ''] = await insertMail(gateway.owner, [
    { workspaceId, ownAddress: address, threadId: made.threadId, threadPosition: 1 },
  ]);
  await gateway.owner.pool.query(
    `update thread set message_count = 2, received_count = 2, unread_count = 2 where workspace_id = $1 and id = $2`,
    [workspaceId, made.threadId],
  );
  return { ...made, emailIds: [...made.emailIds, other] };
}

const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
  limited.browser.rest(method, path, {}, body);
const byOwner = (method: 'GET' | 'POST', path: string, body?: unknown) =>
  team.owner.browser.rest(method, path, {}, body);
const bulk = (ids: readonly string[], change: Record<string, unknown>) =>
  call('POST', '/mail/threads/bulk', { thread_ids: ids, ...change });

/** What a change of mail would change. */
async function readRows({ threadId, emailIds }: Made): Promise<unknown> {
  const { pool } = gateway.owner;
  const { workspaceId } = team.box;
  const emails = await pool.query(
    `select id, thread_id, is_read, is_archived, trashed_at from email where workspace_id = $1 and id = any ($2) order by id`,
    [workspaceId, emailIds],
  );
  const threads = await pool.query(
    `select id, unread_count, archived_count, labels, trashed_at, assignee_id from thread where workspace_id = $1 and id = $2`,
    [workspaceId, threadId],
  );
  return [emails.rows, threads.rows];
}

describe('an agent who is limited to an address', () => {
  test('marks, archives and labels a thread of it, one and in bulk', async () => {
    const one = await seen(2);
    const other = await seen();
    expect((await call('PATCH', `/mail/threads/${one.threadId}`, { is_read: true })).statusCode).toBe(200);
    const changed = await bulk([one.threadId, other.threadId], { is_archived: true, add_labels: ['Later'] });
    expect([changed.statusCode, changed.json().thread_ids]).toEqual([200, [one.threadId, other.threadId]]);
    const { rows } = await gateway.owner.pool.query(
      `select unread_count, archived_count, labels from thread where workspace_id = $1 and id = any ($2) order by received_count`,
      [team.box.workspaceId, [one.threadId, other.threadId]],
    );
    expect(rows).toEqual([
      { unread_count: 1, archived_count: 1, labels: ['Later'] },
      { unread_count: 0, archived_count: 2, labels: ['Later'] },
    ]);
  });

  test('moves a thread of it to the trash, undoes that, and restores it', async () => {
    const made = await seen();
    const before = await readRows(made);
    const trashed = await bulk([made.threadId], { is_trashed: true });
    expect(trashed.statusCode).toBe(200);
    const undone = await call('POST', '/mail/threads/undo', { undo_id: trashed.json().undo_id });
    expect(undone.json()).toMatchObject({ thread_ids: [made.threadId], skipped_count: 0 });
    expect(await readRows(made)).toEqual(before);
    expect((await call('DELETE', `/mail/threads/${made.threadId}`)).statusCode).toBe(200);
    const restored = await call('POST', `/mail/threads/${made.threadId}/restore`);
    expect([restored.statusCode, restored.json().id]).toEqual([200, made.threadId]);
    expect(await readRows(made)).toEqual(before);
  });

  test('marks emails of it, moves one to the trash and back', async () => {
    const { emailIds, threadId } = await seen(2);
    const [first = ''] = emailIds;
    const marked = await call('POST', '/emails/bulk', { email_ids: emailIds, is_read: true });
    expect(marked.json().data.map(({ is_read }: { is_read: boolean }) => is_read)).toEqual([true, true]);
    expect((await call('PATCH', `/emails/${first}`, { is_archived: true })).statusCode).toBe(200);
    expect((await call('POST', `/emails/${first}/trash`)).statusCode).toBe(200);
    expect((await call('POST', `/emails/${first}/restore`)).json().thread_id).toBe(threadId);
  });

  test('does the same over GraphQL', async () => {
    const { threadId, emailIds } = await seen();
    const run = async (mutation: string) => (await limited.browser.graphql(`mutation { ${mutation} }`)).json();
    const updated = await run(
      `updateThreads(input: { threadIds: ["${threadId}"], isRead: true, addLabels: ["Done"] }) { ... on UpdateThreadsPayload { undoId threads { id labels unreadCount } } }`,
    );
    expect(updated.data.updateThreads).toMatchObject({ threads: [{ id: threadId, labels: ['Done'], unreadCount: 0 }] });
    const undone = await run(
      `undoThreadChange(input: { undoId: "${updated.data.updateThreads.undoId}" }) { ... on UndoThreadChangePayload { threads { id unreadCount } } }`,
    );
    expect(undone.data.undoThreadChange.threads).toEqual([{ id: threadId, unreadCount: 1 }]);
    const [emailId = ''] = emailIds;
    const marked = await run(`updateEmail(input: { id: "${emailId}", isRead: true }) { __typename }`);
    expect(marked.data.updateEmail.__typename).not.toMatch(/Error$/);
  });

  test.each([
    ['of another address', unseen],
    ['with a message of another address', mixed],
  ])('treats a thread %s like an unknown one, and changes nothing in it', async (_what, make) => {
    const made = await make();
    const fine = await seen();
    const [emailId = ''] = made.emailIds.slice(-1);
    const before = [await readRows(made), await readRows(fine)];
    const requests = (threadId: string, email: string) => [
      call('PATCH', `/mail/threads/${threadId}`, { is_read: true }),
      bulk([fine.threadId, threadId], { is_read: true, is_archived: true }),
      bulk([fine.threadId, threadId], { add_labels: ['Mine'] }),
      bulk([threadId, fine.threadId], { is_trashed: true }),
      bulk([threadId], { is_trashed: false }),
      call('DELETE', `/mail/threads/${threadId}`),
      call('POST', `/mail/threads/${threadId}/restore`),
      call('PATCH', `/emails/${email}`, { is_read: true }),
      call('POST', '/emails/bulk', { email_ids: [...fine.emailIds, email], is_archived: true }),
      call('POST', `/emails/${email}/trash`),
      call('POST', `/emails/${email}/restore`),
      limited.browser.graphql(
        `mutation { updateThreads(input: { threadIds: ["${threadId}"], isRead: true }) { ... on Error { message } } trashThreads(input: { threadIds: ["${threadId}"] }) { ... on Error { message } } trashEmails(input: { emailIds: ["${email}"] }) { ... on Error { message } } updateEmails(input: { ids: ["${email}"], isRead: true }) { ... on Error { message } } }`,
      ),
    ];
    const shown = (responses: { statusCode: number; body: string }[]) =>
      responses.map(({ statusCode, body }) => [
        statusCode,
        body.replaceAll(/[a-z]+_[0-9a-f]{32}|"requestId":"\w+"/g, '*'),
      ]);
    const foreign = shown(await Promise.all(requests(made.threadId, emailId)));
    const unknown = shown(await Promise.all(requests(`th_${'0'.repeat(32)}`, `em_${'0'.repeat(32)}`)));
    expect(foreign).toEqual(unknown);
    expect(foreign.slice(0, -1).every(([status]) => status === 404)).toBe(true);
    expect([await readRows(made), await readRows(fine)]).toEqual(before);
  });

  test('cannot undo what changed a thread of another address, which the owner then still can', async () => {
    const [own, other] = [await seen(), await unseen()];
    const change = { thread_ids: [own.threadId, other.threadId], is_read: true };
    const { undo_id: undoId } = (await byOwner('POST', '/mail/threads/bulk', change)).json();
    expect((await call('POST', '/mail/threads/undo', { undo_id: undoId })).statusCode).toBe(404);
    const undone = await byOwner('POST', '/mail/threads/undo', { undo_id: undoId });
    expect(undone.json().thread_ids).toHaveLength(2);
  });

  test('restores a message to a thread with other addresses without learning which it is', async () => {
    const made = await mixed();
    const [mine = ''] = made.emailIds;
    const { thread_id: trash } = (await call('POST', `/emails/${mine}/trash`)).json();
    expect(trash).not.toBe(made.threadId);
    const restored = await call('POST', '/mail/threads/bulk', { thread_ids: [trash], is_trashed: false });
    expect([restored.statusCode, restored.json().thread_ids]).toEqual([200, []]);
    expect(restored.body).not.toContain(made.threadId);
  });

  test('merges, splits and moves nothing', async () => {
    const [one, other] = [await seen(2), await seen()];
    const { threadId: id, emailIds } = one;
    for (const [path, body] of [
      ['/mail/threads/merge', { thread_ids: [id, other.threadId] }],
      [`/mail/threads/${id}/split`, { email_ids: emailIds.slice(0, 1) }],
      [`/mail/threads/${id}/move`, { email_ids: other.emailIds }],
    ] as const)
      expect((await call('POST', path, body)).statusCode, path).toBe(403);
  });

  test('deletes nothing forever', async () => {
    const made = await seen();
    const removed = await call('DELETE', `/mail/threads/${made.threadId}?forever=true`);
    expect([removed.statusCode, removed.json().code]).toEqual([403, 'insufficient_role']);
  });
});

test('of 20 changes at once that race with mail of another address into the thread, each is whole or not found', async () => {
  const threads = await Promise.all(Array.from({ length: 20 }, () => seen()));
  const { workspaceId, address } = team.box;
  const outcomes = await Promise.all(
    threads.map(async ({ threadId }, at) => {
      const arrive = () =>
        insertMail(gateway.owner, [{ workspaceId, ownAddress: address, threadId, threadPosition: 1 }]);
      const [changed] = await Promise.all([bulk([threadId], { is_read: true }), at % 2 === 0 ? arrive() : null]);
      return changed.statusCode;
    }),
  );
  expect(outcomes.every((status) => status === 200 || status === 404 || status === 409)).toBe(true);
  expect(outcomes.filter((_, at) => at % 2 === 1)).toEqual(Array.from({ length: 10 }, () => 200));
});
