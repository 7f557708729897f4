import type pg from 'pg';
import type { Database } from '../../connection/database.ts';
import { countEmailsSql } from '../emails/email-counter.ts';
import type { FeedEvent } from '../threads/thread-events.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';

/** A due scheduled email, with the values under which the totals of lists count it. */
export interface DueEmail {
  workspace_id: string;
  id: string;
  created_at: Date;
  own_address: string;
  own_domain: string;
  is_read: boolean;
  is_archived: boolean;
}

/** What takeDue did with the emails that it locked. */
export interface TakenDue {
  taken: DueEmail[];
  /** due, but whom they are sent for may not send them; unchanged */
  refused: DueKey[];
}

/** One user's part of a released batch. */
export interface ReleasedRow {
  workspace_id: string;
  email_ids: string[];
  /** to append last in the transaction */
  events: FeedEvent[];
}

/**
 * Turns those of the emails that are still scheduled and due by PostgreSQL's clock, and that whom they are sent for may send now, into sent ones, and
 * locks them until the transaction ends.
 * Locked ones (by another scheduler or a cancellation) are skipped. Must be followed by queueReleased.
 */
export async function takeDue(client: pg.ClientBase, keys: readonly DueKey[]): Promise<TakenDue> {
  // By ctid, which cannot change while they are locked. A row that changed since the statement began is not seen there and waits for the
  // next batch.
  const { rows } = await client.query<DueEmail & { is_taken: boolean }>({
    name: 'scheduled-take-due',
    text: `
      with due as materialized (
        select d.ctid as row, d.workspace_id, d.id, d.own_address, d.scheduled_by_key_id as key_id, d.scheduled_by_person_id as person_id
        from unnest($1::text[], $2::text[]) as k(workspace_id, id)
        join email d on d.workspace_id = k.workspace_id and d.id = k.id
        where d.status = 'scheduled' and d.scheduled_at <= (select postroom_now())
        for update of d skip locked
      ), judged as materialized (
        select d.row, d.workspace_id, d.id, coalesce(s.may_send, false) or num_nonnulls(d.key_id, d.person_id) = 0 as may_go from due d
        -- sender_now returns a row in the workspace of the transaction only.
        cross join lateral (select set_config('postroom.workspace_id', d.workspace_id, true) as workspace_id) c
        left join lateral sender_now(c.workspace_id, d.key_id, d.person_id, d.own_address) s on true
      ), taken as (
        update email e set type = 'sent', status = 'pending', released_at = ${now}, updated_at = ${now}
        where e.ctid = any (array(select j.row from judged j where j.may_go))
        returning e.workspace_id, e.id, e.created_at, e.own_address, e.own_domain, e.is_read, e.is_archived
      )
      select t.*, true as is_taken from taken t
      union all
      select j.workspace_id, j.id, null, null, null, null, null, false from judged j where not j.may_go`,
    values: [keys.map(({ workspaceId }) => workspaceId), keys.map(({ id }) => id)],
  });
  return {
    taken: rows.flatMap(({ is_taken: isTaken, ...email }) => (isTaken ? [email] : [])),
    refused: rows.flatMap((row) => (row.is_taken ? [] : [{ workspaceId: row.workspace_id, id: row.id }])),
  };
}

/** Which email. */
export interface DueKey {
  workspaceId: string;
  id: string;
}

/** Up to `limit` scheduled emails that are due, longest due first, without `others` and any that are set aside. Locks nothing. */
export async function listDueKeys(
  client: Pick<pg.ClientBase, 'query'>,
  limit: number,
  others: readonly DueKey[] = [],
): Promise<DueKey[]> {
  const { rows } = await client.query<DueKey>({
    name: 'scheduled-list-due',
    text: `
      select d.workspace_id as "workspaceId", d.id from email d where d.status = 'scheduled' and d.scheduled_at <= (select postroom_now())
        and ${notSetAsideSql('release', 'd.workspace_id', 'd.id')} and d.id <> all ($2::text[])
      order by d.scheduled_at limit $1`,
    values: [limit, others.map(({ id }) => id)],
  });
  return rows;
}

/**
 * Queues the recipients of emails that takeDue took, and updates the totals of lists. Returns an event for each, in the order of workspace ids.
 */
export async function queueReleased(
  client: pg.ClientBase,
  emails: readonly (DueEmail & { event_id: string })[],
): Promise<ReleasedRow[]> {
  const { rows } = await client.query<ReleasedRow>({
    name: 'scheduled-queue-released',
    text: queueReleasedSql,
    values: [JSON.stringify(emails)],
  });
  return rows;
}

/** Returns the seconds until the next scheduled email falls due, by PostgreSQL's clock; null when none is scheduled. */
export async function secondsUntilDue(database: Database): Promise<number | null> {
  const { rows } = await database.pool.query<{ seconds: number }>({
    name: 'scheduled-next-due',
    text: `
      select extract(epoch from e.scheduled_at - (select postroom_now()))::float8 as seconds from email e
      where e.status = 'scheduled' and e.scheduled_at > (select postroom_now()) order by e.scheduled_at limit 1`,
  });
  return rows[0]?.seconds ?? null;
}

/** Not rounded up, so that what is released now is due now. */
const now = `(select date_trunc('milliseconds', postroom_now()))`;

const queueReleasedSql = `
  with released as materialized (
    select * from jsonb_to_recordset($1::jsonb) as r(workspace_id text, id text, created_at timestamptz, own_address text, own_domain text,
      is_read boolean, is_archived boolean, event_id text)
  ), queued as (
    update recipient r set queued_at = ${now}, next_attempt_at = ${now} from released d
    where r.workspace_id = d.workspace_id and r.email_id = d.id and r.status = 'pending'
      -- by key, whatever the planner thinks of the table's size
      and r.workspace_id = any (array(select workspace_id from released)) and r.email_id = any (array(select id from released))
    returning 1
  ), moved as (
    select r.*, 'scheduled' as type, 'scheduled' as status, -1 as delta from released r
    union all select r.*, 'sent', 'pending', 1 from released r
  ), counted as (${countEmailsSql('moved')} returning 1)
  select u.workspace_id, u.email_ids, u.events
  from (
    select r.workspace_id, array_agg(r.id) as email_ids,
           jsonb_agg(jsonb_build_object('id', r.event_id, 'kind', 'email.sent', 'emailId', r.id)) as events
    from released r group by r.workspace_id order by r.workspace_id
  ) u
  where (select count(*) from queued) + (select count(*) from counted) >= 0`;
