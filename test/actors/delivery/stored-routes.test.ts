import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { decideRoutes, type RoutingParts } from '../../../actors/delivery/decide-routes.ts';
import { createEndpointLookup } from '../../../actors/delivery/endpoint-lookup.ts';
import { JUDGING_LIMITS } from '../../../actors/delivery/evaluation-turns.ts';
import { createGuardLookup } from '../../../actors/delivery/guard-lookup.ts';
import { createEmailRouter, storeRoutes } from '../../../actors/delivery/route-emails.ts';
import type { Database } from '../../../db/connection/database.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { takeUnroutedSql, type UnroutedRow } from '../../../db/queries/routing/delivery-route.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import {
  type DeliverySight,
  listDeliveries,
  SECRET_KEY,
  startDelivering,
  type TestDelivery,
  untilDeliveries,
} from './delivering.ts';
import { addRule, readRoute, untilRouted } from './guarding.ts';

let testDatabase: TestDatabase;
let database: Database;
let receiver: WebhookReceiver;
let actor: TestDelivery | undefined;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await actor?.stop();
  actor = undefined;
});
afterAll(async () => {
  await receiver.stop();
  await testDatabase.drop();
});

async function mailboxFor() {
  const domain = `stored${count++}.test`;
  return createMailbox(database, { domain, address: `hello@${domain}`, endpointUrl: receiver.url });
}

function makeParts(name: string): RoutingParts {
  const context = testActorContext(database, name);
  return {
    context,
    endpoints: createEndpointLookup({ pool: database.pool, secretKey: SECRET_KEY, log: context.log }),
    guard: createGuardLookup({ bus: context.bus, asideMs: 0 }),
    judgingLimits: JUDGING_LIMITS,
    hasModel: false,
  };
}

/** A router of its own, which has read the mail that waits, and decided. */
async function decidedBy(name: string) {
  const { pool } = database;
  const parts = makeParts(name);
  const { rows } = await pool.query<UnroutedRow>(takeUnroutedSql({ ofOthers: false, locked: false }), [50]);
  return {
    context: parts.context,
    admit: () => 'claimed' as const,
    ...(await decideRoutes(parts, pool, rows, performance.now())),
  };
}

async function listEvents(emailId: string): Promise<string[]> {
  const { rows } = await testDatabase
    .open(null)
    .pool.query<{ kind: string }>('select kind from event where email_id = $1', [emailId]);
  return rows.map(({ kind }) => kind);
}

test('one of two routers that decided on the same mail stores its route, and does not delay the other', async () => {
  const mailbox = await mailboxFor();
  const rule = await addRule(database, mailbox, { action: 'block', subject: 'pills' });
  const [held] = await insertReceivedMail(database, mailbox, { subject: 'pills' });
  await insertReceivedMail(database, mailbox, { count: 3 });
  const [first, second] = [await decidedBy('first'), await decidedBy('second')];
  expect(second.decided).toHaveLength(4);
  await inTransaction(database, async (client) => {
    expect((await storeRoutes(client, first)).routes).toHaveLength(4);
    // The first one's transaction is still open.
    expect(await storeRoutes(database.pool, second)).toEqual({ routes: [], grown: [] });
  });
  expect(await storeRoutes(database.pool, second)).toEqual({ routes: [], grown: [] });
  const deliveries = await listDeliveries(database, mailbox.endpointId);
  expect(deliveries.map(({ claimed_by: name }) => name)).toEqual(['first', 'first', 'first']);
  expect(await readRoute(database, held?.emailId ?? '')).toMatchObject({ outcome: 'blocked', deliveries: [] });
  expect(await listEvents(held?.emailId ?? '')).toEqual(['email.blocked']);
  const { rows } = await database.pool.query('select trigger_count from guard_rule_stat where rule_id = $1', [rule]);
  expect(rows).toEqual([{ trigger_count: 1 }]);
});

test('a router that lost a route to another locks the mail that it reads next', async () => {
  const mailbox = await mailboxFor();
  const parts = makeParts('router');
  let meanwhile = async (): Promise<unknown> => undefined;
  const read: RoutingParts['guard']['read'] = async (...asked) => {
    await meanwhile();
    return parts.guard.read(...asked);
  };
  const router = createEmailRouter({ ...parts, guard: { ...parts.guard, read } });
  await insertReceivedMail(database, mailbox);
  meanwhile = async () => storeRoutes(database.pool, await decidedBy('other'));
  expect(await router.route(50, () => 'claimed')).toMatchObject({ emailCount: 1, lostCount: 1, jobs: [] });

  const [mail] = await insertReceivedMail(database, mailbox);
  const take = takeUnroutedSql({ ofOthers: false, locked: true });
  let leftToOthers: number | null = null;
  meanwhile = async () => {
    leftToOthers = (await database.pool.query(take, [50])).rows.length;
  };
  const { jobs } = await router.route(50, () => 'claimed');
  expect(jobs.map(({ emailId }) => emailId)).toEqual([mail?.emailId]);
  expect(leftToOthers).toBe(0);
});

test('mail that goes to a known endpoint takes three statements: read, route with content, outcome', async () => {
  const mailbox = await mailboxFor();
  actor = await startDelivering(database, testDatabase.open(null));
  await insertReceivedMail(database, mailbox);
  actor.wakeRouter();
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status === 'success');
  const queries = vi.spyOn(database.pool, 'query');
  const transactions = vi.spyOn(database.pool, 'connect');
  const [mail] = await insertReceivedMail(database, mailbox);
  actor.wakeRouter();
  const isDone = (all: DeliverySight[]) => all.length === 2 && all.every(({ status }) => status === 'success');
  await untilDeliveries(database, mailbox.endpointId, isDone);
  const names = queries.mock.calls.map(([query]) => (query as unknown as { name?: string }).name);
  const ofMail = names.filter((name) => name !== undefined && !SWEEPS.has(name));
  expect(ofMail.filter((name, n) => ofMail.indexOf(name) === n)).toEqual([
    'delivery-take-unrouted',
    'delivery-store-routes-with-content',
    'delivery-finish',
  ]);
  expect(transactions.mock.calls.filter((given: readonly unknown[]) => given.length === 0)).toEqual([]);
  const request = receiver.requests.at(-1);
  expect(request?.headers['x-email-id']).toBe(mail?.emailId);
  expect(JSON.parse(request?.body ?? '{}')).toMatchObject({
    email: { parsedData: { raw: mail?.raw.toString('utf8') } },
  });
});

/** Statements of sweeps, which run when they run. */
const SWEEPS = new Set(['delivery-list-lanes', 'delivery-claim-of-lanes', 'delivery-claim-asking', 'forward-claim']);

test('mail after a change of its endpoint is routed by the changed endpoint', async () => {
  const mailbox = await mailboxFor();
  actor = await startDelivering(database, testDatabase.open(null));
  await insertReceivedMail(database, mailbox);
  actor.wakeRouter();
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status === 'success');
  await database.pool.query('update endpoint set is_active = false where id = $1', [mailbox.endpointId]);
  const [mail] = await insertReceivedMail(database, mailbox);
  actor.wakeRouter();
  await untilRouted(database, [mail?.emailId ?? '']);
  expect(await readRoute(database, mail?.emailId ?? '')).toMatchObject({ outcome: 'inactive', deliveries: [] });
});
