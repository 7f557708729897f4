import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeEventCursor } from '../../../core/events/event-cursor.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { appendEvents, type EventClient, followEvents, listLabels } from '../../support/stages/event-feed.ts';

let gateway: TestGateway;
let url: string;
const clients: EventClient[] = [];
beforeAll(async () => {
  gateway = await openTestGateway();
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  for (const client of clients) client.close();
  await gateway.close();
});

async function follow(box: TestMailbox, options?: Parameters<typeof followEvents>[2]): Promise<EventClient> {
  const client = await followEvents(url, box.apiKey, options);
  clients.push(client);
  return client;
}

const page = async (box: TestMailbox, query = '') => {
  const response = await gateway.call(box.apiKey, 'GET', `/events${query}`);
  return { status: response.statusCode, body: response.json() };
};
const labels = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `e${from + n}`);
const append = (box: TestMailbox, names: string[], more = {}) =>
  appendEvents(gateway.owner, box.workspaceId, { labels: names, bus: gateway.bus, ...more });

test('pages of the feed follow one another without a gap and end where it ends', async () => {
  const box = await gateway.mailbox();
  expect((await page(box)).body).toEqual({
    object: 'list',
    data: [],
    has_more: false,
    next_cursor: encodeEventCursor(box.workspaceId, 0),
    latest_cursor: encodeEventCursor(box.workspaceId, 0),
  });
  await append(box, labels(7));
  const seen: string[] = [];
  let after = '';
  for (const [size, hasMore] of [
    [3, true],
    [3, true],
    [1, false],
    [0, false],
  ] as const) {
    const { body } = await page(box, `?limit=3${after}`);
    expect([body.data.length, body.has_more]).toEqual([size, hasMore]);
    expect(body.latest_cursor).toBe(encodeEventCursor(box.workspaceId, 7));
    seen.push(...body.data.map((event: { data: { label: string } }) => event.data.label));
    after = `&after=${body.next_cursor}`;
  }
  expect(seen).toEqual(labels(7));
  const { body } = await page(box, '?limit=1');
  expect(body.data[0]).toEqual({
    object: 'event',
    id: expect.stringMatching(/^evt_/),
    cursor: encodeEventCursor(box.workspaceId, 1),
    kind: 'email.read',
    at: expect.stringMatching(/Z$/),
    email_id: null,
    thread_id: null,
    delivery_id: null,
    endpoint_id: null,
    domain_id: null,
    data: { label: 'e0', filler: '' },
  });
});

test('a cursor that is invalid, of another user or of the future is refused, in pages and streams', async () => {
  const [box, other] = [await gateway.mailbox(), await gateway.mailbox()];
  await append(box, labels(2));
  await append(other, labels(5));
  for (const cursor of [
    'x',
    '%00',
    encodeEventCursor(other.workspaceId, 1),
    encodeEventCursor(box.workspaceId, 3),
    encodeEventCursor(box.workspaceId, 1).slice(1),
    `${encodeEventCursor(box.workspaceId, 1)}A`,
  ]) {
    const { status, body } = await page(box, `?after=${cursor}`);
    expect([status, body.details?.[0]?.field], cursor).toEqual([400, 'after']);
    if (cursor !== '%00') expect(body.message).toBe('Invalid cursor');
    expect((await follow(box, { query: `?after=${cursor}` })).status, cursor).toBe(400);
  }
  expect((await page(box, `?after=${encodeEventCursor(box.workspaceId, 2)}`)).status).toBe(200);
});

test('kinds are selected by name, and the cursor moves past the others', async () => {
  const box = await gateway.mailbox();
  await append(box, ['a'], { kind: 'email.read' });
  await append(box, ['b'], { kind: 'email.sent' });
  await append(box, ['c'], { kind: 'thread.merged' });
  const { body } = await page(box, '?kinds=email.sent,%20email.read');
  expect(body.data.map((event: { kind: string }) => event.kind)).toEqual(['email.read', 'email.sent']);
  expect([body.has_more, body.next_cursor]).toEqual([false, encodeEventCursor(box.workspaceId, 3)]);
  const unknown = await page(box, '?kinds=email.eaten');
  expect([unknown.status, unknown.body.details]).toEqual([
    400,
    [{ field: 'kinds', message: expect.stringContaining('email.received') }],
  ]);
  const client = await follow(box, { query: '?kinds=thread.merged' });
  await client.until((messages) => messages.length === 1);
  await append(box, labels(3));
  await append(box, ['d'], { kind: 'thread.merged' });
  await client.until((messages) => messages.length === 2);
  expect(listLabels(client.messages)).toEqual(['c', 'd']);
});

test('rare kinds in a long feed are reached page by page, each of which looks through a part of it', async () => {
  const box = await gateway.mailbox();
  for (let n = 0; n < 5; n++) await append(box, labels(5_000, n * 5_000));
  await append(box, ['rare'], { kind: 'email.bounced' });
  const first = await page(box, '?kinds=email.bounced');
  expect([first.body.data, first.body.has_more]).toEqual([[], true]);
  const client = await follow(box, { query: '?kinds=email.bounced' });
  await client.until((messages) => messages.length === 1);
  expect((await page(box, '?kinds=email.bounced&wait=5')).body.data).toHaveLength(1);
});

test('a page can wait for the next event', async () => {
  const box = await gateway.mailbox();
  await append(box, ['old']);
  const { body: start } = await page(box);
  const waiting = page(box, `?after=${start.next_cursor}&wait=30`);
  await expect.poll(() => gateway.app.events.size()).toBeGreaterThan(0);
  await append(box, ['new']);
  const { body } = await waiting;
  expect(body.data.map((event: { data: { label: string } }) => event.data.label)).toEqual(['new']);
  const none = await page(box, `?after=${body.next_cursor}&wait=1`);
  expect([none.body.data, none.body.next_cursor]).toEqual([[], body.next_cursor]);
  for (const wait of ['31', '-1', 'x']) expect((await page(box, `?wait=${wait}`)).status).toBe(400);
});

test('a stream replays from a cursor, then continues live; Last-Event-ID overrides the query', async () => {
  const box = await gateway.mailbox();
  await append(box, labels(250));
  const client = await follow(box, {
    query: `?after=${encodeEventCursor(box.workspaceId, 200)}`,
    lastEventId: encodeEventCursor(box.workspaceId, 10),
  });
  expect(client.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  await client.until((messages) => messages.length === 240);
  await append(box, labels(5, 250));
  await client.until((messages) => messages.length === 245);
  expect(listLabels(client.messages)).toEqual(labels(245, 10));
  expect(client.messages.at(-1)).toMatchObject({
    id: encodeEventCursor(box.workspaceId, 255),
    data: { object: 'event', cursor: encodeEventCursor(box.workspaceId, 255) },
  });
  const live = await follow(box, { query: '?after=latest' });
  await append(box, ['only']);
  await live.until((messages) => messages.length === 1);
  expect(listLabels(live.messages)).toEqual(['only']);
});

test('events whose broadcast is lost arrive all the same', async () => {
  const box = await gateway.mailbox();
  const client = await follow(box);
  await append(box, ['told']);
  await client.until((messages) => messages.length === 1);
  await append(box, ['untold'], { bus: undefined });
  // Long before the silence of the stream would make it look.
  await client.until((messages) => messages.length === 2, 10_000);
  expect(listLabels(client.messages)).toEqual(['told', 'untold']);
});

test('a user without an event has a stream, too', async () => {
  const box = await gateway.mailbox();
  const client = await follow(box);
  await expect.poll(() => client.text()).toContain('events follow');
  await append(box, ['first']);
  await client.until((messages) => messages.length === 1);
});

test('another user’s events are not shown', async () => {
  const [box, other] = [await gateway.mailbox(), await gateway.mailbox()];
  const client = await follow(box);
  await append(other, labels(5));
  await append(box, ['mine']);
  await client.until((messages) => messages.length === 1);
  expect(listLabels(client.messages)).toEqual(['mine']);
});

test('a stream ends when its key is revoked, with its cursor', async () => {
  const box = await gateway.mailbox();
  await append(box, labels(2));
  const client = await follow(box);
  await client.until((messages) => messages.length === 2);
  await gateway.owner.pool.query('update api_key set revoked_at = now() where workspace_id = $1', [box.workspaceId]);
  gateway.bus.publish('credential.changed', { ownerId: box.workspaceId });
  await client.ended;
  expect(client.messages.at(-1)).toEqual({
    event: 'error',
    id: encodeEventCursor(box.workspaceId, 2),
    data: {
      code: 'UNAUTHORIZED',
      message: expect.stringContaining('key'),
      cursor: encodeEventCursor(box.workspaceId, 2),
    },
  });
});

test('a client that disconnects leaves nothing behind', async () => {
  const box = await gateway.mailbox();
  const before = gateway.app.events.size();
  const opened = await Promise.all(Array.from({ length: 20 }, () => follow(box)));
  expect(gateway.app.events.size()).toBe(before + 20);
  const waiting = followEvents(url, box.apiKey, { query: '?wait=30' });
  clients.push(await waiting);
  for (const client of opened) client.close();
  clients.at(-1)?.close();
  await expect.poll(() => gateway.app.events.size()).toBe(before);
});

test('HEAD and a wildcard get the page', async () => {
  const box = await gateway.mailbox();
  for (const accept of ['*/*', 'text/*', 'application/json']) {
    const response = await fetch(`${url}/api/e2/events`, {
      headers: { authorization: `Bearer ${box.apiKey}`, accept },
    });
    expect((await response.json()).object).toBe('list');
  }
  const headers = { authorization: `Bearer ${box.apiKey}`, accept: 'text/event-stream' };
  expect((await fetch(`${url}/api/e2/events`, { method: 'HEAD', headers })).status).toBe(200);
});

test('comments with the cursor keep an idle stream open', async () => {
  const box = await gateway.mailbox();
  const client = await follow(box, { query: '?kinds=email.bounced' });
  await append(box, labels(3));
  while (!client.text().includes('still here')) await pause(500);
  expect(client.text()).toContain(`id: ${encodeEventCursor(box.workspaceId, 3)}\n\n`);
  await append(box, ['late'], { kind: 'email.bounced' });
  await client.until((messages) => messages.length === 1);
});
