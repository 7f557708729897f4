-- Single sign-on and second factors. Called by postroom_auth with a person or a session that was checked before; see docs/sign-in.md.

-- The single sign-on of the workspace that owns a domain; none if the domain is not verified.
create function provider_of_domain(p_domain text) returns table (workspace_id text, workspace_name text)
  language sql stable security definer rows 1 set search_path = public, pg_temp as $$
    select p.workspace_id, w.name from verified_domain_name v join sign_in_provider p on p.workspace_id = v.workspace_id
    join workspace w on w.id = p.workspace_id and w.erase_at is null and w.suspended_at is null where v.name = p_domain $$;
revoke all on function provider_of_domain from public;
grant execute on function provider_of_domain to postroom_auth;

-- Ends the keys and programs of a member whose role was p_role, with what they set up, in the workspace of the transaction.
create function end_member_keys(p_workspace_id text, p_person_id text, p_role text) returns void
  language plpgsql volatile set search_path = public, pg_temp as $$
  declare
    ended text[];
    disabled jsonb;
  begin
    select e.limited, e.disabled into ended, disabled from end_keys_of_person(p_workspace_id, p_person_id, p_role, false, null, null) e;
    perform append_events(p_workspace_id, (
      select coalesce(jsonb_agg(jsonb_build_object('id', 'evt_' || substr(make_audit_id(), 5), 'kind', 'endpoint.disabled',
        'endpointId', d->'id', 'data', jsonb_build_object('reason', d->'reason'))), '[]') from jsonb_array_elements(disabled) d));
    -- The actor pauses what they scheduled (settle_expired_keys).
    update api_key k set is_cut = true where k.workspace_id = p_workspace_id and k.id = any (ended);
  end $$;
revoke all on function end_member_keys from public;

-- Ends what a person whose address was not proved made in workspaces that others own: keys, programs and invitations. It would outlive the sign-in.
create function end_unproved_access(p_person_id text) returns void
  language plpgsql volatile set search_path = public, pg_temp as $$
  declare
    before text := coalesce(current_setting('postroom.workspace_id', true), '');
    held workspace_member;
  begin
    for held in select m.* from workspace_member m where m.person_id = p_person_id and m.role <> 'owner' order by m.workspace_id loop
      perform from workspace w where w.id = held.workspace_id for update;
      perform set_config('postroom.workspace_id', held.workspace_id, true);
      perform end_member_keys(held.workspace_id, p_person_id, held.role);
      perform end_invitations_of_person(held.workspace_id, p_person_id, false, null, null);
    end loop;
    perform set_config('postroom.workspace_id', before, true);
  end $$;
revoke all on function end_unproved_access from public;

-- Ends the ways to sign in of a person whose address was not proved, and counts the address as proved.
create function forget_unproved_sign_in(p_person_id text) returns void
  language sql volatile set search_path = public, pg_temp as $$
    delete from auth_session s where s.person_id = p_person_id;
    delete from auth_credential c where c.person_id = p_person_id and c.provider_id = 'credential';
    delete from auth_passkey p where p.person_id = p_person_id;
    delete from auth_totp t where t.person_id = p_person_id;
    delete from auth_recovery_code r where r.person_id = p_person_id;
    delete from auth_verification v where v.value = p_person_id and length(v.value) < 64;
    delete from person_picture c where c.person_id = p_person_id;
    update person u set email_verified = true, image = null where u.id = p_person_id;
    select end_unproved_access(p_person_id) $$;
revoke all on function forget_unproved_sign_in from public;

-- Completes a password reset by a mailed link: ends the sessions that began meanwhile, and counts the address as proved. If it was not proved
-- before, someone else may have signed up with it: the passkeys that were added until now end, and what was made in workspaces of others.
create function settle_password_reset(p_person_id text) returns void
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    delete from auth_session s where s.person_id = p_person_id;
    -- From here on, passkeys are seen that were kept until the sessions ended (keepPasskey).
    update person u set email_verified = true where u.id = p_person_id and not u.email_verified;
    if not found then return; end if;
    delete from auth_passkey p where p.person_id = p_person_id;
    perform end_unproved_access(p_person_id);
  end $$;
revoke all on function settle_password_reset from public;
grant execute on function settle_password_reset to postroom_auth;

-- Finds or makes the person whom the single sign-on of a workspace names, and makes the person a member of it. p_account_id is issuer and
-- subject, by which the person is known from the second time on. Before that the address counts, if its domain is one of the workspace, so that
-- a provider speaks for its own addresses only. p_role is what the groups of the person give; null: nothing. p_is_mapped: they gave it, so it
-- replaces the role that the member has. p_keeps_keys: the role may create API keys. Outcomes: signed in; no workspace; other domain; no role;
-- closed: the person is being erased; other subject: the person is known by another subject; too many members.
-- p_is_of_service: it is the single sign-on of the service, whose operator chose the domains and the workspace.
create function sign_in_by_provider(p_workspace_id text, p_account_id text, p_email text, p_name text, p_role text, p_is_mapped boolean,
    p_keeps_keys boolean, p_person_id text, p_credential_id text, p_most integer, p_is_of_service boolean default false)
  returns table (outcome text, person_id text, is_new boolean)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    provider text := 'provider:' || case when p_is_of_service then 'service' else p_workspace_id end;
    person person%rowtype;
    held workspace_member;
  begin
    is_new := false;
    perform from workspace w where w.id = p_workspace_id and w.erase_at is null and w.suspended_at is null for update;
    if not found then outcome := 'no workspace'; return next; return; end if;
    perform from verified_domain_name v where v.name = split_part(p_email, '@', 2) and v.workspace_id = p_workspace_id;
    if not found and not p_is_of_service then outcome := 'other domain'; return next; return; end if;
    select u.* into person from auth_credential c join person u on u.id = c.person_id
      where c.provider_id = provider and c.account_id = p_account_id;
    if person.id is null then
      select u.* into person from person u where u.email = p_email;
      perform from auth_credential c where c.person_id = person.id and c.provider_id = provider;
      if found then outcome := 'other subject'; return next; return; end if;
    end if;
    if person.erase_at is not null then outcome := 'closed'; return next; return; end if;
    select * into held from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = person.id;
    if p_role is null and held.role is distinct from 'owner' then outcome := 'no role'; return next; return; end if;
    -- The directory of the workspace deactivated the person (scim.sql).
    perform from scim_user s where s.workspace_id = p_workspace_id and s.address in (p_email, person.email) and not s.is_active;
    if found and held.role is distinct from 'owner' then outcome := 'no role'; return next; return; end if;
    if held is null and (select count(*) from workspace_member m where m.workspace_id = p_workspace_id) >= p_most then
      outcome := 'too many members'; return next; return;
    end if;
    if person.id is null then
      insert into person (id, email, name, email_verified, last_workspace_id)
        values (p_person_id, p_email, p_name, true, p_workspace_id) on conflict do nothing returning * into person;
      -- Another sign-in made the person at the same time.
      if person.id is null then outcome := 'other subject'; return next; return; end if;
      is_new := true;
    end if;
    -- Someone else may have signed up with the address, without proof of receiving mail there, or by the link of an invitation that was handed over.
    -- That sign-in must not reach the workspace, nor share the person with the provider. The owner set the provider up.
    if (held.role is distinct from 'owner' or p_is_of_service) and not person.email_verified then perform forget_unproved_sign_in(person.id); end if;
    insert into auth_credential (id, person_id, provider_id, account_id) values (p_credential_id, person.id, provider, p_account_id)
      on conflict on constraint auth_credential_person_id_provider_id_key do nothing;
    if held is null then
      insert into workspace_member (workspace_id, person_id, role) values (p_workspace_id, person.id, p_role) on conflict do nothing;
      update workspace_invitation i set accepted_at = postroom_now(), accepted_by = person.id
        where i.workspace_id = p_workspace_id and i.email = person.email and i.accepted_at is null and i.revoked_at is null;
    elsif p_is_mapped and held.role <> 'owner' and held.role <> p_role then
      update workspace_member m set role = p_role,
        domain_ids = case when p_role in ('agent', 'viewer') then m.domain_ids end,
        addresses = case when p_role in ('agent', 'viewer') then m.addresses end
        where m.workspace_id = p_workspace_id and m.person_id = person.id;
      if not p_keeps_keys then
        perform set_config('postroom.workspace_id', p_workspace_id, true);
        perform end_member_keys(p_workspace_id, person.id, held.role);
      end if;
      if not role_may_invite(p_role) then perform end_invitations_of_person(p_workspace_id, person.id, false, null, null); end if;
    end if;
    outcome := 'signed in';
    person_id := person.id;
    return next;
  end $$;
revoke all on function sign_in_by_provider from public;
grant execute on function sign_in_by_provider to postroom_auth;

-- The workspace that the person with that address owns: the one that was made with the account, or else the first; none if there is none. Who
-- signed up with the address without proof of receiving mail there is not the person.
create function workspace_of_owner(p_email text) returns text
  language sql stable security definer set search_path = public, pg_temp as $$
    select m.workspace_id from person u join workspace_member m on m.person_id = u.id and m.role = 'owner'
    join workspace w on w.id = m.workspace_id and w.erase_at is null
    where u.email = p_email and u.email_verified and u.erase_at is null order by m.workspace_id = u.id desc, m.joined_at, m.workspace_id limit 1 $$;
revoke all on function workspace_of_owner from public;
grant execute on function workspace_of_owner to postroom_auth;

-- The same for the single sign-on of the service, whose operator chose the domains: the person gets no membership beside the own workspace.
create function sign_in_by_service_provider(p_account_id text, p_email text, p_name text, p_person_id text, p_credential_id text)
  returns table (outcome text, person_id text, is_new boolean)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    person person%rowtype;
  begin
    is_new := false;
    perform pg_advisory_xact_lock(hashtextextended('sign_in_by_service_provider ' || p_email, 0));
    select u.* into person from auth_credential c join person u on u.id = c.person_id
      where c.provider_id = 'provider:service' and c.account_id = p_account_id;
    if person.id is null then
      select u.* into person from person u where u.email = p_email;
      perform from auth_credential c where c.person_id = person.id and c.provider_id = 'provider:service';
      if found then outcome := 'other subject'; return next; return; end if;
    end if;
    if person.erase_at is not null then outcome := 'closed'; return next; return; end if;
    if person.id is null then
      insert into person (id, email, name, email_verified) values (p_person_id, p_email, p_name, true) returning * into person;
      is_new := true;
    elsif not person.email_verified then
      perform forget_unproved_sign_in(person.id);
    end if;
    insert into auth_credential (id, person_id, provider_id, account_id) values (p_credential_id, person.id, 'provider:service', p_account_id)
      on conflict on constraint auth_credential_person_id_provider_id_key do nothing;
    outcome := 'signed in';
    person_id := person.id;
    return next;
  end $$;
revoke all on function sign_in_by_service_provider from public;
grant execute on function sign_in_by_service_provider to postroom_auth;

-- Whether members of a workspace need a second factor.
create function requires_second_factor(p_workspace_id text) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
    select w.requires_second_factor from workspace w where w.id = p_workspace_id $$;
revoke all on function requires_second_factor from public;
grant execute on function requires_second_factor to postroom_auth;
create function require_second_factor(p_workspace_id text, p_is_required boolean) returns void
  language sql volatile security definer set search_path = public, pg_temp as $$
    update workspace w set requires_second_factor = p_is_required where w.id = p_workspace_id and w.erase_at is null $$;
revoke all on function require_second_factor from public;
grant execute on function require_second_factor to postroom_auth;
