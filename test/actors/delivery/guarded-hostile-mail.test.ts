import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../db/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertReceivedMail } from '../../support/received-mail.ts';
import { createMailbox, type TestMailbox } from '../../support/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';
import { startDelivering, type TestDelivery } from './delivering.ts';
import { addRule, routeOf, untilRouted } from './guarding.ts';

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

async function start(): Promise<void> {
  actor = await startDelivering(database, testDatabase.open(null));
}

test('mail whose rules take long is routed in several transactions, between which others have their turn', async () => {
  await addRule(database, box, { action: 'block', hasWords: 'casino' });
  const ids = (await insertReceivedMail(database, box, { count: 24 })).map(({ emailId }) => emailId);
  // Reading it takes more than a tenth of a second.
  await database.pool.query(`update email_content set html_body = repeat('<br>', 50000) where email_id = any($1)`, [
    ids,
  ]);
  const delay = monitorEventLoopDelay();
  delay.enable();
  await start();
  const startedAt = performance.now();
  await untilRouted(database, ids);
  const tookMs = performance.now() - startedAt;
  delay.disable();
  const { rows } = await database.pool.query<{ count: number }>(
    'select count(distinct decided_at)::integer as count from route where email_id = any($1)',
    [ids],
  );
  expect(rows[0]?.count).toBeGreaterThan(1);
  expect(delay.max / 1e6).toBeLessThan(tookMs / 3);
}, 120_000);

test('mail of others waits for one batch of those whose rules take long, whose mail comes in the end', async () => {
  await addRule(database, box, { action: 'block', hasWords: 'casino' });
  const costly = (await insertReceivedMail(database, box, { count: 40 })).map(({ emailId }) => emailId);
  await database.pool.query(`update email_content set html_body = repeat('<br>', 50000) where email_id = any($1)`, [
    costly,
  ]);
  const neighbour = await createMailbox(database, {
    domain: 'neighbour.test',
    address: 'hello@neighbour.test',
    endpointUrl: `${receiver.url}/neighbour`,
  });
  const others = (await insertReceivedMail(database, neighbour, { count: 5 })).map(({ emailId }) => emailId);
  await database.pool.query(`update route set created_at = created_at + interval '1 minute' where email_id = any($1)`, [
    others,
  ]);
  await start();
  await untilRouted(database, [...costly, ...others]);
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(distinct decided_at)::integer as count from route
     where email_id = any($1) and decided_at < (select max(decided_at) from route where email_id = any($2))`,
    [costly, others],
  );
  expect(rows[0]?.count).toBe(1);
}, 120_000);

test('mail that could not be parsed passes no rule that looks inside, and goes its way where none does', async () => {
  const unparsed = async () => {
    const [mail] = await insertReceivedMail(database, box, { subject: 'Lunch' });
    await database.pool.query(`update email_content set parse_error = 'x', text_body = null where email_id = $1`, [
      mail?.emailId,
    ]);
    await actor?.stop();
    await start();
    await untilRouted(database, [mail?.emailId ?? '']);
    return await routeOf(database, mail?.emailId ?? '');
  };
  await addRule(database, box, { action: 'block', subject: 'pills' });
  expect(await unparsed()).toMatchObject({ outcome: 'endpoint' });
  await addRule(database, box, { action: 'block', hasWords: 'casino' });
  expect(await unparsed()).toMatchObject({
    outcome: 'review',
    rule_id: null,
    reason: 'it could not be parsed, and guard rules look at what is inside',
    deliveries: [],
  });
  // Rules before it decide without it.
  const allow = await addRule(database, box, { action: 'allow', subject: 'lunch', priority: 9 });
  expect(await unparsed()).toMatchObject({ outcome: 'endpoint', rule_id: allow });
});
