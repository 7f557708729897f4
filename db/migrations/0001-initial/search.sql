create table email_search (
  workspace_id text not null,
  email_id text not null,
  created_at timestamptz(3) not null,
  text text not null,
  parties text[] not null default '{}',
  primary key (workspace_id, email_id)
);
-- New texts go to a list, which merge_search_texts moves into the index: each page of the index is then written once for hundreds of emails.
-- The limit is for the case that nobody calls it: then the statement that exceeds it pays for all.
create index email_search_text on email_search using gin (workspace_id, text gin_trgm_ops, parties) with (gin_pending_list_limit = 32768);
call pg_temp.protect_rows('email_search');

-- Words of mail lie in segments: many emails of one account in a few rows that never change (core/search/segment). A segment that was
-- replaced stays for a moment, for searches that began before.
create table word_segment (
  workspace_id text not null,
  id text not null,
  email_count integer not null,
  size_bytes integer not null,
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  head bytea not null,
  built_at timestamptz(3) not null default now(),
  retired_at timestamptz(3),
  primary key (workspace_id, id)
);
create index word_segment_retired on word_segment (retired_at) where retired_at is not null;
create table word_block (
  workspace_id text not null,
  segment_id text not null,
  -- from 0: words; -1: the ids of the emails, -2: their table
  number integer not null,
  bytes bytea not null,
  primary key (workspace_id, segment_id, number)
);
-- They are compressed already, and of the ids PostgreSQL reads single ones.
alter table word_segment alter column head set storage external;
alter table word_block alter column bytes set storage external;
call pg_temp.protect_rows('word_segment');
call pg_temp.protect_rows('word_block');

-- Emails of which no segment has the present words: searches read those of the emails themselves. new: in no segment; changed, gone: what
-- segments have of it is void. changes: how often it changed since it was noted.
create table unindexed_email (
  workspace_id text not null,
  email_id text not null,
  state text not null check (state in ('new', 'changed', 'gone')),
  changes integer not null default 0,
  created_at timestamptz(3) not null,
  noted_at timestamptz(3) not null default now(),
  primary key (workspace_id, email_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
call pg_temp.protect_rows('unindexed_email');

-- Accounts whose segments are being built.
create table word_build (
  workspace_id text primary key,
  claimed_by text,
  claimed_until timestamptz(3)
);
call pg_temp.protect_rows('word_build');

-- A key of one domain looks words up in the segments of its account. What it finds passes the conditions of search_tests.
grant select on word_segment, word_block, unindexed_email to postroom_domain;
create policy word_segment_of_domain on word_segment for select to postroom_domain using (workspace_id = current_setting('postroom.workspace_id',
  true));
create policy word_block_of_domain on word_block for select to postroom_domain using (workspace_id = current_setting('postroom.workspace_id', true));
create policy unindexed_email_of_domain on unindexed_email for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from email e where e.workspace_id = unindexed_email.workspace_id and e.id = email_id));

-- Gives up a damaged segment: its emails are unindexed until they are in a new one. Those of its time in other segments are noted, too: which
-- emails it had is not known for sure.
create function discard_word_segment(p_workspace_id text, p_segment_id text) returns integer
  language plpgsql volatile security invoker set search_path = public, pg_temp as $$
  declare
    first timestamptz;
    last timestamptz;
    noted integer;
  begin
    update word_segment s set retired_at = now() where s.workspace_id = p_workspace_id and s.id = p_segment_id and s.retired_at is null
      returning s.first_at, s.last_at into first, last;
    if first is null then return 0; end if;
    insert into unindexed_email as u (workspace_id, email_id, state, created_at)
    select p_workspace_id, e.id, 'changed', e.created_at from email e
    where e.workspace_id = p_workspace_id and e.created_at between first and last order by e.id
    on conflict (workspace_id, email_id) do update set changes = u.changes + 1;
    get diagnostics noted = row_count;
    return noted;
  end $$;
revoke all on function discard_word_segment from public;
grant execute on function discard_word_segment to postroom_gateway, postroom_actor;

-- Mail in the trash leaves email_search, so that no search meets it, and returns to it with these values.
create table trashed_email (
  workspace_id text not null,
  email_id text not null,
  trashed_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  text text,
  parties text[],
  primary key (workspace_id, email_id)
);
create index trashed_email_age on trashed_email (trashed_at);
call pg_temp.protect_rows('trashed_email');

-- Rows of email_search that were written when its index was last merged, as the server counts them.
create sequence merged_search_texts minvalue 0;
-- Moves the texts of new emails from the pending list of their index into it, once that many more were written, and returns how many pages
-- the list had.
create function merge_search_texts(p_least bigint) returns bigint language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    written bigint;
    merged bigint := (select last_value from merged_search_texts);
  begin
    if not pg_try_advisory_xact_lock(hashtextextended('merge search texts', 0)) then return 0; end if;
    select n_tup_ins + n_tup_upd into written from pg_stat_user_tables where relid = 'email_search'::regclass;
    -- After a crash it counts from 0 again.
    if written between merged and merged + p_least - 1 then return 0; end if;
    perform setval('merged_search_texts', written);
    return gin_clean_pending_list('email_search_text');
  end $$;
revoke all on function merge_search_texts from public;
grant execute on function merge_search_texts to postroom_actor;

-- Searches. Their operators are not leakproof, so that under the policy their indexes would be passed over. Planned with the values
-- at hand, each time, since what a pattern costs depends on it. p_pattern is for LIKE, lower case, escaped.
create function search_emails(p_workspace_id text, p_pattern text, p_since timestamptz)
  returns table (email_id text, created_at timestamptz)
  language plpgsql stable security definer rows 100 set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute
      'select s.email_id, s.created_at::timestamptz from email_search s
       where s.workspace_id = $1 and s.text like $2 and ($3 is null or s.created_at >= $3)'
      || case when current_setting('role') <> 'postroom_domain' then '' else
        ' and exists (select from email e where e.workspace_id = s.workspace_id and e.id = s.email_id and is_in_reach(e.own_domain, e.own_address))' end
      using p_workspace_id, p_pattern, p_since;
  end $$;
revoke all on function search_emails from public;
grant execute on function search_emails to postroom_gateway, postroom_actor, postroom_domain;

-- The emails whose other side has one of two keys (core/search/email-parties.ts; null: none), and which of them.
create function exchanged_emails(p_workspace_id text, p_address text, p_domain text, p_since timestamptz)
  returns table (email_id text, created_at timestamptz, has_address boolean, has_domain boolean)
  language plpgsql stable security definer rows 100 set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute
      'select s.email_id, s.created_at::timestamptz, coalesce(s.parties @> array[$2], false), coalesce(s.parties @> array[$3], false)
       from email_search s
       where s.workspace_id = $1 and s.parties && array_remove(array[$2, $3], null) and ($4 is null or s.created_at >= $4)'
      || case when current_setting('role') <> 'postroom_domain' then '' else
        ' and exists (select from email e where e.workspace_id = s.workspace_id and e.id = s.email_id and is_in_reach(e.own_domain, e.own_address))' end
      using p_workspace_id, p_address, p_domain, p_since;
  end $$;
revoke all on function exchanged_emails from public;
grant execute on function exchanged_emails to postroom_gateway, postroom_actor, postroom_domain;

-- What a key of one domain reads (docs/decisions/0035).
grant select on image_sender to postroom_domain;
create policy image_sender_of_domain on image_sender for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from exchanged_emails(workspace_id, address, null, null)));

-- Those of the addresses that mail of the workspace was sent to.
create function written_addresses(p_workspace_id text, p_addresses text[]) returns table (address text)
  language plpgsql stable security definer rows 10 set search_path = public, pg_temp set enable_bitmapscan = on as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute
      'select a from unnest($2) a where exists (
         select from email_search s join email e on e.workspace_id = s.workspace_id and e.id = s.email_id
         where s.workspace_id = $1 and s.parties @> array[a] and e.type = ''sent''
           and e.status in (''pending'', ''delivered'', ''bounced'', ''failed''))' using p_workspace_id, p_addresses;
  end $$;
revoke all on function written_addresses from public;
grant execute on function written_addresses to postroom_gateway, postroom_actor;

-- null: no condition. p_address is one participant, p_domain the domain of one, lower case. The threads behind and before two places,
-- newest first, inverted: oldest first; p_limit null: all. p_assignee_id '': no assignee. Order and limit stand inside, so that the planner may walk the list until
-- the page is full, where a condition holds often, or gather and sort, where it holds seldom.
create function search_threads(p_workspace_id text, p_pattern text, p_address text, p_domain text, p_is_unread boolean,
    p_after_at timestamptz, p_after_id text, p_before_at timestamptz, p_before_id text, p_is_inverted boolean, p_limit integer,
    p_is_claimed boolean default null, p_is_trashed boolean default false, p_assignee_id text default null)
  returns table (thread_id text)
  language plpgsql stable security definer rows 100 set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute
      'select t.id from thread t where t.workspace_id = $1 and t.trashed_at is ' || case when p_is_trashed then 'not null' else 'null' end || ' and ($2 is null or t.search_text like $2)
       and ($3 is null or t.participant_emails @> array[$3])
       and ($4 is null or exists (select from unnest(t.participant_emails) p where split_part(p, ''@'', -1) = $4))
       and ($4 is null or t.search_text like ''%@'' || $4 || ''%'')
       and (not $5 or t.unread_count > 0)
       and ($11 is null or $11 = exists (select from thread_claim k where k.workspace_id = $1 and k.thread_id = t.id and k.expires_at > (select postroom_now())))
       and ($6 is null or (t.listed_at, t.id) < ($6, $7)) and ($8 is null or (t.listed_at, t.id) > ($8, $9))'
      || case when p_assignee_id is null then '' when p_assignee_id = '' then ' and t.assignee_id is null' else ' and t.assignee_id = $12' end
      || case when current_setting('role') <> 'postroom_domain' then '' else ' and is_thread_of_domain(t.workspace_id, t.id)' end || '
       order by ' || case when p_is_inverted then 't.listed_at, t.id' else 't.listed_at desc, t.id desc' end || ' limit $10'
      using p_workspace_id, p_pattern, p_address, p_domain, p_is_unread, p_after_at, p_after_id, p_before_at, p_before_id, p_limit, p_is_claimed, p_assignee_id;
  end $$;
revoke all on function search_threads from public;
grant execute on function search_threads to postroom_gateway, postroom_actor, postroom_domain;

-- What a search asks for besides words; null and {} put no condition. Conditions on emails, then those on their threads.
create type search_query as (
  workspace_id text,
  -- names that search_tests knows; behind !: their contrary
  tests text[],
  status text,
  own_address text,
  own_domain text,
  -- created at or after, and before
  since timestamptz,
  until timestamptz,
  -- has all of these, and none of those
  label_keys text[],
  without_label_keys text[],
  is_unread boolean,
  is_archived boolean,
  participant text,
  participant_domain text,
  -- keys of the other side that do as well as own_address and own_domain (core/search/email-parties.ts)
  party_address text,
  party_domain text
);
-- What lies behind and before two places; size null: all. Then the bounds of the steps: how much of the list is walked first and later,
-- and how many finds of an index are few.
create type search_page as (after_at timestamptz, after_id text, before_at timestamptz, before_id text, is_inverted boolean, size integer,
  near integer, far integer, few integer);
