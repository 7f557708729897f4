import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DeliveryStatus } from '../../../core/endpoints/delivery.ts';
import type { EndpointType } from '../../../core/endpoints/endpoint-config.ts';
import type { Page } from '../../../core/shared/page.ts';
import type { RecipientStatus } from '../../../core/smtp/delivery-status.ts';
import type { Tables } from '../../entities/tables.ts';
import {
  type DeliveryAttempt,
  type DeliverySummary,
  type DeliverySummaryRow,
  deliverySummary,
} from './delivery-row.ts';

/** A recipient of a forwarded copy. */
interface DeliveryRecipient {
  address: string;
  status: RecipientStatus;
  /** the last reply of a server: reply code, RFC 3463 code and text */
  code: number | null;
  enhancedStatus: string | null;
  text: string | null;
  settledAt: Date | null;
}

/** The delivery of a received email or an event to one endpoint. */
export interface Delivery extends DeliverySummary {
  /** oldest first */
  attemptLog: DeliveryAttempt[];
  /** of forwarded copies; empty for webhooks */
  recipients: DeliveryRecipient[];
}

/** One endpoint, whose type never changes; or one email, with the events about it. */
export type DeliveryOwner = { endpointId: string; type: EndpointType } | { emailId: string };

/** Returns a page, newest first, and the total count; status null: of every status. */
export async function listDeliveries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  owner: DeliveryOwner,
  status: DeliveryStatus | null,
  page: Page,
): Promise<{ deliveries: Delivery[]; total: number }> {
  const owned = ownedBy(owner);
  const among = (of: DeliveryStatus | null) =>
    sql`d.workspace_id = ${workspaceId} and ${owned} ${of === null ? sql`` : whereStatus(of, owner)}`;
  const { rows } = await sql<{ total: number } & (ListedRow | { id: null })>`
    select t.total, p.* from (select ${writeCount(among, status)} as total) t
    left join lateral (${toPage(among(status), page)}) p on true
    order by p.created_at desc, p.id desc`.execute(transaction);
  return {
    deliveries: rows.flatMap((row) => (row.id === null ? [] : [toDelivery(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

function ownedBy(owner: DeliveryOwner): RawBuilder<unknown> {
  return 'endpointId' in owner ? sql`d.endpoint_id = ${owner.endpointId}` : sql`d.email_id = ${owner.emailId}`;
}

/** Returns the latest deliveries to an endpoint, newest first. */
export async function readRecentDeliveries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
  limit: number,
): Promise<Delivery[]> {
  const where = sql`d.workspace_id = ${workspaceId} and d.endpoint_id = ${endpointId}`;
  const { rows } = await sql<ListedRow>`
    select p.* from (${toPage(where, { limit, offset: 0 })}) p order by p.created_at desc, p.id desc`.execute(
    transaction,
  );
  return rows.map(toDelivery);
}

/** Returns up to `limit` deliveries of each email, newest first, without those of events about it. */
export async function findRoutedDeliveries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
  limit: number,
): Promise<Delivery[]> {
  const where = sql`d.workspace_id = ${workspaceId} and d.email_id = k.id and d.event_seq is null`;
  const { rows } = await sql<ListedRow>`
    select p.* from unnest(${emailIds}::text[]) k(id) cross join lateral (${toPage(where, { limit, offset: 0 })}) p
    order by p.created_at desc, p.id desc`.execute(transaction);
  return rows.map(toDelivery);
}

/** Returns those of the deliveries that belong to the workspace, unordered. */
export async function readDeliveries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  deliveryIds: readonly string[],
): Promise<Delivery[]> {
  const where = sql`d.workspace_id = ${workspaceId} and d.id = any (${deliveryIds}::text[])`;
  const { rows } = await sql<ListedRow>`${toPage(where, { limit: deliveryIds.length, offset: 0 })}`.execute(
    transaction,
  );
  return rows.map(toDelivery);
}

/** Uses indexes only: there are indexes for the few that failed and the few that are pending. The others succeeded. */
function writeCount(
  among: (of: DeliveryStatus | null) => RawBuilder<unknown>,
  status: DeliveryStatus | null,
): RawBuilder<number> {
  const count = (of: DeliveryStatus | null) => sql`(select count(*) from delivery d where ${among(of)})`;
  return status === 'success'
    ? sql<number>`${count(null)} - ${count('failed')} - ${count('pending')}`
    : sql<number>`${count(status)}`;
}

function toPage(where: RawBuilder<unknown>, page: Page): RawBuilder<unknown> {
  return sql`
    select d.*, a.attempt_log, r.recipients
    from (
      select d.* from delivery d where ${where}
      order by d.created_at desc, d.id desc limit ${page.limit} offset ${page.offset}
    ) d
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('number', a.number, 'startedAt', a.started_at, 'durationMs', a.duration_ms,
        'outcome', a.outcome, 'statusCode', a.status_code, 'error', a.error, 'requestHeaders', a.request_headers,
        'responseBody', a.response_body) order by a.number), '[]') as attempt_log
      from delivery_attempt a where a.workspace_id = d.workspace_id and a.delivery_id = d.id) a
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('address', r.address, 'status', r.status, 'code', r.last_code,
        'enhancedStatus', r.last_status, 'text', r.last_text, 'settledAt', r.settled_at) order by r.id), '[]') as recipients
      from recipient r where r.workspace_id = d.workspace_id and r.delivery_id = d.id) r`;
}

/** The values are part of the text, so that the planner sees which index fits. */
function whereStatus(status: DeliveryStatus, owner: DeliveryOwner): RawBuilder<unknown> {
  if (status !== 'pending' || !('endpointId' in owner)) return sql`and d.status = ${sql.lit(status)}`;
  return owner.type === 'webhook'
    ? sql`and d.status = 'pending' and d.delivery_type = 'webhook'`
    : sql`and d.status = 'pending' and d.delivery_type <> 'webhook'`;
}

type InstantTexts<T, K extends keyof T> = Omit<T, K> & { [key in K]: string | Exclude<T[key], Date> };

interface ListedRow extends DeliverySummaryRow {
  attempt_log: InstantTexts<DeliveryAttempt, 'startedAt'>[];
  recipients: InstantTexts<DeliveryRecipient, 'settledAt'>[];
}

function toDelivery(row: ListedRow): Delivery {
  return {
    ...deliverySummary(row),
    attemptLog: row.attempt_log.map((attempt) => ({ ...attempt, startedAt: new Date(attempt.startedAt) })),
    recipients: row.recipients.map((recipient) => ({
      ...recipient,
      settledAt: recipient.settledAt === null ? null : new Date(recipient.settledAt),
    })),
  };
}
