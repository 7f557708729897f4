-- What is stored now and acts later has the rights of the API key that stored it, as they were then, cut by every later change of the key:
-- columns set_by_key_id (null: a person) and granted_scopes (null: all). See docs/decisions/0095.

-- Whether a list of scopes (null: all) has one.
create function has_scope(p_scopes text[], p_scope text) returns boolean
  language sql immutable set search_path = public, pg_temp as $$
    select p_scopes is null or p_scope = any (p_scopes) $$;

-- The present scopes of these keys of the workspace for what acts on all mail of the account: none of a key that was revoked, has expired, or is
-- limited to domains and addresses. `why` is for users.
create function scopes_of_keys(p_workspace_id text, p_key_ids text[]) returns table (id text, name text, scopes_now text[], why text)
  language sql stable set search_path = public, pg_temp as $$
    select k.id, k.name, case when k.revoked_at is not null or k.expires_at <= now() or k.reach is not null then '{}' else k.scopes end,
      case when k.revoked_at is not null then 'was revoked' when k.expires_at <= now() then 'has expired'
        when k.reach is not null then 'was limited to domains or addresses' else 'lost the scope read' end
    from api_key k where k.workspace_id = p_workspace_id and k.id = any (p_key_ids) $$;
revoke all on function scopes_of_keys from public;

-- Cuts what these keys of the workspace set up to their present rights. Endpoints that may no longer read, and guard rules that may no longer
-- manage (or route without reading), are disabled; routes of addresses and domains are passed over while they may not read; open invitations to
-- a role with more rights are revoked. Scheduled mail is for the caller to pause. Answers the endpoints that it disabled.
create function limit_what_keys_set(p_workspace_id text, p_key_ids text[]) returns jsonb
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    disabled text[];
  begin
    disabled := array(
      select e.id from endpoint e join scopes_of_keys(p_workspace_id, p_key_ids) k on k.id = e.set_by_key_id
      where e.workspace_id = p_workspace_id and e.is_active and not has_scope(common_scopes(e.granted_scopes, k.scopes_now), 'read') order by e.id);
    update endpoint e set granted_scopes = common_scopes(e.granted_scopes, k.scopes_now), updated_at = now(),
      is_active = e.is_active and e.id <> all (disabled),
      inactive_reason = case when e.id = any (disabled)
        then 'The API key ' || k.name || ' that set it up ' || k.why || '. Enable the endpoint to take it over.' else e.inactive_reason end
    from scopes_of_keys(p_workspace_id, p_key_ids) k
    where e.workspace_id = p_workspace_id and e.set_by_key_id = k.id and common_scopes(e.granted_scopes, k.scopes_now) is distinct
      from e.granted_scopes;
    update guard_rule g set granted_scopes = common_scopes(g.granted_scopes, k.scopes_now), updated_at = now(),
      is_active = g.is_active and has_scope(common_scopes(g.granted_scopes, k.scopes_now), 'manage')
        and (g.action <> 'route' or has_scope(common_scopes(g.granted_scopes, k.scopes_now), 'read'))
    from scopes_of_keys(p_workspace_id, p_key_ids) k
    where g.workspace_id = p_workspace_id and g.set_by_key_id = k.id and common_scopes(g.granted_scopes, k.scopes_now) is distinct
      from g.granted_scopes;
    update email_address a set route_granted_scopes = common_scopes(a.route_granted_scopes, k.scopes_now)
    from scopes_of_keys(p_workspace_id, p_key_ids) k
    where a.workspace_id = p_workspace_id and a.route_set_by_key_id = k.id
      and common_scopes(a.route_granted_scopes, k.scopes_now) is distinct from a.route_granted_scopes;
    update domain d set route_granted_scopes = common_scopes(d.route_granted_scopes, k.scopes_now)
    from scopes_of_keys(p_workspace_id, p_key_ids) k
    where d.workspace_id = p_workspace_id and d.route_set_by_key_id = k.id
      and common_scopes(d.route_granted_scopes, k.scopes_now) is distinct from d.route_granted_scopes;
    update workspace_invitation i set revoked_at = postroom_now()
    from scopes_of_keys(p_workspace_id, p_key_ids) k
    where i.workspace_id = p_workspace_id and i.set_by_key_id = k.id and i.accepted_at is null and i.revoked_at is null
      and not is_scope_within(i.needed_scopes, k.scopes_now);
    return (select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'reason', e.inactive_reason) order by e.id), '[]')
      from endpoint e where e.workspace_id = p_workspace_id and e.id = any (disabled));
  end $$;
revoke all on function limit_what_keys_set from public;

-- Gives what a key set up to another key, or to a person (p_to is null).
create function hand_over_what_key_set(p_workspace_id text, p_key_id text, p_to text, p_person_id text) returns void
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    scopes text[];
  begin
    if p_to is not null then
      select k.scopes into scopes from api_key k where k.workspace_id = p_workspace_id and k.id = p_to;
    end if;
    update endpoint e set set_by_key_id = p_to, granted_scopes = common_scopes(e.granted_scopes, scopes)
      where e.workspace_id = p_workspace_id and e.set_by_key_id = p_key_id;
    update guard_rule g set set_by_key_id = p_to, granted_scopes = common_scopes(g.granted_scopes, scopes)
      where g.workspace_id = p_workspace_id and g.set_by_key_id = p_key_id;
    update email_address a set route_set_by_key_id = p_to, route_granted_scopes = common_scopes(a.route_granted_scopes, scopes)
      where a.workspace_id = p_workspace_id and a.route_set_by_key_id = p_key_id;
    update domain d set route_set_by_key_id = p_to, route_granted_scopes = common_scopes(d.route_granted_scopes, scopes)
      where d.workspace_id = p_workspace_id and d.route_set_by_key_id = p_key_id;
    update workspace_invitation i set set_by_key_id = p_to, invited_by = case when p_to is null then p_person_id
        else (select k.made_by_person_id from api_key k where k.workspace_id = p_workspace_id and k.id = p_to) end
      where i.workspace_id = p_workspace_id and i.set_by_key_id = p_key_id and i.accepted_at is null and i.revoked_at is null;
    update email e set scheduled_by_key_id = p_to, scheduled_by_person_id = case when p_to is null then p_person_id end
      where e.workspace_id = p_workspace_id and e.scheduled_by_key_id = p_key_id and e.type = 'scheduled';
  end $$;
revoke all on function hand_over_what_key_set from public;

-- The present rights of what is about to be stored with these rights of a request: those of its key, which may have lost some since the
-- request was admitted. The row of the account is locked, so that a change of the key waits, and then cuts what is stored. Null: the key is gone.
create function present_scopes(p_workspace_id text, p_key_id text) returns table (scopes text[])
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    perform from workspace w where w.id = p_workspace_id for key share;
    return query select k.scopes_now from scopes_of_keys(p_workspace_id, array[p_key_id]) k;
  end $$;
revoke all on function present_scopes from public;
grant execute on function present_scopes to postroom_gateway, postroom_actor;

-- Locks the row of the workspace before that of a domain or an address which is deleted: keys that are limited to it change, and what changes keys
-- locks the workspace first. A key that one transaction changes twice refers to the workspace anew.
create function hold_workspace(p_workspace_id text) returns void
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    perform from workspace w where w.id = p_workspace_id for key share;
  end $$;
revoke all on function hold_workspace from public;
grant execute on function hold_workspace to postroom_gateway, postroom_actor;

-- What decides whether someone may send an email does not change while the email is stored (docs/decisions/0238). Transactions that store emails
-- share the lock `send rights` of the workspace before the statement that reads it; those that change it hold the lock alone until they commit.
-- So an email is judged by the new rights, or it is stored before the change looks for scheduled mail to pause. The order of locks is: threads,
-- the row of the workspace, this one, and then all others: what changes keys takes it before their rows, as the end of a domain or an address does
-- that keys lose. The lock of a parent workspace comes before those of its customers, and these come after all their rows.

-- The number of that lock. Customers share 1,024 numbers: a change of the parent can need the locks of all of them, and PostgreSQL has room for some
-- thousands in all. No other workspace shares one with them, or their order would not be certain. plpgsql, because its plan is kept.
create function send_rights_lock(p_workspace_id text) returns bigint
  language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    if exists (select from workspace w where w.id = p_workspace_id and w.parent_id is not null) then
      return hashtextextended('send rights of customers ' || (hashtextextended(p_workspace_id, 0) & 1023), 0);
    end if;
    return hashtextextended('send rights ' || p_workspace_id, 0);
  end $$;
revoke all on function send_rights_lock from public;
grant execute on function send_rights_lock to postroom_gateway, postroom_actor;
-- Takes the locks of several workspaces alone, in the order of all who do.
create function lock_send_rights_of(p_workspace_ids text[]) returns void
  language plpgsql volatile set search_path = public, pg_temp as $$
  begin
    perform pg_advisory_xact_lock(l.number) from (
      select distinct w.parent_id is not null as is_customer, send_rights_lock(w.id) as number from workspace w where w.id = any (p_workspace_ids)
      order by 1, 2) l;
  end $$;
revoke all on function lock_send_rights_of from public;
create function lock_send_rights() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    perform pg_advisory_xact_lock(send_rights_lock(coalesce(new.workspace_id, old.workspace_id)));
    return coalesce(new, old);
  end $$;
-- is_settled: a key that has expired is about to lose its scheduled mail.
create trigger api_key_send_rights before update of scopes, reach, send_policy, revoked_at, expires_at, is_settled on api_key for each row
  when ((old.scopes, old.reach, old.send_policy, old.revoked_at, old.expires_at) is distinct from
    (new.scopes, new.reach, new.send_policy, new.revoked_at, new.expires_at) or new.is_settled and not old.is_settled)
  execute function lock_send_rights();
create trigger workspace_member_send_rights before update of role, is_approver, domain_ids, addresses on workspace_member for each row
  when ((old.role, old.is_approver, old.domain_ids, old.addresses) is distinct from (new.role, new.is_approver, new.domain_ids, new.addresses))
  execute function lock_send_rights();
create trigger workspace_member_send_rights_end before delete on workspace_member for each row execute function lock_send_rights();
create trigger email_address_policy_begins before insert on email_address for each row when (new.send_policy is not null)
  execute function lock_send_rights();
create trigger email_address_policy before update of send_policy on email_address for each row
  when (old.send_policy is distinct from new.send_policy) execute function lock_send_rights();
-- Keys that are limited to it lose it (end_reach_of_keys).
create trigger email_address_send_rights_end before delete on email_address for each row execute function lock_send_rights();
create trigger domain_send_rights_end before delete on domain for each row execute function lock_send_rights();

-- Whether a key (null: a person, p_person_id) may send from that address now, and the send policy of the key; no row: it is gone. The key of a
-- browser token can be one of the parent workspace. See RIGHTS in core/accounts/rights.ts. plpgsql, because its plan is kept.
create function sender_now(p_workspace_id text, p_key_id text, p_person_id text, p_address text) returns table (may_send boolean, send_policy jsonb)
  language plpgsql stable security definer rows 1 set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    if p_key_id is not null then
      return query select k.revoked_at is null and (k.expires_at is null or k.expires_at > postroom_now()) and has_scope(k.scopes, 'send')
          and is_address_reached(k.reach, p_address)
          and (k.workspace_id = p_workspace_id or has_scope(k.scopes, 'workspaces') and keeps_workspaces(k.workspace_id, k.made_by_person_id)),
          k.send_policy
        from api_key k where k.id = p_key_id
          and (k.workspace_id = p_workspace_id or k.workspace_id = (select w.parent_id from workspace w where w.id = p_workspace_id));
    else
      return query select m.role <> 'viewer' and (m.domain_ids is null or p_address = any (m.addresses) or exists (
            select from domain d where d.workspace_id = p_workspace_id and d.id = any (m.domain_ids) and d.name = substring(p_address from '[^@]*$'))),
          null::jsonb
        from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_person_id;
    end if;
  end $$;
revoke all on function sender_now from public;
grant execute on function sender_now to postroom_gateway, postroom_actor;

-- Whether a key (null: a person, p_person_id) may decide about mail that waits for approval now. See RIGHTS in core/accounts/rights.ts.
create function approver_now(p_workspace_id text, p_key_id text, p_person_id text) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
    select p_workspace_id = current_setting('postroom.workspace_id', true) and case when p_key_id is null then exists (
        select from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = p_person_id
          and m.domain_ids is null and (m.role in ('owner', 'admin') or m.is_approver))
      else exists (
        select from api_key k left join workspace_member m on m.workspace_id = k.workspace_id and m.person_id = k.made_by_person_id
        where k.workspace_id = p_workspace_id and k.id = p_key_id and k.revoked_at is null
          and (k.expires_at is null or k.expires_at > postroom_now()) and has_scope(k.scopes, 'approve') and k.reach is null
          and (k.made_by_person_id is null or m.person_id is not null)
          and (coalesce(lesser_role(m.role, k.most_role), 'owner') in ('owner', 'admin') or coalesce(m.is_approver, true) and k.most_role is null)) end $$;
revoke all on function approver_now from public;
grant execute on function approver_now to postroom_gateway, postroom_actor;

-- Cuts what up to p_limit keys set up that have expired, or lost rights with a key of the parent workspace. Answers the keys, and the endpoints
-- that it disabled.
create function settle_expired_keys(p_limit integer) returns table (workspace_id text, key_id text, disabled jsonb)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    due text[];
  begin
    due := array(select o.id from api_key o where (o.expires_at <= now() and not o.is_settled and o.revoked_at is null) or o.is_cut limit p_limit);
    if due = '{}' then return; end if;
    -- The customers in whose workspaces their browser tokens scheduled mail, too: the caller pauses it.
    perform lock_send_rights_of(array(
      select k.workspace_id from api_key k where k.id = any (due)
      union
      select w.id from api_key k join workspace w on w.parent_id = k.workspace_id where k.id = any (due) and exists (
        select from email e where e.workspace_id = w.id and e.type = 'scheduled' and e.scheduled_by_key_id = k.id)));
    return query
      with settled as (
        update api_key k set is_settled = k.is_settled or coalesce(k.expires_at <= now(), false), is_cut = false where k.ctid = any (array(
          select o.ctid from api_key o where o.id = any (due)
            and ((o.expires_at <= now() and not o.is_settled and o.revoked_at is null) or o.is_cut) for update skip locked))
        returning k.workspace_id, k.id
      ) select s.workspace_id, s.id, limit_what_keys_set(s.workspace_id, array[s.id]) from settled s order by s.workspace_id, s.id;
  end $$;
revoke all on function settle_expired_keys from public;
grant execute on function settle_expired_keys to postroom_actor;

-- Whether who set up an endpoint may read the audit log now: the person has the right by role, and the key by its scopes. See RIGHTS in
-- core/accounts/rights.ts.
create function endpoint_reads_audit(p_workspace_id text, p_endpoint_id text) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
    select exists (
      select from endpoint e where e.workspace_id = p_workspace_id and e.id = p_endpoint_id
        and (case when e.set_by_key_id is null then e.set_by_person_id is not null else exists (
          select from scopes_of_keys(p_workspace_id, array[e.set_by_key_id]) k
          where has_scope(common_scopes(e.granted_scopes, k.scopes_now), 'manage')) end)
        and (e.set_by_person_id is null or exists (
          select from workspace_member m where m.workspace_id = p_workspace_id and m.person_id = e.set_by_person_id
            and m.role in ('owner', 'admin')))) $$;
revoke all on function endpoint_reads_audit from public;
grant execute on function endpoint_reads_audit to postroom_actor;

-- The events of the audit log with these numbers, as they are posted to an endpoint that may read them.
create function posted_audit_events(p_workspace_id text, p_endpoint_id text, p_seqs bigint[]) returns table (seq bigint, id text, kind text, at timestamptz)
  language sql stable security definer set search_path = public, pg_temp as $$
    select v.seq, v.id, v.kind, v.at from event v
    where v.workspace_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true) and v.seq = any (p_seqs)
      and v.kind like 'audit.%'
      and endpoint_reads_audit(p_workspace_id, p_endpoint_id) $$;
revoke all on function posted_audit_events from public;
grant execute on function posted_audit_events to postroom_gateway;
