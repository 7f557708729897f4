import { type RawBuilder, sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { ApiInterface, StatusClass } from '../../../core/accounts/logged-request.ts';
import type { Right } from '../../../core/accounts/rights.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';
import { containsPattern } from '../search/search-pattern.ts';

/** A request in the log without its bodies. Its texts hold no secrets. */
export interface ApiRequestRow {
  id: string;
  createdAt: Date;
  keyId: string;
  interface: ApiInterface;
  method: string;
  /** with the query */
  path: string;
  /** name of the GraphQL operation or the MCP tool; null: unknown, or REST */
  operation: string | null;
  status: number;
  durationMs: number;
  clientAddress: string;
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string>;
  /** null: no body, or of unknown size */
  requestBytes: number | null;
  responseBytes: number | null;
  /** whether bodies were left out because the gateway was busy */
  omitsBodies: boolean;
  /** of the bodies that are kept, together; bytes */
  bodyBytes: number;
}

/** The bodies of a request; null: none, or not kept. */
export interface ApiRequestBodies {
  requestBody: string | null;
  responseBody: string | null;
}

export interface LoggedRequest extends Omit<ApiRequestRow, 'bodyBytes'>, ApiRequestBodies {
  workspaceId: string;
  /** the confidential rights that it needed */
  rights: readonly Right[];
}

/** Stores requests of any workspaces. Those of erased accounts are left out. */
export async function storeApiRequests(database: Database, requests: readonly LoggedRequest[]): Promise<void> {
  const rows = requests.map((request) => ({
    workspace_id: request.workspaceId,
    id: request.id,
    created_at: request.createdAt,
    key_id: request.keyId,
    interface: request.interface,
    method: request.method,
    path: request.path,
    operation: request.operation,
    status: request.status,
    duration_ms: request.durationMs,
    client_address: request.clientAddress,
    request_headers: request.requestHeaders,
    response_headers: request.responseHeaders,
    request_bytes: request.requestBytes,
    request_body: request.requestBody,
    response_bytes: request.responseBytes,
    response_body: request.responseBody,
    omits_bodies: request.omitsBodies,
    rights: request.rights,
  }));
  await database.pool.query({
    name: 'store-api-requests',
    text: 'select store_api_requests($1::json)',
    values: [JSON.stringify(rows)],
  });
}

/** Filters of the log; null matches all. */
export interface ApiRequestConditions {
  /** the rights of who reads the log: bodies of requests that needed others are neither shown nor searched */
  rights: readonly Right[];
  statusClass: StatusClass | null;
  method: string | null;
  interface: ApiInterface | null;
  keyId: string | null;
  /** part of the id, path, operation or bodies, case-insensitive */
  search: string | null;
  since: Date | null;
  until: Date | null;
}

/**
 * Requests that one search reads, from the newest or the cursor on, because no index covers parts of bodies. Reading 20,000
 * with 8 KB each took 0.6 s (2 busy cores, November 2026).
 */
export const SEARCHED_REQUESTS = 10_000;

/** Returns the requests between two cursors, newest first; inverted: oldest first. A search covers SEARCHED_REQUESTS of them. */
export async function pageApiRequests(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: ApiRequestConditions,
  page: KeysetPage,
): Promise<ApiRequestRow[]> {
  const order = keysetOrder('r', page);
  const matching = sql`select r.* from api_request r where ${whereSql(workspaceId, conditions)} ${keysetConditions('r', page)} ${order}`;
  const { rows } = await sql<ApiRequestRow>`
    select ${COLUMNS} from (${searched(matching, conditions)}) r ${order} limit ${page.limit}`.execute(transaction);
  return rows;
}

/** Returns a page, newest first. A search covers SEARCHED_REQUESTS. */
export async function listApiRequests(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: ApiRequestConditions,
  page: Page,
): Promise<ApiRequestRow[]> {
  const order = sql`order by r.created_at desc, r.id desc`;
  const matching = sql`select r.* from api_request r where ${whereSql(workspaceId, conditions)} ${order}`;
  const { rows } = await sql<ApiRequestRow>`
    select ${COLUMNS} from (${searched(matching, conditions)}) r ${order} limit ${page.limit} offset ${page.offset}`.execute(
    transaction,
  );
  return rows;
}

/** Counting stops at this number. */
export const MAX_COUNTED_REQUESTS = 10_000;

/** Returns how many requests match, up to MAX_COUNTED_REQUESTS. */
export async function countApiRequests(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: ApiRequestConditions,
): Promise<number> {
  const matching = sql`select r.* from api_request r where ${whereSql(workspaceId, conditions)} order by r.created_at desc, r.id desc`;
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from (
      select from (${searched(matching, conditions)}) r limit ${MAX_COUNTED_REQUESTS}) c`.execute(transaction);
  return rows[0]?.total ?? 0;
}

/** Returns those of the requests that belong to the workspace, unordered. */
export async function findApiRequests(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<ApiRequestRow[]> {
  const { rows } = await sql<ApiRequestRow>`
    select ${COLUMNS} from api_request r where r.workspace_id = ${workspaceId} and r.id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows;
}

/** Returns the bodies of those of the requests that belong to the workspace, as a reader with these rights sees them, unordered. */
export async function findRequestBodies(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
  rights: readonly Right[],
): Promise<(ApiRequestBodies & { id: string })[]> {
  const body = (name: string) =>
    sql`case when ${sql.ref(name)} is null or r.rights <@ ${rights}::text[] then ${sql.ref(name)} else ${NOT_SHOWN} end`;
  const { rows } = await sql<ApiRequestBodies & { id: string }>`
    select r.id, ${body('r.request_body')} as "requestBody", ${body('r.response_body')} as "responseBody"
    from api_request r where r.workspace_id = ${workspaceId} and r.id = any (${ids}::text[])`.execute(transaction);
  return rows;
}

/** Removes requests that are older than an instant, whose bodies may hold mail; returns how many. In a transaction. */
export async function removeOldRequests(
  client: pg.ClientBase,
  workspaceId: string,
  before: Date,
  limit: number,
): Promise<number> {
  const { rowCount } = await client.query({
    name: 'retention-requests',
    text: `
      delete from api_request r where r.workspace_id = $1 and r.id = any (array(
        select o.id from api_request o where o.workspace_id = $1 and o.created_at < $2 order by o.created_at limit $3 for update skip locked))`,
    values: [workspaceId, before.toISOString(), limit],
  });
  return rowCount ?? 0;
}

const STATUS_SQL: Record<StatusClass, RawBuilder<unknown>> = {
  success: sql`and r.status < 400`,
  client_error: sql`and r.status between 400 and 499`,
  server_error: sql`and r.status >= 500`,
};

function whereSql(workspaceId: string, conditions: ApiRequestConditions): RawBuilder<unknown> {
  const { statusClass, method, interface: kind, keyId, since, until } = conditions;
  return sql`r.workspace_id = ${workspaceId}
    ${statusClass === null ? sql`` : STATUS_SQL[statusClass]}
    ${method === null ? sql`` : sql`and r.method = ${method}`}
    ${kind === null ? sql`` : sql`and r.interface = ${kind}`}
    ${keyId === null ? sql`` : sql`and r.key_id = ${keyId}`}
    ${since === null ? sql`` : sql`and r.created_at >= ${since.toISOString()}::timestamptz`}
    ${until === null ? sql`` : sql`and r.created_at < ${until.toISOString()}::timestamptz`}`;
}

function searched(matching: RawBuilder<unknown>, { search, rights }: ApiRequestConditions): RawBuilder<unknown> {
  if (search === null) return matching;
  const pattern = containsPattern(search);
  return sql`select s.* from (${matching} limit ${SEARCHED_REQUESTS}) s
    where s.id ilike ${pattern} or s.path ilike ${pattern} or s.operation ilike ${pattern}
      or s.rights <@ ${rights}::text[] and (s.request_body ilike ${pattern} or s.response_body ilike ${pattern})`;
}

/** Begins as every note instead of a body does. */
const NOT_SHOWN = '[not logged: the body is shown to those who may make such a request]';

const COLUMNS = sql`r.id, r.created_at as "createdAt", r.key_id as "keyId", r.interface, r.method, r.path, r.operation, r.status,
  r.duration_ms as "durationMs", r.client_address as "clientAddress", r.request_headers as "requestHeaders",
  r.response_headers as "responseHeaders", r.request_bytes as "requestBytes", r.response_bytes as "responseBytes", r.omits_bodies as "omitsBodies",
  coalesce(octet_length(r.request_body), 0) + coalesce(octet_length(r.response_body), 0) as "bodyBytes"`;
