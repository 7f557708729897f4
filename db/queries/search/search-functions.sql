-- Searches by conditions besides words, run as their owner, so that under row-level security their indexes are used. Every function returns
-- nothing when the given user is not the user of the transaction. Words are looked up in segments (db/queries/search/mail-matches.ts).
--
-- No single plan is fast for every search. So a page is searched in bounded steps: the nearest part of the list, then an index if it has few
-- matches, then more of the list, and only then everything. Statements are composed of the fixed texts below and planned with the values at
-- hand: $1 the query, $2 the page, $3 ids that were gathered, $4 their instants, $5 how many rows of the list are scanned.
--
-- The first migration runs this file. After a change here a new migration runs it again; it must also work with the previous version of the
-- code.

-- Or the other side of a row e of email has the key in this field.
create or replace function search_party(p_key text, p_field text) returns text language sql stable set search_path = public, pg_temp as $$
  select case when p_key is null then '' else format(' or exists (select from email_search x where x.workspace_id = ($1).workspace_id
    and x.email_id = e.id and x.parties @> array[($1).%I])', p_field) end $$;
-- Conditions on a row e of email, except words, labels and instants.
create or replace function search_tests(q search_query) returns text language sql stable set search_path = public, pg_temp as $$
  select coalesce(string_agg(case when t like '!%' then ' and not (' else ' and (' end || case ltrim(t, '!')
      when 'unread' then 'e.type = ''received'' and not e.is_read'
      when 'read' then 'e.type = ''received'' and e.is_read'
      when 'archived' then 'e.type = ''received'' and e.is_archived'
      when 'inbox' then 'e.type = ''received'' and not e.is_archived'
      when 'received' then 'e.type = ''received'''
      when 'sent' then 'e.type = ''sent'''
      when 'scheduled' then 'e.type = ''scheduled'''
      when 'attachment' then 'e.has_attachments'
      when 'trashed' then 'e.trashed_at is not null'
      when 'apart' then 'e.kept_apart is not null'
      when 'marked read' then 'e.is_read'
      when 'marked archived' then 'e.is_archived'
      when 'held' then 'exists (select from route r where r.workspace_id = ($1).workspace_id and r.email_id = e.id
        and r.outcome in (''blocked'', ''review'') and r.released_at is null)'
      else 'false' end || ')', ''), '')
    || case when q.status is null then '' else ' and e.status = ($1).status' end
    || case when q.own_domain is null then '' else ' and (e.own_domain = ($1).own_domain' || search_party(q.party_domain, 'party_domain') || ')' end
    || case when q.own_address is null then '' else ' and (e.own_address = ($1).own_address' || search_party(q.party_address, 'party_address') || ')' end
    || case when current_setting('role') <> 'postroom_domain' then '' else ' and is_in_reach(e.own_domain, e.own_address)' end
  from unnest(q.tests) t where t <> 'has received' and t !~ '^!?(assigned:|unread-by:|snoozed$)' $$;
-- Conditions on the assignee and the snooze of a row of thread: the tests assigned:ID and, for no assignee, assigned:, and snoozed.
create or replace function search_assignee(q search_query, p_alias text) returns text language sql stable set search_path = public, pg_temp as $$
  select coalesce(string_agg(' and ' || p_alias || case when t.person is null then '.snoozed_until ' || case when t.is_negated then 'is null'
    else 'is not null' end else '.assignee_id ' || case when t.person = '' then case when t.is_negated then 'is not null' else 'is null' end
    when t.is_negated then 'is distinct from ' || quote_literal(t.person) else '= ' || quote_literal(t.person) end end, ''), '')
  from (select n like '!%' as is_negated, substring(n from 'assigned:(.*)$') as person from unnest(q.tests) n
    where n ~ '^!?(assigned:|snoozed$)') t $$;
-- Conditions on what members have read of a row of thread: the tests unread-by:ID.
create or replace function search_unread_by(q search_query, p_alias text) returns text language sql stable set search_path = public, pg_temp as $$
  select coalesce(string_agg(case when t.is_negated then ' and not ' else ' and ' end || replace(format('exists (select from email u
      where u.workspace_id = ($1).workspace_id and u.thread_id = A.id and u.type = ''received'' and u.thread_at > coalesce(
        (select r.read_until from thread_read r where r.workspace_id = ($1).workspace_id and r.thread_id = A.id and r.person_id = %L
          and r.set_at > %L), %L))',
      t.person, coalesce(m.set_at, 'infinity'), coalesce(m.read_until, 'infinity')), 'A.id', p_alias || '.id'), ''), '')
  from (select n like '!%' as is_negated, substring(n from 'unread-by:(.*)$') as person from unnest(q.tests) n where n ~ '^!?unread-by:') t
  left join lateral read_mark(q.workspace_id, t.person) m on true $$;
-- Whether the search asks for labels or an assignee, of which an index finds the threads; and those conditions on a row t of thread.
create or replace function is_of_indexed_threads(q search_query) returns boolean language sql stable set search_path = public, pg_temp as $$
  select q.label_keys <> '{}' or exists (select from unnest(q.tests) n where n ~ '^(assigned:.|snoozed$)') $$;
create or replace function search_indexed_threads(q search_query) returns text language sql stable set search_path = public, pg_temp as $$
  select case when q.label_keys = '{}' then '' else ' and t.label_keys @> ($1).label_keys and t.label_keys <> ''{}''' end
    || search_assignee(q, 't') || search_unread_by(q, 't') $$;
-- Whether the trash is searched, which no other search meets. Mail in it is few: it is read email by email.
create or replace function is_of_trash(q search_query) returns boolean language sql stable set search_path = public, pg_temp as $$
  select 'trashed' = any (q.tests) $$;
-- The condition on the place of rows of email or thread.
create or replace function search_trash(q search_query, p_alias text) returns text language sql stable set search_path = public, pg_temp as $$
  select ' and ' || p_alias || case when is_of_trash(q) then '.trashed_at is not null' else '.trashed_at is null' end $$;
-- Conditions on the labels and the assignee of the thread with this id.
create or replace function search_labels(q search_query, p_thread_id text) returns text language sql stable set search_path = public, pg_temp as $$
  select case when q.label_keys = '{}' then '' else ' and exists (select from thread l where l.workspace_id = ($1).workspace_id
      and l.id = ' || p_thread_id || ' and l.label_keys @> ($1).label_keys)' end
    || case when q.without_label_keys = '{}' then '' else ' and not exists (select from thread l where l.workspace_id = ($1).workspace_id
      and l.id = ' || p_thread_id || ' and l.label_keys && ($1).without_label_keys)' end
    || case when search_assignee(q, 'l') || search_unread_by(q, 'l') = '' then '' else ' and exists (select from thread l
      where l.workspace_id = ($1).workspace_id and l.id = ' || p_thread_id || search_assignee(q, 'l') || search_unread_by(q, 'l') || ')' end $$;
-- Conditions on when an email of this alias was created.
create or replace function search_span(q search_query, p_alias text) returns text language sql stable set search_path = public, pg_temp as $$
  select case when q.since is null then '' else ' and ' || p_alias || '.created_at >= ($1).since' end
    || case when q.until is null then '' else ' and ' || p_alias || '.created_at < ($1).until' end $$;
-- Conditions and order that select the rows of the page, by these two columns.
create or replace function search_place(p search_page, p_at text, p_id text) returns text language sql stable set search_path = public, pg_temp as $$
  select case when p.after_at is null then '' else format(' and (%s, %s) < (($2).after_at, ($2).after_id)', p_at, p_id) end
    || case when p.before_at is null then '' else format(' and (%s, %s) > (($2).before_at, ($2).before_id)', p_at, p_id) end $$;
create or replace function search_order(p search_page, p_at text, p_id text) returns text language sql stable set search_path = public, pg_temp as $$
  select format(case when p.is_inverted then ' order by %s, %s' else ' order by %s desc, %s desc' end, p_at, p_id) $$;
-- Returns the emails of a page, newest first, inverted: oldest first.
create or replace function search_mail(p_query search_query, p_page search_page) returns table (email_id text, created_at timestamptz)
  language plpgsql stable security definer rows 100
  set search_path = public, pg_temp set enable_seqscan = off set jit = off as $$
  #variable_conflict use_column
  declare
    q search_query := p_query;
    p search_page := p_page;
    tests text := search_tests(q) || search_labels(q, 'e.thread_id');
    of_page text := search_order(p, 'e.created_at', 'e.id') || ' limit ($2).size';
    listed text;
    steps text[];
    step text;
    walked integer;
    found integer;
    ids text[];
    instants timestamptz[];
  begin
    if q.workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    steps := case when p.size is null or is_of_trash(q) then '{all}' when not is_of_indexed_threads(q) then '{near,all}'
      else '{near,index,far,all}' end::text[];
    while steps <> '{}' loop
      step := steps[1];
      steps := steps[2:];
      if step = 'index' then
        execute 'select array_agg(e.id) from (select e.id from thread t join email e on e.workspace_id = ($1).workspace_id and e.thread_id = t.id
            where t.workspace_id = ($1).workspace_id' || search_indexed_threads(q) || '
              and t.trashed_at is null limit ($2).few + 1) e' into ids using q, p;
        continue when cardinality(ids) > p.few;
        return query execute 'with e as materialized (select e.* from email e where e.workspace_id = ($1).workspace_id and e.id = any ($3)'
          || search_span(q, 'e') || search_place(p, 'e.created_at', 'e.id') || ') select e.id, e.created_at::timestamptz from e where true'
          || tests || of_page using q, p, ids;
        return;
      end if;
      walked := case step when 'near' then p.near when 'far' then p.far end;
      listed := 'select e.* from email e where e.workspace_id = ($1).workspace_id' || search_trash(q, 'e')
        || case when q.own_address is null or q.party_address is not null then '' else ' and e.own_address = ($1).own_address' end || search_span(q, 'e')
        || search_place(p, 'e.created_at', 'e.id') || search_order(p, 'e.created_at', 'e.id');
      return query execute 'select e.id, e.created_at::timestamptz from (' || listed || ' limit $5) e where true' || tests || of_page
        using q, p, ids, instants, walked;
      get diagnostics found = row_count;
      -- Enough to fill the page if the rest of the list matches as often.
      if step = 'near' and found::bigint * p.far >= p.size::bigint * p.near and cardinality(steps) = 3 then steps := '{far,index,all}'; end if;
      p.size := p.size - found;
      exit when p.size = 0 or walked is null;
      -- Continue after what was scanned.
      execute 'select array[e.id], array[e.created_at] from (' || listed || ' offset $5 - 1 limit 1) e' into ids, instants
        using q, p, ids, instants, walked;
      exit when ids is null;
      if p.is_inverted then
        p.before_at := instants[1]; p.before_id := ids[1];
      else
        p.after_at := instants[1]; p.after_id := ids[1];
      end if;
    end loop;
  end $$;
create or replace function count_mail(p_query search_query) returns bigint
  language plpgsql stable security definer
  set search_path = public, pg_temp set enable_seqscan = off set jit = off as $$
  declare
    q search_query := p_query;
    tests text := search_tests(q) || search_labels(q, 'e.thread_id');
    total bigint := 0;
  begin
    if q.workspace_id is distinct from current_setting('postroom.workspace_id', true) then return 0; end if;
    execute 'select count(*) from email e where e.workspace_id = ($1).workspace_id' || search_trash(q, 'e') || search_span(q, 'e') || tests
      into total using q;
    return total;
  end $$;
-- Conditions on a row t of thread: those on threads, and what must hold for a thread when one of its messages matches. A message is sent a
-- year after it was created at most.
create or replace function search_thread_tests(q search_query) returns text language sql stable set search_path = public, pg_temp as $$
  select search_trash(q, 't') || case when q.is_unread or 'unread' = any (q.tests) then ' and t.unread_count > 0' else '' end
    || case when q.is_archived is null then '' when q.is_archived then ' and t.archived_count = t.received_count and t.received_count > 0 and t.returned_at is null'
       when 'has received' = any (q.tests) then ' and (t.archived_count < t.received_count or t.returned_at is not null)'
       else ' and (t.archived_count < t.received_count or t.received_count = 0 or t.returned_at is not null)' end
    || case when 'archived' = any (q.tests) then ' and t.archived_count > 0' else '' end
    || search_indexed_threads(q)
    || case when q.without_label_keys = '{}' then '' else ' and not t.label_keys && ($1).without_label_keys' end
    || case when q.participant is null then '' else ' and t.participant_emails @> array[($1).participant]' end
    || case when q.participant_domain is null then '' else ' and t.search_text like ''%@'' || ($1).participant_domain || ''%''
      and exists (select from unnest(t.participant_emails) a where split_part(a, ''@'', -1) = ($1).participant_domain)' end
    || case when q.since is null then '' else ' and t.last_message_at >= ($1).since' end
    || case when q.until is null then '' else ' and t.created_at < ($1).until + interval ''367 days''' end
    || case when current_setting('role') <> 'postroom_domain' then '' else ' and is_thread_of_domain(t.workspace_id, t.id)' end $$;
-- Those of them that the indexes in list order serve.
create or replace function search_listed_tests(q search_query) returns text language sql stable set search_path = public, pg_temp as $$
  select search_thread_tests((q.workspace_id, q.tests, null, null, null, q.since, null, '{}', '{}', q.is_unread, q.is_archived,
    null, null, null, null)::search_query) $$;
-- Returns the threads of a page of which one message matches, newest message first, inverted: oldest first. Of long threads the first step
-- reads only the newest messages; if these do not decide, the step decides nothing.
create or replace function search_inbox(p_query search_query, p_page search_page) returns table (thread_id text, listed_at timestamptz)
  language plpgsql stable security definer rows 100
  set search_path = public, pg_temp set enable_seqscan = off set jit = off as $$
  #variable_conflict use_column
  declare
    q search_query := p_query;
    p search_page := p_page;
    tests text := search_thread_tests(q);
    message_tests text := search_tests(q) || search_span(q, 'e');
    of_page text := search_order(p, 't.listed_at', 't.id') || ' limit ($2).size';
    asks_messages boolean := message_tests <> '';
    messages text := '(select from (select e.* from email e where e.workspace_id = ($1).workspace_id and e.thread_id = t.id %s) e'
      || replace(' where true' || message_tests, '%', '%%') || ')';
    of_newest text := format(messages, 'order by e.thread_at desc, e.id desc limit ($2).near / 5');
    of_any text := case when asks_messages then ' and exists ' || format(messages, '') else '' end;
    chosen text := 'select t.id, t.listed_at::timestamptz from thread t where t.workspace_id = ($1).workspace_id' || tests;
    listed text;
    steps text[];
    step text;
    walked integer;
    found integer;
    unknown integer;
    ids text[];
    instants timestamptz[];
  begin
    if q.workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    steps := case when p.size is null or is_of_trash(q) then '{all}' when not asks_messages then '{far,index,all}' else '{near,index,far,all}' end::text[];
    while steps <> '{}' loop
      step := steps[1];
      steps := steps[2:];
      if step = 'index' then
        ids := null;
        if is_of_indexed_threads(q) or q.participant is not null or q.participant_domain is not null then
          execute 'select array_agg(t.id) from (' || chosen || search_place(p, 't.listed_at', 't.id') || ' limit ($2).few + 1) t'
            into ids using q, p;
          if coalesce(cardinality(ids), 0) <= p.few then
            return query execute 'with t as materialized (' || chosen || ' and t.id = any ($3)) select t.id, t.listed_at from t where true'
              || of_any || of_page using q, p, ids;
            return;
          end if;
        end if;
        continue;
      end if;
      walked := case step when 'near' then p.near when 'far' then p.far end;
      listed := 'select t.* from thread t where t.workspace_id = ($1).workspace_id' || search_listed_tests(q)
        || search_place(p, 't.listed_at', 't.id') || search_order(p, 't.listed_at', 't.id');
      if step = 'near' then
        execute 'select array_agg(t.id), array_agg(t.listed_at), count(*), count(*) filter (where t.is_match is null) from (
            select t.id, t.listed_at, m.is_match from (' || listed || ' limit $5) t cross join lateral (select case when exists ' || of_newest
          || ' then true when t.message_count <= ($2).near / 5 then false end as is_match) m where m.is_match is not false' || tests || of_page || ') t'
          into ids, instants, found, unknown using q, p, ids, instants, walked;
        if unknown > 0 then
          -- Reading a long thread takes less time than looking up a common word in the index.
          if (found - unknown)::bigint * p.far >= p.size::bigint * p.near then steps := '{far,index,all}'; end if;
          continue;
        end if;
        return query select * from unnest(ids, instants);
      else
        return query execute 'select t.id, t.listed_at::timestamptz from (' || listed || ' limit $5) t where true' || tests || of_any || of_page
          using q, p, ids, instants, walked;
        get diagnostics found = row_count;
      end if;
      -- Enough to fill the page if the rest of the list matches as often.
      if step = 'near' and found::bigint * p.far >= p.size::bigint * p.near and cardinality(steps) = 3 then steps := '{far,index,all}'; end if;
      p.size := p.size - found;
      exit when p.size = 0 or walked is null;
      -- Continue after what was scanned.
      execute 'select array[t.id], array[t.listed_at] from (' || listed || ' offset $5 - 1 limit 1) t' into ids, instants
        using q, p, ids, instants, walked;
      exit when ids is null;
      if p.is_inverted then
        p.before_at := instants[1]; p.before_id := ids[1];
      else
        p.after_at := instants[1]; p.after_id := ids[1];
      end if;
    end loop;
  end $$;
create or replace function count_inbox(p_query search_query) returns bigint
  language plpgsql stable security definer
  set search_path = public, pg_temp set enable_seqscan = off set jit = off as $$
  declare
    q search_query := p_query;
    message_tests text := search_tests(q) || search_span(q, 'e');
    total bigint := 0;
  begin
    if q.workspace_id is distinct from current_setting('postroom.workspace_id', true) then return 0; end if;
    execute 'select count(*) from thread t where t.workspace_id = ($1).workspace_id' || search_thread_tests(q)
      || case when message_tests = '' then ''
         else ' and exists (select from email e where e.workspace_id = ($1).workspace_id and e.thread_id = t.id' || message_tests || ')' end into total using q;
    return total;
  end $$;
revoke all on function search_mail, count_mail, search_inbox, count_inbox from public;
grant execute on function search_mail, count_mail, search_inbox, count_inbox to postroom_gateway, postroom_actor, postroom_domain;

-- The functions below serve searches whose words are looked up in segments (db/queries/search/mail-matches.ts).

-- Returns those of the emails that meet the conditions of a search besides its words.
create or replace function pick_emails(p_query search_query, p_ids text[]) returns table (email_id text, created_at timestamptz, thread_id text)
  language plpgsql stable security definer rows 100
  set search_path = public, pg_temp set enable_seqscan = off set jit = off as $$
  #variable_conflict use_column
  declare
    q search_query := p_query;
  begin
    if q.workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute 'select e.id, e.created_at::timestamptz, e.thread_id from email e where e.workspace_id = ($1).workspace_id and e.id = any ($2)'
      || search_trash(q, 'e') || search_tests(q) || search_labels(q, 'e.thread_id') || search_span(q, 'e') using q, p_ids;
  end $$;
-- Returns the next emails of the list that indexes serve, up to p_most, and whether each meets all conditions.
create or replace function walk_emails(p_query search_query, p_page search_page, p_most integer)
  returns table (email_id text, created_at timestamptz, is_met boolean)
  language plpgsql stable security definer rows 100
  set search_path = public, pg_temp set enable_seqscan = off set jit = off as $$
  #variable_conflict use_column
  declare
    q search_query := p_query;
    p search_page := p_page;
  begin
    if q.workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute 'select e.id, e.created_at::timestamptz, true' || search_tests(q) || search_labels(q, 'e.thread_id')
      || ' from (select e.* from email e where e.workspace_id = ($1).workspace_id' || search_trash(q, 'e')
      || case when q.own_address is null or q.party_address is not null then '' else ' and e.own_address = ($1).own_address' end || search_span(q, 'e')
      || search_place(p, 'e.created_at', 'e.id') || search_order(p, 'e.created_at', 'e.id') || ' limit $3) e'
      || search_order(p, 'e.created_at', 'e.id') using q, p, p_most;
  end $$;
-- Returns up to p_most emails whose threads have the labels and the assignee of the search.
create or replace function labelled_emails(p_query search_query, p_most integer) returns table (email_id text, created_at timestamptz)
  language plpgsql stable security definer rows 100
  set search_path = public, pg_temp set enable_seqscan = off set jit = off as $$
  #variable_conflict use_column
  declare
    q search_query := p_query;
  begin
    if q.workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute 'select e.id, e.created_at::timestamptz from thread t join email e on e.workspace_id = ($1).workspace_id and e.thread_id = t.id
      where t.workspace_id = ($1).workspace_id' || search_indexed_threads(q) || ' limit $2' using q, p_most;
  end $$;
-- Whether the search has no condition besides words and the trash, of a user who sees all mail.
create or replace function is_plain_search(q search_query) returns boolean language plpgsql stable set search_path = public, pg_temp as $$
  begin
    return q.tests = '{}' and num_nonnulls(q.status, q.own_address, q.own_domain, q.since, q.until, q.is_archived, q.participant,
        q.participant_domain, q.party_address, q.party_domain) = 0
      and q.label_keys = '{}' and q.without_label_keys = '{}' and not q.is_unread and current_setting('role') <> 'postroom_domain';
  end $$;
-- Returns the threads of emails that meet the conditions besides words, in the order of the page. Most searches have no such conditions: for
-- them one plan is kept.
create or replace function pick_threads(p_query search_query, p_page search_page, p_ids text[])
  returns table (thread_id text, listed_at timestamptz)
  language plpgsql stable security definer rows 100
  set search_path = public, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
  #variable_conflict use_column
  declare
    q search_query := p_query;
    p search_page := p_page;
  begin
    if q.workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    if is_plain_search(q) and num_nonnulls(p.after_at, p.before_at) = 0 and not p.is_inverted then
      return query
        select t.id, t.listed_at::timestamptz
        from (select distinct e.thread_id from email e where e.workspace_id = q.workspace_id and e.id = any (p_ids)) f
        join thread t on t.workspace_id = q.workspace_id and t.id = f.thread_id and t.trashed_at is null
        order by t.listed_at desc, t.id desc limit p.size;
      return;
    end if;
    return query execute 'with f as materialized (select distinct e.thread_id from email e where e.workspace_id = ($1).workspace_id and e.id = any ($3)'
      || search_tests(q) || search_span(q, 'e') || '), t as materialized (select t.id, t.listed_at::timestamptz
        from f join thread t on t.workspace_id = ($1).workspace_id and t.id = f.thread_id where true' || search_thread_tests(q)
      || search_place(p, 't.listed_at', 't.id') || ') select t.id, t.listed_at from t' || search_order(p, 't.listed_at', 't.id')
      || case when p.size is null then '' else ' limit ($2).size' end using q, p, p_ids;
  end $$;
-- Messages e as text: id, space, an instant in milliseconds; separated by commas.
create or replace function search_messages(p_at text) returns text language sql immutable set search_path = public, pg_temp as $$
  select 'string_agg(e.id || '' '' || (extract(epoch from ' || p_at || ') * 1000)::bigint, '','')' $$;
-- Returns the next threads of the list that indexes serve, up to p_most, and whether each meets the conditions on threads; of those that do
-- the newest messages, up to p_messages, that meet the conditions on messages. p_chosen: of these threads only; null: of all.
create or replace function walk_threads(p_query search_query, p_page search_page, p_most integer, p_messages integer, p_chosen text[])
  returns table (thread_id text, listed_at timestamptz, message_count integer, is_met boolean, messages text)
  language plpgsql stable security definer rows 100
  set search_path = public, pg_temp set enable_seqscan = off set jit = off as $$
  #variable_conflict use_column
  declare
    q search_query := p_query;
    p search_page := p_page;
  begin
    if q.workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute 'select t.id, t.listed_at::timestamptz, t.message_count, t.is_met, m.messages from (
        select t.*, true' || search_thread_tests(q) || ' as is_met from (select t.* from thread t where t.workspace_id = ($1).workspace_id' || search_listed_tests(q)
      || case when p_chosen is null then '' else ' and t.id = any ($5)' end
      || search_place(p, 't.listed_at', 't.id') || search_order(p, 't.listed_at', 't.id') || ' limit $3) t) t
      cross join lateral (select ' || search_messages('e.created_at') || ' as messages from (select e.* from email e where t.is_met
        and e.workspace_id = ($1).workspace_id and e.thread_id = t.id order by e.thread_at desc, e.id desc limit $4) e where true' || search_tests(q)
      || search_span(q, 'e') || ') m' || search_order(p, 't.listed_at', 't.id') using q, p, p_most, p_messages, p_chosen;
  end $$;
-- Returns up to p_most threads that meet the conditions on threads.
create or replace function indexed_threads(p_query search_query, p_most integer) returns table (thread_id text)
  language plpgsql stable security definer rows 100
  set search_path = public, pg_temp set enable_seqscan = off set jit = off as $$
  #variable_conflict use_column
  declare
    q search_query := p_query;
  begin
    if q.workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute 'select t.id from thread t where t.workspace_id = ($1).workspace_id' || search_thread_tests(q) || ' limit $2' using q,
      p_most;
  end $$;
-- Returns when messages of a thread were created, newest first, from after a place on, up to p_most, and the place of the last one; null when no
-- more follow. Of each instant eight bytes, as PostgreSQL sends it: texts of thousands take several times as long. Only an index is read, which
-- has instants in the thread. Of messages that were scheduled these are not when they were created: all of those are returned beside.
create or replace function walk_messages(p_workspace_id text, p_thread_id text, p_after_at timestamptz, p_after_id text, p_most integer)
  returns table (instants bytea, last_at timestamptz, last_id text)
  language plpgsql stable security definer rows 1
  set search_path = public, pg_temp set enable_seqscan = off set jit = off as $$
  #variable_conflict use_column
  declare
    reach text := case when current_setting('role') <> 'postroom_domain' then '' else ' and is_in_reach(e.own_domain, e.own_address)' end;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    return query execute 'with e as materialized (select e.id, e.thread_at from email e
        where e.workspace_id = $1 and e.thread_id = $2 and ($3 is null or (e.thread_at, e.id) < ($3, $4))' || reach || '
        order by e.thread_at desc, e.id desc limit $5)
      select coalesce((select string_agg(timestamptz_send(e.thread_at), '''') from e), '''') || coalesce((select
          string_agg(timestamptz_send(e.created_at), '''') from email e
          where e.workspace_id = $1 and e.thread_id = $2 and e.released_at is not null' || reach || '), ''''), l.thread_at::timestamptz, l.id
      from (values (1)) one left join (select e.thread_at, e.id from e order by e.thread_at desc, e.id desc offset $5 - 1) l on true'
      using p_workspace_id, p_thread_id, p_after_at, p_after_id, p_most;
  end $$;
revoke all on function pick_emails, walk_emails, labelled_emails, pick_threads, walk_threads, indexed_threads, walk_messages from public;
grant execute on function pick_emails, walk_emails, labelled_emails, pick_threads, walk_threads, indexed_threads, walk_messages
  to postroom_gateway, postroom_actor, postroom_domain;
