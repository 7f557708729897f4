import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createDeliveryLeases } from '../../../actors/delivery/claim-deliveries.ts';
import type { DeliveryJob } from '../../../actors/delivery/delivery-job.ts';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import {
  type ScriptedResponse,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { startDelivering, type TestDelivery, untilDeliveries } from './delivering.ts';

let testDatabase: TestDatabase;
let database: Database;
let owner: Database;
let receiver: WebhookReceiver;
let actor: TestDelivery | undefined;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all([receiver?.stop(), actor?.stop()]);
  actor = undefined;
});
afterAll(() => testDatabase.drop());

async function mailboxFor() {
  const domain = `leases${count++}.test`;
  return createMailbox(database, { domain, address: `hello@${domain}`, endpointUrl: receiver.url });
}

function jobFor(workspaceId: string, deliveryId: string): DeliveryJob {
  return {
    workspaceId,
    deliveryId,
    emailId: 'em_lease',
    eventSeq: null,
    eventKind: null,
    endpointId: 'ep_lease',
    attempts: 0,
    attemptsAllowed: 1,
    createdAt: new Date(),
    threadId: null,
    threadPosition: null,
    orderKey: null,
    sizeBytes: 0,
    content: null,
    leaseUntil: 0,
  };
}

/** A script that answers nothing before it is released. */
function held(response: ScriptedResponse): { script: () => Promise<ScriptedResponse>; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { script: () => promise.then(() => response), release: resolve };
}

test('deliveries that waited in memory until their lease was lost are not posted', async () => {
  const { script, release } = held(200);
  receiver = await startWebhookReceiver({ script });
  const mailbox = await mailboxFor();
  await insertReceivedMail(database, mailbox, { count: 15 });
  actor = await startDelivering(database, owner, { name: 'slow' });
  await receiver.received(10);
  // As if this process had stood still for longer than its leases, and another one had taken over what it held.
  await database.pool.query(
    `update delivery set claimed_by = 'other', claimed_until = now() + interval '1 day' where claimed_by = 'slow'`,
  );
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 31_000);
  release();
  await vi.waitUntil(() => receiver.openConnections() === 0 || receiver.requests.length > 10, {
    timeout: 120_000,
  });
  await actor.stop();
  expect(receiver.requests).toHaveLength(10);
  const deliveries = await untilDeliveries(database, mailbox.endpointId, () => true);
  expect(deliveries.map(({ status, attempts, claimed_by }) => ({ status, attempts, claimed_by }))).toEqual(
    Array.from({ length: 15 }, () => ({ status: 'pending', attempts: 0, claimed_by: 'other' })),
  );
});

test('renews only the leases that this process still holds', async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor();
  const readLease = async (id: string) =>
    (await database.pool.query('select claimed_by, claimed_until from delivery where id = $1', [id])).rows[0];
  const inserted = await owner.pool.query<{ id: string }>(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, next_attempt_at, created_at,
       claimed_by, claimed_until)
     select $1, 'dlv_lease_' || name, 'em_lease', $2, 'webhook', 1, now(), now(), name, now() + interval '1 second'
     from unnest(array['ours', 'other']) as n(name) returning id`,
    [mailbox.workspaceId, mailbox.endpointId],
  );
  const jobs = inserted.rows.map(({ id }) => ({ ...jobFor(mailbox.workspaceId, id), leaseUntil: performance.now() }));
  const [ours, other] = jobs;
  const before = await readLease('dlv_lease_other');
  await createDeliveryLeases(testActorContext(database, 'ours')).renew(jobs);
  expect(await readLease('dlv_lease_other')).toEqual(before);
  expect((await readLease('dlv_lease_ours')).claimed_until.getTime()).toBeGreaterThan(before.claimed_until.getTime());
  expect(ours?.leaseUntil).toBeGreaterThan(performance.now());
  // What another process holds is not attempted any more.
  expect(other?.leaseUntil).toBeLessThanOrEqual(performance.now());
  await owner.pool.query(`delete from delivery where email_id = 'em_lease'`);
});

test('leases that expired while PostgreSQL was unreachable, and that no other process took, are renewed and posted once', async () => {
  const { script, release } = held(200);
  receiver = await startWebhookReceiver({ script });
  const mailbox = await mailboxFor();
  await insertReceivedMail(database, mailbox, { count: 15 });
  actor = await startDelivering(database, owner);
  await receiver.received(10);
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 31_000);
  await actor.moveClock(31);
  release();
  await untilDeliveries(database, mailbox.endpointId, (all) => all.every(({ status }) => status === 'success'));
  expect(receiver.requests).toHaveLength(15);
  expect(new Set(receiver.requests.map(({ webhookId }) => webhookId)).size).toBe(15);
});

test('an outcome that PostgreSQL refuses is recorded later, and its webhook is not posted again', async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor();
  const mails = await insertReceivedMail(database, mailbox, { count: 5 });
  const refused = mails[2]?.emailId ?? '';
  await owner.pool.query(`
    create sequence refusals;
    create function refuse_outcome() returns trigger language plpgsql security definer as $$
    begin
      if new.status <> 'pending' and new.email_id = '${refused}' and nextval('refusals') <= 4 then raise exception 'no'; end if;
      return new;
    end $$;
    create trigger refuse_outcome before update on delivery for each row execute function refuse_outcome()`);
  actor = await startDelivering(database, owner);
  await untilDeliveries(
    database,
    mailbox.endpointId,
    (all) => all.length === 5 && all.filter(({ status }) => status === 'success').length === 4,
  );
  // Its lease is over, and it is claimed anew by the process that holds it.
  await actor.moveClock(31);
  await untilDeliveries(database, mailbox.endpointId, (all) => all.every(({ status }) => status === 'success'));
  expect(receiver.requests.map(({ headers }) => String(headers['x-email-id'])).toSorted()).toEqual(
    mails.map(({ emailId }) => emailId).toSorted(),
  );
  const { rows } = await database.pool.query('select total, successful from endpoint_stat where endpoint_id = $1', [
    mailbox.endpointId,
  ]);
  expect(rows).toEqual([{ total: 5, successful: 5 }]);
  await owner.pool.query('drop trigger refuse_outcome on delivery');
});

test('deleting an endpoint with its deliveries during a request changes nothing else', async () => {
  const { script, release } = held(200);
  receiver = await startWebhookReceiver({ script });
  const [mailbox, other] = [await mailboxFor(), await mailboxFor()];
  await insertReceivedMail(database, mailbox, { count: 12 });
  actor = await startDelivering(database, owner);
  await receiver.received(10);
  await database.pool.query('delete from delivery where endpoint_id = $1', [mailbox.endpointId]);
  await database.pool.query('delete from endpoint where id = $1', [mailbox.endpointId]);
  await insertReceivedMail(database, other);
  release();
  actor.wakeRouter();
  await untilDeliveries(database, other.endpointId, ([one]) => one?.status === 'success');
  const { rows } = await database.pool.query(
    `select (select count(*) from delivery where endpoint_id = $1) + (select count(*) from endpoint_stat where endpoint_id = $1)
       + (select count(*) from event where endpoint_id = $1) as left_over`,
    [mailbox.endpointId],
  );
  expect(rows).toEqual([{ left_over: 0 }]);
});

test("deleting only the endpoint during a request records the delivery's outcome", async () => {
  const { script, release } = held(500);
  receiver = await startWebhookReceiver({ script });
  const mailbox = await mailboxFor();
  await insertReceivedMail(database, mailbox);
  actor = await startDelivering(database, owner);
  await receiver.received(1);
  await database.pool.query('delete from endpoint where id = $1', [mailbox.endpointId]);
  release();
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.attempts === 1);
  await actor.moveClock(7);
  const [delivery] = await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status !== 'pending');
  expect(delivery).toMatchObject({ status: 'failed', attempts: 1, error: 'Endpoint not found' });
  expect(receiver.requests).toHaveLength(1);
});

test('due deliveries of thousands of endpoints, more than fit in memory, are all claimed', async () => {
  receiver = await startWebhookReceiver();
  const total = 5_600;
  await owner.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, next_attempt_at, created_at)
     select 'usr_many' || n % 7, 'dlv_many' || n, 'em_many', 'ep_many' || n, 'webhook', 1, now(), now()
     from generate_series(1, $1::integer) n`,
    [total],
  );
  actor = await startDelivering(database, owner);
  await vi.waitUntil(
    async () => {
      const { rows } = await database.pool.query<{ count: number }>(
        `select count(*)::integer as count from delivery where email_id = 'em_many' and status = 'failed'`,
      );
      return rows[0]?.count === total;
    },
    { timeout: 120_000, interval: 100 },
  );
});
