import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { listEmails, readEmail } from '../../../operations/emails/emails.ts';
import { markNotSpam, markSpam } from '../../../operations/screening/keep-apart.ts';
import { listThreads } from '../../../operations/threads/threads.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { type FilterServer, GTUBE, openTestScanners, startFilter } from '../../support/servers/scanners.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type MailStage, openMailStage } from '../../support/stages/mail-stage.ts';

let stage: MailStage;
let filter: FilterServer;
let receiver: WebhookReceiver;
let box: TestMailbox;

beforeAll(async () => {
  filter = await startFilter();
  stage = await openMailStage({ scanners: openTestScanners({ filter: { url: filter.url } }) });
}, 120_000);
afterAll(async () => {
  await stage?.close();
  await filter?.stop();
});
beforeEach(async () => {
  receiver = await startWebhookReceiver();
  box = await stage.mailbox({ endpointUrl: receiver.url });
});
afterEach(() => receiver.stop());

let count = 0;
async function receive(text: string, more: readonly string[] = []): Promise<string> {
  const lines = [
    `Message-ID: <${++count}@elsewhere.test>`,
    'From: Ann <ann@elsewhere.test>',
    'Subject: Friday',
    ...more,
  ];
  const id = await stage.deliver(Buffer.from([...lines, '', text, ''].join('\r\n')), box.address);
  await stage.settled();
  return id;
}

const all = { limit: 50, offset: 0 };
async function listed(query: Parameters<typeof listEmails>[1] = {}): Promise<string[]> {
  const { emails, total } = await listEmails(stage.makeContext(box.workspaceId), { timeRange: 'all', ...query }, all);
  expect(total).toBe(emails.length);
  return emails.map(({ id }) => id);
}
async function countThreads(): Promise<number> {
  return (await listThreads(stage.makeContext(box.workspaceId), {}, { limit: 50, cursor: null })).threads.length;
}
const deliveries = async () => {
  const { rows } = await stage.database.pool.query<{ email_id: string; status: string }>(
    'select email_id, status from delivery where workspace_id = $1 order by email_id',
    [box.workspaceId],
  );
  return rows;
};
const posted = () => receiver.requests.map(({ body }) => JSON.parse(String(body)).email.id);
const lessons = () => filter.requests.filter(({ path }) => path.startsWith('/learn'));

test('lists, threads and searches leave spam out unless they ask for it', async () => {
  const spam = await receive(GTUBE);
  const clean = await receive('Hello');
  expect(await listed()).toEqual([clean]);
  expect(await listed({ spam: 'only' })).toEqual([spam]);
  expect((await listed({ spam: 'include' })).toSorted()).toEqual([spam, clean].toSorted());
  expect(await listed({ isTrashed: true })).toEqual([]);
  expect(await listed({ search: 'Friday' })).toEqual([clean]);
  expect(await listed({ search: 'Friday', spam: 'only' })).toEqual([spam]);
  expect((await listed({ search: 'Friday', spam: 'include' })).toSorted()).toEqual([spam, clean].toSorted());
  expect(await listed({ address: 'ann@elsewhere.test', spam: 'only' })).toEqual([spam]);
  expect((await listed({ address: 'ann@elsewhere.test', spam: 'include' })).length).toBe(2);
  expect(await countThreads()).toBe(1);
});

test('an email that is no spam is received once, as if it had just come, and the filter learns', async () => {
  filter.requests.splice(0);
  const id = await receive(GTUBE);
  expect(await deliveries()).toEqual([]);
  const context = stage.makeContext(box.workspaceId);
  const marks = await Promise.all(Array.from({ length: 5 }, () => markNotSpam(context, id).catch(() => null)));
  expect(marks.filter((mark) => mark?.isChanged === true)).toHaveLength(1);
  await vi.waitUntil(async () => (await deliveries()).some(({ status }) => status === 'success'), { timeout: 60_000 });
  expect(await deliveries()).toEqual([{ email_id: id, status: 'success' }]);
  expect(posted()).toEqual([id]);
  expect(await listed()).toEqual([id]);
  expect(await readEmail(context, id)).toMatchObject({
    keptApart: null,
    trashedAt: null,
    threadPosition: 0,
    screening: { spam: { verdict: 'clean', score: 15, by: 'user' } },
  });
  await vi.waitUntil(() => lessons().length > 0, { timeout: 60_000 });
  expect(lessons()).toMatchObject([{ path: '/learnham' }]);
});

test('a received email that is spam leaves its thread, and returns to it when it is none', async () => {
  filter.requests.splice(0);
  const first = await receive('Hello');
  const second = await receive('Hello again', [`In-Reply-To: <${count}@elsewhere.test>`]);
  const context = stage.makeContext(box.workspaceId);
  const thread = (await readEmail(context, first)).threadId;
  expect((await readEmail(context, second)).threadId).toBe(thread);
  await markSpam(context, second);
  expect(await listed()).toEqual([first]);
  expect(await listed({ spam: 'only' })).toEqual([second]);
  expect(await listed({ isTrashed: true })).toEqual([]);
  expect((await readEmail(context, second)).screening).toMatchObject({ spam: { verdict: 'spam', by: 'user' } });
  expect((await markSpam(context, second)).isChanged).toBe(false);
  await markNotSpam(context, second);
  expect((await readEmail(context, second)).threadId).toBe(thread);
  expect((await listed()).toSorted()).toEqual([first, second].toSorted());
  await vi.waitUntil(() => lessons().some(({ path }) => path === '/learnham'), { timeout: 60_000 });
  expect(await deliveries()).toHaveLength(2);
});

test('another account cannot mark an email', async () => {
  const id = await receive(GTUBE);
  const other = await stage.mailbox();
  await expect(markNotSpam(stage.makeContext(other.workspaceId), id)).rejects.toThrow('not found');
  await expect(markSpam(stage.makeContext(other.workspaceId), id)).rejects.toThrow('not found');
  expect(await listed({ spam: 'only' })).toEqual([id]);
});

test('a lesson that the filter does not take is tried again, and given up after eight tries', async () => {
  const deaf = await startFilter(({ path }, response) => {
    if (!path.startsWith('/learn')) return false;
    response.statusCode = 500;
    response.end('{"error":"invalid command"}');
    return true;
  });
  const other = await openMailStage({ scanners: openTestScanners({ filter: { url: deaf.url }, pauseMs: 0 }) });
  const mailbox = await other.mailbox();
  const id = await other.deliver(Buffer.from('Subject: Hello\r\n\r\nHello\r\n'), mailbox.address);
  await other.settled();
  await markSpam(other.makeContext(mailbox.workspaceId), id);
  const rows = async () => {
    const found = await other.database.pool.query<{ tries: number }>(`select tries from screening_job `);
    return found.rows.map(({ tries }) => tries);
  };
  await vi.waitUntil(async () => (await rows())[0] === 1, { timeout: 60_000 });
  await other.database.pool.query('update screening_job set tries = 7, next_attempt_at = now()');
  await vi.waitUntil(async () => (await rows()).length === 0, { timeout: 60_000 });
  expect(deaf.requests.filter(({ path }) => path === '/learnspam')).toHaveLength(2);
  await other.close();
  await deaf.stop();
});
