import { type Kysely, type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import { SYSTEM_WORKSPACE_ID } from '../../../core/accounts/system-account.ts';
import type { Database } from '../../connection/database.ts';
import { inTransaction } from '../../connection/transaction.ts';
import type { Tables } from '../../entities/tables.ts';
import { retryContention } from '../../errors.ts';
import { noteGone } from '../search/unindexed-email.ts';
import { removeRawMessages } from '../upkeep/remove-emails.ts';

/** Rows per transaction. */
const ERASED_AT_ONCE = 500;
/** Attempts for a batch that conflicts with other transactions. */
const MAX_TRIES = 8;

/** Gateways forget a revoked key within five seconds, and running requests end in the same time. Milliseconds. */
export const LAST_REQUESTS_MS = 6_000;
/** Time from a failed attempt to erase an account to the next. */
const ERASURE_RETRY_SECONDS = 300;

/**
 * Closes the account of the transaction's user: its keys, sessions, passwords and links stop working (gateways cache keys for seconds), and
 * its domains belong to no one, so no mail comes in and no queued mail leaves. The scheduling actor erases a closed account. Safe to run
 * twice. Returns the names of its domains and addresses.
 */
export async function closeAccount(transaction: Kysely<Tables>, workspaceId: string): Promise<string[]> {
  const { rows } = await sql<{ names: string[] }>`
    select close_account(${workspaceId}, ${LAST_REQUESTS_MS} * interval '1 millisecond') as names`.execute(transaction);
  return rows[0]?.names ?? [];
}

/** Counting stops at this number. */
export const MAX_ERASURE_COUNT = 100_000;

/** What an account has. No count exceeds MAX_ERASURE_COUNT. */
export interface ErasureCounts {
  emails: number;
  /** of these, mail that has not left yet: queued, scheduled, paused, or waiting for approval */
  unsent: number;
  threads: number;
  drafts: number;
  domains: number;
  addresses: number;
  endpoints: number;
  rules: number;
  /** that are not revoked */
  apiKeys: number;
}

/** Returns what erasing the account of the transaction's user would erase. */
export async function countAccount(transaction: Kysely<Tables>, workspaceId: string): Promise<ErasureCounts> {
  const counted = (rows: RawBuilder<unknown>) =>
    sql`(select count(*)::integer from (select ${rows} limit ${MAX_ERASURE_COUNT}) c)`;
  const { rows } = await sql<ErasureCounts>`
    select
      ${counted(sql`from email where workspace_id = ${workspaceId}`)} as emails,
      ${counted(sql`from email where workspace_id = ${workspaceId} and type <> 'received'
        and status in ('pending', 'scheduled', 'paused', 'awaiting_approval')`)} as unsent,
      ${counted(sql`from thread where workspace_id = ${workspaceId}`)} as threads,
      ${counted(sql`from draft where workspace_id = ${workspaceId}`)} as drafts,
      ${counted(sql`from domain where workspace_id = ${workspaceId}`)} as domains,
      ${counted(sql`from email_address where workspace_id = ${workspaceId}`)} as addresses,
      ${counted(sql`from endpoint where workspace_id = ${workspaceId}`)} as endpoints,
      ${counted(sql`from guard_rule where workspace_id = ${workspaceId}`)} as rules,
      ${counted(sql`from api_keys_of(${workspaceId}) where revoked_at is null`)} as "apiKeys"`.execute(transaction);
  const [counts] = rows;
  if (counts === undefined) throw new Error('unreachable');
  return counts;
}

/** A closed workspace, or a closed person without one, whose last requests have ended. */
export interface ClosedAccount {
  workspaceId: string;
  /** of the person with this id, who is closed, too; null: the person is a member of another workspace, or there is none */
  email: string | null;
}

/** Returns up to `limit` accounts to erase, the longest due first. */
export async function listClosedAccounts(database: Database, limit: number): Promise<ClosedAccount[]> {
  const { rows } = await database.pool.query<ClosedAccount>({
    name: 'list-closed-accounts',
    text: `
      select w.id as "workspaceId", u.email, w.erase_at from workspace w left join person u on u.id = w.id and u.erase_at is not null
      where w.erase_at <= postroom_now()
      union all
      select u.id, u.email, u.erase_at from person u
      where u.erase_at <= postroom_now() and not exists (select from workspace w where w.id = u.id)
      order by erase_at limit $1`,
    values: [limit],
  });
  return rows;
}

/** Postpones the next attempt to erase a closed account by ERASURE_RETRY_SECONDS. */
export async function postponeErasure(database: Database, workspaceId: string): Promise<void> {
  await database.pool.query(
    `with postponed as (
       update person set erase_at = postroom_now() + $2 * interval '1 second' where id = $1 and erase_at is not null)
     update workspace set erase_at = postroom_now() + $2 * interval '1 second' where id = $1 and erase_at is not null`,
    [workspaceId, ERASURE_RETRY_SECONDS],
  );
}

/**
 * Removes all rows of the workspace except the account itself, table by table in small transactions, and the message bytes
 * that no other user shares. Returns how many rows were removed; rows created meanwhile need another call. Safe to interrupt and to run
 * again; stops early when `isStopping` says so. Calls `onRemoved` with the table after each transaction.
 */
export async function eraseRows(
  database: Database,
  workspaceId: string,
  {
    isStopping = () => false,
    onRemoved = () => undefined,
  }: { isStopping?: () => boolean; onRemoved?: (table: string) => void } = {},
): Promise<number> {
  let count = 0;
  for (const table of await workspaceTables(database)) {
    for (let removed = ERASED_AT_ONCE; removed >= ERASED_AT_ONCE && !isStopping(); ) {
      removed = await retryContention(
        () => inTransaction(database, (client) => eraseBatch(client, table, workspaceId)),
        {
          maxTries: MAX_TRIES,
          firstPauseMs: 0,
        },
      );
      count += removed;
      onRemoved(table);
    }
  }
  return count;
}

/** Tables that refer to message bytes, with the column: these are removed together. */
const RAW_COLUMNS: Readonly<Record<string, string>> = {
  email: 'raw_id',
  reception: 'raw_id',
  delivery: 'forward_raw_id',
};

async function eraseBatch(client: pg.ClientBase, table: string, workspaceId: string): Promise<number> {
  const rawColumn = RAW_COLUMNS[table];
  const { rows, rowCount } = await client.query<{ raw_id: string | null }>(
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where workspace_id = $1 limit ${ERASED_AT_ONCE} for update))
     returning ${rawColumn ?? 'null'} as raw_id`,
    [workspaceId],
  );
  await removeRawMessages(client, [...new Set(rows.flatMap((row) => row.raw_id ?? []))].toSorted());
  return rowCount ?? 0;
}

/**
 * Every table with rows of workspaces that this role may delete from, read from the catalog, so that none is missed. Names are quoted for SQL.
 */
async function workspaceTables(database: Database): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(`
    select quote_ident(c.relname) as name from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and a.attname = 'workspace_id' and not a.attisdropped
      and has_table_privilege(c.oid, 'delete')
      -- of persons; those of a closed person are gone
      and c.relname not like 'auth\\_%'
    -- domains first: what is under way for them ends the sooner
    order by c.relname <> 'domain', c.relname`);
  return rows.map(({ name }) => name);
}

/**
 * Removes mail that the service itself wrote to the address of the account, such as password reset links, and all rows about it. The totals
 * and threads of the service's own user do not matter. Returns how many emails were removed.
 */
export async function eraseSystemMail(database: Database, email: string): Promise<number> {
  const { rows } = await database.pool.query<{ id: string }>(
    'select id from email where workspace_id = $1 and to_addresses @> array[$2]',
    [SYSTEM_WORKSPACE_ID, email],
  );
  const ids = rows.map(({ id }) => id);
  await inTransaction(database, async (client) => {
    await client.query('delete from suppression where workspace_id = $1 and address = $2', [
      SYSTEM_WORKSPACE_ID,
      email,
    ]);
    if (ids.length === 0) return;
    await client.query(
      `delete from sending_attempt a using recipient r
       where r.workspace_id = $1 and r.email_id = any ($2) and a.workspace_id = $1 and a.recipient_id = r.id`,
      [SYSTEM_WORKSPACE_ID, ids],
    );
    await noteGone(client, SYSTEM_WORKSPACE_ID, ids);
    const threads = await client.query<{ thread_id: string | null; raw_id: string | null }>(
      'delete from email where workspace_id = $1 and id = any ($2) returning thread_id, raw_id',
      [SYSTEM_WORKSPACE_ID, ids],
    );
    for (const table of [
      'recipient',
      'email_content',
      'email_search',
      'email_trace',
      'route',
      'event',
      'thread_subject',
      'relayed_message_id',
    ])
      await client.query(`delete from ${table} where workspace_id = $1 and email_id = any ($2)`, [
        SYSTEM_WORKSPACE_ID,
        ids,
      ]);
    const threadIds = threads.rows.flatMap((row) => row.thread_id ?? []);
    for (const [table, column] of [
      ['thread', 'id'],
      ['thread_message_id', 'thread_id'],
      ['thread_subject', 'thread_id'],
    ])
      await client.query(
        `delete from ${table} t where t.workspace_id = $1 and t.${column} = any ($2)
           and not exists (select from email e where e.workspace_id = $1 and e.thread_id = t.${column})`,
        [SYSTEM_WORKSPACE_ID, threadIds],
      );
    await removeRawMessages(
      client,
      threads.rows.flatMap((row) => row.raw_id ?? []),
    );
  });
  return ids.length;
}

/** Records that the account was erased, and removes it. Returns false when new rows of it exist. */
export async function endAccount(database: Database, workspaceId: string): Promise<boolean> {
  if ((await eraseRows(database, workspaceId)) > 0) return false;
  await inTransaction(database, async (client) => {
    await client.query('insert into erased_account (id, erased_at) values ($1, now()) on conflict do nothing', [
      workspaceId,
    ]);
    await client.query('delete from workspace where id = $1', [workspaceId]);
    // The person stays who is a member of another workspace.
    await client.query('delete from person where id = $1 and erase_at is not null', [workspaceId]);
  });
  return true;
}

/** Accounts erased since then: work in progress at that time may have left rows behind. */
export async function listErasedLately(database: Database): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `select id from erased_account where erased_at > now() - interval '1 day' order by erased_at`,
  );
  return rows.map(({ id }) => id);
}
