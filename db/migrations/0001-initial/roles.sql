-- The service logs in as these roles; db/connection/logins.ts lets them, as logins belong to the server and not to the database.
-- A transaction of a key that is limited to domains or addresses takes postroom_domain, which reads what the policies below show and nothing else.
do $$ begin
  begin create role postroom_gateway nologin noinherit; exception when duplicate_object or unique_violation then null; end;
  begin create role postroom_actor nologin noinherit; exception when duplicate_object or unique_violation then null; end;
  begin create role postroom_auth nologin noinherit; exception when duplicate_object or unique_violation then null; end;
  begin create role postroom_domain nologin noinherit; exception when duplicate_object or unique_violation then null; end;
end $$;
grant usage on schema public to postroom_gateway, postroom_actor, postroom_auth, postroom_domain;
-- Databases of PostgreSQL 14 and before let every role make things in the schema. Where the schema is not ours, its owner decides.
do $$ begin revoke create on schema public from public; exception when insufficient_privilege then null; end $$;
-- A process checks whether the schema is the one it works with, and leaves changes to the owner.
grant select on migration to postroom_gateway, postroom_actor;

-- Whether mail of a domain and address is within the limit of the transaction, whose settings have one name a line (limitedTo in
-- db/connection/transaction.ts). Short, so that it becomes part of the statements and policies that use it.
create function is_in_reach(p_domain text, p_address text) returns boolean language sql stable parallel safe as $$
  select coalesce(p_domain = any (string_to_array(current_setting('postroom.domain', true), chr(10)))
    or p_address = any (string_to_array(current_setting('postroom.address', true), chr(10))), false) $$;
create function is_domain_in_reach(p_domain_id text) returns boolean language sql stable parallel safe as $$
  select coalesce(p_domain_id = any (string_to_array(current_setting('postroom.domain_id', true), chr(10))), false) $$;
-- Whether all that a reach covers (Reach in core/accounts/key-rights.ts) is within the limit of the transaction; null, which covers all, is not.
create function is_reach_in_reach(p_reach jsonb) returns boolean language sql stable parallel safe as $$
  select p_reach is not null
    and not exists (select from jsonb_array_elements(p_reach->'domains') d where not is_domain_in_reach(d->>'id'))
    and not exists (select from jsonb_array_elements_text(p_reach->'addresses') a (address)
      where not is_in_reach(substring(a.address from '[^@]*$'), a.address)) $$;
create function is_address_reached(p_reach jsonb, p_address text) returns boolean language sql immutable parallel safe as $$
  select p_reach is null or p_reach->'addresses' ? p_address
    or p_reach->'domains' @> jsonb_build_array(jsonb_build_object('name', substring(p_address from '[^@]*$'))) $$;
-- What two reaches both cover; null covers all. May be empty.
create function common_reach(p_some jsonb, p_others jsonb) returns jsonb language sql immutable parallel safe as $$
  select case when p_some is null then p_others when p_others is null then p_some else jsonb_build_object(
    'domains', (select coalesce(jsonb_agg(d order by place), '[]') from jsonb_array_elements(p_some->'domains') with ordinality as u(d, place)
      where p_others->'domains' @> jsonb_build_array(jsonb_build_object('id', d->>'id'))),
    'addresses', (select coalesce(jsonb_agg(distinct a.address), '[]') from (
      select s.address from jsonb_array_elements_text(p_some->'addresses') s (address) where is_address_reached(p_others, s.address)
      union all
      select o.address from jsonb_array_elements_text(p_others->'addresses') o (address) where is_address_reached(p_some, o.address)) a)) end $$;
create function is_reach_empty(p_reach jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(jsonb_array_length(p_reach->'domains') + jsonb_array_length(p_reach->'addresses') = 0, false) $$;

-- Shows rows of a table that has workspace_id to the gateway when the transaction is of that workspace, and to the actors always.
create procedure pg_temp.protect_rows(p_table text) language plpgsql as $$
  begin
    execute format('alter table %I enable row level security', p_table);
    execute format($sql$create policy %I on %I to postroom_gateway using (workspace_id = current_setting('postroom.workspace_id', true))$sql$,
      p_table || '_of_workspace', p_table);
    execute format('create policy %I on %I to postroom_actor using (true)', p_table || '_of_actor', p_table);
    execute format('grant select, insert, update, delete on %I to postroom_gateway, postroom_actor', p_table);
  end $$;

-- Statistics of a table from 3,000 rows instead of 30,000, which ANALYZE holds in memory together: rows of raw_message have up to 8 KB. It is
-- for tables that are read by key, for which statistics decide nothing.
create procedure pg_temp.sample_few_rows(p_table text) language plpgsql as $$
  declare
    name text;
  begin
    for name in select attname from pg_attribute where attrelid = p_table::regclass and attnum > 0 and not attisdropped loop
      execute format('alter table %I alter column %I set statistics 10', p_table, name);
    end loop;
  end $$;
