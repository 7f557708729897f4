import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());

const call = (method: string, path: string, body?: unknown, key = box.apiKey) => gateway.call(key, method, path, body);

async function addThread(count = 2, owner = box) {
  return insertThread(gateway.actor, { workspaceId: owner.workspaceId, count, lastMessageAt: new Date() });
}

async function readMessages(threadId: string): Promise<string[]> {
  const response = await call('GET', `/mail/threads/${threadId}`);
  expect(response.statusCode, response.body).toBe(200);
  return response.json().messages.map(({ id }: { id: string }) => id);
}

test('PATCH /mail/threads/:id marks, archives and labels a whole thread', async () => {
  box = await gateway.mailbox();
  const { threadId } = await addThread();
  const response = await call('PATCH', `/mail/threads/${threadId}`, {
    is_read: true,
    is_archived: true,
    labels: ['Billing'],
  });
  expect(response.statusCode, response.body).toBe(200);
  expect(response.json()).toEqual({ success: true, message: 'Thread updated', object: 'thread', id: threadId });
  const [listed] = (await call('GET', '/mail/threads')).json().threads;
  expect(listed).toMatchObject({ id: threadId, unread_count: 0, is_archived: true });
  expect((await call('GET', '/labels')).json()).toEqual({
    object: 'list',
    data: [{ name: 'Billing', thread_count: 1, unread_thread_count: 0 }],
  });
});

test.each([
  ['no change', {}, 'is_read', /Give at least one of: is_read, is_archived, labels/],
  ['labels given in two ways', { labels: ['a'], add_labels: ['b'] }, 'labels', /Give either `labels`/],
])('PATCH /mail/threads/:id rejects %s and names the field of REST', async (_what, body, field, message) => {
  box = await gateway.mailbox();
  const { threadId } = await addThread();
  const response = await call('PATCH', `/mail/threads/${threadId}`, body);
  expect(response.statusCode).toBe(400);
  expect(response.json().message).toMatch(message);
  expect(response.json().details[0].field).toBe(field);
});

test('POST /mail/threads/bulk changes all threads or none', async () => {
  box = await gateway.mailbox();
  const [one, other] = [await addThread(), await addThread()];
  const failed = await call('POST', '/mail/threads/bulk', {
    thread_ids: [one.threadId, 'th_00000000000070008000000000000000'],
    is_read: true,
  });
  expect(failed.statusCode).toBe(404);
  const unread = () => call('GET', '/mail/threads?unread=true').then((response) => response.json().threads.length);
  expect(await unread()).toBe(2);
  const done = await call('POST', '/mail/threads/bulk', { thread_ids: [one.threadId, other.threadId], is_read: true });
  expect(done.json()).toMatchObject({ success: true, thread_ids: [one.threadId, other.threadId] });
  expect(await unread()).toBe(0);
});

test('POST /mail/threads/bulk accepts 1 to 100 threads and rejects 0 and 101', async () => {
  box = await gateway.mailbox();
  const { threadId } = await addThread(1);
  for (const count of [0, 101]) {
    const response = await call('POST', '/mail/threads/bulk', {
      thread_ids: Array(count).fill(threadId),
      is_read: true,
    });
    expect([response.statusCode, response.json().details[0].field]).toEqual([400, 'thread_ids']);
  }
  const most = await call('POST', '/mail/threads/bulk', { thread_ids: Array(100).fill(threadId), is_read: true });
  expect(most.statusCode, most.body).toBe(200);
});

test('POST /mail/threads/bulk moves threads to the trash and back, and combines this with no other change', async () => {
  box = await gateway.mailbox();
  const { threadId } = await addThread();
  const both = await call('POST', '/mail/threads/bulk', { thread_ids: [threadId], is_trashed: true, is_read: true });
  expect([both.statusCode, both.json().details[0].field]).toEqual([400, 'is_trashed']);
  expect((await call('POST', '/mail/threads/bulk', { thread_ids: [threadId], is_trashed: true })).statusCode).toBe(200);
  expect((await call('GET', '/mail/threads')).json().threads).toEqual([]);
  expect((await call('POST', '/mail/threads/bulk', { thread_ids: [threadId], is_trashed: false })).statusCode).toBe(
    200,
  );
  expect((await call('GET', '/mail/threads')).json().threads).toHaveLength(1);
});

test('POST /mail/threads/merge, /split and /move regroup messages', async () => {
  box = await gateway.mailbox();
  const [first, second] = [await addThread(), await addThread()];
  const merged = await call('POST', '/mail/threads/merge', { thread_ids: [first.threadId, second.threadId] });
  expect(merged.statusCode, merged.body).toBe(200);
  const { id } = merged.json();
  expect((await readMessages(id)).toSorted()).toEqual([...first.emailIds, ...second.emailIds].toSorted());

  const split = await call('POST', `/mail/threads/${id}/split`, { email_ids: second.emailIds });
  expect(split.statusCode, split.body).toBe(200);
  const { thread_id: remaining, new_thread_id: fresh } = split.json();
  expect(remaining).toBe(id);
  expect((await readMessages(fresh)).toSorted()).toEqual([...second.emailIds].toSorted());

  const moved = await call('POST', `/mail/threads/${fresh}/move`, { email_ids: [first.emailIds[0]] });
  expect(moved.statusCode, moved.body).toBe(200);
  expect(await readMessages(fresh)).toContain(first.emailIds[0]);
});

test('a split of all messages is rejected, and the error names email_ids', async () => {
  box = await gateway.mailbox();
  const { threadId, emailIds } = await addThread();
  const response = await call('POST', `/mail/threads/${threadId}/split`, { email_ids: emailIds });
  expect([response.statusCode, response.json().details[0].field]).toEqual([400, 'email_ids']);
});

test('GET /mail/threads/selection returns the IDs of all matching threads', async () => {
  box = await gateway.mailbox();
  const [one, other] = [await addThread(), await addThread()];
  await call('PATCH', `/mail/threads/${other.threadId}`, { is_archived: true });
  const read = async (query: string) => (await call('GET', `/mail/threads/selection${query}`)).json();
  expect(await read('')).toEqual({ object: 'thread_selection', thread_ids: [one.threadId], is_complete: true });
  expect((await read('?archived=any')).thread_ids.toSorted()).toEqual([one.threadId, other.threadId].toSorted());
  const foreign = await gateway.mailbox();
  expect((await call('GET', '/mail/threads/selection', undefined, foreign.apiKey)).json().thread_ids).toEqual([]);
});

test('messages are regrouped only within the account: a foreign thread or message is not found, and nothing changes', async () => {
  const strangers = await gateway.mailbox();
  const foreign = await addThread(2, strangers);
  box = await gateway.mailbox();
  const own = await addThread();
  const unknown = { thread: 'th_00000000000070008000000000000000', email: 'em_00000000000070008000000000000000' };
  for (const [threadId, emailId] of [
    [foreign.threadId, foreign.emailIds[0]],
    [unknown.thread, unknown.email],
  ])
    for (const [path, body] of [
      ['/mail/threads/merge', { thread_ids: [own.threadId, threadId] }],
      ['/mail/threads/merge', { thread_ids: [threadId, own.threadId] }],
      [`/mail/threads/${threadId}/split`, { email_ids: [emailId] }],
      [`/mail/threads/${own.threadId}/split`, { email_ids: [emailId] }],
      [`/mail/threads/${own.threadId}/move`, { email_ids: [emailId] }],
    ] as const)
      expect([path, body, (await call('POST', path, body)).statusCode]).toEqual([path, body, 404]);
  expect((await readMessages(own.threadId)).toSorted()).toEqual([...own.emailIds].toSorted());
  const theirs = await call('GET', `/mail/threads/${foreign.threadId}`, undefined, strangers.apiKey);
  expect(theirs.json().messages).toHaveLength(2);
});

test('a key without manage changes no thread', async () => {
  box = await gateway.mailbox();
  const { threadId } = await addThread();
  const made = await call('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
  const reader = made.json().token ?? made.json().key;
  for (const [method, path, body] of [
    ['PATCH', `/mail/threads/${threadId}`, { is_read: true }],
    ['POST', '/mail/threads/bulk', { thread_ids: [threadId], is_read: true }],
    ['POST', '/mail/threads/merge', { thread_ids: [threadId, threadId] }],
    ['POST', `/mail/threads/${threadId}/split`, { email_ids: ['em_x'] }],
    ['POST', `/mail/threads/${threadId}/move`, { email_ids: ['em_x'] }],
  ] as const) {
    const response = await call(method, path, body, reader);
    expect([path, response.statusCode, response.json().name]).toEqual([path, 403, 'restricted_api_key']);
  }
});
