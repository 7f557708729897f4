import { LEASE_SECONDS } from '../../claim.ts';
import { countEmailsSql } from '../emails/email-counter.ts';
import { UNINDEXED_COLUMNS } from '../search/unindexed-email.ts';

/** A prepared statement. */
interface Statement {
  name: string;
  text: string;
}

/**
 * Returns the statement that stores emails about which everything is checked; `events`: whether it appends their events or returns them.
 * Parameters: $1 the workspace id, $2 the emails, $3 bytes and bodies, $4 responses for idempotency keys, $5 batches, $6 probes for replies, and, if
 * it claims, $7 the claimant.
 */
export function writeStatement({
  isTraced,
  isWaiting,
  isClaiming,
  events,
}: {
  isTraced: boolean;
  isWaiting: boolean;
  isClaiming: boolean;
  events: 'append' | 'return';
}): Statement {
  const name = [isTraced && '-traced', isWaiting && '-approval', isClaiming && '-claimed'];
  return remember(['outgoing-write', ...name, events === 'return' && '-without-events'], () => ({
    claim: isClaiming ? claimBy('$7') : UNCLAIMED,
    ...CHECKED,
    result: `${CHECKED.result}${isClaiming ? `, ${MAIL_FROM}, ${HOSTED}` : ''}`,
    more: `${isTraced ? TRACE : ''}${isWaiting ? APPROVAL : ''}${isClaiming ? ATTEMPT : ''}`,
    events: events === 'append' ? APPENDED : RETURNED,
  }));
}

/**
 * Returns the statement that checks and stores emails, and removes the drafts that they are sent from. Parameters as those of writeStatement up
 * to $6, then $7 the latest time at which it may begin, and, if it claims, $8 the claimant.
 */
export function storeStatement({
  isTraced,
  isClaiming,
  isOfDraft,
}: {
  isTraced: boolean;
  isClaiming: boolean;
  isOfDraft: boolean;
}): Statement {
  const name = [isTraced && '-traced', isClaiming && '-claimed', isOfDraft && '-draft'];
  return remember(['outgoing-store', ...name], () => ({
    claim: isClaiming ? claimBy('$8') : UNCLAIMED,
    checks: uncheckedSql(isOfDraft),
    ...UNCHECKED,
    more: `${isTraced ? TRACE : ''}${isClaiming ? ATTEMPT : ''}${isOfDraft ? REMOVED_DRAFT : ''}`,
    events: APPENDED,
  }));
}

const statements = new Map<string, Statement>();

/** Returns the statement of that name, which is made once. */
function remember(name: readonly (string | false)[], parts: () => WriteParts): Statement {
  const key = name.filter((part) => part !== false).join('');
  const known = statements.get(key);
  if (known !== undefined) return known;
  const made = { name: key, text: writeSql(parts()) };
  statements.set(key, made);
  return made;
}

/** Of the CTE `moment`: a call of postroom_now takes as long as storing a row. */
const NOW = '(select at from moment)';
const piece = (n: number) => `substring($3::bytea from places[${2 * n + 1}] + 1 for places[${2 * n + 2}])`;

// Keys come first: a transaction that finds one taken waits for its owner to end and writes nothing if that one committed. A key older than
// 24 hours is taken over. The event counter is updated last of all: the final select waits for the counts of what was written before.
interface WriteParts {
  /** CTEs that write more */
  more: string;
  /** what is selected: the events, appended or returned */
  events: string;
  /** CTEs that check what the caller has not checked: `held_back` has the units that may not be stored by this statement */
  checks: string;
  /** expressions for the ids of the sender's domain and address of `g` */
  ids: string;
  /** what happens when the msg-id of a new thread is there */
  keyConflict: string;
  /** columns of `recipient`, and their values, besides those of every statement */
  claim: { columns: string; values: string };
  /** more columns of the result */
  result: string;
}

const writeSql = ({ more, events, checks, ids, keyConflict, claim, result }: WriteParts) => `
  with moment as materialized (
    -- Not rounded up, so that what is sent at once is due at once.
    select date_trunc('milliseconds', postroom_now()) as at
  ), given as materialized (
    select * from json_to_recordset($2) as g (unit integer, id text, raw_id text, event_id text, own_address text, own_domain text,
      given_domain_id text, given_address_id text, batch_id text, batch_index smallint, message_id text, subject text, base_subject text,
      from_name text, from_address text, from_text text, to_addresses text[], cc_addresses text[], preview text, date timestamptz,
      scheduled_at timestamptz, timezone text, headers jsonb, addresses jsonb, in_reply_to text[], reference_ids text[],
      attachments jsonb, attachment_count integer, tags jsonb, metadata jsonb, search_text text, parties text[], sha256 text, size integer, recipients json, places integer[], body_places integer[], trace_parent text,
      api_key_id text, policy_address text, scheduled_by_key_id text, scheduled_by_person_id text, approval_rule text, approval json,
      claims boolean, key_id text, person_id text, domains text[], policy_senders text[], addressees text[], thread json, draft_id text, draft_version integer)
  )${checks}, response as materialized (
    select * from json_to_recordset($4) as a (unit integer, "apiKeyId" text, key text, operation text, "requestSha256" text, response jsonb)
  ), key_row as (
    insert into idempotency_key as k (workspace_id, api_key_id, key, operation, request_sha256, response, created_at)
    select $1, "apiKeyId", key, operation, decode("requestSha256", 'hex'), response, ${NOW} from response
    where unit not in (select unit from held_back) order by "apiKeyId", key
    on conflict (workspace_id, api_key_id, key) do update set operation = excluded.operation, request_sha256 = excluded.request_sha256,
      response = excluded.response, created_at = excluded.created_at
    where k.created_at <= (select postroom_now()) - interval '24 hours'
    returning api_key_id, key
  ), left_out as materialized (
    select unit from response where ("apiKeyId", key) not in (select api_key_id, key from key_row)
    union select unit from held_back
  ), taken as materialized (
    select g.*, ${ids}, case when g.scheduled_at is null and g.approval_rule is null then 'sent' else 'scheduled' end as type,
      case when g.approval_rule is not null then 'awaiting_approval' when g.scheduled_at is null then 'pending' else 'scheduled' end as status,
      case when g.scheduled_at is null and g.approval_rule is null then ${NOW} end as due_at
    from given g where g.unit not in (select unit from left_out)
  ), raw_row as (
    insert into raw_message (id, packed, sha256, size_bytes)
    select raw_id, ${piece(0)}, decode(sha256, 'hex'), size from taken
    returning 1
  ), batch_row as (
    insert into batch (workspace_id, id, total, created_at)
    select $1, b.id, b.total, ${NOW} from json_to_recordset($5) as b (unit integer, id text, total integer)
    where b.unit not in (select unit from left_out)
    returning 1
  ), email_row as (
    insert into email (workspace_id, id, type, status, created_at, updated_at, scheduled_at, timezone, batch_id, batch_index, raw_id,
      own_address, own_domain, address_id, domain_id, message_id, subject, base_subject, from_name, from_address, from_text,
      to_addresses, cc_addresses, preview, date, has_attachments, attachment_count, api_key_id, policy_address, scheduled_by_key_id,
      scheduled_by_person_id,
      thread_id, thread_position, thread_reason, metadata)
    select $1, id, type, status, ${NOW}, ${NOW}, scheduled_at, timezone, batch_id, batch_index, raw_id, own_address, own_domain,
      address_id, domain_id, message_id, subject, base_subject, from_name, from_address, from_text, to_addresses, cc_addresses,
      preview, date, attachment_count > 0, attachment_count, api_key_id, policy_address,
      case when type = 'scheduled' then scheduled_by_key_id end, case when type = 'scheduled' then scheduled_by_person_id end,
      thread->>'id', case when thread is not null then 0 end, case when thread is not null then 'new' end, metadata
    from taken
    returning 1
  ), thread_row as (
    insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text,
      message_count, received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at, updated_at)
    select $1, n.id, t.message_id, n.normalized_subject, n.participant_emails, n.participant_names, n.search_text, 1, 0, 0, 0, t.id,
      ${NOW}, ${NOW}, ${NOW}
    from taken t cross join lateral json_to_record(t.thread) as n (id text, normalized_subject text, participant_emails text[],
      participant_names text[], search_text text)
    where t.thread is not null
    returning 1
  ), thread_key_row as (
    insert into thread_message_id (workspace_id, message_id, thread_id)
    select $1, thread->>'key', thread->>'id' from taken where thread->>'key' is not null
    ${keyConflict}
    returning 1
  ), thread_subject_row as (
    insert into thread_subject (workspace_id, base_subject_sha256, participant, is_reply, date, email_id, thread_id)
    select $1, sha256(convert_to(a.subject, 'UTF8')), participant, false, a.date, t.id, t.thread->>'id'
    from taken t cross join lateral json_to_record(t.thread->'anchor') as a (subject text, participants text[], date timestamptz)
      cross join lateral unnest(a.participants) as participant
    where json_typeof(t.thread->'anchor') = 'object'
    returning 1
  ), content_row as (
    insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, html_body, body_places,
      attachments, tags, parser_version)
    select $1, id, headers, addresses, in_reply_to, reference_ids, convert_from(${piece(1)}, 'UTF8'), convert_from(${piece(2)}, 'UTF8'),
      body_places, attachments, tags, 1
    from taken
    returning 1
  ), search_row as (
    insert into email_search (workspace_id, email_id, created_at, text, parties)
    select $1, id, ${NOW}, search_text, parties from taken
    returning 1
  ), unindexed_row as (
    insert into unindexed_email ${UNINDEXED_COLUMNS} select $1, id, 'new', ${NOW} from taken
    returning 1
  ), recipient_row as (
    insert into recipient (workspace_id, id, email_id, list, address, domain, queued_at, next_attempt_at, created_at${claim.columns})
    select $1, r.id, t.id, r.list, r.address, r.domain, t.due_at, t.due_at, ${NOW}${claim.values}
    from taken t cross join lateral json_to_recordset(t.recipients) as r (id text, address text, domain text, list text, return_id text)
    returning 1
  )${more}, counter_row as (
    ${countEmailsSql(`(
      select $1 as workspace_id, ${NOW} as created_at, own_address, own_domain, type, status, false as is_read, false as is_archived,
        1 as delta
      from taken) as new_email`)}
    returning 1
  ), written as materialized (
    select (select count(*) from raw_row) + (select count(*) from batch_row) + (select count(*) from email_row)
      + (select count(*) from content_row) + (select count(*) from search_row) + (select count(*) from unindexed_row) + (select count(*) from recipient_row)
      + (select count(*) from counter_row) + (select count(*) from thread_row) + (select count(*) from thread_subject_row) as rows,
      (select count(*) from thread_key_row) as thread_keys
  )
  select array(select unit from left_out) as left_out, ${events}${result}
  from written cross join (
    select coalesce(jsonb_agg(event), '[]') as events from (
      select jsonb_build_object('id', event_id, 'kind',
        case when approval_rule is null then 'email.' || type else 'email.approval_requested' end, 'emailId', id) as event
      from taken
      union all
      select jsonb_build_object('id', thread->>'event_id', 'kind', 'email.threaded', 'emailId', id, 'threadId', thread->>'id',
        'data', jsonb_build_object('position', 0, 'reason', 'new', 'type', type))
      from taken where thread is not null) of_email) of_workspace
  where written.rows >= 0`;

/** Whether an email that starts a thread belongs to another one. */
const JOINING = `
    select exists (select from find_threads_of_keys($1, array(select thread->>'key' from given where thread->>'key' is not null)))
      or exists (select from nearest_replies($1, $6::jsonb)) as is_joining`;

/** The caller has checked everything in earlier statements of the transaction. */
const CHECKED = {
  checks: `, joining as materialized (${JOINING}), held_back as materialized (select g.unit from given g where false)`,
  ids: 'g.given_domain_id as domain_id, g.given_address_id as address_id',
  keyConflict: 'on conflict do nothing',
  result: `, (select is_joining from joining) or thread_keys < (select count(*) from taken where thread->>'key' is not null) as is_joining`,
};

/** What a claim of the stored recipients would find: the senders' domains with return addresses. */
const MAIL_FROM = `array(select d.name from domain d where d.workspace_id = $1 and d.mail_from_verified_at is not null
      and d.name = any (array(select t.own_domain from taken t where t.claims))) as mail_from`;
/** And the recipients' domains that are ours. */
const HOSTED = `array(select n.name from (
      select distinct r.domain as name from taken t cross join lateral json_to_recordset(t.recipients) as r (domain text) where t.claims) n
      where is_hosted_domain(n.name)) as hosted`;

/**
 * Nothing is checked yet. A unit is stored only when its key or person may send, the domains of its senders are verified, no send policy holds
 * for its key and senders, no mail of any kind is suppressed for its recipients, and its draft has the given version, which it locks. The recipients of emails with
 * `claims` are claimed by $8, and their attempts begin.
 */
const uncheckedSql = (isOfDraft: boolean) => `${isOfDraft ? LOCKED_DRAFT : ''}, sender_domain as materialized (
    select d.id, d.name, d.mail_from_verified_at is not null as has_mail_from from domain d
    where d.workspace_id = $1 and d.name = any (array(select unnest(g.domains) from given g)) and d.status = 'verified'
  ), joining as materialized (${JOINING}
  ), refused_sender as materialized (
    select g.* from (select distinct key_id, person_id, own_address from given where key_id is not null or person_id is not null) g
    where not exists (
      select from sender_now($1, g.key_id, g.person_id, g.own_address) s where s.may_send and s.send_policy is null)
  ), held_back as materialized (
    select g.unit from given g
    where (select clock_timestamp()) > $7::timestamptz or (select is_joining from joining)
      or exists (select from unnest(g.domains) as n(name) where n.name not in (select name from sender_domain))
      or exists (select from suppression s where s.workspace_id = $1 and s.address = any (g.addressees))
      or exists (
        select from email_address_name a join email_address p on p.workspace_id = $1 and p.id = a.address_id
        where a.workspace_id = $1 and a.address = any (g.policy_senders) and p.send_policy is not null)
      or exists (
        select from refused_sender r where (r.key_id, r.person_id, r.own_address) is not distinct from (g.key_id, g.person_id, g.own_address))${
          isOfDraft ? ' or g.draft_id is not null and g.draft_id not in (select id from locked_draft)' : ''
        }
  )`;

const UNCHECKED = {
  ids: `(select d.id from sender_domain d where d.name = g.own_domain) as domain_id,
      (select a.address_id from email_address_name a where a.workspace_id = $1 and a.address = g.own_address) as address_id`,
  // Its msg-id is being stored by another transaction: the statement fails.
  keyConflict: '',
  result: `, ${NOW} as stored_at, clock_timestamp() as clock,
    array(select name from sender_domain where has_mail_from) as mail_from, ${HOSTED}`,
};

const UNCLAIMED = { columns: '', values: '' };
const claimBy = (claimant: string) => ({
  columns: ', claimed_by, claimed_until, return_id',
  values: `, case when t.claims then ${claimant} end,
      case when t.claims then (select postroom_now()) + interval '${LEASE_SECONDS} seconds' end, case when t.claims then r.return_id end`,
});

/** After a wait for another transaction, PostgreSQL compares the version again. */
const LOCKED_DRAFT = `, locked_draft as materialized (
    select d.id from draft d join given g on d.id = g.draft_id and d.version = g.draft_version
    where d.workspace_id = $1 order by d.id for update of d
  )`;

const REMOVED_DRAFT = `, draft_file as (
    delete from draft_attachment where workspace_id = $1 and draft_id in (select draft_id from taken)
  ), draft_row as (
    delete from draft where workspace_id = $1 and id in (select draft_id from taken)
  )`;

const ATTEMPT = `, attempt_row as (
    insert into sending_attempt (workspace_id, recipient_id, number, started_at)
    select $1, r.id, 1, (select postroom_now())
    from taken t cross join lateral json_to_recordset(t.recipients) as r (id text) where t.claims
  )`;

const APPENDED = 'append_events($1, of_workspace.events) as last_seq';
const RETURNED = 'of_workspace.events';
const TRACE = `, trace_row as (
    insert into email_trace (workspace_id, email_id, trace_parent, created_at)
    select $1, id, trace_parent, ${NOW} from taken where trace_parent is not null
    on conflict do nothing
  )`;

const APPROVAL = `, approval_row as (
    insert into approval (workspace_id, email_id, rule, policy_of, sent_by_key_id, sent_by, requested_at, expires_at)
    select $1, t.id, t.approval_rule, t.approval->>'policy_of', t.api_key_id,
      (select k.name from api_keys_of($1) k where k.id = t.api_key_id), ${NOW}, ${NOW} + make_interval(days => (t.approval->>'days')::integer)
    from taken t where t.approval_rule is not null
    returning 1
  )`;
