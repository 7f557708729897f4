import { hash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { createByteStore } from '../../../db/byte-store.ts';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { HANG_FIELD } from '../../support/mail/hang-field.ts';
import { insertReceivedMail, type ReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { MESSAGE_COLUMNS, type MessageColumns, readStoredMessage } from '../../support/rows/stored-message.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import {
  type DeliverySight,
  listDeliveries,
  startDelivering,
  type TestDelivery,
  untilDeliveries,
} from './delivering.ts';

let testDatabase: TestDatabase;
let database: Database;
let owner: Database;
const actors: TestDelivery[] = [];
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
});
afterEach(async () => {
  await Promise.all(actors.splice(0).map((actor) => actor.stop()));
});
afterAll(() => testDatabase.drop());

/** A mailbox of its own with an endpoint of that config. */
async function mailboxFor(config: Record<string, unknown>): Promise<TestMailbox> {
  const domain = `forward${count++}.test`;
  const mailbox = await createMailbox(database, {
    domain,
    address: `hello@${domain}`,
    endpointUrl: 'https://unused.test',
  });
  await database.pool.query('update endpoint set type = $2, config = $3 where id = $1', [
    mailbox.endpointId,
    'emails' in config ? 'email_group' : 'email',
    JSON.stringify(config),
  ]);
  return mailbox;
}

async function start(options: Parameters<typeof startDelivering>[2] = {}): Promise<TestDelivery> {
  const actor = await startDelivering(database, owner, options);
  actors.push(actor);
  return actor;
}

/** Makes the deliveries of mail as routing does, due since then. */
async function routed(mailbox: TestMailbox, mails: ReceivedMail[], secondsAgo: number): Promise<void> {
  const ids = mails.map(({ emailId }) => emailId);
  await database.pool.query(`update route set outcome = 'endpoint', decided_at = now() where email_id = any ($1)`, [
    ids,
  ]);
  await database.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, next_attempt_at, created_at)
     select $1, 'dlv_' || md5(random()::text), e, $3, 'email', 1, now() - $4 * interval '1 second', now() from unnest($2::text[]) e`,
    [mailbox.workspaceId, ids, mailbox.endpointId, secondsAgo],
  );
}

interface Queued {
  delivery_id: string;
  address: string;
  sender_domain: string;
  status: string;
  last_text: string | null;
}

/** The copies that wait to be sent, or cannot be. */
async function readQueued({ workspaceId }: TestMailbox): Promise<Queued[]> {
  const { rows } = await database.pool.query<Queued>(
    `select delivery_id, address, sender_domain, status, last_text from recipient
     where workspace_id = $1 and delivery_id is not null order by address, id`,
    [workspaceId],
  );
  return rows;
}

/** Resolves when every delivery of the mailbox is failed, handed over or put off. */
function untilDecided(mailbox: TestMailbox, length: number) {
  return untilDeliveries(
    database,
    mailbox.endpointId,
    (deliveries) =>
      deliveries.length === length &&
      deliveries.every(
        ({ status, attempts, error, claimed_by: claimedBy }) =>
          claimedBy === null && (status !== 'pending' || attempts === 1 || error !== null),
      ),
  );
}

test('a copy is queued once when several processes work on it: bytes, recipient and delivery together', async () => {
  const mailbox = await mailboxFor({ forwardTo: 'Joe@Elsewhere.test' });
  await insertReceivedMail(database, mailbox, { count: 40 });
  await Promise.all([start({ name: 'one' }), start({ name: 'two' }), start({ name: 'three' })]);
  const deliveries = await untilDecided(mailbox, 40);
  for (const delivery of deliveries)
    expect(delivery).toMatchObject({ status: 'pending', attempts: 1, wait_seconds: null, error: null });
  const queued = await readQueued(mailbox);
  expect(new Set(queued.map((each) => each.delivery_id)).size).toBe(40);
  expect(queued).toHaveLength(40);
  expect(queued[0]).toMatchObject({
    address: 'Joe@elsewhere.test',
    sender_domain: mailbox.address.split('@')[1],
    status: 'pending',
  });
  const { rows } = await database.pool.query(
    `select m.packed as bytes from delivery d join raw_message m on m.id = d.forward_raw_id where d.endpoint_id = $1`,
    [mailbox.endpointId],
  );
  expect(rows).toHaveLength(40);
  const attempts = await database.pool.query(
    `select a.number, a.outcome from delivery_attempt a join delivery d on d.id = a.delivery_id where d.endpoint_id = $1`,
    [mailbox.endpointId],
  );
  expect(attempts.rows).toEqual(Array.from({ length: 40 }, () => ({ number: 1, outcome: 'success' })));
});

test('a process that another one overtook stores no second copy', async () => {
  const mailbox = await mailboxFor({ forwardTo: 'a@x.test' });
  await insertReceivedMail(database, mailbox);
  const store = createByteStore({ database, log: testActorContext(database).log });
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>();
  const bytes = {
    ...store,
    async get(rawId: string) {
      begin();
      await mayGoOn;
      return store.get(rawId);
    },
  };
  const slow = await start({ name: 'slow', bytes });
  await hasBegun;
  const quick = await start({ name: 'quick' });
  await quick.moveClock(31);
  await untilDecided(mailbox, 1);
  goOn();
  await slow.stop();
  expect(await readQueued(mailbox)).toHaveLength(1);
  expect(await untilDecided(mailbox, 1)).toMatchObject([{ attempts: 1 }]);
});

test('copies above the hourly limit wait until there is room, and those of other users are sent meanwhile', async () => {
  const [mailbox, other] = [await mailboxFor({ forwardTo: 'a@x.test' }), await mailboxFor({ forwardTo: 'b@x.test' })];
  await insertReceivedMail(database, mailbox, { count: 5 });
  await insertReceivedMail(database, other, { count: 2 });
  const actor = await start({ forwardLimitPerHour: 3 });
  const deliveries = await untilDecided(mailbox, 5);
  const waiting = deliveries.filter(({ attempts }) => attempts === 0);
  expect(waiting).toHaveLength(2);
  for (const { status, error, wait_seconds: seconds } of waiting) {
    expect([status, error]).toEqual(['pending', 'Waiting: 3 copies were forwarded within an hour']);
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(3_600);
  }
  expect(await readQueued(mailbox)).toHaveLength(3);
  await untilDecided(other, 2);
  expect(await readQueued(other)).toHaveLength(2);
  await actor.moveClock(3_601);
  await untilDeliveries(database, mailbox.endpointId, (all) => all.every(({ attempts }) => attempts === 1));
  expect(await readQueued(mailbox)).toHaveLength(5);
});

test('a group that is larger than the limit is sent whole when nothing else was sent', async () => {
  const mailbox = await mailboxFor({ emails: ['a@x.test', 'b@x.test', 'c@x.test'] });
  await insertReceivedMail(database, mailbox, { count: 2 });
  await start({ forwardLimitPerHour: 2 });
  const deliveries = await untilDecided(mailbox, 2);
  expect(new Set(deliveries.map(({ attempts }) => attempts))).toEqual(new Set([0, 1]));
  expect(await readQueued(mailbox)).toHaveLength(3);
});

test.each<[what: string, change: string, error: string]>([
  ['is gone', 'delete from endpoint where id = $1', 'Endpoint not found'],
  ['is switched off', 'update endpoint set is_active = false where id = $1', 'Endpoint is inactive'],
  ['became a webhook', `update endpoint set type = 'webhook' where id = $1`, 'Endpoint does not forward any more'],
  ['cannot be used', `update endpoint set config = '{}' where id = $1`, 'Endpoint configuration cannot be used'],
])('the delivery of an endpoint that is %s meanwhile fails with the reason', async (_, change, error) => {
  const mailbox = await mailboxFor({ forwardTo: 'a@x.test' });
  await routed(mailbox, await insertReceivedMail(database, mailbox), 0);
  await database.pool.query(change, [mailbox.endpointId]);
  await start();
  const [delivery] = await untilDecided(mailbox, 1);
  expect(delivery).toMatchObject({ status: 'failed', error, status_code: null });
  expect(await readQueued(mailbox)).toEqual([]);
});

test('the delivery of an email whose bytes are gone fails with the reason', async () => {
  const mailbox = await mailboxFor({ forwardTo: 'a@x.test' });
  const [mail] = await insertReceivedMail(database, mailbox);
  await database.pool.query('delete from raw_message where id = $1', [mail?.rawId]);
  await start();
  const [delivery] = await untilDecided(mailbox, 1);
  expect(delivery).toMatchObject({ status: 'failed', error: 'Email content not available' });
});

test('an invalid stored address is shown with the reason, and the others get their copy', async () => {
  const mailbox = await mailboxFor({ emails: ['a@x.test', 'b@-bad-', 'A b@x.test'] });
  await insertReceivedMail(database, mailbox);
  await start();
  await untilDecided(mailbox, 1);
  const text = 'Not an address that mail can be sent to';
  expect((await readQueued(mailbox)).map((each) => [each.address, each.status, each.last_text])).toEqual([
    ['A b@x.test', 'bounced', text],
    ['a@x.test', 'pending', null],
    ['b@-bad-', 'bounced', text],
  ]);
});

test('the delivery fails with the reason when none of its addresses can receive mail', async () => {
  // The interface refuses both.
  for (const address of ['.joe@x.test', 'joe@localhost']) {
    const mailbox = await mailboxFor({ forwardTo: address });
    await insertReceivedMail(database, mailbox);
    await start();
    const [delivery] = await untilDecided(mailbox, 1);
    expect(delivery).toMatchObject({ status: 'failed', error: `Mail cannot be sent to ${address}` });
    expect(await readQueued(mailbox)).toEqual([]);
  }
});

test.each([
  ['verified', /^postroom@forward\d+\.test$/],
  ['failed', /^service@postroom\.test$/],
])('a copy of catch-all mail of a domain that is %s is sent by %s', async (status, expected) => {
  const mailbox = await mailboxFor({ forwardTo: 'joe@elsewhere.test' });
  await database.pool.query('update domain set status = $2 where id = $1', [mailbox.domainId, status]);
  const mails = await insertReceivedMail(database, mailbox, { isCatchAll: true, localPart: 'anything' });
  await routed(mailbox, mails, 1);
  await start({ systemMailFrom: 'service@postroom.test' });
  await untilDecided(mailbox, 1);
  const { rows } = await database.pool.query<MessageColumns>(
    `select ${MESSAGE_COLUMNS} from delivery d join raw_message m on m.id = d.forward_raw_id where d.endpoint_id = $1`,
    [mailbox.endpointId],
  );
  const copy = await parseMessage(rows[0] === undefined ? Buffer.alloc(0) : readStoredMessage(rows[0]));
  const sender = copy.addresses.from?.addresses[0];
  expect(sender?.address).toMatch(expected);
  expect(sender?.name).toBe(`Ann via anything@${mailbox.address.split('@')[1]}`);
  const [queued] = await readQueued(mailbox);
  expect(queued?.sender_domain).toBe(sender?.address.split('@')[1]);
});

test('our own fault in one copy delays no other, is retried after growing pauses, and ends the delivery at last', async () => {
  const mailbox = await mailboxFor({ forwardTo: 'a@x.test' });
  const mails = await insertReceivedMail(database, mailbox, { count: 3 });
  const poison = mails[1]?.rawId;
  const { log } = testActorContext(database);
  const store = createByteStore({ database, log });
  const bytes = {
    ...store,
    get: (rawId: string) => (rawId === poison ? Promise.reject(new Error('poison')) : store.get(rawId)),
  };
  const actor = await start({ bytes });
  await untilDecided(mailbox, 3);
  expect(await readQueued(mailbox)).toHaveLength(2);
  for (let fault = 1; fault < 25; fault++) {
    const [delivery] = await untilDeliveries(database, mailbox.endpointId, (all) =>
      all.some(({ attempts, claimed_by: by, wait_seconds: wait }) => attempts === 0 && by === null && (wait ?? 0) > 0),
    ).then((all) => all.filter(({ attempts }) => attempts === 0));
    expect(delivery).toMatchObject({ status: 'pending', error: 'Internal error' });
    const pause = Math.exp(Math.min(10, fault));
    expect(delivery?.wait_seconds).toBeLessThanOrEqual(pause + 0.01);
    // What passed since, on a machine that is busy, is gone from it.
    expect(delivery?.wait_seconds).toBeGreaterThan(pause / 2 - 3);
    await actor.moveClock(pause);
  }
  const deliveries = await untilDeliveries(database, mailbox.endpointId, (all) =>
    all.some(({ status }) => status === 'failed'),
  );
  expect(deliveries.filter(({ status }) => status === 'failed')).toMatchObject([{ error: 'Internal error' }]);
  expect(await listDeliveries(database, mailbox.endpointId)).toHaveLength(3);
});

/** Makes the thread of `hanging-forward-worker.ts` compose these emails forever. */
async function makeHang(mails: readonly ReceivedMail[]): Promise<void> {
  const bytes = Buffer.from(`From: a@b.test\r\n${HANG_FIELD}\r\n\r\nHello\r\n`);
  await database.pool.query('update raw_message set packed = $2, size_bytes = $3, sha256 = $4 where id = any ($1)', [
    mails.map(({ rawId }) => rawId),
    bytes,
    bytes.length,
    hash('sha256', bytes, 'buffer'),
  ]);
}

test('a copy that takes too long to compose delays no other, and fails after the second try', async () => {
  const [mailbox, other] = [await mailboxFor({ forwardTo: 'a@x.test' }), await mailboxFor({ forwardTo: 'b@x.test' })];
  const mails = await insertReceivedMail(database, mailbox, { count: 3 });
  const hanging = mails.slice(0, 2);
  await makeHang(hanging);
  await routed(mailbox, hanging, 60);
  await routed(mailbox, mails.slice(2), 50);
  await routed(other, await insertReceivedMail(database, other, { count: 20 }), 40);
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: timeIsUp, resolve: endTime } = Promise.withResolvers<void>();
  const actor = await start({
    forwardThreads: {
      program: new URL('../../support/mail/hanging-forward-worker.ts', import.meta.url),
      startTimeLimit({ original }, onExpired) {
        if (!original.bytes.includes(HANG_FIELD)) return () => undefined;
        begin();
        void timeIsUp.then(onExpired);
        return () => undefined;
      },
    },
  });
  await begun;
  await untilDecided(other, 20);
  const isHeld = ({ attempts, error }: DeliverySight) => attempts === 0 && error === null;
  expect((await listDeliveries(database, mailbox.endpointId)).every(isHeld)).toBe(true);
  expect(await readQueued(other)).toHaveLength(20);
  endTime();

  // Each step lets what waits behind a slow one begin; of two that are slow each is tried twice.
  const isDone = ({ status, attempts }: DeliverySight) => status === 'failed' || attempts === 1;
  for (let step = 0; step < 8; step++) {
    const all = await untilDeliveries(database, mailbox.endpointId, (each) =>
      each.every((one) => isDone(one) || (one.claimed_by === null && (one.wait_seconds ?? 0) > 0)),
    );
    if (all.every(isDone)) break;
    await actor.moveClock(31);
  }
  const error = 'The message is too complex to be forwarded';
  const ended = await listDeliveries(database, mailbox.endpointId);
  expect(ended.toSorted((a, b) => a.status.localeCompare(b.status))).toMatchObject([
    { status: 'failed', error },
    { status: 'failed', error },
    { status: 'pending', attempts: 1, error: null },
  ]);
  expect(await readQueued(mailbox)).toHaveLength(1);
});
