import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected, ERAS } from '../../support/servers/mcp-client.ts';

let gateway: TestGateway;
let box: TestMailbox;
let other: TestMailbox;
let domain = '';
let count = 0;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  domain = box.address.split('@')[1] ?? '';
  other = await gateway.mailbox({ workspaceId: box.workspaceId });
  for (const recipient of [
    box.address,
    box.address.replace('hello@', 'Hello+Tag@'),
    box.address.replace('hello@', 'nobody@').toUpperCase(),
    other.address,
    `x@sub.${domain}`,
    `${domain}@elsewhere.test`,
    null,
  ])
    await insertRefusal(box.workspaceId, recipient);
  await insertRefusal((await gateway.mailbox()).workspaceId, box.address);
});
afterAll(() => gateway.close());

async function insertRefusal(workspaceId: string, recipient: string | null): Promise<void> {
  await gateway.owner.pool.query(
    `insert into door_refusal (workspace_id, id, created_at, hour_at, last_at, reason, client_address, network, sender, recipient, reply, times)
     values ($1, $2, now(), date_trunc('hour', now()), now(), 'unknown_recipient', '8.8.8.8', '8.8.8.0/24', 'a@b.test', $3, '550 x', 1)`,
    [workspaceId, `rfs_${String(count++).padStart(32, '0')}`, recipient],
  );
}

const recipients = async (key: string) => {
  const response = await gateway.call(key, 'GET', '/refusals');
  expect(response.statusCode).toBe(200);
  const { data, pagination } = response.json();
  expect(pagination.total).toBe(data.length);
  return data.map(({ recipient }: { recipient: string | null }) => recipient).toSorted();
};
const createKey = async (reach: Omit<Parameters<typeof insertKey>[2], 'scopes'>) =>
  (await insertKey(gateway.owner, box, { scopes: ['read'], ...reach })).secret;

test('a key of one domain reads the refusals of all recipients there, and no others', async () => {
  const key = await createKey({ domain: { id: box.domainId, name: domain } });
  expect(await recipients(key)).toEqual(
    [box.address, box.address.replace('hello@', 'Hello+Tag@'), `NOBODY@${domain.toUpperCase()}`].toSorted(),
  );
});

test('a key of one address reads the refusals of that address, with and without tags', async () => {
  const key = await createKey({ addresses: [box.address] });
  expect(await recipients(key)).toEqual([box.address, box.address.replace('hello@', 'Hello+Tag@')].toSorted());
  const client = await connectInjected(gateway, key, ERAS[0]);
  const response = await client.callTool({ name: 'list_refusals', arguments: {} });
  await client.close();
  expect(JSON.stringify(response)).toContain(box.address);
  expect(JSON.stringify(response)).not.toContain('nobody');
});

test('a limited key gets 404 for the refusal of another address, also in GraphQL', async () => {
  const key = await createKey({ addresses: [box.address] });
  const all = (await gateway.call(box.apiKey, 'GET', '/refusals')).json().data;
  expect(all).toHaveLength(7);
  for (const { id, recipient } of all) {
    const isOwn = recipient?.toLowerCase().replace('+tag', '') === box.address;
    expect((await gateway.call(key, 'GET', `/refusals/${id}`)).statusCode).toBe(isOwn ? 200 : 404);
    const graph = await gateway.graphql(key, 'query ($id: ID!) { refusal(id: $id) { reply } }', { id });
    expect(graph.json().data?.refusal?.reply ?? null).toBe(isOwn ? '550 x' : null);
  }
});
