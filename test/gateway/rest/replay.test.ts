import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startDelivering, type TestDelivery, untilDeliveries } from '../../actors/delivery/delivering.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';

const LONG_AGO = '2020-01-01T00:00:00Z';
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
});
afterAll(async () => {
  await receiver.stop();
  await gateway.close();
});

const replay = async (box: TestMailbox, body: unknown, id = box.endpointId) => {
  const response = await gateway.call(box.apiKey, 'POST', `/endpoints/${id}/replay`, body);
  return { status: response.statusCode, body: response.json() };
};

/** Received mail with a delivery each, a minute apart, the last one a minute ago. */
async function delivered(box: TestMailbox, statuses: readonly string[]): Promise<string[]> {
  const mails = await insertReceivedMail(gateway.actor, box, { count: statuses.length });
  await gateway.actor.pool.query(
    `with decided as (update route set decided_at = now(), outcome = 'endpoint' where workspace_id = $1)
     insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts, attempts_allowed, created_at)
     select $1, 'dlv_' || email_id, email_id, $2, 'webhook', status, 1, 4,
       date_trunc('milliseconds', now()) - ($5::integer - n + 1) * interval '1 minute'
     from unnest($3::text[], $4::text[]) with ordinality as d(email_id, status, n)`,
    [box.workspaceId, box.endpointId, mails.map(({ emailId }) => emailId), statuses, statuses.length],
  );
  return mails.map(({ emailId }) => emailId);
}

/** Emails with a delivery that a replay made, in its order. */
async function replayedEmails(box: TestMailbox): Promise<string[]> {
  const { rows } = await gateway.actor.pool.query(
    `select email_id from delivery where workspace_id = $1 and cause = 'replay' order by created_at, email_id`,
    [box.workspaceId],
  );
  return rows.map(({ email_id: emailId }) => emailId);
}

async function setStatus(box: TestMailbox, from: string, to: string): Promise<void> {
  await gateway.actor.pool.query('update delivery set status = $3 where workspace_id = $1 and status = $2', [
    box.workspaceId,
    from,
    to,
  ]);
}

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

test('failed deliveries are repeated, in order, and delivered', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const mails = await delivered(box, ['failed', 'success', 'failed']);
  actor = await startDelivering(gateway.actor, gateway.owner);
  const before = receiver.requests.length;
  const response = await replay(box, { since: LONG_AGO });
  expect(response).toEqual({
    status: 200,
    body: {
      success: true,
      message: '2 emails are being delivered again',
      replayed: 2,
      hasMore: false,
      until: expect.any(String),
      skipped: { waiting: 0, succeeded: 1, deliveredAgain: 0 },
    },
  });
  await untilDeliveries(
    gateway.actor,
    box.endpointId,
    (all) => all.filter((one) => one.status === 'success').length === 3,
  );
  const came = (await receiver.received(before + 2)).slice(before).map(({ body }) => JSON.parse(body).email.id);
  expect(new Set(came)).toEqual(new Set([mails[0], mails[2]]));
  const list = await gateway.call(box.apiKey, 'GET', `/endpoints/${box.endpointId}/deliveries?status=success`);
  expect(
    list
      .json()
      .data.slice(0, 2)
      .map(({ cause }: { cause: string }) => cause),
  ).toEqual(['replay', 'replay']);
});

test('status all repeats successful ones, too, and never pending ones', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const mails = await delivered(box, ['failed', 'success', 'pending']);
  expect((await replay(box, { since: LONG_AGO, status: 'all' })).body.replayed).toBe(2);
  expect(await replayedEmails(box)).toEqual(mails.slice(0, 2).toSorted());
  // All three are pending now.
  expect((await replay(box, { since: LONG_AGO, status: 'all' })).body).toMatchObject({ replayed: 0, hasMore: false });
});

test('since is included, until is not', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const mails = await delivered(box, ['failed', 'failed', 'failed']);
  const { rows } = await gateway.actor.pool.query(
    'select created_at from delivery where workspace_id = $1 order by created_at',
    [box.workspaceId],
  );
  const [, second, third] = rows.map(({ created_at: at }) => (at as Date).toISOString());
  expect((await replay(box, { since: second, until: third })).body).toMatchObject({ replayed: 1, until: third });
  expect(await replayedEmails(box)).toEqual([mails[1]]);
});

test('only the latest delivery of an email counts', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const [mended] = await delivered(box, ['failed', 'failed']);
  await gateway.actor.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts_allowed, created_at)
     values ($1, 'dlv_mended', $2, $3, 'webhook', 'success', 4, now() - interval '1 second')`,
    [box.workspaceId, mended, box.endpointId],
  );
  expect((await replay(box, { since: LONG_AGO })).body.replayed).toBe(1);
  expect(await replayedEmails(box)).not.toContain(mended);
});

test('a repeated request with the same until continues where it stopped, and repeats nothing twice', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const mails = await delivered(box, ['success', 'failed', 'success', 'failed', 'success']);
  const wish = { since: LONG_AGO, status: 'all', limit: 2 };
  const first = (await replay(box, wish)).body;
  expect(first).toMatchObject({ replayed: 2, hasMore: true });
  expect(await replayedEmails(box)).toEqual(mails.slice(0, 2).toSorted());
  await setStatus(box, 'pending', 'success');
  const second = (await replay(box, { ...wish, until: first.until })).body;
  expect(second).toMatchObject({ replayed: 2, hasMore: true, until: first.until });
  await setStatus(box, 'pending', 'failed');
  expect((await replay(box, { ...wish, until: first.until })).body).toMatchObject({ replayed: 1, hasMore: false });
  expect((await replay(box, { ...wish, until: first.until })).body).toMatchObject({ replayed: 0, hasMore: false });
  expect((await replayedEmails(box)).toSorted()).toEqual(mails.toSorted());
});

test('two concurrent replays repeat nothing twice', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  await delivered(box, Array(30).fill('failed'));
  const responses = await Promise.all(Array.from({ length: 4 }, () => replay(box, { since: LONG_AGO })));
  expect(responses.map(({ body }) => body.replayed).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 30]);
});

test('a replay beyond the limit is executed in parts', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  await delivered(box, Array(2_001).fill('failed'));
  const response = await replay(box, { since: LONG_AGO, limit: 50_000 });
  expect(response.body).toMatchObject({ replayed: 2_000, hasMore: true });
  expect((await replay(box, { since: LONG_AGO, until: response.body.until })).body.replayed).toBe(1);
});

describe('an invalid replay is refused', () => {
  test.each([
    [{}, 'since'],
    [undefined, ''],
    [{ since: 'yesterday' }, 'since'],
    [{ since: '2026-01-01' }, 'since'],
    [{ since: LONG_AGO, until: '2019-01-01T00:00:00Z' }, 'until'],
    [{ since: LONG_AGO, until: 'x' }, 'until'],
    [{ since: LONG_AGO, status: 'pending' }, 'status'],
    [{ since: LONG_AGO, limit: 0 }, 'limit'],
    [{ since: LONG_AGO, limit: '5' }, 'limit'],
  ])('with %j', async (body, field) => {
    const box = await gateway.mailbox({ endpointUrl: receiver.url });
    expect(await replay(box, body)).toMatchObject({ status: 400, body: { details: [{ field }] } });
  });

  test('for a disabled endpoint', async () => {
    const box = await gateway.mailbox({ endpointUrl: receiver.url });
    await delivered(box, ['failed']);
    await gateway.actor.pool.query('update endpoint set is_active = false where id = $1', [box.endpointId]);
    expect(await replay(box, { since: LONG_AGO })).toMatchObject({
      status: 400,
      body: { error: 'Endpoint is not active' },
    });
    expect(await replayedEmails(box)).toEqual([]);
  });

  test('for an endpoint of another user, like an unknown one', async () => {
    const box = await gateway.mailbox({ endpointUrl: receiver.url });
    const other = await gateway.mailbox();
    await delivered(box, ['failed']);
    const responses = [];
    for (const id of [box.endpointId, 'ep_00000000000000000000000000000000', 'x', "';"])
      responses.push(await replay(other, { since: minutesAgo(60) }, id));
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(responses[0]).toMatchObject({ status: 404, body: { error: 'Endpoint not found' } });
    expect(await replayedEmails(box)).toEqual([]);
  });
});

test('a retry and a replay of one email at the same moment create one delivery', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const [emailId = ''] = await delivered(box, ['failed']);
  // Both wait for the endpoint; the second one sees the deliveries of the first one.
  const client = await gateway.actor.pool.connect();
  await client.query('begin');
  await client.query('select from endpoint where workspace_id = $1 and id = $2 for update', [
    box.workspaceId,
    box.endpointId,
  ]);
  const retrying = gateway.call(box.apiKey, 'POST', `/emails/${emailId}/retry`, { endpoint_id: box.endpointId });
  const replaying = replay(box, { since: LONG_AGO });
  await untilWaiting(2);
  await client.query('commit');
  client.release();
  const [retried, { status }] = await Promise.all([retrying, replaying]);
  expect([retried.statusCode, status]).toEqual([200, 200]);
  const { rows } = await gateway.actor.pool.query(
    `select cause from delivery where workspace_id = $1 and cause <> 'route'`,
    [box.workspaceId],
  );
  expect(rows).toHaveLength(1);
});

/** Resolves when so many of the gateway's statements wait for a lock. */
async function untilWaiting(count: number): Promise<void> {
  const { rows } = await gateway.owner.pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  if (rows.length < count) await untilWaiting(count);
}

test('a delivery that waits for a retry is left out and counted, and is attempted now on request', async () => {
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const other = await gateway.mailbox({ endpointUrl: receiver.url });
  const wait = async ({ workspaceId }: TestMailbox) => {
    await gateway.actor.pool.query(
      `update delivery set next_attempt_at = now() + interval '1 hour' where workspace_id = $1 and status = 'pending'`,
      [workspaceId],
    );
  };
  await delivered(box, ['pending', 'success', 'failed', 'pending', 'pending']);
  await delivered(other, ['pending']);
  await wait(box);
  await wait(other);
  // One of them is being attempted.
  await gateway.actor.pool.query(
    `update delivery set claimed_until = now() + interval '1 minute', claimed_by = 'test' where workspace_id = $1
     and id = (select max(id) from delivery where workspace_id = $1 and status = 'pending')`,
    [box.workspaceId],
  );
  const first = (await replay(box, { since: LONG_AGO })).body;
  expect(first).toMatchObject({ replayed: 1, skipped: { waiting: 3, succeeded: 1, deliveredAgain: 0 } });
  const second = (await replay(box, { since: LONG_AGO, until: first.until })).body;
  expect(second).toMatchObject({ replayed: 0, skipped: { waiting: 3, succeeded: 1, deliveredAgain: 1 } });

  const retry = (of: TestMailbox, id = of.endpointId) =>
    gateway.call(of.apiKey, 'POST', `/endpoints/${id}/retry-waiting`, undefined);
  expect((await retry(box)).json()).toEqual({
    success: true,
    message: '2 deliveries are being attempted now',
    retried: 2,
    hasMore: false,
  });
  expect((await retry(box)).json()).toMatchObject({ retried: 0, hasMore: false });
  expect((await retry(box, other.endpointId)).statusCode).toBe(404);
  const { rows } = await gateway.actor.pool.query<{ due: number }>(
    `select count(*)::integer as due from delivery where status = 'pending' and next_attempt_at <= now()
     and workspace_id = $1`,
    [other.workspaceId],
  );
  expect(rows[0]?.due).toBe(0);
});
