import type { RefusalReason } from '../../../core/sending/refusal-advice.ts';
import type { RecipientStatus, SendingOutcome } from '../../../core/smtp/delivery-status.ts';
/** The outcome of an attempt for one recipient, in the parameter of finishRecipientsSql. */
export interface RecipientFinish {
  workspace_id: string;
  id: string;
  email_id: string;
  /** of the attempt */
  number: number;
  /** the fence: the row must still have this value */
  attempts_before: number;
  /** whether it counts as an attempt */
  is_counted: boolean;
  outcome: SendingOutcome;
  status: RecipientStatus;
  /** until the next attempt; null when there is none */
  delay_seconds: number | null;
  /** the recipient that the return address of the transaction was created for; null leaves the column unchanged */
  return_id: string | null;
  host: string | null;
  remote_address: string | null;
  is_tls: boolean | null;
  code: number | null;
  enhanced_status: string | null;
  text: string;
  /** null when it was not refused */
  reason: RefusalReason | null;
  /** see core/sending/relayed-id.ts */
  relayed_ids: readonly string[];
}

/** A recipient whose row was changed. */
export interface FinishedRecipientRow {
  workspace_id: string;
  id: string;
  email_id: string;
  /** of the forwarded copy; null: the email itself is sent */
  delivery_id: string | null;
  thread_id: string | null;
}

/**
 * Records the outcomes of attempts. The recipient is updated only while $1 holds the claim and no other attempt was counted since. But what
 * a server accepted is delivered, whichever process holds the pending recipient, or it would be sent again. The attempt is updated in any
 * case, even if it was presumed interrupted. A row that changed while this statement waited for it is updated by its key, because this
 * statement cannot see its ctid. Parameters: $1 the claimant, $2 RecipientFinish[] as JSON. Rows: FinishedRecipientRow; a recipient that is
 * in none of them was taken over, or settled by a report.
 */
export const finishRecipientsSql = finishSql(`
  select f.workspace_id, f.id, f.email_id, f.delivery_id, e.thread_id
  from finished f join email e on e.workspace_id = f.workspace_id and e.id = f.email_id`);

/** The event of an outcome; its email and thread are added to it. */
export interface OutcomeEvent {
  id: string;
  kind: string;
  data: object;
}

/**
 * Like finishRecipientsSql, and then refreshes the emails whose recipients were settled, and appends the events to the feeds: all that there
 * is to do for outcomes that suppress no address and belong to no forwarded copy. Each row of $2 also has `place`, its number, and `event`
 * (OutcomeEvent, or null). Each step waits for the one before it, so that rows are locked in the order of every such transaction. The
 * function that refreshes emails is volatile, and so sees the recipients as they are written here. Rows: id, workspace_id, and the last
 * number of the workspace's feed (null when nothing was appended).
 */
export const finishAllSql = finishSql(`, settled as materialized (
    select f.workspace_id, f.email_id from finished f join outcome o on o.workspace_id = f.workspace_id and o.id = f.id
    where o.status <> 'pending' and (select count(*) from attempt) >= 0
  ), refreshed as materialized (
    select count(*) as emails from refresh_sent_emails(
      array(select workspace_id from settled order by workspace_id, email_id), array(select email_id from settled order by workspace_id, email_id))
  ), feed as materialized (
    select f.workspace_id, jsonb_agg(o.event || jsonb_build_object('emailId', f.email_id, 'threadId', e.thread_id) order by o.place) as events
    from finished f join outcome o on o.workspace_id = f.workspace_id and o.id = f.id
    join email e on e.workspace_id = f.workspace_id and e.id = f.email_id
    where o.event is not null
    group by f.workspace_id order by f.workspace_id
  ), appended as materialized (
    select workspace_id, append_events(workspace_id, events) as last_seq from feed where (select emails from refreshed) >= 0
  )
  select f.workspace_id, f.id, a.last_seq from finished f left join appended a on a.workspace_id = f.workspace_id`);

function finishSql(tail: string): string {
  return `
  with outcome as materialized (
    select * from jsonb_to_recordset($2::jsonb) as o(
      workspace_id text, id text, email_id text, number integer, attempts_before integer, is_counted boolean, outcome text, status text,
      delay_seconds float8, return_id text, host text, remote_address text, is_tls boolean, code smallint, enhanced_status text, text text, reason text,
      relayed_ids jsonb, place integer, event jsonb)
  ), locked as materialized (
    select r.workspace_id, r.id from recipient r
    where r.workspace_id = any(array(select workspace_id from outcome)) and r.id = any(array(select id from outcome))
      and (r.claimed_by = $1 or r.status = 'pending' and r.id = any(array(select id from outcome where outcome = 'delivered')))
    order by r.workspace_id, r.id for update
  ), finished as (
    update recipient r set
      status = o.status,
      attempts = r.attempts + o.is_counted::integer,
      next_attempt_at = case when o.outcome = 'interrupted' then r.next_attempt_at
        else (select postroom_now()) + o.delay_seconds * interval '1 second' end,
      claimed_by = null,
      claimed_until = null,
      return_id = coalesce(o.return_id, r.return_id),
      last_code = case when o.is_counted then o.code else r.last_code end,
      last_status = case when o.is_counted then o.enhanced_status else r.last_status end,
      last_text = case when o.is_counted then o.text else r.last_text end,
      refusal_reason = case when o.is_counted then o.reason else r.refusal_reason end,
      settled_at = case when o.status <> 'pending' then (select postroom_now()) end
    from locked l join outcome o on o.workspace_id = l.workspace_id and o.id = l.id
    where r.workspace_id = l.workspace_id and r.id = l.id
      and (r.claimed_by = $1 and r.attempts = o.attempts_before or r.status = 'pending' and o.outcome = 'delivered')
    returning r.workspace_id, r.id, r.email_id, r.delivery_id
  ), attempt as (
    update sending_attempt a set finished_at = (select postroom_now()), outcome = o.outcome, host = o.host,
      remote_address = o.remote_address, is_tls = o.is_tls, code = o.code, enhanced_status = o.enhanced_status, text = o.text
    from outcome o
    where a.workspace_id = o.workspace_id and a.recipient_id = o.id and a.number = o.number
      and (a.finished_at is null or a.outcome = 'interrupted')
    returning 1
  ), relayed as (
    insert into relayed_message_id (workspace_id, local_part, email_id)
    select f.workspace_id, i.local_part, f.email_id
    from outcome o join finished f on f.workspace_id = o.workspace_id and f.id = o.id
    cross join lateral jsonb_array_elements_text(o.relayed_ids) as i(local_part)
    where f.delivery_id is null
    on conflict do nothing
  )${tail}`;
}

/** Recomputes the status of the emails with workspace ids $1 and ids $2 from their recipients. */
export const refreshEmailsSql = 'select from refresh_sent_emails($1::text[], $2::text[])';

/**
 * Appends to the event feeds of the workspaces in $1 (JSON [{workspace_id, events}]) in their order; must be last in its transaction. Rows:
 * {workspace_id,
 * last_seq}.
 */
export const appendWorkspaceEventsSql = `
  select u.workspace_id, append_events(u.workspace_id, u.events) as last_seq
  from jsonb_to_recordset($1::jsonb) as u(workspace_id text, events jsonb)`;
