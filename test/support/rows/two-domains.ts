import type { Database } from '../../../db/connection/database.ts';
import type { TestGateway } from '../servers/gateway.ts';
import { type Holdings, makeHoldings, workspaceTables } from './holdings.ts';

/** One account with two domains, and everything there is of each. */
export interface TwoDomains {
  mine: Holdings;
  /** of the other domain; its ids and names, and no account of its own */
  theirs: Holdings;
  domain: { id: string; name: string };
  /** tables from which rows of the other domain are gone, or were changed in, since the last call */
  changedTables: () => Promise<string[]>;
}

/** Makes two accounts with all that there is, and makes one of them. The account's key is that of `mine`. */
export async function makeTwoDomains(gateway: TestGateway): Promise<TwoDomains> {
  const mine = await makeHoldings(gateway);
  const theirs = await joinHoldings(gateway, mine);
  const [into, from] = [mine.mailbox.workspaceId, theirs.mailbox.workspaceId];
  const tables = await workspaceTables(gateway.owner);
  const own = new Set([...mine.ids.values()].flat());
  const ids = new Map([...theirs.ids].map(([prefix, held]) => [prefix, held.filter((id) => !own.has(id))] as const));
  const marks = [...ids.values()].flat().concat(theirs.names);
  let before = await rowsWith(gateway.owner, tables, into, marks);
  return {
    mine,
    // Nobody has this id.
    theirs: { mailbox: { ...theirs.mailbox, workspaceId: `${from}_joined` }, ids, names: theirs.names },
    domain: { id: mine.mailbox.domainId, name: mine.names[1] ?? '' },
    async changedTables() {
      const now = await rowsWith(gateway.owner, tables, into, marks);
      const changed = [...before].filter(([table, rows]) => [...rows].some((row) => now.get(table)?.has(row) !== true));
      before = now;
      return changed.map(([table]) => table);
    },
  };
}

/** Makes all that there is in an account of its own, and moves it into the account of `mine`, where its events are the newest. */
export async function joinHoldings(gateway: TestGateway, mine: Holdings): Promise<Holdings> {
  const theirs = await makeHoldings(gateway);
  const { pool } = gateway.owner;
  const [into, from] = [mine.mailbox.workspaceId, theirs.mailbox.workspaceId];
  await pool.query(
    `update event set seq = seq + 1000 + (select max(seq) from event where workspace_id = $2) where workspace_id = $1`,
    [from, into],
  );
  await pool.query(
    `update event_counter set last_seq = (select max(seq) from event where workspace_id = $2) where workspace_id = $1`,
    [into, from],
  );
  // What there is once for each user cannot be joined.
  for (const table of ['agent_sign_up', 'event_counter', 'retention', 'retention_sweep', 'scim_token', 'word_build'])
    await pool.query(`delete from ${table} where workspace_id = $1`, [from]);
  // Entries of the audit log cannot be changed.
  await pool.query('alter table audit_entry disable trigger user');
  for (const table of await workspaceTables(gateway.owner))
    await pool.query(`update ${table} set workspace_id = $1 where workspace_id = $2`, [into, from]);
  await pool.query('alter table audit_entry enable trigger user');
  return theirs;
}

/** Makes an endpoint, a suppression, a request and a key of the account those of what a limited key can access. */
export async function keepToKey(owner: Database, two: TwoDomains, keyId: string): Promise<void> {
  const { mailbox, ids } = two.mine;
  const { pool } = owner;
  const endpointId = mailbox.endpointId ?? '';
  const mine = [mailbox.workspaceId, endpointId];
  await pool.query('delete from endpoint_subscription where workspace_id = $1 and endpoint_id = $2', mine);
  await pool.query('delete from guard_rule where workspace_id = $1 and endpoint_id = $2', mine);
  const [suppression] = ids.get('sup') ?? [];
  await pool.query('update suppression set email_id = $3 where workspace_id = $1 and id = $2', [
    mailbox.workspaceId,
    suppression,
    ids.get('em')?.[0],
  ]);
  const request = `req_${'1'.repeat(24)}`;
  await pool.query(
    `insert into api_request (workspace_id, id, created_at, key_id, interface, method, path, status, duration_ms, client_address, request_headers,
       response_headers) values ($1, $2, now(), $3, 'rest', 'GET', '/', 200, 1, '127.0.0.1', '{}', '{}')`,
    [mailbox.workspaceId, request, keyId],
  );
  for (const [prefix, id] of [
    ['req', request],
    ['key', keyId],
    ['ep', endpointId],
  ] as const)
    ids.set(prefix, [id, ...(ids.get(prefix) ?? [])]);
}

/** The rows of a user that contain one of the words, by table. */
async function rowsWith(
  database: Database,
  tables: readonly string[],
  workspaceId: string,
  words: readonly string[],
): Promise<Map<string, Set<string>>> {
  const found = new Map(tables.map((table) => [table, new Set<string>()]));
  const patterns = words.map((word) => `%${word.replaceAll(/[_%\\]/g, '\\$&')}%`);
  const { rows } = await database.pool.query<{ name: string; row: string }>(
    tables
      .map(
        (table) =>
          `select '${table}' as name, r as row
           from ${table} t cross join lateral (select (to_jsonb(t) - '{last_used_at,last_used_from}'::text[])::text as r) x
           where t.workspace_id = $1 and r like any ($2)`,
      )
      .join(' union all '),
    [workspaceId, patterns],
  );
  for (const { name, row } of rows) found.get(name)?.add(row);
  return found;
}
