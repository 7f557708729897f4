import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findJsonExcess, MAX_JSON_DEPTH, MAX_JSON_FIELDS, MAX_JSON_VALUES } from '../../../core/shared/json-limits.ts';
import { finishSteps } from '../../../core/shared/steps.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openScimStage, type ScimStage } from '../../support/stages/scim-stage.ts';

let gateway: TestGateway;
let box: TestMailbox;
let scim: ScimStage;
beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  scim = await openScimStage(gateway, box.workspaceId);
});
afterAll(() => gateway.close());

const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const post = (url: string, payload: string) =>
  gateway.app.inject({
    method: 'POST',
    url,
    headers: {
      authorization: `Bearer ${box.apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    payload,
  });
/** An object of fields whose names have escaped quotes, which took MCP 2.2 s of processor time. */
const WIDE = `{${Array.from({ length: 149_000 }, (_, at) => `"\\"${at}":1`).join(',')}}`;
/**
 * Returns the result of the work and the processor time that it took, as a multiple of the time that parsing `WIDE` takes: both take longer on a
 * slow or busy machine.
 */
async function measure<T>(work: () => Promise<T>): Promise<{ result: T; parses: number }> {
  const since = process.threadCpuUsage();
  const result = await work();
  const ofWork = process.threadCpuUsage(since);
  const between = process.threadCpuUsage();
  JSON.parse(WIDE);
  const ofParse = process.threadCpuUsage(between);
  const parses = (ofWork.user + ofWork.system) / (ofParse.user + ofParse.system);
  return { result, parses };
}

const LIMIT = `nests at most ${MAX_JSON_DEPTH} objects and lists`;

test.each([
  [
    'the configuration of an endpoint',
    '/api/e2/endpoints',
    `{"name":"x","type":"webhook","config":${objects(30_000)}}`,
  ],
  ['recipients', '/api/e2/emails', `{"from":"x","to":${lists(50_000)},"subject":"x","text":"x"}`],
  ['variables of GraphQL', '/graphql', `{"query":"{ viewer { id } }","variables":{"input":${lists(50_000)}}}`],
  [
    'arguments of an MCP tool',
    '/mcp',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who_am_i","arguments":${objects(30_000)}}}`,
  ],
])('%s that nest 30,000 objects or lists get 400, which says how many are allowed', async (_, url, body) => {
  const response = await post(url, body);
  expect([response.statusCode, response.body.slice(0, 300)]).toEqual([400, expect.stringContaining(LIMIT)]);
});

test.each([
  ['lists', `{ a(x: ${'['.repeat(1_900)} }`],
  ['objects', `{ a(x: ${'{b:'.repeat(600)}1${'}'.repeat(600)}) }`],
  ['selections', `${'{ a '.repeat(900)}${'}'.repeat(900)}`],
])(
  'a query of GraphQL that nests hundreds of %s gets 400, which says how many brackets are allowed',
  async (_, query) => {
    const response = await post('/graphql', JSON.stringify({ query }));
    expect(response.statusCode).toBe(400);
    expect(response.json().errors[0].message).toBe('A query nests at most 100 brackets.');
  },
);

test('brackets in strings and comments of a query do not count, and strings that do not end take linear time', async () => {
  const many = '[{('.repeat(500);
  const query = `# ${many}\n{ viewer { id } first: __type(name: "${many}\\"") { name } second: __type(name: """${many}""") { name } }`;
  expect((await post('/graphql', JSON.stringify({ query }))).json().errors).toBeUndefined();
  for (const endless of ['\\"'.repeat(40_000), `"""${'a"" '.repeat(20_000)}`]) {
    const { parses } = await measure(() => post('/graphql', JSON.stringify({ query: `{ a(x: "${endless}` })));
    expect(parses).toBeLessThan(3);
  }
});

/** Bodies of 39 MB that are nothing but empty lists, for each interface. */
const MANY_LISTS = `[${'[],'.repeat(13_000_000)}[]]`;

test.each([
  ['REST', '/api/e2/emails', `{"x":${MANY_LISTS}}`],
  ['GraphQL', '/graphql', `{"query":"{ viewer { id } }","variables":{"x":${MANY_LISTS}}}`],
  [
    'MCP',
    '/mcp',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who_am_i","arguments":{"x":${MANY_LISTS}}}}`,
  ],
])('a body of 39 MB with 13 million lists gets 400 over %s before it is parsed', async (_, url, body) => {
  const memory = process.memoryUsage().rss;
  const { result: response, parses } = await measure(() => post(url, body));
  expect([response.statusCode, response.body.slice(0, 300)]).toEqual([
    400,
    expect.stringContaining('has at most 150,000 values'),
  ]);
  // Most of it is the test client. To parse and to walk through such a body takes 7 to 12 s.
  expect(parses).toBeLessThan(10);
  expect((process.memoryUsage().rss - memory) / 1e6).toBeLessThan(400);
});

describe('SCIM', () => {
  const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
  const patch = (operations: readonly string[]) => `{"schemas":["${PATCH}"],"Operations":[${operations.join(',')}]}`;
  const MANY_NUMBERS = `[${'1,'.repeat(450_000)}1]`;

  test.each([
    ['nests 30,000 objects', `{"userName":"x","x":${objects(30_000)}}`, 400, LIMIT],
    ['nests 500,000 lists', `{"userName":"x","x":${lists(500_000)}}`, 400, LIMIT],
    ['has 300,000 values', `{"userName":"x","x":[${'[],'.repeat(300_000)}[]]}`, 400, 'has at most 150,000 values'],
    ['has 1,048,577 bytes', `{"userName":"${'x'.repeat(1_048_577 - 15)}"}`, 413, 'too large'],
    ['has a list of 450,000 numbers', `{"userName":"x","emails":${MANY_NUMBERS}}`, 400, 'at most'],
  ])('refuses a user whose JSON %s in its own form', async (_, body, status, detail) => {
    const response = await scim.call('POST', '/Users', body);
    expect(response.headers['content-type']).toContain('application/scim+json');
    expect([response.statusCode, response.json()]).toEqual([
      status,
      expect.objectContaining({ status: String(status), detail: expect.stringContaining(detail) }),
    ]);
  });

  const conditions = (count: number) =>
    Array.from({ length: count }, (_, at) => String.raw`value eq \"${at}\"`).join(' or ');
  const members = (count: number) => JSON.stringify(Array.from({ length: count }, (_, at) => ({ value: `v${at}` })));
  test.each([
    [
      'adds to a list of 450,000 numbers 499 times',
      [
        `{"op":"add","path":"members","value":${MANY_NUMBERS}}`,
        ...Array.from({ length: 499 }, (_, at) => `{"op":"add","path":"members","value":${at}}`),
      ],
    ],
    [
      'looks for 30 values among 2,000 members 499 times',
      [
        `{"op":"add","path":"members","value":${members(2_000)}}`,
        ...Array.from({ length: 499 }, () => `{"op":"remove","path":"members[${conditions(30)}]"}`),
      ],
    ],
    [
      'adds 499 members, each once, to 1,500',
      [
        `{"op":"add","path":"members","value":${members(1_500)}}`,
        ...Array.from({ length: 499 }, (_, at) => `{"op":"add","path":"members","value":{"value":"w${at}"}}`),
      ],
    ],
  ])('does not work long on a PATCH that %s', async (_, operations) => {
    const id = await scim.create('Groups', { displayName: `group ${operations[1]?.length}` });
    const body = patch(operations);
    const { result: response, parses } = await measure(() => scim.call('PATCH', `/Groups/${id}`, body));
    expect(response.statusCode, response.body.slice(0, 300)).toBeGreaterThanOrEqual(400);
    expect(response.statusCode).toBeLessThan(500);
    expect(parses).toBeLessThan(10);
  });
});

test.each([
  ['nests 10,000 lists', `{"email":"a@b.test","password":${lists(10_000)}}`, 400, LIMIT],
  ['has 3,000 unknown fields', `{${Array.from({ length: 3_000 }, (_, at) => `"a${at}":1`).join(',')}}`, 400, 'email'],
  ['has 32,769 bytes', `{"email":"a@b.test","password":"${'x'.repeat(32_769 - 34)}"}`, 413, 'too large'],
])('a sign-in whose JSON %s is refused', async (_, body, status, message) => {
  const response = await gateway.app.inject({
    method: 'POST',
    url: '/api/auth/sign-in/email',
    headers: { 'content-type': 'application/json' },
    payload: body,
  });
  expect([response.statusCode, response.body]).toEqual([status, expect.stringContaining(message)]);
});

test.each([
  ['REST', '/api/e2/emails', WIDE],
  ['REST in a field', '/api/e2/emails', `{"metadata":${WIDE}}`],
  ['GraphQL', '/graphql', `{"query":"{ viewer { id } }","variables":${WIDE}}`],
  ['MCP', '/mcp', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who_am_i","arguments":${WIDE}}}`],
])('an object of 149,000 fields gets 400 over %s before it is parsed', async (_, url, body) => {
  const { result: response, parses } = await measure(() => post(url, body));
  expect([response.statusCode, response.body.slice(0, 300)]).toEqual([
    400,
    expect.stringContaining('has at most 5,000 fields in one object'),
  ]);
  expect(parses).toBeLessThan(1);
});

test('a GraphQL request of 26 MB is limited by its variables, not by the size that GraphQL Yoga allows', async () => {
  const body = { query: '{ viewer { id } }', variables: { x: 'a'.repeat(26_000_000) } };
  expect((await post('/graphql', JSON.stringify(body))).body).toContain('can have variables of more than');
});

test.each([
  ['a hundred lists within each other', lists(MAX_JSON_DEPTH), null],
  ['101 lists within each other', lists(MAX_JSON_DEPTH + 1), 'depth'],
  ['a hundred objects within each other', objects(MAX_JSON_DEPTH), null],
  ['101 objects within each other', objects(MAX_JSON_DEPTH + 1), 'depth'],
  ['brackets and commas in a text', JSON.stringify({ html: '[{,'.repeat(1_000_000) }), null],
  ['brackets after escaped quotes', JSON.stringify({ html: '"[{\\'.repeat(300_000) }), null],
  ['lists beside each other', JSON.stringify(Array.from({ length: 1_000 }, () => [{}])), null],
  ['150,000 values', `[${'"",'.repeat(MAX_JSON_VALUES - 1)}1]`, null],
  ['150,001 values', `[${'"",'.repeat(MAX_JSON_VALUES)}""]`, 'values'],
  ['a million numbers', `[${'1,'.repeat(1_000_000)}1]`, null],
  ['a million numbers behind spaces', `[${'-1, '.repeat(1_000_000)}1]`, null],
  ['150,001 objects', `[${'{},'.repeat(MAX_JSON_VALUES / 2)}{}]`, 'values'],
  ['5,000 fields', `{${Array.from({ length: MAX_JSON_FIELDS }, (_, at) => `"\\"${at}":1`).join(',')}}`, null],
  ['5,001 fields', `{${Array.from({ length: MAX_JSON_FIELDS + 1 }, (_, at) => `"\\"${at}":1`).join(',')}}`, 'fields'],
  [
    '5,001 fields behind objects and lists',
    `{"a":[{},[1,2]],${'"b":{"c":1,"d":[]},'.repeat(MAX_JSON_FIELDS)}}`,
    'fields',
  ],
  ['two objects of 3,000 fields', `[${`{${'"a":1,'.repeat(3_000)}"b":1},`.repeat(2)}1]`, null],
  // An escape begins as the last character of a step.
  ['an escape across two steps', `["${'a'.repeat(262_141)}\\"[[["]`, null],
  ['lists after an escape across two steps', `["${'a'.repeat(262_141)}\\"",${lists(MAX_JSON_DEPTH)}]`, 'depth'],
])('the scan of %s finds the excess or none', (_, text, expected) => {
  expect(finishSteps(findJsonExcess(text))).toBe(expected);
});
