import { getNamedType, isInterfaceType, isObjectType } from 'graphql';
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

/** How a field of each type that has connections is reached; the objects need not exist. */
const PARENTS: Readonly<Record<string, (selection: string) => string>> = {
  Query: (selection) => `{ ${selection} }`,
  Domain: (selection) => `{ domain(id: "dom_1") { ${selection} } }`,
  Email: (selection) => `{ email(id: "em_1") { ${selection} } }`,
  Endpoint: (selection) => `{ endpoint(id: "ep_1") { ${selection} } }`,
  ForwardingEndpoint: (selection) => `{ endpoint(id: "ep_1") { ... on ForwardingEndpoint { ${selection} } } }`,
  WebhookEndpoint: (selection) => `{ endpoint(id: "ep_1") { ... on WebhookEndpoint { ${selection} } } }`,
  EmailEndpoint: (selection) => `{ endpoint(id: "ep_1") { ... on EmailEndpoint { ${selection} } } }`,
  EmailGroupEndpoint: (selection) => `{ endpoint(id: "ep_1") { ... on EmailGroupEndpoint { ${selection} } } }`,
  Thread: (selection) => `{ thread(id: "th_1") { ${selection} } }`,
};
/** Arguments that a connection requires. */
const REQUIRED: Readonly<Record<string, string>> = { 'Query.waitingEmails': 'for: SCHEDULED' };

/** Returns a query of the connection with these arguments. */
type QueryText = (args: string, selection?: string) => string;

const connectionFields = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type) || isInterfaceType(type))
  .flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => getNamedType(field.type).name.endsWith('Connection'))
      .map(({ name }): [name: string, query: QueryText] => {
        const place = `${type.name}.${name}`;
        const query: QueryText = (args, selection = '{ nodes { __typename } }') => {
          const given = [REQUIRED[place], args].filter((each) => each !== undefined && each !== '').join(', ');
          const text = `${name}${given === '' ? '' : `(${given})`} ${selection}`;
          return PARENTS[type.name]?.(text) ?? `no way to reach ${type.name}`;
        };
        return [place, query];
      }),
  );

const ask = async (query: string, variables?: Record<string, unknown>) => {
  const response = await gateway.graphql(box.apiKey, query, variables);
  return { status: response.statusCode, ...response.json() };
};

test('the schema has many connections', () => expect(connectionFields.length).toBeGreaterThan(25));

describe('a connection rejects page sizes outside of 1 to 100 before any statement', () => {
  const sizes = ['first', 'last'].flatMap((argument) =>
    [0, -1, 101, 2_147_483_647].map((size) => [argument, size] as const),
  );

  test.each(connectionFields)('%s', async (_name, query) => {
    await ask('{ __typename }');
    for (const [argument, size] of sizes) {
      const { response, statements } = await countStatements(() => ask(query(`${argument}: ${size}`)));
      const message = `\`${argument}\` is ${size}. Use a number from 1 to 100.`;
      expect(response).toEqual({
        status: 400,
        errors: [
          {
            message,
            extensions: {
              code: 'validation_error',
              statusCode: 400,
              details: [{ field: argument, message }],
              requestId: expect.any(String),
            },
          },
        ],
      });
      expect(statements).toBe(0);
    }
  });

  test.each(connectionFields)('%s, and first with last', async (_name, query) => {
    const { status, errors } = await ask(query('first: 2, last: 2'));
    expect([status, errors[0].message]).toEqual([
      400,
      '`first` and `last` cannot be combined. Use `first` to page forward or `last` to page backward.',
    ]);
  });

  test('in a variable, in a fragment, and below @skip', async () => {
    const fragment = 'fragment page on Query { domains(last: $n) { nodes { id } } }';
    const { status, errors } = await ask(`query($n: Int) { ...page @skip(if: true) } ${fragment}`, { n: 0 });
    expect([status, errors[0].message]).toEqual([400, '`last` is 0. Use a number from 1 to 100.']);
    const withNull = await ask(`query($n: Int) { ...page } ${fragment}`, { n: null });
    expect(withNull.data.domains.nodes).toEqual([{ id: box.domainId }]);
  });

  test('of records of DMARC reports, outside of 1 to 1,000', async () => {
    for (const first of [0, -1, 1_001]) {
      const { status, errors } = await ask(`{ dmarcReport(id: "dmr_1") { records(first: ${first}) { count } } }`);
      expect([status, errors[0].message]).toEqual([400, `\`first\` is ${first}. Use a number from 1 to 1000.`]);
    }
  });

  test('accepts 1 and 100', async () => {
    for (const args of ['first: 1', 'first: 100', 'last: 1', 'last: 100', 'first: 1, last: null'])
      expect((await ask(`{ domains(${args}) { nodes { id } } }`)).data.domains.nodes).toEqual([{ id: box.domainId }]);
  });
});

test('every connection has nodes, which are the nodes of its edges', async () => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!type.name.endsWith('Connection') || !isObjectType(type)) continue;
    const { nodes, edges } = type.getFields();
    const edge = edges === undefined ? undefined : getNamedType(edges.type);
    const node = isObjectType(edge) ? edge.getFields()['node'] : undefined;
    expect([type.name, String(nodes?.type), nodes?.description]).toEqual([
      type.name,
      `[${String(node?.type)}]!`,
      'Items of the page without their cursors, in the order of the list.',
    ]);
  }
  const filled: string[] = [];
  for (const [name, query] of connectionFields.filter(([place]) => place.startsWith('Query.'))) {
    const { data, errors } = await ask(query('first: 5', '{ nodes { __typename } edges { node { __typename } } }'));
    expect([name, errors]).toEqual([name, undefined]);
    const [page] = Object.values(data) as { nodes: unknown[]; edges: { node: unknown }[] }[];
    expect(page?.nodes).toEqual(page?.edges.map(({ node }) => node));
    if (page?.nodes.length !== 0) filled.push(name);
  }
  expect(filled).toEqual(expect.arrayContaining(['Query.domains', 'Query.emailAddresses', 'Query.apiKeys']));
});

test('a page between two cursors is a range of the list, from either end', async () => {
  const other = await gateway.mailbox();
  for (let n = 0; n < 5; n++) await gateway.call(other.apiKey, 'POST', '/domains', { domain: `n${n}.between.test` });
  const list = async (args: string) => {
    const page = '{ edges { cursor } pageInfo { hasNextPage hasPreviousPage } }';
    const { data, errors } = (await gateway.graphql(other.apiKey, `{ domains${args} ${page} }`)).json();
    expect(errors).toBeUndefined();
    return data.domains as { edges: { cursor: string }[]; pageInfo: object };
  };
  const all = (await list('')).edges.map(({ cursor }) => cursor);
  const between = `after: "${all[0]}", before: "${all[4]}"`;
  const positions = ({ edges }: Awaited<ReturnType<typeof list>>) => edges.map(({ cursor }) => all.indexOf(cursor));
  const [first, last, whole, none] = [
    await list(`(${between}, first: 2)`),
    await list(`(${between}, last: 2)`),
    await list(`(${between})`),
    await list(`(after: "${all[4]}", before: "${all[0]}")`),
  ];
  expect([positions(first), positions(last), positions(whole), positions(none)]).toEqual([
    [1, 2],
    [2, 3],
    [1, 2, 3],
    [],
  ]);
  expect(first.pageInfo).toEqual({ hasNextPage: true, hasPreviousPage: true });
  expect(last.pageInfo).toEqual({ hasNextPage: true, hasPreviousPage: true });
});
