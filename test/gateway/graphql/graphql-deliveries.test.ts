import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Actor } from '../../../actors/actor.ts';
import { listDeliveries, SECRET_KEY, startDelivering, untilDeliveries } from '../../actors/delivery/delivering.ts';
import { addRule, untilRouted } from '../../actors/delivery/guarding.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type GraphClient, graphClient } from '../../support/servers/graph-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { PAGE, walk } from '../../support/stages/graph-pages.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
let actor: Actor | null = null;
let response: number;
let box: TestMailbox;
let graph: GraphClient;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { secretKey: SECRET_KEY } });
  receiver = await startWebhookReceiver({ script: () => ({ status: response, body: 'so it is' }) });
});
beforeEach(async () => {
  response = 200;
  receiver.requests.length = 0;
  box = await gateway.mailbox({ endpointUrl: receiver.url, endpointConfig: { retryAttempts: 0 } });
  graph = graphClient(gateway, box.apiKey);
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
  actor = await startDelivering(gateway.actor, gateway.owner, { bus: gateway.bus, publicUrl: 'http://postroom.test' });
}

const rest = async (method: string, path: string, body?: unknown) => {
  const response = await gateway.call(box.apiKey, method, path, body);
  return { status: response.statusCode, ...response.json() };
};

/** Received mail that is routed, its deliveries ended. */
async function delivered(status: 'success' | 'failed'): Promise<{ emailId: string; deliveryId: string }> {
  response = status === 'success' ? 200 : 500;
  await start();
  const [mail] = await insertReceivedMail(gateway.actor, box);
  const emailId = mail?.emailId ?? '';
  gateway.bus.wake('delivery.route.wake', { workspaceId: box.workspaceId, emailIds: [emailId] });
  const [delivery] = await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === status);
  response = 200;
  return { emailId, deliveryId: delivery?.id ?? '' };
}

const DELIVERY = `id type status cause attemptCount lastAttemptAt nextAttemptAt statusCode error createdAt completedAt
  email { id } endpoint { id name }
  attempts { number startedAt durationMs outcome statusCode error responseBody requestHeaders { name value } }
  recipients { address status }`;

describe('a delivery', () => {
  test('shows the facts of REST, with each attempt', async () => {
    const { emailId, deliveryId } = await delivered('failed');
    const { delivery, node, email } = await graph.ask(
      `query($id: ID!, $email: ID!) { delivery(id: $id) { ${DELIVERY} } node(id: $id) { __typename id }
        email(id: $email) { deliveries { totalCount edges { node { id } } } } }`,
      { id: deliveryId, email: emailId },
    );
    const { data } = await rest('GET', `/emails/${emailId}/deliveries`);
    const [shown] = data;
    expect(delivery).toEqual({
      id: deliveryId,
      type: 'WEBHOOK',
      status: 'FAILED',
      cause: 'ROUTE',
      attemptCount: 1,
      lastAttemptAt: shown.lastAttemptAt,
      nextAttemptAt: null,
      statusCode: 500,
      error: shown.responseData.error,
      createdAt: shown.createdAt,
      completedAt: shown.completedAt,
      email: { id: emailId },
      endpoint: { id: box.endpointId, name: 'test' },
      attempts: shown.attemptLog.map(
        (attempt: Record<string, unknown> & { outcome: string; requestHeaders: object }) => ({
          ...attempt,
          outcome: attempt.outcome.toUpperCase(),
          requestHeaders: Object.entries(attempt.requestHeaders).map(([name, value]) => ({ name, value })),
        }),
      ),
      recipients: [],
    });
    expect(delivery.attempts[0]).toMatchObject({ number: 1, outcome: 'FAILED', responseBody: 'so it is' });
    expect(node).toEqual({ __typename: 'Delivery', id: deliveryId });
    expect(email.deliveries).toEqual({ totalCount: 1, edges: [{ node: { id: deliveryId } }] });
    const stranger = await gateway.mailbox();
    expect(
      await graphClient(gateway, stranger.apiKey).ask(
        'query($id: ID!) { delivery(id: $id) { id } node(id: $id) { id } }',
        {
          id: deliveryId,
        },
      ),
    ).toEqual({ delivery: null, node: null });
  });

  test('of copies shows their recipients, and the attempts of each', async () => {
    const [mail] = await insertReceivedMail(gateway.actor, box);
    const emailId = mail?.emailId ?? '';
    await gateway.actor.pool.query(
      `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, created_at)
       values ($1, 'dlv_copies', $2, $3, 'email_group', 1, now())`,
      [box.workspaceId, emailId, box.endpointId],
    );
    await gateway.actor.pool.query(
      `insert into recipient (workspace_id, id, email_id, delivery_id, address, domain, status, attempts, last_code, last_status, last_text,
         settled_at, created_at)
       values ($1, 'rcp_copy1', $2, 'dlv_copies', 'a@example.com', 'example.com', 'delivered', 1, 250, '2.0.0', 'taken', now(), now()),
         ($1, 'rcp_copy2', $2, 'dlv_copies', 'b@example.com', 'example.com', 'pending', 1, 451, null, 'later', null, now())`,
      [box.workspaceId, emailId],
    );
    await gateway.actor.pool.query(
      `insert into sending_attempt (workspace_id, recipient_id, number, started_at, finished_at, outcome, code, text)
       values ($1, 'rcp_copy2', 1, now(), now(), 'deferred', 451, 'later')`,
      [box.workspaceId],
    );
    const { delivery } = await graph.ask(
      `{ delivery(id: "dlv_copies") { type status recipients { address status lastCode lastText attempts { number outcome } } } }`,
    );
    expect(delivery).toEqual({
      type: 'EMAIL_FORWARD',
      status: 'PENDING',
      recipients: [
        { address: 'a@example.com', status: 'DELIVERED', lastCode: 250, lastText: 'taken', attempts: [] },
        {
          address: 'b@example.com',
          status: 'PENDING',
          lastCode: 451,
          lastText: 'later',
          attempts: [{ number: 1, outcome: 'DEFERRED' }],
        },
      ],
    });
    const { data } = await rest('GET', `/emails/${emailId}/deliveries`);
    expect(data[0].recipients.map(({ address, status }: Record<string, string>) => [address, status])).toEqual([
      ['a@example.com', 'delivered'],
      ['b@example.com', 'pending'],
    ]);
  });
});

describe('lists of deliveries', () => {
  let many: TestMailbox;
  let reader: GraphClient;
  let emailIds: string[];

  beforeAll(async () => {
    many = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
    reader = graphClient(gateway, many.apiKey);
    emailIds = await insertMail(
      gateway.actor,
      Array.from({ length: 50 }, (_, n) => ({
        workspaceId: many.workspaceId,
        createdAt: new Date(Date.now() - n * 1_000),
      })),
    );
    await gateway.actor.pool.query(
      `insert into endpoint (workspace_id, id, name, type, config)
       values ($1, 'ep_forwards', 'copies', 'email', '{"forwardTo": "a@example.com"}')`,
      [many.workspaceId],
    );
    // Of each mail four: two to the webhook, two copies; several at one instant.
    await gateway.actor.pool.query(
      `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, status, created_at, next_attempt_at,
         last_attempt, attempts)
       select $1, 'dlv_many' || lpad((m * 4 + n)::text, 4, '0'), ($2::text[])[m],
         case when n < 2 then $3 else 'ep_forwards' end, case when n < 2 then 'webhook' else 'email' end, 4,
         (array['success', 'failed', 'pending'])[1 + (m + n) % 3], now() - (m / 3) * interval '1 second', now(),
         '{"number": 1, "started_at": "2026-11-01T00:00:00Z", "duration_ms": 5, "outcome": "failed", "request_headers": {}}', 1
       from generate_series(1, 50) m cross join generate_series(0, 3) n`,
      [many.workspaceId, emailIds, many.endpointId],
    );
  });

  test.each([
    ['webhook', ''],
    ['webhook', 'PENDING'],
    ['webhook', 'SUCCESS'],
    ['webhook', 'FAILED'],
    ['copies', ''],
    ['copies', 'PENDING'],
  ])('of the %s endpoint %s are those of REST, forwards and backwards', async (kind, status) => {
    const id = kind === 'webhook' ? many.endpointId : 'ep_forwards';
    const filter = status === '' ? '' : `, filter: {status: ${status}}`;
    const query = status === '' ? '' : `&status=${status.toLowerCase()}`;
    const shown = (await gateway.call(many.apiKey, 'GET', `/endpoints/${id}/deliveries?limit=100${query}`)).json();
    const list = (args: string, fields: string) =>
      reader
        .ask(`{ endpoint(id: "${id}") { deliveries(${args}${filter}) ${fields} } }`)
        .then(({ endpoint }) => endpoint.deliveries);
    const ids = await walk((args) => list(args, PAGE), 9);
    expect(ids).toEqual(shown.data.map((one: { id: string }) => one.id));
    expect(await list('first: 1', '{ totalCount }')).toEqual({ totalCount: shown.pagination.total });
  });

  test.each(['', 'PENDING', 'SUCCESS'])('of an email %s are those of REST, forwards and backwards', async (status) => {
    const filter = status === '' ? '' : `, filter: {status: ${status}}`;
    const query = status === '' ? '' : `?status=${status.toLowerCase()}`;
    const shown = (await gateway.call(many.apiKey, 'GET', `/emails/${emailIds[7]}/deliveries${query}`)).json();
    const list = (args: string, fields: string) =>
      reader
        .ask(`{ email(id: "${emailIds[7]}") { deliveries(${args}${filter}) ${fields} } }`)
        .then(({ email }) => email.deliveries);
    expect(await walk((args) => list(args, PAGE), 1)).toEqual(shown.data.map((one: { id: string }) => one.id));
    expect(await list('first: 1', '{ totalCount }')).toEqual({ totalCount: shown.pagination.total });
  });

  test('the deliveries of 50 emails take as many statements as those of one', async () => {
    const query = `query($n: Int) { emails(first: $n, filter: {timeRange: ALL}) { edges { node { subject deliveries(first: 2) { totalCount
      edges { node { status attempts { number } endpoint { name } recipients { address } } } } } } } }`;
    await reader.ask('{ viewer { id } }');
    const one = await countStatements(() => reader.ask(query, { n: 1 }));
    const fifty = await countStatements(() => reader.ask(query, { n: 50 }));
    expect(fifty.response.emails.edges).toHaveLength(50);
    for (const { node } of fifty.response.emails.edges) {
      expect(node.deliveries.totalCount).toBe(4);
      expect(node.deliveries.edges).toHaveLength(2);
      expect(node.deliveries.edges[0].node.attempts).toEqual([{ number: 1 }]);
    }
    expect(fifty.statements).toBe(one.statements);
  });

  test('a page of 50 of an endpoint takes as many statements as a page of 1', async () => {
    const query = `query($id: ID!, $n: Int) { endpoint(id: $id) { deliveries(first: $n) { edges { node {
      attempts { number } email { subject } endpoint { name } recipients { address } } } } } }`;
    const one = await countStatements(() => reader.ask(query, { id: many.endpointId, n: 1 }));
    const fifty = await countStatements(() => reader.ask(query, { id: many.endpointId, n: 50 }));
    expect(fifty.response.endpoint.deliveries.edges).toHaveLength(50);
    expect(fifty.statements).toBe(one.statements);
  });
});

describe('an email is delivered again', () => {
  const RETRY = 'email { id } deliveries { id cause status endpoint { id } }';

  test('once where a delivery failed', async () => {
    const { emailId, deliveryId } = await delivered('failed');
    const again = await graph.mutate('retryEmail', { id: emailId, deliveryId }, RETRY);
    expect(again).toMatchObject({
      __typename: 'RetryEmailPayload',
      email: { id: emailId },
      deliveries: [{ cause: 'RETRY', endpoint: { id: box.endpointId } }],
    });
    const [{ id }] = again.deliveries;
    await untilDeliveries(gateway.actor, box.endpointId, (all) => all[1]?.status === 'success');
    const { data } = await rest('GET', `/emails/${emailId}/deliveries`);
    expect(data.map((one: { id: string; cause: string }) => [one.id, one.cause])).toEqual([
      [id, 'retry'],
      [deliveryId, 'route'],
    ]);
    const { message } = await rest('POST', `/emails/${emailId}/retry`, { delivery_id: id });
    expect(await graph.mutate('retryEmail', { id: emailId, deliveryId: id })).toMatchObject({
      message,
    });
    expect(await graph.mutate('retryDelivery', { id })).toMatchObject({ message });
  });

  test('by the id of the delivery only', async () => {
    const { deliveryId } = await delivered('failed');
    const again = await graph.mutate('retryDelivery', { id: deliveryId }, 'delivery { id cause email { id } }');
    expect(again.delivery).toMatchObject({ cause: 'RETRY' });
    expect(again.delivery.id).not.toBe(deliveryId);
    const [mine, theirs] = await Promise.all([
      graph.mutate('retryDelivery', { id: 'dlv_none' }),
      graphClient(gateway, (await gateway.mailbox()).apiKey).mutate('retryDelivery', { id: deliveryId }),
    ]);
    expect(mine).toEqual({ __typename: 'NotFound', message: 'Delivery not found', code: null });
    expect(theirs).toEqual(mine);
  });

  test('or is refused with the error of REST', async () => {
    const { emailId, deliveryId } = await delivered('success');
    const [sent = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, type: 'sent' }]);
    await actor?.stop();
    const held = await heldMail();
    await actor?.stop();
    actor = null;
    const [fresh] = await insertReceivedMail(gateway.actor, box);
    const stranger = await gateway.mailbox({ endpointUrl: receiver.url });
    for (const [kind, id, input, body] of [
      ['NotFound', 'em_none', {}, {}],
      ['Conflict', sent, {}, {}],
      ['NotFound', emailId, { endpointId: 'ep_none' }, { endpoint_id: 'ep_none' }],
      ['NotFound', emailId, { endpointId: stranger.endpointId }, { endpoint_id: stranger.endpointId }],
      ['NotFound', emailId, { deliveryId: 'dlv_none' }, { delivery_id: 'dlv_none' }],
      ['Conflict', emailId, { deliveryId }, { delivery_id: deliveryId }],
      [
        'ValidationError',
        emailId,
        { deliveryId, endpointId: box.endpointId },
        { delivery_id: deliveryId, endpoint_id: box.endpointId },
      ],
      ['Conflict', held, {}, {}],
      ['Conflict', fresh?.emailId ?? '', {}, {}],
    ] as const) {
      const shown = await rest('POST', `/emails/${id}/retry`, body);
      const refused = await graph.mutate('retryEmail', { id, ...input });
      expect(refused, JSON.stringify([id, body])).toMatchObject({
        __typename: kind,
        message: shown.message,
        code: shown.code ?? null,
      });
    }
    expect(await listDeliveries(gateway.actor, box.endpointId)).toHaveLength(1);
  });
});

/** Mail that a rule holds back. */
async function heldMail(): Promise<string> {
  await addRule(gateway.actor, box, { action: 'block', subject: 'pills' });
  gateway.bus.publish('guard.changed', { workspaceId: box.workspaceId });
  await start();
  const [mail] = await insertReceivedMail(gateway.actor, box, { subject: 'Cheap pills' });
  const id = mail?.emailId ?? '';
  gateway.bus.wake('delivery.route.wake', { workspaceId: box.workspaceId, emailIds: [id] });
  await untilRouted(gateway.actor, [id]);
  return id;
}

describe('held mail', () => {
  test('is listed, and released once', async () => {
    const id = await heldMail();
    const list =
      '{ emails(filter: {status: BLOCKED}) { totalCount edges { node { id guardStatus guardRule { name } } } } }';
    expect((await graph.ask(list)).emails).toEqual({
      totalCount: 1,
      edges: [{ node: { id, guardStatus: 'BLOCKED', guardRule: { name: 'rule pills' } } }],
    });
    const released = await graph.mutate(
      'releaseEmail',
      { id },
      'releasedAt email { id guardStatus } deliveries { id cause }',
    );
    expect(released).toMatchObject({
      releasedAt: expect.any(String),
      email: { id, guardStatus: null },
      deliveries: [{ cause: 'RELEASE' }],
    });
    expect((await rest('GET', `/emails/${id}/route`)).released_at).toBe(released.releasedAt);
    expect((await graph.ask(list)).emails.totalCount).toBe(0);
    const { message } = await rest('POST', `/emails/${id}/release`);
    expect(await graph.mutate('releaseEmail', { id })).toMatchObject({ __typename: 'Conflict', message });
  });

  test('is only the user’s own, and received', async () => {
    const [sent = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, type: 'sent' }]);
    const id = await heldMail();
    const stranger = graphClient(gateway, (await gateway.mailbox()).apiKey);
    const none = await graph.mutate('releaseEmail', { id: 'em_none' });
    expect(none).toEqual({
      __typename: 'NotFound',
      message: (await rest('POST', '/emails/em_none/release')).message,
      code: null,
    });
    expect(await stranger.mutate('releaseEmail', { id })).toEqual(none);
    expect(await graph.mutate('releaseEmail', { id: sent })).toMatchObject({
      message: (await rest('POST', `/emails/${sent}/release`)).message,
    });
  });
});

describe('deliveries of a period are repeated', () => {
  const REPLAY = 'replayedCount hasMore until endpoint { id }';

  test('if they failed, or all of them', async () => {
    const { emailId } = await delivered('failed');
    const since = new Date(Date.now() - 60_000).toISOString();
    const replay = await graph.mutate('replayDeliveries', { id: box.endpointId, since }, REPLAY);
    expect(replay).toMatchObject({ replayedCount: 1, hasMore: false, endpoint: { id: box.endpointId } });
    await untilDeliveries(gateway.actor, box.endpointId, (all) => all.length === 2 && all[1]?.status === 'success');
    const { data } = await rest('GET', `/emails/${emailId}/deliveries`);
    expect(data.map((one: { cause: string }) => one.cause)).toEqual(['replay', 'route']);
    // Asked again with its `until`, it delivers nothing twice.
    expect(
      await graph.mutate('replayDeliveries', { id: box.endpointId, since, until: replay.until, status: 'ALL' }, REPLAY),
    ).toMatchObject({ replayedCount: 0 });
    expect(
      await graph.mutate('replayDeliveries', { id: box.endpointId, since, status: 'ALL', limit: 99_999 }, REPLAY),
    ).toMatchObject({ replayedCount: 1 });
  });

  test('or refused with the error of REST', async () => {
    const since = '2026-11-21T00:00:00.000Z';
    for (const more of [{ until: since }, { limit: 0 }]) {
      const { message, details } = await rest('POST', `/endpoints/${box.endpointId}/replay`, { since, ...more });
      expect(await graph.mutate('replayDeliveries', { id: box.endpointId, since, ...more })).toMatchObject({
        __typename: 'ValidationError',
        message,
        fields: [{ path: [details[0].field], message: details[0].message }],
      });
    }
    await gateway.actor.pool.query('update endpoint set is_active = false where id = $1', [box.endpointId]);
    const { message } = await rest('POST', `/endpoints/${box.endpointId}/replay`, { since });
    expect(await graph.mutate('replayDeliveries', { id: box.endpointId, since })).toMatchObject({
      __typename: 'Conflict',
      message,
    });
  });
});

describe('a test of an endpoint', () => {
  const RESULT = 'isSuccessful message responseTimeMs statusCode responseBody format urlTested payload endpoint { id }';
  const run = (input: object = {}) => graph.mutate('testEndpoint', { id: box.endpointId, ...input }, RESULT);

  test('sends the production request, in another format and to another URL, too', async () => {
    await start();
    const tested = await run();
    // Deliveries of earlier tests may arrive here, too.
    const posted = receiver.requests.map(({ body }) => JSON.parse(body) as { email?: { id?: string } });
    const sample = posted.find(({ email }) => email?.id === tested.payload.email.id);
    expect(tested).toMatchObject({
      isSuccessful: true,
      message: 'Webhook responded successfully (200)',
      responseTimeMs: expect.any(Number),
      statusCode: 200,
      responseBody: 'so it is',
      format: 'NATIVE',
      urlTested: receiver.url,
      payload: sample ?? 'nothing arrived',
      endpoint: { id: box.endpointId },
    });
    expect(await run({ format: 'CHAT_A', overrideUrl: `${receiver.url}/other` })).toMatchObject({
      format: 'CHAT_A',
      urlTested: `${receiver.url}/other`,
      payload: expect.not.objectContaining({ event: 'email.received' }),
    });
    response = 503;
    expect(await run()).toMatchObject({
      isSuccessful: false,
      message: 'Webhook returned error (503)',
      statusCode: 503,
    });
  });

  test('is refused with the error of REST', async () => {
    await start();
    const overrideUrl = 'https://10.0.0.1/';
    const shown = await rest('POST', `/endpoints/${box.endpointId}/test`, { overrideUrl });
    expect(await run({ overrideUrl })).toMatchObject({
      __typename: 'ValidationError',
      message: shown.message,
      fields: [{ path: ['overrideUrl'], message: shown.details }],
    });
    await gateway.actor.pool.query('update endpoint set is_active = false where id = $1', [box.endpointId]);
    const { status, message } = await rest('POST', `/endpoints/${box.endpointId}/test`);
    expect(status).toBe(400);
    expect(await run()).toMatchObject({ __typename: 'Conflict', message });
  });

  test('runs 30 times a minute, over REST and GraphQL together', async () => {
    await start();
    for (let n = 0; n < 15; n++) {
      expect((await rest('POST', `/endpoints/${box.endpointId}/test`)).success).toBe(true);
      expect((await run()).isSuccessful).toBe(true);
    }
    const refused = await run();
    expect(refused).toMatchObject({
      __typename: 'RateLimited',
      message: expect.stringContaining('Endpoint tests are limited to 30 per minute.'),
    });
    expect((await rest('POST', `/endpoints/${box.endpointId}/test`)).status).toBe(429);
  });

  test('without an actor is listed among the errors, as 503 by REST', async () => {
    const response = await gateway.graphql(
      box.apiKey,
      `mutation { testEndpoint(input: {id: "${box.endpointId}"}) { __typename } }`,
    );
    expect(response.json().errors[0].message).toBe((await rest('POST', `/endpoints/${box.endpointId}/test`)).message);
  });
});
