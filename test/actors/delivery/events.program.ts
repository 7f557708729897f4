import { fork } from 'node:child_process';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { receivedEventId } from '../../../core/events/received-event.ts';
import { loginAs } from '../../support/cluster/cluster.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertSentMail } from '../../support/rows/sent-mail.ts';
import { insertThreadedMail } from '../../support/rows/threaded-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { until } from '../../support/servers/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { listDeliveries, SECRET_KEY, startDelivering, type TestDelivery, untilDeliveries } from './delivering.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
let actor: TestDelivery | null = null;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { secretKey: SECRET_KEY } });
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

const start = async (options: Parameters<typeof startDelivering>[2] = {}) => {
  actor = await startDelivering(gateway.actor, gateway.owner, { bus: gateway.bus, ...gateway.payloads, ...options });
  return actor;
};

/** Calls the interface; the body of the response. */
async function call(box: TestMailbox, method: string, path: string, body?: unknown) {
  const response = await gateway.call(box.apiKey, method, path, body);
  expect(response.statusCode, response.body).toBeLessThan(300);
  return response.json();
}

let hooks = 0;

interface Hook {
  id: string;
  path: string;
}

/** Creates an endpoint with a path of its own at the receiver. */
async function subscribe(box: TestMailbox, input: object): Promise<Hook> {
  const path = `/hook/${hooks++}`;
  const config = { url: `${receiver.url}${path}`, retryAttempts: 2 };
  const made = await call(box, 'POST', '/endpoints', { name: 'x', type: 'webhook', config, ...input });
  return { id: made.id, path };
}

interface AppendedEvent {
  kind: string;
  emailId?: string;
  threadId?: string;
  deliveryId?: string;
  endpointId?: string;
  data?: object;
}

let eventCount = 0;

/** Appends events as the service does, and announces them. Returns their ids. */
async function append(box: TestMailbox, events: readonly AppendedEvent[]): Promise<string[]> {
  const withIds = events.map((event) => ({ ...event, id: `evt_${eventCount++}` }));
  const { rows } = await gateway.actor.pool.query('select append_events($1, $2::jsonb) as last_seq', [
    box.workspaceId,
    JSON.stringify(withIds),
  ]);
  gateway.bus.publish('event.appended', { workspaceId: box.workspaceId, lastSeq: rows[0].last_seq });
  return withIds.map(({ id }) => id);
}

/** The posts to a path, once there are as many. */
async function posts(path: string, count: number) {
  const at = (requests: readonly WebhookReceiver['requests'][number][]) =>
    requests.filter((request) => request.path === path);
  const requests = await receiver.until((all) => at(all).length >= count);
  return at(requests).map((request) => ({ ...request, json: JSON.parse(request.body) }));
}

const eventId = ({ body }: { body: string }) => String(JSON.parse(body).id);

/** Appends a last event, and returns the ids of all others that were posted to the endpoint. */
async function idsUpTo(box: TestMailbox, { id, path }: Hook, kind: string): Promise<string[]> {
  const [last = ''] = await append(box, [{ kind }]);
  await receiver.until((all) => all.some((request) => request.path === path && eventId(request) === last));
  // Deliveries are created in the order of the feed, and posted in any.
  await untilDeliveries(gateway.actor, id, (all) => all.every(({ status }) => status !== 'pending'));
  const ids = receiver.requests.filter((request) => request.path === path).map(eventId);
  return ids.filter((id) => id !== last).toSorted();
}

const sorted = (ids: readonly (string | undefined)[]) => ids.map(String).toSorted();

describe('an endpoint that subscribes to events', () => {
  test('is posted every received mail once, wherever it is routed, with the payload of received mail', async () => {
    const box = await gateway.mailbox();
    await start();
    const all = await subscribe(box, { events: ['email.received:all'] });
    const other = await subscribe(box, { events: ['email.received', '*'] });
    const mails = await insertReceivedMail(gateway.actor, box, { count: 3 });
    await append(
      box,
      mails.map(({ emailId }) => ({ kind: 'email.received', emailId })),
    );
    const requests = await posts(all.path, 3);
    expect(requests.map(({ body }) => String(JSON.parse(body).id)).toSorted()).toEqual(
      mails.map(({ emailId }) => receivedEventId(emailId)).toSorted(),
    );
    expect(requests[0]?.json).toMatchObject({
      event: 'email.received',
      type: 'email.received',
      email: { recipient: box.address, threadId: 'th_test', threadPosition: 0, parsedData: { subject: 'Hello' } },
      endpoint: { id: all.id },
    });
    expect(receiver.requests.filter(({ path }) => path === other.path)).toEqual([]);
  });

  test('for one domain alone is posted its received mail alone', async () => {
    const box = await gateway.mailbox();
    const elsewhere = await gateway.mailbox({ workspaceId: box.workspaceId });
    await start();
    const all = await subscribe(box, { events: ['email.received:all'], filter: { domains: [box.domainId] } });
    const [foreign] = await insertReceivedMail(gateway.actor, elsewhere);
    const [own] = await insertReceivedMail(gateway.actor, box);
    await append(
      box,
      [foreign, own].map((mail) => ({ kind: 'email.received', emailId: mail?.emailId ?? '' })),
    );
    await posts(all.path, 1);
    await untilDeliveries(gateway.actor, all.id, (every) => every.every(({ status }) => status === 'success'));
    expect(receiver.requests.filter(({ path }) => path === all.path).map(({ body }) => JSON.parse(body).id)).toEqual([
      receivedEventId(own?.emailId ?? ''),
    ]);
  });

  test('is posted what its payload query selects of a bounce', async () => {
    const box = await gateway.mailbox();
    await start();
    const { path } = await subscribe(box, {
      events: ['email.bounced'],
      filter: { domains: [box.domainId] },
      payloadQuery: '{ kind email { subject } recipient { address status } lastResponse { code enhancedStatus text } }',
    });
    const { emailId } = await insertSentMail(gateway.actor, box, {
      recipients: [{ address: 'joe@elsewhere.test', status: 'bounced' }],
    });
    const data = { recipient: 'joe@elsewhere.test', code: 550, status: '5.1.1', text: 'no user' };
    const [eventId] = await append(box, [{ kind: 'email.bounced', emailId, data }]);
    const [post] = await posts(path, 1);
    expect(post?.json).toMatchObject({
      id: eventId,
      type: 'email.bounced',
      event: 'email.bounced',
      data: {
        kind: 'EMAIL_BOUNCED',
        recipient: { address: 'joe@elsewhere.test', status: 'BOUNCED' },
        lastResponse: { code: 550, enhancedStatus: '5.1.1', text: 'no user' },
      },
      truncated: [],
    });
    expect(Object.keys(post?.json.data.email)).toEqual(['subject']);
  });

  test('is posted a bounce with the email as GET shows it, its recipient, and the signature of the event', async () => {
    const box = await gateway.mailbox();
    await start();
    const { id: endpointId, path } = await subscribe(box, { events: ['email.bounced'] });
    const { emailId } = await insertSentMail(gateway.actor, box, {
      recipients: [
        { address: 'joe@elsewhere.test', status: 'bounced', lastCode: 550, lastStatus: '5.1.1', lastText: 'no user' },
        { address: 'ann@elsewhere.test' },
      ],
    });
    const [eventId] = await append(box, [
      { kind: 'email.bounced', emailId, data: { recipient: 'joe@elsewhere.test', code: 550 } },
    ]);
    const [post] = await posts(path, 1);
    const email = await call(box, 'GET', `/emails/${emailId}`);
    const [event] = (await call(box, 'GET', '/events?kinds=email.bounced')).data;
    expect(post?.json).toEqual({
      id: eventId,
      type: 'email.bounced',
      event: 'email.bounced',
      timestamp: event.at,
      cursor: event.cursor,
      data: { ...email, recipient: email.recipients[0] },
      endpoint: { id: endpointId, name: 'x', type: 'webhook' },
    });
    expect(email.recipients[0]).toMatchObject({ address: 'joe@elsewhere.test', last_response: '550 5.1.1 no user' });
    const [delivery] = (await call(box, 'GET', `/endpoints/${endpointId}/deliveries`)).data;
    expect(post?.headers).toMatchObject({ 'x-webhook-event': 'email.bounced', 'webhook-id': delivery.id });
    expect(post?.headers['x-email-id']).toBeUndefined();
    const { signingSecret } = await call(box, 'GET', `/endpoints/${endpointId}`);
    const headers = post?.headers as Record<string, string>;
    expect(new Webhook(signingSecret).verify(post?.body ?? '', headers)).toEqual(post?.json);
    expect(() => new Webhook(signingSecret).verify(`${post?.body} `, headers)).toThrow('No matching signature');
  });

  test('is posted that an email waits for approval, and the decision', async () => {
    const box = await gateway.mailbox();
    await start();
    const { path } = await subscribe(box, { events: ['email.approval_requested', 'email.approved', 'email.rejected'] });
    const writer = await insertKey(gateway.owner, box, { scopes: ['send'], policy: { approval: 'always' } });
    const body = { from: box.address, to: 'joe@elsewhere.test', subject: 'Hi', text: 'Hello' };
    const ids: string[] = [];
    for (const verb of ['approve', 'reject']) {
      const { id } = (await gateway.call(writer.secret, 'POST', '/emails', body)).json();
      await call(box, 'POST', `/emails/${id}/${verb}`, {});
      ids.push(id);
    }
    const all = (await posts(path, 4)).map(({ json }) => `${json.type} ${json.data.id}`);
    expect(sorted(all)).toEqual([
      `email.approval_requested ${ids[0]}`,
      `email.approval_requested ${ids[1]}`,
      `email.approved ${ids[0]}`,
      `email.rejected ${ids[1]}`,
    ]);
  });

  test('is posted each event that matches its patterns once, and none from before it subscribed', async () => {
    const box = await gateway.mailbox();
    await start();
    const [before] = await append(box, [{ kind: 'domain.verified' }]);
    const hook = await subscribe(box, { events: ['domain.*', 'email.bounced'] });
    const [, wanted, , second] = await append(box, [
      { kind: 'email.delivered' },
      { kind: 'email.bounced' },
      { kind: 'email.received' },
      { kind: 'domain.failed' },
    ]);
    expect(await idsUpTo(box, hook, 'domain.verified')).toEqual(sorted([wanted, second]));
    expect(await idsUpTo(box, hook, 'domain.verified')).not.toContain(before);
  });

  test('is posted the events after a cursor, and none twice when the cursor moves back', async () => {
    const box = await gateway.mailbox();
    await start();
    const ids = await append(box, [{ kind: 'domain.verified' }, { kind: 'domain.failed' }, { kind: 'email.sent' }]);
    const feed = (await call(box, 'GET', '/events')).data;
    const since = feed.find((event: { id: string }) => event.id === ids[0]).cursor;
    const hook = await subscribe(box, { events: ['domain.*'], since });
    const { id } = hook;
    expect(await idsUpTo(box, hook, 'domain.verified')).toEqual([ids[1]]);
    await call(box, 'PATCH', `/endpoints/${id}`, { events: ['domain.*', 'email.sent'], since });
    const posted = await idsUpTo(box, hook, 'domain.verified');
    expect(posted).toContain(ids[2]);
    expect(new Set(posted).size).toBe(posted.length);
    for (const [cursor, status] of [
      ['nonsense', 400],
      [(await call(await gateway.mailbox(), 'GET', '/events')).latest_cursor, 400],
    ])
      expect((await gateway.call(box.apiKey, 'PATCH', `/endpoints/${id}`, { since: cursor })).statusCode).toBe(status);
  });

  test('is posted nothing about its own deliveries, which the feed does not contain', async () => {
    const box = await gateway.mailbox();
    await start();
    const hook = await subscribe(box, { events: ['*'] });
    const { id, path } = hook;
    receiver.respond((request, earlier) => (request.path === path && earlier === 0 ? 500 : 200));
    const [eventId] = await append(box, [{ kind: 'domain.verified' }]);
    await posts(path, 1);
    await actor?.moveClock(3_600);
    await posts(path, 2);
    expect(await idsUpTo(box, hook, 'domain.failed')).toEqual([eventId, eventId]);
    const { data } = await call(box, 'GET', '/events');
    expect(data.filter(({ kind }: { kind: string }) => kind.startsWith('delivery.'))).toEqual([]);
    const deliveries = (await call(box, 'GET', `/endpoints/${id}/deliveries`)).data;
    expect(deliveries.map((one: Record<string, unknown>) => [one['event'], one['cause'], one['emailId']])).toEqual([
      ['domain.failed', 'event', null],
      ['domain.verified', 'event', null],
    ]);
  });

  test.each([
    ['email.received:all', 'email.received'],
    ['email.bounced', 'email.bounced'],
    ['domain.verified', 'domain.verified'],
  ])(
    'has a webhook-id for each delivery of %s: its attempts share it, and a replay has another',
    async (pattern, kind) => {
      const box = await gateway.mailbox();
      await start();
      const hook = await subscribe(box, { events: [pattern] });
      receiver.respond((request, earlier) => (request.path === hook.path && earlier === 0 ? 500 : 200));
      const [mail] = await insertReceivedMail(gateway.actor, box);
      await append(box, [{ kind, ...(kind.startsWith('email.') ? { emailId: mail?.emailId ?? '' } : {}) }]);
      await posts(hook.path, 1);
      const [waiting] = await listDeliveries(gateway.actor, hook.id);
      await actor?.moveClock(3_600);
      await posts(hook.path, 2);
      await untilDeliveries(gateway.actor, hook.id, (all) => all.every(({ status }) => status === 'success'));
      const since = new Date(0).toISOString();
      await call(box, 'POST', `/endpoints/${hook.id}/replay`, { since, status: 'all' });
      const requests = await posts(hook.path, 4);
      const { data } = await call(box, 'GET', `/endpoints/${hook.id}/deliveries`);
      const [replayed, first] = data.map(({ id }: { id: string }) => id);
      expect(first).toBe(waiting?.id);
      expect(requests.map(({ webhookId }) => webhookId)).toEqual([first, first, replayed, replayed]);
      expect(new Set(requests.map(({ json }) => json.id)).size).toBe(1);
    },
  );

  test('is posted the events that its filter selects', async () => {
    const box = await gateway.mailbox();
    const other = await gateway.mailbox({ workspaceId: box.workspaceId });
    await start();
    const byDomain = await subscribe(box, { events: ['*'], filter: { domains: [box.domainId] } });
    const byAddress = await subscribe(box, { events: ['*'], filter: { addresses: [other.address] } });
    const mine = await insertSentMail(gateway.actor, box);
    const others = await insertSentMail(gateway.actor, other);
    const [ofMine, ofOthers, ofDomain, , ,] = await append(box, [
      { kind: 'email.delivered', emailId: mine.emailId },
      { kind: 'email.delivered', emailId: others.emailId },
      { kind: 'domain.verified', data: { domainId: box.domainId } },
      { kind: 'domain.verified', data: { domainId: other.domainId } },
      { kind: 'endpoint.disabled', endpointId: byDomain.id },
    ]);
    const last = await insertSentMail(gateway.actor, box);
    const lastOfOthers = await insertSentMail(gateway.actor, other);
    const [end, endOfOthers] = await append(box, [
      { kind: 'email.sent', emailId: last.emailId },
      { kind: 'email.sent', emailId: lastOfOthers.emailId },
    ]);
    const idsAt = async (path: string, count: number) =>
      (await posts(path, count)).map(({ json }) => String(json.id)).toSorted();
    expect(await idsAt(byDomain.path, 3)).toEqual(sorted([ofMine, ofDomain, end]));
    expect(await idsAt(byAddress.path, 2)).toEqual(sorted([ofOthers, endOfOthers]));
  });

  test('is posted a message for its chat, as the delivery shows it', async () => {
    const box = await gateway.mailbox();
    await start();
    const { id, path } = await subscribe(box, { events: ['email.bounced'], webhookFormat: 'slack' });
    const { emailId } = await insertSentMail(gateway.actor, box, { subject: 'Invoice' });
    await append(box, [{ kind: 'email.bounced', emailId, data: { recipient: 'joe@elsewhere.test' } }]);
    const [post] = await posts(path, 1);
    expect(post?.json.text).toContain('rejected');
    expect(JSON.stringify(post?.json.blocks)).toContain('Invoice');
    const shown = await gateway.graphql(
      box.apiKey,
      'query($id: ID!) { endpoint(id: $id) { deliveries(first: 1) { edges { node { event email { id } payload { text } } } } } }',
      { id },
    );
    const [{ node }] = shown.json().data.endpoint.deliveries.edges;
    expect(node).toMatchObject({ event: 'EMAIL_BOUNCED', email: { id: emailId } });
    expect(JSON.parse(node.payload.text)).toEqual(post?.json);
  });

  test('is posted a test of an event kind, with the newest event or an example', async () => {
    const box = await gateway.mailbox();
    await start();
    const { id, path } = await subscribe(box, { events: ['email.bounced'] });
    const { emailId } = await insertSentMail(gateway.actor, box);
    const example = await call(box, 'POST', `/endpoints/${id}/test`, { event: 'email.complained' });
    expect(example).toMatchObject({
      success: true,
      testPayload: { type: 'email.complained', data: { id: emailId, recipient: { address: 'joe@elsewhere.test' } } },
    });
    const [eventId] = await append(box, [{ kind: 'domain.verified', data: { domainId: box.domainId } }]);
    const tested = await call(box, 'POST', `/endpoints/${id}/test`, { event: 'domain.verified' });
    expect(tested.testPayload).toMatchObject({ id: eventId, data: { id: box.domainId } });
    const [, post] = await posts(path, 2);
    expect(post?.headers).toMatchObject({ 'x-webhook-event': 'domain.verified', 'x-test-request': 'true' });
    const refused = await gateway.call(box.apiKey, 'POST', `/endpoints/${id}/test`, { event: 'domain.veryfied' });
    expect([refused.statusCode, refused.json().details[0].field]).toEqual([400, 'event']);
  });

  test('is not posted received mail unless it subscribes to it', async () => {
    const box = await gateway.mailbox();
    await start();
    const { id, path } = await subscribe(box, { events: ['email.sent'] });
    await call(box, 'PUT', `/email-addresses/${box.addressId}`, { endpointId: id });
    const [left] = await insertReceivedMail(gateway.actor, box);
    actor?.wakeRouter();
    await until(
      'the mail is routed',
      () => '',
      async () => (await call(box, 'GET', `/emails/${left?.emailId}/route`)).outcome !== null,
    );
    const route = await call(box, 'GET', `/emails/${left?.emailId}/route`);
    expect(JSON.stringify(route)).toContain(`The events of the endpoint ${id} leave out this mail.`);
    await call(box, 'PATCH', `/endpoints/${id}`, { events: ['*'] });
    const [wanted] = await insertReceivedMail(gateway.actor, box);
    actor?.wakeRouter();
    const [post] = await posts(path, 1);
    expect(post?.json).toMatchObject({ event: 'email.received', email: { id: wanted?.emailId } });
  });
});

test('the response to an event with an email may label and flag it, and is refused actions that send or route', async () => {
  const box = await gateway.mailbox();
  await start();
  const { id: endpointId } = await subscribe(box, { events: ['email.complained', 'domain.*'], allowActions: true });
  const { emailId, threadId } = await insertThreadedMail(gateway.actor, box);
  const runActions = async (event: AppendedEvent, actions: readonly object[]) => {
    receiver.respond([{ headers: { 'content-type': 'application/json' }, body: JSON.stringify({ actions }) }]);
    const earlier = (await listDeliveries(gateway.actor, endpointId)).length;
    await append(box, [event]);
    const isDone = ({ status }: { status: string }) => status === 'success';
    await untilDeliveries(gateway.actor, endpointId, (all) => all.length > earlier && all.every(isDone));
    const { rows } = await gateway.actor.pool.query(
      'select actions from delivery where endpoint_id = $1 order by id desc limit 1',
      [endpointId],
    );
    return rows[0].actions;
  };
  const event = { kind: 'email.complained', emailId, threadId };
  const marks = [{ type: 'label', name: 'spam' }, { type: 'read' }, { type: 'archive' }];
  expect(await runActions(event, marks)).toMatchObject({ problem: null });
  const { rows } = await gateway.actor.pool.query('select labels, archived_count from thread where id = $1', [
    threadId,
  ]);
  expect(rows).toEqual([{ labels: ['spam'], archived_count: 1 }]);
  for (const action of [
    { type: 'reply', text: 'Sorry' },
    { type: 'forward', to: 'bob@elsewhere.test' },
    { type: 'hold' },
    { type: 'route', endpointId },
  ])
    expect(await runActions(event, [{ type: 'read' }, action])).toMatchObject({
      problem: {
        place: 'actions[1]',
        message: `Only email.received can be answered with ${action.type}, not email.complained.`,
      },
    });
  expect(await runActions({ kind: 'domain.verified', data: {} }, [{ type: 'read' }])).toMatchObject({
    problem: { place: 'actions[0]', message: 'Actions need an email, and domain.verified is not about one.' },
  });
});

describe('events of a conversation reach an endpoint with ordering', () => {
  test.each([
    ['none', 'in the order of the feed'],
    ['fan-out.read', 'before its commit: in the order of the feed, each once'],
    ['fan-out.stored', 'after its commit: in the order of the feed, each once'],
  ])('when killed at %s, they are posted %s', async (point) => {
    const box = await gateway.mailbox();
    const { id, path } = await subscribe(box, { events: ['thread.*'], ordering: 'thread' });
    const ids = await append(
      box,
      Array.from({ length: 12 }, () => ({ kind: 'thread.labelled', threadId: 'th_1', data: { labels: [] } })),
    );
    if (point !== 'none') expect(await killedAt(point)).toBe(137);
    const running = await start();
    await running.moveClock(31);
    await untilDeliveries(
      gateway.actor,
      id,
      (all) => all.length === ids.length && all.every(({ status }) => status === 'success'),
    );
    const posted = receiver.requests.filter((request) => request.path === path);
    expect(posted.map(({ body }) => JSON.parse(body).id)).toEqual(ids);
    expect(posted.map(({ body }) => JSON.parse(body).type)).toEqual(ids.map(() => 'thread.labelled'));
  });
});

/** Runs a delivery actor in a process of its own until that point; returns its status. */
async function killedAt(point: string): Promise<number | null> {
  const url = await loginAs(gateway.url, 'postroom_actor');
  const child = fork(new URL('./delivering-process.ts', import.meta.url), [url, `killed-${point}`, point], {
    execArgv: [],
  });
  return new Promise((resolve) => child.once('exit', resolve));
}
