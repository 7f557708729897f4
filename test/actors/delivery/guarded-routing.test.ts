import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../db/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertReceivedMail, type ReceivedMailOptions } from '../../support/received-mail.ts';
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
  box = await mailbox();
});
afterEach(async () => {
  await actor?.stop();
  actor = undefined;
});
afterAll(async () => {
  await receiver.stop();
  await testDatabase.drop();
});

async function mailbox(): Promise<TestMailbox> {
  const domain = `guarded${count++}.test`;
  return await createMailbox(database, { domain, address: `hello@${domain}`, endpointUrl: `${receiver.url}/own` });
}

async function start(): Promise<TestDelivery> {
  actor = await startDelivering(database, testDatabase.open(null));
  return actor;
}

/** Routes mail of that subject and answers what became of it. */
async function route(subject: string, options: ReceivedMailOptions = {}) {
  const mails = await insertReceivedMail(database, box, { subject, ...options });
  if (actor === undefined) await start();
  actor?.wakeRouter();
  await untilRouted(
    database,
    mails.map(({ emailId }) => emailId),
  );
  return await routeOf(database, mails[0]?.emailId ?? '');
}

async function addEndpoint(isActive = true): Promise<string> {
  const id = `ep_${randomBytes(8).toString('hex')}`;
  const config = { url: `${receiver.url}/other`, timeout: 30, retryAttempts: 0, verificationToken: 'a'.repeat(64) };
  await database.pool.query(
    `insert into endpoint (user_id, id, name, type, config, is_active) values ($1, $2, 'other', 'webhook', $3, $4)`,
    [box.userId, id, JSON.stringify(config), isActive],
  );
  return id;
}

async function hitsOf(ruleId: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    'select coalesce(sum(trigger_count), 0)::integer as count from guard_rule_stat where user_id = $1 and rule_id = $2',
    [box.userId, ruleId],
  );
  return rows[0]?.count ?? 0;
}

test('a block rule holds mail back: no delivery, a hit, an event; other mail goes its way', async () => {
  const rule = await addRule(database, box, { action: 'block', subject: 'pills' });
  expect(await route('Cheap PILLS')).toMatchObject({
    outcome: 'blocked',
    via: null,
    endpoint_id: null,
    rule_id: rule,
    matches: [{ criteria: 'subject', value: 'pills' }],
    deliveries: [],
  });
  expect(await route('Lunch')).toMatchObject({
    outcome: 'endpoint',
    via: 'address',
    rule_id: null,
    deliveries: [box.endpointId],
  });
  expect(await hitsOf(rule)).toBe(1);
  const { rows } = await database.pool.query(
    `select kind, data, thread_id from event where user_id = $1 and kind like 'email.%'`,
    [box.userId],
  );
  expect(rows).toEqual([{ kind: 'email.blocked', data: { ruleId: rule, reason: null }, thread_id: 'th_test' }]);
});

test('the highest priority decides, of equal ones the newest; rules that are off are passed over', async () => {
  await addRule(database, box, { action: 'block', subject: 'bill' });
  await addRule(database, box, { action: 'block', subject: 'bill', priority: 9, isActive: false });
  const allow = await addRule(database, box, { action: 'allow', subject: 'bill', priority: 5 });
  expect(await route('Your bill')).toMatchObject({ outcome: 'endpoint', rule_id: allow, deliveries: [box.endpointId] });
  expect(await hitsOf(allow)).toBe(1);
});

test('a rule routes to its endpoint, or as if it had named none when that is switched off, gone or another user’s', async () => {
  const endpointId = await addEndpoint();
  await addRule(database, box, { action: 'route', subject: 'shop', endpointId });
  expect(await route('To the shop')).toMatchObject({
    outcome: 'endpoint',
    via: 'guard-rule',
    endpoint_id: endpointId,
    reason: null,
    deliveries: [endpointId],
  });
  const off = await addEndpoint(false);
  await addRule(database, box, { action: 'route', subject: 'off', endpointId: off });
  await addRule(database, box, { action: 'route', subject: 'gone', endpointId: 'ep_gone' });
  const theirs = await mailbox();
  await addRule(database, box, { action: 'route', subject: 'theirs', endpointId: theirs.endpointId });
  await actor?.stop();
  await start();
  for (const [subject, reason] of [
    ['off', `The endpoint ${off} that the guard rule names is switched off, so the rule led nowhere.`],
    ['gone', 'The endpoint that the guard rule names does not exist any more, so the rule led nowhere.'],
    ['theirs', 'The endpoint that the guard rule names does not exist any more, so the rule led nowhere.'],
  ] as const)
    expect(await route(subject)).toMatchObject({ via: 'address', reason, deliveries: [box.endpointId] });
});
