-- packed: zstd of the message if that is shorter than size_bytes, otherwise the message. sha256 and size_bytes are those of the message.
create table raw_message (
  id text primary key,
  packed bytea not null,
  sha256 bytea not null,
  size_bytes integer not null,
  created_at timestamptz(3) not null default now()
);
alter table raw_message alter column packed set storage external;
-- Up to 8 KB lie in the row itself: no chunks, no second index.
alter table raw_message set (toast_tuple_target = 8160);
call pg_temp.sample_few_rows('raw_message');
-- The bytes of sent mail. They are read through an email row only.
grant insert (id, packed, sha256, size_bytes) on raw_message to postroom_gateway;
grant select, insert, update, delete on raw_message to postroom_actor;

create table reception (
  workspace_id text not null,
  email_id text not null,
  raw_id text not null,
  reverse_path text not null,
  recipient text not null,
  own_address text not null,
  address_id text,
  domain_id text not null,
  remote_address text not null,
  helo text not null,
  is_tls boolean not null,
  trace_fields text not null,
  accepted_at timestamptz(3) not null,
  parsed_at timestamptz(3),
  claimed_by text,
  claimed_until timestamptz(3),
  tries smallint not null default 0,
  last_error text,
  is_test boolean not null default false,
  reply_address_id text,
  imported jsonb,
  -- what the scanners said before the 250, see core/screening/spam-check.ts; null: nothing
  screening jsonb,
  repeat_count integer not null default 0,
  repeated_at timestamptz(3),
  primary key (workspace_id, email_id)
) with (fillfactor = 85);
create index reception_unparsed on reception (accepted_at) where parsed_at is null;
create index reception_raw on reception (raw_id);
call pg_temp.protect_rows('reception');

create table smtp_offer (
  workspace_id text not null,
  recipient text not null,
  reverse_path text not null,
  sha256 bytea not null,
  remote_address text not null,
  email_id text not null,
  accepted_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (workspace_id, recipient, reverse_path, sha256, remote_address)
);
create index smtp_offer_end on smtp_offer (expires_at);
call pg_temp.protect_rows('smtp_offer');

create table email (
  workspace_id text not null,
  id text not null,
  type text not null check (type in ('sent', 'received', 'scheduled')),
  status text not null check (status in ('pending', 'delivered', 'bounced', 'failed', 'scheduled', 'paused', 'cancelled',
    'awaiting_approval', 'rejected')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null default now(),
  sent_at timestamptz(3),
  scheduled_at timestamptz(3),
  timezone text,
  released_at timestamptz(3),
  thread_at timestamptz(3) not null generated always as (coalesce(released_at, created_at)) stored,
  failure_reason text,
  batch_id text,
  batch_index smallint,
  raw_id text,
  own_address text not null,
  own_domain text not null,
  address_id text,
  domain_id text,
  recipient text,
  message_id text not null,
  subject text not null,
  base_subject text not null,
  from_name text,
  from_address text not null,
  from_text text not null,
  to_addresses text[] not null,
  cc_addresses text[] not null,
  preview text not null,
  date timestamptz(3),
  has_attachments boolean not null default false,
  attachment_count integer not null default 0,
  is_read boolean not null default false,
  read_at timestamptz(3),
  is_archived boolean not null default false,
  trashed_at timestamptz(3),
  -- received mail in the folder Spam, or in quarantine: it is in the trash, too, so that lists leave it out
  kept_apart text check (kept_apart in ('spam', 'virus')),
  is_test boolean not null default false,
  reply_address_id text,
  metadata jsonb,
  -- of a reply that a webhook's response sent: whom it answers, see core/sending/automatic-reply.ts
  automatic_reply_to text,
  api_key_id text,
  policy_address text,
  -- who may send what is scheduled or waits for approval: a key, or else a person; neither: the service, or what no one may resume without the policy
  scheduled_by_key_id text,
  scheduled_by_person_id text,
  -- the reminder of its thread, until it has one
  remind_at timestamptz(3),
  thread_id text,
  thread_position integer,
  thread_reason text check (thread_reason in ('header', 'references', 'subject', 'reply-address', 'new', 'manual')),
  primary key (workspace_id, id)
) with (fillfactor = 85);
-- Mail in the trash has indexes of its own, so that lists never step over it.
create index email_list on email (workspace_id, created_at, id) where trashed_at is null;
create index email_own_address on email (workspace_id, own_address, created_at, id) where trashed_at is null;
create index email_trash on email (workspace_id, created_at, id) where trashed_at is not null;
create index email_apart on email (workspace_id, created_at, id) where kept_apart is not null;
create index email_thread on email (workspace_id, thread_id, thread_at, id);
create index email_message_id on email (workspace_id, message_id);
create index email_unthreaded on email (created_at) where thread_id is null and type <> 'scheduled' and kept_apart is null;
create index email_scheduled on email (scheduled_at) where status = 'scheduled';
create index email_outgoing on email (workspace_id, created_at) where type <> 'received';
create index email_unsent on email (workspace_id, created_at, id) where type = 'sent' and status = 'pending';
create index email_timetable on email (workspace_id, scheduled_at, id) where type = 'scheduled' and status in ('scheduled', 'paused');
create index email_approval on email (workspace_id, created_at, id) where status = 'awaiting_approval';
create index email_test on email (workspace_id, created_at, id) where is_test;
create index email_automatic_reply on email (workspace_id, thread_id, created_at) where automatic_reply_to is not null;
create index email_automatic_reply_to on email (workspace_id, automatic_reply_to, created_at) where automatic_reply_to is not null;
create index email_api_key on email (workspace_id, api_key_id, created_at) where api_key_id is not null;
create index email_policy_address on email (workspace_id, policy_address, created_at) where policy_address is not null;
-- Messages of which the instant in their thread is not when they were created.
create index email_released on email (workspace_id, thread_id) where released_at is not null;
create index email_batch on email (workspace_id, batch_id, batch_index) where batch_id is not null;
call pg_temp.protect_rows('email');

create table email_content (
  workspace_id text not null,
  email_id text not null,
  headers jsonb not null,
  addresses jsonb not null,
  in_reply_to text[] not null,
  reference_ids text[] not null,
  text_body text,
  html_body text,
  cleaned_text text,
  cleaned_html text,
  -- Where bodies lie in the message, instead of beside it: db/queries/emails/bodies-in-message.ts.
  body_places integer[],
  removed_parts jsonb not null default '[]',
  attachments jsonb not null,
  authentication jsonb,
  -- what is aimed at an agent that reads it, see core/screening/screened-mail.ts; null: it was not screened, as sent mail
  injection jsonb,
  -- what the scanners said, see core/screening/spam-check.ts; null: not checked
  screening jsonb,
  priority text,
  tags jsonb not null default '[]',
  is_truncated boolean not null default false,
  parse_error text,
  parser_version smallint not null,
  primary key (workspace_id, email_id)
);
-- Compressing bodies cost four times all the rest of storing a large mail.
alter table email_content alter column text_body set storage external, alter column html_body set storage external,
  alter column cleaned_text set storage external, alter column cleaned_html set storage external;
-- Mail that a person should look at before an agent acts on it, and received mail without a verdict. Version 1 is mail that was sent. Infected
-- mail keeps its verdict, since its subject and names can still be read.
create index email_content_review on email_content (workspace_id, email_id)
  where injection ->> 'verdict' = 'review' or parse_error is not null
    or (injection is null and parser_version > 1);
call pg_temp.sample_few_rows('email_content');
call pg_temp.protect_rows('email_content');

-- What is still to be asked of the scanners: a check of mail that was accepted while one was away, or a lesson that a user gives. `hold`: the
-- reception waits for it, and is claimed by 'screening' until then.
create table screening_job (
  workspace_id text not null,
  email_id text not null,
  kind text not null check (kind in ('check', 'hold', 'learn_spam', 'learn_ham')),
  tries smallint not null default 0,
  next_attempt_at timestamptz(3) not null,
  claimed_by text,
  claimed_until timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (workspace_id, email_id)
);
create index screening_job_due on screening_job (next_attempt_at);
call pg_temp.protect_rows('screening_job');

create table email_counter (
  workspace_id text not null,
  own_address text not null,
  grain text not null check (grain in ('hour', 'day', 'all')),
  begins_at timestamptz(3) not null,
  own_domain text not null,
  type text not null,
  status text not null,
  is_read boolean not null,
  is_archived boolean not null,
  count bigint not null,
  primary key (workspace_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived)
) with (fillfactor = 85);
create index email_counter_domain on email_counter (workspace_id, own_domain, grain, begins_at) where own_address = '*';
call pg_temp.protect_rows('email_counter');

create table email_trace (
  workspace_id text not null,
  email_id text not null,
  trace_parent text not null,
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, email_id)
);
create index email_trace_age on email_trace (created_at);
call pg_temp.protect_rows('email_trace');

-- Senders whose remote images the user always wants to see; addresses in lower case.
create table image_sender (
  workspace_id text not null,
  address text not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, address)
);
call pg_temp.protect_rows('image_sender');

-- Messages are reached only through an email row of the workspace, by a key of one domain through one of the domain.
create function packed_messages(p_workspace_id text, p_email_ids text[]) returns table (email_id text, packed bytea, sha256 bytea, size_bytes integer)
  language sql stable security definer set search_path = public, pg_temp as $$
    select e.id, r.packed, r.sha256, r.size_bytes from email e join raw_message r on r.id = e.raw_id
    where e.workspace_id = p_workspace_id and e.id = any (p_email_ids) and p_workspace_id = current_setting('postroom.workspace_id', true)
      and (current_setting('role') <> 'postroom_domain' or is_in_reach(e.own_domain, e.own_address)) $$;
revoke all on function packed_messages from public;
grant execute on function packed_messages to postroom_gateway, postroom_actor, postroom_domain;

-- An infected email of the workspace, with its bytes if they are asked for. No other way leads to them: its row has no raw_id.
create function quarantined_message(p_workspace_id text, p_email_id text, p_with_packed boolean)
  returns table (virus text, packed bytea, sha256 bytea, size_bytes integer)
  language sql stable security definer set search_path = public, pg_temp as $$
    select c.screening->>'virus', case when p_with_packed then m.packed end, m.sha256, m.size_bytes
    from email e
    join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
    join reception r on r.workspace_id = e.workspace_id and r.email_id = e.id
    join raw_message m on m.id = r.raw_id
    where e.workspace_id = p_workspace_id and e.id = p_email_id and e.kept_apart = 'virus'
      and p_workspace_id = current_setting('postroom.workspace_id', true)
      and current_setting('role') <> 'postroom_domain' $$;
revoke all on function quarantined_message from public;
grant execute on function quarantined_message to postroom_gateway, postroom_actor;

-- The bytes of the message in which bodies of an email lie. As packed_messages, and actors read those of all workspaces.
create function placed_message(p_workspace_id text, p_email_id text) returns bytea
  language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) and session_user <> 'postroom_actor' then return null; end if;
    return (
      select r.packed from email e join raw_message r on r.id = e.raw_id
      where e.workspace_id = p_workspace_id and e.id = p_email_id
        and (current_setting('role') <> 'postroom_domain' or is_in_reach(e.own_domain, e.own_address)));
  end $$;
revoke all on function placed_message from public;
grant execute on function placed_message to postroom_gateway, postroom_actor, postroom_domain;

-- Those of the emails of the workspace that SMTP accepted and that have no row yet, since they are still to be parsed.
create function pending_receptions(p_workspace_id text, p_email_ids text[]) returns table (email_id text, recipient text)
  language sql stable security definer set search_path = public, pg_temp as $$
    select o.email_id, o.recipient from reception o
    where o.workspace_id = p_workspace_id and o.email_id = any (p_email_ids) and o.parsed_at is null
      and not exists (select from email e where e.workspace_id = o.workspace_id and e.id = o.email_id)
      and p_workspace_id = current_setting('postroom.workspace_id', true)
      and (current_setting('role') <> 'postroom_domain' or is_in_reach(substring(o.own_address from '[^@]*$'), o.own_address)) $$;
revoke all on function pending_receptions from public;
grant execute on function pending_receptions to postroom_gateway, postroom_actor, postroom_domain;

-- How many bytes the messages behind these emails of the workspace have.
create function raw_sizes(p_workspace_id text, p_email_ids text[]) returns table (email_id text, bytes bigint)
  language sql stable security definer set search_path = public, pg_temp as $$
    select e.id, r.size_bytes::bigint from email e join raw_message r on r.id = e.raw_id
    where e.workspace_id = p_workspace_id and e.id = any (p_email_ids) and p_workspace_id = current_setting('postroom.workspace_id', true)
      and (current_setting('role') <> 'postroom_domain' or is_in_reach(e.own_domain, e.own_address)) $$;
revoke all on function raw_sizes from public;
grant execute on function raw_sizes to postroom_gateway, postroom_actor, postroom_domain;

-- What a key of one domain reads (docs/decisions/0035).
grant select on email to postroom_domain;
create policy email_of_domain on email for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_in_reach(own_domain, own_address));
grant select on email_content to postroom_domain;
create policy email_content_of_domain on email_content for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from email e where e.workspace_id = email_content.workspace_id and e.id = email_content.email_id));
grant select on email_counter to postroom_domain;
create policy email_counter_of_domain on email_counter for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_in_reach(own_domain, own_address));
grant select on reception to postroom_domain;
create policy reception_of_domain on reception for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_in_reach(substring(own_address from '[^@]*$'), own_address));

-- The metadata of the sent email that a received one answers: In-Reply-To first, then References from the end. Of the same domain, so that no
-- key of one domain reads that of another.
create function metadata_of_answered(p_workspace_id text, p_own_domain text, p_in_reply_to text[], p_reference_ids text[]) returns jsonb
  language plpgsql stable as $$
declare
  v_keys text[] := p_in_reply_to[:5] || array(select r.id from unnest(p_reference_ids) with ordinality r(id, n) order by r.n desc limit 20);
begin
  if v_keys = '{}' then return null; end if;
  return (
    select e.metadata from unnest(v_keys) with ordinality k(id, n)
    cross join lateral (
      select e.metadata from email e
      where e.workspace_id = p_workspace_id and e.message_id = k.id and e.type <> 'received' and e.metadata is not null
        and e.own_domain = p_own_domain
      limit 1) e
    order by k.n limit 1);
end $$;
