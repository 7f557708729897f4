-- SCIM 2.0 (docs/scim.md): what a directory provisions into a workspace. A user of SCIM leads to a member by a verified domain of the workspace.

create table scim_token (
  workspace_id text primary key,
  id text not null unique,
  name text not null,
  secret_sha256 bytea not null unique,
  hint text not null,
  created_at timestamptz(3) not null,
  created_by text not null,
  last_used_at timestamptz(3)
);
call pg_temp.protect_rows('scim_token');
call pg_temp.audit_table('scim_token', 'scim_token', 'id', 'name', 'name hint', 'secret_sha256');

create table scim_user (
  workspace_id text not null,
  id text not null,
  user_name text not null,
  address text,
  is_active boolean not null,
  document jsonb not null,
  person_id text,
  made_person boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create unique index scim_user_name on scim_user (workspace_id, user_name);
create unique index scim_user_address on scim_user (workspace_id, address) where address is not null;
create index scim_user_person on scim_user (person_id) where person_id is not null;
call pg_temp.protect_rows('scim_user');

create table scim_group (
  workspace_id text not null,
  id text not null,
  document jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
call pg_temp.protect_rows('scim_group');

create table scim_group_member (
  workspace_id text not null,
  group_id text not null,
  member_id text not null,
  primary key (workspace_id, group_id, member_id)
);
create index scim_group_member_user on scim_group_member (workspace_id, member_id);
call pg_temp.protect_rows('scim_group_member');

-- The workspace of a token, and the token's ID; none if the workspace is closed or suspended, or who created the token does not own it now. Notes the use about once a minute.
create function scim_token_owner(p_secret_sha256 bytea) returns table (workspace_id text, token_id text)
  language plpgsql volatile security definer rows 1 set search_path = public, pg_temp as $$
  begin
    select t.workspace_id, t.id into workspace_id, token_id from scim_token t
      join workspace w on w.id = t.workspace_id and w.erase_at is null and w.suspended_at is null
      join workspace_member m on m.workspace_id = t.workspace_id and m.person_id = t.created_by and m.role = 'owner'
      where t.secret_sha256 = p_secret_sha256;
    if not found then return; end if;
    update scim_token t set last_used_at = postroom_now()
      where t.id = token_id and (t.last_used_at is null or t.last_used_at < postroom_now() - interval '1 minute');
    return next;
  end $$;
revoke all on function scim_token_owner from public;
grant execute on function scim_token_owner to postroom_gateway;

-- Locks the users and groups of the workspace until the transaction ends, so that changes follow each other. The order of locks is that of
-- remove_member. Returns the roles of groups, see sign_in_provider; no row: the workspace has no single sign-on.
create function begin_scim_change(p_workspace_id text) returns table (group_roles jsonb, default_role text)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    perform pg_advisory_xact_lock(hashtextextended('thread ' || p_workspace_id, 0));
    perform from workspace w where w.id = p_workspace_id for update;
    return query select p.group_roles, p.default_role from sign_in_provider p where p.workspace_id = p_workspace_id;
  end $$;
revoke all on function begin_scim_change from public;
grant execute on function begin_scim_change to postroom_gateway;

-- Makes the person with that address a member, and creates the person if there is none. p_sets_role: a member who is one already gets the
-- role, except the owner. p_keeps_keys: the role may create API keys. Outcomes: member; no workspace; other domain: the workspace has not
-- verified it; closed: the person is being erased; too many members. has_lost_sign_in: the person's sessions ended. limited and disabled: as of revoke_api_key.
create function provision_member(p_workspace_id text, p_email text, p_name text, p_role text, p_sets_role boolean, p_keeps_keys boolean,
    p_new_person_id text, p_most integer)
  returns table (outcome text, person_id text, is_new boolean, has_lost_sign_in boolean, limited text[], disabled jsonb)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    person person%rowtype;
    held workspace_member;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    is_new := false;
    has_lost_sign_in := false;
    limited := '{}';
    disabled := '[]';
    perform from workspace w where w.id = p_workspace_id and w.erase_at is null for update;
    if not found then outcome := 'no workspace'; return next; return; end if;
    perform from verified_domain_name v where v.name = split_part(p_email, '@', 2) and v.workspace_id = p_workspace_id;
    if not found then outcome := 'other domain'; return next; return; end if;
    insert into person (id, email, name, email_verified, last_workspace_id) values (p_new_person_id, p_email, p_name, true, p_workspace_id)
      on conflict do nothing returning * into person;
    is_new := person.id is not null;
    if not is_new then select u.* into person from person u where u.email = p_email for update; end if;
    if person.erase_at is not null then outcome := 'closed'; return next; return; end if;
    select * into held from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = person.id;
    if held is null and (select count(*) from workspace_member m where m.workspace_id = p_workspace_id) >= p_most then
      outcome := 'too many members'; return next; return;
    end if;
    -- As in sign_in_by_provider.
    if held.role is distinct from 'owner' and not person.email_verified then
      perform forget_unproved_sign_in(person.id);
      has_lost_sign_in := true;
    end if;
    if held is null then
      insert into workspace_member (workspace_id, person_id, role) values (p_workspace_id, person.id, p_role);
      update workspace_invitation i set accepted_at = postroom_now(), accepted_by = person.id
        where i.workspace_id = p_workspace_id and i.email = p_email and i.accepted_at is null and i.revoked_at is null;
    elsif p_sets_role and held.role <> 'owner' and held.role <> p_role then
      update workspace_member m set role = p_role,
        domain_ids = case when p_role in ('agent', 'viewer') then m.domain_ids end,
        addresses = case when p_role in ('agent', 'viewer') then m.addresses end
        where m.workspace_id = p_workspace_id and m.person_id = person.id;
      if not p_keeps_keys then
        select e.limited, e.disabled into limited, disabled from end_keys_of_person(p_workspace_id, person.id, held.role, false, null, null) e;
      end if;
      if not role_may_invite(p_role) then perform end_invitations_of_person(p_workspace_id, person.id, false, null, null); end if;
    end if;
    outcome := 'member';
    person_id := person.id;
    return next;
  end $$;
revoke all on function provision_member from public;
grant execute on function provision_member to postroom_gateway;

-- Gives a person whom the directory created another address, if both are in verified domains of the workspace and the person is a member of no
-- other workspace than the own one.
create function rename_provisioned(p_workspace_id text, p_person_id text, p_email text) returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return false; end if;
    update person u set email = p_email, updated_at = postroom_now()
      where u.id = p_person_id and u.erase_at is null
        and exists (select from scim_user s where s.workspace_id = p_workspace_id and s.person_id = u.id and s.made_person)
        and exists (select from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = u.id)
        and not exists (select from workspace_member m where m.person_id = u.id and m.workspace_id not in (p_workspace_id, u.id))
        and not exists (select from person o where o.email = p_email)
        and (select count(*) from verified_domain_name v
          where v.workspace_id = p_workspace_id and v.name in (split_part(u.email, '@', 2), split_part(p_email, '@', 2)))
          = (select count(distinct d) from unnest(array[split_part(u.email, '@', 2), split_part(p_email, '@', 2)]) d);
    return found;
  end $$;
revoke all on function rename_provisioned from public;
grant execute on function rename_provisioned to postroom_gateway;

-- Gives a person whom the directory created another name.
create function name_provisioned(p_workspace_id text, p_person_id text, p_name text) returns void
  language sql volatile security definer set search_path = public, pg_temp as $$
    update person u set name = p_name, updated_at = postroom_now()
      where u.id = p_person_id and u.name <> p_name and p_name <> '' and p_workspace_id = current_setting('postroom.workspace_id', true)
        and exists (select from scim_user s where s.workspace_id = p_workspace_id and s.person_id = u.id and s.made_person)
        and exists (select from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = u.id) $$;
revoke all on function name_provisioned from public;
grant execute on function name_provisioned to postroom_gateway;

-- Revokes the open invitations of an address that the directory withdrew.
create function withdraw_invitations(p_workspace_id text, p_email text) returns void
  language sql volatile security definer set search_path = public, pg_temp as $$
    update workspace_invitation i set revoked_at = postroom_now()
      where i.workspace_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true) and i.email = p_email
        and i.accepted_at is null and i.revoked_at is null $$;
revoke all on function withdraw_invitations from public;
grant execute on function withdraw_invitations to postroom_gateway;
