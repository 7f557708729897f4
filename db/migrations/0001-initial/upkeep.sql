create table secret_canary (key_id text primary key, ciphertext text not null, created_at timestamptz(3) not null default now());
grant select on secret_canary to postroom_actor;

create table dead_row (
  workspace_id text not null,
  step text not null,
  actor text not null,
  subject_id text not null,
  tries smallint not null,
  last_error text not null,
  first_failed_at timestamptz(3) not null,
  last_failed_at timestamptz(3) not null,
  retry_at timestamptz not null,
  dead_at timestamptz(3),
  primary key (workspace_id, step, subject_id)
);
create index dead_row_step on dead_row (step, retry_at);
create index dead_row_dead on dead_row (dead_at) where dead_at is not null;
call pg_temp.protect_rows('dead_row');
-- for operators only
revoke insert, update, delete on dead_row from postroom_gateway;

create table retention (
  workspace_id text primary key,
  raw_days integer check (raw_days between 1 and 36500),
  body_days integer check (body_days between 1 and 36500),
  metadata_days integer check (metadata_days between 1 and 36500),
  updated_at timestamptz(3) not null default now(),
  check (raw_days <= body_days),
  check (body_days <= metadata_days),
  check (raw_days <= metadata_days)
);
call pg_temp.protect_rows('retention');

create table retention_sweep (
  workspace_id text primary key,
  due_at timestamptz not null,
  begins_anew_at timestamptz not null,
  raw_at timestamptz(3),
  bodies_at timestamptz(3),
  reception_id text,
  claimed_by text,
  claimed_until timestamptz(3)
) with (fillfactor = 50);
create index retention_sweep_due on retention_sweep (due_at);
call pg_temp.protect_rows('retention_sweep');
-- for operators only
revoke insert, update, delete on retention_sweep from postroom_gateway;

-- Statistics of tables that grew fourfold since they were last taken. Autovacuum looks once a minute; a fresh service takes tens of
-- thousands of mails in that time, under plans made for empty tables, which new statistics also end. Large tables are autovacuum's.
create function analyze_young_tables() returns integer language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    grown text;
    analyzed integer := 0;
  begin
    if not pg_try_advisory_xact_lock(hashtextextended('analyze young tables', 0)) then return 0; end if;
    for grown in
      select t.relname from pg_stat_user_tables t join pg_class c on c.oid = t.relid
      where t.schemaname = 'public' and t.n_live_tup between 100 and 100000 and t.n_live_tup > 4 * greatest(c.reltuples, 0)
      order by t.relname
    loop
      execute format('analyze %I', grown);
      analyzed := analyzed + 1;
    end loop;
    return analyzed;
  end $$;
revoke all on function analyze_young_tables from public;
grant execute on function analyze_young_tables to postroom_actor;

-- What nobody asks for any more: sessions, links and tries to sign in that are over, codes, tokens and clients of OAuth, windows of request limits, keys that were revoked a
-- year ago, expired MTA-STS policies, TLS reports that were never sent, reply addresses that ended 30 days ago, requests of API keys
-- and refusals after 7 days. Up to p_limit of each; answers the largest number removed of one kind.
create function remove_leftovers(p_limit integer) returns integer language plpgsql volatile security definer
  set search_path = public, pg_temp as $$
  declare
    most integer := 0;
    removed integer;
  begin
    delete from auth_session s where s.ctid = any (array(
      select o.ctid from auth_session o where o.expires_at < now() - interval '1 day' order by o.expires_at limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from auth_verification v where v.ctid = any (array(
      select o.ctid from auth_verification o where o.expires_at < now() - interval '1 day' order by o.expires_at limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from auth_rate_limit r where r.ctid = any (array(
      select o.ctid from auth_rate_limit o where o.last_at < postroom_now() - interval '1 day' order by o.last_at limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from request_window w where w.ctid = any (array(
      select o.ctid from request_window o where not exists (select from unnest(o.leases) l where l.counts_until > clock_timestamp())
      limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from api_key k where k.ctid = any (array(
      select o.ctid from api_key o where o.revoked_at < postroom_now() - interval '1 year' limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    most := greatest(most, remove_ended_oauth(p_limit, interval '30 days'));
    delete from mta_sts_policy m where m.ctid = any (array(
      select o.ctid from mta_sts_policy o where o.expires_at < postroom_now() - interval '1 day' order by o.expires_at
      limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from tls_report t where t.ctid = any (array(
      select o.ctid from tls_report o where o.due_at < postroom_now() - interval '3 days' order by o.due_at limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from tls_session_count c where c.ctid = any (array(
      select o.ctid from tls_session_count o where o.day < (postroom_now() - interval '5 days')::date limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from thread_undo u where u.ctid = any (array(
      select o.ctid from thread_undo o where o.expires_at < postroom_now() order by o.expires_at limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from thread_message_id k using reply_address o
    where k.workspace_id = o.workspace_id and k.message_id = 'reply-address:' || o.id and o.ctid = any (array(
      select a.ctid from reply_address a where coalesce(a.revoked_at, a.expires_at) < postroom_now() - interval '30 days'
      order by coalesce(a.revoked_at, a.expires_at) limit p_limit for update skip locked));
    delete from reply_address a where a.ctid = any (array(
      select o.ctid from reply_address o where coalesce(o.revoked_at, o.expires_at) < postroom_now() - interval '30 days'
      order by coalesce(o.revoked_at, o.expires_at) limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from api_request r where r.ctid = any (array(
      select o.ctid from api_request o where o.created_at < postroom_now() - interval '7 days' order by o.created_at
      limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from door_refusal r where r.ctid = any (array(
      select o.ctid from door_refusal o where o.last_at < postroom_now() - interval '7 days' order by o.last_at
      limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from greylist g where g.ctid = any (array(
      select o.ctid from greylist o where o.last_at < postroom_now() - interval '1 day'
        and (o.passed_at is null or o.last_at < postroom_now() - interval '35 days') order by o.last_at
      limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    return most;
  end $$;
revoke all on function remove_leftovers from public;
grant execute on function remove_leftovers to postroom_actor;
-- What a key of one domain reads (docs/decisions/0035): the periods hold for the mail of each domain.
grant select on retention to postroom_domain;
create policy retention_of_domain on retention for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true));
