-- Sign-up of agents (docs/agents.md). A workspace that an agent started has no member until the person of the address confirms it by a code.

create table agent_sign_up (
  workspace_id text primary key,
  email text not null,
  name text not null,
  key_id text not null,
  request_sha256 bytea not null unique,
  code_hmac bytea not null,
  code_tries integer not null default 0,
  codes_sent integer not null default 1,
  code_expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  confirmed_at timestamptz(3)
);
create index agent_sign_up_waiting on agent_sign_up (created_at) where confirmed_at is null;
create index agent_sign_up_email on agent_sign_up (email) where confirmed_at is null;
call pg_temp.protect_rows('agent_sign_up');

-- Starts a workspace with a key for an agent. Those that no one confirmed within p_keep are closed, a few at a time. Outcomes: made; known: the
-- request was made before; too many: p_most of the address wait. workspace_id and is_confirmed: of the one made, or known.
create function start_agent_sign_up(p_workspace_id text, p_email text, p_name text, p_key_id text, p_secret_sha256 bytea, p_hint text, p_policy jsonb,
    p_request_sha256 bytea, p_code_hmac bytea, p_code_expires_at timestamptz, p_keep interval, p_most integer)
  returns table (outcome text, workspace_id text, is_confirmed boolean)
  language plpgsql volatile security definer rows 1 set search_path = public, pg_temp as $$
  declare
    old text;
  begin
    perform pg_advisory_xact_lock(hashtextextended('agent_sign_up ' || p_email, 0));
    for old in select a.workspace_id from agent_sign_up a where a.confirmed_at is null and a.created_at < postroom_now() - p_keep
        order by a.created_at limit 5 for update skip locked loop
      perform close_workspace(old, interval '6 seconds');
      delete from agent_sign_up a where a.workspace_id = old;
    end loop;
    select 'known', a.workspace_id, a.confirmed_at is not null into outcome, workspace_id, is_confirmed
      from agent_sign_up a where a.request_sha256 = p_request_sha256;
    if found then return next; return; end if;
    is_confirmed := false;
    if (select count(*) from agent_sign_up a where a.email = p_email and a.confirmed_at is null) >= p_most then
      outcome := 'too many'; return next; return;
    end if;
    insert into workspace (id, name) values (p_workspace_id, p_name);
    insert into api_key (id, workspace_id, name, secret_sha256, scopes, send_policy, secret_hint)
      values (p_key_id, p_workspace_id, p_name, p_secret_sha256, '{read,send}', p_policy, p_hint);
    insert into agent_sign_up (workspace_id, email, name, key_id, request_sha256, code_hmac, code_expires_at, created_at)
      values (p_workspace_id, p_email, p_name, p_key_id, p_request_sha256, p_code_hmac, p_code_expires_at, postroom_now());
    outcome := 'made';
    workspace_id := p_workspace_id;
    return next;
  end $$;
revoke all on function start_agent_sign_up from public;
grant execute on function start_agent_sign_up to postroom_gateway;

-- Gives a sign-up that waits a new code, once the previous one has expired or was guessed p_tries times. False: it keeps the previous one, or had p_most.
create function renew_agent_code(p_workspace_id text, p_code_hmac bytea, p_expires_at timestamptz, p_tries integer, p_most integer) returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    update agent_sign_up a set code_hmac = p_code_hmac, code_expires_at = p_expires_at, code_tries = 0, codes_sent = a.codes_sent + 1
      where a.workspace_id = p_workspace_id and a.confirmed_at is null and a.codes_sent < p_most
        and (a.code_expires_at <= postroom_now() or a.code_tries >= p_tries);
    return found;
  end $$;
revoke all on function renew_agent_code from public;
grant execute on function renew_agent_code to postroom_gateway;

-- Confirms the sign-up of the workspace that asks: its address owns the workspace, and the key loses its send policy. Outcomes: confirmed, also
-- when it was before; no sign-up; expired; too many: p_tries codes were wrong; wrong; closed: the account is being erased.
create function confirm_agent_sign_up(p_workspace_id text, p_code_hmac bytea, p_tries integer)
  returns table (outcome text, person_id text)
  language plpgsql volatile security definer rows 1 set search_path = public, pg_temp as $$
  declare
    held agent_sign_up;
    person person%rowtype;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    perform from workspace w where w.id = p_workspace_id and w.erase_at is null for update;
    select * into held from agent_sign_up a where a.workspace_id = p_workspace_id for update;
    if not found then outcome := 'no sign-up'; return next; return; end if;
    if held.confirmed_at is not null then outcome := 'confirmed'; return next; return; end if;
    if held.code_tries >= p_tries then outcome := 'too many'; return next; return; end if;
    if held.code_expires_at <= postroom_now() then outcome := 'expired'; return next; return; end if;
    if held.code_hmac <> p_code_hmac then
      update agent_sign_up a set code_tries = a.code_tries + 1 where a.workspace_id = p_workspace_id;
      outcome := 'wrong'; return next; return;
    end if;
    -- A new person gets this workspace as the own one.
    insert into person (id, email, email_verified, last_workspace_id) values (p_workspace_id, held.email, true, p_workspace_id)
      on conflict do nothing returning * into person;
    if person.id is null then
      select u.* into person from person u where u.email = held.email for update;
      if person.erase_at is not null then outcome := 'closed'; return next; return; end if;
      -- Someone else may have signed up with the address, without proof of receiving mail there.
      if not person.email_verified then perform forget_unproved_sign_in(person.id); end if;
      insert into workspace_member (workspace_id, person_id, role, is_approver) values (p_workspace_id, person.id, 'owner', true);
    end if;
    perform lock_send_rights_of(array[p_workspace_id]);
    update api_key k set send_policy = null, made_by_person_id = person.id where k.workspace_id = p_workspace_id and k.id = held.key_id;
    update agent_sign_up a set confirmed_at = postroom_now() where a.workspace_id = p_workspace_id;
    outcome := 'confirmed';
    person_id := person.id;
    return next;
  end $$;
revoke all on function confirm_agent_sign_up from public;
grant execute on function confirm_agent_sign_up to postroom_gateway, postroom_actor;
