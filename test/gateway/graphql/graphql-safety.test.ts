import { buildClientSchema, getIntrospectionQuery, lexicographicSortSchema, printSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../../schema/graphql/schema.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const ask = async (query: string, variables?: Record<string, unknown>) => {
  const response = await gateway.graphql(box.apiKey, query, variables);
  return { status: response.statusCode, ...response.json() };
};

describe('hostile queries are rejected without a statement', () => {
  const nested = (depth: number) =>
    `{ emails { edges { node { thread ${'{ latestMessage { thread '.repeat(depth)} { id } ${'} }'.repeat(depth)} } } } }`;
  const cases: [string, string, Record<string, unknown>?][] = [
    ['deeper than 10', nested(5)],
    ['very deep', nested(200)],
    ['with 31 aliases', `{ ${Array.from({ length: 31 }, (_, n) => `a${n}: viewer { id }`).join(' ')} }`],
    ['with 10,000 aliases', `{ ${Array.from({ length: 10_000 }, (_, n) => `a${n}: viewer { id }`).join(' ')} }`],
    ['with 80,000 tokens', `{ viewer { ${'id '.repeat(80_000)} } }`],
    ['with a cycle of fragments', '{ viewer { ...a } } fragment a on Viewer { ...b } fragment b on Viewer { ...a }'],
    ['with first: 1e9', '{ emails(first: 1000000000) { edges { node { id subject } } } }'],
    [
      'with first: 1e9 in a variable',
      'query($n: Int) { emails(first: $n) { edges { node { id subject } } } }',
      { n: 1_000_000_000 },
    ],
    ['that multiply', '{ threads(first: 100) { edges { node { messages(first: 100) { edges { node { id } } } } } } }'],
    [
      'with fragments that multiply',
      `{ ...a ...a } fragment a on Query { b1: threads(first: 100) { ...c } b2: threads(first: 100) { ...c } } fragment c on ThreadConnection { edges { node { messages(first: 60) { edges { node { id } } } } } }`,
    ],
    ['with thousands of ids', 'query($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: Array(6_000).fill('em_x') }],
    [
      'with three introspection fields',
      '{ a: __schema { types { name } } b: __schema { types { name } } c: __type(name: "Email") { name } }',
    ],
    [
      'with circular introspection',
      `{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }`,
    ],
    ['that name a field 390 times', `{ ${'viewer { id } '.repeat(390)} }`],
    [
      'that name a field 300 times in a fragment',
      `{ ${'...a '.repeat(250)} } fragment a on Query { ${'viewer { id } '.repeat(300)} }`,
    ],
    ['that name fields 30 times within 30 of a name', `{ ${`viewer { ${'id '.repeat(30)} } `.repeat(30)} }`],
    ['with a cycle of fragments alone', '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }'],
    ['of 200,000 characters', `{ viewer { id } } #${'x'.repeat(200_000)}`],
    ['that are no GraphQL', 'query {'],
    ['for unknown fields', '{ viewer { emial } }'],
  ];
  test.each(cases)('%s', async (_name, query, variables) => {
    await gateway.graphql(box.apiKey, '{ viewer { id } }');
    const { response, statements } = await countStatements(() => ask(query, variables));
    expect(statements, 'it costs the database nothing').toBe(0);
    expect(response.status, JSON.stringify(response)).toBe(400);
    expect(response.data ?? null).toBeNull();
  });

  test('with the cost of the requested operation, even if it is the second of the document', async () => {
    const dear = '{ threads(first: 100) { edges { node { messages(first: 100) { edges { node { id } } } } } } }';
    const query = `query Cheap { viewer { id } } query Dear ${dear}`;
    const send = (operationName: string) =>
      gateway.call(box.apiKey, 'POST', '/graphql', { query, operationName }).then((response) => response.json());
    expect((await send('Dear')).errors[0].message).toContain('The query costs');
    expect(await send('Cheap')).toEqual({
      data: { viewer: { id: box.workspaceId } },
      extensions: { cost: { requested: 2, limit: 5_000 } },
    });
    expect((await send('None')).errors[0].message).toContain('what operation to execute');
  });

  test('a cached introspection result is returned only to the operation that requested it', async () => {
    const query = 'query A { __type(name: "Email") { name } } query B { __type(name: "Thread") { name } }';
    const send = (operationName: string) =>
      gateway.call(box.apiKey, 'POST', '/graphql', { query, operationName }).then((response) => response.json());
    expect(await send('A')).toMatchObject({ data: { __type: { name: 'Email' } } });
    expect(await send('B')).toMatchObject({ data: { __type: { name: 'Thread' } } });
  });

  test('more than 2,000 tokens are not parsed', async () => {
    const response = await ask(`{ viewer { ${'id '.repeat(2_000)} } }`);
    expect([response.status, response.errors[0].message]).toEqual([400, expect.stringContaining('2000 tokens')]);
  });

  test('a page of 100 emails with their fields is within the limits', async () => {
    const response = await ask(
      '{ emails(first: 100) { totalCount edges { cursor node { id subject preview from { name address } to { address } isRead thread { id } content { text } } } } }',
    );
    expect(response.errors).toBeUndefined();
  });

  test('batches, other content types and mutations by GET are refused', async () => {
    const send = (payload: string, type: string) =>
      gateway.app.inject({
        method: 'POST',
        url: '/graphql',
        headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': type },
        payload,
      });
    const one = { query: '{ viewer { id } }' };
    expect((await send(JSON.stringify([one, one]), 'application/json')).statusCode).toBe(400);
    expect((await send(JSON.stringify(one), 'text/plain')).statusCode).toBe(415);
    expect((await send(one.query, 'application/graphql')).statusCode).toBe(415);
    expect((await send('query=%7Bviewer%7Bid%7D%7D', 'application/x-www-form-urlencoded')).statusCode).toBe(415);
    expect((await send('{', 'application/json')).statusCode).toBe(400);
    const mutation = encodeURIComponent('mutation { updateEmail(input: {id: "x", isRead: true}) { __typename } }');
    const byGet = await gateway.app.inject({
      url: `/graphql?query=${mutation}`,
      headers: { authorization: `Bearer ${box.apiKey}` },
    });
    expect(byGet.statusCode).toBe(405);
    const query = await gateway.app.inject({
      url: `/graphql?query=${encodeURIComponent(one.query)}`,
      headers: { authorization: `Bearer ${box.apiKey}` },
    });
    expect(query.json()).toMatchObject({ data: { viewer: { id: box.workspaceId } } });
  });

  test('variables named like prototypes change nothing', async () => {
    const response = await gateway.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json' },
      payload: '{"query":"{ viewer { id } }","variables":{"__proto__":{"polluted":1}}}',
    });
    expect(response.statusCode).toBe(200);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

test('a client with a key can read the whole schema, others cannot', async () => {
  const query = getIntrospectionQuery({ specifiedByUrl: true, oneOf: true });
  const first = await ask(query);
  const second = await ask(query);
  expect(second).toEqual(first);
  const told = lexicographicSortSchema(buildClientSchema(first.data));
  expect(printSchema(told)).toBe(printSchema(lexicographicSortSchema(schema)));
  const stranger = await gateway.call(null, 'POST', '/graphql', { query });
  expect([stranger.statusCode, Object.keys(stranger.json())]).toEqual([401, ['errors']]);
});
