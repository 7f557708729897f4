-- What was refused before it was accepted, see docs/screening.md: one row per workspace, hour, reason, network, sender and recipient, whose
-- ID is made from these. What belongs to no workspace has the owner `-operator`, which is the ID of none.
create table door_refusal (
  workspace_id text not null,
  id text not null,
  created_at timestamptz(3) not null,
  hour_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  reason text not null,
  client_address text not null,
  network text,
  helo text,
  sender text,
  recipient text,
  reply text not null,
  times integer not null check (times > 0),
  primary key (workspace_id, id)
);
create index door_refusal_list on door_refusal (workspace_id, created_at desc, id desc);
create index door_refusal_hour on door_refusal (workspace_id, hour_at);
create index door_refusal_age on door_refusal (last_at);
call pg_temp.protect_rows('door_refusal');
-- The actors write it.
revoke insert, update, delete on door_refusal from postroom_gateway;
-- A key or member of one domain or address reads what names a recipient there, with or without a tag.
grant select on door_refusal to postroom_domain;
create policy door_refusal_of_domain on door_refusal for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true)
    and (is_in_reach(lower(substring(recipient from '[^@]*$')), lower(recipient))
      or is_in_reach(null, regexp_replace(lower(recipient), '^([^+]+)\+.*@', '\1@'))));

-- First contacts of clients with a workspace, while GREYLIST_SECONDS is set: whether they were repeated (docs/screening.md).
create table greylist (
  workspace_id text not null,
  id text not null,
  network text not null,
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  passed_at timestamptz(3),
  primary key (workspace_id, id)
);
create index greylist_network on greylist (workspace_id, network);
create index greylist_age on greylist (last_at);
call pg_temp.protect_rows('greylist');
revoke insert, update, delete on greylist from postroom_gateway;

-- Which message keys (core/threads/threading.ts), emails, recipients and base subjects of outgoing mail lead to mail that a person should look
-- at, see docs/send-policy.md. `recent`: such mail came within 7 days; `flood`: so much that not all of it was compared. The message keys and
-- emails lead to it from anywhere in its thread, and at any time.
create function reviewed_mail(p_workspace_id text, p_keys text[], p_email_ids text[], p_recipients text[], p_subjects text[])
  returns table (kind text, value text)
  language plpgsql stable security definer rows 10 set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query
      with named as (
        select 'key' as kind, k.message_id as value, null as email_id, k.thread_id from find_threads_of_keys(p_workspace_id, p_keys) k
        union all
        select 'key', e.message_id, e.id, e.thread_id from email e where e.workspace_id = p_workspace_id and e.message_id = any (p_keys)
        union all
        select 'email', e.id, e.id, e.thread_id from email e where e.workspace_id = p_workspace_id and e.id = any (p_email_ids)
      )
      select n.kind, n.value from named n
      where exists (
          select from email_content c where c.workspace_id = p_workspace_id and c.email_id = n.email_id
            and (c.injection ->> 'verdict' = 'review' or c.parse_error is not null
              or (c.injection is null and c.parser_version > 1)))
        or exists (
          select from email e join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
          where e.workspace_id = p_workspace_id and e.thread_id = n.thread_id
            and (c.injection ->> 'verdict' = 'review' or c.parse_error is not null
              or (c.injection is null and c.parser_version > 1)));
    return query
      with recent as materialized (
        select e.base_subject, c.addresses, row_number() over (order by c.email_id desc) as place
        from (
          select o.email_id, o.addresses from email_content o
          where o.workspace_id = p_workspace_id and (o.injection ->> 'verdict' = 'review' or o.parse_error is not null
              or (o.injection is null and o.parser_version > 1))
          order by o.email_id desc limit 1001) c
        join email e on e.workspace_id = p_workspace_id and e.id = c.email_id
        where e.created_at > (select postroom_now()) - interval '7 days'
      )
      select 'recent', '' where exists (select from recent)
      union all
      select 'flood', '' where exists (select from recent r where r.place > 1000)
      union all
      select 'subject', s from unnest(p_subjects) s where s <> '' and exists (select from recent r where r.base_subject = s)
      union all
      select 'recipient', p from unnest(p_recipients) p where exists (
        select from recent r cross join lateral jsonb_path_query(r.addresses, '$.*.addresses[*].address') a
        where lower(a #>> '{}') = p);
  end $$;
revoke all on function reviewed_mail from public;
grant execute on function reviewed_mail to postroom_gateway, postroom_actor;
