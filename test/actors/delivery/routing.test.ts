import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail, type ReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox, type MailboxOptions } from '../../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { startDelivering, type TestDelivery } from './delivering.ts';

let testDatabase: TestDatabase;
let database: Database;
let receiver: WebhookReceiver;
let actor: TestDelivery;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  receiver = await startWebhookReceiver();
  actor = await startDelivering(database, testDatabase.open(null));
});
afterEach(() => {
  receiver.requests.length = 0;
});
afterAll(async () => {
  await actor.stop();
  await receiver.stop();
  await testDatabase.drop();
});

async function mailbox(options: Partial<MailboxOptions> = {}) {
  const domain = `route${count++}.test`;
  return createMailbox(database, {
    domain,
    address: `hello@${domain}`,
    endpointUrl: `${receiver.url}/own`,
    ...options,
  });
}

/** Wakes the router and resolves with the endpoints that got a delivery of these mails, when all are routed. */
async function routed(mails: readonly ReceivedMail[]): Promise<string[]> {
  actor.wakeRouter();
  const ids = mails.map((mail) => mail.emailId);
  for (;;) {
    const { rows } = await database.pool.query(`select 1 from route where email_id = any($1) and decided_at is null`, [
      ids,
    ]);
    if (rows.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { rows } = await database.pool.query<{ endpoint_id: string }>(
    `select endpoint_id from delivery where email_id = any($1)`,
    [ids],
  );
  return rows.map((row) => row.endpoint_id);
}

test('mail to an address goes to its endpoint', async () => {
  const box = await mailbox();
  expect(await routed(await insertReceivedMail(database, box))).toEqual([box.endpointId]);
});

test('mail to an address with only the legacy webhookId goes there', async () => {
  const box = await mailbox();
  await database.pool.query('update email_address set webhook_id = endpoint_id, endpoint_id = null where id = $1', [
    box.addressId,
  ]);
  expect(await routed(await insertReceivedMail(database, box))).toEqual([box.endpointId]);
});

test('mail to the catch-all, or to an address without endpoint, goes to the endpoint of the domain', async () => {
  const box = await mailbox({ isCatchAllEnabled: true });
  await database.pool.query('update email_address set endpoint_id = null where id = $1', [box.addressId]);
  const mails = [
    ...(await insertReceivedMail(database, box)),
    ...(await insertReceivedMail(database, box, { isCatchAll: true, localPart: 'anyone' })),
  ];
  expect(await routed(mails)).toEqual([box.endpointId, box.endpointId]);
});

test('mail without any endpoint is stored and marked as routed', async () => {
  const box = await mailbox();
  await database.pool.query('update email_address set endpoint_id = null where id = $1', [box.addressId]);
  expect(await routed(await insertReceivedMail(database, box))).toEqual([]);
});

test('mail for an inactive endpoint creates no delivery', async () => {
  const box = await mailbox();
  await database.pool.query('update endpoint set is_active = false where id = $1', [box.endpointId]);
  expect(await routed(await insertReceivedMail(database, box))).toEqual([]);
});

test.each(['email', 'email_group'])(
  'mail for an endpoint of type %s gets a delivery of that type, with one attempt',
  async (type) => {
    const box = await mailbox();
    const config = { email: 'a@b.test', emails: ['a@b.test'] };
    await database.pool.query(`update endpoint set type = $2, config = $3 where id = $1`, [
      box.endpointId,
      type,
      JSON.stringify(config),
    ]);
    expect(await routed(await insertReceivedMail(database, box))).toEqual([box.endpointId]);
    const { rows } = await database.pool.query(
      'select delivery_type, attempts_allowed, cause from delivery where endpoint_id = $1',
      [box.endpointId],
    );
    expect(rows).toEqual([{ delivery_type: type, attempts_allowed: 1, cause: 'route' }]);
  },
);

test("mail never reaches another user's endpoint, even when the address has its id and both users have mail", async () => {
  const mine = await mailbox();
  const theirs = await mailbox();
  await database.pool.query('update email_address set endpoint_id = $2 where id = $1', [
    mine.addressId,
    theirs.endpointId,
  ]);
  const mails = [...(await insertReceivedMail(database, mine)), ...(await insertReceivedMail(database, theirs))];
  expect(await routed(mails)).toEqual([theirs.endpointId]);
  const { rows } = await database.pool.query('select workspace_id from delivery where endpoint_id = $1', [
    theirs.endpointId,
  ]);
  expect(rows).toEqual([{ workspace_id: theirs.workspaceId }]);
});

test('mail to dmarc@ is not routed unless the domain asks for reports', async () => {
  const box = await mailbox({ isCatchAllEnabled: true });
  const report = { isCatchAll: true, localPart: 'dmarc' };
  expect(await routed(await insertReceivedMail(database, box, report))).toEqual([]);
  await database.pool.query('update domain set receive_dmarc_emails = true where id = $1', [box.domainId]);
  expect(await routed(await insertReceivedMail(database, box, report))).toEqual([box.endpointId]);
});

test('mail without a thread waits', async () => {
  const box = await mailbox();
  const [unthreaded] = await insertReceivedMail(database, box);
  await database.pool.query('delete from route where email_id = $1', [unthreaded?.emailId]);
  await database.pool.query('delete from delivery where email_id = $1', [unthreaded?.emailId]);
  expect(await routed(await insertReceivedMail(database, box))).toEqual([box.endpointId]);
  const { rows } = await database.pool.query('select 1 from route where email_id = $1', [unthreaded?.emailId]);
  expect(rows).toEqual([]);
});
