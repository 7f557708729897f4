import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { startDelivering, type TestDelivery, untilDeliveries } from './delivering.ts';

const HOUR = 3_600;

let testDatabase: TestDatabase;
let database: Database;
let receiver: WebhookReceiver;
let actor: TestDelivery;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
});
afterEach(async () => {
  await Promise.all([receiver.stop(), actor.stop()]);
});
afterAll(() => testDatabase.drop());

async function failingMailbox(retryAttempts = 10) {
  receiver = await startWebhookReceiver({ script: [500] });
  actor = await startDelivering(database, testDatabase.open(null));
  const domain = `failing${count++}.test`;
  return createMailbox(database, {
    domain,
    address: `hello@${domain}`,
    endpointUrl: receiver.url,
    endpointConfig: { retryAttempts },
  });
}

async function readState(endpointId: string | null) {
  const { rows } = await database.pool.query<{
    is_active: boolean;
    inactive_reason: string | null;
    failing_since: Date | null;
    events: { reason: string }[];
  }>(
    `select e.is_active, e.inactive_reason, s.failing_since,
       (select coalesce(jsonb_agg(v.data), '[]') from event v
        where v.workspace_id = e.workspace_id and v.endpoint_id = e.id and v.kind = 'endpoint.disabled') as events
     from endpoint e left join endpoint_stat s on s.workspace_id = e.workspace_id and s.endpoint_id = e.id where e.id = $1`,
    [endpointId],
  );
  const [state] = rows;
  if (state === undefined) throw new Error('no such endpoint');
  return state;
}

test('an endpoint at which everything failed for 120 hours is disabled with the reason, and its waiting deliveries end', async () => {
  const mailbox = await failingMailbox();
  await insertReceivedMail(database, mailbox);
  actor.wakeRouter();
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.attempts === 1);
  const { failing_since: since } = await readState(mailbox.endpointId);
  expect(since).toBeInstanceOf(Date);

  await actor.moveClock(119 * HOUR);
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.attempts === 2);
  expect(await readState(mailbox.endpointId)).toMatchObject({ is_active: true, failing_since: since, events: [] });

  await insertReceivedMail(database, mailbox);
  await actor.moveClock(2 * HOUR);
  const isOff = async () => !(await readState(mailbox.endpointId)).is_active;
  await expect.poll(isOff).toBe(true);
  const state = await readState(mailbox.endpointId);
  const reason = `Every delivery since ${since?.toISOString()} failed; disabled after 120 hours. Last error: Webhook returned error (500)`;
  expect(state).toMatchObject({ inactive_reason: reason, events: [{ reason }] });

  // Either of the two may have disabled it: the outcome of the other is on its way.
  await untilDeliveries(
    database,
    mailbox.endpointId,
    ([one, ...others]) =>
      one?.attempts === 3 && others.every(({ attempts, status }) => attempts === 1 || status === 'failed'),
  );
  const sent = receiver.requests.length;
  await actor.moveClock(11 * HOUR);
  const deliveries = await untilDeliveries(database, mailbox.endpointId, (all) =>
    all.every(({ status }) => status === 'failed'),
  );
  expect(deliveries[0]).toMatchObject({ error: 'Endpoint is inactive' });
  expect(receiver.requests).toHaveLength(sent);
  expect((await readState(mailbox.endpointId)).events).toHaveLength(1);
});

test('one success restarts the 120 hours', async () => {
  const mailbox = await failingMailbox();
  await insertReceivedMail(database, mailbox);
  actor.wakeRouter();
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.attempts === 1);
  await actor.moveClock(100 * HOUR);
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.attempts === 2);
  receiver.respond([200]);
  await actor.moveClock(HOUR);
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status === 'success');
  expect(await readState(mailbox.endpointId)).toMatchObject({ is_active: true, failing_since: null });

  receiver.respond([500]);
  await actor.moveClock(30 * HOUR);
  await insertReceivedMail(database, mailbox);
  actor.wakeRouter();
  await untilDeliveries(database, mailbox.endpointId, ([, two]) => two?.attempts === 1);
  expect(await readState(mailbox.endpointId)).toMatchObject({ is_active: true, events: [] });
});

test('earlier attempts of a delivery are stored with the last one, in their order', async () => {
  const mailbox = await failingMailbox();
  receiver.respond([500, { status: 503, body: 'later' }, 200]);
  await insertReceivedMail(database, mailbox);
  actor.wakeRouter();
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.attempts === 1);
  await actor.moveClock(7);
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.attempts === 2);
  await actor.moveClock(361);
  const [delivery] = await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status === 'success');
  const { rows } = await database.pool.query(
    `select number, outcome, status_code, error, response_body, request_headers->>'User-Agent' as agent
     from delivery_attempt where delivery_id = $1 order by number`,
    [delivery?.id],
  );
  const agent = 'Postroom-Webhook/1.0';
  expect(rows).toEqual([
    { number: 1, outcome: 'failed', status_code: 500, error: 'Webhook returned error (500)', response_body: '', agent },
    {
      number: 2,
      outcome: 'failed',
      status_code: 503,
      error: 'Webhook returned error (503)',
      response_body: 'later',
      agent,
    },
    { number: 3, outcome: 'success', status_code: 200, error: null, response_body: '', agent },
  ]);
});
