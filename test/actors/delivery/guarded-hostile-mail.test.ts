import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JudgingLimits } from '../../../actors/delivery/evaluation-turns.ts';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { startDelivering, type TestDelivery } from './delivering.ts';
import { addRule, readRoute, untilRouted } from './guarding.ts';

let testDatabase: TestDatabase;
let database: Database;
let receiver: WebhookReceiver;
let actor: TestDelivery | undefined;
let box: TestMailbox;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  receiver = await startWebhookReceiver();
});
beforeEach(async () => {
  const domain = `hostile${count++}.test`;
  box = await createMailbox(database, { domain, address: `hello@${domain}`, endpointUrl: `${receiver.url}/own` });
});
afterEach(async () => {
  await actor?.stop();
  actor = undefined;
});
afterAll(async () => {
  await receiver.stop();
  await testDatabase.drop();
});

async function start(judgingLimits: Partial<JudgingLimits> = {}): Promise<void> {
  actor = await startDelivering(database, testDatabase.open(null), { judgingLimits });
}

/** Transactions in which the emails were routed; `before`: of those that came before the last of these other emails. */
async function countBatches(emailIds: readonly string[], before: readonly string[] = []): Promise<number | undefined> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(distinct decided_at)::integer as count from route
     where email_id = any($1)
       and decided_at < coalesce((select max(decided_at) from route where email_id = any($2)), 'infinity')`,
    [emailIds, before],
  );
  return rows[0]?.count;
}

test('routes mail in one transaction while its rules stay within the time limit of a batch', async () => {
  await addRule(database, box, { action: 'block', hasWords: 'casino' });
  const ids = (await insertReceivedMail(database, box, { count: 8 })).map(({ emailId }) => emailId);
  await start({ batchMs: Number.POSITIVE_INFINITY });
  await untilRouted(database, ids);
  expect(await countBatches(ids)).toBe(1);
});

test('routes one email per transaction when its rules alone reach the time limit of a batch', async () => {
  await addRule(database, box, { action: 'block', hasWords: 'casino' });
  const ids = (await insertReceivedMail(database, box, { count: 8 })).map(({ emailId }) => emailId);
  await start({ batchMs: 0 });
  await untilRouted(database, ids);
  expect(await countBatches(ids)).toBe(8);
});

test('routes the mail of other users after one batch of a user whose rules take long, and then the rest', async () => {
  await addRule(database, box, { action: 'block', hasWords: 'casino' });
  const costly = (await insertReceivedMail(database, box, { count: 8 })).map(({ emailId }) => emailId);
  const domain = `neighbor${count++}.test`;
  const neighbor = await createMailbox(database, {
    domain,
    address: `hello@${domain}`,
    endpointUrl: `${receiver.url}/neighbor`,
  });
  const others = (await insertReceivedMail(database, neighbor, { count: 5 })).map(({ emailId }) => emailId);
  await database.pool.query(`update route set created_at = created_at + interval '1 minute' where email_id = any($1)`, [
    others,
  ]);
  await start({ batchMs: 0, workspaceMs: 0, asideMs: Number.POSITIVE_INFINITY });
  await untilRouted(database, [...costly, ...others]);
  expect(await countBatches(costly, others)).toBe(1);
});

test('mail that could not be parsed matches no rule about its content, and is routed when no such rule exists', async () => {
  const unparsed = async () => {
    const [mail] = await insertReceivedMail(database, box, { subject: 'Lunch' });
    await database.pool.query(`update email_content set parse_error = 'x', text_body = null where email_id = $1`, [
      mail?.emailId,
    ]);
    await actor?.stop();
    await start();
    await untilRouted(database, [mail?.emailId ?? '']);
    return readRoute(database, mail?.emailId ?? '');
  };
  await addRule(database, box, { action: 'block', subject: 'pills' });
  expect(await unparsed()).toMatchObject({ outcome: 'endpoint' });
  await addRule(database, box, { action: 'block', hasWords: 'casino' });
  expect(await unparsed()).toMatchObject({
    outcome: 'review',
    rule_id: null,
    reason: 'it could not be parsed, and guard rules need its content',
    deliveries: [],
  });
  // Rules before it decide without it.
  const allow = await addRule(database, box, { action: 'allow', subject: 'lunch', priority: 9 });
  expect(await unparsed()).toMatchObject({ outcome: 'endpoint', rule_id: allow });
});
