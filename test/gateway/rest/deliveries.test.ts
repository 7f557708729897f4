import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Database } from '../../../db/connection/database.ts';
import { asWorkspace } from '../../../db/connection/transaction.ts';
import { listDeliveries } from '../../../db/queries/endpoints/delivery-list.ts';
import { startDelivering, type TestDelivery, untilDeliveries } from '../../actors/delivery/delivering.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
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

const get = async (box: TestMailbox, path: string) => {
  const response = await gateway.call(box.apiKey, 'GET', path);
  return { status: response.statusCode, body: response.json() };
};
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Deliveries as they may stand; newer ones have higher numbers. */
async function insertDeliveries(box: TestMailbox, statuses: readonly string[], type = 'webhook'): Promise<void> {
  await gateway.actor.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts_allowed, created_at)
     select $1, 'dlv_' || n, 'em_' || n, $2, $4, status, 4, now() + n * interval '1 second'
     from unnest($3::text[]) with ordinality as s(status, n)`,
    [box.workspaceId, box.endpointId, statuses, type],
  );
}

test('a delivery shows each attempt: the request, the response, and the duration', async () => {
  const box = await gateway.mailbox({
    endpointUrl: receiver.url,
    endpointConfig: { headers: { Authorization: 'Bearer s3cret' } },
  });
  const long = 'a'.repeat(5_000);
  receiver.respond([
    { status: 500, body: long, delayMs: 60 },
    { status: 200, body: 'thanks' },
  ]);
  const [mail] = await insertReceivedMail(gateway.actor, box);
  actor = await startDelivering(gateway.actor, gateway.owner);
  await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.attempts === 1 && one.claimed_by === null);

  const pending = (await get(box, `/endpoints/${box.endpointId}/deliveries`)).body;
  expect(pending.data[0]).toMatchObject({ status: 'pending', attempts: 1, completedAt: null, nextAttemptAt: instant });

  await actor.moveClock(60);
  await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'success');
  const { status, body } = await get(box, `/endpoints/${box.endpointId}/deliveries`);
  expect(status).toBe(200);
  expect(body).toEqual({
    object: 'list',
    has_more: false,
    pagination: { limit: 50, offset: 0, total: 1, hasMore: false },
    data: [
      {
        id: expect.stringMatching(/^dlv_/),
        emailId: mail?.emailId,
        event: 'email.received',
        endpointId: box.endpointId,
        deliveryType: 'webhook',
        status: 'success',
        attempts: 2,
        lastAttemptAt: instant,
        responseData: { error: null, statusCode: 200 },
        createdAt: instant,
        completedAt: instant,
        nextAttemptAt: null,
        cause: 'route',
        actions: null,
        attemptLog: [
          {
            number: 1,
            startedAt: instant,
            durationMs: expect.any(Number),
            outcome: 'failed',
            statusCode: 500,
            error: 'Webhook returned error (500)',
            requestHeaders: expect.objectContaining({ 'Content-Type': 'application/json' }),
            responseBody: long.slice(0, 4_096),
          },
          expect.objectContaining({
            number: 2,
            outcome: 'success',
            statusCode: 200,
            error: null,
            responseBody: 'thanks',
          }),
        ],
        recipients: [],
      },
    ],
  });
  expect(body.data[0].attemptLog[0].durationMs).toBeGreaterThanOrEqual(60);
  const shown = JSON.stringify(body);
  expect(shown).not.toContain('s3cret');
  expect(shown).not.toContain(String(receiver.requests.at(-1)?.headers['x-webhook-verification-token']));
  expect((await get(box, `/emails/${mail?.emailId}/deliveries`)).body).toEqual(body);
  expect((await get(box, `/endpoints/${box.endpointId}`)).body.recentDeliveries).toEqual(body.data);
});

test('the list is paged newest first, filtered by status, and counted exactly', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  await insertDeliveries(box, ['success', 'failed', 'pending', 'success', 'failed', 'success']);
  const list = async (query: string) => (await get(box, `/endpoints/${box.endpointId}/deliveries?${query}`)).body;
  const ids = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);
  expect(ids(await list(''))).toEqual(['dlv_6', 'dlv_5', 'dlv_4', 'dlv_3', 'dlv_2', 'dlv_1']);
  const page = await list('limit=2&offset=1');
  expect(ids(page)).toEqual(['dlv_5', 'dlv_4']);
  expect(page.pagination).toEqual({ limit: 2, offset: 1, total: 6, hasMore: true });
  for (const [status, expected] of [
    ['success', ['dlv_6', 'dlv_4', 'dlv_1']],
    ['failed', ['dlv_5', 'dlv_2']],
    ['pending', ['dlv_3']],
  ] as const) {
    const found = await list(`status=${status}&limit=1`);
    expect([ids(found), found.pagination.total], status).toEqual([expected.slice(0, 1), expected.length]);
    expect(ids(await list(`status=${status}`))).toEqual(expected);
  }
  const beyond = await list('offset=100');
  expect([beyond.data, beyond.pagination.total]).toEqual([[], 6]);
});

test('a forwarded copy shows the outcome at each recipient', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  await gateway.actor.pool.query(`update endpoint set type = 'email_group', config = '{"emails": []}' where id = $1`, [
    box.endpointId,
  ]);
  await insertDeliveries(box, ['pending'], 'email_group');
  await gateway.actor.pool.query(
    `insert into recipient (workspace_id, id, email_id, delivery_id, address, domain, status, last_code, last_status, last_text, settled_at, created_at)
     values ($1, 'rcp_1', 'em_1', 'dlv_1', 'a@away.test', 'away.test', 'delivered', 250, '2.0.0', 'OK', now(), now()),
            ($1, 'rcp_2', 'em_1', 'dlv_1', 'b@away.test', 'away.test', 'pending', null, null, null, null, now())`,
    [box.workspaceId],
  );
  const { body } = await get(box, `/endpoints/${box.endpointId}/deliveries?status=pending`);
  expect(body.pagination.total).toBe(1);
  expect(body.data[0]).toMatchObject({
    deliveryType: 'email_forward',
    recipients: [
      {
        address: 'a@away.test',
        status: 'delivered',
        code: 250,
        enhancedStatus: '2.0.0',
        text: 'OK',
        settledAt: instant,
      },
      { address: 'b@away.test', status: 'pending', code: null, enhancedStatus: null, text: null, settledAt: null },
    ],
  });
});

test.each([
  [200, 'success', null],
  [500, 'failed', 'Endpoint not found'],
] as const)('an endpoint deleted while its delivery runs breaks nothing: %d', async (response, status, error) => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const { promise: isDeleted, resolve: letRespond } = Promise.withResolvers<void>();
  const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
  receiver.respond(async () => {
    open();
    await isDeleted;
    return response;
  });
  const [mail] = await insertReceivedMail(gateway.actor, box);
  actor = await startDelivering(gateway.actor, gateway.owner);
  await isOpen;
  const deleted = await gateway.call(box.apiKey, 'DELETE', `/endpoints/${box.endpointId}`);
  expect(deleted.json().cleanup.deliveriesEnded).toBe(0);
  letRespond();
  await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.attempts === 1 && one.claimed_by === null);
  await actor.moveClock(60);
  await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === status);
  // It is told of with the email.
  const { body } = await get(box, `/emails/${mail?.emailId}/deliveries`);
  expect(body.data[0]).toMatchObject({
    endpointId: box.endpointId,
    status,
    attempts: 1,
    responseData: { error, statusCode: response === 200 ? 200 : null },
  });
  expect(body.data[0].attemptLog[0]).toMatchObject({ number: 1, statusCode: response });
  expect((await get(box, `/endpoints/${box.endpointId}/deliveries`)).status).toBe(404);
  const next = await insertReceivedMail(gateway.actor, box);
  actor.wakeRouter();
  await expect
    .poll(async () => {
      const { rows } = await gateway.actor.pool.query('select outcome from route where email_id = $1', [
        next[0]?.emailId,
      ]);
      return rows[0]?.outcome;
    })
    .toBe('stored');
});

test('an invalid request is refused; deliveries of another user are not found', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const other = await gateway.mailbox();
  const [mail] = await insertReceivedMail(gateway.actor, box);
  for (const query of ['status=done', 'limit=0', 'limit=x', 'offset=-1'])
    expect((await get(box, `/endpoints/${box.endpointId}/deliveries?${query}`)).status, query).toBe(400);
  expect((await get(box, `/endpoints/${box.endpointId}/deliveries?limit=500`)).body.pagination.limit).toBe(100);
  for (const [own, error] of [
    [`/endpoints/${box.endpointId}`, 'Endpoint not found'],
    [`/emails/${mail?.emailId}`, 'Email not found'],
  ]) {
    const kind = own?.split('/')[1];
    const responses = [];
    for (const path of [own, `/${kind}/x`, `/${kind}/';`, `/${kind}/ep_00000000000000000000000000000000`])
      responses.push(await get(other, `${path}/deliveries`));
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(responses[0]).toMatchObject({ status: 404, body: { error } });
  }
});

test('a few failed or pending ones are found among many without reading all of them', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const endpointId = box.endpointId ?? '';
  await gateway.owner.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts_allowed, created_at)
     select $1, 'dlv_m' || n, 'em_m' || n, $2, 'webhook', case when n % 1000 = 0 then 'failed' when n % 1500 = 1 then 'pending' else 'success' end, 4,
       now() - n * interval '1 second'
     from generate_series(1, 15000) n`,
    [box.workspaceId, endpointId],
  );
  await gateway.owner.pool.query('vacuum analyze delivery');
  for (const [status, total] of [
    ['failed', 15],
    ['pending', 10],
    ['success', 14_975],
    [null, 15_000],
  ] as const) {
    const { heap, found } = await reading(gateway.database, box.workspaceId, async (transaction) =>
      listDeliveries(transaction, box.workspaceId, { endpointId, type: 'webhook' }, status, { limit: 10, offset: 0 }),
    );
    expect([found.deliveries.length, found.total], `${status}`).toEqual([10, total]);
    if (status === 'failed' || status === 'pending')
      expect(heap, `rows of ${status} read from the table`).toBeLessThan(60);
  }
});

type Transaction = Parameters<typeof listDeliveries>[0];

/** What work answers, and how many rows of deliveries it fetched from the table itself. */
async function reading<T>(
  database: Database,
  workspaceId: string,
  work: (transaction: Transaction) => Promise<T>,
): Promise<{ heap: number; found: T }> {
  return asWorkspace(database, workspaceId, async (transaction) => {
    const fetched = async () => {
      const { rows } = await sql<{ heap: number }>`
        select coalesce(pg_stat_get_xact_tuples_fetched(c.oid), 0) + coalesce(pg_stat_get_xact_tuples_returned(c.oid), 0) as heap
        from pg_class c where c.relname = 'delivery'`.execute(transaction);
      return Number(rows[0]?.heap ?? 0);
    };
    const before = await fetched();
    const found = await work(transaction);
    return { heap: (await fetched()) - before, found };
  });
}
