import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { asWorkspace } from '../../../db/connection/transaction.ts';
import { readRecentDeliveries } from '../../../db/queries/endpoints/delivery-list.ts';
import { startDelivering, type TestDelivery, untilDeliveries } from '../../actors/delivery/delivering.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
let actor: TestDelivery | null = null;

beforeAll(async () => {
  gateway = await openTestGateway();
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  await actor?.stop();
  actor = null;
  receiver.respond([200]);
});
afterAll(async () => {
  await receiver.stop();
  await gateway.close();
});

test('an endpoint counts its attempts, successes and failures, and shows the last', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url, endpointConfig: { retryAttempts: 1 } });
  const readStats = async () =>
    (await gateway.call(box.apiKey, 'GET', `/endpoints/${box.endpointId}`)).json().deliveryStats;
  expect(await readStats()).toEqual({ total: 0, successful: 0, failed: 0, lastDelivery: null });
  actor = await startDelivering(gateway.actor, gateway.owner);
  const receive = async () => {
    await insertReceivedMail(gateway.actor, box);
    actor?.wakeRouter();
  };

  const startedAt = Date.now();
  await receive();
  await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'success');
  const first = await readStats();
  expect(first).toEqual({ total: 1, successful: 1, failed: 0, lastDelivery: expect.any(String) });
  expect(Date.parse(first.lastDelivery)).toBeGreaterThanOrEqual(startedAt);

  receiver.respond([500]);
  await receive();
  await untilDeliveries(gateway.actor, box.endpointId, ([, two]) => two?.attempts === 1 && two.claimed_by === null);
  await actor.moveClock(7);
  await untilDeliveries(gateway.actor, box.endpointId, ([, two]) => two?.status === 'failed');
  const second = await readStats();
  expect(second).toEqual({ total: 3, successful: 1, failed: 2, lastDelivery: expect.any(String) });
  expect(Date.parse(second.lastDelivery)).toBeGreaterThan(Date.parse(first.lastDelivery));
  const listed = (await gateway.call(box.apiKey, 'GET', '/endpoints')).json().data;
  expect(listed[0].deliveryStats).toEqual(second);
});

test('the last ten deliveries are found among many without reading the others', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const endpointId = box.endpointId ?? '';
  await gateway.owner.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts_allowed, created_at)
     select $1, 'dlv_r' || n, 'em_r' || n, $2, 'webhook', 'success', 4, now() - n * interval '1 second'
     from generate_series(1, 10000) n`,
    [box.workspaceId, endpointId],
  );
  await gateway.owner.pool.query('vacuum analyze delivery');
  const { ids, read } = await asWorkspace(gateway.database, box.workspaceId, async (transaction) => {
    const rowsRead = async () => {
      const { rows } = await sql<{ read: number }>`
        select pg_stat_get_xact_tuples_fetched(c.oid) + pg_stat_get_xact_tuples_returned(c.oid) as read
        from pg_class c where c.relname = 'delivery'`.execute(transaction);
      return Number(rows[0]?.read ?? 0);
    };
    const before = await rowsRead();
    const deliveries = await readRecentDeliveries(transaction, box.workspaceId, endpointId, 10);
    return { ids: deliveries.map(({ id }) => id), read: (await rowsRead()) - before };
  });
  expect(ids).toEqual(Array.from({ length: 10 }, (_, n) => `dlv_r${n + 1}`));
  expect(read).toBeLessThan(60);
});
