-- Takes a group of messages in one transaction: see db/queries/emails/store-received.ts, which calls it, and docs/decisions/0108.
--
-- p_messages  [{raw_id, sha256, size, start, length, ...envelope}]: the bytes of each (raw_message.packed) are a piece of p_bytes
-- p_mails     one per recipient: the columns of its reception. With `is_whole`, also those of its email, what threading compares
--             (keys, firm_keys, reply_key, anchor), its thread if it starts one, and its route with the version of the facts that it rests on
-- p_bodies    bodies, each found by `places`
--
-- Its first statement locks the threads of the workspaces, in the order of their ids. It waits for one that is locked p_wait_ms at most: mail
-- of workspaces whose threads stay locked is only accepted. All else follows in statements of its own, whose snapshot is newer than the locks.
-- Answers one row per new recipient; a recipient that is missing was offered before. A row without a thread was only accepted.
create function take_mail(p_messages json, p_mails json, p_bytes bytea, p_bodies bytea, p_workspace_ids text[], p_claimant text,
    p_claims_receptions boolean, p_lease_seconds integer, p_wait_ms integer)
  returns table (o_email_id text, o_accepted_at timestamptz, o_thread_id text, o_position integer, o_is_routed boolean, o_last_seq bigint, o_metadata jsonb)
  language plpgsql volatile as $$
declare
  v_now timestamptz(3) := postroom_now();
  v_lease timestamptz(3) := v_now + p_lease_seconds * interval '1 second';
  v_locked text[] := lock_threads(p_workspace_ids, p_wait_ms);
begin
  return query
  with message as materialized (
    select * from json_to_recordset(p_messages) as m(raw_id text, sha256 text, size integer, start integer, length integer, reverse_path text,
      remote_address text, helo text, is_tls boolean, trace_fields text, trace_parent text,
      repeat_seconds integer)
  ), mail as materialized (
    select g.*, m.reverse_path, m.remote_address, m.helo, m.is_tls, m.trace_fields, m.trace_parent, m.sha256, m.repeat_seconds,
      substring(g.own_address from '[^@]*$') as own_domain
    from json_to_recordset(p_mails) as g(raw_id text, email_id text, workspace_id text, recipient text, own_address text, address_id text,
      domain_id text, is_whole boolean, event_ids text[], message_id text, subject text, base_subject text, from_name text,
      from_address text, from_text text, to_addresses text[], cc_addresses text[], preview text, date timestamptz, attachment_count integer,
      headers jsonb, addresses jsonb, in_reply_to text[], reference_ids text[], places integer[], body_places integer[], removed_parts jsonb, attachments jsonb,
      authentication jsonb, injection jsonb, screening jsonb, priority text, is_truncated boolean, parser_version smallint, search_text text, parties text[],
      keys text[], firm_keys text[], reply_key text, anchor jsonb, thread jsonb, route jsonb)
    cross join lateral (select * from message o where o.raw_id = g.raw_id limit 1) m
  ), offered as (
    insert into smtp_offer as o (workspace_id, recipient, reverse_path, sha256, remote_address, email_id, accepted_at, expires_at)
    select distinct on (1, 2, 3, 4, 5) f.workspace_id, f.recipient, f.reverse_path, decode(f.sha256, 'hex'), f.remote_address, f.email_id, v_now,
      v_now + f.repeat_seconds * interval '1 second'
    from mail f order by 1, 2, 3, 4, 5, 6
    on conflict (workspace_id, recipient, reverse_path, sha256, remote_address) do update
      set email_id = excluded.email_id, accepted_at = excluded.accepted_at, expires_at = excluded.expires_at where offer_has_ended(o)
    returning email_id
  ), fresh as materialized (
    select * from mail f where f.email_id in (select o.email_id from offered o)
  ), raw_row as (
    insert into raw_message (id, packed, sha256, size_bytes)
    select m.raw_id, substring(p_bytes from m.start + 1 for m.length), decode(m.sha256, 'hex'), m.size
    from message m where exists (select from fresh f where f.raw_id = m.raw_id)
  ), candidate as materialized (
    -- its thread is one that is known, or a new one; `known_id` null: a new one
    select f.email_id, f.workspace_id, k.known_id, k.reason, k.keys
    from fresh f
    cross join lateral (
      select min(n.thread_id) as known_id, count(distinct n.thread_id) as thread_count, array_agg(n.message_id) as keys,
        case when bool_or(n.message_id = f.reply_key) then 'header' when count(*) > 0 then 'references' else 'new' end as reason
      from find_threads_of_keys(f.workspace_id, f.keys) n) k
    where f.is_whole and f.workspace_id = any (v_locked) and k.thread_count <= 1
      and not has_subject_neighbor(f.workspace_id, f.anchor, coalesce((f.anchor->>'date')::timestamptz, v_now))
  ), threaded as materialized (
    select c.email_id, c.workspace_id, coalesce(c.known_id, f.thread->>'id') as thread_id, c.known_id, c.reason, coalesce(t.message_count,
      0) as position,
      row_number() over (partition by c.workspace_id, coalesce(c.known_id, f.thread->>'id') order by c.email_id collate "C") as turn,
      f.firm_keys || coalesce(c.keys, '{}') as keys
    from candidate c
    cross join lateral (select o.thread, o.firm_keys from fresh o where o.email_id = c.email_id limit 1) f
    left join lateral (
      select o.message_count, o.trashed_at, o.last_message_at, o.latest_email_id from thread o
      where o.workspace_id = c.workspace_id and o.id = c.known_id limit 1) t on true
    where c.known_id is null or (t.trashed_at is null
      and (t.last_message_at < v_now or (t.last_message_at = v_now and t.latest_email_id collate "C" < c.email_id collate "C")))
  ), whole as materialized (
    select f.*, t.thread_id, t.known_id, t.reason, t.position, t.keys as thread_keys, r.route as valid_route,
      metadata_of_answered(f.workspace_id, f.own_domain, f.in_reply_to, f.reference_ids) as metadata
    from threaded t
    cross join lateral (select * from fresh o where o.email_id = t.email_id limit 1) f
    left join lateral (
      select f.route where f.route->>'version' = route_version(f.workspace_id, f.address_id, f.domain_id)) r on true
    where t.turn = 1
  ), reception_row as (
    insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, address_id, domain_id, remote_address, helo,
      is_tls, trace_fields, is_test, screening, accepted_at, parsed_at, claimed_by, claimed_until, tries)
    select f.workspace_id, f.email_id, f.raw_id, f.reverse_path, f.recipient, f.own_address, f.address_id, f.domain_id, f.remote_address, f.helo,
      f.is_tls, f.trace_fields, false, f.screening, v_now, case when w.is_whole then v_now end, case when c.is_claimed then p_claimant end,
      case when c.is_claimed then v_lease end, case when w.is_whole or c.is_claimed then 1 else 0 end
    from fresh f left join lateral (select true as is_whole from whole o where o.email_id = f.email_id limit 1) w on true
    cross join lateral (select p_claims_receptions and w.is_whole is null as is_claimed) c
  ), trace_row as (
    insert into email_trace (workspace_id, email_id, trace_parent, created_at)
    select f.workspace_id, f.email_id, f.trace_parent, v_now from fresh f where f.trace_parent is not null
    on conflict do nothing
  ), email_row as (
    insert into email (workspace_id, id, type, status, created_at, raw_id, own_address, own_domain, address_id, domain_id, recipient,
      message_id, subject, base_subject, from_name, from_address, from_text, to_addresses, cc_addresses, preview, date,
      has_attachments, attachment_count, is_test, thread_id, thread_position, thread_reason, metadata)
    select w.workspace_id, w.email_id, 'received', 'delivered', v_now, w.raw_id, w.own_address, w.own_domain, w.address_id, w.domain_id, w.recipient,
      w.message_id, w.subject, w.base_subject, w.from_name, w.from_address, w.from_text, w.to_addresses, w.cc_addresses, w.preview, w.date,
      w.attachment_count > 0, w.attachment_count, false, w.thread_id, w.position, w.reason, w.metadata
    from whole w
    returning 1
  ), content_row as (
    insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, html_body, cleaned_text,
      cleaned_html, body_places, removed_parts, attachments, authentication, injection, screening, priority, is_truncated, parser_version)
    select w.workspace_id, w.email_id, w.headers, w.addresses, w.in_reply_to, w.reference_ids, take_piece(p_bodies, w.places, 0),
      take_piece(p_bodies, w.places, 1), take_piece(p_bodies, w.places, 2), take_piece(p_bodies, w.places, 3), w.body_places, w.removed_parts, w.attachments,
      w.authentication, w.injection, w.screening, w.priority, w.is_truncated, w.parser_version
    from whole w
  ), search_row as (
    insert into email_search (workspace_id, email_id, created_at, text, parties)
    select w.workspace_id, w.email_id, v_now, w.search_text, w.parties from whole w
  ), unindexed_row as (
    insert into unindexed_email (workspace_id, email_id, state, created_at)
    select w.workspace_id, w.email_id, 'new', v_now from whole w
  ), route_row as (
    insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome, via, endpoint_id, reason)
    select w.workspace_id, w.email_id, v_now, v_now, case when w.valid_route is not null then v_now end, w.valid_route->>'outcome',
      w.valid_route->>'via', w.valid_route->>'endpoint_id', w.valid_route->>'reason'
    from whole w
  ), delivery_row as (
    insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, thread_id, thread_position, attempts_allowed, next_attempt_at,
      claimed_by, claimed_until, created_at)
    select w.workspace_id, w.valid_route->>'delivery_id', w.email_id, w.valid_route->>'endpoint_id', 'webhook', w.thread_id, w.position,
      (w.valid_route->>'attempts_allowed')::integer, v_now, case when (w.valid_route->>'is_claimed')::boolean then p_claimant end,
      case when (w.valid_route->>'is_claimed')::boolean then v_lease end, v_now
    from whole w where w.valid_route->>'delivery_id' is not null
  ), key_row as (
    insert into thread_message_id (workspace_id, message_id, thread_id)
    select w.workspace_id, k.key, w.thread_id from whole w cross join lateral unnest(w.thread_keys) as k(key)
    on conflict do nothing
  ), anchor_row as (
    insert into thread_subject (workspace_id, base_subject_sha256, participant, is_reply, date, email_id, thread_id)
    select w.workspace_id, sha256(convert_to(w.anchor->>'subject', 'UTF8')), p.participant, (w.anchor->>'is_reply')::boolean,
      coalesce((w.anchor->>'date')::timestamptz, v_now), w.email_id, w.thread_id
    from whole w cross join lateral jsonb_array_elements_text(w.anchor->'participants') as p(participant)
    where w.anchor is not null
    on conflict do nothing
  ), counter_row as (
    -- as countEmailsSql (db/queries/emails/email-counter.ts)
    insert into email_counter as c (workspace_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived, count)
    select w.workspace_id, a.counted_address, g.grain, g.begins_at, w.own_domain, 'received', 'delivered', false, false, count(*)
    from whole w
    cross join lateral (values (w.own_address), ('*')) as a(counted_address)
    cross join lateral (values ('all', '-infinity'::timestamptz), ('day', date_trunc('day', v_now, 'UTC')),
      ('hour', date_trunc('hour', v_now, 'UTC'))) as g(grain, begins_at)
    where (select count(*) from email_row) > 0
    group by 1, 2, 3, 4, 5
    order by 1, 2, 3, 4, 5
    on conflict (workspace_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived)
      do update set count = c.count + excluded.count
    returning 1
  ), new_thread_row as (
    insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text,
      message_count, received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at, updated_at)
    select w.workspace_id, w.thread_id, w.message_id, w.base_subject, x.participant_emails, x.participant_names, x.search_text,
      1, 1, 1, 0, w.email_id, v_now, v_now, v_now
    from whole w cross join lateral jsonb_to_record(w.thread) as x(participant_emails text[], participant_names text[], search_text text)
    where w.known_id is null
  ), thread_row as (
    update thread t set participant_emails = m.emails, participant_names = m.names, search_text = m.search_text,
      message_count = t.message_count + 1, received_count = t.received_count + 1, unread_count = t.unread_count + 1,
      latest_email_id = m.email_id, last_message_at = v_now, updated_at = v_now,
      -- as store_threads
      snoozed_until = null, remind_at = null,
      returned_at = case when t.snoozed_until is null then t.returned_at else v_now end,
      returned_by = case when t.snoozed_until is null then t.returned_by else 'reply' end
    from (
      select w.workspace_id, w.known_id, w.email_id, p.* from whole w
      cross join lateral (select * from thread o where o.workspace_id = w.workspace_id and o.id = w.known_id limit 1) o
      cross join lateral merge_participants(o.participant_emails, o.participant_names, o.search_text, w.thread) p
      where w.known_id is not null and (select count(*) from counter_row) > 0
      order by w.workspace_id collate "C", w.known_id collate "C") m
    where t.workspace_id = m.workspace_id and t.id = m.known_id
    returning 1
  ), grown as (
    insert into event_counter as c (workspace_id, last_seq)
    select w.workspace_id, 2 * count(*) from whole w where (select count(*) from thread_row) >= 0 group by 1 order by 1
    on conflict (workspace_id) do update set last_seq = c.last_seq + excluded.last_seq
    returning c.workspace_id, c.last_seq
  ), event_row as (
    insert into event (workspace_id, seq, id, kind, at, email_id, thread_id, data)
    select e.workspace_id, g.last_seq - e.count + e.place, e.id, e.kind, v_now, e.email_id, e.thread_id, e.data
    from (
      select x.*, count(*) over (partition by x.workspace_id) as count,
        row_number() over (partition by x.workspace_id order by x.step, x.email_id collate "C") as place
      from (
        select w.workspace_id, w.email_id, 1 as step, w.event_ids[1] as id, 'email.received' as kind, null as thread_id, '{}'::jsonb as data
          from whole w
        union all
        select w.workspace_id, w.email_id, 2, w.event_ids[2], 'email.threaded', w.thread_id,
          jsonb_build_object('position', w.position, 'reason', w.reason, 'type', 'received') from whole w) x) e
    cross join lateral (select o.last_seq from grown o where o.workspace_id = e.workspace_id limit 1) g
  )
  select f.email_id, v_now::timestamptz, w.thread_id, w.position, w.valid_route is not null, g.last_seq, w.metadata
  from fresh f left join lateral (select * from whole o where o.email_id = f.email_id limit 1) w on true
  left join lateral (select o.last_seq from grown o where o.workspace_id = w.workspace_id limit 1) g on true;
end $$;

-- Locks the threads of these workspaces for this transaction (lockThreads), in the order of their ids, and answers whose it could lock. It waits
-- for one other transaction, p_wait_ms at most.
create function lock_threads(p_workspace_ids text[], p_wait_ms integer) returns text[] language plpgsql volatile as $$
declare
  v_workspace text;
  v_locked text[] := '{}';
  v_has_waited boolean := false;
begin
  for v_workspace in select u.id from unnest(p_workspace_ids) as u(id) order by u.id collate "C" loop
    if pg_try_advisory_xact_lock(hashtextextended('thread ' || v_workspace, 0)) then
      v_locked := v_locked || v_workspace;
    elsif not v_has_waited then
      v_has_waited := true;
      begin
        perform set_config('lock_timeout', p_wait_ms::text, true);
        perform pg_advisory_xact_lock(hashtextextended('thread ' || v_workspace, 0));
        v_locked := v_locked || v_workspace;
        set local lock_timeout to default;
      exception when lock_not_available then null;
      end;
    end if;
  end loop;
  return v_locked;
end $$;

-- Whether a subject edge may join a message with this anchor (core/threads/threading.ts) to stored mail: a reply joins plain messages, too.
create function has_subject_neighbor(p_workspace_id text, p_anchor jsonb, p_date timestamptz) returns boolean language plpgsql stable as $$
begin
  return p_anchor is not null and exists (
    select from jsonb_array_elements_text(p_anchor->'participants') as p(participant)
    cross join lateral unnest(case when (p_anchor->>'is_reply')::boolean then array[true, false] else array[true] end) as r(is_reply)
    cross join lateral (
      select from thread_subject s
      where s.workspace_id = p_workspace_id and s.base_subject_sha256 = sha256(convert_to(p_anchor->>'subject', 'UTF8'))
        and s.participant = p.participant and s.is_reply = r.is_reply
        and s.date between p_date - interval '30 days' and p_date + interval '30 days'
      limit 1) s);
end $$;

-- What a route without guard rules depends on, as one text: it changes whenever the address, the domain or one of their endpoints does.
-- Null: the workspace has guard rules, so the route depends on the mail. Stable: it sees what the statement sees that calls it.
create function route_version(p_workspace_id text, p_address_id text, p_domain_id text) returns text language plpgsql stable as $$
begin
  return (
    select concat_ws(' ', coalesce(a.xmin::text, '-'), coalesce(d.xmin::text, '-'), (
      select string_agg(n.id || ':' || n.xmin::text, ' ' order by n.id collate "C") from endpoint n
      where n.workspace_id = p_workspace_id and n.id in (a.endpoint_id, a.webhook_id, d.catch_all_endpoint_id)))
    from (values (1)) one
    left join lateral (select *, xmin from email_address a where a.workspace_id = p_workspace_id and a.id = p_address_id limit 1) a on true
    left join lateral (select *, xmin from domain d where d.workspace_id = p_workspace_id and d.id = p_domain_id limit 1) d on true
    where not exists (select from guard_rule g where g.workspace_id = p_workspace_id and g.is_active));
end $$;

-- The participants of a thread with those of one more message: addParticipants (core/threads/thread-participants.ts).
create function merge_participants(p_emails text[], p_names text[], p_search_text text, p_new jsonb, out emails text[], out names text[],
    out search_text text)
  language plpgsql immutable as $$
declare
  v_emails text[] := array(select jsonb_array_elements_text(p_new->'participant_emails'));
  v_names text[] := array(select jsonb_array_elements_text(p_new->'participant_names'));
  v_place integer;
begin
  emails := p_emails;
  names := p_names;
  search_text := p_search_text;
  for n in 1 .. cardinality(v_emails) loop
    v_place := array_position(emails, v_emails[n]);
    if v_place is not null then
      if names[v_place] = emails[v_place] then names[v_place] := v_names[n]; end if;
    elsif cardinality(emails) < 100 then
      emails := emails || v_emails[n];
      names := names || v_names[n];
      search_text := search_text || chr(10) || v_emails[n];
    end if;
  end loop;
end $$;

create function take_piece(p_bodies bytea, p_places integer[], p_n integer) returns text language sql immutable as $$
  select convert_from(substring(p_bodies from p_places[2 * p_n + 1] + 1 for p_places[2 * p_n + 2]), 'UTF8') $$;

-- Whether the same bytes from the same client are a new message: a client that lost our 250 repeats within the time, and the workspace still has
-- the email. An offer that the snapshot of the statement does not show was committed meanwhile, with its email.
create function offer_has_ended(p_offer smtp_offer) returns boolean language plpgsql stable as $$
begin
  return p_offer.expires_at <= postroom_now()
    or exists (select from email e where e.workspace_id = p_offer.workspace_id and e.id = p_offer.email_id and e.trashed_at is not null and e.kept_apart is null)
    or (not exists (select from reception r where r.workspace_id = p_offer.workspace_id and r.email_id = p_offer.email_id)
      and exists (
        select from smtp_offer o
        where o.workspace_id = p_offer.workspace_id and o.recipient = p_offer.recipient and o.reverse_path = p_offer.reverse_path
          and o.sha256 = p_offer.sha256 and o.remote_address = p_offer.remote_address and o.email_id = p_offer.email_id));
end $$;
