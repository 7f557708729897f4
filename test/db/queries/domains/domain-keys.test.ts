import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database } from '../../../../db/connection/database.ts';
import { openReadSession } from '../../../../db/connection/read-session.ts';
import { asWorkspace, inWorkspaceTransaction, limitedTo } from '../../../../db/connection/transaction.ts';
import { makeTwoDomains, type TwoDomains } from '../../../support/rows/two-domains.ts';
import { openTestGateway, type TestGateway } from '../../../support/servers/gateway.ts';

/** All that the role may call which looks past the policies. */
const LOOK_PAST = [
  'account_of',
  'api_keys_of',
  'count_inbox',
  'count_mail',
  'customers_of',
  'exchanged_emails',
  'indexed_threads',
  'is_batch_of_domain',
  'is_endpoint_of_domain',
  'is_key_of_domain',
  'is_thread_of_domain',
  'labelled_emails',
  'list_labels',
  'members_named',
  'packed_messages',
  'pending_receptions',
  'person_of',
  'pick_emails',
  'pick_threads',
  'picture_of_member',
  'placed_message',
  'raw_sizes',
  'read_mark',
  'search_emails',
  'search_inbox',
  'search_mail',
  'search_threads',
  'threads_read_until',
  'threads_unread_by',
  'walk_emails',
  'walk_messages',
  'walk_threads',
  'workspace_of',
];

let gateway: TestGateway;
let two: TwoDomains;
let limited: Database;
let workspaceId: string;

beforeAll(async () => {
  gateway = await openTestGateway();
  two = await makeTwoDomains(gateway);
  limited = limitedTo(gateway.database, { domains: [two.domain], addresses: [] });
  ({ workspaceId } = two.mine.mailbox);
});
afterAll(() => gateway.close());

const ask = <T>(text: string, database = limited) =>
  asWorkspace(database, workspaceId, async (transaction) => (await sql.raw<T>(text).execute(transaction)).rows);
const tables = async () =>
  (
    await gateway.owner.pool.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'p') order by 1`,
    )
  ).rows.map(({ name }) => name);

test('the role reads only rows of its domain', async () => {
  // Members are of the whole workspace: what a member has read as a whole is of no domain.
  const marks = [...two.theirs.ids.values()]
    .flat()
    .concat(two.theirs.names)
    .filter((id) => !id.startsWith('usr_'));
  const readable: string[] = [];
  for (const table of await tables()) {
    const rows = await ask<{ row: string }>(`select to_jsonb(t)::text as row from ${table} t`).catch(
      (error: unknown) => error,
    );
    if (rows instanceof Error) {
      expect(rows, table).toMatchObject({ code: 'forbidden', reason: 'limited_to_domain' });
      continue;
    }
    readable.push(table);
    // Segments have the words of all mail of the account: what a search finds by them passes the conditions of the functions.
    if (table === 'word_block' || table === 'word_segment') continue;
    for (const { row } of rows as { row: string }[]) for (const mark of marks) expect(row, table).not.toContain(mark);
  }
  expect(readable).toEqual([
    'address_domain',
    'api_request',
    'approval',
    'batch',
    'clock',
    'delivery',
    'delivery_attempt',
    'delivery_earlier_attempt',
    'dmarc_report',
    'domain',
    'door_refusal',
    'draft',
    'draft_attachment',
    'email',
    'email_address',
    'email_address_name',
    'email_content',
    'email_counter',
    'endpoint',
    'endpoint_stat',
    'endpoint_subscription',
    'event',
    'event_counter',
    'guard_rule',
    'guard_rule_stat',
    'image_sender',
    'reception',
    'recipient',
    'reply_address',
    'retention',
    'route',
    'sending_attempt',
    'suppression',
    'thread',
    'thread_alias',
    'thread_claim',
    'thread_read',
    'unindexed_email',
    'word_block',
    'word_segment',
  ]);
  // The endpoint serves a guard rule and a subscription, too.
  expect(await ask('select from endpoint')).toEqual([]);
  expect(await ask('select from guard_rule')).toEqual([]);
  for (const table of ['email', 'thread', 'delivery', 'recipient', 'event', 'email_counter', 'batch', 'reply_address'])
    expect((await ask(`select from ${table}`)).length, table).toBeGreaterThan(0);
});

test('the role writes nothing, and sees no private key', async () => {
  const { rows } = await gateway.owner.pool.query(
    `select c.relname from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'p') and (
       has_table_privilege('postroom_domain', c.oid, 'insert, update, delete, truncate, references, trigger')
       or has_any_column_privilege('postroom_domain', c.oid, 'insert, update, references'))`,
  );
  expect(rows).toEqual([]);
  await expect(ask('select private_key_ciphertext from dkim_key')).rejects.toMatchObject({
    reason: 'limited_to_domain',
  });
  expect((await ask('select selector from dkim_key')).length).toBe(1);
});

test('the role may call only those functions past the policies that check the domain themselves', async () => {
  const { rows } = await gateway.owner.pool.query<{ name: string }>(
    `select p.proname as name from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef
       and p.prorettype <> 'trigger'::regtype and has_function_privilege('postroom_domain', p.oid, 'execute') order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual(LOOK_PAST);
  const [own = '', other = ''] = await Promise.all(
    [two.mine, two.theirs].map(async ({ names }) => {
      const { rows: found } = await gateway.owner.pool.query(
        `select id from email where own_domain = $1 and raw_id is not null`,
        [names[1]],
      );
      return found[0].id as string;
    }),
  );
  const bytes = (id: string) =>
    ask<{ bytes: Buffer }>(`select packed as bytes from packed_messages('${workspaceId}', '{${id}}')`);
  expect((await bytes(own)).length).toBe(1);
  expect(await bytes(other)).toEqual([]);
  expect(
    (await ask(`select packed as bytes from packed_messages('${workspaceId}', '{${other}}')`, gateway.database)).length,
  ).toBe(1);
  const placed = await ask<{ own: Buffer | null; other: Buffer | null }>(
    `select placed_message('${workspaceId}', '${own}') as own, placed_message('${workspaceId}', '${other}') as other`,
  );
  expect(placed).toEqual([{ own: expect.any(Buffer), other: null }]);
  const sizes = await ask<{ email_id: string }>(
    `select email_id from raw_sizes('${workspaceId}', '{${own},${other}}')`,
  );
  expect(sizes).toEqual([{ email_id: own }]);

  // Two more messages are not parsed yet.
  const ids = `'{${own},${other}}'`;
  const unparsed = (id: string) => `${id.slice(0, -4)}beef`;
  await gateway.owner.pool.query(
    `insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls, trace_fields, accepted_at)
     select workspace_id, left(id, -4) || 'beef', raw_id, '', own_address, own_address, domain_id, '127.0.0.1', 'x', false, '', now()
     from email where id = any (${ids})`,
  );
  const pending = `select email_id from pending_receptions('${workspaceId}', '{${unparsed(own)},${unparsed(other)}}')`;
  expect(await ask(pending)).toEqual([{ email_id: unparsed(own) }]);
  expect(await ask(pending, gateway.database)).toHaveLength(2);
  await gateway.owner.pool.query(
    `update email_search set parties = '{same@sender.test}' where email_id = any (${ids})`,
  );
  const exchanged = `select email_id from exchanged_emails('${workspaceId}', 'same@sender.test', null, null)`;
  expect(await ask(exchanged)).toEqual([{ email_id: own }]);
  expect(await ask(exchanged, gateway.database)).toHaveLength(2);
});

describe('of a thread with mail of both domains', () => {
  test('nothing is shown to the role', async () => {
    const [threadId] = two.mine.ids.get('th') ?? [];
    const seen = () => ask(`select from thread where id = '${threadId}'`);
    expect((await seen()).length).toBe(1);
    const { rows } = await gateway.owner.pool.query(
      `update email set thread_id = $1 where id = (select id from email where own_domain = $2 and type = 'received' limit 1) returning id`,
      [threadId, two.theirs.names[1]],
    );
    expect(rows.length).toBe(1);
    expect(await seen()).toEqual([]);
    expect(await ask(`select from event where thread_id = '${threadId}' and email_id is null`)).toEqual([]);
  });
});

test('every kind of transaction takes the role, and returns it at its end', async () => {
  const role = `select current_user as role, current_setting('postroom.domain', true) as domain`;
  const wanted = [{ role: 'postroom_domain', domain: two.domain.name }];
  expect(await ask(role)).toEqual(wanted);
  const options = { locks: [{ name: 'x' }], lockTimeoutMs: 1_000 };
  expect((await inWorkspaceTransaction(limited, workspaceId, options, (client) => client.query(role))).rows).toEqual(
    wanted,
  );
  const session = openReadSession(limited, workspaceId);
  expect(await ask(role, session.database)).toEqual(wanted);
  await session.end();
  // The connections are those of the others.
  for (let turn = 0; turn < 8; turn++) {
    const [row] = await ask<{ role: string; domain: string }>(role, gateway.database);
    expect([row?.role, row?.domain || null]).toEqual(['postroom_gateway', null]);
  }
  await expect(
    inWorkspaceTransaction(limited, workspaceId, options, (client) => client.query('delete from email')),
  ).rejects.toMatchObject({
    reason: 'limited_to_domain',
  });
  expect(
    (await inWorkspaceTransaction(gateway.database, workspaceId, options, (client) => client.query(role))).rows[0].role,
  ).toBe('postroom_gateway');
});
