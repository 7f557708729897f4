create table thread (
  workspace_id text not null,
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
  trashed_at timestamptz(3),
  trashed_from text,
  -- the member who works on it
  assignee_id text,
  -- out of the inbox until then; ended by a reply
  snoozed_until timestamptz(3),
  -- when it comes back to the inbox unless a reply came before
  remind_at timestamptz(3),
  -- when it came back and why; until it is archived or snoozed again
  returned_at timestamptz(3),
  returned_by text check (returned_by in ('snooze', 'reply', 'reminder')),
  -- its place in lists
  listed_at timestamptz(3) not null generated always as (greatest(last_message_at, returned_at)) stored,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, id)
) with (fillfactor = 85);
create index thread_list on thread (workspace_id, listed_at, id) where trashed_at is null;
create index thread_trash on thread (workspace_id, listed_at, id) where trashed_at is not null;
create index thread_inbox on thread (workspace_id, listed_at, id) where (archived_count < received_count or returned_at is not null)
  and snoozed_until is null and trashed_at is null;
create index thread_archive on thread (workspace_id, listed_at, id) where archived_count = received_count and received_count > 0
  and returned_at is null and trashed_at is null;
create index thread_unread on thread (workspace_id, listed_at, id) where unread_count > 0 and trashed_at is null;
create index thread_search on thread using gin (workspace_id, search_text gin_trgm_ops);
create index thread_labels on thread using gin (workspace_id, label_keys) where label_keys <> '{}';
create index thread_participants on thread using gin (workspace_id, participant_emails);
create index thread_assignee on thread (workspace_id, assignee_id, listed_at, id) where assignee_id is not null;
create index thread_snoozed on thread (workspace_id, listed_at, id) where snoozed_until is not null;
create index thread_wake on thread (least(snoozed_until, remind_at)) where least(snoozed_until, remind_at) is not null;
call pg_temp.protect_rows('thread');

create table thread_alias (workspace_id text not null, alias_id text not null, thread_id text not null, primary key (workspace_id, alias_id));
create index thread_alias_target on thread_alias (workspace_id, thread_id);
call pg_temp.protect_rows('thread_alias');

create table thread_apart (workspace_id text not null, thread_id text not null, other_id text not null, primary key (workspace_id, thread_id,
  other_id));
call pg_temp.protect_rows('thread_apart');

create table thread_message_id (workspace_id text not null, message_id text not null, thread_id text not null, primary key (workspace_id,
  message_id));
create index thread_message_id_thread on thread_message_id (workspace_id, thread_id);
call pg_temp.protect_rows('thread_message_id');

-- Message-IDs that a relay gave to sent mail, see core/sending/relayed-id.ts. Their domain is not known.
create table relayed_message_id (workspace_id text not null, local_part text not null, email_id text not null, primary key (workspace_id,
  local_part));
create index relayed_message_id_email on relayed_message_id (workspace_id, email_id);
call pg_temp.protect_rows('relayed_message_id');

create table thread_subject (
  workspace_id text not null,
  base_subject_sha256 bytea not null,
  participant text not null,
  date timestamptz(3) not null,
  email_id text not null,
  is_reply boolean not null,
  thread_id text not null,
  -- is_reply before date: the nearest reply is found at once among any number of notices with one subject
  primary key (workspace_id, base_subject_sha256, participant, is_reply, date, email_id)
);
create index thread_subject_thread on thread_subject (workspace_id, thread_id);
call pg_temp.protect_rows('thread_subject');

-- Deleted when the claim is released; a claim that expired is deleted by the scheduling actor.
create table thread_claim (
  workspace_id text not null,
  thread_id text not null,
  token_sha256 bytea not null,
  holder text not null,
  claimed_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (workspace_id, thread_id)
);
create unique index thread_claim_token on thread_claim (workspace_id, token_sha256);
create index thread_claim_expiry on thread_claim (expires_at);
call pg_temp.protect_rows('thread_claim');

-- What members write beside a thread. It never leaves the workspace.
create table thread_note (
  workspace_id text not null,
  id text not null,
  thread_id text not null,
  -- the person who wrote it in a session, or else the API key
  author_id text,
  author_key_id text,
  author_name text not null,
  text text not null,
  -- members whom the text mentions and who could read the thread then, and the addresses of those who could not
  mentions text[] not null,
  unreached text[] not null,
  created_at timestamptz(3) not null,
  edited_at timestamptz(3),
  primary key (workspace_id, id)
);
create index thread_note_thread on thread_note (workspace_id, thread_id, id);
call pg_temp.protect_rows('thread_note');

-- Notices of mentions that are not sent yet. A gateway takes them from due_at on.
create table note_notice (workspace_id text not null, note_id text not null, person_id text not null, due_at timestamptz(3) not null, primary key (workspace_id, note_id, person_id));
create index note_notice_due on note_notice (due_at);
call pg_temp.protect_rows('note_notice');

-- Searches and filters that a person, or with null the workspace, keeps under a name.
create table saved_view (
  workspace_id text not null,
  id text not null,
  person_id text,
  name text not null,
  folder text not null check (folder in ('inbox', 'unread', 'snoozed', 'sent', 'archived', 'trash')),
  search text not null,
  label text,
  address text,
  assigned text,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
call pg_temp.protect_rows('saved_view');
-- What members have read. Received messages up to read_until are read by the member, later ones are not; of the thread '*', those of all threads
-- that have no row which was set later. A member without rows has read what came before joining. Nothing is stored when mail comes in.
create table thread_read (
  workspace_id text not null,
  thread_id text not null,
  person_id text not null,
  read_until timestamptz(3) not null,
  set_at timestamptz(3) not null,
  primary key (workspace_id, thread_id, person_id)
);
create index thread_read_person on thread_read (workspace_id, person_id, set_at);
call pg_temp.protect_rows('thread_read');

-- What threads were before one request changed them, for a day (docs/decisions/0131). Deleted when the change is undone; the scheduling actor
-- deletes what expired.
create table thread_undo (
  workspace_id text not null,
  id text not null,
  thread_count integer not null,
  message_count integer not null,
  -- of each thread, see ChangedThread in db/queries/threads/thread-undo.ts
  state jsonb not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create index thread_undo_expiry on thread_undo (expires_at);
call pg_temp.protect_rows('thread_undo');

-- Labels of the workspace's threads, those of most threads; under the policy nothing would be known of how few threads have any.
create function list_labels(p_workspace_id text, p_limit integer) returns table (name text, threads bigint, unread bigint)
  language plpgsql stable security definer rows 20 set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute
      'select used.name, used.threads, used.unread from (
         select l.key, mode() within group (order by l.name collate "C") as name, count(*) as threads,
           count(*) filter (where t.unread_count > 0) as unread
         from thread t cross join lateral unnest(t.labels, t.label_keys) as l(name, key)
         where t.workspace_id = $1 and t.label_keys <> ''{}'' and t.trashed_at is null'
      || case when current_setting('role') <> 'postroom_domain' then '' else ' and is_thread_of_domain(t.workspace_id, t.id)' end || '
         group by l.key order by count(*) desc, l.key limit $2) used
       order by used.key' using p_workspace_id, p_limit;
  end $$;
revoke all on function list_labels from public;
grant execute on function list_labels to postroom_gateway, postroom_actor, postroom_domain;

-- Whether every message of the thread is of the domain of the transaction, and there is one. As their owner: others are not seen.
create function is_thread_of_domain(p_workspace_id text, p_thread_id text) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
    select p_workspace_id = current_setting('postroom.workspace_id', true) and coalesce(bool_and(is_in_reach(e.own_domain, e.own_address)), false)
    from email e where e.workspace_id = p_workspace_id and e.thread_id = p_thread_id $$;
revoke all on function is_thread_of_domain from public;
grant execute on function is_thread_of_domain to postroom_domain;

-- What a key of one domain reads (docs/decisions/0035).
grant select on thread to postroom_domain;
create policy thread_of_domain on thread for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_thread_of_domain(workspace_id, id));
grant select on thread_alias to postroom_domain;
create policy thread_alias_of_domain on thread_alias for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_thread_of_domain(workspace_id, thread_id));

grant select on thread_claim to postroom_domain;
create policy thread_claim_of_domain on thread_claim for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_thread_of_domain(workspace_id, thread_id));

-- Whether every message of the thread is of these domains or addresses, and there is one: is_thread_of_domain, for a member who does not ask.
create function is_thread_within(p_workspace_id text, p_thread_id text, p_domain_ids text[], p_addresses text[]) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
    select coalesce(bool_and(coalesce(e.own_address = any (p_addresses)
      or e.own_domain = any (array(select d.name from domain d where d.workspace_id = p_workspace_id and d.id = any (p_domain_ids))), false)), false)
    from email e where e.workspace_id = p_workspace_id and e.thread_id = p_thread_id $$;
revoke all on function is_thread_within from public;
-- Those of the threads that are within: for changes, which need more rights than postroom_domain has.
create function threads_within(p_workspace_id text, p_thread_ids text[], p_domain_ids text[], p_addresses text[]) returns setof text
  language sql stable security definer set search_path = public, pg_temp as $$
    select t.id from thread t where t.workspace_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true)
      and t.id = any (p_thread_ids) and is_thread_within(t.workspace_id, t.id, p_domain_ids, p_addresses) $$;
revoke all on function threads_within from public;
grant execute on function threads_within to postroom_gateway;

-- Assigns a thread to a member, or with null to none. A change or removal of the member waits for the transaction, and then takes from the member
-- what this one gave. `former_id` is the assignee until now.
create function assign_thread(p_workspace_id text, p_thread_id text, p_person_id text, out outcome text, out former_id text)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    assignee workspace_member;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    if p_person_id is not null then
      select * into assignee from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_person_id for share;
      if assignee.person_id is null then
        outcome := 'no member';
        return;
      end if;
      if assignee.domain_ids is not null and not is_thread_within(p_workspace_id, p_thread_id, assignee.domain_ids, assignee.addresses) then
        outcome := 'out of reach';
        return;
      end if;
    end if;
    select t.assignee_id into former_id from thread t where t.workspace_id = p_workspace_id and t.id = p_thread_id for update;
    outcome := case when former_id is distinct from p_person_id then 'assigned' else 'unchanged' end;
    if outcome = 'assigned' then
      update thread t set assignee_id = p_person_id, updated_at = postroom_now() where t.workspace_id = p_workspace_id and t.id = p_thread_id;
    end if;
  end $$;
revoke all on function assign_thread from public;
grant execute on function assign_thread to postroom_gateway, postroom_actor;

-- Those of the members who can read the thread.
create function readers_of_thread(p_workspace_id text, p_thread_id text, p_person_ids text[]) returns text[]
  language sql stable security definer set search_path = public, pg_temp as $$
    select coalesce(array_agg(m.person_id), '{}') from workspace_member m
    where m.workspace_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true) and m.person_id = any (p_person_ids)
      and (m.domain_ids is null or is_thread_within(p_workspace_id, p_thread_id, m.domain_ids, m.addresses)) $$;
revoke all on function readers_of_thread from public;
grant execute on function readers_of_thread to postroom_gateway;

-- The receiver of a notice: null when it is not to be sent any more, because the note is gone, or the person may not read the thread.
create function receiver_of_notice(p_notice note_notice)
  returns table (thread_id text, email text, author_name text, workspace_name text)
  language sql stable security definer rows 1 set search_path = public, pg_temp as $$
    select n.thread_id, u.email, n.author_name, w.name from thread_note n
    join workspace w on w.id = n.workspace_id and w.erase_at is null
    join workspace_member m on m.workspace_id = n.workspace_id and m.person_id = p_notice.person_id
    join person u on u.id = m.person_id
    where n.workspace_id = p_notice.workspace_id and n.id = p_notice.note_id
      and (m.domain_ids is null or is_thread_within(n.workspace_id, n.thread_id, m.domain_ids, m.addresses)) $$;
revoke all on function receiver_of_notice from public;
-- Takes up to p_limit notices of all workspaces, for a minute: those of a note, or with null those that are due. Those that are not to be
-- sent any more are deleted instead.
create function take_note_notices(p_note_id text, p_limit integer)
  returns table (workspace_id text, note_id text, person_id text, thread_id text, email text, author_name text, workspace_name text)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  #variable_conflict use_column
  declare
    taken note_notice;
  begin
    for taken in
      select n.* from note_notice n
      where n.due_at <= case when p_note_id is null then postroom_now() else 'infinity' end and (p_note_id is null or n.note_id = p_note_id)
      order by n.due_at limit p_limit for update skip locked
    loop
      select r.thread_id, r.email, r.author_name, r.workspace_name into thread_id, email, author_name, workspace_name
        from receiver_of_notice(taken) r;
      workspace_id := taken.workspace_id;
      note_id := taken.note_id;
      person_id := taken.person_id;
      if email is null then
        perform finish_note_notice(workspace_id, note_id, person_id);
      else
        update note_notice n set due_at = postroom_now() + interval '1 minute'
          where n.workspace_id = taken.workspace_id and n.note_id = taken.note_id and n.person_id = taken.person_id;
        return next;
      end if;
    end loop;
  end $$;
revoke all on function take_note_notices from public;
grant execute on function take_note_notices to postroom_gateway;
-- Deletes a notice that was sent.
create function finish_note_notice(p_workspace_id text, p_note_id text, p_person_id text) returns void
  language sql volatile security definer set search_path = public, pg_temp as $$
    delete from note_notice n where n.workspace_id = p_workspace_id and n.note_id = p_note_id and n.person_id = p_person_id $$;
revoke all on function finish_note_notice from public;
grant execute on function finish_note_notice to postroom_gateway;

-- Takes from a member the threads that the member may not read any more: those that are not of these domains and addresses; both null: all.
-- Returns their ids. The caller holds the lock of the workspace's threads.
create function unassign_threads(p_workspace_id text, p_person_id text, p_domain_ids text[], p_addresses text[]) returns text[]
  language sql volatile security definer set search_path = public, pg_temp as $$
    with freed as (
      update thread t set assignee_id = null, updated_at = postroom_now()
      where t.workspace_id = p_workspace_id and t.assignee_id = p_person_id
        and (p_domain_ids is null or not is_thread_within(t.workspace_id, t.id, p_domain_ids, p_addresses))
      returning t.id)
    select coalesce(array_agg(f.id order by f.id), '{}') from freed f $$;
revoke all on function unassign_threads from public;

-- Until when a member has read the threads that have no row set later than set_at. No row: the person is no member.
create function read_mark(p_workspace_id text, p_person_id text) returns table (read_until timestamptz, set_at timestamptz)
  language sql stable rows 1 security definer set search_path = public, pg_temp as $$
    select coalesce(r.read_until, m.joined_at), coalesce(r.set_at, '-infinity')
    from workspace_member m
    left join thread_read r on r.workspace_id = m.workspace_id and r.thread_id = '*' and r.person_id = m.person_id
    where m.workspace_id = p_workspace_id and m.person_id = p_person_id and p_workspace_id = current_setting('postroom.workspace_id', true) $$;
revoke all on function read_mark from public;
grant execute on function read_mark to postroom_gateway, postroom_actor, postroom_domain;

-- Those of the threads with a received message that the member has not read.
create function threads_unread_by(p_workspace_id text, p_person_id text, p_thread_ids text[]) returns setof text
  language sql stable security definer set search_path = public, pg_temp as $$
    select t.id from read_mark(p_workspace_id, p_person_id) m
    join thread t on t.workspace_id = p_workspace_id and t.id = any (p_thread_ids)
    left join thread_read r on r.workspace_id = p_workspace_id and r.thread_id = t.id and r.person_id = p_person_id and r.set_at > m.set_at
    where t.last_message_at > coalesce(r.read_until, m.read_until) and exists (
      select from email e where e.workspace_id = p_workspace_id and e.thread_id = t.id and e.type = 'received' and e.thread_at > coalesce(r.read_until, m.read_until))
      and (current_setting('role') <> 'postroom_domain' or is_thread_of_domain(p_workspace_id, t.id)) $$;
revoke all on function threads_unread_by from public;
grant execute on function threads_unread_by to postroom_gateway, postroom_actor, postroom_domain;

-- Until when a member has read each of the threads. No rows: the person is no member.
create function threads_read_until(p_workspace_id text, p_person_id text, p_thread_ids text[]) returns table (thread_id text, read_until timestamptz)
  language sql stable security definer set search_path = public, pg_temp as $$
    select t.id, coalesce(r.read_until, m.read_until) from read_mark(p_workspace_id, p_person_id) m
    join thread t on t.workspace_id = p_workspace_id and t.id = any (p_thread_ids)
    left join thread_read r on r.workspace_id = p_workspace_id and r.thread_id = t.id and r.person_id = p_person_id and r.set_at > m.set_at
    where current_setting('role') <> 'postroom_domain' or is_thread_of_domain(p_workspace_id, t.id) $$;
revoke all on function threads_read_until from public;
grant execute on function threads_read_until to postroom_gateway, postroom_domain;

-- Marks threads as read by a member, or as unread. With an email, the messages up to it are read, or those from it on are unread. Returns the
-- threads whose mark moved: nothing is stored for the others.
create function mark_threads_read(p_workspace_id text, p_person_id text, p_thread_ids text[], p_is_read boolean, p_email_id text) returns setof text
  language sql volatile security definer set search_path = public, pg_temp as $$
    insert into thread_read as r (workspace_id, thread_id, person_id, read_until, set_at)
    select p_workspace_id, t.id, p_person_id, n.read_until, postroom_now()
    from read_mark(p_workspace_id, p_person_id) m
    join thread t on t.workspace_id = p_workspace_id and t.id = any (p_thread_ids)
    left join thread_read f on f.workspace_id = p_workspace_id and f.thread_id = t.id and f.person_id = p_person_id and f.set_at > m.set_at
    left join email e on e.workspace_id = p_workspace_id and e.id = p_email_id and e.thread_id = t.id
    cross join lateral (select case when p_email_id is null then case when p_is_read then t.last_message_at else '-infinity' end
      when p_is_read then greatest(e.thread_at, coalesce(f.read_until, m.read_until))
      else least(e.thread_at - interval '1 millisecond', coalesce(f.read_until, m.read_until)) end::timestamptz(3) as read_until) n
    where n.read_until is not null
      and case when p_is_read then n.read_until > coalesce(f.read_until, m.read_until) else n.read_until < coalesce(f.read_until, m.read_until) end
    order by t.id
    on conflict (workspace_id, thread_id, person_id) do update set read_until = excluded.read_until, set_at = excluded.set_at
    returning r.thread_id $$;
revoke all on function mark_threads_read from public;
grant execute on function mark_threads_read to postroom_gateway;

-- Marks everything that has come until now as read by a member. Rows that no longer count are deleted, p_most at a time: the rest at the next time.
create function mark_all_read(p_workspace_id text, p_person_id text, p_most integer) returns void
  language sql volatile security definer set search_path = public, pg_temp as $$
    with gone as (
      delete from thread_read r where r.workspace_id = p_workspace_id and r.person_id = p_person_id and r.thread_id in (
        select o.thread_id from thread_read o where o.workspace_id = p_workspace_id and o.person_id = p_person_id
          and o.thread_id <> '*' limit p_most))
    insert into thread_read (workspace_id, thread_id, person_id, read_until, set_at)
    select m.workspace_id, '*', m.person_id, postroom_now(), postroom_now()
    from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_person_id
      and p_workspace_id = current_setting('postroom.workspace_id', true)
    on conflict (workspace_id, thread_id, person_id) do update set read_until = excluded.read_until, set_at = excluded.set_at $$;
revoke all on function mark_all_read from public;
grant execute on function mark_all_read to postroom_gateway;
grant select on thread_read to postroom_domain;
create policy thread_read_of_domain on thread_read for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and (thread_id = '*' or is_thread_of_domain(workspace_id, thread_id)));

-- When a second member joins, what the first has read becomes that member's own: all that has come, but for what is unread in the workspace, in
-- the newest threads of those.
create function keep_reads_of_only_member() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    others text[] := array(select m.person_id from workspace_member m where m.workspace_id = new.workspace_id and m.person_id <> new.person_id limit 2);
    kept_at constant timestamptz(3) := postroom_now();
  begin
    if cardinality(others) <> 1 then return null; end if;
    insert into thread_read as r (workspace_id, thread_id, person_id, read_until, set_at)
      select new.workspace_id, '*', others[1], kept_at, kept_at
      union all
      select new.workspace_id, t.id, others[1], first.unread_at - interval '1 millisecond', kept_at + interval '1 millisecond'
      from (select u.id from thread u where u.workspace_id = new.workspace_id and u.unread_count > 0 and u.trashed_at is null
        order by u.listed_at desc, u.id desc limit 1000) t
      cross join lateral (select min(e.thread_at) as unread_at from email e
        where e.workspace_id = new.workspace_id and e.thread_id = t.id and e.type = 'received' and not e.is_read) first
      where first.unread_at is not null
      on conflict (workspace_id, thread_id, person_id) do update set read_until = excluded.read_until, set_at = excluded.set_at;
    return null;
  end $$;
revoke all on function keep_reads_of_only_member from public;
create trigger keep_reads_of_only_member after insert on workspace_member for each row execute function keep_reads_of_only_member();

-- When a member joined; null: the person is no member. For actors, whose transactions are of no workspace.
create function member_since(p_workspace_id text, p_person_id text) returns timestamptz
  language sql stable security definer set search_path = public, pg_temp as $$
    select m.joined_at from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_person_id $$;
revoke all on function member_since from public;
grant execute on function member_since to postroom_gateway, postroom_actor;

-- Gives each remaining thread what members have read of it and of the threads that end in it: all of it, or from the first of them that has
-- something unread, nothing after what was read there.
create function merge_reads(p_workspace_id text, p_loser_ids text[], p_survivor_ids text[]) returns void language sql volatile as $$
  with grouped as (
    select l.loser_id as thread_id, l.survivor_id from unnest(p_loser_ids, p_survivor_ids) as l(loser_id, survivor_id)
    union select s, s from unnest(p_survivor_ids) s
  ), persons as (
    select distinct g.survivor_id, r.person_id from grouped g join thread_read r on r.workspace_id = p_workspace_id and r.thread_id = g.thread_id
  ), marks as (
    select p.survivor_id, p.person_id, coalesce(r.read_until, k.read_until, member_since(p_workspace_id, p.person_id)) as read_until,
      t.last_message_at
    from persons p
    left join thread_read k on k.workspace_id = p_workspace_id and k.thread_id = '*' and k.person_id = p.person_id
    join grouped g on g.survivor_id = p.survivor_id
    join thread t on t.workspace_id = p_workspace_id and t.id = g.thread_id
    left join thread_read r on r.workspace_id = p_workspace_id and r.thread_id = g.thread_id and r.person_id = p.person_id
      and r.set_at > coalesce(k.set_at, '-infinity')
  ), ended as (
    delete from thread_read r where r.workspace_id = p_workspace_id and r.thread_id = any (p_loser_ids)
  )
  insert into thread_read (workspace_id, thread_id, person_id, read_until, set_at)
  select p_workspace_id, m.survivor_id, m.person_id,
    coalesce(min(m.read_until) filter (where m.last_message_at > m.read_until), max(m.read_until)), postroom_now()
  from marks m where m.read_until is not null group by m.survivor_id, m.person_id
  on conflict (workspace_id, thread_id, person_id) do update set read_until = excluded.read_until, set_at = excluded.set_at $$;

-- Gives a thread that messages are split off to what members have read of the other.
create function copy_reads(p_workspace_id text, p_from_id text, p_to_id text) returns void language sql volatile as $$
  insert into thread_read (workspace_id, thread_id, person_id, read_until, set_at)
  select r.workspace_id, p_to_id, r.person_id, r.read_until, r.set_at from thread_read r where r.workspace_id = p_workspace_id
    and r.thread_id = p_from_id
  on conflict do nothing $$;

-- Gives the claims of threads that end to the threads that take their messages. Where both have one, that of the remaining thread stays,
-- and of several others the earliest. The rest expire now, under the ids of their threads, which are aliases by then.
create function merge_claims(p_workspace_id text, p_loser_ids text[], p_survivor_ids text[]) returns void language plpgsql volatile as $$
declare
  current timestamptz := date_trunc('milliseconds', postroom_now());
  taken record;
  moving thread_claim;
begin
  for taken in
    select c.thread_id as loser_id, m.survivor_id
    from unnest(p_loser_ids, p_survivor_ids) as m(loser_id, survivor_id)
    cross join lateral (select k.thread_id, k.claimed_at from thread_claim k
      where k.workspace_id = p_workspace_id and k.thread_id = m.loser_id and k.expires_at > current for update) c
    order by c.claimed_at, c.thread_id
  loop
    if exists (select from thread_claim k where k.workspace_id = p_workspace_id and k.thread_id = taken.survivor_id and k.expires_at > current) then
      update thread_claim k set expires_at = current where k.workspace_id = p_workspace_id and k.thread_id = taken.loser_id;
    else
      delete from thread_claim k where k.workspace_id = p_workspace_id and k.thread_id = taken.loser_id returning * into moving;
      update thread_claim k set thread_id = taken.loser_id where k.workspace_id = p_workspace_id and k.thread_id = taken.survivor_id;
      moving.thread_id := taken.survivor_id;
      insert into thread_claim select moving.*;
    end if;
  end loop;
end $$;

-- Gives each remaining thread that is assigned to none the assignee of a thread that ends in it, that of the newest message.
create function merge_assignees(p_workspace_id text, p_loser_ids text[], p_survivor_ids text[]) returns void language sql volatile as $$
  update thread t set assignee_id = l.assignee_id
  from (select distinct on (m.survivor_id) m.survivor_id, o.assignee_id
    from unnest(p_loser_ids, p_survivor_ids) as m(loser_id, survivor_id)
    cross join lateral (select k.assignee_id, k.last_message_at from thread k
      where k.workspace_id = p_workspace_id and k.id = m.loser_id and k.assignee_id is not null) o
    order by m.survivor_id, o.last_message_at desc, m.loser_id) l
  where t.workspace_id = p_workspace_id and t.id = l.survivor_id and t.assignee_id is null $$;

-- Brings back up to p_limit threads of all workspaces whose snooze is over, or to whose mail no reply came. Those in the trash stay there.
-- Locked threads are left out: the sweep returns to them.
create function wake_threads(p_limit integer) returns table (workspace_id text, thread_id text, returned_by text)
  language sql volatile as $$
    with due as materialized (
      select t.workspace_id, t.id, case when t.remind_at <= n.at then 'reminder' else 'snooze' end as returned_by, n.at
      from (select postroom_now() as at) n, thread t
      where least(t.snoozed_until, t.remind_at) <= n.at
      order by least(t.snoozed_until, t.remind_at) limit p_limit for update of t skip locked
    ), woken as (
      update thread t set updated_at = d.at,
        snoozed_until = case when t.snoozed_until <= d.at or d.returned_by = 'reminder' then null else t.snoozed_until end,
        remind_at = case when t.remind_at <= d.at then null else t.remind_at end,
        returned_at = case when t.trashed_at is null then d.at end,
        returned_by = case when t.trashed_at is null then d.returned_by end
      from due d where t.workspace_id = d.workspace_id and t.id = d.id
      returning t.workspace_id, t.id, t.returned_by
    )
    select w.workspace_id, w.id, w.returned_by from woken w where w.returned_by is not null order by w.workspace_id, w.id $$;

-- Gives each remaining thread the reminders of the threads that end in it, of several the first.
create function merge_reminders(p_workspace_id text, p_loser_ids text[], p_survivor_ids text[]) returns void language sql volatile as $$
  update thread t set remind_at = least(t.remind_at, l.remind_at)
  from (select m.survivor_id, min(k.remind_at) as remind_at from unnest(p_loser_ids, p_survivor_ids) as m(loser_id, survivor_id)
    join thread k on k.workspace_id = p_workspace_id and k.id = m.loser_id and k.remind_at is not null group by 1) l
  where t.workspace_id = p_workspace_id and t.id = l.survivor_id $$;

-- What threading reads and writes, a whole batch in one call each. The rules stay in core/threads: these functions look up and store.
-- They run with the rights of the caller, and the plans of their statements are kept.

-- Those of the emails that still have no thread, locked for this transaction, with what is stored about the msg-ids that they have or
-- refer to: `known` pairs an id with its thread, `threads` are those threads. `known` may name more than the links of the emails do
-- (core/threads/threading.ts), because which ids link is decided there: of a long id both it and its digest are looked up. Locked emails
-- are left out: the sweep returns to them. The caller holds the lock of the workspace's threads and took it in an earlier statement: the
-- snapshot of this one has to be newer, so that it shows all that the holder before committed.
-- The threads of msg-id keys that some message of the workspace has or refers to, or that a relay gave to a message. What relays gave is found by
-- what is between `<` and `@`, without a pattern: PostgreSQL builds the states of one that counts again for each key.
create function find_threads_of_keys(p_workspace_id text, p_keys text[]) returns table (message_id text, thread_id text)
  language sql stable rows 5 as $$
    select k.key, coalesce(m.thread_id, r.thread_id)
    from unnest(p_keys) as k(key)
    left join lateral (
      select o.thread_id from thread_message_id o where o.workspace_id = p_workspace_id and o.message_id = k.key limit 1) m on true
    left join lateral (
      select e.thread_id from relayed_message_id i
      cross join lateral (select o.thread_id from email o where o.workspace_id = p_workspace_id and o.id = i.email_id limit 1) e
      where m.thread_id is null and i.workspace_id = p_workspace_id and i.local_part = substr(split_part(k.key, '@', 1), 2)
      limit 1) r on true
    where coalesce(m.thread_id, r.thread_id) is not null $$;

create function claim_threads(p_workspace_id text, p_email_ids text[]) returns json language plpgsql volatile as $$
begin
  return (
    with claimed as materialized (
      select e.id, e.type, e.thread_at, e.date, e.own_address, e.message_id, e.subject, e.base_subject, e.is_read, e.is_archived,
        c.in_reply_to, c.reference_ids, c.addresses,
        -- how a reply address names a thread, see core/smtp/reply-address.ts
        case when e.reply_address_id is not null then (
          select k.message_id from thread_message_id k
          where k.workspace_id = p_workspace_id and k.message_id = 'reply-address:' || e.reply_address_id limit 1) end as thread_key
      from email e left join email_content c on c.workspace_id = p_workspace_id and c.email_id = e.id
      where e.workspace_id = p_workspace_id and e.id = any (p_email_ids) and e.thread_id is null and e.type <> 'scheduled' and e.kept_apart is null
      for update of e skip locked
    ), named as materialized (
      select distinct k.key
      from claimed c cross join lateral unnest(c.message_id || array_remove(array[c.thread_key], null) || (
        -- ids without brackets, see core/threads/threading.ts
        select array_agg(case when r.id like '<%' then r.id else '<' || r.id || '>' end) from unnest(c.in_reply_to || c.reference_ids) as r(id))) as i(id)
      cross join lateral unnest(case when octet_length(i.id) <= 256 then array[i.id]
        else array[i.id, 'sha256:' || encode(sha256(convert_to(i.id, 'UTF8')), 'hex')] end) as k(key)
    ), known as materialized (
      select k.message_id as key, k.thread_id from find_threads_of_keys(p_workspace_id, array(select n.key from named n)) k
    ), joinable as materialized (
      select t.* from (select distinct thread_id from known) k cross join lateral (
        select o.id, o.created_at, o.root_message_id, o.normalized_subject, o.participant_emails, o.participant_names, o.message_count,
          o.latest_email_id, o.last_message_at, o.trashed_at is not null as is_trashed
        from thread o where o.workspace_id = p_workspace_id and o.id = k.thread_id limit 1) t
    )
    select json_build_object(
      'emails', coalesce((select json_agg(c) from claimed c), '[]'),
      'known', coalesce((select json_agg(array[k.key, k.thread_id]) from known k), '[]'),
      'threads', coalesce((select json_agg(t) from joinable t), '[]')));
end $$;

-- The nearest replies before (or at) and after (or at) each probe within its span of time, for probes that have any; `place` counts
-- the probes from 1.
create function nearest_replies(p_workspace_id text, p_probes jsonb)
  returns table (place bigint, before_date timestamptz, before_thread_id text, after_date timestamptz, after_thread_id text)
  language plpgsql volatile as $$
begin
  return query
  select p.ordinality, b.date::timestamptz, b.thread_id, a.date::timestamptz, a.thread_id
  from rows from (jsonb_to_recordset(p_probes) as (subject text, participant text, from_at timestamptz, at timestamptz, to_at timestamptz))
    with ordinality as p(subject, participant, from_at, at, to_at, ordinality)
  left join lateral (
    select s.date, s.thread_id from thread_subject s
    where s.workspace_id = p_workspace_id and s.base_subject_sha256 = sha256(convert_to(p.subject, 'UTF8')) and s.participant = p.participant
      and s.is_reply = true and s.date between p.from_at and p.at
    order by s.date desc limit 1) b on true
  left join lateral (
    select s.date, s.thread_id from thread_subject s
    where s.workspace_id = p_workspace_id and s.base_subject_sha256 = sha256(convert_to(p.subject, 'UTF8')) and s.participant = p.participant
      and s.is_reply = true and s.date between p.at and p.to_at
    order by s.date limit 1) a on true
  where b.thread_id is not null or a.thread_id is not null
  order by p.ordinality;
end $$;

-- Stores what a batch changes. Keys of p_change, each may be missing:
--   assignments  [{email_id, thread_id, position, reason}]: received ones then wait for the router
--   keys         {msg-id: thread}: known ones stay unchanged
--   anchors      [{subject, participants, is_reply, date, email_id, thread_id}]: what later subject edges may join
--   threads      rows to create or to update; counters are added, not set: users mark mail as read at the same time, without our lock
--   events       for the feed (append_events)
-- In this order, the lock order of all transactions: emails, threads, the counter of the feed, which stays locked until the commit.
-- When one of p_probes has a reply near, nothing is written and the answer is those replies; else it is the last number of the feed.
-- Received mail ends the snooze and the reminder of its thread.
create function store_threads(p_workspace_id text, p_change jsonb, p_probes jsonb, out last_seq bigint, out replies json)
  language plpgsql volatile as $$
declare
  answered text[];
  reminders jsonb;
begin
  if jsonb_array_length(p_probes) > 0 then
    replies := (select json_agg(n) from nearest_replies(p_workspace_id, p_probes) n);
    if replies is not null then return; end if;
  end if;
  if p_change ? 'assignments' then
    with assigned as (
      update email e set thread_id = a.thread_id, thread_position = a.position, thread_reason = a.reason
      from jsonb_to_recordset(p_change->'assignments') as a(email_id text, thread_id text, position integer, reason text)
      where e.workspace_id = p_workspace_id and e.id = a.email_id
      returning e.id, e.type, e.created_at, e.thread_id, e.remind_at),
    routed as (
      insert into route (workspace_id, email_id, created_at, threaded_at)
      select p_workspace_id, id, created_at, (select postroom_now()) from assigned where type = 'received'
      on conflict do nothing)
    select array_agg(a.thread_id) filter (where a.type = 'received'),
      jsonb_object_agg(a.thread_id, a.remind_at) filter (where a.remind_at is not null) into answered, reminders from assigned a;
  end if;
  if p_change ? 'keys' then
    insert into thread_message_id (workspace_id, message_id, thread_id)
    select p_workspace_id, k.key, k.value from jsonb_each_text(p_change->'keys') k
    on conflict do nothing;
  end if;
  if p_change ? 'anchors' then
    insert into thread_subject (workspace_id, base_subject_sha256, participant, is_reply, date, email_id, thread_id)
    select p_workspace_id, sha256(convert_to(s.subject, 'UTF8')), participant, s.is_reply, s.date, s.email_id, s.thread_id
    from jsonb_to_recordset(p_change->'anchors')
      as s(subject text, participants text[], is_reply boolean, date timestamptz, email_id text, thread_id text)
    cross join lateral unnest(s.participants) as participant
    on conflict do nothing;
  end if;
  if p_change ? 'threads' then
    insert into thread as t (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text,
      message_count, received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at, updated_at)
    select p_workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text,
      message_count, received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at, (select postroom_now())
    from jsonb_to_recordset(p_change->'threads') as x(
      id text, root_message_id text, normalized_subject text, participant_emails text[], participant_names text[], search_text text,
      message_count integer, received_count integer, unread_count integer, archived_count integer,
      latest_email_id text, last_message_at timestamptz, created_at timestamptz)
    order by id
    on conflict (workspace_id, id) do update set
      root_message_id = excluded.root_message_id, normalized_subject = excluded.normalized_subject,
      participant_emails = excluded.participant_emails, participant_names = excluded.participant_names,
      search_text = excluded.search_text,
      message_count = t.message_count + excluded.message_count, received_count = t.received_count + excluded.received_count,
      unread_count = t.unread_count + excluded.unread_count, archived_count = t.archived_count + excluded.archived_count,
      latest_email_id = excluded.latest_email_id, last_message_at = excluded.last_message_at,
      created_at = excluded.created_at, updated_at = excluded.updated_at,
      snoozed_until = case when t.id = any (answered) then null else t.snoozed_until end,
      remind_at = case when t.id = any (answered) then null else t.remind_at end,
      returned_at = case when t.snoozed_until is not null and t.id = any (answered) then excluded.updated_at else t.returned_at end,
      returned_by = case when t.snoozed_until is not null and t.id = any (answered) then 'reply' else t.returned_by end;
  end if;
  if reminders is not null then
    update thread t set remind_at = (reminders ->> t.id)::timestamptz where t.workspace_id = p_workspace_id and reminders ? t.id;
  end if;
  if p_change ? 'events' then
    last_seq := append_events(p_workspace_id, p_change->'events');
  end if;
end $$;
