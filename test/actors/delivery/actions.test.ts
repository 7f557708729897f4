import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ActionLog, MAX_ACTIONS_BYTES } from '../../../core/endpoints/actions.ts';
import { MAX_AUTOMATIC_REPLIES, MAX_AUTOMATIC_REPLIES_PER_DAY } from '../../../core/sending/automatic-reply.ts';
import type { Database } from '../../../db/connection/database.ts';
import { MAX_FORWARDED_BYTES } from '../../../operations/endpoints/run-actions.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertThreadedMail, type ThreadedMailOptions } from '../../support/rows/threaded-mail.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { listDeliveries, startDelivering, type TestDelivery, untilDeliveries } from './delivering.ts';

/** Messages that a user may send within an hour. */
const SEND_LIMIT = 12;

let testDatabase: TestDatabase;
let database: Database;
let receiver: WebhookReceiver;
let actor: TestDelivery;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  receiver = await startWebhookReceiver();
  actor = await startDelivering(database, testDatabase.open(null), { sendLimitPerHour: SEND_LIMIT });
});
afterAll(async () => {
  await actor.stop();
  await receiver.stop();
  await testDatabase.drop();
});

/** A mailbox whose endpoint allows actions. */
async function insertMailbox(
  { workspaceId }: { workspaceId?: string } = {},
  allowsActions = true,
): Promise<TestMailbox> {
  const domain = `actions${count++}.test`;
  const options = { domain, address: `hello@${domain}`, endpointUrl: receiver.url };
  const mailbox = await createMailbox(database, workspaceId === undefined ? options : { ...options, workspaceId });
  await database.pool.query('update endpoint set allow_actions = $2 where id = $1', [
    mailbox.endpointId,
    allowsActions,
  ]);
  return mailbox;
}

function respondWith(body: unknown, contentType = 'application/json'): void {
  receiver.respond(() => ({
    headers: { 'content-type': contentType },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  }));
}

interface ActedDelivery {
  id: string;
  emailId: string;
  threadId: string;
  status: string;
  actions: ActionLog | null;
}

/** Delivers a new mail to the mailbox, whose receiver answers with these actions. */
async function respond(mailbox: TestMailbox, actions: unknown, mail: ThreadedMailOptions = {}): Promise<ActedDelivery> {
  respondWith({ actions });
  return deliver(mailbox, mail);
}

async function deliver(mailbox: TestMailbox, options: ThreadedMailOptions = {}): Promise<ActedDelivery> {
  const earlier = (await listDeliveries(database, mailbox.endpointId)).length;
  const { emailId, threadId } = await insertThreadedMail(database, mailbox, options);
  actor.wakeRouter();
  await untilDeliveries(
    database,
    mailbox.endpointId,
    (all) => all.length > earlier && all.every(({ status }) => status !== 'pending'),
  );
  const acted = await one<Omit<ActedDelivery, 'emailId' | 'threadId'>>(
    'select id, status, actions from delivery where endpoint_id = $1 order by id desc limit 1',
    [mailbox.endpointId],
  );
  if (acted === undefined) throw new Error('no delivery');
  return { ...acted, emailId, threadId };
}

async function one<Row extends object>(text: string, values: unknown[]): Promise<Row | undefined> {
  const { rows } = await database.pool.query<Row>(text, values);
  return rows[0];
}

function readSent({ workspaceId }: TestMailbox) {
  return database.pool
    .query<{
      id: string;
      subject: string;
      own_address: string;
      to_addresses: string[];
      thread_id: string | null;
      automatic_reply_to: string | null;
      headers: [string, string][];
      text_body: string;
    }>(
      `select e.id, e.subject, e.own_address, e.to_addresses, e.thread_id, e.automatic_reply_to, c.headers, c.text_body
       from email e join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
       where e.workspace_id = $1 and e.type = 'sent' order by e.id`,
      [workspaceId],
    )
    .then(({ rows }) => rows);
}

async function listKinds(mailbox: TestMailbox, emailId: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ kind: string }>(
    'select kind from event where workspace_id = $1 and (email_id = $2 or thread_id = (select thread_id from email where id = $2)) order by seq',
    [mailbox.workspaceId, emailId],
  );
  return rows.map(({ kind }) => kind);
}

test('runs all actions of a response and finishes its delivery', async () => {
  const mailbox = await insertMailbox();
  const other = await insertMailbox(mailbox, false);
  const { emailId, threadId, status, actions } = await respond(mailbox, [
    { type: 'reply', text: 'We are on it.' },
    { type: 'forward', to: 'Bob <bob@elsewhere.test>' },
    { type: 'label', name: 'Billing' },
    { type: 'archive' },
    { type: 'read' },
    { type: 'hold' },
    { type: 'route', endpointId: other.endpointId },
  ]);
  expect(status).toBe('success');
  expect(actions?.problem).toBeNull();
  expect(actions?.results.map((result) => `${result.type} ${result.status}: ${result.message}`)).toEqual([
    'reply done: Replied to ann@sender.test.',
    'forward done: Forwarded to bob@elsewhere.test.',
    'label done: Labeled “Billing”.',
    'archive done: Archived.',
    'read done: Marked as read.',
    'hold done: Held for review.',
    `route done: Delivered to endpoint ${other.endpointId}.`,
  ]);

  const [reply, forward, ...rest] = await readSent(mailbox);
  expect(rest).toEqual([]);
  expect(reply).toMatchObject({
    id: actions?.results[0]?.emailId,
    own_address: mailbox.address,
    to_addresses: ['ann@sender.test'],
    subject: 'Re: Hello',
    thread_id: threadId,
    automatic_reply_to: 'ann@sender.test',
    text_body: 'We are on it.',
  });
  expect(Object.fromEntries(reply?.headers ?? [])).toMatchObject({ 'auto-submitted': 'auto-replied' });
  expect(forward).toMatchObject({
    id: actions?.results[1]?.emailId,
    to_addresses: ['bob@elsewhere.test'],
    subject: 'Fwd: Hello',
    automatic_reply_to: null,
  });
  expect(await one('select is_read, is_archived from email where id = $1', [emailId])).toEqual({
    is_read: true,
    is_archived: true,
  });
  expect(await one('select labels, archived_count, unread_count from thread where id = $1', [threadId])).toEqual({
    labels: ['Billing'],
    archived_count: 1,
    unread_count: 0,
  });
  expect(await one('select outcome, reason from route where email_id = $1', [emailId])).toEqual({
    outcome: 'review',
    reason: 'the response of endpoint “test” asked for it',
  });
  const [routed] = await untilDeliveries(database, other.endpointId, ([delivery]) => delivery?.status === 'success');
  expect(routed?.id).toBe(actions?.results[6]?.deliveryId);
  expect(await one('select cause, actions from delivery where id = $1', [routed?.id])).toEqual({
    cause: 'action',
    actions: null,
  });
  const kinds = await listKinds(mailbox, emailId);
  expect(kinds.toSorted()).toEqual(
    [
      'delivery.succeeded',
      'delivery.succeeded',
      'email.archived',
      'email.held',
      'email.read',
      'email.threaded',
      'thread.labelled',
    ].toSorted(),
  );
});

test('a reply that waits for approval says so in the results', async () => {
  const mailbox = await insertMailbox();
  await database.pool.query(
    `update email_address set send_policy = '{"approval":"always"}'::jsonb where workspace_id = $1`,
    [mailbox.workspaceId],
  );
  const { actions } = await respond(mailbox, [{ type: 'reply', text: 'An answer' }, { type: 'read' }]);
  expect(actions?.results).toMatchObject([
    { type: 'reply', status: 'done', message: 'The reply waits for approval.' },
    { type: 'read', status: 'done', message: 'Marked as read.' },
  ]);
  const waiting = await one('select type, status from email where id = $1', [actions?.results[0]?.emailId]);
  expect(waiting).toEqual({ type: 'scheduled', status: 'awaiting_approval' });
});

test('an action whose state is already reached succeeds without an event', async () => {
  const mailbox = await insertMailbox();
  const again = [{ type: 'label', name: 'a' }, { type: 'label', name: 'A' }, { type: 'read' }, { type: 'read' }];
  const { emailId, actions } = await respond(mailbox, again);
  expect(actions?.results.map(({ message }) => message)).toEqual([
    'Labeled “a”.',
    'The thread already has the label “A”.',
    'Marked as read.',
    'Marked as read.',
  ]);
  expect(await listKinds(mailbox, emailId)).toEqual(['thread.labelled', 'email.read', 'delivery.succeeded']);
});

describe('a response that runs no action:', () => {
  test.each([
    ['an endpoint that does not allow actions', false, 'application/json', { actions: [{ type: 'read' }] }],
    ['no JSON', true, 'text/plain', 'ok'],
    ['JSON without actions', true, 'application/json', { ok: true }],
  ])('%s is ignored', async (_, allowsActions, contentType, body) => {
    const mailbox = await insertMailbox({}, allowsActions);
    respondWith(body, contentType);
    const { emailId, ...delivery } = await deliver(mailbox);
    expect(delivery).toMatchObject({ status: 'success', actions: null });
    expect(await one('select is_read from email where id = $1', [emailId])).toEqual({ is_read: false });
  });

  test('a status other than 2xx is ignored', async () => {
    const mailbox = await insertMailbox();
    receiver.respond([
      { status: 410, headers: { 'content-type': 'application/json' }, body: '{"actions":[{"type":"read"}]}' },
    ]);
    expect(await deliver(mailbox)).toMatchObject({ status: 'failed', actions: null });
  });
});

describe('no action of a response runs', () => {
  test.each([
    ['an unknown type', [{ type: 'read' }, { type: 'erase' }], 'actions[1].type'],
    ['a wrong field', [{ type: 'read' }, { type: 'label', label: 'a' }], 'actions[1].name'],
  ])('with %s', async (_, actions, place) => {
    const mailbox = await insertMailbox();
    const { emailId, ...delivery } = await respond(mailbox, actions);
    expect(delivery).toMatchObject({ status: 'success', actions: { problem: { place }, results: [] } });
    expect(await one('select is_read from email where id = $1', [emailId])).toEqual({ is_read: false });
  });

  test('when it is too long, and the log stores its first 4,096 bytes', async () => {
    const mailbox = await insertMailbox();
    const padding = (bytes: number) => JSON.stringify({ actions: [{ type: 'read' }], padding: 'x'.repeat(bytes) });
    const overhead = padding(0).length;
    respondWith(padding(MAX_ACTIONS_BYTES + 1 - overhead));
    const tooLong = await deliver(mailbox);
    expect(tooLong).toMatchObject({
      status: 'success',
      actions: { problem: { place: null, message: expect.stringContaining('262144 bytes') }, results: [] },
    });
    respondWith(padding(MAX_ACTIONS_BYTES - overhead));
    const justFits = await deliver(mailbox);
    expect(justFits.actions?.problem).toBeNull();
    for (const { id } of [tooLong, justFits])
      expect(
        await one(`select length(last_attempt->>'response_body') as length from delivery where id = $1`, [id]),
      ).toEqual({ length: 4_096 });
  });

  test('when one of its actions is refused: the others are skipped', async () => {
    const mailbox = await insertMailbox();
    const { emailId, threadId, status, actions } = await respond(mailbox, [
      { type: 'read' },
      { type: 'label', name: 'a' },
      { type: 'route', endpointId: 'ep_unknown' },
      { type: 'reply', text: 'Hello' },
    ]);
    expect(status).toBe('success');
    expect(actions).toEqual({
      problem: { place: 'actions[2]', message: 'Endpoint not found or is inactive' },
      results: [
        expect.objectContaining({ type: 'read', status: 'skipped' }),
        expect.objectContaining({ type: 'label', status: 'skipped' }),
        expect.objectContaining({ type: 'route', status: 'refused', message: 'Endpoint not found or is inactive' }),
        expect.objectContaining({ type: 'reply', status: 'skipped', emailId: null }),
      ],
    });
    expect(await one('select is_read from email where id = $1', [emailId])).toEqual({ is_read: false });
    expect(await one('select labels from thread where id = $1', [threadId])).toEqual({ labels: [] });
    expect(await readSent(mailbox)).toEqual([]);
    expect(await listKinds(mailbox, emailId)).toEqual(['delivery.succeeded']);
  });
});

/** Returns why the only action was refused. */
async function readRefusal(mailbox: TestMailbox, action: unknown, mail: ThreadedMailOptions = {}) {
  const { actions } = await respond(mailbox, [action], mail);
  expect(actions?.results).toEqual([expect.objectContaining({ status: 'refused' })]);
  return actions?.problem?.message;
}

describe('an action is refused', () => {
  const reply = { type: 'reply', text: 'Hello' };

  test.each([
    ['automatic mail', { headers: [['auto-submitted', 'auto-generated']] }],
    ['bulk mail', { headers: [['precedence', 'bulk']] }],
    ['mail of a list', { headers: [['list-id', '<news.sender.test>']] }],
    ['mail with the null return path', { reversePath: '' }],
  ] satisfies [string, ThreadedMailOptions][])('when it replies to %s', async (_, mail) => {
    const mailbox = await insertMailbox();
    expect(await readRefusal(mailbox, reply, mail)).toMatch(/gets no automatic reply \(RFC 3834\)/);
    expect(await readSent(mailbox)).toEqual([]);
  });

  test('when its recipient is suppressed', async () => {
    const mailbox = await insertMailbox();
    await database.pool.query(
      `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_1', 'ann@sender.test', 'bounce', now())`,
      [mailbox.workspaceId],
    );
    const refusal = 'Cannot send to blocked recipient(s): ann@sender.test';
    expect(await readRefusal(mailbox, reply)).toBe(refusal);
    expect(await readRefusal(mailbox, { type: 'forward', to: 'ann@sender.test' })).toBe(refusal);
  });

  test('when its domain is not verified', async () => {
    const mailbox = await insertMailbox();
    await database.pool.query(`update domain set status = 'failed' where id = $1`, [mailbox.domainId]);
    expect(await readRefusal(mailbox, reply)).toMatch(/^You don't have permission to send from domain/);
  });

  test('when it forwards what an action forwarded', async () => {
    const mailbox = await insertMailbox();
    const mail = { headers: [['x-postroom-forwarded', 'action'] as const] };
    expect(await readRefusal(mailbox, { type: 'forward', to: 'bob@elsewhere.test' }, mail)).toMatch(
      /not forwarded again/,
    );
  });

  test('when it routes to its own endpoint, to one that got the email already, or to one of another user', async () => {
    const mailbox = await insertMailbox();
    const other = await insertMailbox(mailbox, false);
    const stranger = await insertMailbox();
    const had = 'The email was already delivered to that endpoint.';
    expect(await readRefusal(mailbox, { type: 'route', endpointId: mailbox.endpointId })).toBe(had);
    const twice = [0, 1].map(() => ({ type: 'route', endpointId: other.endpointId }));
    expect((await respond(mailbox, twice)).actions?.problem).toEqual({ place: 'actions[1]', message: had });
    expect(await readRefusal(mailbox, { type: 'route', endpointId: stranger.endpointId })).toBe(
      'Endpoint not found or is inactive',
    );
    expect(await one('select id from delivery where endpoint_id = $1', [stranger.endpointId])).toBeUndefined();
  });

  test('when its label exceeds the limit of labels', async () => {
    const mailbox = await insertMailbox();
    const labels = Array.from({ length: 32 }, (_, n) => `label ${n}`);
    expect(await readRefusal(mailbox, { type: 'label', name: 'new' }, { labels })).toBe(
      'A thread can have at most 32 labels',
    );
  });

  test('when the thread has five automatic replies within an hour', async () => {
    const mailbox = await insertMailbox();
    const { threadId } = await respond(mailbox, [reply, reply, reply]);
    const { actions } = await respond(mailbox, [reply, reply], { threadId });
    expect(actions?.problem).toBeNull();
    const limit = `At most ${MAX_AUTOMATIC_REPLIES} automatic replies are sent in a thread within an hour.`;
    expect(await readRefusal(mailbox, reply, { threadId })).toBe(limit);
    expect(await readSent(mailbox)).toHaveLength(MAX_AUTOMATIC_REPLIES);
    // Another thread has a count of its own, and replies of an hour ago do not count.
    expect((await respond(mailbox, [reply])).actions?.problem).toBeNull();
    await database.pool.query(
      `update email set created_at = created_at - interval '61 minutes' where workspace_id = $1 and type = 'sent'`,
      [mailbox.workspaceId],
    );
    expect((await respond(mailbox, [reply], { threadId })).actions?.problem).toBeNull();
    const six = Array.from({ length: MAX_AUTOMATIC_REPLIES + 1 }, () => reply);
    expect((await respond(mailbox, six)).actions?.problem).toEqual({ place: 'actions[5]', message: limit });
  });

  test('when each reply opens a new thread, after ten to one sender within a day', async () => {
    const mailbox = await insertMailbox();
    const reply = { type: 'reply', text: 'Thank you' };
    for (let sent = 0; sent < MAX_AUTOMATIC_REPLIES_PER_DAY; sent++)
      expect((await respond(mailbox, [reply])).actions?.problem).toBeNull();
    const limit = `At most ${MAX_AUTOMATIC_REPLIES_PER_DAY} automatic replies are sent to ann@sender.test within a day.`;
    expect(await readRefusal(mailbox, reply)).toBe(limit);
    expect(await readSent(mailbox)).toHaveLength(MAX_AUTOMATIC_REPLIES_PER_DAY);
    // Another plus tag is the same sender; another sender and another day are not.
    expect(await readRefusal(mailbox, reply, { fromAddress: 'ann+ticket7@sender.test' })).toBe(limit);
    expect((await respond(mailbox, [reply], { fromAddress: 'ben@sender.test' })).actions?.problem).toBeNull();
    await database.pool.query(
      `update email set created_at = created_at - interval '25 hours' where workspace_id = $1 and type = 'sent'`,
      [mailbox.workspaceId],
    );
    expect((await respond(mailbox, [reply])).actions?.problem).toBeNull();
  });

  test('when the hourly sending limit is reached', async () => {
    const mailbox = await insertMailbox();
    const forwards = (addresses: number) =>
      Array.from({ length: addresses }, (_, n) => ({ type: 'forward', to: `bob${n}@elsewhere.test` }));
    expect((await respond(mailbox, forwards(10))).actions?.problem).toBeNull();
    expect((await respond(mailbox, forwards(3))).actions?.problem).toEqual({
      place: 'actions[2]',
      message: `Hourly sending limit reached (${SEND_LIMIT} emails per hour). Please try again later.`,
    });
    expect(await readSent(mailbox)).toHaveLength(10);
  });
});

test('forwards of more bytes in all than can be composed at once are refused, as the first one that is too many', async () => {
  const mailbox = await insertMailbox();
  const forwards = ['a', 'b', 'c'].map((name) => ({ type: 'forward', to: `${name}@elsewhere.test` }));
  const large = { textBytes: MAX_FORWARDED_BYTES * 0.2 };
  const { actions } = await respond(mailbox, [{ type: 'read' }, ...forwards], large);
  expect(actions?.results.map(({ status }) => status)).toEqual(['skipped', 'skipped', 'skipped', 'refused']);
  expect(actions?.results[3]?.message).toContain(`at most ${MAX_FORWARDED_BYTES} bytes in all`);
  expect(await readSent(mailbox)).toEqual([]);
  await respond(mailbox, forwards.slice(1), large);
  expect(await readSent(mailbox)).toHaveLength(2);
});

test('two endpoints that reply to each other stop after the first reply', async () => {
  const mailbox = await insertMailbox();
  await respond(mailbox, [{ type: 'reply', text: 'Hello' }]);
  const [reply] = await readSent(mailbox);
  const headers = (reply?.headers ?? []).filter(([name]) => name === 'auto-submitted');
  expect(await readRefusal(await insertMailbox(), { type: 'reply', text: 'Hello' }, { headers })).toMatch(/RFC 3834/);
});

test('the actions of an email that was deleted meanwhile are refused', async () => {
  const mailbox = await insertMailbox();
  receiver.respond(async (request) => {
    const { email } = JSON.parse(request.body) as { email: { id: string } };
    await database.pool.query('delete from email where id = $1', [email.id]);
    return { headers: { 'content-type': 'application/json' }, body: '{"actions":[{"type":"read"}]}' };
  });
  const { actions } = await deliver(mailbox);
  expect(actions?.problem).toEqual({ place: 'actions[0]', message: 'The email no longer exists.' });
});

test('actions wait for the lock on the threads of the user', async () => {
  const mailbox = await insertMailbox();
  const client = await testDatabase.open('postroom_actor').pool.connect();
  await client.query('begin');
  await client.query(`select pg_advisory_xact_lock(hashtextextended('thread ' || $1, 0))`, [mailbox.workspaceId]);
  const acted = respond(mailbox, [{ type: 'label', name: 'late' }]);
  await receiver.until((all) => all.some(({ headers }) => headers['x-endpoint-id'] === mailbox.endpointId));
  await client.query(`select pg_sleep(0.1)`);
  await client.query('commit');
  client.release();
  expect((await acted).actions?.problem).toBeNull();
});
