import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Actor } from '../../../actors/actor.ts';
import { listDeliveries, startDelivering, untilDeliveries } from '../../actors/delivery/delivering.ts';
import { addRule, untilRouted } from '../../actors/delivery/guarding.ts';
import { insertReceivedMail, type ReceivedMailOptions } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
let actor: Actor;
let box: TestMailbox;
let ruleId: string;

beforeAll(async () => {
  gateway = await openTestGateway();
  receiver = await startWebhookReceiver();
});
beforeEach(async () => {
  receiver.requests.length = 0;
  box = await gateway.mailbox({ endpointUrl: receiver.url });
  ruleId = await addRule(gateway.actor, box, { action: 'block', subject: 'pills' });
  actor = await startDelivering(gateway.actor, gateway.owner, { bus: gateway.bus });
});
afterEach(() => actor.stop());
afterAll(async () => {
  await receiver.stop();
  await gateway.close();
});

/** Mail that has been routed; returns the ids, oldest first. */
async function received(options: ReceivedMailOptions, to = box): Promise<string[]> {
  const ids = (await insertReceivedMail(gateway.actor, to, options)).map(({ emailId }) => emailId);
  gateway.bus.wake('delivery.route.wake', { workspaceId: to.workspaceId, emailIds: ids });
  await untilRouted(gateway.actor, ids);
  return ids;
}

const call = (method: string, path: string, body?: unknown) => gateway.call(box.apiKey, method, path, body);
const release = (id = '') => call('POST', `/emails/${id}/release`);

test('held mail is listed by status=blocked, newest first and counted, and stays in the list of all', async () => {
  const blocked = await received({ subject: 'Cheap pills', count: 3 });
  const [fine] = await received({ subject: 'Lunch' });
  await gateway.actor.pool.query(
    `insert into email_search (workspace_id, email_id, created_at, text)
     select workspace_id, id, created_at, lower(subject) from email where workspace_id = $1`,
    [box.workspaceId],
  );
  const page = (await call('GET', '/emails?status=blocked&limit=2')).json();
  expect(page.data.map((one: { id: string }) => one.id)).toEqual([blocked[2], blocked[1]]);
  expect(page.pagination).toEqual({ limit: 2, offset: 0, total: 3, has_more: true });
  expect(page.data[0]).toMatchObject({ guard_status: 'blocked', guard_rule_id: ruleId, status: 'delivered' });
  const rest = (await call('GET', `/emails?status=blocked&after=${blocked[1]}`)).json();
  expect(rest.data.map((one: { id: string }) => one.id)).toEqual([blocked[0]]);
  const all = (await call('GET', '/emails')).json();
  expect(all.data.map((one: { guard_status: unknown }) => one.guard_status)).toEqual([
    null,
    'blocked',
    'blocked',
    'blocked',
  ]);
  expect((await call('GET', `/emails/${blocked[0]}`)).json()).toMatchObject({
    guard_status: 'blocked',
    guard_rule_id: ruleId,
  });
  expect((await call('GET', `/emails/${fine}`)).json()).toMatchObject({ guard_status: null, guard_rule_id: null });
  for (const [query, total] of [
    ['search=pills', 3],
    ['search=lunch', 0],
    [`domain=${box.domainId}`, 3],
    ['domain=elsewhere.test', 0],
    [`address=${box.addressId}`, 3],
    ['time_range=1h', 3],
    ['type=received', 3],
    ['type=sent', 0],
  ] as const)
    expect((await call('GET', `/emails?status=blocked&${query}`)).json().pagination.total, query).toBe(total);
});

test('a release delivers it by its normal route, once, and removes it from the list', async () => {
  const [id] = await received({ subject: 'pills' });
  expect(await listDeliveries(gateway.actor, box.endpointId)).toEqual([]);
  // It is not in the inbox until it is released, and there it is unread, whatever was done to it.
  expect((await call('GET', `/emails/${id}`)).json()).toMatchObject({ is_archived: true, is_read: false });
  await call('PATCH', `/emails/${id}`, { is_read: true });
  const responses = await Promise.all(Array.from({ length: 5 }, () => release(id)));
  const released = responses.filter(({ statusCode }) => statusCode === 200);
  expect(released).toHaveLength(1);
  expect(responses.filter(({ statusCode }) => statusCode === 400).map((one) => one.json().message)).toEqual(
    Array.from({ length: 4 }, () => 'The email is not held back'),
  );
  const body = released[0]?.json();
  expect(body).toEqual({
    success: true,
    message: 'The email is being delivered',
    id,
    released_at: expect.any(String),
    delivery_ids: [expect.stringMatching(/^dlv_/)],
  });
  const all = await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'success');
  expect(all.map((one) => one.id)).toEqual(body.delivery_ids);
  expect(receiver.requests.map((request) => request.headers['x-email-id'])).toEqual([id]);
  expect((await call('GET', '/emails?status=blocked')).json().pagination.total).toBe(0);
  expect((await call('GET', `/emails/${id}`)).json()).toMatchObject({
    guard_status: null,
    guard_rule_id: ruleId,
    is_archived: false,
    is_read: false,
  });
  const { rows } = await gateway.actor.pool.query(
    `select kind, data from event where email_id = $1 and kind like 'email.%' order by seq`,
    [id],
  );
  expect(rows.map(({ kind }) => kind)).toEqual(['email.blocked', 'email.read', 'email.released']);
  const { rows: causes } = await gateway.actor.pool.query('select cause from delivery where email_id = $1', [id]);
  expect(causes).toEqual([{ cause: 'release' }]);
  // It is past the rules now: a retry goes the normal way.
  expect((await call('POST', `/emails/${id}/retry`)).statusCode).toBe(200);
});

test('a release without any endpoint succeeds, too', async () => {
  const [id] = await received({ subject: 'pills' });
  await gateway.actor.pool.query('update endpoint set is_active = false where id = $1', [box.endpointId]);
  expect((await release(id)).json()).toMatchObject({ success: true, delivery_ids: [] });
  expect((await call('GET', '/emails?status=blocked')).json().pagination.total).toBe(0);
});

test('mail that is not held, sent mail, and foreign or unknown mail cannot be released', async () => {
  const [fine] = await received({ subject: 'Lunch' });
  expect((await release(fine)).json().message).toBe('The email is not held back');
  const sent = await call('POST', '/emails', { from: box.address, to: 'b@else.test', subject: 'x', text: 'x' });
  expect((await release(sent.json().id)).json().message).toBe('Only received emails can be released');
  const other = await gateway.mailbox({ endpointUrl: receiver.url });
  await addRule(gateway.actor, other, { action: 'block', subject: 'pills' });
  const [theirs] = await received({ subject: 'pills' }, other);
  const [foreign, unknown] = await Promise.all([release(theirs), release('em_unknown')]);
  expect([foreign?.statusCode, foreign?.body]).toEqual([404, unknown?.body]);
});

test('a retry of held mail is refused unless it names the endpoint', async () => {
  const [id] = await received({ subject: 'pills' });
  const refused = await call('POST', `/emails/${id}/retry`);
  expect([refused.statusCode, refused.json().message, refused.json().code]).toEqual([
    409,
    'The email is held back by a guard rule. Release it, or name an endpoint.',
    'EMAIL_HELD',
  ]);
  expect(refused.headers['x-should-retry']).toBe('false');
  expect((await call('POST', `/emails/${id}/retry`, { endpoint_id: box.endpointId })).statusCode).toBe(200);
  await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'success');
});
