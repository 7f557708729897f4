import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { ClientBase } from 'pg';
import type { RefusalReason } from '../../../core/sending/refusal-advice.ts';
import type { SuppressionReason } from '../../../core/sending/suppression.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';
import { containsPattern } from '../search/search-pattern.ts';

/** An address to which a workspace's mail is no longer sent. */
export interface Suppression {
  id: string;
  /** lower case */
  address: string;
  reason: SuppressionReason;
  /** only mail of this list is suppressed; null: all mail */
  list: string | null;
  /** text from the server, the report or the user; null when there is none */
  detail: string | null;
  /** why the mail bounced; null for other suppressions */
  refusalReason: RefusalReason | null;
  /** the email that bounced or was reported as spam; null when the user added the address */
  emailId: string | null;
  createdAt: Date;
}

/** Filters of a list of suppressions; null matches all. */
export interface SuppressionConditions {
  reason: Suppression['reason'] | null;
  /** part of the address, case-insensitive */
  search: string | null;
}

/** Returns a page, newest first, and the total count. */
export async function listSuppressions(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: SuppressionConditions,
  page: Page,
): Promise<{ rows: Suppression[]; total: number }> {
  const where = whereSql(workspaceId, conditions);
  const { rows } = await sql<{ total: number } & (Row | { id: null })>`
    select t.total, p.* from (select count(*) as total from suppression s where ${where}) t
    left join lateral (
      select ${columns} from suppression s where ${where}
      order by s.created_at desc, s.id desc limit ${page.limit} offset ${page.offset}
    ) p on true order by p.created_at desc, p.id desc`.execute(transaction);
  return {
    rows: rows.flatMap((row) => (row.id === null ? [] : [toSuppression(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** Returns the suppressions between two cursors, newest first; inverted: oldest first. */
export async function pageSuppressions(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: SuppressionConditions,
  page: KeysetPage,
): Promise<Suppression[]> {
  const { rows } = await sql<Row>`
    select ${columns} from suppression s where ${whereSql(workspaceId, conditions)} ${keysetConditions('s', page)}
    ${keysetOrder('s', page)} limit ${page.limit}`.execute(transaction);
  return rows.map(toSuppression);
}

export async function countSuppressions(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: SuppressionConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from suppression s where ${whereSql(workspaceId, conditions)}`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/** Returns those of the suppressions that belong to the workspace, unordered. */
export async function findSuppressions(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<Suppression[]> {
  const { rows } = await sql<Row>`
    select ${columns} from suppression s where s.workspace_id = ${workspaceId} and s.id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows.map(toSuppression);
}

/** Names a suppression of a workspace; the address in lower case. */
export type SuppressionKey = { id: string } | { address: string };

/** Returns a suppression; null when the workspace has none with that id or address. */
export async function findSuppression(
  transaction: Transaction<Tables>,
  workspaceId: string,
  key: SuppressionKey,
): Promise<Suppression | null> {
  const isIt = 'id' in key ? sql`s.id = ${key.id}` : sql`s.address = ${key.address}`;
  const { rows } = await sql<Row>`
    select ${columns} from suppression s where s.workspace_id = ${workspaceId} and ${isIt} order by s.list limit 1`.execute(
    transaction,
  );
  return rows[0] === undefined ? null : toSuppression(rows[0]);
}

function whereSql(workspaceId: string, { reason, search }: SuppressionConditions): RawBuilder<unknown> {
  return sql`s.workspace_id = ${workspaceId}
    ${reason === null ? sql`` : sql`and s.reason = ${reason}`}
    ${search === null ? sql`` : sql`and s.address like ${containsPattern(search)}`}`;
}

interface Row {
  id: string;
  address: string;
  reason: Suppression['reason'];
  list: string;
  detail: string | null;
  refusal_reason: RefusalReason | null;
  email_id: string | null;
  created_at: Date;
}

const columns = sql`s.id, s.address, s.reason, s.list, s.detail, s.refusal_reason, s.email_id, s.created_at`;

function toSuppression(row: Row): Suppression {
  const {
    id,
    address,
    reason,
    list,
    detail,
    refusal_reason: refusalReason,
    email_id: emailId,
    created_at: createdAt,
  } = row;
  return { id, address, reason, list: list === '' ? null : list, detail, refusalReason, emailId, createdAt };
}

/** An address to suppress for a workspace. */
export interface SuppressionRecord {
  workspace_id: string;
  /** id of the suppression, if it is new */
  id: string;
  /** case-insensitive */
  address: string;
  reason: 'bounce' | 'complaint';
  /** text from the server or the report */
  detail: string | null;
  /** why the mail bounced; null for a complaint */
  refusal_reason: RefusalReason | null;
  email_id: string;
}

/**
 * Adds addresses to their users' suppression lists, in the caller's transaction and before its events. An entry that exists stays
 * unchanged, except that a complaint replaces a bounce. Rows are locked in key order.
 */
export async function suppressAddresses(client: ClientBase, records: readonly SuppressionRecord[]): Promise<void> {
  if (records.length === 0) return;
  await client.query({ name: 'suppress-addresses', text: SUPPRESS_SQL, values: [JSON.stringify(records)] });
}

const SUPPRESS_SQL = `
  insert into suppression as s (workspace_id, id, address, reason, detail, refusal_reason, email_id, created_at)
  select distinct on (g.workspace_id, lower(g.address)) g.workspace_id, g.id, lower(g.address), g.reason, g.detail, g.refusal_reason, g.email_id,
    (select postroom_now())
  from json_to_recordset($1) as g (workspace_id text, id text, address text, reason text, detail text, refusal_reason text, email_id text)
  order by g.workspace_id, lower(g.address), g.reason desc
  on conflict (workspace_id, address, list) do update set reason = excluded.reason, detail = excluded.detail, refusal_reason = excluded.refusal_reason,
    email_id = excluded.email_id
  where s.reason = 'bounce' and excluded.reason = 'complaint'`;

/**
 * Suppresses an address for one list, in the transaction of the workspace; nothing happens when it is suppressed already. An account that was erased
 * has no domain, and gets no row.
 */
export async function suppressForList(
  client: ClientBase,
  {
    id,
    workspaceId,
    address,
    list,
    emailId,
  }: { id: string; workspaceId: string; address: string; list: string; emailId: string },
): Promise<void> {
  await client.query({
    name: 'suppress-for-list',
    text: `
      insert into suppression (workspace_id, id, address, reason, list, email_id, created_at)
      select $1, $2, $3, 'unsubscribe', $4, (select e.id from email e where e.workspace_id = $1 and e.id = $5), (select postroom_now())
      where exists (select from domain d where d.workspace_id = $1)
      on conflict (workspace_id, address, list) do nothing`,
    values: [workspaceId, id, address, list, emailId],
  });
}
