import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { PAGE, walk } from '../../support/stages/graph-pages.ts';
import { expectSame, mutate } from '../../support/stages/graph-results.ts';
import { countStatements } from '../../support/statements.ts';

const HOOK = 'https://hooks.example.com/';
const UNKNOWN = 'addr_00000000000000000000000000000000';
let gateway: TestGateway;
let box: TestMailbox;
let domain: string;
const changed: string[] = [];

beforeAll(async () => {
  gateway = await openTestGateway();
  gateway.bus.subscribe('routing.changed', ({ name }) => void changed.push(name));
});
afterAll(() => gateway.close());
beforeEach(async () => {
  box = await gateway.mailbox({ endpointUrl: HOOK });
  domain = box.address.split('@')[1] ?? '';
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

async function addEndpoint(more: object = {}): Promise<string> {
  const made = await rest('POST', '/endpoints', { name: 'hook', type: 'webhook', config: { url: HOOK }, ...more });
  expect(made.status).toBe(201);
  return made.body.id;
}

const FIELDS = `id address isActive isReceiving warning domain { id name status } routing endpoint { id name isActive }
  emailStatistics { last24Hours last7Days last30Days } createdAt updatedAt`;

/** Demands that the graph and REST tell the same of an address. */
async function expectSameAddress(id: string) {
  const { emailAddress, node } = await ask(
    `query($id: ID!) { emailAddress(id: $id) { ${FIELDS} } node(id: $id) { ... on EmailAddress { address } } }`,
    { id },
  );
  const { body } = await rest('GET', `/email-addresses/${id}`);
  const { routing } = body;
  expect(emailAddress).toEqual({
    id: body.id,
    address: body.address,
    isActive: body.isActive,
    isReceiving: body.isReceiptRuleConfigured,
    warning: body.warning ?? null,
    domain: { ...body.domain, status: body.domain.status.toUpperCase() },
    routing: routing.type.toUpperCase(),
    endpoint: routing.id === null ? null : { id: routing.id, name: routing.name, isActive: routing.isActive },
    emailStatistics: expect.any(Object),
    createdAt: body.createdAt,
    updatedAt: body.updatedAt,
  });
  expect(node).toEqual({ address: body.address });
  return emailAddress;
}

test('an address that is added shows every fact of REST, and its mail is counted', async () => {
  const made = await change(
    'createEmailAddress',
    { address: `Help.Desk@${domain.toUpperCase()}`, domainId: box.domainId, endpointId: box.endpointId },
    'emailAddress { id address }',
  );
  expect(made).toMatchObject({
    __typename: 'CreateEmailAddressPayload',
    emailAddress: { address: `help.desk@${domain}` },
  });
  expect(changed).toContain(`help.desk@${domain}`);
  const { id } = made.emailAddress;
  const old = new Date(Date.now() - 3 * 86_400_000);
  await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, ownAddress: `help.desk@${domain}` },
    { workspaceId: box.workspaceId, ownAddress: `help.desk@${domain}`, createdAt: old },
    { workspaceId: box.workspaceId, ownAddress: box.address },
  ]);
  expect(await expectSameAddress(id)).toMatchObject({
    isActive: true,
    isReceiving: true,
    routing: 'ENDPOINT',
    emailStatistics: { last24Hours: 1, last7Days: 2, last30Days: 2 },
  });
  const quiet = await change(
    'createEmailAddress',
    { address: `quiet@${domain}`, domainId: box.domainId, isActive: false },
    'emailAddress { id }',
  );
  expect(await expectSameAddress(quiet.emailAddress.id)).toMatchObject({ isActive: false, routing: 'NONE' });
  await gateway.actor.pool.query('update domain set is_trusted = false where id = $1', [box.domainId]);
  expect((await expectSameAddress(id)).warning).toContain('MX');
});

test('an invalid address is refused with the error of REST', async () => {
  const other = await gateway.mailbox({ endpointUrl: HOOK });
  const inactive = await addEndpoint({ isActive: false });
  const forward = await addEndpoint({ type: 'email', config: { forwardTo: 'a@x.test' } });
  const pending = await gateway.mailbox({
    workspaceId: box.workspaceId,
    domain: `not-yet-${domain}`,
    address: `own@not-yet-${domain}`,
    domainStatus: 'pending',
  });
  const { domainId } = box;
  const address = `new@${domain}`;
  const cases: Record<string, unknown>[] = [
    { address: 'nonsense', domainId },
    { address: '', domainId },
    { address: `nul\0@${domain}`, domainId },
    { address, domainId: other.domainId },
    { address, domainId: UNKNOWN },
    { address, domainId: "';" },
    { address: 'new@elsewhere.test', domainId },
    { address: `new@not-yet-${domain}`, domainId: pending.domainId },
    { address: box.address.toUpperCase(), domainId },
    { address, domainId, endpointId: other.endpointId },
    { address, domainId, endpointId: inactive },
    { address, domainId, endpointId: 'a\0' },
    { address, domainId, endpointId: box.endpointId, webhookId: 'w' },
    { address, domainId, webhookId: 'w' },
    { address, domainId, webhookId: forward },
    { address, domainId, webhookId: inactive },
  ];
  for (const input of cases)
    expectSame(await change('createEmailAddress', input), await rest('POST', '/email-addresses', input));
  expect((await rest('GET', '/email-addresses')).body.pagination.total).toBe(2);
});

test('the routing and activity of an address are changed, and each change in a request shows its own result', async () => {
  const hook = await addEndpoint();
  const id = box.addressId;
  const shown = `... on UpdateEmailAddressPayload { emailAddress { isActive routing endpoint { id } } }`;
  const response = await ask(
    `mutation($id: ID!, $hook: ID!, $endpoint: ID!) {
      legacy: updateEmailAddress(input: {id: $id, webhookId: $hook}) { ${shown} }
      back: updateEmailAddress(input: {id: $id, endpointId: $endpoint, webhookId: null, isActive: null}) { ${shown} }
      off: updateEmailAddress(input: {id: $id, isActive: false}) { ${shown} }
      none: updateEmailAddress(input: {id: $id, endpointId: null}) { ${shown} } }`,
    { id, hook, endpoint: box.endpointId },
  );
  const of = (isActive: boolean, routing: string, endpointId: string | null) => ({
    emailAddress: { isActive, routing, endpoint: endpointId === null ? null : { id: endpointId } },
  });
  expect(response).toEqual({
    legacy: of(true, 'WEBHOOK', hook),
    back: of(true, 'ENDPOINT', box.endpointId),
    off: of(false, 'ENDPOINT', box.endpointId),
    none: of(false, 'NONE', null),
  });
  await expectSameAddress(id);
});

test('an invalid change is refused with the error of REST', async () => {
  const other = await gateway.mailbox({ endpointUrl: HOOK });
  const inactive = await addEndpoint({ isActive: false });
  const id = box.addressId;
  const cases: [string, Record<string, unknown>][] = [
    [id, {}],
    [id, { endpointId: box.endpointId, webhookId: box.endpointId }],
    [id, { endpointId: other.endpointId }],
    [id, { endpointId: '' }],
    [id, { endpointId: 'a\0' }],
    [id, { endpointId: inactive }],
    [id, { webhookId: other.endpointId }],
    [id, { webhookId: inactive, isActive: false }],
    [other.addressId, { isActive: false }],
    [UNKNOWN, { isActive: false }],
    ["';", {}],
  ];
  for (const [addressId, wish] of cases)
    expectSame(
      await change('updateEmailAddress', { id: addressId, ...wish }),
      await rest('PATCH', `/email-addresses/${addressId}`, wish),
    );
  const foreign = await change('updateEmailAddress', { id: other.addressId, isActive: false });
  expect(foreign).toEqual(await change('updateEmailAddress', { id: UNKNOWN, isActive: false }));
});

test('an address is deleted once, and its name is free', async () => {
  const gone = await change('deleteEmailAddress', { id: box.addressId }, 'deletedId address domain { id }');
  expect(gone).toMatchObject({
    __typename: 'DeleteEmailAddressPayload',
    deletedId: box.addressId,
    address: box.address,
    domain: { id: box.domainId },
  });
  expect((await rest('GET', `/email-addresses/${box.addressId}`)).status).toBe(404);
  expectSame(
    await change('deleteEmailAddress', { id: box.addressId }),
    await rest('DELETE', `/email-addresses/${box.addressId}`),
  );
  const again = { address: box.address, domainId: box.domainId };
  expect((await change('createEmailAddress', again, 'emailAddress { id }')).emailAddress.id).not.toBe(box.addressId);
  const other = await gateway.mailbox();
  expect(await change('deleteEmailAddress', { id: other.addressId })).toMatchObject({ __typename: 'NotFound' });
  expect((await rest('GET', `/email-addresses/${other.addressId}`, undefined, other)).status).toBe(200);
});

test('the list shows addresses newest first, page by page both ways, filtered and counted', async () => {
  const second = await gateway.mailbox({ workspaceId: box.workspaceId });
  const made: string[] = [];
  for (let n = 0; n < 6; n++) {
    const input = { address: `a${n}@${domain}`, domainId: box.domainId, isActive: n % 2 === 0 };
    made.unshift((await rest('POST', '/email-addresses', input)).body.id);
  }
  const ids = (await rest('GET', '/email-addresses')).body.data.map(({ id }: { id: string }) => id);
  expect(ids).toHaveLength(8);
  const page = (more: string) => async (args: string) =>
    (await ask(`{ emailAddresses(${args}${more}) ${PAGE} }`)).emailAddresses;
  expect(await walk(page(''), 3)).toEqual(ids);
  expect(await walk(page(`, domainId: "${second.domainId}"`), 3)).toEqual([second.addressId]);
  expect(await walk(page(', filter: {isActive: false}'), 2)).toEqual(made.filter((_, at) => at % 2 === 0));
  expect(await walk(page(', filter: {isReceiving: true}'), 2)).toHaveLength(5);
  const counted = async (args: string) =>
    (await ask(`{ emailAddresses${args} { totalCount } }`)).emailAddresses.totalCount;
  expect(await counted('')).toBe(8);
  expect(await counted('(filter: {isActive: true})')).toBe(5);
  expect(await counted('(domainId: "dom_none")')).toBe(0);
});

test('a page of 50 addresses takes as few statements as a page of 1', async () => {
  await gateway.actor.pool.query(
    `insert into email_address (workspace_id, id, domain_id, address, endpoint_id)
     select $1, $2 || n, $2, 'many' || n || '@' || $4, $3 from generate_series(1, 60) n`,
    [box.workspaceId, box.domainId, box.endpointId, domain],
  );
  const query = `query($n: Int) { emailAddresses(first: $n) { totalCount edges { node {
    address domain { name } endpoint { name } routing emailStatistics { last24Hours } } } } }`;
  await ask('{ viewer { id } }');
  const one = await countStatements(() => ask(query, { n: 1 }));
  const fifty = await countStatements(() => ask(query, { n: 50 }));
  expect(fifty.response.emailAddresses.edges).toHaveLength(50);
  expect(fifty.response.emailAddresses.edges[49].node).toMatchObject({
    domain: { name: domain },
    endpoint: { name: 'test' },
  });
  expect(fifty.statements).toBe(one.statements);
});
