import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';

let gateway: TestGateway;
let box: TestMailbox;
let browser: ReturnType<typeof openBrowser>;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  browser = openBrowser(gateway.app);
  const person = { name: 'Ann', email: 'ann@people.test', password: 'correct horse' };
  expect((await browser.auth('POST', '/sign-up/email', person)).statusCode).toBe(200);
});
afterAll(() => gateway.close());

const ask = async (query: string, variables?: Record<string, unknown>) => {
  const response = await gateway.graphql(box.apiKey, query, variables);
  return { status: response.statusCode, ...response.json() };
};

describe('extensions.cost is the cost of the operation and its limit', () => {
  const EXPENSIVE = '{ threads(first: 100) { nodes { messages(first: 100) { nodes { id } } } } }';
  test.each<[name: string, query: string, requested: number]>([
    ['of one field', '{ viewer { id } }', 2],
    ['of a page of rows', '{ emails(first: 30) { nodes { id } } }', 1 + 30 * 2],
    ['of a page of the default size', '{ domains { nodes { id } } }', 1 + 20 * 2],
    ['of introspection', '{ __schema { queryType { name } } }', 1],
    ['of introspection from the cache', '{ __schema { queryType { name } } }', 1],
    ['of an operation whose resolver fails', '{ emails(search: "older_than:7d") { nodes { id } } }', 1 + 20 * 2],
    ['of an operation that is rejected because of it', EXPENSIVE, 1 + 100 * (1 + 1 + 100 * 2)],
    ['of a mutation', 'mutation { updateEmail(input: { id: "em_1", isRead: true }) { __typename } }', 2],
  ])('%s', async (_name, query, requested) => {
    expect((await ask(query)).extensions).toEqual({ cost: { requested, limit: 5_000 } });
  });

  test('is returned for an operation that is too deep, and missing where no operation is executed', async () => {
    const deep = `{ emails { nodes { thread ${'{ latestMessage { thread '.repeat(5)} { id } ${'} }'.repeat(5)} } } }`;
    const { errors, extensions } = await ask(deep);
    expect([errors[0].message, extensions.cost.limit]).toEqual([expect.stringContaining('levels deep'), 5_000]);
    for (const query of ['{ viewer { emial } }', '{', 'query a { viewer { id } } query b { viewer { id } }'])
      expect((await ask(query)).extensions).toBeUndefined();
  });
});

describe('a mistyped name gets a suggestion', () => {
  const cases: [what: string, query: string, suggestion: string, variables?: Record<string, unknown>][] = [
    ['a field', '{ viewer { emial } }', 'Did you mean "email"'],
    ['a root field', '{ emials { nodes { id } } }', 'Did you mean "emails"'],
    ['an argument', '{ emails(frist: 3) { nodes { id } } }', 'Did you mean "first" or "last"?'],
    ['a type', '{ node(id: "em_1") { ... on Emial { id } } }', 'Did you mean "Email"'],
    ['an enum value', '{ endpoints(orderBy: NEWSET) { nodes { id } } }', 'Did you mean the enum value "NEWEST"?'],
    ['a field of an input', '{ endpoints(filter: { isActiv: true }) { nodes { id } } }', 'Did you mean "isActive"?'],
    [
      'an enum value in a variable',
      'query($order: EndpointOrder) { endpoints(orderBy: $order) { nodes { id } } }',
      'Did you mean the enum value "OLDEST"?',
      { order: 'OLDESR' },
    ],
    [
      'a field of an input in a variable',
      'query($filter: EndpointFilter) { endpoints(filter: $filter) { nodes { id } } }',
      'Did you mean "search"?',
      { filter: { serach: 'x' } },
    ],
  ];

  test.each(cases)('%s', async (_what, query, suggestion, variables) => {
    for (let round = 0; round < 2; round++) {
      const byKey = await ask(query, variables);
      expect([byKey.status, byKey.errors[0].message]).toEqual([400, expect.stringContaining(suggestion)]);
      expect((await browser.graphql(query, {}, variables)).json().errors[0].message).toContain(suggestion);
      const anonymous = await gateway.call(null, 'POST', '/graphql', { query, variables });
      expect([anonymous.statusCode, anonymous.body.includes('Did you mean')]).toEqual([401, false]);
    }
  });

  test('is found among thousands of names, in little time', async () => {
    const names = Array.from({ length: 1_900 }, (_, n) => `emailAdress${n}`).join(' ');
    const { status, errors } = await ask(`{ ${names} }`);
    expect([status, errors.length <= 21]).toEqual([400, true]);
    const long = await ask(`{ ${'e'.repeat(90_000)} }`);
    expect([long.status, long.errors[0].message.includes('Did you mean')]).toEqual([400, false]);
  });
});
