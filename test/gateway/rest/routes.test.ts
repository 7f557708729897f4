import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Actor } from '../../../actors/actor.ts';
import { startDelivering, untilDeliveries } from '../../actors/delivery/delivering.ts';
import { addRule, readRoute, untilRouted } from '../../actors/delivery/guarding.ts';
import { insertReceivedMail, type ReceivedMailOptions } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
let actor: Actor | null = null;
let box: TestMailbox;
let response: number;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { hasGuardModel: true } });
  receiver = await startWebhookReceiver({ script: () => response });
});
beforeEach(async () => {
  response = 200;
  box = await gateway.mailbox({ endpointUrl: receiver.url, endpointConfig: { retryAttempts: 0 } });
});
afterEach(async () => {
  await actor?.stop();
  actor = null;
});
afterAll(async () => {
  await receiver.stop();
  await gateway.close();
});

async function start(): Promise<void> {
  actor ??= await startDelivering(gateway.actor, gateway.owner, { bus: gateway.bus });
}

/** Mail that has been routed. */
async function received(options: ReceivedMailOptions = {}): Promise<string> {
  const [mail] = await insertReceivedMail(gateway.actor, box, options);
  const id = mail?.emailId ?? '';
  await start();
  gateway.bus.wake('delivery.route.wake', { workspaceId: box.workspaceId, emailIds: [id] });
  await untilRouted(gateway.actor, [id]);
  return id;
}

const call = (method: string, path: string, body?: unknown) => gateway.call(box.apiKey, method, path, body);
const routeTo = async (id: string, query = '') => (await call('GET', `/emails/${id}/route${query}`)).json();

test('a delivered mail shows its address, its endpoint, the reason, and each step with its time', async () => {
  const id = await received();
  const [delivery] = await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'success');
  await gateway.actor.pool.query(
    `insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
       trace_fields, accepted_at, parsed_at)
     select workspace_id, id, raw_id, 'ann@sender.test', recipient, own_address, domain_id, '192.0.2.7', 'mail.sender.test', true, '', created_at,
       created_at + interval '12 milliseconds' from email where id = $1`,
    [id],
  );
  await gateway.actor.pool.query(
    `update email set recipient = replace(recipient, '@', '+news@'), thread_reason = 'subject' where id = $1`,
    [id],
  );
  const route = await routeTo(id);
  const plussed = box.address.replace('@', '+news@');
  expect(route).toMatchObject({
    email_id: id,
    recipient: plussed,
    outcome: 'endpoint',
    via: 'address',
    address: { id: box.addressId, address: box.address, is_active: true },
    domain: { id: box.domainId, domain: box.address.split('@')[1], is_catch_all: false },
    guard_rule: null,
    endpoint: { id: box.endpointId, name: 'test', type: 'webhook', is_active: true },
    reason: `The address ${box.address} routes to the endpoint “test”.`,
    matches: [],
    model: [],
    released_at: null,
    would: null,
    deliveries: [
      {
        id: delivery?.id,
        status: 'success',
        deliveryType: 'webhook',
        cause: 'route',
        attemptLog: [{ statusCode: 200 }],
      },
    ],
  });
  expect(route.steps).toEqual([
    {
      step: 'received',
      at: expect.any(String),
      duration_ms: null,
      detail: `Accepted for ${plussed} (address ${box.address}), from ann@sender.test, of 192.0.2.7 (mail.sender.test) over TLS.`,
      delivery_id: null,
    },
    { step: 'parsed', at: expect.any(String), duration_ms: 12, detail: 'Parsed.', delivery_id: null },
    {
      step: 'threaded',
      at: expect.any(String),
      duration_ms: expect.any(Number),
      detail: 'It joined its thread by subject and participants.',
      delivery_id: null,
    },
    {
      step: 'routed',
      at: expect.any(String),
      duration_ms: expect.any(Number),
      detail: route.reason,
      delivery_id: null,
    },
    {
      step: 'delivered',
      at: expect.any(String),
      duration_ms: expect.any(Number),
      detail: 'First delivery: webhook delivered after 1 attempt. (endpoint “test”)',
      delivery_id: delivery?.id,
    },
  ]);
});

test('blocked mail names the rule and the matching text; a failed delivery shows the reason', async () => {
  const ruleId = await addRule(gateway.actor, box, { action: 'block', subject: 'pills' });
  const blocked = await routeTo(await received({ subject: 'PILLS' }));
  expect(blocked).toMatchObject({
    outcome: 'blocked',
    via: null,
    endpoint: null,
    guard_rule: { id: ruleId, name: 'rule pills', action: 'block' },
    reason: 'The guard rule “rule pills” blocked this mail. It can be released.',
    matches: [{ criteria: 'subject', value: 'pills' }],
    deliveries: [],
  });
  response = 500;
  const id = await received();
  await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'failed');
  expect((await routeTo(id)).steps.at(-1).detail).toBe(
    'First delivery: webhook failed after 1 attempt: Webhook returned error (500) (endpoint “test”)',
  );
});

test('deleted rules and endpoints keep their ids in a route', async () => {
  const ruleId = await addRule(gateway.actor, box, { action: 'route', subject: 'x', endpointId: box.endpointId });
  const id = await received({ subject: 'x' });
  await gateway.actor.pool.query('delete from guard_rule where id = $1', [ruleId]);
  await gateway.actor.pool.query('delete from endpoint where id = $1', [box.endpointId]);
  await gateway.actor.pool.query('delete from email_address where id = $1', [box.addressId]);
  expect(await routeTo(id)).toMatchObject({
    outcome: 'endpoint',
    via: 'guard-rule',
    guard_rule: { id: ruleId, name: null, action: null },
    endpoint: { id: box.endpointId, name: null, type: null, is_active: null },
    address: { id: box.addressId, address: box.address, is_active: null },
    reason: `The guard rule ${ruleId} (deleted) routes to the endpoint ${box.endpointId} (deleted).`,
  });
});

test('waiting mail shows the reason', async () => {
  const [mail] = await insertReceivedMail(gateway.actor, box);
  const id = mail?.emailId ?? '';
  expect(await routeTo(id)).toMatchObject({ outcome: null, reason: 'It is threaded and waits for routing.' });
  await gateway.actor.pool.query('delete from route where email_id = $1', [id]);
  const waiting = await routeTo(id);
  expect(waiting).toMatchObject({ outcome: null, reason: 'It is stored and waits for threading.' });
  expect(waiting.steps.map(({ step }: { step: string }) => step)).toEqual(['received']);
});

test.each([
  ['spam', 'It is in the folder Spam, and is routed when it is marked as not spam.'],
  ['virus', 'It has a virus and is in quarantine, so it is not routed.'],
])('mail that is kept apart as %s shows why it has no route', async (keptApart, reason) => {
  const [mail] = await insertReceivedMail(gateway.actor, box);
  const id = mail?.emailId ?? '';
  await gateway.actor.pool.query('delete from route where email_id = $1', [id]);
  await gateway.actor.pool.query('update email set kept_apart = $2 where id = $1', [id, keptApart]);
  expect(await routeTo(id)).toMatchObject({ outcome: null, reason });
});

test('sent mail has no route, and routes of other users are not found', async () => {
  const sent = await call('POST', '/emails', { from: box.address, to: 'b@else.test', subject: 'x', text: 'x' });
  const response = await call('GET', `/emails/${sent.json().id}/route`);
  expect([response.statusCode, response.json().message]).toEqual([400, 'Only received emails have a route']);
  const other = await gateway.mailbox();
  const [theirs] = await insertReceivedMail(gateway.actor, other);
  const [foreign, unknown] = await Promise.all(
    [theirs?.emailId, 'em_unknown'].map((id) => call('GET', `/emails/${id}/route?now=true`)),
  );
  expect([foreign?.statusCode, foreign?.body]).toEqual([404, unknown?.body]);
});

test('an explanation predicts the result of a retry, and of the same mail that arrives again', async () => {
  const other = `ep_${randomBytes(8).toString('hex')}`;
  const config = { url: `${receiver.url}/other`, timeout: 30, retryAttempts: 0, verificationToken: 'a'.repeat(64) };
  await gateway.actor.pool.query(
    `insert into endpoint (workspace_id, id, name, type, config) values ($1, $2, 'other', 'webhook', $3)`,
    [box.workspaceId, other, JSON.stringify(config)],
  );
  const subjects = ['pills and bills', 'bills', 'pills', 'lunch', 'secret', 'question'];
  const ids = new Map<string, string>();
  for (const subject of subjects) ids.set(subject, await received({ subject }));
  // The rules come after the mail.
  await addRule(gateway.actor, box, { action: 'route', subject: 'bills', endpointId: other, priority: 5 });
  await addRule(gateway.actor, box, { action: 'block', subject: 'pills', priority: 4 });
  await addRule(gateway.actor, box, { action: 'route', subject: 'secret', endpointId: 'ep_gone', priority: 3 });
  const outcomes: Record<string, unknown> = {};
  for (const subject of subjects) {
    const { would } = await routeTo(ids.get(subject) ?? '', '?now=true');
    outcomes[subject] = [would.outcome, would.endpoint?.id ?? null];
    const retried = await call('POST', `/emails/${ids.get(subject)}/retry`);
    expect(retried.statusCode, subject).toBe(would.outcome === 'endpoint' ? 200 : 409);
    if (would.outcome === 'endpoint') {
      const { rows } = await gateway.actor.pool.query('select endpoint_id from delivery where id = $1', [
        retried.json().delivery_id,
      ]);
      expect(rows[0].endpoint_id, subject).toBe(would.endpoint.id);
    }
  }
  expect(outcomes).toEqual({
    'pills and bills': ['endpoint', other],
    bills: ['endpoint', other],
    pills: ['blocked', null],
    lunch: ['endpoint', box.endpointId],
    secret: ['endpoint', box.endpointId],
    question: ['endpoint', box.endpointId],
  });
  await actor?.stop();
  actor = null;
  for (const subject of subjects) {
    const route = await readRoute(gateway.actor, await received({ subject }));
    const { would } = await routeTo(ids.get(subject) ?? '', '?now=true');
    expect([route.outcome, route.endpoint_id, route.via, route.rule_id], subject).toEqual([
      would.outcome,
      would.endpoint?.id ?? null,
      would.via,
      would.guard_rule?.id ?? null,
    ]);
  }
});

test('a route that would need a model says so, and a retry is refused', async () => {
  const id = await received();
  await addRule(gateway.actor, box, { action: 'block', prompt: 'Is it spam?' });
  expect((await routeTo(id, '?now=true')).would).toMatchObject({
    outcome: 'asking',
    reason: 'The model of the guard rule “rule Is it spam?” has not decided yet whether this mail matches.',
  });
  const response = await call('POST', `/emails/${id}/retry`);
  expect([response.statusCode, response.json().message]).toEqual([
    409,
    'The model of the guard rule “rule Is it spam?” would have to be asked first. Name an endpoint to deliver it.',
  ]);
});
