create table person (
  id text primary key,
  email text not null unique,
  name text not null default '',
  email_verified boolean not null default false,
  image text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  erase_at timestamptz(3),
  last_workspace_id text
);
create index person_erase on person (erase_at) where erase_at is not null;
grant select, insert, update on person to postroom_auth;
grant select, insert, update, delete on person to postroom_actor;

-- What a person uploaded, as picture.ts of core left it. person.image is its version: the first 16 digits of its SHA-256. Only the functions of
-- workspaces.sql read and write it.
create table person_picture (
  person_id text primary key references person on delete cascade,
  media_type text not null check (media_type in ('image/jpeg', 'image/png', 'image/webp')),
  content bytea not null check (octet_length(content) <= 262144),
  updated_at timestamptz(3) not null default now()
);

-- What mail, domains, keys and all else belong to: workspace_id in all other tables is the id of a workspace.
create table workspace (
  id text primary key,
  name text not null,
  created_at timestamptz(3) not null default now(),
  erase_at timestamptz(3),
  parent_id text,
  client_id text,
  quotas jsonb,
  suspended_at timestamptz(3),
  requires_second_factor boolean not null default false,
  -- of a workspace with a quota of them, when they were measured, and at which number of its feed
  stored_bytes bigint not null default 0,
  stored_at timestamptz(3),
  stored_seq bigint,
  check ((parent_id is null) = (client_id is null))
);
create index workspace_erase on workspace (erase_at) where erase_at is not null;
create unique index workspace_client on workspace (parent_id, client_id) where erase_at is null and parent_id is not null;
create index workspace_parent on workspace (parent_id, created_at, id) where parent_id is not null;
grant select, insert, update, delete on workspace to postroom_actor;

create table workspace_member (
  workspace_id text not null references workspace on delete cascade,
  person_id text not null references person on delete cascade,
  role text not null check (role in ('owner', 'admin', 'developer', 'agent', 'viewer')),
  is_approver boolean not null default false,
  domain_ids text[],
  addresses text[],
  joined_at timestamptz(3) not null default now(),
  primary key (workspace_id, person_id),
  check ((domain_ids is null) = (addresses is null)),
  check (domain_ids is null or role in ('agent', 'viewer'))
);
create index workspace_member_person on workspace_member (person_id);
create unique index workspace_member_owner on workspace_member (workspace_id) where role = 'owner';
grant select, insert, update, delete on workspace_member to postroom_actor;

create table workspace_invitation (
  id text primary key,
  workspace_id text not null references workspace on delete cascade,
  email text not null,
  role text not null check (role in ('admin', 'developer', 'agent', 'viewer')),
  is_approver boolean not null default false,
  domain_ids text[],
  addresses text[],
  token_sha256 bytea not null unique,
  is_handed boolean not null default false,
  invited_by text,
  set_by_key_id text,
  needed_scopes text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  sent_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  accepted_at timestamptz(3),
  accepted_by text,
  check ((domain_ids is null) = (addresses is null)),
  check (domain_ids is null or role in ('agent', 'viewer'))
);
create index workspace_invitation_list on workspace_invitation (workspace_id, id);
create unique index workspace_invitation_open on workspace_invitation (workspace_id, email) where accepted_at is null and revoked_at is null;
grant select, insert, update, delete on workspace_invitation to postroom_actor;

create table api_key (
  id text primary key,
  workspace_id text not null references workspace,
  name text not null,
  secret_sha256 bytea not null unique,
  scopes text[] check (scopes <@ '{read,send,manage,approve,workspaces}' and scopes <> '{}'),
  reach jsonb,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  last_used_from text,
  secret_hint text,
  send_policy jsonb,
  parent_id text,
  family_id text,
  is_settled boolean not null default false,
  made_by_person_id text,
  made_by_parent_key_id text,
  made_by_parent_person_id text,
  most_role text check (most_role in ('owner', 'admin', 'developer', 'agent', 'viewer')),
  is_grant boolean not null default false,
  is_cut boolean not null default false,
  check (reach <> '{"domains": [], "addresses": []}'),
  check (reach is null or coalesce(scopes <@ '{read,send}', false)),
  check (send_policy is null or coalesce(scopes <@ '{read,send}', false))
);
create index api_key_workspace on api_key (workspace_id, id);
create index api_key_unsettled on api_key (expires_at) where not is_settled and revoked_at is null;
create index api_key_cut on api_key (id) where is_cut;
create index api_key_parent_maker on api_key (made_by_parent_key_id) where made_by_parent_key_id is not null and revoked_at is null;
create index api_key_parent_person on api_key (made_by_parent_person_id) where made_by_parent_person_id is not null and revoked_at is null;
create index api_key_maker on api_key (made_by_person_id) where made_by_person_id is not null and revoked_at is null;
create index api_key_parent on api_key (workspace_id, parent_id) where parent_id is not null;
grant select, insert, update, delete on api_key to postroom_actor;

-- What users' requests have lately taken of their limit, where several gateways serve: blocks of requests that gateways leased, each
-- counting until its last request is a window old. Unlogged: after a crash of PostgreSQL every workspace begins anew.
create type request_lease as (id text, granted_at timestamptz, requests integer, counts_until timestamptz);

create unlogged table request_window (workspace_id text primary key, leases request_lease[] not null) with (fillfactor = 50);
call pg_temp.protect_rows('request_window');

-- Requests that came with an API key, kept for 7 days. What a gateway writes in batches: see store_api_requests.
create table api_request (
  workspace_id text not null,
  id text not null,
  created_at timestamptz(3) not null,
  key_id text not null,
  interface text not null check (interface in ('rest', 'graphql', 'mcp')),
  method text not null,
  path text not null,
  operation text,
  status smallint not null,
  duration_ms integer not null,
  client_address text not null,
  request_headers jsonb not null,
  response_headers jsonb not null,
  request_bytes bigint,
  request_body text,
  response_bytes bigint,
  response_body text,
  omits_bodies boolean not null default false,
  rights text[] not null default '{}',
  primary key (workspace_id, id)
);
create index api_request_list on api_request (workspace_id, created_at desc, id desc);
create index api_request_age on api_request (created_at);
call pg_temp.protect_rows('api_request');
-- The gateway writes for all its users at once, and only by the function below.
revoke insert, update, delete on api_request from postroom_gateway;
-- What a limited key reads (docs/decisions/0035): the requests of keys that are limited to its domains and addresses.
create function is_key_of_domain(p_workspace_id text, p_key_id text) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
    select p_workspace_id = current_setting('postroom.workspace_id', true)
      and exists (select from api_key k where k.id = p_key_id and k.workspace_id = p_workspace_id and is_reach_in_reach(k.reach)) $$;
revoke all on function is_key_of_domain from public;
grant execute on function is_key_of_domain to postroom_domain;
grant select on api_request to postroom_domain;
create policy api_request_of_domain on api_request for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_key_of_domain(workspace_id, key_id));

-- Requests of any workspaces, gathered by the gateway. Those of accounts that were erased meanwhile are left out. Returns how many were stored.
create function store_api_requests(p_requests json) returns integer language plpgsql security definer
  set search_path = public, pg_temp as $$
  declare
    stored integer;
  begin
    -- A log may lose its last moments; the gateway need not wait for the disk.
    perform set_config('synchronous_commit', 'off', true);
    insert into api_request (workspace_id, id, created_at, key_id, interface, method, path, operation, status, duration_ms, client_address,
      request_headers, response_headers, request_bytes, request_body, response_bytes, response_body, omits_bodies, rights)
    select r.workspace_id, r.id, r.created_at, r.key_id, r.interface, r.method, r.path, r.operation, r.status, r.duration_ms, r.client_address,
      r.request_headers, r.response_headers, r.request_bytes, r.request_body, r.response_bytes, r.response_body, r.omits_bodies, coalesce(r.rights, '{}')
    from json_to_recordset(p_requests) as r(workspace_id text, id text, created_at timestamptz, key_id text, interface text, method text,
      path text, operation text, status smallint, duration_ms integer, client_address text, request_headers jsonb, response_headers jsonb,
      request_bytes bigint, request_body text, response_bytes bigint, response_body text, omits_bodies boolean, rights text[])
    where exists (select from workspace w where w.id = r.workspace_id)
    on conflict do nothing;
    get diagnostics stored = row_count;
    return stored;
  end $$;
revoke all on function store_api_requests from public;
grant execute on function store_api_requests to postroom_gateway;

create table erased_account (
  id text primary key,
  erased_at timestamptz(3) not null
);
grant select, insert, update, delete on erased_account to postroom_actor;

create table auth_session (
  id text primary key,
  person_id text not null references person on delete cascade,
  token text not null unique,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  ip_address text,
  user_agent text,
  workspace_id text,
  method text not null default 'password' check (method in ('password', 'link', 'passkey', 'provider')),
  confirmed_at timestamptz(3) not null default now(),
  second_factor_at timestamptz(3),
  provider_id text
);
create index auth_session_person on auth_session (person_id);
create index auth_session_workspace on auth_session (workspace_id) where workspace_id is not null;
create index auth_session_end on auth_session (expires_at);
grant select, insert, update, delete on auth_session to postroom_auth;

create table auth_credential (
  id text primary key,
  person_id text not null references person on delete cascade,
  account_id text not null,
  provider_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz(3),
  refresh_token_expires_at timestamptz(3),
  scope text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (person_id, provider_id)
);
create unique index auth_credential_provider on auth_credential (provider_id, account_id) where provider_id like 'provider:%';
grant select, insert, update, delete on auth_credential to postroom_auth;

-- The single sign-on of a workspace (docs/sign-in.md).
create table sign_in_provider (
  workspace_id text primary key references workspace on delete cascade,
  issuer text not null,
  client_id text not null,
  secret_ciphertext text not null,
  is_required boolean not null default false,
  trusts_addresses boolean not null default false,
  groups_claim text not null default 'groups',
  group_roles jsonb not null default '[]',
  default_role text check (default_role in ('admin', 'developer', 'agent', 'viewer')),
  updated_at timestamptz(3) not null default now()
);
grant select, insert, update, delete on sign_in_provider to postroom_auth;

create table auth_totp (
  person_id text primary key references person on delete cascade,
  secret_ciphertext text not null,
  last_step bigint not null default 0,
  confirmed_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
grant select, insert, update, delete on auth_totp to postroom_auth;

create table auth_recovery_code (
  person_id text not null references person on delete cascade,
  code_sha256 bytea not null,
  primary key (person_id, code_sha256)
);
grant select, insert, update, delete on auth_recovery_code to postroom_auth;

create table auth_verification (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index auth_verification_identifier on auth_verification (identifier);
create index auth_verification_person on auth_verification (value) where length(value) < 64;
create index auth_verification_end on auth_verification (expires_at);
grant select, insert, update, delete on auth_verification to postroom_auth;

create table auth_passkey (
  id text primary key,
  person_id text not null references person on delete cascade,
  name text,
  public_key text not null,
  credential_id text not null unique,
  counter bigint not null,
  device_type text not null,
  backed_up boolean not null,
  transports text,
  aaguid text,
  created_at timestamptz(3) default now()
);
create index auth_passkey_person on auth_passkey (person_id);
grant select, insert, update, delete on auth_passkey to postroom_auth;

create table auth_rate_limit (
  key text primary key,
  tried_at timestamptz(3)[] not null default '{}',
  last_at timestamptz(3) not null default now()
);
create index auth_rate_limit_last on auth_rate_limit (last_at);

-- Leases up to p_wanted requests of the workspace, to be made within p_lease_ms, while no more than p_limit count in all. Tells of the
-- gateway's previous lease how many were made, the last one so long after it had asked for the lease; null: there is none. Telling it
-- twice does no harm. Answers what was granted, what is left, and when the first of what counts no longer does.
create function lease_requests(p_workspace_id text, p_lease_id text, p_wanted integer, p_limit integer, p_lease_ms integer, p_window_ms integer,
    p_former_id text, p_former_requests integer, p_former_ms integer)
  returns table (granted integer, remaining integer, changes_in_ms integer)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare
  held request_lease[];
  at timestamptz;
  counted integer;
  oldest timestamptz;
begin
  loop
    select w.leases into held from request_window w where w.workspace_id = p_workspace_id for update;
    exit when found;
    insert into request_window values (p_workspace_id, '{}') on conflict do nothing;
  end loop;
  -- This moment, not that of the statement: it may have waited for the row.
  at := clock_timestamp();
  select coalesce(array_agg((l.id, l.granted_at, n.requests, n.counts_until)::request_lease), '{}'),
         coalesce(sum(n.requests), 0), min(n.counts_until)
    into held, counted, oldest
    from unnest(held) l cross join lateral (
      select case when l.id = p_former_id then p_former_requests else l.requests end as requests,
             case when l.id = p_former_id then l.granted_at + (p_former_ms + p_window_ms) * interval '1 millisecond'
                  else l.counts_until end as counts_until) n
    where n.requests > 0 and n.counts_until > at;
  granted := greatest(0, least(p_wanted, p_limit - counted));
  remaining := greatest(0, p_limit - counted - granted);
  if granted > 0 then
    held := held || (p_lease_id, at, granted, at + (p_lease_ms + p_window_ms) * interval '1 millisecond')::request_lease;
  end if;
  update request_window w set leases = held where w.workspace_id = p_workspace_id;
  changes_in_ms := ceil(extract(epoch from coalesce(oldest, at + p_window_ms * interval '1 millisecond') - at) * 1000);
  return next;
end $$;
revoke all on function lease_requests from public;
grant execute on function lease_requests to postroom_gateway, postroom_actor;

-- The role with fewer rights; null: no limit. See ROLES in core/accounts/roles.ts.
create function lesser_role(p_one text, p_other text) returns text language sql immutable set search_path = public, pg_temp as $$
    select case when p_one is null then p_other when p_other is null then p_one
      when array_position(array['owner', 'admin', 'developer', 'agent', 'viewer'], p_one)
        >= array_position(array['owner', 'admin', 'developer', 'agent', 'viewer'], p_other) then p_one else p_other end $$;

-- The gateway does not know the workspace yet when it looks a credential up. role: that of the person who created the key, or the first
-- key of its family, now; null: nobody in particular did. A key of a person who is no member any more is not valid, and neither is one of a
-- customer's workspace whose maker, a key or a person of the parent, may keep no workspaces any more.
create function credential_of_key(p_key_id text)
  returns table (key_id text, workspace_id text, expires_at timestamptz, scopes text[], reach jsonb, person_id text, role text, is_approver boolean,
    is_suspended boolean, has_quotas boolean)
  language sql stable security definer set search_path = public, pg_temp as $$
    select k.id, k.workspace_id, k.expires_at, k.scopes, k.reach, k.made_by_person_id,
      case when k.most_role is null then m.role else lesser_role(m.role, k.most_role) end,
      coalesce(m.is_approver, true) and k.most_role is null,
      w.suspended_at is not null, w.quotas is not null
    from api_key k join workspace w on w.id = k.workspace_id left join workspace_member m on m.workspace_id = k.workspace_id and m.person_id = k.made_by_person_id
    where k.id = p_key_id and k.revoked_at is null
      and (k.made_by_person_id is null or m.person_id is not null)
      and (k.made_by_parent_key_id is null or exists (select from api_key p where p.id = k.made_by_parent_key_id and p.workspace_id = w.parent_id
        and p.revoked_at is null and (p.expires_at is null or p.expires_at > postroom_now())
        and (p.made_by_person_id is null or exists (select from workspace_member o
          where o.workspace_id = p.workspace_id and o.person_id = p.made_by_person_id and o.role = 'owner'))))
      and (k.made_by_parent_person_id is null or exists (select from workspace_member o
        where o.workspace_id = w.parent_id and o.person_id = k.made_by_parent_person_id and o.role = 'owner')) $$;
revoke all on function credential_of_key from public;
create function credential_owner(p_secret_sha256 bytea)
  returns table (key_id text, workspace_id text, expires_at timestamptz, scopes text[], reach jsonb, person_id text, role text, is_approver boolean,
    is_suspended boolean, has_quotas boolean)
  language sql stable security definer rows 1 set search_path = public, pg_temp as $$
    select c.* from api_key k cross join lateral credential_of_key(k.id) c where k.secret_sha256 = p_secret_sha256 $$;
revoke all on function credential_owner from public;
grant execute on function credential_owner to postroom_gateway, postroom_actor;

-- What a key, a member or an endpoint of the workspace may do now: for who still acts, and for signed links. No row: it is gone, or the workspace is
-- suspended or closed. A key of the parent workspace stands for its browser tokens here.
create function rights_now(p_workspace_id text, p_holder text) returns table (scopes text[], reach jsonb, role text, is_approver boolean)
  language plpgsql stable security definer rows 1 set search_path = public, pg_temp as $$
  begin
    if not exists (select from workspace w where w.id = p_workspace_id and w.suspended_at is null and w.erase_at is null) then return; end if;
    return query
      select c.scopes, c.reach, c.role, c.is_approver from credential_of_key(p_holder) c
      where c.workspace_id = p_workspace_id and (c.expires_at is null or c.expires_at > postroom_now())
      union all
      select t.scopes, null::jsonb, null::text, false from api_key k cross join lateral token_parent(k.id, k.workspace_id, p_workspace_id, '{}') t
      where k.id = p_holder and k.workspace_id <> p_workspace_id
      union all
      select null::text[], case when m.domain_ids is not null then jsonb_build_object('domains', coalesce((
          select jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name) order by d.id) from domain d
          where d.workspace_id = m.workspace_id and d.id = any (m.domain_ids)), '[]'), 'addresses', m.addresses) end, m.role, m.is_approver
      from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_holder
      union all
      select e.granted_scopes, null::jsonb, null::text, false from endpoint e where e.workspace_id = p_workspace_id and e.id = p_holder;
  end $$;
revoke all on function rights_now from public;
grant execute on function rights_now to postroom_gateway;

-- The send policies of those keys of the workspace that have one. plpgsql, because its plan is kept.
create function send_policies_of(p_workspace_id text, p_key_ids text[]) returns table (id text, send_policy jsonb)
  language plpgsql stable security definer rows 1 set search_path = public, pg_temp as $$
  begin
    return query select k.id, k.send_policy from api_key k
      where k.id = any (p_key_ids) and k.workspace_id = p_workspace_id and k.send_policy is not null
        and p_workspace_id = current_setting('postroom.workspace_id', true);
  end $$;
revoke all on function send_policies_of from public;
grant execute on function send_policies_of to postroom_gateway, postroom_actor;

-- Uses of keys, gathered by the gateway: [{id, at, from}]. Without an address, the last one stays.
create function note_key_uses(p_uses jsonb) returns void
  language sql security definer set search_path = public, pg_temp as $$
    update api_key k set last_used_at = u.at, last_used_from = coalesce(u."from", k.last_used_from)
    from jsonb_to_recordset(p_uses) as u(id text, at timestamptz, "from" text)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at) $$;
revoke all on function note_key_uses from public;
grant execute on function note_key_uses to postroom_gateway, postroom_actor;

-- A workspace, with the address and name of its owner.
create function account_of(p_workspace_id text) returns table (email text, name text, created_at timestamptz)
  language sql stable security definer set search_path = public, pg_temp as $$
    select u.email, u.name, w.created_at from workspace w
      join workspace_member m on m.workspace_id = w.id and m.role = 'owner' join person u on u.id = m.person_id
    where w.id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true)
      and current_setting('role') <> 'postroom_domain' $$;
revoke all on function account_of from public;
grant execute on function account_of to postroom_gateway, postroom_actor, postroom_domain;

-- The keys of the user who asks; for a limited key those that are limited to its domains and addresses. Who may ask is decided as for account_of.
create function api_keys_of(p_workspace_id text)
  returns table (id text, name text, scopes text[], reach jsonb, created_at timestamptz, expires_at timestamptz,
    revoked_at timestamptz, last_used_at timestamptz, last_used_from text, secret_hint text, send_policy jsonb, parent_id text, family_id text,
    is_grant boolean)
  language sql stable security definer set search_path = public, pg_temp as $$
    select k.id, k.name, k.scopes, k.reach, k.created_at, k.expires_at, k.revoked_at, k.last_used_at,
      k.last_used_from, k.secret_hint, k.send_policy, k.parent_id, coalesce(k.family_id, k.id), k.is_grant
    from api_key k
    where k.workspace_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true)
      and (current_setting('role') <> 'postroom_domain' or is_reach_in_reach(k.reach)) $$;
revoke all on function api_keys_of from public;
grant execute on function api_keys_of to postroom_gateway, postroom_actor, postroom_domain;

-- Lists of scopes; null: full rights.
create function common_scopes(p_some text[], p_others text[]) returns text[]
  language sql immutable set search_path = public, pg_temp as $$
    select case when p_some is null then p_others when p_others is null then p_some
      else array(select s from unnest(p_some) with ordinality as u(s, place) where s = any (p_others) order by place) end $$;
create function is_scope_within(p_some text[], p_others text[]) returns boolean
  language sql immutable set search_path = public, pg_temp as $$
    select p_others is null or coalesce(p_some <@ p_others, false) $$;
create function is_reach_within(p_some jsonb, p_others jsonb) returns boolean
  language sql immutable set search_path = public, pg_temp as $$
    select p_others is null or coalesce(p_others->'domains' @> (
        select coalesce(jsonb_agg(jsonb_build_object('id', d->>'id')), '[]') from jsonb_array_elements(p_some->'domains') d)
      and not exists (select from jsonb_array_elements_text(p_some->'addresses') a (address) where not is_address_reached(p_others, a.address))
      and p_some is not null, false) $$;

-- Answers made; no account: it was closed; too many: the workspace has p_most keys already that were not revoked, of two at once the second waits; no domain, no
-- address: the workspace does not have one of the reach; more rights, too long: the key that creates it (p_parent_id; null: a person does) has fewer rights now, or
-- expires before. Without an expiry, the key gets that of its parent.
create function create_api_key(p_workspace_id text, p_id text, p_name text, p_secret_sha256 bytea, p_expires_at timestamptz, p_most integer,
    p_scopes text[], p_reach jsonb, p_send_policy jsonb default null, p_secret_hint text default null, p_parent_id text default null,
    p_person_id text default null, p_is_grant boolean default false)
  returns text language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    parent api_key;
    reached integer;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return null; end if;
    perform from workspace w where w.id = p_workspace_id and w.erase_at is null for update;
    if not found then return 'no account'; end if;
    if p_parent_id is not null then
      select * into parent from api_key k where k.workspace_id = p_workspace_id and k.id = p_parent_id and k.revoked_at is null;
      if not found or not is_scope_within(p_scopes, parent.scopes) or not is_reach_within(p_reach, parent.reach) then
        return 'more rights';
      end if;
      if p_expires_at > parent.expires_at then return 'too long'; end if;
    end if;
    if p_reach is not null then
      -- Who deletes one of them waits, and then takes it from this key (end_reach_of_keys).
      perform from domain d join jsonb_array_elements(p_reach->'domains') r on r->>'id' = d.id and r->>'name' = d.name
        where d.workspace_id = p_workspace_id for key share of d;
      get diagnostics reached = row_count;
      if reached <> jsonb_array_length(p_reach->'domains') then return 'no domain'; end if;
      perform from email_address a join jsonb_array_elements_text(p_reach->'addresses') r (address) on r.address = a.address
        where a.workspace_id = p_workspace_id for key share of a;
      get diagnostics reached = row_count;
      if reached <> jsonb_array_length(p_reach->'addresses') then return 'no address'; end if;
    end if;
    if (select count(*) from api_key k where k.workspace_id = p_workspace_id and k.revoked_at is null) >= p_most then return 'too many'; end if;
    insert into api_key (id, workspace_id, name, secret_sha256, expires_at, scopes, reach, send_policy, secret_hint, parent_id, family_id,
      made_by_person_id, made_by_parent_key_id, made_by_parent_person_id, most_role, is_grant)
    values (p_id, p_workspace_id, p_name, p_secret_sha256, coalesce(p_expires_at, parent.expires_at), p_scopes, p_reach, p_send_policy,
      p_secret_hint, p_parent_id, coalesce(parent.family_id, parent.id),
      case when p_parent_id is null then p_person_id else parent.made_by_person_id end, parent.made_by_parent_key_id,
      parent.made_by_parent_person_id, parent.most_role, p_is_grant);
    return 'made';
  end $$;
revoke all on function create_api_key from public;
grant execute on function create_api_key to postroom_gateway, postroom_actor;

-- Locks a key of the workspace until the transaction ends; false when the workspace has no such key, or it was revoked. Changes of keys wait for
-- each other, so that a key which is created meanwhile gets no more rights than its parent keeps.
create function lock_api_key(p_workspace_id text, p_id text) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return false; end if;
    perform from workspace w where w.id = p_workspace_id for update;
    perform lock_send_rights_of(array[p_workspace_id]);
    perform from api_key k where k.workspace_id = p_workspace_id and k.id = p_id and k.revoked_at is null for no key update;
    return found;
  end $$;
revoke all on function lock_api_key from public;
grant execute on function lock_api_key to postroom_gateway, postroom_actor;

-- The keys that a key created, and those that they did, and so on, without the key itself.
create function keys_made_with(p_workspace_id text, p_id text) returns setof text
  language sql stable set search_path = public, pg_temp as $$
    with recursive made (id) as (
      select k.id from api_key k where k.workspace_id = p_workspace_id and k.parent_id = p_id
      union
      select k.id from made m join api_key k on k.workspace_id = p_workspace_id and k.parent_id = m.id
    ) select m.id from made m $$;
revoke all on function keys_made_with from public;

-- Changes a locked key. The keys that were created with it keep no right that it loses: neither a scope nor a domain or address nor a later
-- expiry nor freedom from its send policy; a key that keeps no scope, or no domain and address, is revoked. in_the_way: the name of a key among them whose own send policy prevents a new
-- one; then nothing changes. limited: the keys whose rights changed; disabled: the endpoints that were disabled with them.
create function update_api_key(p_workspace_id text, p_id text, p_name text, p_expires_at timestamptz, p_scopes text[], p_reach jsonb,
    p_send_policy jsonb)
  returns table (in_the_way text, limited text[], disabled jsonb)
  language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    made text[];
    previous api_key;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    select * into previous from api_key k where k.workspace_id = p_workspace_id and k.id = p_id and k.revoked_at is null;
    if not found then return; end if;
    made := array(select keys_made_with(p_workspace_id, p_id));
    if p_send_policy is not null and p_send_policy is distinct from previous.send_policy then
      select k.name into in_the_way from api_key k where k.id = any (made) and k.revoked_at is null
        and k.send_policy is distinct from previous.send_policy and k.send_policy is not null order by k.id limit 1;
      if found then return next; return; end if;
    end if;
    update api_key k set name = p_name, expires_at = p_expires_at, scopes = p_scopes, reach = p_reach, send_policy = p_send_policy,
        is_settled = false
      where k.workspace_id = p_workspace_id and k.id = p_id;
    update api_key k set revoked_at = now()
      where k.workspace_id = p_workspace_id and k.id = any (made) and k.revoked_at is null
        and (common_scopes(k.scopes, p_scopes) = '{}' or is_reach_empty(common_reach(k.reach, p_reach)));
    update api_key k set expires_at = least(k.expires_at, p_expires_at), scopes = common_scopes(k.scopes, p_scopes),
        reach = common_reach(k.reach, p_reach), send_policy = coalesce(p_send_policy, k.send_policy), is_settled = false
      where k.workspace_id = p_workspace_id and k.id = any (made) and k.revoked_at is null;
    limited := made || p_id;
    disabled := limit_what_keys_set(p_workspace_id, limited);
    perform limit_keys_of_customers(p_workspace_id, limited);
    return next;
  end $$;
revoke all on function update_api_key from public;
grant execute on function update_api_key to postroom_gateway, postroom_actor;

-- Revokes a key; no row when the workspace has no such key, or it was revoked before. What it set up stops, and the keys that it created are
-- revoked; with p_keeps, who revokes it takes both over: the key p_by, or the person p_person_id (p_by is null). A key that revokes one from
-- which it descends stays in any case. limited: the keys that were revoked; disabled: the endpoints that were disabled with them.
create function revoke_api_key(p_workspace_id text, p_id text, p_by text default null, p_keeps boolean default false,
    p_person_id text default null)
  returns table (limited text[], disabled jsonb)
  language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    revoked api_key;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    perform from workspace w where w.id = p_workspace_id for update;
    perform lock_send_rights_of(array[p_workspace_id]);
    update api_key k set revoked_at = now() where k.workspace_id = p_workspace_id and k.id = p_id and k.revoked_at is null returning * into revoked;
    if not found then return; end if;
    if p_by <> p_id and p_by in (select keys_made_with(p_workspace_id, p_id)) then
      update api_key k set parent_id = revoked.parent_id where k.workspace_id = p_workspace_id and k.id = p_by;
    end if;
    limited := '{}';
    disabled := '[]';
    if p_keeps then
      perform hand_over_what_key_set(p_workspace_id, p_id, p_by, p_person_id);
      -- Its browser tokens end in any case.
      update api_key k set is_cut = true where k.id = p_id and exists (select from workspace w where w.parent_id = p_workspace_id);
      update api_key k set made_by_parent_key_id = p_by, made_by_parent_person_id = case when p_by is null then p_person_id end
        where k.made_by_parent_key_id = p_id and k.revoked_at is null;
      update api_key k set parent_id = p_by where k.workspace_id = p_workspace_id and k.parent_id = p_id;
    else
      limited := array(select keys_made_with(p_workspace_id, p_id)) || p_id;
      update api_key k set revoked_at = now() where k.workspace_id = p_workspace_id and k.id = any (limited) and k.revoked_at is null;
      disabled := limit_what_keys_set(p_workspace_id, limited);
      perform limit_keys_of_customers(p_workspace_id, limited);
    end if;
    return next;
  end $$;
revoke all on function revoke_api_key from public;
grant execute on function revoke_api_key to postroom_gateway, postroom_actor;

-- Whether a session opens a workspace in which its person has p_role: one by a provider (p_provider_id, the workspace of the provider) that
-- workspace only, and where single sign-on is required, no other one does, except that of the owner.
create function opens_workspace(p_provider_id text, p_workspace_id text, p_role text) returns boolean
  language sql stable set search_path = public, pg_temp as $$
    select case when p_provider_id is not null then p_provider_id = p_workspace_id
      else p_role = 'owner' or not exists (select from sign_in_provider p where p.workspace_id = p_workspace_id and p.is_required) end $$;
revoke all on function opens_workspace from public;

-- However often it is used, a session ends 30 days after its sign-in, and begins in the workspace that its person used last, if the way of the
-- sign-in opens it. One by a provider begins in the workspace of the provider. A closed account gets none: a sign-in that was under way as it
-- was closed fails.
create function limit_session() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    if tg_op = 'INSERT' then
      perform from person u where u.id = new.person_id and u.erase_at is null for share;
      if not found then raise exception 'the account % is closed', new.person_id using errcode = 'check_violation'; end if;
      new.confirmed_at := new.created_at;
      if new.method in ('passkey', 'provider') then new.second_factor_at := coalesce(new.second_factor_at, new.created_at); end if;
      if new.provider_id is not null then
        new.workspace_id := new.provider_id;
      else
        select m.workspace_id into new.workspace_id from person u
          join workspace_member m on m.person_id = u.id and m.workspace_id = u.last_workspace_id
          join workspace w on w.id = m.workspace_id and w.erase_at is null
          where u.id = new.person_id and opens_workspace(null, m.workspace_id, m.role);
      end if;
    end if;
    new.expires_at := least(new.expires_at, new.created_at + interval '30 days');
    return new;
  end $$;
revoke all on function limit_session from public;
create trigger limit_session before insert or update on auth_session for each row execute function limit_session();

-- Counts a try for each of the keys, or, when one of them has had p_most within the window, for none. Answers in how many seconds to
-- try again; 0: counted. Tries at once wait for each other, in the order of the keys.
create function take_auth_try(p_keys text[], p_most integer, p_window interval) returns integer
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    at timestamptz;
    wait interval;
  begin
    insert into auth_rate_limit (key) select k from unnest(p_keys) k order by k on conflict do nothing;
    perform from auth_rate_limit r where r.key = any (p_keys) order by r.key for update;
    at := clock_timestamp() + (select shift from clock);
    update auth_rate_limit r set tried_at = array(select t from unnest(r.tried_at) t where t > at - p_window order by t)
      where r.key = any (p_keys);
    select max(r.tried_at[cardinality(r.tried_at) - p_most + 1] + p_window - at) into wait
      from auth_rate_limit r where r.key = any (p_keys) and cardinality(r.tried_at) >= p_most;
    -- What is over goes little by little; a try, refused or not, leaves less behind than it takes away.
    delete from auth_rate_limit r using (
      select o.key from auth_rate_limit o where o.last_at < at - p_window and not o.key = any (p_keys)
      order by o.last_at limit 10 for update skip locked
    ) old where old.key = r.key;
    delete from auth_session s where s.ctid = any (array(
      select o.ctid from auth_session o where o.expires_at < now() - interval '1 day' order by o.expires_at limit 10 for update skip locked));
    delete from auth_verification v where v.ctid = any (array(
      select o.ctid from auth_verification o where o.expires_at < now() - interval '1 day' order by o.expires_at limit 10 for update skip locked));
    if wait is not null then return greatest(1, ceil(extract(epoch from wait)))::integer; end if;
    update auth_rate_limit r set tried_at = r.tried_at || at, last_at = at where r.key = any (p_keys);
    return 0;
  end $$;
revoke all on function take_auth_try from public;
grant execute on function take_auth_try to postroom_auth;

-- After a success: the tries of p_cleared are forgotten, and the last one of p_given_back. Rows are locked in the order of take_auth_try: a try
-- that came meanwhile would otherwise wait for this one, and this one for it.
create function forgive_auth_tries(p_cleared text[], p_given_back text[]) returns void
  language sql volatile security definer set search_path = public, pg_temp as $$
    select from auth_rate_limit r where r.key = any (p_cleared || p_given_back) order by r.key for update;
    delete from auth_rate_limit r where r.key = any (p_cleared);
    update auth_rate_limit r set tried_at = r.tried_at[:cardinality(r.tried_at) - 1] where r.key = any (p_given_back) $$;
revoke all on function forgive_auth_tries from public;
grant execute on function forgive_auth_tries to postroom_auth;
