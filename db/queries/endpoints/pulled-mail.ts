import { sql, type Transaction } from 'kysely';
import type { Row, Tables } from '../../entities/tables.ts';
import { bodySizeSql } from '../emails/bodies-in-message.ts';

/** A received email, as the requests for programs that pull them need it. */
export interface PulledMail {
  id: string;
  messageId: string;
  isTest: boolean;
  createdAt: Date;
  threadId: string | null;
  threadPosition: number | null;
  /** of its route; null: not decided yet */
  outcome: Row<'route'>['outcome'];
  releasedAt: Date | null;
  isQuiet: boolean;
  /** the first delivery to the endpoint; null: none */
  deliveryId: string | null;
}

/** Returns those of the emails that the workspace has, with their first deliveries to that endpoint. */
export async function readPulledMail(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { emailIds, endpointId }: { emailIds: readonly string[]; endpointId: string | null },
): Promise<PulledMail[]> {
  const { rows } = await sql<PulledMail>`
    select e.id, e.message_id as "messageId", e.is_test as "isTest", e.created_at as "createdAt", e.thread_id as "threadId",
      e.thread_position as "threadPosition", r.outcome, r.released_at as "releasedAt",
      coalesce(p.imported->>'isRouted' = 'false', false) as "isQuiet", d.id as "deliveryId"
    from unnest(${emailIds}::text[]) k(id)
    cross join lateral (select * from email e where e.workspace_id = ${workspaceId} and e.id = k.id limit 1) e
    left join lateral (select * from route r where r.workspace_id = ${workspaceId} and r.email_id = k.id limit 1) r on true
    left join lateral (select * from reception p where p.workspace_id = ${workspaceId} and p.email_id = k.id limit 1) p on true
    left join lateral (
      select d.id from delivery d
      where d.workspace_id = ${workspaceId} and d.email_id = k.id and d.endpoint_id = ${endpointId} and d.event_seq is null
      order by d.created_at, d.id limit 1) d on true`.execute(transaction);
  return rows;
}

/** Returns the bytes of the bodies of emails, or of their messages if they are larger, by email id. Bodies are not read for it. */
export async function readMailSizes(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; bytes: number }>`
    select k.id, greatest(z.bytes, coalesce(${sql.raw(bodySizeSql('text_body'))}, 0) + coalesce(${sql.raw(bodySizeSql('html_body'))}, 0))::int as bytes
    from unnest(${emailIds}::text[]) k(id)
    left join lateral (select * from email_content c where c.workspace_id = ${workspaceId} and c.email_id = k.id limit 1) c on true
    left join raw_sizes(${workspaceId}, ${emailIds}::text[]) z on z.email_id = k.id`.execute(transaction);
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}

/** Returns the number of the event up to which an endpoint has its deliveries; null when it subscribes to none. */
export async function readSubscriptionPosition(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
): Promise<number | null> {
  const row = await transaction
    .selectFrom('endpoint_subscription')
    .select('event_seq')
    .where('workspace_id', '=', workspaceId)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst();
  return row === undefined ? null : Number(row.event_seq);
}

/** Returns when the first deliveries of these events to the endpoint were created, by event number. */
export async function readEventDeliveries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { endpointId, seqs }: { endpointId: string; seqs: readonly number[] },
): Promise<Map<number, Date>> {
  const rows = await transaction
    .selectFrom('delivery')
    .select(['event_seq', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .where('endpoint_id', '=', endpointId)
    .where('event_seq', 'in', [...seqs, -1])
    .where('cause', '=', 'event')
    .execute();
  return new Map(rows.map((row) => [Number(row.event_seq), row.created_at]));
}
