import { CompiledQuery, sql, type Transaction } from 'kysely';
import type { EndpointType, WebhookFormat } from '../../../core/endpoints/endpoint-config.ts';
import type { EventFilter } from '../../../core/endpoints/endpoint-events.ts';
import { type StoredMail } from '../../../core/endpoints/payload-facts.ts';
import { freeTexts, LARGE_BODY_BYTES, wholeText } from '../../../core/shared/large-text.ts';
import type { Tables } from '../../entities/tables.ts';
import { type PlacedColumns, placedColumns, readPlaced } from '../emails/bodies-in-message.ts';
import { BODY_COLUMNS, type BodyColumn, readLargeBodies } from '../emails/large-bodies.ts';

/** What the body of a webhook request is built from, except for the email. */
export interface DeliveryBodyParts {
  deliveryId: string;
  emailId: string;
  createdAt: Date;
  threadId: string | null;
  threadPosition: number | null;
  lastAttemptAt: Date | null;
  endpoint: {
    id: string;
    name: string;
    type: EndpointType;
    webhookFormat: WebhookFormat;
    config: unknown;
    payloadQuery: string | null;
    filter: EventFilter | null;
    updatedAt: Date;
  };
}

/** Returns those of the deliveries that belong to the workspace, carry an email to a webhook, and whose endpoint still exists. */
export async function findDeliveryBodyParts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  deliveryIds: readonly string[],
): Promise<DeliveryBodyParts[]> {
  const { rows } = await sql<BodyRow>`
    select d.id as delivery_id, d.email_id, d.created_at, d.thread_id, d.thread_position, d.last_attempt_at, n.id, n.name, n.type, n.webhook_format,
      n.config, n.payload_query, n.filter, n.updated_at
    from delivery d join endpoint n on n.workspace_id = ${workspaceId} and n.id = d.endpoint_id
    where d.workspace_id = ${workspaceId} and d.id = any (${deliveryIds}::text[]) and d.delivery_type = 'webhook' and d.event_seq is null`.execute(
    transaction,
  );
  return rows.map((row) => ({
    deliveryId: row.delivery_id,
    emailId: row.email_id,
    createdAt: row.created_at,
    threadId: row.thread_id,
    threadPosition: row.thread_position,
    lastAttemptAt: row.last_attempt_at,
    endpoint: {
      id: row.id,
      name: row.name,
      type: row.type,
      webhookFormat: row.webhook_format,
      config: row.config,
      payloadQuery: row.payload_query,
      filter: row.filter,
      updatedAt: row.updated_at,
    },
  }));
}

/**
 * Returns those of the emails that belong to the workspace, by id. Large bodies are read in pieces: for a row of megabytes, the driver of PostgreSQL
 * takes several times as much, and keeps it.
 */
export async function findDeliveryContents(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Map<string, DeliveryContentRow>> {
  const values = [emailIds.map(() => workspaceId), emailIds];
  const { rows } = await transaction.executeQuery(
    CompiledQuery.raw(readSmallContentSql, values) as CompiledQuery<StoredContentRow & { large: BodyColumn[] }>,
  );
  const contents = new Map<string, DeliveryContentRow>();
  for (const { large: columns, ...row } of rows) {
    const placed = readPlaced(row);
    const read = await readLargeBodies(transaction, workspaceId, { emailId: row.id, row: placed, columns });
    const bodies = Object.fromEntries(columns.map((column) => [column, wholeText(read[column])]));
    freeTexts(read);
    contents.set(row.id, { ...placed, ...bodies });
  }
  return contents;
}

interface BodyRow {
  delivery_id: string;
  email_id: string;
  created_at: Date;
  thread_id: string | null;
  thread_position: number | null;
  last_attempt_at: Date | null;
  id: string;
  name: string;
  type: EndpointType;
  webhook_format: WebhookFormat;
  config: unknown;
  payload_query: string | null;
  filter: EventFilter | null;
  updated_at: Date;
}

/** A received email as webhooks carry it. */
export interface DeliveryContentRow extends StoredMail {
  raw_id: string | null;
  /** created by its workspace as a test */
  is_test: boolean;
}

/** A row of DELIVERY_CONTENT_COLUMNS, which readPlaced makes a DeliveryContentRow. */
export type StoredContentRow = DeliveryContentRow & PlacedColumns;

/** The columns of StoredContentRow, of `email e` and `email_content c`. */
export const DELIVERY_CONTENT_COLUMNS = `e.workspace_id, e.id, e.raw_id, e.message_id, e.subject, e.recipient, e.own_address, e.created_at, e.date,
  e.is_test, e.metadata, c.headers, c.addresses, c.in_reply_to, c.reference_ids, c.text_body, c.html_body, c.cleaned_text, c.cleaned_html,
  c.removed_parts, c.attachments, c.authentication, c.injection, c.screening, c.priority, c.is_truncated, ${placedColumns()}`;

/** Emails with their content, by the parallel arrays $1 (workspace ids) and $2 (email ids). Rows: StoredContentRow. */
export const readDeliveryContentSql = `
  select ${DELIVERY_CONTENT_COLUMNS}
  from unnest($1::text[], $2::text[]) k(workspace_id, id)
  -- limit 1: looked up by key, row by row, whatever the planner thinks of the tables' sizes
  cross join lateral (select * from email e where e.workspace_id = k.workspace_id and e.id = k.id limit 1) e
  cross join lateral (select * from email_content c where c.workspace_id = k.workspace_id and c.email_id = k.id limit 1) c`;

const isLarge = (column: BodyColumn) => `octet_length(c.${column}) > ${LARGE_BODY_BYTES}`;

/** The same without large bodies, and the columns of these as `large`. */
const readSmallContentSql = BODY_COLUMNS.reduce(
  (text, column) => text.replace(`c.${column}`, `case when not ${isLarge(column)} then c.${column} end as ${column}`),
  readDeliveryContentSql,
).replace(
  'c.is_truncated,',
  `c.is_truncated, array_remove(array[${BODY_COLUMNS.map((column) => `case when ${isLarge(column)} then '${column}' end`).join(', ')}], null) as large,`,
);
