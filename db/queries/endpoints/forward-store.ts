/** A composed copy and its recipients, in a parameter of storeForwardSql. */
export interface ForwardRecord {
  workspace_id: string;
  delivery_id: string;
  email_id: string;
  raw_id: string;
  /** of the copy, hex */
  sha256: string;
  /** of the copy, bytes */
  size: number;
  is_null_sender: boolean;
  /** of the From address */
  sender_domain: string;
  started_at: Date;
  duration_ms: number;
  recipients: {
    id: string;
    address: string;
    domain: string;
    /** why nothing can be sent there; null: it is sent */
    refusal: string | null;
  }[];
}

/**
 * Queues a copy for sending, in one statement: its bytes, its recipients, and the delivery, whose only attempt this is; the delivery then
 * waits until its recipients are settled. Does nothing unless $1 still holds the delivery. Parameters: $1 the claimant, $2 ForwardRecord as
 * JSON, $3 what packMessage returns of the bytes. Returns one row when it was done. The recipients are marked as reported: a copy has no sender to notify by a DSN.
 */
export const storeForwardSql = `
  with given as materialized (
    select g.*, date_trunc('milliseconds', postroom_now()) as now from json_to_record($2) as g(workspace_id text, delivery_id text, email_id text,
      raw_id text, sha256 text, size integer, is_null_sender boolean, sender_domain text, started_at timestamptz(3), duration_ms integer, recipients json)
  ), taken as (
    update delivery d set forward_raw_id = g.raw_id, is_null_sender = g.is_null_sender, attempts = d.attempts + 1,
      last_attempt_at = g.started_at, next_attempt_at = null, claimed_by = null, claimed_until = null, response_data = null,
      last_attempt = jsonb_build_object('number', 1 + coalesce((d.last_attempt->>'number')::integer, 0), 'outcome', 'success',
        'started_at', g.started_at, 'duration_ms', g.duration_ms, 'status_code', null, 'error', null, 'response_body', null,
        'request_headers', '{}'::jsonb)
    from given g
    where d.workspace_id = g.workspace_id and d.id = g.delivery_id and d.claimed_by = $1 and d.status = 'pending' and d.forward_raw_id is null
    returning d.workspace_id, d.id
  ), raw_row as (
    insert into raw_message (id, packed, sha256, size_bytes)
    select g.raw_id, $3::bytea, decode(g.sha256, 'hex'), g.size from given g where exists (select from taken)
    returning 1
  ), queued as (
    insert into recipient (workspace_id, id, email_id, delivery_id, sender_domain, address, domain, status, queued_at, next_attempt_at,
      last_status, last_text, settled_at, reported_at, created_at)
    select g.workspace_id, r.id, g.email_id, g.delivery_id, g.sender_domain, r.address, r.domain,
           case when r.refusal is null then 'pending' else 'bounced' end, g.now, case when r.refusal is null then g.now end,
           case when r.refusal is not null then '5.1.3' end, r.refusal, case when r.refusal is not null then g.now end, g.now, g.now
    from given g cross join json_to_recordset(g.recipients) as r(id text, address text, domain text, refusal text)
    where exists (select from taken)
    returning 1
  )
  select t.id from taken t where (select count(*) from raw_row) + (select count(*) from queued) >= 0`;
