-- OAuth (docs/decisions/0149). A grant is an API key without a secret of its own: oauth_token has the secrets that stand for it for a while.
-- Clients are global. All reads and changes go through functions; those of postroom_auth get a person or session that was checked before.

create table oauth_client (
  id text primary key,
  name text not null,
  redirect_uris text[] not null,
  created_at timestamptz(3) not null default now()
);
create index oauth_client_age on oauth_client (created_at);
grant select, insert, update, delete on oauth_client to postroom_actor;

create table oauth_grant (
  id text primary key,
  workspace_id text not null references workspace on delete cascade,
  client_id text not null,
  client_host text not null,
  level text not null check (level in ('read', 'send', 'everything')),
  resource text not null
);
create index oauth_grant_list on oauth_grant (workspace_id, id);
create index oauth_grant_client on oauth_grant (client_id);
grant select, insert, update, delete on oauth_grant to postroom_actor;

create table oauth_token (
  secret_sha256 bytea primary key,
  grant_id text not null references oauth_grant on delete cascade,
  kind text not null check (kind in ('access', 'refresh')),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index oauth_token_grant on oauth_token (grant_id);
create index oauth_token_end on oauth_token (expires_at);
grant select, insert, update, delete on oauth_token to postroom_actor;

create table oauth_code (
  secret_sha256 bytea primary key,
  user_code text unique,
  client_id text not null,
  client_name text not null,
  client_host text not null,
  redirect_uri text,
  challenge text,
  resource text not null,
  scope text,
  terms jsonb,
  workspace_id text references workspace on delete cascade,
  person_id text references person on delete cascade,
  session_id text,
  decided_at timestamptz(3),
  polled_at timestamptz(3),
  used_at timestamptz(3),
  grant_id text,
  expires_at timestamptz(3) not null,
  check ((user_code is null) = (redirect_uri is not null)),
  check ((redirect_uri is null) = (challenge is null)),
  check (terms is null or (workspace_id is not null and person_id is not null and session_id is not null and decided_at is not null))
);
create index oauth_code_end on oauth_code (expires_at);
grant select, insert, update, delete on oauth_code to postroom_actor;

-- Stores a client that registered itself. Where there are p_most, the oldest ones without a grant make room once they are p_keep old; false
-- when none does.
create function register_oauth_client(p_id text, p_name text, p_redirect_uris text[], p_most integer, p_keep interval) returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    perform pg_advisory_xact_lock(hashtext('oauth_client'));
    if (select count(*) from oauth_client) >= p_most then
      delete from oauth_client c where c.id in (
        select o.id from oauth_client o where o.created_at <= postroom_now() - p_keep
          and not exists (select from oauth_grant g where g.client_id = o.id)
        order by o.created_at limit greatest(1, p_most / 10));
      if not found then return false; end if;
    end if;
    insert into oauth_client (id, name, redirect_uris, created_at) values (p_id, p_name, p_redirect_uris, postroom_now());
    return true;
  end $$;
revoke all on function register_oauth_client from public;
grant execute on function register_oauth_client to postroom_auth;

create function oauth_client_of(p_id text) returns table (name text, redirect_uris text[])
  language sql stable security definer set search_path = public, pg_temp as $$
    select c.name, c.redirect_uris from oauth_client c where c.id = p_id $$;
revoke all on function oauth_client_of from public;
grant execute on function oauth_client_of to postroom_auth;

-- Stores a code: one that a person has decided about, for a redirect, or one of a device that waits for a person. terms: see the type
-- CodeTerms. False when the user code is taken.
create function create_oauth_code(p_secret_sha256 bytea, p_code jsonb, p_expires_at timestamptz) returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    insert into oauth_code (secret_sha256, user_code, client_id, client_name, client_host, redirect_uri, challenge, resource, scope, terms,
        workspace_id, person_id, session_id, decided_at, expires_at)
      select p_secret_sha256, c.user_code, c.client_id, c.client_name, c.client_host, c.redirect_uri, c.challenge, c.resource, c.scope, c.terms,
        c.workspace_id, c.person_id, c.session_id, case when c.terms is not null then postroom_now() end, p_expires_at
      from jsonb_populate_record(null::oauth_code, p_code) c
      on conflict (user_code) do nothing;
    return found;
  end $$;
revoke all on function create_oauth_code from public;
grant execute on function create_oauth_code to postroom_auth;

-- The code of a device that waits for a person.
create function oauth_device_of(p_user_code text, p_now timestamptz)
  returns table (client_id text, client_name text, client_host text, resource text, scope text)
  language sql stable security definer set search_path = public, pg_temp as $$
    select c.client_id, c.client_name, c.client_host, c.resource, c.scope from oauth_code c
    where c.user_code = p_user_code and c.decided_at is null and c.expires_at > p_now $$;
revoke all on function oauth_device_of from public;
grant execute on function oauth_device_of to postroom_auth;

-- A person decides in a session about the code of a device; without terms it is denied. False when it was decided before, or has expired.
create function decide_oauth_device(p_user_code text, p_person_id text, p_session_id text, p_workspace_id text, p_terms jsonb, p_now timestamptz)
  returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    update oauth_code c set decided_at = p_now, person_id = p_person_id, session_id = p_session_id, workspace_id = p_workspace_id,
        terms = p_terms
      where c.user_code = p_user_code and c.decided_at is null and c.expires_at > p_now;
    return found;
  end $$;
revoke all on function decide_oauth_device from public;
grant execute on function decide_oauth_device to postroom_auth;

-- Takes a code and stores its grant, with an access and a refresh token. Of several at once, one succeeds. A code that was used before ends
-- the tokens of its grant (RFC 6749 §4.1.2). p_presented has client_id, and redirect_uri and challenge or neither. The person must have the
-- same role and limits in the workspace as when the code was decided about, and the session that decided must be one that may decide now: with
-- it ends what it allowed and no program has taken yet. outcome: made; invalid; used; pending, denied, slow_down,
-- expired: of a device (RFC 8628 §3.5); too_many: the workspace has p_most keys.
create function exchange_oauth_code(p_secret_sha256 bytea, p_presented jsonb, p_key_id text, p_key_sha256 bytea, p_access_sha256 bytea,
    p_access_expires_at timestamptz, p_refresh_sha256 bytea, p_refresh_expires_at timestamptz, p_now timestamptz, p_most integer,
    p_interval interval, p_origin jsonb)
  returns table (outcome text, workspace_id text, grant_id text, level text)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    held oauth_code;
    room workspace;
    member workspace_member;
    made text;
  begin
    select * into held from oauth_code c where c.secret_sha256 = p_secret_sha256 for update;
    outcome := 'invalid';
    if not found or held.client_id is distinct from p_presented->>'client_id' then return next; return; end if;
    if (held.redirect_uri is null) <> (p_presented->>'redirect_uri' is null) then return next; return; end if;
    workspace_id := held.workspace_id;
    grant_id := held.grant_id;
    if held.used_at is not null then
      if held.grant_id is not null then
        outcome := 'used';
        delete from oauth_token t where t.grant_id = held.grant_id;
      end if;
      return next;
      return;
    end if;
    if held.user_code is not null then
      outcome := case when held.expires_at <= p_now then 'expired'
        when held.polled_at > p_now - p_interval then 'slow_down'
        when held.decided_at is null then 'pending'
        when held.terms is null then 'denied' else 'made' end;
      update oauth_code c set polled_at = p_now where c.secret_sha256 = p_secret_sha256;
    elsif held.expires_at > p_now and held.redirect_uri = p_presented->>'redirect_uri' and held.challenge = p_presented->>'challenge'
        and held.resource = coalesce(p_presented->>'resource', held.resource) then
      outcome := 'made';
    end if;
    if outcome in ('pending', 'slow_down') then return next; return; end if;
    -- Whoever has the code does not get to try other verifiers.
    update oauth_code c set used_at = p_now where c.secret_sha256 = p_secret_sha256;
    if outcome <> 'made' then return next; return; end if;
    -- The order of locks is that of remove_member.
    select * into room from workspace w where w.id = held.workspace_id and w.erase_at is null and w.suspended_at is null for update;
    select * into member from workspace_member m where m.workspace_id = room.id and m.person_id = held.person_id;
    perform from auth_session s where s.id = held.session_id and s.person_id = held.person_id and s.expires_at > p_now
      and opens_workspace(s.provider_id, room.id, member.role)
      and (s.second_factor_at is not null or not (room.requires_second_factor
        or exists (select from auth_totp t where t.person_id = s.person_id and t.confirmed_at is not null)))
      for share of s;
    if not found or member.person_id is null or member.role <> held.terms->>'role'
        or to_jsonb(member.domain_ids) is distinct from nullif(held.terms->'domain_ids', 'null')
        or to_jsonb(member.addresses) is distinct from nullif(held.terms->'addresses', 'null') then
      outcome := 'invalid';
      return next;
      return;
    end if;
    perform set_config('postroom.workspace_id', held.workspace_id, true),
      set_config('postroom.origin', (p_origin || jsonb_build_object('kind', 'person', 'id', held.person_id))::text, true);
    made := create_api_key(held.workspace_id, p_key_id, held.client_name, p_key_sha256, null, p_most,
      case when held.terms->'scopes' <> 'null' then array(select jsonb_array_elements_text(held.terms->'scopes')) end,
      nullif(held.terms->'reach', 'null'), nullif(held.terms->'policy', 'null'), null, null, held.person_id, true);
    outcome := case made when 'made' then 'made' when 'too many' then 'too_many' else 'invalid' end;
    if outcome = 'made' then
      grant_id := p_key_id;
      level := held.terms->>'level';
      insert into oauth_grant (id, workspace_id, client_id, client_host, level, resource)
        values (p_key_id, held.workspace_id, held.client_id, held.client_host, level, held.resource);
      insert into oauth_token (secret_sha256, grant_id, kind, expires_at)
        values (p_access_sha256, p_key_id, 'access', p_access_expires_at), (p_refresh_sha256, p_key_id, 'refresh', p_refresh_expires_at);
      update oauth_code c set grant_id = p_key_id where c.secret_sha256 = p_secret_sha256;
    end if;
    return next;
  end $$;
revoke all on function exchange_oauth_code from public;
grant execute on function exchange_oauth_code to postroom_auth;

-- Replaces a refresh token by a new one, with a new access token. A token that was replaced before ends all tokens of its grant. However often
-- they are replaced, tokens end a year after their person allowed the client. outcome: made, invalid, used.
create function rotate_oauth_token(p_secret_sha256 bytea, p_client_id text, p_resource text, p_access_sha256 bytea,
    p_access_expires_at timestamptz, p_refresh_sha256 bytea, p_refresh_expires_at timestamptz, p_now timestamptz)
  returns table (outcome text, workspace_id text, grant_id text, level text)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    held oauth_token;
    given oauth_grant;
    ends_at timestamptz;
  begin
    outcome := 'invalid';
    select * into held from oauth_token t where t.secret_sha256 = p_secret_sha256 and t.kind = 'refresh' for update;
    if not found then return next; return; end if;
    select * into given from oauth_grant g where g.id = held.grant_id;
    if given.client_id <> p_client_id then return next; return; end if;
    workspace_id := given.workspace_id;
    grant_id := given.id;
    level := given.level;
    if held.used_at is not null then
      outcome := 'used';
      delete from oauth_token t where t.grant_id = held.grant_id;
      return next; return;
    end if;
    select k.created_at + interval '365 days' into ends_at from api_key k
      join workspace w on w.id = k.workspace_id and w.suspended_at is null
      join workspace_member m on m.workspace_id = k.workspace_id and m.person_id = k.made_by_person_id
      where k.id = given.id and k.revoked_at is null;
    if held.expires_at > p_now and ends_at > p_now and given.resource = coalesce(p_resource, given.resource) then
      outcome := 'made';
      update oauth_token t set used_at = p_now where t.secret_sha256 = p_secret_sha256;
      delete from oauth_token t where t.grant_id = given.id and t.kind = 'access' and t.expires_at <= p_now;
      insert into oauth_token (secret_sha256, grant_id, kind, expires_at)
        values (p_access_sha256, given.id, 'access', least(p_access_expires_at, ends_at)),
          (p_refresh_sha256, given.id, 'refresh', least(p_refresh_expires_at, ends_at));
    end if;
    return next;
  end $$;
revoke all on function rotate_oauth_token from public;
grant execute on function rotate_oauth_token to postroom_auth;

-- The grant of a token of that client.
create function oauth_grant_of_token(p_secret_sha256 bytea, p_client_id text) returns table (workspace_id text, grant_id text)
  language sql stable security definer set search_path = public, pg_temp as $$
    select g.workspace_id, g.id from oauth_token t join oauth_grant g on g.id = t.grant_id
    where t.secret_sha256 = p_secret_sha256 and g.client_id = p_client_id $$;
revoke all on function oauth_grant_of_token from public;
grant execute on function oauth_grant_of_token to postroom_auth;

-- The key of an access token: as credential_owner, with the end of the token and the resource that it is for. A grant always has its person.
create function oauth_credential(p_secret_sha256 bytea)
  returns table (key_id text, workspace_id text, expires_at timestamptz, scopes text[], reach jsonb, person_id text, role text, is_approver boolean,
    is_suspended boolean, has_quotas boolean, resource text)
  language sql stable security definer rows 1 set search_path = public, pg_temp as $$
    select k.id, k.workspace_id, least(t.expires_at, k.expires_at), k.scopes, k.reach, k.made_by_person_id, m.role, m.is_approver,
      w.suspended_at is not null, w.quotas is not null, g.resource
    from oauth_token t join oauth_grant g on g.id = t.grant_id join api_key k on k.id = g.id and k.revoked_at is null
      join workspace w on w.id = k.workspace_id
      join workspace_member m on m.workspace_id = k.workspace_id and m.person_id = k.made_by_person_id
    where t.secret_sha256 = p_secret_sha256 and t.kind = 'access' $$;
revoke all on function oauth_credential from public;
grant execute on function oauth_credential to postroom_gateway, postroom_actor;

-- The grants of the workspace that asks that were not revoked.
create function oauth_grants_of(p_workspace_id text)
  returns table (id text, client_id text, client_host text, name text, level text, resource text, reach jsonb, person_id text, person_email text,
    created_at timestamptz, last_used_at timestamptz, last_used_from text)
  language sql stable security definer set search_path = public, pg_temp as $$
    select g.id, g.client_id, g.client_host, k.name, g.level, g.resource, k.reach, k.made_by_person_id, u.email, k.created_at, k.last_used_at,
      k.last_used_from
    from oauth_grant g join api_key k on k.id = g.id and k.workspace_id = p_workspace_id and k.revoked_at is null
      left join person u on u.id = k.made_by_person_id
    where g.workspace_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true) $$;
revoke all on function oauth_grants_of from public;
grant execute on function oauth_grants_of to postroom_gateway, postroom_actor;

-- Removes codes and tokens that ended a day ago, and clients that never got a grant after p_keep. Up to p_limit of each; returns the largest
-- number removed of one kind. Used refresh tokens stay until they would have expired: they show that one was stolen.
create function remove_ended_oauth(p_limit integer, p_keep interval) returns integer
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    most integer := 0;
    removed integer;
  begin
    delete from oauth_code c where c.ctid = any (array(
      select o.ctid from oauth_code o where o.expires_at < postroom_now() - interval '1 day' order by o.expires_at limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from oauth_token t where t.ctid = any (array(
      select o.ctid from oauth_token o where o.expires_at < postroom_now() - interval '1 day' order by o.expires_at limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from oauth_grant g where g.ctid = any (array(
      select o.ctid from oauth_grant o where not exists (select from api_key k where k.id = o.id) limit p_limit for update skip locked));
    get diagnostics removed = row_count; most := greatest(most, removed);
    delete from oauth_client c where c.ctid = any (array(
      select o.ctid from oauth_client o where o.created_at < postroom_now() - p_keep
        and not exists (select from oauth_grant g where g.client_id = o.id) order by o.created_at limit p_limit for update skip locked));
    get diagnostics removed = row_count;
    return greatest(most, removed);
  end $$;
revoke all on function remove_ended_oauth from public;
