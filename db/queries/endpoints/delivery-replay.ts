import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { EndpointType } from '../../../core/endpoints/endpoint-config.ts';
import type { Tables } from '../../entities/tables.ts';

const NOW = sql`date_trunc('milliseconds', postroom_now())`;

/** An endpoint, locked until the transaction ends, so that its replays run one after another. */
export interface HeldEndpoint {
  type: EndpointType;
  isActive: boolean;
  config: unknown;
  /** the creation time of new deliveries in this transaction */
  at: Date;
}

/** Null when the workspace has none with that id. */
export async function holdEndpoint(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
): Promise<HeldEndpoint | null> {
  const { rows } = await sql<HeldEndpoint>`
    select type, is_active as "isActive", config, ${NOW}::timestamptz as at
    from endpoint where workspace_id = ${workspaceId} and id = ${endpointId} for no key update`.execute(transaction);
  return rows[0] ?? null;
}

/** Selects emails and events whose latest delivery to the endpoint was created in that period and has that status. */
export interface ReplaySelection {
  endpointId: string;
  since: Date;
  /** exclusive */
  until: Date;
  status: 'failed' | 'all';
}

/** A received email, or an event, to deliver again. */
export interface ReplayedEmail {
  emailId: string | null;
  /** null: the email itself */
  eventSeq: number | null;
  eventKind: string | null;
  threadId: string | null;
  threadPosition: number | null;
}

/** Returns up to `limit` of them, first delivered first. */
export async function findReplayed(
  transaction: Transaction<Tables>,
  workspaceId: string,
  selection: ReplaySelection,
  limit: number,
): Promise<ReplayedEmail[]> {
  const { rows } = await sql<ReplayedEmail>`
    select d.email_id as "emailId", d.event_seq as "eventSeq", d.event_kind as "eventKind",
      case when d.event_seq is null then e.thread_id else d.thread_id end as "threadId", e.thread_position as "threadPosition"
    from (${latestDeliveries(workspaceId, selection, limit)}) d
    left join email e on e.workspace_id = ${workspaceId} and e.id = d.email_id and e.type = 'received'
    where d.event_seq is not null or e.id is not null
    order by d.created_at, d.id`.execute(transaction);
  return rows;
}

/** Counts them for each of the endpoints, up to `most` each, by endpoint id. */
export async function countReplayed(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { endpointIds, ...period }: Omit<ReplaySelection, 'endpointId'> & { endpointIds: readonly string[] },
  most: number,
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; total: number }>`
    select k.id, c.total from unnest(${endpointIds}::text[]) k(id)
    cross join lateral (
      select count(*) as total from (${latestDeliveries(workspaceId, { ...period, endpointId: sql.ref('k.id') }, most)}) d) c`.execute(
    transaction,
  );
  return new Map(rows.map(({ id, total }) => [id, Number(total)]));
}

/** Deliveries of a period that a replay leaves out, by reason; each counts up to the highest number that is counted together. */
export interface SkippedDeliveries {
  /** not over: an attempt runs, or a retry waits for its time */
  waiting: number;
  /** succeeded, when only failed ones are replayed */
  succeeded: number;
  /** with a later delivery to the endpoint, or one that waits */
  deliveredAgain: number;
}

/** Counts what findReplayed leaves out, among the latest `most` deliveries of the period. */
export async function countSkipped(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { endpointId, since, until, status }: ReplaySelection,
  most: number,
): Promise<SkippedDeliveries> {
  const ended = status === 'failed' ? sql`d.status = 'failed'` : sql`d.status <> 'pending'`;
  const { rows } = await sql<SkippedDeliveries>`
    select count(*) filter (where d.status = 'pending')::integer as waiting,
      count(*) filter (where d.status = 'success' and ${status === 'failed'})::integer as succeeded,
      count(*) filter (where ${ended} and ${hasLater(workspaceId, endpointId)})::integer as "deliveredAgain"
    from (
      select * from delivery o where o.workspace_id = ${workspaceId} and o.endpoint_id = ${endpointId}
        and o.created_at >= ${since} and o.created_at < ${until}
      order by o.created_at desc, o.id desc limit ${most}) d`.execute(transaction);
  return rows[0] ?? { waiting: 0, succeeded: 0, deliveredAgain: 0 };
}

/** Makes waiting retries of an endpoint due now, up to `limit`, the earliest first. Returns their ids; those under way are left out. */
export async function retryWaiting(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { endpointId, type }: { endpointId: string; type: EndpointType },
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with clock_now as materialized (select ${NOW} as at),
    waiting as materialized (
      select d.id from delivery d where ${isWaiting(workspaceId, { endpointId, type })}
      order by d.next_attempt_at limit ${limit} for no key update skip locked
    )
    update delivery d set next_attempt_at = (select at from clock_now) from waiting w
    where d.workspace_id = ${workspaceId} and d.id = w.id returning d.id`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** Whether retryWaiting would find one more. */
export async function isRetryWaiting(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpoint: { endpointId: string; type: EndpointType },
): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    with clock_now as materialized (select ${NOW} as at)
    select exists (select from delivery d where ${isWaiting(workspaceId, endpoint)}) as is`.execute(transaction);
  return rows[0]?.is === true;
}

/** Whether a delivery `d` waits for a retry later than `clock_now`. As in the indexes of pending deliveries. */
function isWaiting(workspaceId: string, { endpointId, type }: { endpointId: string; type: EndpointType }) {
  const ofType = type === 'webhook' ? sql`d.delivery_type = 'webhook'` : sql`d.delivery_type <> 'webhook'`;
  return sql`d.workspace_id = ${workspaceId} and d.endpoint_id = ${endpointId} and d.status = 'pending' and ${ofType}
    and d.next_attempt_at > (select at from clock_now)
    and (d.claimed_until is null or d.claimed_until < (select at from clock_now))`;
}

/** A value, or a column of the statement around. */
type EndpointId = string | RawBuilder<unknown>;

function latestDeliveries(
  workspaceId: string,
  { endpointId, since, until, status }: Omit<ReplaySelection, 'endpointId'> & { endpointId: EndpointId },
  limit: number,
) {
  const ended = status === 'failed' ? sql`d.status = 'failed'` : sql`d.status <> 'pending'`;
  return sql`
    select d.email_id, d.event_seq, d.event_kind, d.thread_id, d.created_at, d.id from delivery d
    where d.workspace_id = ${workspaceId} and d.endpoint_id = ${endpointId} and ${ended}
      and d.created_at >= ${since} and d.created_at < ${until}
      and not ${hasLater(workspaceId, endpointId)}
    order by d.created_at, d.id limit ${limit}`;
}

/** Whether a delivery `d` has a later one of the same email or event to the endpoint, or one that is not over. */
function hasLater(workspaceId: string, endpointId: EndpointId) {
  const isLater = sql`((l.created_at, l.id) > (d.created_at, d.id) or l.status = 'pending')`;
  return sql`case when d.event_seq is not null then exists (
      select from delivery l
      where l.workspace_id = ${workspaceId} and l.endpoint_id = ${endpointId} and l.event_seq = d.event_seq and ${isLater})
    else exists (
      select from delivery l
      -- by the email, which has few: the endpoint's index has many, and looks as good to a planner without statistics
      where l.workspace_id = ${workspaceId} and l.email_id = d.email_id and l.endpoint_id || '' = ${endpointId}
        and l.event_seq is null and ${isLater}) end`;
}

/** Common values of the new deliveries. */
export interface ReplayDeliveries {
  endpointId: string;
  type: EndpointType;
  attemptsAllowed: number;
}

/** Creates a delivery of each email, due now. */
export async function insertReplays(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { endpointId, type, attemptsAllowed }: ReplayDeliveries,
  emails: readonly (ReplayedEmail & { deliveryId: string })[],
): Promise<void> {
  await sql`
    insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, thread_id, thread_position, event_seq, event_kind, attempts_allowed,
      cause, next_attempt_at, created_at)
    select ${workspaceId}, x."deliveryId", x."emailId", ${endpointId}, ${type}, x."threadId", x."threadPosition", x."eventSeq", x."eventKind",
      ${attemptsAllowed}::integer, 'replay', n.at, n.at
    from jsonb_to_recordset(${JSON.stringify(emails)}::jsonb)
      as x("deliveryId" text, "emailId" text, "threadId" text, "threadPosition" integer, "eventSeq" bigint, "eventKind" text)
    cross join (select ${NOW} as at) n`.execute(transaction);
}
