import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DeliveryStatus } from '../../../core/endpoints/delivery.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';
import {
  type DeliveryAttempt,
  type DeliverySummary,
  type DeliverySummaryRow,
  deliverySummary,
  deliverySummaryColumns,
} from './delivery-row.ts';

/** Several endpoints, or several emails, whose deliveries are listed. */
export interface DeliveryOwners {
  kind: 'endpoint' | 'email';
  ids: readonly string[];
}

/** Returns the deliveries of each owner between two cursors, newest first; inverted: oldest first. Status null: of every status. */
export async function pageDeliveries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { kind, ids }: DeliveryOwners,
  status: DeliveryStatus | null,
  page: KeysetPage,
): Promise<DeliverySummary[]> {
  const order = (alias: string) => keysetOrder(alias, page);
  const part = (condition: RawBuilder<unknown>) => sql`(
    select ${deliverySummaryColumns} from delivery d
    where d.workspace_id = ${workspaceId} and ${ownedBy(kind)} ${condition} ${keysetConditions('d', page)} ${order('d')} limit ${page.limit})`;
  const { rows } = await sql<DeliverySummaryRow>`
    select d.* from unnest(${ids}::text[]) as w(id)
    cross join lateral (
      select * from (${sql.join(toConditions(status, kind).map(part), sql` union all `)}) d ${order('d')} limit ${page.limit}
    ) d ${order('d')}`.execute(transaction);
  return rows.map(deliverySummary);
}

/** Counts the deliveries of each owner. */
export async function countDeliveries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { kind, ids }: DeliveryOwners,
  status: DeliveryStatus | null,
): Promise<Map<string, number>> {
  const count = (of: DeliveryStatus | null) =>
    sql`(${sql.join(
      toConditions(of, kind).map(
        (condition) =>
          sql`(select count(*) from delivery d where d.workspace_id = ${workspaceId} and ${ownedBy(kind)} ${condition})`,
      ),
      sql` + `,
    )})`;
  // Uses indexes only: most deliveries succeeded, and these are all except the few that failed or are pending.
  const total = status === 'success' ? sql`${count(null)} - ${count('failed')} - ${count('pending')}` : count(status);
  const { rows } = await sql<{ id: string; total: number }>`
    select w.id, (${total})::integer as total from unnest(${ids}::text[]) as w(id)`.execute(transaction);
  return new Map(rows.map((row) => [row.id, row.total]));
}

/** Returns those of the deliveries that belong to the workspace, unordered. */
export async function findDeliveries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<DeliverySummary[]> {
  const { rows } = await sql<DeliverySummaryRow>`
    select ${deliverySummaryColumns} from delivery d where d.workspace_id = ${workspaceId} and d.id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows.map(deliverySummary);
}

/** More than any delivery has, including interrupted ones. */
const MAX_ATTEMPTS = 1_000;

/** Returns all attempts of the deliveries, oldest first per delivery. */
export async function findAttempts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  deliveryIds: readonly string[],
): Promise<(DeliveryAttempt & { deliveryId: string })[]> {
  const { rows } = await sql<DeliveryAttempt & { deliveryId: string }>`
    select a.* from unnest(${deliveryIds}::text[]) as w(id)
    cross join lateral (
      select a.delivery_id as "deliveryId", a.number, a.started_at as "startedAt", a.duration_ms as "durationMs", a.outcome,
        a.status_code as "statusCode", a.error, a.response_body as "responseBody", a.request_headers as "requestHeaders"
      from delivery_attempt a where a.workspace_id = ${workspaceId} and a.delivery_id = w.id
      -- The bound keeps the planner from joining all that the view has: deliveries are looked up one by one, by their keys.
      order by a.number limit ${MAX_ATTEMPTS}
    ) a order by a.number`.execute(transaction);
  return rows;
}

/** Returns the ids of the recipients of forwarded copies, in order; none for webhooks. */
export async function findForwardRecipients(
  transaction: Transaction<Tables>,
  workspaceId: string,
  deliveryIds: readonly string[],
): Promise<{ id: string; deliveryId: string }[]> {
  const { rows } = await sql<{ id: string; deliveryId: string }>`
    select id, delivery_id as "deliveryId" from recipient
    where workspace_id = ${workspaceId} and delivery_id = any (${deliveryIds}::text[]) order by id`.execute(
    transaction,
  );
  return rows;
}

function ownedBy(kind: DeliveryOwners['kind']): RawBuilder<unknown> {
  return kind === 'endpoint' ? sql`d.endpoint_id = w.id` : sql`d.email_id = w.id`;
}

/** An index serves each variant: the values are part of the text, and pending deliveries have one index for webhooks and one for copies. */
function toConditions(status: DeliveryStatus | null, kind: DeliveryOwners['kind']): RawBuilder<unknown>[] {
  if (status === null) return [sql``];
  if (status !== 'pending' || kind === 'email') return [sql`and d.status = ${sql.lit(status)}`];
  return [
    sql`and d.status = 'pending' and d.delivery_type = 'webhook'`,
    sql`and d.status = 'pending' and d.delivery_type <> 'webhook'`,
  ];
}
