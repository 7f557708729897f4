import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type GraphClient, graphClient } from '../../support/servers/graph-client.ts';
import { PAGE, walk } from '../../support/stages/graph-pages.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let box: TestMailbox;
let stranger: TestMailbox;
let graph: GraphClient;

beforeAll(async () => {
  gateway = await openTestGateway();
  stranger = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
});
beforeEach(async () => {
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/in', isCatchAllEnabled: true });
  graph = graphClient(gateway, box.apiKey);
});
afterAll(() => gateway.close());

const rest = async (method: string, path: string, body?: unknown) => {
  const response = await gateway.call(box.apiKey, method, path, body);
  return { status: response.statusCode, ...response.json() };
};
const own = () => `/endpoints/${box.endpointId}`;

const COMMON =
  'id name description isActive inactiveReason createdAt updatedAt stats { total successful failed lastDeliveryAt }';
const WEBHOOK = `${COMMON} url format timeoutSeconds retryAttempts headers { name value } signatureScheme payload maxPayloadOctets
  attachments events filter { domains addresses } payloadQuery ordering allowActions verificationToken signingSecrets { secret validUntil }`;
const FORWARDING = `${COMMON} preserveHeaders includeAttachments subjectPrefix fromAddress senderName`;

async function addWebhook(input: object = {}): Promise<string> {
  const made = await graph.mutate(
    'createWebhookEndpoint',
    { name: 'x', url: 'https://hooks.example.com/x', ...input },
    'endpoint { id }',
  );
  return made.endpoint.id;
}

describe('an endpoint is created and changed', () => {
  test('as a webhook with all its settings, as REST shows it', async () => {
    const made = await graph.mutate(
      'createWebhookEndpoint',
      {
        name: 'Program',
        description: 'mine',
        url: 'https://hooks.example.com/mail',
        format: 'CHAT_A',
        timeoutSeconds: 7,
        retryAttempts: 2,
        headers: [{ name: 'X-Mine', value: 'a' }],
        signatureScheme: 'HMAC',
        payload: 'FLAT',
        maxPayloadOctets: 20_000,
        attachments: 'LINK',
        events: ['email.*'],
        filter: { addresses: [box.addressId] },
        ordering: 'SENDER',
        allowActions: true,
        isActive: false,
      },
      `endpoint { ${WEBHOOK} }`,
    );
    const { endpoint } = made;
    expect(endpoint).toMatchObject({
      name: 'Program',
      description: 'mine',
      isActive: false,
      inactiveReason: null,
      url: 'https://hooks.example.com/mail',
      format: 'CHAT_A',
      timeoutSeconds: 7,
      retryAttempts: 2,
      headers: [{ name: 'X-Mine', value: 'a' }],
      signatureScheme: 'HMAC',
      payload: 'FLAT',
      maxPayloadOctets: 20_000,
      attachments: 'LINK',
      events: ['email.*'],
      filter: { domains: [], addresses: [box.address] },
      payloadQuery: null,
      ordering: 'SENDER',
      allowActions: true,
      stats: { total: 0, successful: 0, failed: 0, lastDeliveryAt: null },
    });
    expect(await rest('GET', `/endpoints/${endpoint.id}`)).toMatchObject({
      name: 'Program',
      webhookFormat: 'chat_a',
      isActive: false,
      config: {
        url: 'https://hooks.example.com/mail',
        timeout: 7,
        retryAttempts: 2,
        headers: { 'X-Mine': 'a' },
        signatureScheme: 'hmac',
        payload: 'flat',
        maxPayloadOctets: 20_000,
        attachments: 'link',
        verificationToken: endpoint.verificationToken,
      },
      events: endpoint.events,
      filter: endpoint.filter,
      payloadQuery: endpoint.payloadQuery,
      ordering: 'sender',
      allowActions: true,
      signingSecrets: endpoint.signingSecrets,
      createdAt: endpoint.createdAt,
    });
  });

  test('with required fields only, and has the defaults of REST', async () => {
    const made = await graph.mutate(
      'createWebhookEndpoint',
      { name: 'Plain', url: 'https://hooks.example.com/', timeoutSeconds: null, headers: null },
      `endpoint { ${WEBHOOK} }`,
    );
    const shown = await rest('POST', '/endpoints', {
      name: 'Plain',
      type: 'webhook',
      config: { url: 'https://hooks.example.com/' },
    });
    expect(made.endpoint).toMatchObject({
      format: 'NATIVE',
      timeoutSeconds: shown.config.timeout,
      retryAttempts: shown.config.retryAttempts,
      headers: [],
      signatureScheme: 'TOKEN',
      payload: 'NESTED',
      maxPayloadOctets: 4_000_000,
      attachments: 'CONTENT',
      events: shown.events,
      filter: null,
      payloadQuery: null,
      ordering: 'NONE',
      allowActions: false,
      isActive: true,
    });
    const stored = await rest('GET', `/endpoints/${made.endpoint.id}`);
    expect(Object.keys(stored.config)).toEqual(Object.keys(shown.config));
  });

  test('as an address or a group that copies are sent to', async () => {
    const settings = {
      preserveHeaders: true,
      includeAttachments: false,
      subjectPrefix: '[box] ',
      fromAddress: 'me@box.test',
      senderName: 'Box',
    };
    const single = await graph.mutate(
      'createEmailEndpoint',
      { name: 'me', forwardTo: 'me@example.com', ...settings },
      `endpoint { ${FORWARDING} forwardTo }`,
    );
    expect(single.endpoint).toMatchObject({ name: 'me', forwardTo: 'me@example.com', ...settings });
    expect(await rest('GET', `/endpoints/${single.endpoint.id}`)).toMatchObject({
      type: 'email',
      config: { forwardTo: 'me@example.com', ...settings },
    });
    const group = await graph.mutate(
      'createEmailGroupEndpoint',
      { name: 'us', addresses: ['a@example.com', 'b@example.com'] },
      `endpoint { ${FORWARDING} addresses }`,
    );
    expect(group.endpoint).toMatchObject({
      addresses: ['a@example.com', 'b@example.com'],
      preserveHeaders: false,
      includeAttachments: true,
      subjectPrefix: null,
      fromAddress: null,
      senderName: null,
    });
    expect(await rest('GET', `/endpoints/${group.endpoint.id}`)).toMatchObject({
      type: 'email_group',
      groupEmails: ['a@example.com', 'b@example.com'],
    });
  });

  test('so that absent fields stay, and null resets a setting to its default', async () => {
    const id = await addWebhook({
      timeoutSeconds: 9,
      payload: 'FLAT',
      headers: [{ name: 'X-A', value: '1' }],
      events: ['*'],
      filter: { domains: [box.domainId] },
      ordering: 'THREAD',
    });
    const before = await rest('GET', `/endpoints/${id}`);
    const changed = await graph.mutate(
      'updateWebhookEndpoint',
      {
        id,
        name: 'New',
        description: 'd',
        retryAttempts: 1,
        payload: null,
        format: 'CHAT_B',
        events: null,
        ordering: null,
        isActive: false,
      },
      `endpoint { ${WEBHOOK} }`,
    );
    expect(changed.endpoint).toMatchObject({
      name: 'New',
      description: 'd',
      retryAttempts: 1,
      payload: 'NESTED',
      timeoutSeconds: 9,
      format: 'CHAT_B',
      isActive: false,
      headers: [{ name: 'X-A', value: '1' }],
      events: ['email.received'],
      filter: { domains: [box.address.split('@')[1]], addresses: [] },
      ordering: 'NONE',
      verificationToken: before.config.verificationToken,
      signingSecrets: before.signingSecrets,
    });
    const { payload: _, ...config } = before.config;
    expect(await rest('GET', `/endpoints/${id}`)).toMatchObject({
      name: 'New',
      config: { ...config, retryAttempts: 1 },
    });
    const cleared = await graph.mutate(
      'updateWebhookEndpoint',
      { id, description: null, url: 'https://hooks.example.com/other' },
      `endpoint { ${WEBHOOK} }`,
    );
    expect(cleared.endpoint).toMatchObject({
      name: 'New',
      description: null,
      url: 'https://hooks.example.com/other',
    });
  });

  test('with the same rules for forwarding', async () => {
    const single = await graph.mutate(
      'createEmailEndpoint',
      { name: 'me', forwardTo: 'me@example.com', subjectPrefix: '[x]', senderName: 'Box' },
      'endpoint { id }',
    );
    const changed = await graph.mutate(
      'updateEmailEndpoint',
      { id: single.endpoint.id, forwardTo: 'you@example.com', senderName: null },
      `endpoint { ${FORWARDING} forwardTo }`,
    );
    expect(changed.endpoint).toMatchObject({ forwardTo: 'you@example.com', subjectPrefix: '[x]', senderName: null });
    const group = await graph.mutate(
      'createEmailGroupEndpoint',
      { name: 'us', addresses: ['a@example.com'] },
      'endpoint { id }',
    );
    const grown = await graph.mutate(
      'updateEmailGroupEndpoint',
      { id: group.endpoint.id, addresses: ['a@example.com', 'c@example.com'], isActive: false },
      `endpoint { ${FORWARDING} addresses }`,
    );
    expect(grown.endpoint).toMatchObject({ addresses: ['a@example.com', 'c@example.com'], isActive: false });
    expect(await rest('GET', `/endpoints/${group.endpoint.id}`)).toMatchObject({
      config: { emails: ['a@example.com', 'c@example.com'], preserveHeaders: false },
    });
  });

  test('so that one that the service disabled is enabled again, and starts without failures', async () => {
    await gateway.actor.pool.query(`update endpoint set is_active = false, inactive_reason = 'gone' where id = $1`, [
      box.endpointId,
    ]);
    await gateway.actor.pool.query(
      'insert into endpoint_stat (workspace_id, endpoint_id, failing_since) values ($1, $2, now())',
      [box.workspaceId, box.endpointId],
    );
    expect(
      (await graph.ask('query($id: ID!) { endpoint(id: $id) { inactiveReason } }', { id: box.endpointId })).endpoint,
    ).toEqual({
      inactiveReason: 'gone',
    });
    const on = await graph.mutate(
      'updateWebhookEndpoint',
      { id: box.endpointId, isActive: true },
      'endpoint { isActive inactiveReason }',
    );
    expect(on.endpoint).toEqual({ isActive: true, inactiveReason: null });
    const { rows } = await gateway.actor.pool.query('select failing_since from endpoint_stat where endpoint_id = $1', [
      box.endpointId,
    ]);
    expect(rows).toEqual([{ failing_since: null }]);
  });
});

describe('an invalid endpoint is refused with the error of REST', () => {
  const webhook = { name: 'x', url: 'https://hooks.example.com/' };
  const asRest = (type: string, config: object, more: object = {}) => ({ name: 'x', type, config, ...more });
  const url = 'https://hooks.example.com/';
  const group = (emails: string[]) => asRest('email_group', { emails });

  test.each<[string, Record<string, unknown>, string[], object]>([
    ['createWebhookEndpoint', { ...webhook, url: '' }, ['url'], asRest('webhook', { url: '' })],
    ['createWebhookEndpoint', { ...webhook, url: 'x' }, ['url'], asRest('webhook', { url: 'x' })],
    [
      'createWebhookEndpoint',
      { ...webhook, url: 'https://10.0.0.1/' },
      ['url'],
      asRest('webhook', { url: 'https://10.0.0.1/' }),
    ],
    [
      'createWebhookEndpoint',
      { ...webhook, timeoutSeconds: 0 },
      ['timeoutSeconds'],
      asRest('webhook', { url, timeout: 0 }),
    ],
    [
      'createWebhookEndpoint',
      { ...webhook, retryAttempts: 11 },
      ['retryAttempts'],
      asRest('webhook', { url, retryAttempts: 11 }),
    ],
    [
      'createWebhookEndpoint',
      { ...webhook, headers: [{ name: 'Host', value: 'x' }] },
      ['headers'],
      asRest('webhook', { url, headers: { Host: 'x' } }),
    ],
    [
      'createWebhookEndpoint',
      {
        ...webhook,
        headers: [
          { name: 'x-a', value: '1' },
          { name: 'X-A', value: '2' },
        ],
      },
      ['headers'],
      asRest('webhook', { url, headers: { 'x-a': '1', 'X-A': '2' } }),
    ],
    [
      'createWebhookEndpoint',
      { ...webhook, maxPayloadOctets: 9_999 },
      ['maxPayloadOctets'],
      asRest('webhook', { url, maxPayloadOctets: 9_999 }),
    ],
    [
      'createEmailEndpoint',
      { name: 'x', forwardTo: 'nobody' },
      ['forwardTo'],
      asRest('email', { forwardTo: 'nobody' }),
    ],
    [
      'createEmailEndpoint',
      { name: 'x', forwardTo: 'a@example.com', subjectPrefix: 'a\nb' },
      ['subjectPrefix'],
      asRest('email', { forwardTo: 'a@example.com', subjectPrefix: 'a\nb' }),
    ],
    ['createEmailGroupEndpoint', { name: 'x', addresses: [] }, ['addresses'], group([])],
    ['createEmailGroupEndpoint', { name: 'x', addresses: ['a@b@c'] }, ['addresses'], group(['a@b@c'])],
    [
      'createEmailGroupEndpoint',
      { name: 'x', addresses: ['a@b.test', 'A@b.test'] },
      ['addresses'],
      group(['a@b.test', 'A@b.test']),
    ],
    ['createWebhookEndpoint', { ...webhook, name: '' }, ['name'], asRest('webhook', { url }, { name: '' })],
    ['createWebhookEndpoint', { ...webhook, name: 'a\0b' }, ['name'], asRest('webhook', { url }, { name: 'a\0b' })],
    [
      'createWebhookEndpoint',
      { ...webhook, description: 'x'.repeat(1_001) },
      ['description'],
      asRest('webhook', { url }, { description: 'x'.repeat(1_001) }),
    ],
  ])('%s %j', async (mutation, input, path, body) => {
    const refused = await graph.mutate(mutation, input);
    const { status, message, details } = await rest('POST', '/endpoints', body);
    expect(status).toBe(400);
    const detail = typeof details === 'string' ? details : details[0].message;
    expect(refused).toMatchObject({ __typename: 'ValidationError', message, fields: [{ path, message: detail }] });
    expect((await rest('GET', '/endpoints')).data.map(({ id }: { id: string }) => id)).toEqual([box.endpointId]);
  });

  test('but not one whose header is given twice in the same spelling', async () => {
    const headers = [
      { name: 'X-A', value: '1' },
      { name: 'X-A', value: '2' },
    ];
    expect(await graph.mutate('createWebhookEndpoint', { ...webhook, headers })).toMatchObject({
      fields: [{ path: ['headers'], message: 'Header is given twice: X-A' }],
    });
  });

  test.each<[string, Record<string, unknown>, object]>([
    ['updateWebhookEndpoint', {}, {}],
    ['updateWebhookEndpoint', { timeoutSeconds: 301 }, { config: { url, timeout: 301 } }],
    ['updateWebhookEndpoint', { url: 'ftp://x.test/' }, { config: { url: 'ftp://x.test/' } }],
    ['updateWebhookEndpoint', { name: '' }, { name: '' }],
    ['updateEmailEndpoint', { name: 'y' }, { type: 'email', name: 'y' }],
    [
      'updateEmailGroupEndpoint',
      { addresses: ['a@b.test'] },
      { type: 'email_group', config: { emails: ['a@b.test'] } },
    ],
  ])('%s of a webhook with %j', async (mutation, input, body) => {
    const before = await rest('GET', own());
    const refused = await graph.mutate(mutation, { id: box.endpointId, ...input });
    const { status, message, details } = await rest('PATCH', own(), body);
    expect(status).toBe(400);
    const messages = details === undefined ? [] : [typeof details === 'string' ? details : details[0].message];
    expect(refused).toMatchObject({ __typename: 'ValidationError', message });
    expect(refused.fields.map((field: { message: string }) => field.message)).toEqual(messages);
    expect(await rest('GET', own())).toEqual(before);
  });

  test.each<[string, Record<string, unknown>]>([
    ['updateWebhookEndpoint', { name: 'x' }],
    ['updateEmailEndpoint', { name: 'x' }],
    ['updateEmailGroupEndpoint', { name: 'x' }],
    ['deleteEndpoint', {}],
    ['testEndpoint', {}],
    ['rotateEndpointSecret', {}],
    ['replayDeliveries', { since: '2026-11-01T00:00:00Z' }],
  ])('for %s of another account’s endpoint, as for an unknown one', async (mutation, input) => {
    const { message } = await rest('GET', '/endpoints/ep_none');
    const responses = await Promise.all(
      [stranger.endpointId, 'ep_none', 'not an id\0', ''].map((id) => graph.mutate(mutation, { id, ...input })),
    );
    for (const response of responses) expect(response).toEqual({ __typename: 'NotFound', message, code: null });
    expect((await gateway.call(stranger.apiKey, 'GET', `/endpoints/${stranger.endpointId}`)).statusCode).toBe(200);
  });
});

test('a deleted endpoint returns the objects that led to it', async () => {
  const group = await graph.mutate(
    'createEmailGroupEndpoint',
    { name: 'us', addresses: ['a@example.com', 'b@example.com'] },
    'endpoint { id }',
  );
  const payload = 'deletedId emailAddresses catchAllDomains guardRuleCount groupAddressCount endedDeliveryCount';
  await rest('POST', '/guard', {
    name: 'r',
    type: 'explicit',
    config: { subject: 'x' },
    action: { action: 'route', endpointId: box.endpointId },
  });
  const [, domain = ''] = box.address.split('@');
  expect(await graph.mutate('deleteEndpoint', { id: box.endpointId }, payload)).toEqual({
    __typename: 'DeleteEndpointPayload',
    deletedId: box.endpointId,
    emailAddresses: [box.address],
    catchAllDomains: [domain],
    guardRuleCount: 1,
    groupAddressCount: 0,
    endedDeliveryCount: 0,
  });
  expect((await rest('GET', own())).status).toBe(404);
  expect(await graph.mutate('deleteEndpoint', { id: box.endpointId }, payload)).toMatchObject({
    __typename: 'NotFound',
  });
  expect(await graph.mutate('deleteEndpoint', { id: group.endpoint.id }, payload)).toMatchObject({
    groupAddressCount: 2,
  });
});

describe('a signing secret', () => {
  test('is replaced, and the old one stays valid for a day', async () => {
    const id = await addWebhook();
    const before = await rest('GET', `/endpoints/${id}`);
    const rotated = await graph.mutate(
      'rotateEndpointSecret',
      { id },
      'endpoint { signingSecrets { secret validUntil } verificationToken }',
    );
    const { signingSecrets, verificationToken } = rotated.endpoint;
    expect(signingSecrets).toEqual([
      { secret: expect.stringMatching(/^whsec_/), validUntil: null },
      { secret: before.signingSecret, validUntil: expect.any(String) },
    ]);
    expect(verificationToken).toBe(before.config.verificationToken);
    expect(await rest('GET', `/endpoints/${id}`)).toMatchObject({ signingSecrets });
    const renewed = await graph.mutate(
      'rotateEndpointSecret',
      { id, replaceVerificationToken: true },
      'endpoint { verificationToken }',
    );
    expect(renewed.endpoint.verificationToken).not.toBe(verificationToken);
  });

  test('exists only for a webhook', async () => {
    const made = await graph.mutate(
      'createEmailEndpoint',
      { name: 'x', forwardTo: 'a@example.com' },
      'endpoint { id }',
    );
    const { id } = made.endpoint;
    const { message } = await rest('POST', `/endpoints/${id}/rotate-secret`);
    expect(await graph.mutate('rotateEndpointSecret', { id })).toMatchObject({ __typename: 'Conflict', message });
  });
});

describe('lists', () => {
  let many: TestMailbox;
  let reader: GraphClient;
  const COUNT = 53;

  beforeAll(async () => {
    many = await gateway.mailbox();
    reader = graphClient(gateway, many.apiKey);
    await gateway.actor.pool.query(
      `insert into endpoint (workspace_id, id, name, type, config, is_active, created_at)
       select $1, 'ep_many' || lpad(n::text, 3, '0'), case when n % 2 = 0 then 'Even' else 'Odd' end,
         case n % 3 when 0 then 'webhook' when 1 then 'email' else 'email_group' end,
         case n % 3 when 0 then '{"url": "https://hooks.example.com/"}'::jsonb when 1 then '{"forwardTo": "a@example.com"}'
           else '{"emails": ["a@example.com"]}' end,
         n % 5 > 0, now() - (n / 4) * interval '1 second'
       from generate_series(1, $2) n`,
      [many.workspaceId, COUNT],
    );
    await gateway.actor.pool.query(
      `insert into email_address (workspace_id, id, domain_id, address, endpoint_id, created_at)
       select $1, e.id || '_' || n, $2, e.id || n || '@box.test', e.id, now() - n * interval '1 second'
       from endpoint e cross join generate_series(1, 3) n where e.workspace_id = $1`,
      [many.workspaceId, many.domainId],
    );
    await gateway.actor.pool.query(
      `update domain set is_catch_all_enabled = true, catch_all_endpoint_id = 'ep_many003' where id = $1`,
      [many.domainId],
    );
  });

  test.each<[string, string]>([
    ['', ''],
    [', filter: {search: "EVEN"}', '&search=even'],
    [', filter: {type: EMAIL_GROUP, isActive: true}', '&type=email_group&isActive=true'],
    [', filter: {isActive: false}', '&isActive=false'],
  ])('of endpoints%s are those of REST, forwards and backwards', async (filter, query) => {
    const shown = (await gateway.call(many.apiKey, 'GET', `/endpoints?limit=100${query}`)).json();
    const expected = shown.data.map(({ id }: { id: string }) => id);
    const ids = await walk(async (args) => (await reader.ask(`{ endpoints(${args}${filter}) ${PAGE} }`)).endpoints, 7);
    expect(ids).toEqual(expected);
    const { endpoints } = await reader.ask(`{ endpoints(first: 1${filter}) { totalCount } }`);
    expect(endpoints.totalCount).toBe(shown.pagination.total);
  });

  test.each(['x'.repeat(101), 'a\0b'])('refuse a search for %j with the error of REST', async (search) => {
    const query = 'query($search: String) { endpoints(filter: {search: $search}) { totalCount } }';
    const response = (await gateway.graphql(many.apiKey, query, { search })).json();
    const shown = await gateway.call(many.apiKey, 'GET', `/endpoints?search=${encodeURIComponent(search)}`);
    const { message, details } = shown.json();
    expect(shown.statusCode).toBe(400);
    expect(response.errors[0]).toMatchObject({ message, extensions: { code: 'validation_error', details } });
  });

  test('of objects that lead to an endpoint are paged', async () => {
    const addresses = async (args: string) => {
      const { endpoint } = await reader.ask(
        `{ endpoint(id: "ep_many003") { emailAddresses(${args}) { totalCount edges { node { id address } } pageInfo { startCursor endCursor } }
          catchAllDomains { id } } }`,
      );
      expect(endpoint.catchAllDomains).toEqual([{ id: many.domainId }]);
      const { edges, pageInfo, totalCount } = endpoint.emailAddresses;
      expect(totalCount).toBe(3);
      return { ids: edges.map((edge: { node: { id: string } }) => edge.node.id), pageInfo };
    };
    const first = await addresses('first: 2');
    const rest = await addresses(`first: 2, after: "${first.pageInfo.endCursor}"`);
    const last = await addresses('last: 1');
    const before = await addresses(`last: 2, before: "${last.pageInfo.startCursor}"`);
    const all = [1, 2, 3].map((n) => `ep_many003_${n}`);
    expect([first.ids, rest.ids, last.ids, before.ids]).toEqual([
      all.slice(0, 2),
      all.slice(2),
      all.slice(2),
      all.slice(0, 2),
    ]);
  });

  test('take as many statements for a page of 50 as for a page of 1', async () => {
    const query = `query($n: Int) { endpoints(first: $n) { edges { node {
      ${COMMON} emailAddresses(first: 3) { totalCount edges { node { address } } } catchAllDomains { name }
      deliveries(first: 3) { totalCount edges { node { id attempts { number } } } }
      ... on WebhookEndpoint { url signingSecrets { secret } } ... on ForwardingEndpoint { subjectPrefix } } } } }`;
    await reader.ask('{ viewer { id } }');
    const one = await countStatements(() => reader.ask(query, { n: 1 }));
    const fifty = await countStatements(() => reader.ask(query, { n: 50 }));
    expect(fifty.response.endpoints.edges).toHaveLength(50);
    expect(fifty.response.endpoints.edges[49].node.emailAddresses.edges).toHaveLength(3);
    expect(fifty.statements).toBe(one.statements);
  });

  test('have nodes of each type, and none of another account', async () => {
    const { nodes } = await reader.ask('query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }', {
      ids: ['ep_many001', 'ep_many002', 'ep_many003', stranger.endpointId, 'ep_none'],
    });
    expect(nodes).toEqual([
      { __typename: 'EmailEndpoint', id: 'ep_many001' },
      { __typename: 'EmailGroupEndpoint', id: 'ep_many002' },
      { __typename: 'WebhookEndpoint', id: 'ep_many003' },
      null,
      null,
    ]);
  });
});
