import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { EndpointType, WebhookFormat } from '../../../core/endpoints/endpoint-config.ts';
import type { EndpointSubscription, EventFilter } from '../../../core/endpoints/endpoint-events.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Row, Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';
import { containsPattern } from '../search/search-pattern.ts';

export interface Endpoint extends EndpointSubscription {
  id: string;
  name: string;
  type: EndpointType;
  webhookFormat: WebhookFormat;
  config: Record<string, unknown>;
  secretCiphertext: string | null;
  isActive: boolean;
  /** why Postroom disabled it; null: it did not */
  inactiveReason: string | null;
  description: string | null;
  createdAt: Date;
  updatedAt: Date;
  stats: { total: number; successful: number; failed: number; lastDeliveryAt: Date | null };
}

/** Filters of a list of endpoints; null matches all. */
export interface EndpointConditions {
  ids: readonly string[] | null;
  type: EndpointType | null;
  isActive: boolean | null;
  /** part of name or configuration, case-insensitive */
  search: string | null;
}

/** Returns a page by creation time, and the total count. */
export async function listEndpoints(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EndpointConditions,
  page: Page & { order: 'newest' | 'oldest' },
): Promise<{ endpoints: Endpoint[]; total: number }> {
  const where = toWhere(workspaceId, conditions);
  const order = (of: 'n' | 'p') => keysetOrder(of, { isInverted: page.order === 'oldest' });
  const { rows } = await sql<{ total: number } & (ListedRow | { id: null })>`
    select t.total, p.* from (select count(*) as total from endpoint n where ${where}) t
    left join lateral (
      select ${columns} ${from} where ${where} ${order('n')} limit ${page.limit} offset ${page.offset}
    ) p on true ${order('p')}`.execute(transaction);
  return {
    endpoints: rows.flatMap((row) => (row.id === null ? [] : [toEndpoint(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** Returns the endpoints between two cursors, newest first; inverted: oldest first. */
export async function pageEndpoints(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EndpointConditions,
  page: KeysetPage,
): Promise<Endpoint[]> {
  const { rows } = await sql<ListedRow>`
    select ${columns} ${from} where ${toWhere(workspaceId, conditions)} ${keysetConditions('n', page)}
    ${keysetOrder('n', page)} limit ${page.limit}`.execute(transaction);
  return rows.map(toEndpoint);
}

export async function countEndpoints(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EndpointConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from endpoint n where ${toWhere(workspaceId, conditions)}`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

function toWhere(workspaceId: string, { ids, type, isActive, search }: EndpointConditions): RawBuilder<unknown> {
  return sql`n.workspace_id = ${workspaceId}
    ${ids === null ? sql`` : sql`and n.id = any (${ids}::text[])`}
    ${type === null ? sql`` : sql`and n.type = ${type}`}
    ${isActive === null ? sql`` : sql`and n.is_active = ${isActive}`}
    ${search === null ? sql`` : sql`and lower(n.name || ' ' || (n.config - 'verificationToken')::text) like ${containsPattern(search)}`}`;
}

const columns = sql`n.*, s.total as delivery_total, s.successful, s.failed, s.last_delivery_at`;
const from = sql`from endpoint n left join endpoint_stat s on s.workspace_id = n.workspace_id and s.endpoint_id = n.id`;

type ListedRow = Omit<Row<'endpoint'>, 'created_at' | 'updated_at' | 'config' | 'filter'> & {
  config: Record<string, unknown>;
  filter: EventFilter | null;
  created_at: Date;
  updated_at: Date;
  delivery_total: number | null;
  successful: number | null;
  failed: number | null;
  last_delivery_at: Date | null;
};

function toEndpoint(row: ListedRow): Endpoint {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    webhookFormat: row.webhook_format,
    config: row.config,
    secretCiphertext: row.secret_ciphertext,
    isActive: row.is_active,
    inactiveReason: row.inactive_reason,
    description: row.description,
    events: row.events,
    filter: row.filter,
    payloadQuery: row.payload_query,
    ordering: row.ordering,
    allowActions: row.allow_actions,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    stats: {
      total: Number(row.delivery_total ?? 0),
      successful: Number(row.successful ?? 0),
      failed: Number(row.failed ?? 0),
      lastDeliveryAt: row.last_delivery_at,
    },
  };
}
