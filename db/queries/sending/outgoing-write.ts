import type pg from 'pg';
import type { AddressFields } from '../../../core/mime/address.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';
import type { ApprovalRule } from '../../../core/sending/approval.ts';
import { countEmailsSql } from '../emails/email-counter.ts';
import { UNINDEXED_COLUMNS } from '../search/unindexed-email.ts';
import { type NewThread, newThreadJson, newThreadProbes } from '../threads/new-thread.ts';
import type { FeedEvent } from '../threads/thread-events.ts';

/** The rows of one email to send, except for its bytes and bodies. Instants are ISO 8601. */
interface OutgoingRow {
  id: string;
  raw_id: string;
  event_id: string;
  /** the sender's, lower case, and its domain */
  own_address: string;
  own_domain: string;
  message_id: string;
  subject: string;
  base_subject: string;
  from_name: string | null;
  from_address: string;
  from_text: string;
  to_addresses: string[];
  cc_addresses: string[];
  preview: string;
  date: string;
  /** null: it is sent at once */
  scheduled_at: string | null;
  timezone: string | null;
  headers: [string, string][];
  addresses: AddressFields;
  in_reply_to: string[];
  reference_ids: string[];
  attachments: Attachment[];
  attachment_count: number;
  tags: { name: string; value: string }[];
  search_text: string;
  /** see core/search/email-parties.ts */
  parties: string[];
  /** of the composed bytes, hex */
  sha256: string;
  recipients: { id: string; address: string; domain: string; list: string | null }[];
  /** where a send policy applies: the API key that sends it, and the address whose policy applies */
  api_key_id?: string | null;
  policy_address?: string | null;
  /** of scheduled mail: the API key that schedules it */
  scheduled_by_key_id?: string | null;
  /** why it waits for approval, and for how many days at most; absent: it does not wait */
  approval?: { rule: ApprovalRule; policy_of: 'key' | 'address'; days: number } | undefined;
}

/** An email with what is passed as bytes. */
export interface OutgoingContent {
  row: OutgoingRow;
  /** composed, not signed */
  bytes: Buffer;
  text: string | null;
  html: string | null;
}

/** Emails that are stored together or not at all, with what the policy query found about them. */
export interface OutgoingUnit {
  emails: readonly (OutgoingContent & {
    domainId: string;
    addressId: string | null;
    /** the thread that it starts; omitted: it is threaded later */
    thread?: NewThread | undefined;
  })[];
  batchId: string | null;
  /** stored with each email, so that later steps join the trace; null: not traced */
  traceParent: string | null;
  /** the response to store under the key; null without a key */
  answer: { apiKeyId: string; key: string; operation: string; requestSha256: string; answer: unknown } | null;
}

/** What a write found. */
interface Written {
  /** indexes of the units whose key was taken meanwhile: they were not stored */
  leftOut: Set<number>;
  /** whether an email with a new thread belongs to another thread: the caller must roll back */
  isJoining: boolean;
}

interface WrittenRow {
  left_out: number[];
  is_joining: boolean;
}

/**
 * Stores units of one user within its transaction, in one statement, with the threads that their emails start: then the transaction shares
 * THREADS_LOCK since an earlier statement. Also returns the last number of the user's event feed (null when nothing was written).
 */
export async function writeOutgoing(
  client: pg.ClientBase,
  userId: string,
  units: readonly OutgoingUnit[],
): Promise<Written & { lastSeq: number | null }> {
  const { rows } = await client.query<WrittenRow & { last_seq: number | null }>({
    ...statement(units, 'append'),
    values: [userId, ...parametersOf(userId, units)],
  });
  return { ...written(rows[0]), lastSeq: rows[0]?.last_seq ?? null };
}

/** Like writeOutgoing, but returns the events of what was written: the caller has more to do before it appends them, last of all. */
export async function writeOutgoingWithoutEvents(
  client: pg.ClientBase,
  userId: string,
  units: readonly OutgoingUnit[],
): Promise<Written & { events: FeedEvent[] }> {
  const { rows } = await client.query<WrittenRow & { events: FeedEvent[] }>({
    ...statement(units, 'return'),
    values: [userId, ...parametersOf(userId, units)],
  });
  return { ...written(rows[0]), events: rows[0]?.events ?? [] };
}

function written(row: WrittenRow | undefined): Written {
  return { leftOut: new Set(row?.left_out ?? []), isJoining: row?.is_joining ?? false };
}

function statement(units: readonly OutgoingUnit[], events: 'append' | 'return') {
  const isTraced = units.some(({ traceParent }) => traceParent !== null);
  const isWaiting = units.some(({ emails }) => emails.some(({ row }) => row.approval !== undefined));
  const name = [
    'outgoing-write',
    isTraced && '-traced',
    isWaiting && '-approval',
    events === 'return' && '-without-events',
  ];
  const key = name.filter((part) => part !== false).join('');
  const known = statements.get(key);
  if (known !== undefined) return known;
  const more = `${isTraced ? TRACE : ''}${isWaiting ? APPROVAL : ''}`;
  const made = { name: key, text: writeSql(more, events === 'append' ? APPENDED : RETURNED) };
  statements.set(key, made);
  return made;
}

const statements = new Map<string, { name: string; text: string }>();

/** Bytes and bodies are passed in one piece, each found by start and length: as JSON they would cost more than storing them. */
function parametersOf(
  userId: string,
  units: readonly OutgoingUnit[],
): [emails: string, pieces: Buffer, answers: string, batches: string, probes: string] {
  const pieces: Buffer[] = [];
  let end = 0;
  const place = (piece: Buffer | null): [number, number] | [null, null] => {
    if (piece === null) return [null, null];
    pieces.push(piece);
    end += piece.length;
    return [end - piece.length, piece.length];
  };
  const emails = units.flatMap(({ emails, batchId, traceParent }, unit) =>
    emails.map(({ row, bytes, text, html, domainId, addressId, thread }, at) => ({
      ...row,
      unit,
      approval_rule: row.approval?.rule ?? null,
      domain_id: domainId,
      address_id: addressId,
      batch_id: batchId,
      batch_index: batchId === null ? null : at,
      trace_parent: traceParent,
      thread: thread === undefined ? null : newThreadJson(thread),
      places: [bytes, bufferOf(text), bufferOf(html)].flatMap(place),
    })),
  );
  const answers = units.flatMap(({ answer }, unit) => (answer === null ? [] : [{ ...answer, unit }]));
  const batches = units.flatMap(({ batchId, emails }, unit) =>
    batchId === null ? [] : [{ unit, id: batchId, total: emails.length }],
  );
  const [first, second] = pieces;
  const bytes = first !== undefined && second === undefined ? first : Buffer.concat(pieces);
  const threads = units.flatMap(({ emails }) => emails.flatMap(({ thread }) => thread ?? []));
  return [JSON.stringify(emails), bytes, JSON.stringify(answers), JSON.stringify(batches), newThreadProbes(threads)];
}

function bufferOf(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text, 'utf8');
}

/** Not rounded up, so that what is sent at once is due at once. */
const NOW = `(select date_trunc('milliseconds', postroom_now()))`;
const piece = (n: number) => `substring($3::bytea from places[${2 * n + 1}] + 1 for places[${2 * n + 2}])`;

// Keys come first: a transaction that finds one taken waits for its owner to end and writes nothing if that one committed. A key older than
// 24 hours is taken over. The event counter is updated last of all: the final select waits for the counts of what was written before.
const writeSql = (more: string, events: string) => `
  with given as materialized (
    select * from json_to_recordset($2) as g (unit integer, id text, raw_id text, event_id text, own_address text, own_domain text,
      domain_id text, address_id text, batch_id text, batch_index smallint, message_id text, subject text, base_subject text,
      from_name text, from_address text, from_text text, to_addresses text[], cc_addresses text[], preview text, date timestamptz,
      scheduled_at timestamptz, timezone text, headers jsonb, addresses jsonb, in_reply_to text[], reference_ids text[],
      attachments jsonb, attachment_count integer, tags jsonb, search_text text, parties text[], sha256 text, recipients json, places integer[], trace_parent text,
      api_key_id text, policy_address text, scheduled_by_key_id text, approval_rule text, approval json, thread json)
  ), answer as materialized (
    select * from json_to_recordset($4) as a (unit integer, "apiKeyId" text, key text, operation text, "requestSha256" text, answer jsonb)
  ), key_row as (
    insert into idempotency_key as k (user_id, api_key_id, key, operation, request_sha256, answer, created_at)
    select $1, "apiKeyId", key, operation, decode("requestSha256", 'hex'), answer, ${NOW} from answer order by "apiKeyId", key
    on conflict (user_id, api_key_id, key) do update set operation = excluded.operation, request_sha256 = excluded.request_sha256,
      answer = excluded.answer, created_at = excluded.created_at
    where k.created_at <= (select postroom_now()) - interval '24 hours'
    returning api_key_id, key
  ), left_out as materialized (
    select unit from answer where ("apiKeyId", key) not in (select api_key_id, key from key_row)
  ), taken as materialized (
    select g.*, case when g.scheduled_at is null and g.approval_rule is null then 'sent' else 'scheduled' end as type,
      case when g.approval_rule is not null then 'awaiting_approval' when g.scheduled_at is null then 'pending' else 'scheduled' end as status,
      case when g.scheduled_at is null and g.approval_rule is null then ${NOW} end as due_at
    from given g where g.unit not in (select unit from left_out)
  ), raw_row as (
    insert into raw_message (id, octets, sha256, size_octets)
    select raw_id, ${piece(0)}, decode(sha256, 'hex'), places[2] from taken
    returning 1
  ), batch_row as (
    insert into batch (user_id, id, total, created_at)
    select $1, b.id, b.total, ${NOW} from json_to_recordset($5) as b (unit integer, id text, total integer)
    where b.unit not in (select unit from left_out)
    returning 1
  ), email_row as (
    insert into email (user_id, id, type, status, created_at, updated_at, scheduled_at, timezone, batch_id, batch_index, raw_id,
      own_address, own_domain, address_id, domain_id, message_id, subject, base_subject, from_name, from_address, from_text,
      to_addresses, cc_addresses, preview, date, has_attachments, attachment_count, api_key_id, policy_address, scheduled_by_key_id,
      thread_id, thread_position, thread_reason)
    select $1, id, type, status, ${NOW}, ${NOW}, scheduled_at, timezone, batch_id, batch_index, raw_id, own_address, own_domain,
      address_id, domain_id, message_id, subject, base_subject, from_name, from_address, from_text, to_addresses, cc_addresses,
      preview, date, attachment_count > 0, attachment_count, api_key_id, policy_address,
      case when scheduled_at is not null and approval_rule is null then scheduled_by_key_id end,
      thread->>'id', case when thread is not null then 0 end, case when thread is not null then 'new' end
    from taken
    returning 1
  ), thread_row as (
    insert into thread (user_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text,
      message_count, received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at, updated_at)
    select $1, n.id, t.message_id, n.normalized_subject, n.participant_emails, n.participant_names, n.search_text, 1, 0, 0, 0, t.id,
      ${NOW}, ${NOW}, ${NOW}
    from taken t cross join lateral json_to_record(t.thread) as n (id text, normalized_subject text, participant_emails text[],
      participant_names text[], search_text text)
    where t.thread is not null
    returning 1
  ), thread_key_row as (
    insert into thread_message_id (user_id, message_id, thread_id)
    select $1, thread->>'key', thread->>'id' from taken where thread->>'key' is not null
    on conflict do nothing
    returning 1
  ), thread_subject_row as (
    insert into thread_subject (user_id, base_subject_sha256, participant, is_reply, date, email_id, thread_id)
    select $1, sha256(convert_to(a.subject, 'UTF8')), participant, false, a.date, t.id, t.thread->>'id'
    from taken t cross join lateral json_to_record(t.thread->'anchor') as a (subject text, participants text[], date timestamptz)
      cross join lateral unnest(a.participants) as participant
    where json_typeof(t.thread->'anchor') = 'object'
    returning 1
  ), content_row as (
    insert into email_content (user_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, html_body, attachments,
      tags, parser_version)
    select $1, id, headers, addresses, in_reply_to, reference_ids, convert_from(${piece(1)}, 'UTF8'), convert_from(${piece(2)}, 'UTF8'),
      attachments, tags, 1
    from taken
    returning 1
  ), search_row as (
    insert into email_search (user_id, email_id, created_at, text, parties)
    select $1, id, ${NOW}, search_text, parties from taken
    returning 1
  ), unindexed_row as (
    insert into unindexed_email ${UNINDEXED_COLUMNS} select $1, id, 'new', ${NOW} from taken
    returning 1
  ), recipient_row as (
    insert into recipient (user_id, id, email_id, list, address, domain, queued_at, next_attempt_at, created_at)
    select $1, r.id, t.id, r.list, r.address, r.domain, t.due_at, t.due_at, ${NOW}
    from taken t cross join lateral json_to_recordset(t.recipients) as r (id text, address text, domain text, list text)
    returning 1
  )${more}, counter_row as (
    ${countEmailsSql(`(
      select $1 as user_id, ${NOW} as created_at, own_address, own_domain, type, status, false as is_read, false as is_archived,
        1 as delta
      from taken) as new_email`)}
    returning 1
  ), written as materialized (
    select (select count(*) from raw_row) + (select count(*) from batch_row) + (select count(*) from email_row)
      + (select count(*) from content_row) + (select count(*) from search_row) + (select count(*) from unindexed_row) + (select count(*) from recipient_row)
      + (select count(*) from counter_row) + (select count(*) from thread_row) + (select count(*) from thread_subject_row) as rows,
      (select count(*) from thread_key_row) as thread_keys
  ), joining as materialized (
    select exists (select from find_threads_of_keys($1, array(select thread->>'key' from taken where thread->>'key' is not null)))
      or exists (select from nearest_replies($1, $6::jsonb)) as is_joining
  )
  select array(select unit from left_out) as left_out, ${events},
    is_joining or thread_keys < (select count(*) from taken where thread->>'key' is not null) as is_joining
  from written cross join joining cross join (
    select coalesce(jsonb_agg(event), '[]') as events from (
      select jsonb_build_object('id', event_id, 'kind',
        case when approval_rule is null then 'email.' || type else 'email.approval_requested' end, 'emailId', id) as event
      from taken
      union all
      select jsonb_build_object('id', thread->>'event_id', 'kind', 'email.threaded', 'emailId', id, 'threadId', thread->>'id',
        'data', jsonb_build_object('position', 0, 'reason', 'new', 'type', type))
      from taken where thread is not null) of_email) of_user
  where written.rows >= 0`;

const APPENDED = 'append_events($1, of_user.events) as last_seq';
const RETURNED = 'of_user.events';
const TRACE = `, trace_row as (
    insert into email_trace (user_id, email_id, trace_parent, created_at)
    select $1, id, trace_parent, ${NOW} from taken where trace_parent is not null
    on conflict do nothing
  )`;

const APPROVAL = `, approval_row as (
    insert into approval (user_id, email_id, rule, policy_of, sent_by_key_id, sent_by, requested_at, expires_at)
    select $1, t.id, t.approval_rule, t.approval->>'policy_of', t.api_key_id,
      (select k.name from api_keys_of($1) k where k.id = t.api_key_id), ${NOW}, ${NOW} + make_interval(days => (t.approval->>'days')::integer)
    from taken t where t.approval_rule is not null
    returning 1
  )`;
