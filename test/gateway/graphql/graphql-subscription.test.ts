import { connect, type Socket } from 'node:net';
import { type Client, createClient } from 'graphql-sse';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { encodeEventCursor } from '../../../core/events/event-cursor.ts';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { appendEvents } from '../../support/stages/event-feed.ts';

let gateway: TestGateway;
let port: number;
const ends: (() => void)[] = [];
const sockets: Socket[] = [];
beforeAll(async () => {
  gateway = await openTestGateway();
  await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  const address = gateway.app.server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => gateway.close());

// oxlint-disable-next-line typescript/no-explicit-any -- tests read into responses of many fields
type GraphqlResult = { data?: any; errors?: readonly { message: string; extensions?: any }[] };

interface Subscriber {
  responses: GraphqlResult[];
  /** Resolves when so many have come. */
  until(count: number): Promise<void>;
  /** resolves with the error that ended it, or null */
  over: Promise<unknown>;
  end(): void;
}

function subscribe(box: TestMailbox, query: string, variables: Record<string, unknown> = {}): Subscriber {
  const client: Client = createClient({
    url: `http://127.0.0.1:${port}/graphql`,
    headers: { authorization: `Bearer ${box.apiKey}` },
    retryAttempts: 0,
  });
  const responses: GraphqlResult[] = [];
  let end: () => void = () => undefined;
  const over = new Promise<unknown>((resolve) => {
    end = client.subscribe<Record<string, unknown>, unknown>(
      { query, variables },
      {
        next: (response) => void responses.push(response as GraphqlResult),
        error: resolve,
        complete: () => resolve(null),
      },
    );
  });
  ends.push(end, () => client.dispose());
  return {
    responses,
    over,
    end,
    until: (count) => expect.poll(() => responses.length).toBeGreaterThanOrEqual(count),
  };
}

/** Resolves when so many streams are open. */
const opened = (count: number) => expect.poll(() => gateway.app.events.size()).toBe(count);
const append = (box: TestMailbox, labels: string[], more = {}) =>
  appendEvents(gateway.owner, box.workspaceId, { labels, bus: gateway.bus, ...more });
const EVENTS =
  'subscription($after: String, $kinds: [EventKind!]) { events(after: $after, kinds: $kinds) { cursor kind at data } }';
const listLabels = ({ responses }: Subscriber) => responses.map(({ data }) => data.events.data.label);

/** Publishes an event of the user. */
async function tell(box: TestMailbox, event: Record<string, unknown>): Promise<number> {
  const id = `evt_${Math.random().toString(16).slice(2)}`;
  const { rows } = await gateway.owner.pool.query<{ last_seq: number }>(
    'select append_events($1, $2::jsonb) as last_seq',
    [box.workspaceId, JSON.stringify([{ id, ...event }])],
  );
  const lastSeq = rows[0]?.last_seq ?? 0;
  gateway.bus.publish('event.appended', { workspaceId: box.workspaceId, lastSeq });
  return lastSeq;
}

test('events begin with new ones, or after a cursor, and may be of some kinds only', async () => {
  const box = await gateway.mailbox();
  await append(box, ['old']);
  const before = gateway.app.events.size();
  const live = subscribe(box, EVENTS);
  await opened(before + 1);
  const resumed = subscribe(box, EVENTS, { after: encodeEventCursor(box.workspaceId, 0) });
  const chosen = subscribe(box, EVENTS, { kinds: ['EMAIL_SENT', 'THREAD_MERGED'] });
  await opened(before + 3);
  await append(box, ['new']);
  await append(box, ['sent'], { kind: 'email.sent' });
  await Promise.all([live.until(2), resumed.until(3), chosen.until(1)]);
  expect([listLabels(live), listLabels(resumed), listLabels(chosen)]).toEqual([
    ['new', 'sent'],
    ['old', 'new', 'sent'],
    ['sent'],
  ]);
  expect(live.responses[1]?.data.events).toMatchObject({
    kind: 'EMAIL_SENT',
    cursor: encodeEventCursor(box.workspaceId, 3),
  });
  live.end();
  resumed.end();
  chosen.end();
  await opened(before);
});

test('a cursor of another user is refused', async () => {
  const [box, other] = [await gateway.mailbox(), await gateway.mailbox()];
  await append(other, ['theirs']);
  const refused = subscribe(box, EVENTS, { after: encodeEventCursor(other.workspaceId, 1) });
  const error = await refused.over;
  expect(refused.responses).toEqual(error === null ? [expect.anything()] : []);
  expect(JSON.stringify([error, refused.responses])).toContain('Invalid cursor');
});

test('received mail is announced when it has its thread, filtered by address and domain', async () => {
  const box = await gateway.mailbox();
  const other = await gateway.mailbox();
  const NEWS = `subscription($address: String, $domain: String) {
    emailReceived(address: $address, domain: $domain) { cursor kind email { id subject isRead thread { id } } } }`;
  const before = gateway.app.events.size();
  const all = subscribe(box, NEWS);
  const byAddress = subscribe(box, NEWS, { address: box.address });
  const byId = subscribe(box, NEWS, { domain: box.domainId });
  const foreign = subscribe(box, NEWS, { address: other.addressId });
  await opened(before + 4);
  const { threadId, emailIds } = await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    count: 1,
    lastMessageAt: new Date(),
    ownAddress: box.address,
  });
  const [elsewhere = ''] = await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, ownAddress: 'x@elsewhere.test', threadId, threadPosition: 1 },
  ]);
  const [sent = ''] = await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, type: 'sent', ownAddress: box.address, threadId, threadPosition: 2 },
  ]);
  for (const emailId of [sent, elsewhere, emailIds[0]])
    await tell(box, { kind: 'email.threaded', emailId, threadId, data: { reason: 'new' } });
  await Promise.all([all.until(2), byAddress.until(1), byId.until(1)]);
  const listIds = ({ responses }: Subscriber) => responses.map(({ data }) => data.emailReceived.email.id);
  expect([listIds(all), listIds(byAddress), listIds(byId), listIds(foreign)]).toEqual([
    [elsewhere, emailIds[0]],
    [emailIds[0]],
    [emailIds[0]],
    [],
  ]);
  expect(byAddress.responses[0]?.data.emailReceived.email).toMatchObject({
    isRead: expect.any(Boolean),
    thread: { id: threadId },
  });
});

test('every event shows its object as it is now, not as it was at the event before', async () => {
  const box = await gateway.mailbox();
  const { threadId, emailIds } = await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    count: 1,
    lastMessageAt: new Date(),
    ownAddress: box.address,
  });
  const [emailId = ''] = emailIds;
  const before = gateway.app.events.size();
  const emails = subscribe(box, 'subscription($id: ID) { emailUpdated(id: $id) { kind email { id isRead } } }', {
    id: emailId,
  });
  const threads = subscribe(box, 'subscription { threadUpdated { kind thread { id unreadCount } } }');
  await opened(before + 2);
  for (const isRead of [true, false, true]) {
    const { statusCode } = await gateway.call(box.apiKey, 'PATCH', `/emails/${emailId}`, { is_read: isRead });
    expect(statusCode).toBe(200);
    const count = emails.responses.length + 1;
    await Promise.all([emails.until(count), threads.until(count)]);
    expect(emails.responses.at(-1)?.data.emailUpdated).toEqual({
      kind: isRead ? 'EMAIL_READ' : 'EMAIL_UNREAD',
      email: { id: emailId, isRead },
    });
    expect(threads.responses.at(-1)?.data.threadUpdated.thread.id).toBe(threadId);
  }
  const counts = threads.responses.map(({ data }) => data.threadUpdated.thread.unreadCount);
  expect([counts[0], counts[2]]).toEqual([counts[2], counts[0]]);
  expect(counts[1]).toBe(counts[0] + 1);
});

test('objects that are deleted, or another user’s, are null; deliveries and domains are named by their ids', async () => {
  const box = await gateway.mailbox();
  const other = await gateway.mailbox();
  const before = gateway.app.events.size();
  const emails = subscribe(box, 'subscription { emailUpdated { email { id } } }');
  const domains = subscribe(box, 'subscription($id: ID) { domainUpdated(id: $id) { kind domain { id name } } }', {
    id: box.domainId,
  });
  const foreign = subscribe(box, 'subscription($id: ID) { domainUpdated(id: $id) { kind } }', { id: other.domainId });
  const deliveries = subscribe(box, 'subscription { deliveryUpdated(endpointId: "ep_1") { kind delivery { id } } }');
  await opened(before + 4);
  await tell(box, { kind: 'email.read', emailId: `em_${'0'.repeat(32)}` });
  await tell(box, { kind: 'domain.verified', data: { domainId: box.domainId, domain: 'x' } });
  await tell(box, { kind: 'delivery.failed', deliveryId: 'dlv_1', endpointId: 'ep_2' });
  await tell(box, { kind: 'delivery.failed', deliveryId: 'dlv_1', endpointId: 'ep_1' });
  await Promise.all([emails.until(1), domains.until(1), deliveries.until(1)]);
  expect(emails.responses).toMatchObject([{ data: { emailUpdated: { email: null } } }]);
  expect(domains.responses[0]?.data.domainUpdated.domain.id).toBe(box.domainId);
  expect(deliveries.responses).toMatchObject([
    { data: { deliveryUpdated: { kind: 'DELIVERY_FAILED', delivery: null } } },
  ]);
  expect(foreign.responses).toEqual([]);
});

test('a subscription whose key is revoked ends with an error that has the cursor', async () => {
  const box = await gateway.mailbox();
  await append(box, ['one']);
  const follower = subscribe(box, EVENTS, { after: encodeEventCursor(box.workspaceId, 0) });
  await follower.until(1);
  await gateway.owner.pool.query('update api_key set revoked_at = now() where workspace_id = $1', [box.workspaceId]);
  gateway.bus.publish('credential.changed', { ownerId: box.workspaceId });
  await follower.over;
  expect(follower.responses.at(-1)?.errors?.[0]).toMatchObject({
    extensions: { code: 'UNAUTHORIZED', cursor: encodeEventCursor(box.workspaceId, 1) },
  });
});

test('a subscriber that reads nothing gets only as much as its connection holds, and is closed as too slow', async () => {
  const box = await gateway.mailbox();
  const before = gateway.app.events.size();
  const body = JSON.stringify({ query: 'subscription { events { cursor data } }' });
  const socket = connect({ port, host: '127.0.0.1' }, () => {
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${box.apiKey}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
  sockets.push(socket);
  socket.pause();
  await opened(before + 1);
  const labels = Array.from({ length: 500 }, (_, n) => `e${n}`);
  for (let n = 0; n < 12; n++) await append(box, labels, { padding: 8_000 });
  const found = () =>
    gateway.logged.some((line) => line['event'] === 'stream.ended' && line['workspaceId'] === box.workspaceId);
  await expect.poll(found).toBe(true);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.resume();
  await expect.poll(() => text.includes('TOO_FAR_BEHIND')).toBe(true);
  const told = text.split('"label"').length - 1;
  expect(told).toBeLessThan(4_000);
  expect(text).toContain(`"cursor":"${encodeEventCursor(box.workspaceId, told)}"`);
});

test('events are a connection, forward and backward', async () => {
  const box = await gateway.mailbox();
  await append(box, ['a', 'b', 'c', 'd', 'e']);
  const QUERY = `query($first: Int, $after: String, $last: Int, $before: String) {
    events(first: $first, after: $after, last: $last, before: $before) {
      totalCount pageInfo { hasNextPage hasPreviousPage endCursor startCursor } edges { cursor node { cursor kind data } } } }`;
  const ask = async (variables: Record<string, unknown>) =>
    (await gateway.graphql(box.apiKey, QUERY, variables)).json().data.events;
  // oxlint-disable-next-line typescript/no-explicit-any -- the response of a query
  const labels = (page: any) => page.edges.map(({ node }: any) => node.data.label).join('');
  const first = await ask({ first: 2 });
  expect([labels(first), first.totalCount, first.pageInfo.hasNextPage]).toEqual(['ab', 5, true]);
  expect(first.edges[0].cursor).toBe(first.edges[0].node.cursor);
  const second = await ask({ first: 10, after: first.pageInfo.endCursor });
  expect([labels(second), second.pageInfo.hasNextPage]).toEqual(['cde', false]);
  const last = await ask({ last: 2 });
  expect([labels(last), last.pageInfo.hasPreviousPage]).toEqual(['de', true]);
  expect(labels(await ask({ last: 2, before: last.pageInfo.startCursor }))).toBe('bc');
  const other = await gateway.mailbox();
  const refused = await gateway.graphql(other.apiKey, QUERY, { after: first.pageInfo.endCursor });
  expect(refused.json().errors[0].message).toBe('Invalid cursor');
});

test('waitForEmail returns null at its time limit, and refuses invalid filters', async () => {
  const box = await gateway.mailbox();
  const ask = async (args: string) =>
    (await gateway.graphql(box.apiKey, `{ waitForEmail(${args}) { id extracts { codes { code } } } }`)).json();
  expect(await ask('timeout: 0')).toMatchObject({ data: { waitForEmail: null } });
  expect((await ask('timeout: 301')).errors[0].extensions).toMatchObject({ code: 'validation_error' });
  const since = new Date(Date.now() - 60_000).toISOString();
  const { threadId } = await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    count: 1,
    lastMessageAt: new Date(0),
  });
  const [id] = await insertMail(gateway.actor, [
    {
      workspaceId: box.workspaceId,
      subject: 'Code 7731',
      html: '<a href="https://x.test/">x</a>',
      threadId,
      threadPosition: 1,
    },
  ]);
  const found = await gateway.graphql(
    box.apiKey,
    `{ waitForEmail(since: "${since}", subject: "CODE") { id extracts { codes { code foundIn } links { url text foundIn isUnsubscribe } } } }`,
  );
  expect(found.json()).toMatchObject({
    data: {
      waitForEmail: {
        id,
        extracts: {
          codes: [{ code: '7731', foundIn: ['SUBJECT'] }],
          // The text of an HTML message is derived, and shows the link, too.
          links: [{ url: 'https://x.test/', text: 'x', foundIn: ['HTML', 'TEXT'], isUnsubscribe: false }],
        },
      },
    },
  });
});
