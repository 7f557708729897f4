-- Workspaces, persons and members. A workspace is what workspace_id holds in all tables of mail. Functions that a member or a key may call check
-- that the transaction is of the workspace, as account_of does; those of postroom_auth get a person or a session that was checked before.

-- A new person is the owner of a workspace with the same id.
create function create_own_workspace() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    insert into workspace (id, name, created_at, erase_at)
      values (new.id, coalesce(nullif(new.name, ''), split_part(new.email, '@', 1)), new.created_at, new.erase_at) on conflict do nothing;
    insert into workspace_member (workspace_id, person_id, role, is_approver, joined_at)
      values (new.id, new.id, 'owner', true, new.created_at) on conflict do nothing;
    return new;
  end $$;
revoke all on function create_own_workspace from public;
create trigger create_own_workspace after insert on person for each row execute function create_own_workspace();

-- Makes workspaces of accounts that have none, each with its person as the owner. Returns how many it made. Safe to run twice.
create function adopt_accounts() returns integer language plpgsql set search_path = public, pg_temp as $$
  declare
    made integer;
  begin
    insert into workspace (id, name, created_at, erase_at)
      select u.id, coalesce(nullif(u.name, ''), split_part(u.email, '@', 1)), u.created_at, u.erase_at from person u
      where not exists (select from workspace w where w.id = u.id)
        and not exists (select from workspace_member m where m.person_id = u.id)
      on conflict do nothing;
    get diagnostics made = row_count;
    insert into workspace_member (workspace_id, person_id, role, is_approver, joined_at)
      select u.id, u.id, 'owner', true, u.created_at from person u join workspace w on w.id = u.id
      where not exists (select from workspace_member m where m.person_id = u.id or (m.workspace_id = w.id and m.role = 'owner'))
      on conflict do nothing;
    return made;
  end $$;
revoke all on function adopt_accounts from public;

-- Closes those of the persons who are members of no workspace: their sessions, passwords, passkeys and links stop working, and the
-- scheduling actor erases them.
create function close_persons(p_person_ids text[], p_last_requests interval) returns void
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    closed text[];
  begin
    closed := array(select p from unnest(p_person_ids) p where not exists (select from workspace_member m where m.person_id = p));
    update person u set erase_at = now() + p_last_requests where u.id = any (closed) and u.erase_at is null;
    delete from auth_session s where s.person_id = any (closed);
    delete from auth_credential c where c.person_id = any (closed);
    delete from auth_passkey p where p.person_id = any (closed);
    delete from auth_totp t where t.person_id = any (closed);
    delete from auth_recovery_code r where r.person_id = any (closed);
    delete from person_picture c where c.person_id = any (closed);
    delete from auth_verification v where v.value = any (closed) and length(v.value) < 64;
  end $$;
revoke all on function close_persons from public;

-- Closes a workspace, and those that it keeps for customers: its keys, members and invitations end, and its domains belong to no one, so no mail comes in and none of it leaves.
-- Persons who are members of no other workspace are closed with it. The scheduling actor erases it from erase_at on, when its last requests
-- have ended. Safe to run twice. Returns the names of domains and addresses that receive no more mail.
create function close_workspace(p_workspace_id text, p_last_requests interval) returns text[]
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    names text[];
    persons text[];
    customer text;
    of_customers text[] := '{}';
  begin
    -- A workspace is locked before those of its customers, as where one of these gets a key.
    perform from workspace w where w.id = p_workspace_id for no key update;
    perform from workspace w where w.parent_id = p_workspace_id and w.erase_at is null order by w.id for no key update;
    perform lock_send_rights_of(array(
      select w.id from workspace w where w.id = p_workspace_id or w.parent_id = p_workspace_id and w.erase_at is null));
    for customer in select w.id from workspace w where w.parent_id = p_workspace_id and w.erase_at is null order by w.id loop
      of_customers := of_customers || close_workspace(customer, p_last_requests);
    end loop;
    update workspace w set erase_at = now() + p_last_requests where w.id = p_workspace_id and w.erase_at is null;
    update api_key k set revoked_at = now() where k.workspace_id = p_workspace_id and k.revoked_at is null;
    delete from workspace_invitation i where i.workspace_id = p_workspace_id;
    with gone as (delete from workspace_member m where m.workspace_id = p_workspace_id returning m.person_id)
      select array_agg(g.person_id) into persons from gone g;
    delete from auth_session s where coalesce(s.workspace_id, s.person_id) = p_workspace_id;
    perform close_persons(persons, p_last_requests);
    select array(select d.name from domain d where d.workspace_id = p_workspace_id)
        || array(select a.address from email_address a where a.workspace_id = p_workspace_id) into names;
    delete from verified_domain_name n where n.workspace_id = p_workspace_id;
    delete from email_address_name n where n.workspace_id = p_workspace_id;
    delete from domain d where d.workspace_id = p_workspace_id;
    return names || of_customers;
  end $$;
revoke all on function close_workspace from public;
create function close_account(p_workspace_id text, p_last_requests interval) returns text[]
  language sql volatile security definer set search_path = public, pg_temp as $$
    select case when p_workspace_id = current_setting('postroom.workspace_id', true) then close_workspace(p_workspace_id,
      p_last_requests) else '{}' end $$;
revoke all on function close_account from public;
grant execute on function close_account to postroom_gateway, postroom_actor;

-- The session with that cookie token that has not expired at p_now, and what its person may do in its active workspace: the one that the
-- session switched to, or the person's own, or else the first one that the person joined, of those that the way of the sign-in opens.
-- domains and addresses: see workspace_member. is_pending: the person has a second factor and has not shown it in this session.
-- lacks_second_factor: the workspace requires one.
create function session_of(p_token text, p_now timestamptz)
  returns table (session_id text, person_id text, created_at timestamptz, expires_at timestamptz, workspace_id text, role text,
    is_approver boolean, domains jsonb, addresses text[], confirmed_at timestamptz, provider_id text, is_pending boolean,
    lacks_second_factor boolean)
  language sql stable security definer rows 1 set search_path = public, pg_temp as $$
    select s.id, s.person_id, s.created_at, s.expires_at, m.workspace_id, m.role, m.is_approver,
      case when m.domain_ids is not null then coalesce((
        select jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name) order by d.id) from domain d
        where d.workspace_id = m.workspace_id and d.id = any (m.domain_ids)), '[]') end,
      m.addresses, s.confirmed_at, s.provider_id,
      s.second_factor_at is null and exists (select from auth_totp t where t.person_id = s.person_id and t.confirmed_at is not null),
      s.second_factor_at is null and m.requires_second_factor
    from auth_session s cross join lateral (
      select o.*, w.requires_second_factor
      from workspace_member o join workspace w on w.id = o.workspace_id and w.erase_at is null and w.suspended_at is null
      where o.person_id = s.person_id and (s.workspace_id is null or o.workspace_id = s.workspace_id)
        and opens_workspace(s.provider_id, o.workspace_id, o.role)
      order by o.workspace_id = s.person_id desc, o.joined_at, o.workspace_id limit 1) m
    where s.token = p_token and s.expires_at > p_now $$;
revoke all on function session_of from public;
grant execute on function session_of to postroom_auth;

-- The workspaces of a person, those that the person owns first.
create function workspaces_of_person(p_person_id text)
  returns table (id text, name text, role text, is_approver boolean, members integer, joined_at timestamptz, requires_provider boolean)
  language sql stable security definer set search_path = public, pg_temp as $$
    select w.id, w.name, m.role, m.is_approver,
      (select count(*)::integer from workspace_member o where o.workspace_id = w.id), m.joined_at,
      m.role <> 'owner' and exists (select from sign_in_provider p where p.workspace_id = w.id and p.is_required)
    from workspace_member m join workspace w on w.id = m.workspace_id and w.erase_at is null
    where m.person_id = p_person_id order by m.role = 'owner' desc, w.name, w.id $$;
revoke all on function workspaces_of_person from public;
grant execute on function workspaces_of_person to postroom_auth;

-- Makes a workspace of its person the active one of a session. Outcomes: switched; no member; provider: the session is one of single sign-on,
-- which opens its own workspace only; single sign-on: the workspace requires it. Waits for a removal of the member that is under way.
create function switch_workspace(p_session_id text, p_workspace_id text) returns text
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    held record;
  begin
    select s.provider_id, m.role into held from auth_session s join workspace_member m on m.person_id = s.person_id
      and m.workspace_id = p_workspace_id
      join workspace w on w.id = m.workspace_id and w.erase_at is null
      where s.id = p_session_id for key share of m;
    if not found then return 'no member'; end if;
    if not opens_workspace(held.provider_id, p_workspace_id, held.role) then
      return case when held.provider_id is null then 'single sign-on' else 'provider' end;
    end if;
    with changed as (update auth_session s set workspace_id = p_workspace_id where s.id = p_session_id returning s.person_id)
      update person u set last_workspace_id = p_workspace_id from changed c where u.id = c.person_id;
    return 'switched';
  end $$;
revoke all on function switch_workspace from public;
grant execute on function switch_workspace to postroom_auth;

create function workspace_of(p_workspace_id text) returns table (id text, name text, created_at timestamptz, members integer)
  language sql stable security definer set search_path = public, pg_temp as $$
    select w.id, w.name, w.created_at, (select count(*)::integer from workspace_member m where m.workspace_id = w.id) from workspace w
    where w.id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true) $$;
revoke all on function workspace_of from public;
grant execute on function workspace_of to postroom_gateway, postroom_actor, postroom_domain;

-- A member of the workspace that asks.
create function person_of(p_workspace_id text, p_person_id text)
  returns table (id text, email text, name text, image text, workspace_name text, is_in_team boolean)
  language sql stable security definer rows 1 set search_path = public, pg_temp as $$
    select u.id, u.email, u.name, u.image, w.name,
      exists (select from workspace_member o where o.workspace_id = m.workspace_id and o.person_id <> m.person_id) from workspace_member m
    join person u on u.id = m.person_id join workspace w on w.id = m.workspace_id
    where m.workspace_id = p_workspace_id and m.person_id = p_person_id and p_workspace_id = current_setting('postroom.workspace_id', true) $$;
revoke all on function person_of from public;
grant execute on function person_of to postroom_gateway, postroom_actor, postroom_domain;

create function rename_workspace(p_workspace_id text, p_name text) returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return false; end if;
    update workspace w set name = p_name where w.id = p_workspace_id and w.erase_at is null;
    return found;
  end $$;
revoke all on function rename_workspace from public;
grant execute on function rename_workspace to postroom_gateway, postroom_actor;

-- The members of the workspace that asks.
create function members_of(p_workspace_id text)
  returns table (person_id text, email text, name text, image text, role text, is_approver boolean, domain_ids text[], addresses text[],
    joined_at timestamptz, keys integer)
  language sql stable security definer set search_path = public, pg_temp as $$
    select m.person_id, u.email, u.name, u.image, m.role, m.is_approver, m.domain_ids, m.addresses, m.joined_at,
      (select count(*)::integer from api_key k where k.made_by_person_id = m.person_id and k.workspace_id = m.workspace_id and k.revoked_at is null)
    from workspace_member m join person u on u.id = m.person_id
    where m.workspace_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true) $$;
revoke all on function members_of from public;
grant execute on function members_of to postroom_gateway, postroom_actor;

-- What the keys of a person do when the person may create none any more: they end with what they set up, or with p_keeps, who keeps them takes
-- them over: the person p_by, or the key p_by_key, whose rights contain theirs. They never get more rights than the person's role p_role had.
-- The person's grants (oauth.sql) end in any case. Returns as revoke_api_key does.
create function end_keys_of_person(p_workspace_id text, p_person_id text, p_role text, p_keeps boolean, p_by text, p_by_key text)
  returns table (limited text[], disabled jsonb)
  language plpgsql volatile set search_path = public, pg_temp as $$
  begin
    limited := '{}';
    disabled := '[]';
    perform lock_send_rights_of(array[p_workspace_id]);
    if p_keeps then
      update api_key k set made_by_person_id = p_by, most_role = lesser_role(k.most_role, p_role),
          parent_id = case when p_by_key is not null and p_by_key not in (select keys_made_with(p_workspace_id, k.id)) and (k.parent_id is null or not exists (
            select from api_key o where o.id = k.parent_id and o.workspace_id = k.workspace_id and o.made_by_person_id = p_person_id))
            then p_by_key else k.parent_id end
        where k.workspace_id = p_workspace_id and k.made_by_person_id = p_person_id and not k.is_grant
          and (p_by_key is null or k.id = p_by_key or exists (select from api_key b where b.workspace_id = p_workspace_id and b.id = p_by_key
            and is_scope_within(k.scopes, b.scopes) and is_reach_within(k.reach, b.reach)
            and (b.expires_at is null or k.expires_at <= b.expires_at)));
    end if;
    limited := array(select k.id from api_key k
      where k.workspace_id = p_workspace_id and k.made_by_person_id = p_person_id and k.revoked_at is null);
    if limited <> '{}' then
      limited := limited || array(select distinct made from unnest(limited) l, keys_made_with(p_workspace_id, l) made where made <> all (limited));
      update api_key k set revoked_at = now() where k.workspace_id = p_workspace_id and k.id = any (limited) and k.revoked_at is null;
      disabled := limit_what_keys_set(p_workspace_id, limited);
      perform limit_keys_of_customers(p_workspace_id, limited);
    end if;
    return next;
  end $$;
revoke all on function end_keys_of_person from public;

-- Whether the role has the right members. See RIGHTS in core/accounts/rights.ts.
create function role_may_invite(p_role text) returns boolean language sql immutable set search_path = public, pg_temp as $$
    select p_role in ('owner', 'admin') $$;

-- Whether who made an invitation, the person and the key, may make it now.
create function may_still_invite(held workspace_invitation) returns boolean
  language plpgsql stable set search_path = public, pg_temp as $$
  begin
    return (held.invited_by is null or exists (select from workspace_member m
        where m.workspace_id = held.workspace_id and m.person_id = held.invited_by and role_may_invite(m.role)))
      and (held.set_by_key_id is null or exists (select from scopes_of_keys(held.workspace_id, array[held.set_by_key_id]) k
        where is_scope_within(held.needed_scopes, k.scopes_now)));
  end $$;
revoke all on function may_still_invite from public;

-- What the open invitations of a person do when the person may invite no one any more: they are revoked, or with p_keeps, who keeps them takes
-- them over, the person p_by with the key p_by_key (null: a session), if these could have made them.
create function end_invitations_of_person(p_workspace_id text, p_person_id text, p_keeps boolean, p_by text, p_by_key text) returns void
  language plpgsql volatile set search_path = public, pg_temp as $$
  begin
    update workspace_invitation i set invited_by = case when p_keeps then p_by else i.invited_by end,
      set_by_key_id = case when p_keeps then p_by_key else i.set_by_key_id end,
      revoked_at = case when not p_keeps or (p_by_key is not null and not exists (select from scopes_of_keys(p_workspace_id, array[p_by_key]) k
        where is_scope_within(i.needed_scopes, k.scopes_now))) then postroom_now() end
    where i.workspace_id = p_workspace_id and i.invited_by = p_person_id and i.accepted_at is null and i.revoked_at is null;
  end $$;
revoke all on function end_invitations_of_person from public;

-- Members by their IDs, or by their addresses in lower case, as others see them beside what they did.
create function members_named(p_workspace_id text, p_names text[]) returns table (person_id text, email text, name text, image text)
  language sql stable security definer rows 5 set search_path = public, pg_temp as $$
    select u.id, u.email, u.name, u.image from person u
    where (u.id = any (p_names) or u.email = any (p_names)) and p_workspace_id = current_setting('postroom.workspace_id', true)
      and exists (select from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = u.id) $$;
revoke all on function members_named from public;
grant execute on function members_named to postroom_gateway, postroom_actor, postroom_domain;

-- Replaces the picture of a member of the workspace that asks, or removes it: null. Returns whether the person is a member.
create function set_member_picture(p_workspace_id text, p_person_id text, p_media_type text, p_content bytea) returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    version text := left(encode(sha256(p_content), 'hex'), 16);
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true)
        or not exists (select from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_person_id) then
      return false;
    end if;
    perform from person u where u.id = p_person_id for no key update;
    update person u set image = version, updated_at = postroom_now() where u.id = p_person_id and u.image is distinct from version;
    if not found then return true; end if;
    if p_content is null then
      delete from person_picture c where c.person_id = p_person_id;
    else
      insert into person_picture as c (person_id, media_type, content, updated_at) values (p_person_id, p_media_type, p_content, postroom_now())
        on conflict (person_id) do update set media_type = excluded.media_type, content = excluded.content, updated_at = excluded.updated_at;
    end if;
    return true;
  end $$;
revoke all on function set_member_picture from public;
grant execute on function set_member_picture to postroom_gateway, postroom_actor;

create function picture_of_member(p_workspace_id text, p_person_id text) returns table (media_type text, content bytea, version text)
  language sql stable security definer rows 1 set search_path = public, pg_temp as $$
    select c.media_type, c.content, u.image from person_picture c join person u on u.id = c.person_id
    where c.person_id = p_person_id and p_workspace_id = current_setting('postroom.workspace_id', true)
      and exists (select from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = c.person_id) $$;
revoke all on function picture_of_member from public;
grant execute on function picture_of_member to postroom_gateway, postroom_actor, postroom_domain;

-- The name of an API key of the workspace, or else the name or address of a member.
create function requester_name(p_workspace_id text, p_person_id text, p_key_id text) returns text
  language sql stable security definer set search_path = public, pg_temp as $$
    select coalesce((select k.name from api_key k where k.workspace_id = p_workspace_id and k.id = p_key_id),
      (select coalesce(nullif(n.name, ''), n.email) from members_named(p_workspace_id, array[p_person_id]) n))
    where p_workspace_id = current_setting('postroom.workspace_id', true) $$;
revoke all on function requester_name from public;
grant execute on function requester_name to postroom_gateway, postroom_actor;

-- Gives a member a role. Outcomes: changed; no member; owner: the owner's role changes by a transfer only. A role without the right to create
-- keys, or to invite, ends the member's keys or invitations, see end_keys_of_person.
create function change_member(p_workspace_id text, p_person_id text, p_role text, p_is_approver boolean, p_domain_ids text[], p_addresses text[],
    p_may_have_keys boolean, p_keeps_keys boolean, p_by text, p_by_key text)
  returns table (outcome text, limited text[], disabled jsonb, unassigned text[])
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    previous workspace_member;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    -- Before all others: the order of changes of threads.
    if p_domain_ids is not null then perform pg_advisory_xact_lock(hashtextextended('thread ' || p_workspace_id, 0)); end if;
    perform from workspace w where w.id = p_workspace_id and w.erase_at is null for update;
    select * into previous from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_person_id;
    outcome := case when previous is null then 'no member' when previous.role = 'owner' then 'owner' else 'changed' end;
    limited := '{}';
    disabled := '[]';
    unassigned := '{}';
    if outcome = 'changed' then
      update workspace_member m set role = p_role, is_approver = p_is_approver, domain_ids = p_domain_ids, addresses = p_addresses
        where m.workspace_id = p_workspace_id and m.person_id = p_person_id;
      if not p_may_have_keys then
        select e.limited, e.disabled into limited, disabled from end_keys_of_person(p_workspace_id, p_person_id, previous.role,
          p_keeps_keys, p_by, p_by_key) e;
      end if;
      if not role_may_invite(p_role) then
        perform end_invitations_of_person(p_workspace_id, p_person_id, p_keeps_keys, p_by, p_by_key);
      end if;
      if p_domain_ids is not null then unassigned := unassign_threads(p_workspace_id, p_person_id, p_domain_ids, p_addresses); end if;
    end if;
    return next;
  end $$;
revoke all on function change_member from public;
grant execute on function change_member to postroom_gateway, postroom_actor;

-- Removes a member and ends the member's sessions in the workspace. Outcomes: removed; no member; owner: a workspace has always one. A person
-- who is then a member of no workspace is closed.
create function remove_member(p_workspace_id text, p_person_id text, p_keeps_keys boolean, p_by text, p_by_key text, p_last_requests interval)
  returns table (outcome text, limited text[], disabled jsonb, unassigned text[])
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    previous workspace_member;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    -- Before all others: the order of changes of threads.
    perform pg_advisory_xact_lock(hashtextextended('thread ' || p_workspace_id, 0));
    perform from workspace w where w.id = p_workspace_id and w.erase_at is null for update;
    select * into previous from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_person_id;
    outcome := case when previous is null then 'no member' when previous.role = 'owner' then 'owner' else 'removed' end;
    limited := '{}';
    disabled := '[]';
    unassigned := '{}';
    if outcome = 'removed' then
      delete from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_person_id;
      delete from auth_session s where s.person_id = p_person_id and coalesce(s.workspace_id, s.person_id) = p_workspace_id;
      select e.limited, e.disabled into limited, disabled from end_keys_of_person(p_workspace_id, p_person_id, previous.role, p_keeps_keys,
        p_by, p_by_key) e;
      perform end_invitations_of_person(p_workspace_id, p_person_id, p_keeps_keys, p_by, p_by_key);
      unassigned := unassign_threads(p_workspace_id, p_person_id, null, null);
      delete from saved_view v where v.workspace_id = p_workspace_id and v.person_id = p_person_id;
      delete from thread_read r where r.workspace_id = p_workspace_id and r.person_id = p_person_id;
      perform close_persons(array[p_person_id], p_last_requests);
    end if;
    return next;
  end $$;
revoke all on function remove_member from public;
grant execute on function remove_member to postroom_gateway, postroom_actor;

-- Makes a member the owner, and the owner an admin. What only an owner may set up ends, or with p_keeps_keys goes to the new owner: keys of
-- customers' workspaces (settle_customers_of_owner), and the SCIM token. Outcomes: transferred; no member; no owner: p_by is not the owner now.
create function transfer_ownership(p_workspace_id text, p_person_id text, p_by text, p_keeps_keys boolean) returns text
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return null; end if;
    perform from workspace w where w.id = p_workspace_id and w.erase_at is null for update;
    perform from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_by and m.role = 'owner';
    if not found then return 'no owner'; end if;
    perform from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_person_id;
    if not found then return 'no member'; end if;
    update workspace_member m set role = 'admin' where m.workspace_id = p_workspace_id and m.role = 'owner';
    update workspace_member m set role = 'owner', is_approver = true, domain_ids = null, addresses = null
      where m.workspace_id = p_workspace_id and m.person_id = p_person_id;
    if p_by <> p_person_id then
      perform settle_customers_of_owner(p_workspace_id, p_by, p_keeps_keys, p_person_id);
      update scim_token t set created_by = p_person_id where t.workspace_id = p_workspace_id and p_keeps_keys;
      delete from scim_token t where t.workspace_id = p_workspace_id and not p_keeps_keys;
    end if;
    return 'transferred';
  end $$;
revoke all on function transfer_ownership from public;
grant execute on function transfer_ownership to postroom_gateway, postroom_actor;

-- Whether the link of an invitation has ended. One that was mailed ends when Postroom begins to store the mail of the address, because others may
-- then read what is still on its way.
create function is_link_over(held workspace_invitation, p_now timestamptz) returns boolean
  language plpgsql stable set search_path = public, pg_temp as $$
  begin
    return held.expires_at <= p_now or (not held.is_handed and is_hosted_domain(substring(held.email from '[^@]*$')));
  end $$;
revoke all on function is_link_over from public;

-- The invitations of the workspace that asks, without their tokens.
create function invitations_of(p_workspace_id text, p_now timestamptz)
  returns table (id text, email text, role text, is_approver boolean, domain_ids text[], addresses text[], invited_by text, invited_by_name text,
    created_at timestamptz, sent_at timestamptz, expires_at timestamptz, revoked_at timestamptz, accepted_at timestamptz, is_over boolean)
  language sql stable security definer set search_path = public, pg_temp as $$
    select i.id, i.email, i.role, i.is_approver, i.domain_ids, i.addresses, i.invited_by, coalesce(nullif(u.name, ''), u.email), i.created_at,
      i.sent_at, i.expires_at, i.revoked_at, i.accepted_at, is_link_over(i, p_now)
    from workspace_invitation i left join person u on u.id = i.invited_by
    where i.workspace_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true) $$;
revoke all on function invitations_of from public;
grant execute on function invitations_of to postroom_gateway, postroom_actor;

-- Outcomes: made; no workspace: it was closed; member: a member has the address; invited: an invitation of the address is open; too many:
-- p_most are open, or members; more rights: the key that invites (p_key_id; null: a person does) has fewer rights now. An expired invitation of
-- the address is revoked.
create function create_invitation(p_workspace_id text, p_id text, p_email text, p_role text, p_is_approver boolean, p_domain_ids text[],
    p_addresses text[], p_token_sha256 bytea, p_is_handed boolean, p_invited_by text, p_key_id text, p_needed_scopes text[],
    p_expires_at timestamptz, p_now timestamptz, p_most integer)
  returns text language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return null; end if;
    perform from workspace w where w.id = p_workspace_id and w.erase_at is null for update;
    if not found then return 'no workspace'; end if;
    if p_key_id is not null and not exists (select from scopes_of_keys(p_workspace_id, array[p_key_id]) k
        where is_scope_within(p_needed_scopes, k.scopes_now)) then return 'more rights'; end if;
    -- A member who was removed, or may not invite any more, since the request was admitted.
    if p_key_id is null and p_invited_by is not null and not exists (select from workspace_member m
        where m.workspace_id = p_workspace_id and m.person_id = p_invited_by and role_may_invite(m.role)) then return 'more rights'; end if;
    perform from workspace_member m join person u on u.id = m.person_id where m.workspace_id = p_workspace_id and u.email = p_email;
    if found then return 'member'; end if;
    update workspace_invitation i set revoked_at = p_now
      where i.workspace_id = p_workspace_id and i.email = p_email and i.accepted_at is null and i.revoked_at is null and i.expires_at <= p_now;
    perform from workspace_invitation i
      where i.workspace_id = p_workspace_id and i.email = p_email and i.accepted_at is null and i.revoked_at is null;
    if found then return 'invited'; end if;
    if (select count(*) from workspace_member m where m.workspace_id = p_workspace_id) + (select count(*) from workspace_invitation i
        where i.workspace_id = p_workspace_id and i.accepted_at is null and i.revoked_at is null) >= p_most then return 'too many'; end if;
    insert into workspace_invitation (id, workspace_id, email, role, is_approver, domain_ids, addresses, token_sha256, is_handed, invited_by,
      set_by_key_id, needed_scopes, expires_at, created_at, sent_at)
    values (p_id, p_workspace_id, p_email, p_role, p_is_approver, p_domain_ids, p_addresses, p_token_sha256, p_is_handed, p_invited_by, p_key_id,
      p_needed_scopes, p_expires_at, p_now, p_now);
    return 'made';
  end $$;
revoke all on function create_invitation from public;
grant execute on function create_invitation to postroom_gateway, postroom_actor;

-- Gives an open invitation a new link, the previous one stops working. Outcomes: sent; no invitation; accepted; revoked; too soon: the last link
-- was sent within the last minute; more rights: the key that is given the link (p_is_handed) has fewer rights now than it needs. Who is given the
-- link is the inviter from then on.
create function renew_invitation(p_workspace_id text, p_id text, p_token_sha256 bytea, p_is_handed boolean, p_invited_by text, p_key_id text,
    p_needed_scopes text[], p_expires_at timestamptz, p_now timestamptz) returns text
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    held workspace_invitation;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return null; end if;
    select * into held from workspace_invitation i where i.workspace_id = p_workspace_id and i.id = p_id for update;
    if not found then return 'no invitation'; end if;
    if held.accepted_at is not null then return 'accepted'; end if;
    if held.revoked_at is not null then return 'revoked'; end if;
    if held.sent_at > p_now - interval '1 minute' then return 'too soon'; end if;
    if p_is_handed and p_key_id is not null and not exists (select from scopes_of_keys(p_workspace_id, array[p_key_id]) k
        where is_scope_within(p_needed_scopes, k.scopes_now)) then return 'more rights'; end if;
    update workspace_invitation i set token_sha256 = p_token_sha256, expires_at = p_expires_at, sent_at = p_now, is_handed = p_is_handed,
      invited_by = case when p_is_handed then p_invited_by else i.invited_by end,
      set_by_key_id = case when p_is_handed then p_key_id else i.set_by_key_id end,
      needed_scopes = case when p_is_handed then p_needed_scopes else i.needed_scopes end
    where i.id = p_id;
    return 'sent';
  end $$;
revoke all on function renew_invitation from public;
grant execute on function renew_invitation to postroom_gateway, postroom_actor;

-- Outcomes: revoked, also when it was before; no invitation; accepted.
create function revoke_invitation(p_workspace_id text, p_id text, p_now timestamptz) returns text
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    held workspace_invitation;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return null; end if;
    select * into held from workspace_invitation i where i.workspace_id = p_workspace_id and i.id = p_id for update;
    if not found then return 'no invitation'; end if;
    if held.accepted_at is not null then return 'accepted'; end if;
    update workspace_invitation i set revoked_at = coalesce(i.revoked_at, p_now) where i.id = p_id;
    return 'revoked';
  end $$;
revoke all on function revoke_invitation from public;
grant execute on function revoke_invitation to postroom_gateway, postroom_actor;

-- What the page of an invitation shows to the holder of its link. state: open, expired, revoked or accepted.
create function invitation_of_token(p_token_sha256 bytea, p_now timestamptz)
  returns table (email text, workspace_id text, workspace_name text, role text, invited_by_name text, expires_at timestamptz, state text,
    has_account boolean, is_handed boolean)
  language sql stable security definer rows 1 set search_path = public, pg_temp as $$
    select i.email, w.id, w.name, i.role, coalesce(nullif(u.name, ''), u.email), i.expires_at,
      case when i.accepted_at is not null then 'accepted' when i.revoked_at is not null or w.erase_at is not null then 'revoked'
        when is_link_over(i, p_now) then 'expired' else 'open' end,
      exists (select from person a where a.email = i.email and a.erase_at is null), i.is_handed
    from workspace_invitation i join workspace w on w.id = i.workspace_id left join person u on u.id = i.invited_by
    where i.token_sha256 = p_token_sha256 $$;
revoke all on function invitation_of_token from public;
grant execute on function invitation_of_token to postroom_auth;

-- Makes the person of a session a member by an invitation to the person's address, and its workspace the active one of the session. Who has a link
-- that was mailed receives mail at the address, which is proved by that.
-- Outcomes: joined; no invitation; no session; accepted, revoked, expired; other address; member: the person is one already, and the
-- invitation stays open for nobody.
create function accept_invitation(p_token_sha256 bytea, p_session_id text, p_now timestamptz)
  returns table (outcome text, workspace_id text, person_id text)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    held workspace_invitation;
    person person%rowtype;
  begin
    select * into held from workspace_invitation i where i.token_sha256 = p_token_sha256;
    if not found then outcome := 'no invitation'; return next; return; end if;
    -- The order of locks is that of create_invitation and remove_member.
    perform from workspace w where w.id = held.workspace_id and w.erase_at is null for update;
    if not found then outcome := 'revoked'; return next; return; end if;
    select * into held from workspace_invitation i where i.token_sha256 = p_token_sha256 for update;
    if not found then outcome := 'no invitation'; return next; return; end if;
    select u.* into person from auth_session s join person u on u.id = s.person_id and u.erase_at is null where s.id = p_session_id;
    outcome := case when person.id is null then 'no session' when person.email <> held.email then 'other address'
      when held.accepted_at is not null then 'accepted' when held.revoked_at is not null or not may_still_invite(held) then 'revoked'
      when is_link_over(held, p_now) then 'expired' else 'joined' end;
    if outcome = 'joined' then
      insert into workspace_member (workspace_id, person_id, role, is_approver, domain_ids, addresses)
        values (held.workspace_id, person.id, held.role, held.is_approver, held.domain_ids, held.addresses) on conflict do nothing;
      if not found then outcome := 'member'; end if;
      update workspace_invitation i set accepted_at = p_now, accepted_by = person.id where i.id = held.id;
      update auth_session s set workspace_id = held.workspace_id
        where s.id = p_session_id and opens_workspace(s.provider_id, held.workspace_id, held.role);
      update person u set last_workspace_id = held.workspace_id, email_verified = u.email_verified or not held.is_handed where u.id = person.id;
    end if;
    workspace_id := held.workspace_id;
    person_id := person.id;
    return next;
  end $$;
revoke all on function accept_invitation from public;
grant execute on function accept_invitation to postroom_auth;
