import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { PAGE, walk } from '../../support/stages/graph-pages.ts';
import { expectSame, mutate } from '../../support/stages/graph-results.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  box = await gateway.mailbox();
});

const rest = async (method: string, path: string, body?: unknown, as = box) => {
  const response = await gateway.call(as.apiKey, method, path, body);
  return { status: response.statusCode, body: response.json() };
};
const ask = async (query: string, variables?: Record<string, unknown>, as = box) => {
  const response = (await gateway.graphql(as.apiKey, query, variables)).json();
  expect(response.errors).toBeUndefined();
  return response.data;
};
const change = (name: string, input: Record<string, unknown>, payload = '__typename', as = box) =>
  mutate(gateway, as.apiKey, name, input, payload);

let made = 0;
async function insert(address: string, reason: 'bounce' | 'complaint', emailId: string | null = null): Promise<string> {
  const id = `sup_${made++}`;
  await gateway.actor.pool.query(
    `insert into suppression (workspace_id, id, address, reason, detail, email_id, created_at)
     values ($1, $2, $3, $4, '550 no', $5, now() - interval '1 hour' + make_interval(secs => $6))`,
    [box.workspaceId, id, address, reason, emailId, made],
  );
  return id;
}

test('a suppression shows every fact of REST, by its id and by its address', async () => {
  const [emailId = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
  const id = await insert('gone@elsewhere.test', 'bounce', emailId);
  const { body } = await rest('GET', `/suppressions/${id}`);
  const response = await ask(
    `query($id: ID!) { node(id: $id) { ...shown } byId: suppression(idOrAddress: "${id}") { ...shown }
      byAddress: suppression(idOrAddress: "GONE@elsewhere.test") { ...shown } none: suppression(idOrAddress: "none") { id } }
     fragment shown on Suppression { id address reason detail email { id } createdAt }`,
    { id },
  );
  const shown = {
    id,
    address: body.address,
    reason: body.reason.toUpperCase(),
    detail: body.detail,
    email: { id: body.email_id },
    createdAt: body.created_at,
  };
  expect(response).toEqual({ node: shown, byId: shown, byAddress: shown, none: null });
  const other = await gateway.mailbox();
  const foreign = `{ node(id: "${id}") { id } byAddress: suppression(idOrAddress: "gone@elsewhere.test") { id } byId: suppression(idOrAddress: "${id}") { id } }`;
  expect(await ask(foreign, {}, other)).toEqual({ node: null, byAddress: null, byId: null });
});

test('an address added by hand is rejected when sending, and REST lists it', async () => {
  const put = await change(
    'suppressAddress',
    { address: ' Ada@Elsewhere.TEST ', detail: ' asked by phone ' },
    'suppression { id address reason detail email { id } }',
  );
  expect(put).toMatchObject({
    __typename: 'SuppressAddressPayload',
    suppression: { address: 'ada@elsewhere.test', reason: 'MANUAL', detail: 'asked by phone', email: null },
  });
  expect((await rest('GET', '/suppressions/ada@elsewhere.test')).body).toMatchObject({
    id: put.suppression.id,
    reason: 'manual',
    origin: 'manual',
    email_id: null,
  });
  const sent = await rest('POST', '/emails', { from: box.address, to: 'ada@elsewhere.test', subject: 'x', text: 'x' });
  expect(sent).toMatchObject({ status: 400, body: { code: 'RECIPIENT_SUPPRESSED' } });
});

test('an address that is already suppressed stays unchanged, in both interfaces', async () => {
  const id = await insert('gone@elsewhere.test', 'bounce');
  const again = await change(
    'suppressAddress',
    { address: 'gone@elsewhere.test', detail: 'x' },
    'suppression { id reason detail }',
  );
  expect(again.suppression).toEqual({ id, reason: 'BOUNCE', detail: '550 no' });
  expect(await rest('POST', '/suppressions', { email: 'GONE@elsewhere.test' })).toMatchObject({
    status: 201,
    body: { id, reason: 'bounce', detail: '550 no' },
  });
  const fresh = await rest('POST', '/suppressions', { address: 'new@elsewhere.test', detail: null });
  expect(fresh).toMatchObject({ status: 201, body: { object: 'suppression', origin: 'manual', detail: null } });
  expect((await ask(`{ node(id: "${fresh.body.id}") { ... on Suppression { address } } }`)).node).toEqual({
    address: 'new@elsewhere.test',
  });
});

test('many who suppress one address at once all get the same suppression', async () => {
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => change('suppressAddress', { address: 'same@x.test' }, 'suppression { id }')),
  );
  expect(new Set(responses.map(({ suppression }) => suppression.id)).size).toBe(1);
  expect((await rest('GET', '/suppressions')).body.pagination.total).toBe(1);
});

test('an invalid or too long address is refused with the error of REST', async () => {
  const cases: Record<string, unknown>[] = [
    { address: '' },
    { address: 'nonsense' },
    { address: 'two words@x.test' },
    { address: 'a@b@x.test' },
    { address: 'Ada <ada@x.test>' },
    { address: 'nul\0@x.test' },
    { address: `${'a'.repeat(400)}@x.test` },
    { address: 'a@x.test', detail: 'x'.repeat(501) },
    { address: 'a@x.test', detail: 'x\0' },
  ];
  for (const input of cases)
    expectSame(await change('suppressAddress', input), await rest('POST', '/suppressions', input));
  expect((await rest('POST', '/suppressions', {})).body.details).toEqual([
    { field: 'address', message: 'address is required' },
  ]);
});

test('a suppression is removed by its id or its address, by its own user only', async () => {
  const id = await insert('gone@elsewhere.test', 'bounce');
  await insert('angry@elsewhere.test', 'complaint');
  const other = await gateway.mailbox();
  for (const idOrAddress of [id, 'gone@elsewhere.test'])
    expectSame(
      await change('removeSuppression', { idOrAddress }, '__typename', other),
      await rest('DELETE', `/suppressions/${idOrAddress}`, undefined, other),
    );
  const lifted = await change('removeSuppression', { idOrAddress: id }, 'deletedId address');
  expect(lifted).toMatchObject({ deletedId: id, address: 'gone@elsewhere.test' });
  const angry = await change('removeSuppression', { idOrAddress: 'ANGRY@elsewhere.test' }, 'address');
  expect(angry.address).toBe('angry@elsewhere.test');
  expectSame(await change('removeSuppression', { idOrAddress: id }), await rest('DELETE', `/suppressions/${id}`));
  expect((await rest('GET', '/suppressions')).body.pagination.total).toBe(0);
});

test('the list shows suppressions newest first, page by page both ways, filtered and counted', async () => {
  for (let n = 0; n < 7; n++)
    await insert(`a${n}_@${n < 4 ? 'one' : 'two'}.test`, n % 2 === 0 ? 'bounce' : 'complaint');
  const all = (await rest('GET', '/suppressions')).body.data as { id: string; address: string; reason: string }[];
  const page = (filter: string) => async (args: string) =>
    (await ask(`{ suppressions(${args}${filter}) ${PAGE} }`)).suppressions;
  expect(await walk(page(''), 3)).toEqual(all.map(({ id }) => id));
  expect(await walk(page(', filter: {reason: BOUNCE}'), 2)).toEqual(
    all.filter(({ reason }) => reason === 'bounce').map(({ id }) => id),
  );
  expect(await walk(page(', filter: {search: "@TWO."}'), 2)).toEqual(
    all.filter(({ address }) => address.includes('@two.')).map(({ id }) => id),
  );
  const counted = await ask(
    '{ all: suppressions { totalCount } some: suppressions(filter: {reason: COMPLAINT, search: "_@one"}) { totalCount } }',
  );
  expect(counted).toEqual({ all: { totalCount: 7 }, some: { totalCount: 2 } });
  const search = 'x'.repeat(101);
  const refused = (
    await gateway.graphql(box.apiKey, `{ suppressions(filter: {search: "${search}"}) { totalCount } }`)
  ).json();
  const { body } = await rest('GET', `/suppressions?search=${search}`);
  expect(refused.errors[0]).toMatchObject({ message: body.message, extensions: { details: body.details } });
});

test('a page of 50 takes as few statements as a page of 1', async () => {
  const emailIds = await insertMail(
    gateway.actor,
    Array.from({ length: 60 }, () => ({ workspaceId: box.workspaceId })),
  );
  for (const [n, emailId] of emailIds.entries()) await insert(`n${n}@x.test`, 'bounce', emailId);
  const query =
    'query($n: Int) { suppressions(first: $n) { totalCount edges { node { address reason email { subject } } } } }';
  await ask('{ viewer { id } }');
  const one = await countStatements(() => ask(query, { n: 1 }));
  const fifty = await countStatements(() => ask(query, { n: 50 }));
  expect(fifty.response.suppressions.edges[49].node.email).toEqual({ subject: expect.any(String) });
  expect(fifty.statements).toBe(one.statements);
});
