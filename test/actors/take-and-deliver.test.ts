import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { isQuick } from '../support/chaos-figures.ts';
import { hasCorpora, readEmlMessages } from '../support/mail/corpora.ts';
import { createMailbox, type TestMailbox } from '../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { type MailStage, openMailStage } from '../support/stages/mail-stage.ts';
import { addRule } from './delivery/guarding.ts';

let stage: MailStage;
let receiver: WebhookReceiver;
let mailbox: TestMailbox;

beforeAll(async () => {
  // A busy machine is slow to parse.
  stage = await openMailStage({ readAheadMs: 60_000 });
});
afterAll(() => stage?.close());
beforeEach(async () => {
  receiver = await startWebhookReceiver();
  mailbox = await stage.mailbox({ endpointUrl: receiver.url });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await receiver.stop();
});

let count = 0;
const mail = (lines: readonly string[] = []) =>
  Buffer.from(
    [
      `Message-ID: <${++count}@elsewhere.test>`,
      'From: Ann <ann@elsewhere.test>',
      ...lines,
      '',
      `Mail ${count}`,
      '',
    ].join('\r\n'),
  );

const posted = (many: number) => vi.waitUntil(() => receiver.requests.length >= many, { timeout: 60_000 });
const finished = (many: number) =>
  vi.waitUntil(
    async () => {
      const { rows } = await stage.database.pool.query(
        `select from delivery where workspace_id = $1 and status = 'success'`,
        [mailbox.workspaceId],
      );
      return rows.length === many;
    },
    { timeout: 60_000, interval: 50 },
  );

/** Notes the statements that are sent from now on, without those of sweeps. */
function watchStatements() {
  const queries = vi.spyOn(stage.database.pool, 'query');
  const transactions = vi.spyOn(stage.database.pool, 'connect');
  return () => ({
    names: queries.mock.calls.map(([query]) => named(query)).filter((name) => name !== undefined && OF_MAIL.test(name)),
    // pool.query connects with a callback
    transactions: transactions.mock.calls.filter((given: readonly unknown[]) => given.length === 0).length,
  });
}

const named = (query: unknown) => (query as { name?: string }).name;

const OF_MAIL = /^(take-mail|accept|store|thread|delivery-(store|take|read|finish))/;

test('a message takes two statements and two commits: its rows, and the outcome of its webhook', async () => {
  await stage.deliver(mail(), mailbox.address);
  await finished(1);
  const statements = watchStatements();
  await stage.deliver(mail(), mailbox.address);
  await finished(2);
  expect(statements()).toEqual({ names: ['take-mail', 'delivery-finish'], transactions: 0 });
});

test('a reply takes two statements, too, and is delivered after its message', async () => {
  await stage.deliver(mail(), mailbox.address);
  await finished(1);
  const statements = watchStatements();
  await stage.deliver(mail([`In-Reply-To: <${count}@elsewhere.test>`]), mailbox.address);
  await finished(2);
  expect(statements()).toEqual({ names: ['take-mail', 'delivery-finish'], transactions: 0 });
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body).email);
  expect(bodies[1].threadId).toBe(bodies[0].threadId);
  expect(bodies.map(({ threadPosition }) => threadPosition)).toEqual([0, 1]);
});

test('an endpoint for all received mail gets mail routed to it once, and mail that is routed nowhere', async () => {
  const { pool } = stage.database;
  const { workspaceId, endpointId } = mailbox;
  await pool.query(`update endpoint set events = '{email.received:all}' where workspace_id = $1 and id = $2`, [
    workspaceId,
    endpointId,
  ]);
  await pool.query('insert into endpoint_subscription (workspace_id, endpoint_id, event_seq) values ($1, $2, 0)', [
    workspaceId,
    endpointId,
  ]);
  stage.bus.publish('subscription.changed', { workspaceId });
  const domain = mailbox.address.split('@')[1] ?? '';
  const other = await createMailbox(stage.database, { workspaceId, domain, address: `unrouted@${domain}` });
  const ids = [await stage.deliver(mail(), mailbox.address), await stage.deliver(mail(), other.address)];
  await finished(2);
  await vi.waitUntil(
    async () => {
      const { rows } = await pool.query(
        `select from endpoint_subscription s join event_counter c using (workspace_id) where s.workspace_id = $1 and s.event_seq = c.last_seq`,
        [workspaceId],
      );
      return rows.length === 1;
    },
    { timeout: 60_000, interval: 50 },
  );
  const posts = receiver.requests.map(({ body }): { id: string; threadPosition: number } => JSON.parse(body).email);
  expect(posts.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(posts.every(({ threadPosition }) => threadPosition === 0)).toBe(true);
});

test('messages of two accounts that arrive together are taken in groups, without further steps', async () => {
  const other = await stage.mailbox({ endpointUrl: receiver.url });
  await Promise.all([stage.deliver(mail(), mailbox.address), stage.deliver(mail(), other.address)]);
  await posted(2);
  await finished(1);
  const statements = watchStatements();
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => stage.deliver(mail(), (n % 2 === 0 ? mailbox : other).address)),
  );
  await posted(42);
  await finished(21);
  const { names, transactions } = statements();
  expect(new Set(names)).toEqual(new Set(['take-mail', 'delivery-finish']));
  // The parser gets lists of messages, and what it returns together is taken together.
  expect(names.filter((name) => name === 'take-mail').length).toBeLessThanOrEqual(10);
  expect(transactions).toBe(0);
});

test('an endpoint that subscribes to no events costs received mail no statement', async () => {
  await stage.deliver(mail(), mailbox.address);
  await finished(1);
  stage.bus.publish('subscription.changed', { workspaceId: mailbox.workspaceId });
  const queries = vi.spyOn(stage.database.pool, 'query');
  await vi.waitUntil(() => queries.mock.calls.some(([query]) => named(query) === 'subscribed-users'));
  queries.mockClear();
  for (let n = 0; n < 3; n++) await stage.deliver(mail(), mailbox.address);
  await finished(4);
  expect(queries.mock.calls.map(([query]) => named(query)).filter((name) => name?.includes('subscri'))).toEqual([]);
});

test('a message that is offered repeatedly at the same time is one email', async () => {
  const bytes = mail();
  const ids = await Promise.all(Array.from({ length: 20 }, () => stage.deliver(bytes, mailbox.address)));
  ids.push(await stage.deliver(bytes, mailbox.address));
  expect(new Set(ids).size).toBe(1);
  await finished(1);
  expect(receiver.requests).toHaveLength(1);
});

test('a changed route replaces the cached one for the next message', async () => {
  const { pool } = stage.database;
  await stage.deliver(mail(), mailbox.address);
  await finished(1);
  const other = await createMailbox(stage.database, {
    workspaceId: mailbox.workspaceId,
    domain: mailbox.address.split('@')[1] ?? '',
    address: `other@${mailbox.address.split('@')[1]}`,
    endpointUrl: `${receiver.url}/other`,
  });
  const routeTo = (endpointId: string | null) =>
    pool.query('update email_address set endpoint_id = $3 where workspace_id = $1 and id = $2', [
      mailbox.workspaceId,
      mailbox.addressId,
      endpointId,
    ]);
  const readRoute = async (emailId: string) => {
    await stage.settled();
    const { rows } = await pool.query('select outcome, endpoint_id from route where email_id = $1', [emailId]);
    return rows[0];
  };
  await routeTo(other.endpointId);
  expect(await readRoute(await stage.deliver(mail(), mailbox.address))).toEqual({
    outcome: 'endpoint',
    endpoint_id: other.endpointId,
  });
  await pool.query('update endpoint set is_active = false where workspace_id = $1', [mailbox.workspaceId]);
  expect(await readRoute(await stage.deliver(mail(), mailbox.address))).toEqual({
    outcome: 'inactive',
    endpoint_id: other.endpointId,
  });
  await routeTo(null);
  expect(await readRoute(await stage.deliver(mail(), mailbox.address))).toEqual({
    outcome: 'stored',
    endpoint_id: null,
  });
  await routeTo(mailbox.endpointId);
  await pool.query('update endpoint set is_active = true where workspace_id = $1', [mailbox.workspaceId]);
  await addRule(stage.database, mailbox, { action: 'block', subject: 'guarded' });
  expect(await readRoute(await stage.deliver(mail(['Subject: guarded']), mailbox.address))).toMatchObject({
    outcome: 'blocked',
  });
});

test('mail of a user whose threads are locked is accepted, and that of others is not delayed', async () => {
  const other = await stage.mailbox({ endpointUrl: receiver.url });
  const holder = await stage.database.pool.connect();
  try {
    await holder.query('begin');
    await holder.query(`select pg_advisory_xact_lock(hashtextextended('thread ' || $1, 0))`, [mailbox.workspaceId]);
    const [busyId, freeId] = await Promise.all([
      stage.deliver(mail(), mailbox.address),
      stage.deliver(mail(), other.address),
    ]);
    const { rows } = await stage.database.pool.query('select id from email where id = any ($1)', [[busyId, freeId]]);
    expect(rows).toEqual([{ id: freeId }]);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  await posted(2);
});

test('a webhook that is repeated has the bytes of the first request, which was built from memory', async () => {
  const made = [
    [
      'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
      'To: "B, b" <b@c.test>, c@d.test',
      'Date: Mon, 2 Nov 2026 10:00:00 +0100',
      'X-Two: 1',
      'X-Two: 2',
    ],
    [
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<p>Hello</p><blockquote>On Monday</blockquote>',
      '--b',
      'Content-Type: application/pdf; name=a.pdf',
      'Content-Disposition: attachment; filename=a.pdf',
      'Content-Transfer-Encoding: base64',
      '',
      'aGVsbG8=',
      '--b--',
    ],
    ['Date: nonsense', 'Subject: \u0000nul and \ud800 surrogate'],
  ].map((lines) => mail(lines));
  const real = hasCorpora ? (await readEmlMessages()).filter((_, at) => (isQuick ? at % 8 === 0 : at % 3 !== 2)) : [];
  receiver.respond([500]);
  const ids: string[] = [];
  for (const bytes of [...made, ...real.map((message) => message.bytes)])
    ids.push(await stage.deliver(bytes, mailbox.address));
  await stage.settled();
  const retried = await vi.waitUntil(
    async () => {
      const { rows } = await stage.database.pool.query<{ open: number }>(
        'select count(*) filter (where attempts = 0) as open from delivery where workspace_id = $1',
        [mailbox.workspaceId],
      );
      return rows[0]?.open === 0;
    },
    { timeout: 60_000, interval: 50 },
  );
  expect(retried).toBe(true);
  receiver.respond([200]);
  await stage.database.pool.query(
    `update delivery set next_attempt_at = now() - interval '1 s' where workspace_id = $1 and status = 'pending'`,
    [mailbox.workspaceId],
  );
  stage.bus.wake('delivery.deliver.wake', { workspaceId: mailbox.workspaceId, deliveryIds: [] });
  await finished(new Set(ids).size);
  const bodies = Map.groupBy(receiver.requests, ({ headers }) => String(headers['webhook-id']));
  for (const [id, requests] of bodies) {
    expect(requests.length, id).toBeGreaterThan(1);
    const [first, ...others] = requests.map(({ body }) => JSON.stringify(JSON.parse(body), null, 1).split('\n'));
    for (const other of others) expect(other).toEqual(first);
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
  }
});
