create table thread (
  user_id text not null,
  id text not null,
  root_message_id text not null,
  normalized_subject text not null,
  participant_emails text[] not null,
  participant_names text[] not null,
  search_text text not null,
  message_count integer not null,
  received_count integer not null,
  unread_count integer not null,
  archived_count integer not null,
  latest_email_id text not null,
  last_message_at timestamptz(3) not null,
  labels text[] not null default '{}',
  label_keys text[] not null default '{}',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null default now(),
  primary key (user_id, id)
) with (fillfactor = 85);
create index thread_list on thread (user_id, last_message_at desc, id desc);
create index thread_inbox on thread (user_id, last_message_at desc, id desc) where archived_count < received_count or received_count = 0;
create index thread_archive on thread (user_id, last_message_at desc, id desc) where archived_count = received_count and received_count > 0;
create index thread_unread on thread (user_id, last_message_at desc, id desc) where unread_count > 0;
create index thread_search on thread using gin (user_id, search_text gin_trgm_ops);
create index thread_labels on thread using gin (user_id, label_keys) where label_keys <> '{}';
create index thread_participants on thread using gin (user_id, participant_emails);
call pg_temp.protect_rows('thread');

create table thread_alias (user_id text not null, alias_id text not null, thread_id text not null, primary key (user_id, alias_id));
create index thread_alias_target on thread_alias (user_id, thread_id);
call pg_temp.protect_rows('thread_alias');

create table thread_apart (user_id text not null, thread_id text not null, other_id text not null, primary key (user_id, thread_id, other_id));
call pg_temp.protect_rows('thread_apart');

create table thread_message_id (user_id text not null, message_id text not null, thread_id text not null, primary key (user_id, message_id));
create index thread_message_id_thread on thread_message_id (user_id, thread_id);
call pg_temp.protect_rows('thread_message_id');

create table thread_subject (
  user_id text not null,
  base_subject_sha256 bytea not null,
  participant text not null,
  date timestamptz(3) not null,
  email_id text not null,
  is_reply boolean not null,
  thread_id text not null,
  -- is_reply before date: the nearest reply is found at once among any number of notices with one subject
  primary key (user_id, base_subject_sha256, participant, is_reply, date, email_id)
);
create index thread_subject_thread on thread_subject (user_id, thread_id);
call pg_temp.protect_rows('thread_subject');

-- Labels of the user's threads, those of most threads; under the policy nothing would be known of how few threads have any.
create function list_labels(p_user_id text, p_limit integer) returns table (name text, threads bigint, unread bigint)
  language plpgsql stable security definer rows 20 set search_path = public, pg_temp as $$
  begin
    if p_user_id is distinct from current_setting('postroom.user_id', true) then return; end if;
    return query execute
      'select used.name, used.threads, used.unread from (
         select l.key, mode() within group (order by l.name collate "C") as name, count(*) as threads,
           count(*) filter (where t.unread_count > 0) as unread
         from thread t cross join lateral unnest(t.labels, t.label_keys) as l(name, key)
         where t.user_id = $1 and t.label_keys <> ''{}''
         group by l.key order by count(*) desc, l.key limit $2) used
       order by used.key' using p_user_id, p_limit;
  end $$;
revoke all on function list_labels from public;
grant execute on function list_labels to postroom_gateway, postroom_actor;

-- Whether every message of the thread is of the domain of the transaction, and there is one. As their owner: others are not seen.
create function is_thread_of_domain(p_user_id text, p_thread_id text) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
    select p_user_id = current_setting('postroom.user_id', true) and coalesce(bool_and(e.own_domain = current_setting('postroom.domain', true)), false)
    from email e where e.user_id = p_user_id and e.thread_id = p_thread_id $$;
revoke all on function is_thread_of_domain from public;
grant execute on function is_thread_of_domain to postroom_domain;

-- What a key of one domain reads (docs/decisions/0035).
grant select on thread to postroom_domain;
create policy thread_of_domain on thread for select to postroom_domain
  using (user_id = current_setting('postroom.user_id', true) and is_thread_of_domain(user_id, id));
grant select on thread_alias to postroom_domain;
create policy thread_alias_of_domain on thread_alias for select to postroom_domain
  using (user_id = current_setting('postroom.user_id', true) and is_thread_of_domain(user_id, thread_id));
