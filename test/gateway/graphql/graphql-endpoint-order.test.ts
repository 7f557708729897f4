import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const COUNT = 7;

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  for (let n = 0; n < COUNT; n++)
    await gateway.call(box.apiKey, 'POST', '/endpoints', {
      name: `e${n}`,
      type: 'webhook',
      config: { url: 'https://hooks.example.com/' },
    });
  // Each two were created at the same time.
  await gateway.owner.pool.query(
    `update endpoint set created_at = to_timestamp(1700000000 + ascii(right(name, 1)) / 2)`,
  );
});
afterAll(() => gateway.close());

const list = async (args: string) => {
  const query = `{ endpoints${args === '' ? '' : `(${args})`} {
    edges { cursor } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  return (await gateway.graphql(box.apiKey, query)).json();
};
const listIds = async (args: string): Promise<string[]> =>
  (await list(args)).data.endpoints.nodes.map(({ id }: { id: string }) => id);
const listByRest = async (sortBy: string): Promise<string[]> =>
  (await gateway.call(box.apiKey, 'GET', `/endpoints?sortBy=${sortBy}`))
    .json()
    .data.map(({ id }: { id: string }) => id);

test.each([
  ['NEWEST', 'newest'],
  ['OLDEST', 'oldest'],
])('orderBy: %s is the order of REST, forward and backward in pages of any size', async (order, sortBy) => {
  const expected = await listByRest(sortBy);
  expect(expected).toHaveLength(COUNT);
  for (const size of [1, 2, 3, COUNT, COUNT + 1])
    for (const [count, argument, more, end] of [
      ['first', 'after', 'hasNextPage', 'endCursor'],
      ['last', 'before', 'hasPreviousPage', 'startCursor'],
    ] as const) {
      let seen: string[] = [];
      let given = '';
      for (let hasMore = true; hasMore; ) {
        const { nodes, pageInfo } = (await list(`orderBy: ${order}, ${count}: ${size}${given}`)).data.endpoints;
        const page = nodes.map(({ id }: { id: string }) => id);
        seen = count === 'first' ? [...seen, ...page] : [...page, ...seen];
        given = `, ${argument}: "${pageInfo[end]}"`;
        hasMore = pageInfo[more] && seen.length <= COUNT;
      }
      expect([size, count, seen]).toEqual([size, count, expected]);
    }
});

test('the default is NEWEST', async () => {
  const newest = await listByRest('newest');
  for (const args of ['', 'orderBy: null', 'orderBy: NEWEST']) expect(await listIds(args)).toEqual(newest);
  expect(await listIds('orderBy: OLDEST')).toEqual(newest.toReversed());
});

test.each([
  ['NEWEST', 'OLDEST'],
  ['OLDEST', 'NEWEST'],
])('a cursor of %s is rejected in the order %s', async (former, order) => {
  const [{ cursor }] = (await list(`orderBy: ${former}`)).data.endpoints.edges;
  for (const argument of ['after', 'before']) {
    const { errors } = await list(`orderBy: ${order}, ${argument}: "${cursor}"`);
    const message = `\`${argument}\` is a cursor of \`orderBy: ${former}\`, but the list is ordered by ${order}. Use cursors of the same order.`;
    expect(errors[0]).toMatchObject({
      message,
      extensions: { code: 'validation_error', details: [{ field: argument, message }] },
    });
  }
});

test('a cursor of another list and a changed cursor are invalid', async () => {
  const { domains } = (await gateway.graphql(box.apiKey, '{ domains { edges { cursor } } }')).json().data;
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  for (const cursor of [domains.edges[0].cursor, 'zzz', encode('newest:zzz'), encode('NEWEST:'), encode(':'), '%00'])
    expect([cursor, (await list(`after: "${cursor}"`)).errors?.[0].message]).toEqual([cursor, 'Invalid cursor']);
});
