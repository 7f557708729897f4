/** How long mail is kept, and how far the removal of what is older has come. */
export const RETENTION = `
  -- What a user chose; without a row the defaults of the service hold (RETENTION_*). null: for ever. See core/upkeep/retention.ts.
  create table retention (
    user_id text primary key,
    raw_days integer check (raw_days between 1 and 36500),
    body_days integer check (body_days between 1 and 36500),
    metadata_days integer check (metadata_days between 1 and 36500),
    updated_at timestamptz(3) not null default now(),
    check (raw_days <= body_days),
    check (body_days <= metadata_days),
    check (raw_days <= metadata_days)
  );
  -- One row per user whose mail is limited: who is at it, and up to where raw messages, bodies and receptions without an email have been
  -- looked at. From time to time all is looked at anew, for what was in work when it was passed.
  create table retention_sweep (
    user_id text primary key,
    due_at timestamptz not null,
    begins_anew_at timestamptz not null,
    raw_at timestamptz(3),
    bodies_at timestamptz(3),
    reception_id text,
    claimed_by text,
    claimed_until timestamptz(3)
  ) with (fillfactor = 50);
  create index retention_sweep_due on retention_sweep (due_at);
`;

/** Run as their owner: the actors reach no table of accounts. */
export const HOUSEKEEPING = `
  -- What nobody asks for any more: sessions, links and tries to sign in that are over, windows of request limits, keys that were revoked a
  -- year ago. Up to p_limit of each; answers the largest number removed of one kind.
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
      return most;
    end $$;
  revoke all on function remove_leftovers from public;
  grant execute on function remove_leftovers to postroom_actor;
`;
