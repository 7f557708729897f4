import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected, ERAS } from '../../support/servers/mcp-client.ts';

let gateway: TestGateway;
let box: TestMailbox;
let endpointId: string;
/** the verification token of the endpoint, which has no form that could be recognized */
let token: string;

/** A secret that a request holds. */
const CANARY = 'zq7canary4secret9';
const HOOK = 'https://hooks.example.test/services/T0/zq8path5secret';

beforeAll(async () => {
  gateway = await openTestGateway({ config: { requestLog: 'on' } });
  box = await gateway.mailbox();
  const made = await gateway.call(box.apiKey, 'POST', '/endpoints', {
    name: 'hook',
    type: 'webhook',
    config: { url: HOOK, headers: { 'X-Shop': CANARY } },
  });
  endpointId = made.json().id;
  token = made.json().config.verificationToken;
});
afterAll(() => gateway.close());

/** Stores what is in memory, and removes and returns all rows of the log. */
async function takeLog(): Promise<string[]> {
  await gateway.call(box.apiKey, 'GET', '/requests?limit=1');
  const { rows } = await gateway.owner.pool.query<{ row: string }>(
    'delete from api_request r returning to_jsonb(r)::text as row',
  );
  return rows.map(({ row }) => row);
}

/** Returns the rows that have one of the texts. */
const rowsWith = (rows: readonly string[], ...texts: string[]) =>
  rows.filter((row) => texts.some((text) => row.includes(text))).map((row) => row.slice(0, 2_000));

const post = (payload: string, url = '/graphql') =>
  gateway.app.inject({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json' },
    payload,
  });

/** Returns the next of a fixed sequence of numbers from 0 to 1. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** What may stand between two tokens of a document. */
const GAPS = [' ', '\n', ',', '\ufeff', ' , \t', '# note\n', '#"\n', '\r\n#{ a: b }\n', ',#\ufeff\n,'];

/** Returns a document with random gaps between its tokens, which are separated by spaces. */
function split(document: string, random: () => number): string {
  return document
    .split(' ')
    .map((each) => each + (GAPS[Math.floor(random() * GAPS.length)] ?? ' '))
    .join('');
}

/** Returns JSON with each character of its texts, or some of them, as an escape. */
function escapeJson(value: unknown, random: () => number): string {
  return JSON.stringify(value).replace(/[a-zA-Z]/g, (letter, at: number, all: string) => {
    const isInText = (all.slice(0, at).match(/(?<!\\)"/g) ?? []).length % 2 === 1;
    return isInText && all[at - 1] !== '\\' && random() < 0.3
      ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
      : letter;
  });
}

describe('the request log', () => {
  const readers = [
    'query { endpoint ( id : "ID" ) { ... on WebhookEndpoint { a : verificationToken } } }',
    'query { endpoint ( id : "ID" ) { id ... on WebhookEndpoint { verificationToken url h : headers { n : name v : value } } } }',
    '{ e : endpoint ( id : "ID" ) { ... F } } fragment F on WebhookEndpoint { name : verificationToken }',
    '{ e : endpoint ( id : "ID" ) { ... F } } fragment F on Endpoint { ... { ... G } } fragment G on WebhookEndpoint { id : verificationToken @include ( if : true ) }',
    'query A ( $id : ID ! = "ID" , $yes : Boolean = true ) { endpoint ( id : $id ) { ... @skip ( if : false ) { ... on WebhookEndpoint { status : verificationToken @include ( if : $yes ) } } } }',
    '{ node ( id : "ID" ) { __typename ... on WebhookEndpoint { createdAt : verificationToken } } }',
    '{ endpoints { edges { node { ... on Endpoint { ... on WebhookEndpoint { x : verificationToken url } } } } nodes : edges { node { id } } } }',
    'query A { viewer { id } } query B { endpoint ( id : "ID" ) { ... on WebhookEndpoint { id : verificationToken } } }',
  ];

  test('has no secret of a GraphQL response, however its document is written', async () => {
    const random = sequence(1);
    const shown = [];
    for (const reader of readers)
      for (let round = 0; round < 8; round++) {
        const query = split(reader.replaceAll('ID"', `${endpointId}"`), random);
        const operationName = reader.includes('query B') ? 'B' : undefined;
        const response = await post(escapeJson({ query, operationName }, random));
        shown.push(response.body.includes(token));
      }
    expect(shown).toEqual(shown.map(() => true));
    const log = await takeLog();
    expect(rowsWith(log, token, CANARY, 'zq8path5secret')).toEqual([]);
    expect(rowsWith(log, 'https://hooks.example.test/[redacted]').length).toBeGreaterThan(8);
  });

  const writers = [
    'mutation { renewThreadClaim ( input : { threadId : "t" , token : CANARY } ) { __typename } }',
    'mutation { r : renewThreadClaim ( input : { token : CANARY threadId : "t" } ) { ... on Error { message } } }',
    'mutation ( $t : String ! = CANARY ) { renewThreadClaim ( input : { threadId : "t" , token : $t } ) { __typename } }',
    'mutation ( $i : RenewThreadClaimInput ! = { threadId : "t" token : CANARY } ) { renewThreadClaim ( input : $i ) { __typename } }',
    'mutation { sendEmail ( input : { from : "a@b.test" to : [ "b@c.test" ] subject : "x" text : "y" claimToken : CANARY } ) { __typename } }',
    'mutation { createWebhookEndpoint ( input : { name : "x" url : "http://" headers : [ { name : "X-A" value : CANARY } ] } ) { __typename } }',
    // Mistakes: unknown fields, arguments and types, a value of the wrong kind, and a document that does not end.
    'mutation { renewThreadClaim ( input : { threadId : "t" , tokem : CANARY } ) { __typename } }',
    'mutation { renewThreadClaim ( token : CANARY ) { __typename } }',
    'mutation { renewThreadClaim ( input : CANARY ) { __typename } }',
    'mutation { renewThreadClame ( input : { token : CANARY } ) { __typename } }',
    'mutation { renewThreadClaim ( input : { threadId : "t" , token : [ [ CANARY ] { a : CANARY } ] } ) { __typename } }',
    '{ viewer { id @note ( text : CANARY ) } }',
    'query ( $t : Nothing = CANARY ) { viewer { id } }',
    'mutation { renewThreadClaim ( input : { threadId : "t" , token : CANARY ',
    '{ viewer { id } } CANARY',
    '{ viewer { id } } type A { b ( c : String = CANARY ) : Int }',
  ];
  const literals = [
    `"${CANARY}"`,
    `"""${CANARY}"""`,
    `"\\u007${'a'}${CANARY.slice(1)}"`,
    `"\\u{7a}${CANARY.slice(1)}"`,
    `"""\n\n  ${CANARY}\n"""`,
  ];

  test('has no secret of a GraphQL document, however its value is written', async () => {
    const random = sequence(2);
    for (const writer of writers)
      for (const literal of literals) {
        const query = split(writer.replaceAll('CANARY', literal), random);
        await post(escapeJson({ query }, random));
        await gateway.app.inject({
          url: `/graphql?query=${encodeURIComponent(query)}`,
          headers: { authorization: `Bearer ${box.apiKey}` },
        });
      }
    expect(rowsWith(await takeLog(), CANARY, CANARY.slice(1))).toEqual([]);
  });

  test('has no secret of GraphQL variables, also of those that the document does not declare', async () => {
    const random = sequence(3);
    const input = '$i : RenewThreadClaimInput !';
    const cases: [string, unknown][] = [
      ['$t : String !', { t: CANARY }],
      ['$t : String !', { t: { a: [CANARY] } }],
      ['$t : String !', [CANARY]],
      ['$t : String !', CANARY],
      ['$t : String !', { u: CANARY, t: 7 }],
      [input, { i: { threadId: 't', token: CANARY } }],
      [input, { i: { threadId: 't', token: { b: CANARY } } }],
      [input, { i: { threadId: 't', Token: CANARY, __proto__: CANARY } }],
      [input, { i: CANARY }],
      [input, { i: [{ token: CANARY }] }],
    ];
    for (const [declared, variables] of cases) {
      const given = declared === input ? '$i' : '{ threadId : "t" , token : $t }';
      const query = `mutation M ( ${declared} ) { renewThreadClaim ( input : ${given} ) { __typename ... on Error { message } } }`;
      for (const extra of [{}, { note: CANARY }, { operationName: CANARY }, { extensions: { token: CANARY } }])
        await post(escapeJson({ query: split(query, random), variables, ...extra }, random));
    }
    // Two declarations of one variable, in two operations.
    const query = `query A($t: String) { viewer { id } } mutation B($t: String!) { renewThreadClaim(input: { threadId: "t", token: $t }) { __typename } }`;
    await post(JSON.stringify({ query, operationName: 'A', variables: { t: CANARY } }));
    expect(rowsWith(await takeLog(), CANARY)).toEqual([]);
  });

  test('has no secret of a long body, wherever it is cut', async () => {
    for (const pad of [0, 1_900, 2_001, 7_900, 8_100, 8_180, 8_192, 9_000]) {
      const fill = Array.from({ length: Math.ceil(pad / 100) }, () => 'x'.repeat(97));
      const reader = `{ ${fill.map((line) => `#${line}\n`).join('')} endpoint(id: "${endpointId}") { ... on WebhookEndpoint { id: verificationToken } } }`;
      await post(JSON.stringify({ query: reader }));
      const query = 'mutation M($i: RenewThreadClaimInput!) { renewThreadClaim(input: $i) { __typename } }';
      const i = { threadId: 't', token: CANARY };
      await post(JSON.stringify({ note: fill, query, variables: { i } }));
      await post(JSON.stringify({ query, variables: { i, fill }, more: CANARY }));
      await gateway.call(box.apiKey, 'POST', '/emails', { tags: fill, claim_token: CANARY, from: CANARY.slice(0, 5) });
      await gateway.call(box.apiKey, 'POST', '/emails', {
        to: fill,
        subject: 'x'.repeat(pad),
        claim_token: CANARY.padEnd(20_000, CANARY),
      });
    }
    expect(rowsWith(await takeLog(), token, CANARY.slice(0, 10))).toEqual([]);
  });

  test('has no secret of a REST body, whatever the names of its fields are', async () => {
    const random = sequence(4);
    const bodies: [string, string, unknown][] = [
      ['POST', '/emails', { from: 'a@b.test', to: 'b@c.test', subject: 'x', text: 'y', claim_token: CANARY }],
      ['POST', '/emails', { claimTokn: CANARY, claim_token: { deep: [CANARY] } }],
      ['POST', '/emails/batch', { emails: [{ claim_token: CANARY }, { to: 'x', other: { a: CANARY } }] }],
      ['POST', '/mail/threads/t/claim/renew', { token: CANARY }],
      ['POST', '/mail/threads/t/claim/release', { token: [CANARY] }],
      ['PATCH', `/endpoints/${endpointId}`, { config: { headers: { 'X-Any': CANARY } } }],
      ['PATCH', `/endpoints/${endpointId}`, { config: { verificationToken: CANARY, other: CANARY } }],
      ['POST', `/endpoints/${endpointId}/test`, { overrideUrl: `https://u:p@127.0.0.1:1/${CANARY}?a=${CANARY}` }],
      ['POST', '/api-keys', { name: 'x', scopes: ['read'], secret: CANARY }],
      ['POST', '/api-keys', CANARY],
      ['POST', '/api-keys', [CANARY]],
      ['POST', '/api-keys', { name: { first: CANARY } }],
    ];
    for (const [method, path, body] of bodies)
      for (let round = 0; round < 3; round++)
        await gateway.app.inject({
          method: method as 'POST',
          url: `/api/${round === 2 ? 'v2' : 'e2'}${path}`,
          headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json' },
          payload: escapeJson(body, random),
        });
    await gateway.call(box.apiKey, 'GET', `/endpoints/${endpointId}`);
    await gateway.call(box.apiKey, 'GET', '/endpoints?limit=100');
    await gateway.call(box.apiKey, 'GET', `/emails?t%6fken=${CANARY}&api%5Fkey=${CANARY}`);
    await post(`{"claim_token":"${CANARY}"`, '/api/e2/emails');
    const log = await takeLog();
    expect(rowsWith(log, token, CANARY)).toEqual([]);
    expect(rowsWith(log, 'api%5Fkey=[redacted]').length).toBe(1);
  });

  test.for(ERAS)('has no secret of a call of MCP %s, nor of an invalid one', async (era) => {
    const client = await connectInjected(gateway, box.apiKey, era);
    const email = { from: box.address, to: ['x@elsewhere.test'], subject: 'Plain subject', text: 'Plain text' };
    await client.callTool({ name: 'send_email', arguments: { ...email, claim_token: CANARY, idempotency_key: era } });
    await client.callTool({ name: 'send_email', arguments: { ...email, claim_tokem: CANARY } });
    await client.callTool({ name: 'send_email', arguments: { ...email, claim_token: { a: CANARY } } });
    await client.callTool({ name: 'nothing', arguments: { a: CANARY } }).catch(() => undefined);
    await client.close();
    const log = await takeLog();
    expect(rowsWith(log, CANARY)).toEqual([]);
    expect(rowsWith(log, 'Plain subject').length).toBe(3);
  });

  test('has no secret of a request that is written in other unusual ways', async () => {
    const id = `"${endpointId}"`;
    const field = '... on WebhookEndpoint { verificationToken }';
    const documents = [
      `{ nodes(ids: [${id}]) { ...A @include(if: true) } } fragment A on Node { ... on WebhookEndpoint { id: verificationToken } }`,
      `query ($v: Boolean!) { endpoint(id: ${id}) { ... on WebhookEndpoint @include(if: $v) { name: verificationToken } } }`,
      `{ endpoint(id: ${id}) { ... on Endpoint { ... on Node { ... on WebhookEndpoint { x: verificationToken, x: verificationToken } } } } }`,
      `{ a: endpoint(id: ${id}) { ${field} } b: endpoint(id: ${id}) { ... on WebhookEndpoint { signingSecrets { validUntil: secret } } } }`,
      `query constructor { __proto__: endpoint(id: ${id}) { ... on WebhookEndpoint { constructor: verificationToken } } }`,
      `query A { endpoint(id: ${id}) { ${field} } }\n\n#\u2028${CANARY}\nquery A { viewer { id } }`,
      `subscription { renewThreadClaim(token: "${CANARY}") { id } }`,
      `{ viewer { id(token: "${CANARY}") ...X } } fragment X on Nothing { a(b: "${CANARY}") }`,
      `{ viewer { id @include(if: "${CANARY}") } }`,
      `{ viewer { id @skip(if: ${CANARY}) } }`,
      `mutation { renewThreadClaim(input: { token: ${CANARY} threadId: 7 }) { __typename } }`,
      `mutation { renewThreadClaim(input: [{ token: "${CANARY}" }]) { __typename } }`,
      `mutation { renewThreadClaim(input: { token: "${CANARY}\\n\\"x" threadId: "${'t'.repeat(50)}" }) { ... on Error { message } } }`,
    ];
    for (const query of documents) await post(JSON.stringify({ query, variables: { v: true } }));
    const query = 'query A($t: String) { viewer { id } }';
    const input = `{"query":${JSON.stringify(query)}`;
    await post(`${input},"variables":{"t":"a"},"variables":{"t":{"token":"${CANARY}"}}}`);
    await post(`${input},"query":"{ viewer { id(a: \\"${CANARY}\\") } }"}`);
    await post(`\ufeff{"query":"{ viewer { id(a: \\"${CANARY}\\") } }"}`);
    await post(`[${input},"variables":{"t":"${CANARY}"}}]`);
    await post(
      `${input},"extensions":{"persistedQuery":{"version":1,"sha256Hash":"${CANARY}"},"secret":["${CANARY}"]}}`,
    );
    await post(
      `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"${'0'.repeat(64)}"}},"variables":{"t":"${CANARY}"}}`,
    );
    await post(`${input}}`, `/graphql?query=${encodeURIComponent(`{ a(b: "${CANARY}") }`)}&token=${CANARY}`);
    await post(`"${CANARY}"`);
    await post('null');
    await post(`{"jsonrpc":"2.0","id":1,"method":"${CANARY}","params":{"token":"${CANARY}"}}`, '/mcp');
    await post(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${CANARY}"}}]`, '/mcp');
    await post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["${CANARY}"]}`, '/mcp');
    await post(`\ufeff{"claim_token":"${CANARY}"}`, '/api/e2/emails');
    await post(`{"claim_token":"x","claim_token":"${CANARY}"}`, '/api/e2/emails');
    await post(
      `{"attachments":{"claim_token":"${CANARY}"},"headers":["${CANARY}"],"tags":"${CANARY}"}`,
      '/api/e2/emails',
    );
    const log = await takeLog();
    expect(rowsWith(log, token, CANARY, 'whsec_')).toEqual([]);
  });

  test('has no API key that a request repeats in its path, query, headers or body', async () => {
    const { apiKey } = box;
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'user-agent': `Shop ${apiKey}`,
      'idempotency-key': apiKey,
      origin: `https://${apiKey}.test`,
      traceparent: apiKey,
    };
    const payload = JSON.stringify({ name: `of ${apiKey}`, query: `{ viewer { id } } # ${apiKey}` });
    for (const url of [`/api/e2/api-keys/${apiKey}`, `/api/e2/nothing/${apiKey}?a=${apiKey}`])
      await gateway.app.inject({ method: 'GET', url, headers });
    for (const url of ['/api/e2/domains', '/api/e2/api-keys', '/api/e2/emails', '/graphql', '/mcp'])
      await gateway.app.inject({ method: 'POST', url, headers, payload });
    const log = await takeLog();
    expect(log.length).toBeGreaterThan(5);
    expect(rowsWith(log, apiKey)).toEqual([]);
  });

  test.for(['sig', 'code', 'pass', 'auth', 'jwt', 'k', 'from_token', 'X-Amz-Signature', 'search%00'])(
    'has no value of the query parameter %s, which no route has',
    async (name) => {
      for (const path of ['/emails', '/endpoints', '/nothing'])
        await gateway.call(box.apiKey, 'GET', `${path}?limit=1&${name}=${CANARY}`);
      const log = await takeLog();
      expect(rowsWith(log, CANARY)).toEqual([]);
      expect(rowsWith(log, 'emails?limit=1').length).toBe(1);
    },
  );

  test.for<[string, string, (deep: string) => string]>([
    ['REST', '/api/e2/emails', (deep) => `{"metadata":${deep}}`],
    ['GraphQL', '/graphql', (deep) => `{"query":"query($a: JSON) { viewer { id } }","variables":{"a":${deep}}}`],
    ['extensions of GraphQL', '/graphql', (deep) => `{"query":"{ viewer { id } }","extensions":${deep}}`],
    ['MCP', '/mcp', (deep) => `{"jsonrpc":"2.0","id":1,"method":"x","params":${deep}}`],
  ])('keeps all requests when the body of one is nested deeply: %s', async ([, url, body]) => {
    const other = await gateway.mailbox();
    await gateway.call(other.apiKey, 'GET', '/domains');
    await post(body(`${'['.repeat(3_500)}${']'.repeat(3_500)}`), url);
    await post(body(`${'{"a":'.repeat(1_200)}1${'}'.repeat(1_200)}`), url);
    const log = await takeLog();
    expect([rowsWith(log, '/domains').length, rowsWith(log, url).length]).toEqual([1, 2]);
  });

  test('names the operation of a document, and keeps values that are no secret', async () => {
    const own = await gateway.mailbox();
    const query =
      'query Look($id: ID!, $n: Int = 3) { endpoint(id: $id) { name isActive } emails(first: $n, search: "from:ada") { edges { node { subject } } } }';
    const variables = { id: endpointId };
    const response = await gateway.graphql(own.apiKey, query, variables);
    await gateway.graphql(own.apiKey, '# first\n mutation { updateEmails(input: { ids: [] }) { __typename } }');
    const { data } = (await gateway.call(own.apiKey, 'GET', '/requests')).json();
    const [second, first] = data;
    expect([first.operation, second.operation]).toEqual(['Look', 'mutation updateEmails']);
    const body = JSON.parse(first.request_body);
    expect([body.variables, body.query.includes('search: "from:ada"')]).toEqual([variables, true]);
    expect(JSON.parse(first.response_body)).toEqual(response.json());
  });
});

describe('a request that needs a right which its reader lacks', () => {
  const SECRET_GUEST = 'guest-of-the-owner@elsewhere.test';
  const audited = '{ auditEntries(first: 5) { nodes { action } } invitations { email } }';

  test('is listed without its bodies, over all interfaces, and no search finds them', async () => {
    const makeKey = async (scopes: readonly string[]) =>
      (await gateway.call(box.apiKey, 'POST', '/api-keys', { name: 'reader', scopes })).json().token as string;
    const [reader, manager] = [await makeKey(['read']), await makeKey(['read', 'manage'])];
    await takeLog();
    await gateway.call(box.apiKey, 'POST', '/invitations', { email: SECRET_GUEST, role: 'viewer' });
    await gateway.call(box.apiKey, 'GET', '/invitations');
    await post(JSON.stringify({ query: audited }));
    const mcp = await connectInjected(gateway, box.apiKey, ERAS[0]);
    const { threadId } = await insertThread(gateway.owner, {
      workspaceId: box.workspaceId,
      count: 1,
      lastMessageAt: new Date(),
      ownAddress: box.address,
    });
    await mcp.callTool({ name: 'add_thread_note', arguments: { thread_id: threadId, text: SECRET_GUEST } });
    await mcp.close();
    await gateway.call(box.apiKey, 'GET', '/account');
    for (const [key, sees] of [
      [reader, false],
      [manager, true],
    ] as const) {
      const { data } = (await gateway.call(key, 'GET', '/requests?limit=50')).json();
      const bodies = data.filter(({ path }: { path: string }) => !path.includes('/requests'));
      expect(bodies.length).toBeGreaterThan(4);
      expect(JSON.stringify(bodies).includes(SECRET_GUEST)).toBe(sees);
      const invited = bodies.find(
        ({ path, method }: { path: string; method: string }) => method === 'POST' && path === '/api/e2/invitations',
      );
      expect(invited.status).toBe(200);
      const single = (await gateway.call(key, 'GET', `/requests/${invited.id}`)).json();
      expect(JSON.stringify(single).includes(SECRET_GUEST)).toBe(sees);
      if (!sees)
        expect(single.request_body).toBe('[not logged: the body is shown to those who may make such a request]');
      const query = `{ apiRequest(id: "${invited.id}") { requestBody responseBody curl } }`;
      const graph = await gateway.app.inject({
        method: 'POST',
        url: '/graphql',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        payload: JSON.stringify({ query }),
      });
      expect(graph.json().data.apiRequest).not.toBeNull();
      expect(graph.body.includes(SECRET_GUEST)).toBe(sees);
      const sought = (await gateway.call(key, 'GET', '/requests?search=guest-of-the')).json();
      const others = sought.data.filter(({ path }: { path: string }) => !path.includes('/requests'));
      expect(others.length > 0).toBe(sees);
      // What needs no such right is shown.
      const account = bodies.find(({ path }: { path: string }) => path === '/api/e2/account');
      expect(account.response_body).toContain(box.workspaceId);
    }
  });
});
