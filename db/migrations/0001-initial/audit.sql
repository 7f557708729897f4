-- Who changed what, see docs/audit.md. Triggers write it, so that no change is without its entry, and no entry without its change. The
-- service's roles can read it and nothing else: what adds to it, or removes what is old, are the functions below.
create table audit_entry (
  workspace_id text not null,
  id text not null,
  created_at timestamptz(3) not null,
  actor_kind text not null check (actor_kind in ('person', 'key', 'link', 'system')),
  actor_id text,
  actor_name text,
  client_address text,
  user_agent text,
  request_id text,
  action text not null,
  object_kind text not null,
  object_id text,
  object_name text,
  before jsonb,
  after jsonb,
  is_denied boolean not null default false,
  reason text,
  times integer not null default 1 check (times > 0),
  primary key (workspace_id, id)
);
create index audit_entry_list on audit_entry (workspace_id, created_at desc, id desc);
create index audit_entry_age on audit_entry (created_at);
call pg_temp.protect_rows('audit_entry');
revoke insert, update, delete on audit_entry from postroom_gateway;
-- Update is the right to lock rows that are erased; no row can be updated.
revoke insert on audit_entry from postroom_actor;

-- Entries never change, and go only with their account, or when remove_old_audit_entries removes what is old.
create function keep_audit_entry() returns trigger language plpgsql set search_path = public, pg_temp as $$
  begin
    if tg_op = 'DELETE' and (current_user = (select pg_get_userbyid(c.relowner) from pg_class c where c.oid = tg_relid)
        or not exists (select from workspace w where w.id = old.workspace_id and w.erase_at is null)) then
      return old;
    end if;
    raise exception 'an entry of the audit log cannot be changed or removed' using errcode = 'insufficient_privilege';
  end $$;
create trigger audit_entry_keep before update or delete on audit_entry for each row execute function keep_audit_entry();

-- An entry that a webhook of the workspace asks for is an event, in the transaction of the entry. The trigger runs at the commit, because
-- what appends events comes last in a transaction; several workspaces of one transaction come in the order of their ids. The event has the
-- entry's id behind its own prefix, and nothing else of it. Who reads the feed does not see it: that is for readers of the audit log.
create function announce_audit_entry() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    kind text := 'audit.' || replace(new.action, '.', '_');
  begin
    if exists (select from endpoint_subscription s join endpoint e on e.workspace_id = s.workspace_id and e.id = s.endpoint_id and e.is_active
        where s.workspace_id = new.workspace_id and e.events && array['audit.*', kind]) then
      perform append_events(new.workspace_id, jsonb_build_array(jsonb_build_object('id', 'evt_' || substr(new.id, 5), 'kind', kind)));
    end if;
    return null;
  end $$;
revoke all on function announce_audit_entry from public;
create constraint trigger audit_entry_event after insert on audit_entry deferrable initially deferred
  for each row execute function announce_audit_entry();
create policy event_without_audit on event as restrictive for select to postroom_gateway, postroom_domain using (kind not like 'audit.%');

create function make_audit_id() returns text language sql volatile set search_path = public, pg_temp as $$
  select 'aud_' || lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
    || substr(translate(gen_random_uuid()::text, '-', ''), 14) $$;
revoke all on function make_audit_id from public;

-- Who makes a change in a workspace: the setting postroom.origin, which the gateway sets from what it admitted. Without it, the person
-- (p_person_id), if the sign-in service makes it, or a program of the service.
create function audit_actor(p_workspace_id text, p_person_id text) returns table (kind text, id text, name text, address text, agent text,
  request text)
  language plpgsql stable set search_path = public, pg_temp as $$
  declare
    origin jsonb := nullif(current_setting('postroom.origin', true), '')::jsonb;
  begin
    kind := coalesce(origin->>'kind', case when session_user = 'postroom_auth' then 'person' else 'system' end);
    id := coalesce(origin->>'id', case when origin is null and kind = 'person' then p_person_id end);
    name := case kind
      when 'key' then coalesce((select k.name from api_key k where k.workspace_id = p_workspace_id and k.id = audit_actor.id),
        (select t.name from scim_token t where t.workspace_id = p_workspace_id and t.id = audit_actor.id))
      when 'person' then (select u.email from person u where u.id = audit_actor.id)
      when 'system' then nullif(current_setting('application_name', true), '') end;
    address := origin->>'address';
    agent := origin->>'agent';
    request := origin->>'request';
    return next;
  end $$;
revoke all on function audit_actor from public;

-- A URL without user, path and query, as the request log shows it.
create function audit_url(p_url text) returns text language sql immutable set search_path = public, pg_temp as $$
  select case when p_url ~ '^[a-z]+://[^/?#@]+/?$' then p_url
    else coalesce(substring(p_url from '^[a-z]+://') || substring(p_url from '^[a-z]+://(?:[^/?#]*@)?([^/?#@]*)') || '/[redacted]', '[redacted]') end $$;
revoke all on function audit_url from public;

-- The workspaces whose logs have what a person does outside of a workspace, such as signing in.
create function workspaces_to_audit(p_person_id text) returns table (id text)
  language sql stable set search_path = public, pg_temp as $$
    select w.id from workspace_member m join workspace w on w.id = m.workspace_id and w.erase_at is null
    where m.person_id = p_person_id order by m.joined_at, w.id limit 100 $$;
revoke all on function workspaces_to_audit from public;

-- The audited fields of a row, without secrets and without what is long.
create function audit_fields(p_row jsonb, p_columns text[], p_secrets text[]) returns jsonb
  language sql immutable set search_path = public, pg_temp as $$
    select jsonb_object_agg(regexp_replace(c.name, '_(ciphertext|sha256)$', ''), case
      when c.name = any (p_secrets) then case when c.value = 'null' then c.value else '"[redacted]"' end
      when octet_length(c.value::text) > 8192 then to_jsonb('[' || to_char(octet_length(c.value::text), 'FM999,999,999') || ' bytes]')
      else c.value end)
    from (
      select n.name, case when n.name = 'config' and jsonb_typeof(p_row->'config') = 'object' then (
          select jsonb_object_agg(f.key, case
            when f.key = 'url' and jsonb_typeof(f.value) = 'string' then to_jsonb(audit_url(f.value #>> '{}'))
            when f.key = 'headers' and jsonb_typeof(f.value) = 'object'
              then (select coalesce(jsonb_object_agg(h.key, '[redacted]'), '{}') from jsonb_each(f.value) h)
            when f.key ~* 'token|secret|password' then '"[redacted]"'
            else f.value end) from jsonb_each(p_row->'config') f)
        else p_row->n.name end as value
      from unnest(p_columns || p_secrets) n(name)) c
    where c.value is not null $$;
revoke all on function audit_fields from public;

-- Arguments: the kind of object; the columns of its id and name; the audited columns; those that are secret; columns whose first value is an
-- action of its own, each with the word for it (`revoked_at=revoked`), or without one if the value is the word.
create function audit_change() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    old_row jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
    new_row jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
    it jsonb := coalesce(new_row, old_row);
    owner text := it->>'workspace_id';
    columns text[] := string_to_array(tg_argv[3], ' ');
    secrets text[] := string_to_array(tg_argv[4], ' ');
    old_fields jsonb;
    new_fields jsonb;
    -- The periods of an account always exist: without a row, those of the service hold.
    what text := case tg_op when 'INSERT' then case tg_argv[0] when 'retention' then 'updated' else 'created' end when 'UPDATE' then 'updated' else 'deleted' end;
    actor record;
  begin
    -- What a workspace had goes with it, and its log as well.
    if not exists (select from workspace w where w.id = owner and w.erase_at is null) then return null; end if;
    if tg_op = 'UPDATE' then
      columns := array(select c from unnest(columns) c where old_row->c is distinct from new_row->c);
      secrets := array(select c from unnest(secrets) c where old_row->c is distinct from new_row->c);
      if cardinality(columns) + cardinality(secrets) = 0 then return null; end if;
      select coalesce(nullif(split_part(e, '=', 2), ''), new_row->>split_part(e, '=', 1)) into what
        from (select 1) one left join unnest(string_to_array(tg_argv[5], ' ')) e
          on split_part(e, '=', 1) = any (columns) and jsonb_typeof(old_row->split_part(e, '=', 1)) = 'null' limit 1;
      what := coalesce(what, 'updated');
    end if;
    old_fields := audit_fields(old_row, columns, secrets);
    new_fields := audit_fields(new_row, columns, secrets);
    select * into actor from audit_actor(owner, coalesce(it->>'accepted_by', it->>'person_id'));
    insert into audit_entry (workspace_id, id, created_at, actor_kind, actor_id, actor_name, client_address, user_agent, request_id, action,
        object_kind, object_id, object_name, before, after)
      values (owner, make_audit_id(), postroom_now(), actor.kind, actor.id, actor.name, actor.address, actor.agent, actor.request,
        tg_argv[0] || '.' || what, tg_argv[0], it->>tg_argv[1],
        case tg_argv[0] when 'member' then (select u.email from person u where u.id = it->>'person_id') else it->>tg_argv[2] end,
        old_fields, new_fields);
    return null;
  end $$;
revoke all on function audit_change from public;

-- What belongs to a person has an entry in each of the person's workspaces, up to 100. Arguments: as for audit_change, without actions.
create function audit_person_change() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    old_row jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
    new_row jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
    it jsonb := coalesce(new_row, old_row);
    person text := case tg_table_name when 'person' then it->>'id' else it->>'person_id' end;
    columns text[] := string_to_array(tg_argv[3], ' ');
    secrets text[] := string_to_array(tg_argv[4], ' ');
    is_sign_in boolean := tg_table_name = 'auth_session' and tg_op = 'INSERT';
    what text := case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'updated' else 'deleted' end;
  begin
    -- A session that expired was not ended by a person.
    if tg_table_name = 'auth_session' and tg_op = 'DELETE' and (it->>'expires_at')::timestamptz < now() then return null; end if;
    if tg_op = 'UPDATE' then
      columns := array(select c from unnest(columns) c where old_row->c is distinct from new_row->c);
      secrets := array(select c from unnest(secrets) c where old_row->c is distinct from new_row->c);
      if cardinality(columns) + cardinality(secrets) = 0 then return null; end if;
    end if;
    insert into audit_entry (workspace_id, id, created_at, actor_kind, actor_id, actor_name, client_address, user_agent, request_id, action,
        object_kind, object_id, object_name, before, after)
      select w.id, make_audit_id(), postroom_now(), a.kind, a.id, a.name, case when is_sign_in then it->>'ip_address' else a.address end,
        case when is_sign_in then it->>'user_agent' else a.agent end, a.request, tg_argv[0] || '.' || what, tg_argv[0], it->>tg_argv[1],
        it->>tg_argv[2], audit_fields(old_row, columns, secrets), audit_fields(new_row, columns, secrets)
      from workspaces_to_audit(person) w cross join lateral audit_actor(w.id, person) a order by w.id;
    return null;
  end $$;
revoke all on function audit_person_change from public;

-- The workspace itself.
create function audit_workspace() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    what text := case when tg_op = 'INSERT' then 'created' when old.erase_at is null and new.erase_at is not null then 'erased'
      when old.name is distinct from new.name or old.requires_second_factor is distinct from new.requires_second_factor then 'updated' end;
    columns text[] := case when tg_op = 'UPDATE' and what = 'updated' then array_remove(array[
      case when old.name is distinct from new.name then 'name' end,
      case when old.requires_second_factor is distinct from new.requires_second_factor then 'requires_second_factor' end], null) else '{name}' end;
    old_fields jsonb := case when tg_op = 'UPDATE' and what = 'updated' then audit_fields(to_jsonb(old), columns, '{}') end;
  begin
    if what is null then return null; end if;
    insert into audit_entry (workspace_id, id, created_at, actor_kind, actor_id, actor_name, client_address, user_agent, request_id, action,
        object_kind, object_id, object_name, before, after)
      select new.id, make_audit_id(), postroom_now(), a.kind, a.id, a.name, a.address, a.agent, a.request, 'workspace.' || what, 'workspace',
        new.id, new.name, old_fields, case when what <> 'erased' then audit_fields(to_jsonb(new), columns, '{}') end
      from audit_actor(new.id, null) a;
    return null;
  end $$;
revoke all on function audit_workspace from public;
-- The workspace of a customer, in the log of the workspace that keeps it.
create function audit_customer() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    old_row jsonb := case when tg_op = 'UPDATE' then to_jsonb(old) end;
    new_row jsonb := to_jsonb(new);
    is_closed boolean := tg_op = 'UPDATE' and old.erase_at is null and new.erase_at is not null;
    what text := case when tg_op = 'INSERT' then 'created' when is_closed then 'erased'
      when old.suspended_at is null and new.suspended_at is not null then 'suspended'
      when old.suspended_at is not null and new.suspended_at is null then 'resumed' else 'updated' end;
    columns text[] := '{name,client_id,quotas,suspended_at}';
  begin
    if tg_op = 'UPDATE' then columns := array(select c from unnest(columns) c where old_row->c is distinct from new_row->c); end if;
    if cardinality(columns) = 0 and not is_closed then return null; end if;
    insert into audit_entry (workspace_id, id, created_at, actor_kind, actor_id, actor_name, client_address, user_agent, request_id, action,
        object_kind, object_id, object_name, before, after)
      select w.id, make_audit_id(), postroom_now(), a.kind, a.id, a.name, a.address, a.agent, a.request, 'customer_workspace.' || what,
        'customer_workspace', new.id, new.name, case when not is_closed then audit_fields(old_row, columns, '{}') end,
        case when not is_closed then audit_fields(new_row, columns, '{}') end
      from workspace w cross join lateral audit_actor(w.id, null) a where w.id = new.parent_id and w.erase_at is null;
    return null;
  end $$;
revoke all on function audit_customer from public;
create trigger workspace_customer_audit after insert or update of name, quotas, suspended_at, erase_at on workspace for each row
  when (new.parent_id is not null) execute function audit_customer();

-- A key that a workspace creates in that of a customer.
create function audit_customer_key() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    insert into audit_entry (workspace_id, id, created_at, actor_kind, actor_id, actor_name, client_address, user_agent, request_id, action,
        object_kind, object_id, object_name, after)
      select p.id, make_audit_id(), postroom_now(), a.kind, a.id, a.name, a.address, a.agent, a.request, 'customer_workspace.key_created',
        'customer_workspace', w.id, w.name, jsonb_build_object('key_id', new.id, 'key_name', new.name, 'scopes', new.scopes)
      from workspace w join workspace p on p.id = w.parent_id and p.erase_at is null cross join lateral audit_actor(p.id, null) a
      where w.id = new.workspace_id and p.id = current_setting('postroom.workspace_id', true);
    return null;
  end $$;
revoke all on function audit_customer_key from public;
create trigger api_key_customer_audit after insert on api_key for each row execute function audit_customer_key();

create trigger workspace_audit after insert or update of name, erase_at, requires_second_factor on workspace for each row execute function audit_workspace();

-- Counters and times of work are no settings: columns that are not listed are not audited, and a change of them costs nothing.
create procedure pg_temp.audit_table(p_table text, p_kind text, p_id text, p_name text, p_columns text, p_secrets text default '',
  p_actions text default '', p_events text default 'insert or update or delete', p_function text default 'audit_change') language plpgsql as $$
  declare
    listed text := replace(trim(p_columns || ' ' || p_secrets), ' ', ', ');
  begin
    execute format('create trigger %I after %s on %I for each row execute function %I(%L, %L, %L, %L, %L, %L)', p_table || '_audit',
      replace(p_events, 'update', 'update of ' || listed), p_table, p_function, p_kind, p_id, p_name, p_columns, p_secrets, p_actions);
  end $$;
call pg_temp.audit_table('workspace_member', 'member', 'person_id', 'person_id', 'role is_approver domain_ids addresses');
call pg_temp.audit_table('workspace_invitation', 'invitation', 'id', 'email',
  'email role is_approver domain_ids addresses sent_at expires_at revoked_at accepted_at', 'token_sha256',
  'revoked_at=revoked accepted_at=accepted');
call pg_temp.audit_table('api_key', 'api_key', 'id', 'name',
  'name scopes reach expires_at revoked_at send_policy parent_id made_by_person_id', 'secret_sha256', 'revoked_at=revoked');
call pg_temp.audit_table('domain', 'domain', 'id', 'name',
  'name status is_trusted is_catch_all_enabled catch_all_endpoint_id receive_dmarc_emails');
call pg_temp.audit_table('dkim_key', 'dkim_key', 'domain_id', 'selector', 'selector public_key activated_at retired_at', 'private_key_ciphertext');
call pg_temp.audit_table('email_address', 'email_address', 'id', 'address',
  'address domain_id endpoint_id webhook_id is_active send_policy signature');
call pg_temp.audit_table('reply_address', 'reply_address', 'id', 'deliver_to',
  'domain_id domain deliver_to thread_id senders max_messages expires_at revoked_at', '', 'revoked_at=revoked', 'insert or update');
call pg_temp.audit_table('endpoint', 'endpoint', 'id', 'name',
  'name type webhook_format config is_active inactive_reason description events filter payload_query ordering allow_actions', 'secret_ciphertext');
call pg_temp.audit_table('guard_rule', 'guard_rule', 'id', 'name', 'name description type config action endpoint_id priority is_active');
call pg_temp.audit_table('suppression', 'suppression', 'id', 'address', 'address reason list detail refusal_reason email_id');
call pg_temp.audit_table('image_sender', 'image_sender', 'address', 'address', 'address');
call pg_temp.audit_table('retention', 'retention', 'workspace_id', 'workspace_id', 'raw_days body_days metadata_days');
call pg_temp.audit_table('approval', 'approval', 'email_id', 'email_id', 'decision reason', '', 'decision', 'update');
call pg_temp.audit_table('person', 'person', 'id', 'email', 'email name image', '', '', 'insert or update', 'audit_person_change');
call pg_temp.audit_table('auth_session', 'session', 'id', 'id', 'created_at', '', '', 'insert or delete', 'audit_person_change');
call pg_temp.audit_table('auth_passkey', 'passkey', 'id', 'name', 'name device_type', '', '', 'insert or update or delete', 'audit_person_change');
call pg_temp.audit_table('auth_totp', 'second_factor', 'person_id', 'person_id', 'confirmed_at', 'secret_ciphertext', '',
  'insert or update or delete',
  'audit_person_change');
call pg_temp.audit_table('sign_in_provider', 'single_sign_on', 'workspace_id', 'issuer',
  'issuer client_id is_required trusts_addresses groups_claim group_roles default_role', 'secret_ciphertext');
call pg_temp.audit_table('auth_credential', 'password', 'id', 'provider_id', 'provider_id', 'password', '', 'insert or update or delete',
  'audit_person_change');

-- What a gateway gathered that changes nothing: refused requests, reads and exports, of any workspaces. Those of erased accounts are left out.
create function store_audit_entries(p_entries json) returns integer language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    stored integer;
  begin
    insert into audit_entry (workspace_id, id, created_at, actor_kind, actor_id, actor_name, client_address, user_agent, request_id, action,
        object_kind, object_id, object_name, is_denied, reason, times)
      select e.workspace_id, make_audit_id(), e.at, e.actor_kind, e.actor_id,
        case e.actor_kind when 'key' then (select k.name from api_key k where k.workspace_id = e.workspace_id and k.id = e.actor_id)
          when 'person' then (select p.email from person p where p.id = e.actor_id) end,
        e.address, e.agent, e.request, e.action, e.object_kind, e.object_id, e.object_name, e.is_denied, e.reason, e.times
      from json_to_recordset(p_entries) as e(workspace_id text, at timestamptz, actor_kind text, actor_id text, address text, agent text,
        request text, action text, object_kind text, object_id text, object_name text, is_denied boolean, reason text, times integer)
      where exists (select from workspace w where w.id = e.workspace_id and w.erase_at is null) order by e.workspace_id, e.at;
    get diagnostics stored = row_count;
    return stored;
  end $$;
revoke all on function store_audit_entries from public;
grant execute on function store_audit_entries to postroom_gateway, postroom_actor;

-- A refused attempt to sign in to the account with this email address or id. An unknown one is of no account.
create function note_failed_sign_in(p_account text, p_action text, p_reason text, p_address text, p_agent text) returns void
  language sql volatile security definer set search_path = public, pg_temp as $$
    insert into audit_entry (workspace_id, id, created_at, actor_kind, actor_id, actor_name, client_address, user_agent, action, object_kind,
        object_id, object_name, is_denied, reason)
      select w.id, make_audit_id(), postroom_now(), 'person', null, null, p_address, p_agent, p_action, 'person', u.id, u.email, true, p_reason
      from person u cross join lateral workspaces_to_audit(u.id) w where (u.email = p_account or u.id = p_account) and u.erase_at is null
      order by w.id $$;
revoke all on function note_failed_sign_in from public;
grant execute on function note_failed_sign_in to postroom_auth;

-- The workspace of a key that is not valid any more, for the audit log.
create function ended_key_owner(p_secret_sha256 bytea) returns table (key_id text, workspace_id text)
  language sql stable security definer rows 1 set search_path = public, pg_temp as $$
    select k.id, k.workspace_id from api_key k
    where k.secret_sha256 = p_secret_sha256 and (k.revoked_at is not null or k.expires_at <= postroom_now()) $$;
revoke all on function ended_key_owner from public;
grant execute on function ended_key_owner to postroom_gateway;

-- Removes up to p_limit entries that are older than p_days. Returns how many.
create function remove_old_audit_entries(p_days integer, p_limit integer) returns integer
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    removed integer;
  begin
    if p_days < 1 then return 0; end if;
    delete from audit_entry a where (a.workspace_id, a.id) = any (array(
      select (o.workspace_id, o.id) from audit_entry o where o.created_at < postroom_now() - p_days * interval '1 day' order by o.created_at
      limit p_limit for update skip locked));
    get diagnostics removed = row_count;
    return removed;
  end $$;
revoke all on function remove_old_audit_entries from public;
grant execute on function remove_old_audit_entries to postroom_actor;
