import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type GraphClient, graphClient } from '../../support/servers/graph-client.ts';

let gateway: TestGateway;
let box: TestMailbox;
let graph: GraphClient;

beforeAll(async () => {
  gateway = await openTestGateway();
});
beforeEach(async () => {
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
  graph = graphClient(gateway, box.apiKey);
});
afterAll(() => gateway.close());

/** Inserts failed deliveries of different emails, one hour old. */
async function fail(count: number, status = 'failed'): Promise<void> {
  const emails = await insertMail(
    gateway.actor,
    Array.from({ length: count }, () => ({ workspaceId: box.workspaceId })),
  );
  await gateway.actor.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, status, created_at)
     select $1, 'dlv_c' || id, id, $2, 'webhook', 4, $4, now() - interval '1 hour' from unnest($3::text[]) id`,
    [box.workspaceId, box.endpointId, emails, status],
  );
}

const since = new Date(Date.now() - 2 * 3_600_000).toISOString();
const COUNT = `query($id: ID!, $since: DateTime!, $until: DateTime, $status: ReplayStatus) {
  endpoint(id: $id) { replayCount(since: $since, until: $until, status: $status) } }`;
const left = async (more: Record<string, unknown> = {}, client = graph) =>
  (await client.ask(COUNT, { id: box.endpointId, since, ...more })).endpoint?.replayCount;

test('the remaining count of a replay falls to zero, part by part', async () => {
  await fail(7);
  await fail(2, 'success');
  await fail(1, 'pending');
  expect(await left()).toBe(7);
  expect(await left({ status: 'ALL' })).toBe(9);
  expect(await left({ until: new Date(Date.now() - 1.5 * 3_600_000).toISOString() })).toBe(0);
  const SELECTION = 'replayedCount hasMore until';
  const input = { id: box.endpointId, since, limit: 3 };
  const first = await graph.mutate('replayDeliveries', input, SELECTION);
  const { until } = first;
  expect([first.replayedCount, first.hasMore, await left({ until })]).toEqual([3, true, 4]);
  const second = await graph.mutate('replayDeliveries', { ...input, until }, SELECTION);
  expect([second.replayedCount, second.hasMore, await left({ until })]).toEqual([3, true, 1]);
  const third = await graph.mutate('replayDeliveries', { ...input, until }, SELECTION);
  expect([third.replayedCount, third.hasMore, await left({ until })]).toEqual([1, false, 0]);
});

test('a replay is not found by other users, and refuses a period that ends before it begins', async () => {
  await fail(1);
  const stranger = graphClient(gateway, (await gateway.mailbox()).apiKey);
  expect(await left({}, stranger)).toBeUndefined();
  const { errors } = (await gateway.graphql(box.apiKey, COUNT, { id: box.endpointId, since, until: since })).json();
  expect(errors[0].message).toContain('until must be later than since');
});
