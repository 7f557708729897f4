import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Actor } from '../../../actors/actor.ts';
import { listDeliveries, startDelivering, untilDeliveries } from '../../actors/delivery/delivering.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import type { MailboxOptions, TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
let actor: Actor | null = null;
let box: TestMailbox;
let emailId: string;
let result: number;

beforeAll(async () => {
  gateway = await openTestGateway();
  receiver = await startWebhookReceiver({ script: () => result });
});
beforeEach(async () => {
  receiver.requests.length = 0;
  result = 200;
  box = await mailbox();
  emailId = await received();
});
afterEach(async () => {
  await actor?.stop();
  actor = null;
});
afterAll(async () => {
  await receiver.stop();
  await gateway.close();
});

function mailbox(options: Partial<MailboxOptions> = {}): Promise<TestMailbox> {
  return gateway.mailbox({ endpointUrl: receiver.url, endpointConfig: { retryAttempts: 0 }, ...options });
}

async function start(): Promise<void> {
  actor = await startDelivering(gateway.actor, gateway.owner, { bus: gateway.bus });
}

/** A mail that the router has decided on without making a delivery. */
async function received(to: TestMailbox = box): Promise<string> {
  const [mail] = await insertReceivedMail(gateway.actor, to);
  const id = mail?.emailId ?? '';
  await gateway.actor.pool.query(
    `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome)
     select workspace_id, id, created_at, now(), now(), 'stored' from email where id = $1
     on conflict (workspace_id, email_id) do update set decided_at = now(), outcome = 'stored'`,
    [id],
  );
  return id;
}

function retry(body?: unknown, id = emailId) {
  return gateway.call(box.apiKey, 'POST', `/emails/${id}/retry`, body);
}

/** Another endpoint of the user. */
async function addEndpoint(type = 'webhook', isActive = true): Promise<string> {
  const id = `ep_${Math.random().toString(36).slice(2)}`;
  const config = { url: `${receiver.url}/other`, timeout: 30, retryAttempts: 4, verificationToken: 'a'.repeat(64) };
  await gateway.actor.pool.query(
    `insert into endpoint (workspace_id, id, name, type, config, is_active) values ($1, $2, 'other', $3, $4, $5)`,
    [box.workspaceId, id, type, JSON.stringify(config), isActive],
  );
  return id;
}

test('mail whose attempts are used up is repeated as a new delivery', async () => {
  result = 500;
  await gateway.actor.pool.query('update route set decided_at = null, outcome = null where email_id = $1', [emailId]);
  await start();
  const [failed] = await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'failed');
  result = 200;
  const response = await retry({ delivery_id: failed?.id });
  expect(response.statusCode, response.body).toBe(200);
  const { delivery_id: again, ...rest } = response.json();
  expect(rest).toEqual({ success: true, message: expect.any(String), delivery_ids: [again] });
  expect(again).not.toBe(failed?.id);
  const both = await untilDeliveries(gateway.actor, box.endpointId, (all) => all[1]?.status === 'success');
  expect(both.map((one) => [one.id, one.status, one.attempts])).toEqual([
    [failed?.id, 'failed', 1],
    [again, 'success', 1],
  ]);
  expect(receiver.requests.map((request) => request.webhookId)).toEqual([failed?.id, again]);
  expect(receiver.requests.map((request) => request.headers['x-email-id'])).toEqual([emailId, emailId]);

  const succeeded = await retry({ delivery_id: again });
  expect([succeeded.statusCode, succeeded.json().message]).toEqual([
    400,
    'Delivery already succeeded. Use resend to deliver again.',
  ]);
  // Its endpoint may have it once more all the same.
  expect((await retry({ endpoint_id: box.endpointId })).statusCode).toBe(200);
  await untilDeliveries(gateway.actor, box.endpointId, (all) => all.length === 3 && all[2]?.status === 'success');
});

test('mail is delivered by its present route when no ids are given', async () => {
  const response = await retry();
  expect(response.statusCode, response.body).toBe(200);
  expect(await listDeliveries(gateway.actor, box.endpointId)).toMatchObject([
    { id: response.json().delivery_id, status: 'pending', attempts: 0 },
  ]);
  const other = await addEndpoint();
  await gateway.actor.pool.query('update email_address set endpoint_id = $1 where id = $2', [other, box.addressId]);
  const now = await retry({});
  const { rows } = await gateway.actor.pool.query(
    'select id, endpoint_id, delivery_type, thread_id, thread_position, attempts_allowed from delivery where id = $1',
    [now.json().delivery_id],
  );
  expect(rows).toMatchObject([
    { endpoint_id: other, delivery_type: 'webhook', thread_id: 'th_test', thread_position: 0, attempts_allowed: 5 },
  ]);
});

test('mail of an endpoint that was inactive is delivered when it is active again', async () => {
  await gateway.actor.pool.query('update endpoint set is_active = false where id = $1', [box.endpointId]);
  const inactive = await retry();
  expect([inactive.statusCode, inactive.json().message]).toEqual([404, 'Endpoint not found or is inactive']);
  await gateway.actor.pool.query('update endpoint set is_active = true where id = $1', [box.endpointId]);
  await start();
  expect((await retry()).statusCode).toBe(200);
  await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'success');
});

test('mail of the catch-all is delivered to the endpoint of the domain', async () => {
  const all = await mailbox({ isCatchAllEnabled: true });
  const [mail] = await insertReceivedMail(gateway.actor, all, { isCatchAll: true, localPart: 'any' });
  await gateway.actor.pool.query(
    `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome)
     select workspace_id, id, created_at, now(), now(), 'stored' from email where id = $1
     on conflict (workspace_id, email_id) do update set decided_at = now(), outcome = 'stored'`,
    [mail?.emailId],
  );
  const response = await gateway.call(all.apiKey, 'POST', `/emails/${mail?.emailId}/retry`);
  expect(response.statusCode, response.body).toBe(200);
  expect(await listDeliveries(gateway.actor, all.endpointId)).toHaveLength(1);
});

test.each(['endpoint_id', 'delivery_id', null])(
  'a pending delivery that is requested by %s is attempted now, not twice',
  async (field) => {
    result = 500;
    box = await mailbox({ endpointConfig: { retryAttempts: 3 } });
    emailId = await received();
    await start();
    const { delivery_id: id } = (await retry()).json();
    await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.attempts === 1 && one.claimed_by === null);
    result = 200;
    const ids: Record<string, unknown> = { endpoint_id: box.endpointId, delivery_id: id };
    const response = await retry(field === null ? {} : { [field]: ids[field] });
    expect(response.json().delivery_id).toBe(id);
    const all = await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'success');
    expect(all).toMatchObject([{ id, attempts: 2 }]);
  },
);

test('two concurrent retries create one delivery', async () => {
  const responses = await Promise.all(Array.from({ length: 10 }, () => retry()));
  expect(new Set(responses.map((each) => each.json().delivery_id)).size).toBe(1);
  expect(await listDeliveries(gateway.actor, box.endpointId)).toHaveLength(1);
});

test.each([
  ['an unknown endpoint', { endpoint_id: 'ep_unknown' }, 404, 'Endpoint not found or is inactive'],
  ['an id that is none', { endpoint_id: "';--" }, 404, 'Endpoint not found or is inactive'],
  ['an unknown delivery', { delivery_id: 'dlv_unknown' }, 404, 'Delivery not found for this email'],
  ['both', { endpoint_id: 'ep_1', delivery_id: 'dlv_1' }, 400, 'Give either endpoint_id or delivery_id'],
])('%s is refused', async (_, body, status, message) => {
  const response = await retry(body);
  expect([response.statusCode, response.json().message]).toEqual([status, message]);
  expect(await listDeliveries(gateway.actor, box.endpointId)).toEqual([]);
});

test('an inactive endpoint is refused, and one that forwards gets a delivery of its type, with one attempt', async () => {
  const inactive = await retry({ endpoint_id: await addEndpoint('webhook', false) });
  expect([inactive.statusCode, inactive.json().message]).toEqual([404, 'Endpoint not found or is inactive']);
  for (const type of ['email', 'email_group']) {
    const response = await retry({ endpoint_id: await addEndpoint(type) });
    expect(response.statusCode, response.body).toBe(200);
    const { rows } = await gateway.actor.pool.query(
      'select delivery_type, attempts_allowed, cause, status from delivery where id = $1',
      [response.json().delivery_id],
    );
    expect(rows).toEqual([{ delivery_type: type, attempts_allowed: 1, cause: 'retry', status: 'pending' }]);
  }
});

test('a forwarded copy that is queued already is not created again', async () => {
  const endpointId = await addEndpoint('email');
  const { delivery_id: id } = (await retry({ endpoint_id: endpointId })).json();
  await gateway.actor.pool.query(`update delivery set forward_raw_id = 'raw_x', next_attempt_at = null where id = $1`, [
    id,
  ]);
  expect((await retry({ endpoint_id: endpointId })).json().delivery_id).toBe(id);
  const { rows } = await gateway.actor.pool.query('select next_attempt_at from delivery where endpoint_id = $1', [
    endpointId,
  ]);
  expect(rows).toEqual([{ next_attempt_at: null }]);
});

test('endpoints, deliveries and mail of another user get the responses of unknown ones', async () => {
  const other = await mailbox();
  const theirs = await received(other);
  const made = await gateway.call(other.apiKey, 'POST', `/emails/${theirs}/retry`);
  const asks = [{ endpoint_id: other.endpointId }, { endpoint_id: 'ep_unknown' }].map((body) => retry(body));
  asks.push(...[{ delivery_id: made.json().delivery_id }, { delivery_id: 'dlv_unknown' }].map((body) => retry(body)));
  asks.push(retry({}, theirs), retry({}, 'em_unknown'));
  const bodies = (await Promise.all(asks)).map((response) => `${response.statusCode} ${response.body}`);
  expect([bodies[0], bodies[2], bodies[4]]).toEqual([bodies[1], bodies[3], bodies[5]]);
  expect(bodies.every((body) => body.startsWith('404'))).toBe(true);
});

test('a delivery of another email of the user is refused', async () => {
  const second = await received();
  const made = await retry(undefined, second);
  const response = await retry({ delivery_id: made.json().delivery_id });
  expect([response.statusCode, response.json().message]).toEqual([404, 'Delivery not found for this email']);
});

test('mail without endpoint, mail on its way to the router and sent mail are refused', async () => {
  await gateway.actor.pool.query('update email_address set endpoint_id = null where id = $1', [box.addressId]);
  const nowhere = await retry();
  expect([nowhere.statusCode, nowhere.json().message]).toEqual([404, 'No endpoint is configured for this email']);

  const [fresh] = await insertReceivedMail(gateway.actor, box);
  expect((await retry({}, fresh?.emailId)).statusCode).toBe(409);

  const sent = await gateway.call(box.apiKey, 'POST', '/emails', {
    from: box.address,
    to: 'bob@elsewhere.test',
    subject: 'Hi',
    text: 'x',
  });
  const response = await retry({}, sent.json().id);
  expect([response.statusCode, response.json().message]).toEqual([400, 'Only received emails can be delivered again']);
});
