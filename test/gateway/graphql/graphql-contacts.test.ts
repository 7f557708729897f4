import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type GraphClient, graphClient } from '../../support/servers/graph-client.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let box: TestMailbox;
let graph: GraphClient;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ domain: 'mine.test' });
  graph = graphClient(gateway, box.apiKey);
});
afterAll(() => gateway.close());

async function thread(minutesAgo: number, participants: [address: string, name: string | null][]): Promise<void> {
  const { threadId } = await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    count: 1,
    lastMessageAt: new Date(Date.now() - minutesAgo * 60_000),
    participants: participants.map(([address]) => address),
  });
  const names = participants.map(([address, name]) => (name === null ? address : `${name} <${address}>`));
  await gateway.actor.pool.query(
    `update thread set participant_names = $2::text[], search_text = array_to_string(participant_emails, E'\\n') where id = $1`,
    [threadId, names],
  );
}

const suggest = async (prefix: string, first = 10, client = graph) =>
  (
    await client.ask(
      'query($prefix: String, $first: Int) { contacts(prefix: $prefix, first: $first) { name address } }',
      {
        prefix,
        first,
      },
    )
  ).contacts;

describe('contacts of a user', () => {
  beforeAll(async () => {
    await thread(1, [
      ['ada@elsewhere.test', null],
      ['hello@mine.test', null],
    ]);
    await thread(2, [
      ['bob@shop.test', 'Robert Adams'],
      ['ada@elsewhere.test', 'Ada Lovelace'],
    ]);
    for (let n = 0; n < 310; n++) await thread(10 + n, [['noreply@news.test', null]]);
    await thread(1_000, [['zoe@old.test', 'Zoë % Old']]);
  });

  test.each([
    ['', ['ada@elsewhere.test', 'bob@shop.test', 'noreply@news.test']],
    ['ad', ['ada@elsewhere.test', 'bob@shop.test']],
    ['ADA', ['ada@elsewhere.test', 'bob@shop.test']],
    ['love', ['ada@elsewhere.test']],
    ['shop.', ['bob@shop.test']],
    ['elsewhere', ['ada@elsewhere.test']],
    ['lsewhere', []],
    ['zoe@', ['zoe@old.test']],
    ['zo', []],
    ['%', []],
    ['hello', []],
  ])('are found by %j', async (prefix, addresses) => {
    expect((await suggest(prefix)).map(({ address }: { address: string }) => address)).toEqual(addresses);
  });

  test('have the name shown in a message, and are no more than requested', async () => {
    expect(await suggest('', 1)).toEqual([{ name: 'Ada Lovelace', address: 'ada@elsewhere.test' }]);
  });

  test('are private, and take as many statements for many as for none', async () => {
    const stranger = graphClient(gateway, (await gateway.mailbox()).apiKey);
    expect(await suggest('ada', 10, stranger)).toEqual([]);
    expect(await suggest('', 10, stranger)).toEqual([]);
    const some = await countStatements(() => suggest('a'));
    const none = await countStatements(() => suggest('xyz'));
    expect(some.statements).toBe(none.statements);
  });

  test.each([
    ['x'.repeat(101), 10],
    ['a\0', 10],
    ['', 0],
    ['', 51],
  ])('are refused for %j, %i of them', async (prefix, first) => {
    const query =
      'query($prefix: String, $first: Int) { contacts(prefix: $prefix, first: $first) { address } senders(prefix: $prefix, first: $first) { address } }';
    const { data, errors } = (await gateway.graphql(box.apiKey, query, { prefix, first })).json();
    expect(data).toBeNull();
    expect(errors[0].message).toMatch(/must/);
  });
});

test('senders are the active addresses of verified domains', async () => {
  const own = await gateway.mailbox({ domain: 'first.test' });
  const { workspaceId } = own;
  await gateway.mailbox({ domain: 'unproven.test', domainStatus: 'pending', workspaceId });
  await gateway.mailbox({ domain: 'asleep.test', isActive: false, workspaceId });
  const deaf = await gateway.mailbox({ domain: 'deaf.test', workspaceId });
  await gateway.actor.pool.query(
    `update domain set is_trusted = false, created_at = now() - interval '1 day' where id = $1`,
    [deaf.domainId],
  );
  await gateway.actor.pool.query(`update email_address set created_at = now() - interval '1 day' where id = $1`, [
    deaf.addressId,
  ]);
  const client = graphClient(gateway, own.apiKey);
  const { senders } = await client.ask('{ senders { address emailAddress { id } domain { name } } }');
  expect(senders).toEqual([
    { address: 'hello@first.test', emailAddress: { id: own.addressId }, domain: { name: 'first.test' } },
    { address: 'hello@deaf.test', emailAddress: { id: deaf.addressId }, domain: { name: 'deaf.test' } },
  ]);
  const found = await client.ask('{ senders(prefix: "HELLO@d", first: 5) { address } }');
  expect(found.senders).toEqual([{ address: 'hello@deaf.test' }]);
  expect(
    (await graphClient(gateway, (await gateway.mailbox()).apiKey).ask('{ senders { address } }')).senders,
  ).toHaveLength(1);
});
