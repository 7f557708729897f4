create table recipient (
  workspace_id text not null,
  id text not null,
  email_id text not null,
  delivery_id text,
  sender_domain text,
  list text,
  address text not null,
  domain text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'bounced', 'failed')),
  queued_at timestamptz(3),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3),
  claimed_by text,
  claimed_until timestamptz(3),
  return_id text,
  last_code smallint,
  last_status text,
  last_text text,
  refusal_reason text,
  settled_at timestamptz(3),
  complained_at timestamptz(3),
  reported_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
) with (fillfactor = 85);
create index recipient_unreported on recipient (settled_at) where status = 'failed' and reported_at is null;
create index recipient_due on recipient (next_attempt_at, id) where status = 'pending' and next_attempt_at is not null;
create index recipient_lane_due on recipient (domain, workspace_id, next_attempt_at, id) where status = 'pending' and next_attempt_at is not null;
create index recipient_email on recipient (workspace_id, email_id);
create index recipient_delivery on recipient (workspace_id, delivery_id) where delivery_id is not null;
create index recipient_forwarded on recipient (workspace_id, queued_at) where delivery_id is not null;
create index recipient_complained on recipient (workspace_id, complained_at) where complained_at is not null;
call pg_temp.protect_rows('recipient');

create table sending_attempt (
  workspace_id text not null,
  recipient_id text not null,
  number integer not null,
  started_at timestamptz(3) not null,
  finished_at timestamptz(3),
  outcome text check (outcome in ('delivered', 'deferred', 'bounced', 'interrupted')),
  host text,
  remote_address text,
  is_tls boolean,
  code smallint,
  enhanced_status text,
  text text,
  primary key (workspace_id, recipient_id, number)
);
call pg_temp.protect_rows('sending_attempt');

create table suppression (
  workspace_id text not null,
  id text not null,
  address text not null,
  reason text not null check (reason in ('bounce', 'complaint', 'manual', 'unsubscribe')),
  list text not null default '',
  detail text,
  refusal_reason text,
  email_id text,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create unique index suppression_address on suppression (workspace_id, address, list);
call pg_temp.protect_rows('suppression');

-- Emails that are not sent yet. own_domain and own_address are the sender's, or the domain of the key that made it while it has no sender.
create table draft (
  workspace_id text not null,
  id text not null,
  kind text not null check (kind in ('new', 'reply', 'reply_all', 'forward')),
  original_email_id text,
  own_domain text,
  own_address text,
  fields jsonb not null,
  text_body text,
  html_body text,
  size_bytes integer not null,
  version integer not null default 1,
  created_by_key_id text,
  updated_by_key_id text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
alter table draft alter column text_body set storage external, alter column html_body set storage external;
create index draft_list on draft (workspace_id, updated_at desc, id desc);
create index draft_original on draft (workspace_id, original_email_id) where original_email_id is not null;
call pg_temp.protect_rows('draft');

-- Their files, decoded, beside them: a change of the text leaves them where they are.
create table draft_attachment (
  workspace_id text not null,
  draft_id text not null,
  id text not null,
  position smallint not null,
  filename text not null,
  content_type text not null,
  content_id text,
  content bytea not null,
  size_bytes integer not null,
  primary key (workspace_id, draft_id, id)
);
alter table draft_attachment alter column content set storage external;
call pg_temp.protect_rows('draft_attachment');

-- Mail that a send policy made wait, and what became of it. expires_at is null once it no longer waits.
create table approval (
  workspace_id text not null,
  email_id text not null,
  rule text not null check (rule in ('on_review', 'new_recipients', 'always')),
  policy_of text not null check (policy_of in ('key', 'address')),
  sent_by_key_id text,
  sent_by text,
  requested_at timestamptz(3) not null,
  expires_at timestamptz(3),
  decision text check (decision in ('approved', 'rejected', 'expired', 'cancelled')),
  decided_at timestamptz(3),
  decided_by_key_id text,
  decided_by text,
  reason text,
  primary key (workspace_id, email_id),
  check ((decision is null) = (expires_at is not null) and (decision is null) = (decided_at is null))
);
create index approval_expiry on approval (expires_at);
call pg_temp.protect_rows('approval');

create table idempotency_key (
  workspace_id text not null,
  api_key_id text not null default '',
  key text not null,
  operation text not null,
  request_sha256 bytea not null,
  response jsonb not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, api_key_id, key)
);
create index idempotency_key_age on idempotency_key (created_at);
call pg_temp.protect_rows('idempotency_key');

create table mta_sts_policy (
  domain text primary key,
  policy_id text not null,
  mode text not null check (mode in ('enforce', 'testing', 'none')),
  mx text[] not null,
  max_age_seconds integer not null,
  fetched_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index mta_sts_policy_expired on mta_sts_policy (expires_at);
grant select, insert, update, delete on mta_sts_policy to postroom_actor;

create table tls_report (
  day date not null,
  domain text not null,
  report_id text not null,
  due_at timestamptz(3) not null,
  sent_to text[] not null default '{}',
  claimed_by text,
  primary key (day, domain)
);
create index tls_report_due on tls_report (due_at);
grant select, insert, update, delete on tls_report to postroom_actor;

create table tls_session_count (
  day date not null,
  domain text not null,
  id text not null,
  policy jsonb not null,
  failure jsonb,
  sessions bigint not null,
  primary key (day, domain, id)
);
grant select, insert, update, delete on tls_session_count to postroom_actor;

create table batch (
  workspace_id text not null,
  id text not null,
  total integer not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
call pg_temp.protect_rows('batch');

-- Sets the status of sent emails by that of their recipients (by precedence pending, bounced, failed, delivered), and with it the totals
-- of lists. The two arrays are pairs. Answers the emails whose status changed. Emails, and then totals, are locked in the order of their
-- keys; recipients are read only then, so that of two transactions which settle recipients of one email the second one sees both.
-- Plans are kept: left to itself, PostgreSQL plans anew at every call, which costs more than the call.
create function refresh_sent_emails(p_workspace_ids text[], p_email_ids text[])
  returns table (workspace_id text, email_id text, thread_id text, status text) language plpgsql volatile
  set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  perform from (select distinct * from unnest(p_workspace_ids, p_email_ids)) as p(workspace_id, id)
    join email e on e.workspace_id = p.workspace_id and e.id = p.id and e.type = 'sent'
    order by e.workspace_id, e.id for no key update of e;
  return query
  with fresh as materialized (
    select e.workspace_id, e.id, e.thread_id, e.created_at, e.own_address, e.own_domain, e.type, e.is_read, e.is_archived, e.trashed_at,
           e.status as former_status, r.status, r.reason, r.sent_at
    from (select distinct * from unnest(p_workspace_ids, p_email_ids)) as p(workspace_id, id)
    join email e on e.workspace_id = p.workspace_id and e.id = p.id and e.type = 'sent'
    cross join lateral (
      select case when bool_or(r.status = 'pending') then 'pending' when bool_or(r.status = 'bounced') then 'bounced'
                  when bool_or(r.status = 'failed') then 'failed' else 'delivered' end as status,
             (array_agg(r.last_text order by r.settled_at, r.id) filter (where r.status in ('bounced', 'failed')))[1] as reason,
             min(r.settled_at) filter (where r.status = 'delivered') as sent_at
      from recipient r where r.workspace_id = e.workspace_id and r.email_id = e.id having count(*) > 0) r
    where r.status <> e.status or r.reason is distinct from e.failure_reason or (e.sent_at is null and r.sent_at is not null)
  ), refreshed as (
    update email e set status = f.status, failure_reason = f.reason, sent_at = coalesce(e.sent_at, f.sent_at),
      updated_at = (select postroom_now())
    from fresh f where e.workspace_id = f.workspace_id and e.id = f.id
  ), moved as (
    select f.*, m.counted_status, m.delta
    from fresh f cross join lateral (values (f.former_status, -1), (f.status, 1)) as m(counted_status, delta)
    -- the trash is in no total
    where f.status <> f.former_status and f.trashed_at is null
  ), counted as (
    insert into email_counter as c (workspace_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived, count)
    select m.workspace_id, a.counted_address, g.grain, g.begins_at, m.own_domain, m.type, m.counted_status, m.is_read, m.is_archived,
           sum(m.delta)
    from moved m
    cross join lateral (values (m.own_address), ('*')) as a(counted_address)
    cross join lateral (values ('all', '-infinity'::timestamptz), ('day', date_trunc('day', m.created_at, 'UTC')),
      ('hour', date_trunc('hour', m.created_at, 'UTC'))) as g(grain, begins_at)
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9
    having sum(m.delta) <> 0
    order by 1, 2, 3, 4, 5, 6, 7, 8, 9
    on conflict (workspace_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived)
      do update set count = c.count + excluded.count
  )
  select f.workspace_id, f.id, f.thread_id, f.status from fresh f where f.status <> f.former_status;
end $$;

-- Replaces the bytes of a scheduled email by those of a message of the same size. Returns whether it did.
create function replace_scheduled(p_workspace_id text, p_email_id text, p_packed bytea, p_sha256 bytea) returns boolean
  language sql volatile security definer set search_path = public, pg_temp as $$
    with replaced as (
      update raw_message r set packed = p_packed, sha256 = p_sha256 from email e
      where e.workspace_id = p_workspace_id and e.id = p_email_id and e.type = 'scheduled' and r.id = e.raw_id
        and p_workspace_id = current_setting('postroom.workspace_id', true) and octet_length(p_packed) <= r.size_bytes
      returning 1
    )
    select count(*) > 0 from replaced $$;
revoke all on function replace_scheduled from public;
grant execute on function replace_scheduled to postroom_gateway, postroom_actor;

create function is_batch_of_domain(p_workspace_id text, p_batch_id text) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
    select p_workspace_id = current_setting('postroom.workspace_id', true) and coalesce(bool_and(is_in_reach(e.own_domain, e.own_address)), false)
    from email e where e.workspace_id = p_workspace_id and e.batch_id = p_batch_id $$;
revoke all on function is_batch_of_domain from public;
grant execute on function is_batch_of_domain to postroom_domain;

-- What a key of one domain reads (docs/decisions/0035).
grant select on recipient to postroom_domain;
create policy recipient_of_domain on recipient for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from email e where e.workspace_id = recipient.workspace_id and e.id = recipient.email_id));
grant select on sending_attempt to postroom_domain;
create policy sending_attempt_of_domain on sending_attempt for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from recipient r where r.workspace_id = sending_attempt.workspace_id and r.id = sending_attempt.recipient_id));
grant select on batch to postroom_domain;
create policy batch_of_domain on batch for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_batch_of_domain(workspace_id, id));
grant select on approval to postroom_domain;
create policy approval_of_domain on approval for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from email e where e.workspace_id = approval.workspace_id and e.id = approval.email_id));
grant select on draft to postroom_domain;
create policy draft_of_domain on draft for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_in_reach(own_domain, own_address));
grant select on draft_attachment to postroom_domain;
create policy draft_attachment_of_domain on draft_attachment for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from draft d where d.workspace_id = draft_attachment.workspace_id and d.id = draft_attachment.draft_id));
grant select on suppression to postroom_domain;
create policy suppression_of_domain on suppression for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true)
    and exists (select from email e where e.workspace_id = suppression.workspace_id and e.id = suppression.email_id));

-- Texts of the workspace that the composer inserts.
create table snippet (
  workspace_id text not null,
  id text not null,
  name text not null,
  text text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create unique index snippet_name on snippet (workspace_id, lower(name));
call pg_temp.protect_rows('snippet');
