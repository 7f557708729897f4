import { sql, type Transaction } from 'kysely';
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

/** Null when the user has none with that id. */
export async function holdEndpoint(
  transaction: Transaction<Tables>,
  userId: string,
  endpointId: string,
): Promise<HeldEndpoint | null> {
  const { rows } = await sql<HeldEndpoint>`
    select type, is_active as "isActive", config, ${NOW}::timestamptz as at
    from endpoint where user_id = ${userId} and id = ${endpointId} for no key update`.execute(transaction);
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
  userId: string,
  selection: ReplaySelection,
  limit: number,
): Promise<ReplayedEmail[]> {
  const { rows } = await sql<ReplayedEmail>`
    select d.email_id as "emailId", d.event_seq as "eventSeq", d.event_kind as "eventKind",
      case when d.event_seq is null then e.thread_id else d.thread_id end as "threadId", e.thread_position as "threadPosition"
    from (${latestDeliveries(userId, selection, limit)}) d
    left join email e on e.user_id = ${userId} and e.id = d.email_id and e.type = 'received'
    where d.event_seq is not null or e.id is not null
    order by d.created_at, d.id`.execute(transaction);
  return rows;
}

/** Counts them, up to `most`. */
export async function countReplayed(
  transaction: Transaction<Tables>,
  userId: string,
  selection: ReplaySelection,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from (${latestDeliveries(userId, selection, most)}) d`.execute(transaction);
  return rows[0]?.total ?? 0;
}

function latestDeliveries(userId: string, { endpointId, since, until, status }: ReplaySelection, limit: number) {
  const ended = status === 'failed' ? sql`d.status = 'failed'` : sql`d.status <> 'pending'`;
  const isLater = sql`((l.created_at, l.id) > (d.created_at, d.id) or l.status = 'pending')`;
  return sql`
    select d.email_id, d.event_seq, d.event_kind, d.thread_id, d.created_at, d.id from delivery d
    where d.user_id = ${userId} and d.endpoint_id = ${endpointId} and ${ended}
      and d.created_at >= ${since} and d.created_at < ${until}
      and case when d.event_seq is not null then not exists (
        select from delivery l
        where l.user_id = ${userId} and l.endpoint_id = ${endpointId} and l.event_seq = d.event_seq and ${isLater})
      else not exists (
        select from delivery l
        -- by the email, which has few: the endpoint's index has many, and looks as good to a planner without statistics
        where l.user_id = ${userId} and l.email_id = d.email_id and l.endpoint_id || '' = ${endpointId}
          and l.event_seq is null and ${isLater}) end
    order by d.created_at, d.id limit ${limit}`;
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
  userId: string,
  { endpointId, type, attemptsAllowed }: ReplayDeliveries,
  emails: readonly (ReplayedEmail & { deliveryId: string })[],
): Promise<void> {
  await sql`
    insert into delivery (user_id, id, email_id, endpoint_id, delivery_type, thread_id, thread_position, event_seq, event_kind, attempts_allowed,
      cause, next_attempt_at, created_at)
    select ${userId}, x."deliveryId", x."emailId", ${endpointId}, ${type}, x."threadId", x."threadPosition", x."eventSeq", x."eventKind",
      ${attemptsAllowed}::integer, 'replay', n.at, n.at
    from jsonb_to_recordset(${JSON.stringify(emails)}::jsonb)
      as x("deliveryId" text, "emailId" text, "threadId" text, "threadPosition" integer, "eventSeq" bigint, "eventKind" text)
    cross join (select ${NOW} as at) n`.execute(transaction);
}
