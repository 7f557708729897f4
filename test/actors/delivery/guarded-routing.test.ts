import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail, type ReceivedMailOptions } from '../../support/rows/received-mail.ts';
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
  return createMailbox(database, { domain, address: `hello@${domain}`, endpointUrl: `${receiver.url}/own` });
}

async function start(): Promise<TestDelivery> {
  actor = await startDelivering(database, testDatabase.open(null));
  return actor;
}

/** Routes mail of that subject and returns what became of it. */
async function route(subject: string, options: ReceivedMailOptions = {}) {
  const mails = await insertReceivedMail(database, box, { subject, ...options });
  if (actor === undefined) await start();
  actor?.wakeRouter();
  await untilRouted(
    database,
    mails.map(({ emailId }) => emailId),
  );
  return readRoute(database, mails[0]?.emailId ?? '');
}

async function addEndpoint(isActive = true): Promise<string> {
  const id = `ep_${randomBytes(8).toString('hex')}`;
  const config = { url: `${receiver.url}/other`, timeout: 30, retryAttempts: 0, verificationToken: 'a'.repeat(64) };
  await database.pool.query(
    `insert into endpoint (workspace_id, id, name, type, config, is_active) values ($1, $2, 'other', 'webhook', $3, $4)`,
    [box.workspaceId, id, JSON.stringify(config), isActive],
  );
  return id;
}

async function countHits(ruleId: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    'select coalesce(sum(trigger_count), 0)::integer as count from guard_rule_stat where workspace_id = $1 and rule_id = $2',
    [box.workspaceId, ruleId],
  );
  return rows[0]?.count ?? 0;
}

test('a block rule holds mail: no delivery, a hit, an event; other mail is routed', async () => {
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
  expect(await countHits(rule)).toBe(1);
  const { rows } = await database.pool.query(
    `select kind, data, thread_id from event where workspace_id = $1 and kind like 'email.%'`,
    [box.workspaceId],
  );
  expect(rows).toEqual([{ kind: 'email.blocked', data: { ruleId: rule, reason: null }, thread_id: 'th_test' }]);
  // It leaves the inbox, unread as it is, and the totals say so.
  const { rows: flags } = await database.pool.query(
    'select subject, is_archived, is_read from email where workspace_id = $1 order by subject',
    [box.workspaceId],
  );
  expect(flags).toEqual([
    { subject: 'Cheap PILLS', is_archived: true, is_read: false },
    { subject: 'Lunch', is_archived: false, is_read: false },
  ]);
});

test('the rule of the highest priority decides, of equal ones the newest, and disabled rules are skipped', async () => {
  await addRule(database, box, { action: 'block', subject: 'bill' });
  await addRule(database, box, { action: 'block', subject: 'bill', priority: 9, isActive: false });
  const allow = await addRule(database, box, { action: 'allow', subject: 'bill', priority: 5 });
  expect(await route('Your bill')).toMatchObject({ outcome: 'endpoint', rule_id: allow, deliveries: [box.endpointId] });
  expect(await countHits(allow)).toBe(1);
});

test('a rule routes to its endpoint, or to none when that is disabled, deleted or another user’s', async () => {
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
    ['off', `The endpoint ${off} of the guard rule is disabled, so the rule has no effect.`],
    ['gone', 'The endpoint of the guard rule no longer exists, so the rule has no effect.'],
    ['theirs', 'The endpoint of the guard rule no longer exists, so the rule has no effect.'],
  ] as const)
    expect(await route(subject)).toMatchObject({ via: 'address', reason, deliveries: [box.endpointId] });
});

test('two routers decide 500 mails once each, deliver or hold them, and count them once', async () => {
  const rule = await addRule(database, box, { action: 'block', hasWords: 'even' });
  const second = await mailbox();
  const other = await addRule(database, second, { action: 'block', subject: 'even' });
  const plain = await mailbox();
  const mails = [];
  for (const to of [box, second, plain])
    for (const subject of ['even', 'odd'])
      mails.push(...(await insertReceivedMail(database, to, { subject, count: 90 })));
  const first = await start();
  const beside = await startDelivering(database, testDatabase.open(null));
  try {
    first.wakeRouter();
    beside.wakeRouter();
    await untilRouted(
      database,
      mails.map(({ emailId }) => emailId),
    );
  } finally {
    await beside.stop();
  }
  const { rows } = await database.pool.query(
    `select r.workspace_id, count(*) filter (where outcome = 'blocked') as blocked, count(*) filter (where outcome = 'endpoint') as sent,
            (select count(*) from delivery d where d.workspace_id = r.workspace_id) as deliveries,
            (select count(distinct email_id) from delivery d where d.workspace_id = r.workspace_id) as delivered,
            (select count(*) from event v where v.workspace_id = r.workspace_id and kind = 'email.blocked') as events,
            (select sum(trigger_count)::integer from guard_rule_stat s where s.workspace_id = r.workspace_id) as hits
     from route r where workspace_id = any($1) group by workspace_id order by array_position($1, workspace_id)`,
    [[box.workspaceId, second.workspaceId, plain.workspaceId]],
  );
  const ruled = { blocked: 90, sent: 90, deliveries: 90, delivered: 90, events: 90, hits: 90 };
  expect(rows).toEqual([
    { workspace_id: box.workspaceId, ...ruled },
    { workspace_id: second.workspaceId, ...ruled },
    { workspace_id: plain.workspaceId, blocked: 0, sent: 180, deliveries: 180, delivered: 180, events: 0, hits: null },
  ]);
  expect([await countHits(rule), await countHits(other)]).toEqual([90, 0]);
});

test('mail whose content cannot be evaluated is held for review and delays no other', async () => {
  await addRule(database, box, { action: 'block', subject: 'pills' });
  const plain = await mailbox();
  const [broken, fine] = await insertReceivedMail(database, box, { subject: 'Hi', count: 2 });
  const [theirs] = await insertReceivedMail(database, plain);
  await database.pool.query(`update email_content set authentication = '{"spf": 1}' where email_id = $1`, [
    broken?.emailId,
  ]);
  await start();
  await untilRouted(database, [broken?.emailId ?? '', fine?.emailId ?? '', theirs?.emailId ?? '']);
  expect(await readRoute(database, broken?.emailId ?? '')).toMatchObject({
    outcome: 'review',
    rule_id: null,
    reason: 'internal error',
    deliveries: [],
  });
  expect(await readRoute(database, fine?.emailId ?? '')).toMatchObject({ deliveries: [box.endpointId] });
  expect(await readRoute(database, theirs?.emailId ?? '')).toMatchObject({ deliveries: [plain.endpointId] });
  const { rows } = await database.pool.query(`select kind from event where email_id = $1`, [broken?.emailId]);
  expect(rows).toEqual([{ kind: 'email.held' }]);
});

test('a mail that makes the statement fail is routed alone, and held for review when that fails, too', async () => {
  const owner = testDatabase.open(null);
  await owner.pool.query(`
    create function refuse_poison() returns trigger language plpgsql as $$ begin
      if exists (select from email e where e.id = new.email_id and e.subject = 'poison') then raise 'poison'; end if;
      return new; end $$;
    create trigger refuse_poison before insert on delivery for each row execute function refuse_poison()`);
  try {
    const before = await insertReceivedMail(database, box, { count: 3 });
    const [poison] = await insertReceivedMail(database, box, { subject: 'poison' });
    const after = await insertReceivedMail(database, box, { count: 3 });
    const others = [...before, ...after].map(({ emailId }) => emailId);
    await start();
    await untilRouted(database, [...others, poison?.emailId ?? '']);
    expect(await readRoute(database, poison?.emailId ?? '')).toMatchObject({
      outcome: 'review',
      reason: 'internal error',
      deliveries: [],
    });
    for (const id of others) expect(await readRoute(database, id)).toMatchObject({ deliveries: [box.endpointId] });
  } finally {
    await owner.pool.query('drop trigger refuse_poison on delivery; drop function refuse_poison()');
  }
});

test('a rule whose stored configuration is invalid lets no mail pass', async () => {
  const rule = await addRule(database, box, { action: 'block', subject: 'pills' });
  await database.pool.query(`update guard_rule set config = '{}' where id = $1`, [rule]);
  expect(await route('Lunch')).toMatchObject({ outcome: 'review', reason: 'internal error' });
});

test('a changed rule applies from the broadcast on, or one second later without it', async () => {
  expect(await route('pills')).toMatchObject({ outcome: 'endpoint' });
  const rule = await addRule(database, box, { action: 'block', subject: 'pills' });
  actor?.bus.publish('guard.changed', { workspaceId: box.workspaceId });
  expect(await route('pills')).toMatchObject({ outcome: 'blocked', rule_id: rule });
  await database.pool.query('delete from guard_rule where id = $1', [rule]);
  await new Promise((resolve) => setTimeout(resolve, 1_050));
  expect(await route('pills')).toMatchObject({ outcome: 'endpoint', rule_id: null });
});

test('a DMARC report is not delivered by the catch-all, but is by a registered address', async () => {
  await database.pool.query('update domain set is_catch_all_enabled = true, catch_all_endpoint_id = $2 where id = $1', [
    box.domainId,
    box.endpointId,
  ]);
  const [caught] = await insertReceivedMail(database, box, { isCatchAll: true, localPart: 'reports' });
  const [addressed] = await insertReceivedMail(database, box);
  await database.pool.query(
    `insert into dmarc_report (workspace_id, id, email_id, domain, domain_id, organization, report_id, begins_at, ends_at, policy, records, record_count,
       message_count, aligned_count, created_at)
     select workspace_id, 'dmr_' || id, id, own_domain, domain_id, 'org', id, now(), now(), '{}', '[]', 0, 0, 0, now()
     from email where id = any($1)`,
    [[caught?.emailId, addressed?.emailId]],
  );
  await start();
  await untilRouted(database, [caught?.emailId ?? '', addressed?.emailId ?? '']);
  expect(await readRoute(database, caught?.emailId ?? '')).toMatchObject({
    outcome: 'stored',
    reason: 'The mail is a DMARC report, and the domain does not route those to its catch-all (receiveDmarcEmails).',
  });
  expect(await readRoute(database, addressed?.emailId ?? '')).toMatchObject({ deliveries: [box.endpointId] });
});

test('mail of a user without rules is routed even if its content cannot be read', async () => {
  const ids = (await insertReceivedMail(database, box, { count: 120 })).map(({ emailId }) => emailId);
  // Whatever reads it without the right to fails: the batch that is to return it, and the attempts.
  const owner = testDatabase.open(null);
  await owner.pool.query('revoke select on email_content from postroom_actor');
  try {
    await start();
    await untilRouted(database, ids);
    const { rows } = await database.pool.query(
      `select count(*) as count from route where email_id = any($1) and outcome = 'endpoint'`,
      [ids],
    );
    expect(rows).toEqual([{ count: 120 }]);
  } finally {
    await owner.pool.query('grant select on email_content to postroom_actor');
  }
});
