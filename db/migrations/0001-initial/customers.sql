-- Workspaces that a workspace keeps for its customers (docs/decisions/0142). A parent is never itself a customer's workspace. Functions that a
-- key of the parent may call check that the transaction is of the parent, as account_of does.

-- Creates the workspace of a customer, or returns the one that has the customer's ID. Of several requests at once, one creates it. outcome:
-- made, known; no account: the parent was closed; nested: the parent is a customer's workspace; too many: it has p_most workspaces.
create function create_customer(p_workspace_id text, p_id text, p_client_id text, p_name text, p_quotas jsonb, p_most integer)
  returns table (outcome text, id text)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    parent workspace;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return; end if;
    select w.* into parent from workspace w where w.id = p_workspace_id and w.erase_at is null for no key update;
    if not found then return query select 'no account', null::text; return; end if;
    if parent.parent_id is not null then return query select 'nested', null::text; return; end if;
    return query select 'known', w.id from workspace w where w.parent_id = p_workspace_id and w.client_id = p_client_id and w.erase_at is null;
    if found then return; end if;
    if (select count(*) from workspace w where w.parent_id = p_workspace_id) >= p_most then
      return query select 'too many', null::text;
      return;
    end if;
    insert into workspace (id, name, parent_id, client_id, quotas) values (p_id, p_name, p_workspace_id, p_client_id, p_quotas);
    return query select 'made', p_id;
  end $$;
revoke all on function create_customer from public;
grant execute on function create_customer to postroom_gateway, postroom_actor;

create function customers_of(p_workspace_id text)
  returns table (id text, name text, client_id text, quotas jsonb, created_at timestamptz, suspended_at timestamptz, closed_at timestamptz)
  language sql stable security definer set search_path = public, pg_temp as $$
    select w.id, w.name, w.client_id, w.quotas, w.created_at, w.suspended_at, w.erase_at from workspace w
    where w.parent_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true)
      and current_setting('role') <> 'postroom_domain' $$;
revoke all on function customers_of from public;
grant execute on function customers_of to postroom_gateway, postroom_actor, postroom_domain;

-- Changes the workspace of a customer; false when the parent has no such workspace, or it was closed.
create function update_customer(p_workspace_id text, p_id text, p_name text, p_quotas jsonb, p_is_suspended boolean) returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return false; end if;
    update workspace w set name = p_name, quotas = p_quotas,
        suspended_at = case when p_is_suspended then coalesce(w.suspended_at, postroom_now()) end
      where w.id = p_id and w.parent_id = p_workspace_id and w.erase_at is null;
    return found;
  end $$;
revoke all on function update_customer from public;
grant execute on function update_customer to postroom_gateway, postroom_actor;

-- The names at which the workspace of a customer receives mail.
create function names_of_customer(p_workspace_id text, p_id text) returns text[]
  language sql stable security definer set search_path = public, pg_temp as $$
    select array(select d.name from domain d where d.workspace_id = w.id) || array(select a.address from email_address a where a.workspace_id = w.id)
    from workspace w where w.id = p_id and w.parent_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true) $$;
revoke all on function names_of_customer from public;
grant execute on function names_of_customer to postroom_gateway, postroom_actor;

-- Closes the workspace of a customer; null when the parent has no such workspace. Otherwise as close_account.
create function close_customer(p_workspace_id text, p_id text, p_last_requests interval) returns text[]
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return null; end if;
    perform from workspace w where w.id = p_id and w.parent_id = p_workspace_id for no key update;
    if not found then return null; end if;
    return close_workspace(p_id, p_last_requests);
  end $$;
revoke all on function close_customer from public;
grant execute on function close_customer to postroom_gateway, postroom_actor;

-- Whether the person who created a key (null: no member did) may keep workspaces for customers. See RIGHTS in core/accounts/rights.ts.
create function keeps_workspaces(p_workspace_id text, p_person_id text) returns boolean
  language sql stable set search_path = public, pg_temp as $$
    select p_person_id is null or exists (select from workspace_member m
      where m.workspace_id = p_workspace_id and m.person_id = p_person_id and m.role = 'owner') $$;
revoke all on function keeps_workspaces from public;

-- Takes from the keys of customers' workspaces what the keys of the parent that created them, or of which these descend, have lost: scopes and
-- time, and everything if such a key was revoked or may keep no workspaces, by its scopes or because its person is not the owner. What they set up is in other workspaces: settle_expired_keys limits it.
-- So it does with what their browser tokens scheduled there.
create function limit_keys_of_customers(p_workspace_id text, p_makers text[]) returns void
  language plpgsql volatile set search_path = public, pg_temp as $$
  begin
    update api_key k set is_cut = true where k.workspace_id = p_workspace_id and k.id = any (p_makers) and not k.is_cut
      and exists (select from workspace w where w.parent_id = p_workspace_id);
    -- Who stores something with such a key waits (present_scopes). The order is that of create_customer_key.
    perform from workspace w where w.parent_id = p_workspace_id
      and w.id in (select k.workspace_id from api_key k where k.made_by_parent_key_id = any (p_makers) and k.revoked_at is null)
      order by w.id for update;
    -- Those of the keys that the next statement changes.
    perform lock_send_rights_of(array(
      select c.workspace_id from api_key m join api_key c on c.made_by_parent_key_id = m.id and c.revoked_at is null
      where m.workspace_id = p_workspace_id and m.id = any (p_makers) and (m.revoked_at is not null or not has_scope(m.scopes, 'workspaces')
        or not keeps_workspaces(p_workspace_id, m.made_by_person_id) or not is_scope_within(c.scopes, m.scopes)
        or m.expires_at < coalesce(c.expires_at, 'infinity'))));
    update api_key k set is_cut = true, expires_at = least(k.expires_at, l.expires_at),
      scopes = case when l.scopes = '{}' then k.scopes else l.scopes end, revoked_at = case when l.scopes = '{}' then now() end
    from (
      select c.id, m.expires_at,
        common_scopes(c.scopes, case when m.revoked_at is not null or not has_scope(m.scopes, 'workspaces')
          or not keeps_workspaces(p_workspace_id, m.made_by_person_id) then '{}' else m.scopes end) as scopes
      from api_key m join api_key c on c.made_by_parent_key_id = m.id and c.revoked_at is null
      where m.workspace_id = p_workspace_id and m.id = any (p_makers)) l
    where k.id = l.id and (k.scopes is distinct from l.scopes or l.expires_at < coalesce(k.expires_at, 'infinity'));
  end $$;
revoke all on function limit_keys_of_customers from public;

-- What the owner until now did for customers when the ownership goes to p_by: the keys of their workspaces end, or with p_keeps, they are p_by's
-- with the keys of the parent that created them, which have from then on the rights of an admin at most. Those that a grant of OAuth created end
-- in any case, and keys of the parent that created no valid key of a customer stay the previous owner's. Returns the keys of the parent.
create function settle_customers_of_owner(p_workspace_id text, p_person_id text, p_keeps boolean, p_by text) returns text[]
  language plpgsql volatile set search_path = public, pg_temp as $$
  declare
    makers text[];
    kept text[];
  begin
    if p_keeps then
      kept := array(select k.id from api_key k where k.workspace_id = p_workspace_id and k.made_by_person_id = p_person_id and k.revoked_at is null
        and has_scope(k.scopes, 'workspaces') and not k.is_grant
        and exists (select from api_key c join workspace w on w.id = c.workspace_id and w.parent_id = p_workspace_id and w.erase_at is null
          where c.made_by_parent_key_id = k.id and c.revoked_at is null and (c.expires_at is null or c.expires_at > postroom_now())));
      -- The previous owner knows their secrets, and as an admin may do as much. They no longer end with a key that stays the previous owner's.
      update api_key k set made_by_person_id = p_by, most_role = lesser_role(k.most_role, 'admin'),
          parent_id = case when k.parent_id = any (kept) then k.parent_id end
        where k.workspace_id = p_workspace_id and k.id = any (kept);
      update api_key k set made_by_parent_person_id = p_by where k.made_by_parent_person_id = p_person_id and k.revoked_at is null
        and exists (select from workspace w where w.id = k.workspace_id and w.parent_id = p_workspace_id);
    end if;
    makers := array(select k.id from api_key k where k.workspace_id = p_workspace_id and k.made_by_person_id = p_person_id);
    perform limit_keys_of_customers(p_workspace_id, makers);
    perform from workspace w where w.parent_id = p_workspace_id
      and w.id in (select k.workspace_id from api_key k where k.made_by_parent_person_id = p_person_id and k.revoked_at is null)
      order by w.id for update;
    perform lock_send_rights_of(array(
      select k.workspace_id from api_key k join workspace w on w.id = k.workspace_id and w.parent_id = p_workspace_id
      where k.made_by_parent_person_id = p_person_id and k.revoked_at is null));
    update api_key k set revoked_at = now(), is_cut = true from workspace w
      where k.made_by_parent_person_id = p_person_id and k.revoked_at is null and w.id = k.workspace_id and w.parent_id = p_workspace_id;
    return makers;
  end $$;
revoke all on function settle_customers_of_owner from public;

-- Creates a key of a customer's workspace with a key of the parent (null: the person p_person_id of the parent does). outcome: as create_api_key; gone: the
-- parent has no such workspace, or it was closed.
create function create_customer_key(p_workspace_id text, p_customer_id text, p_id text, p_name text, p_secret_sha256 bytea, p_expires_at timestamptz,
    p_most integer, p_scopes text[], p_secret_hint text, p_key_id text, p_person_id text)
  returns text language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    maker api_key;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return null; end if;
    perform from workspace w where w.id = p_workspace_id for no key update;
    perform from workspace w where w.id = p_customer_id and w.parent_id = p_workspace_id and w.erase_at is null for no key update;
    if not found then return 'gone'; end if;
    if p_key_id is not null then
      select * into maker from api_key k where k.workspace_id = p_workspace_id and k.id = p_key_id and k.revoked_at is null;
      if not found or not has_scope(maker.scopes, 'workspaces') or not is_scope_within(p_scopes, maker.scopes)
          or maker.most_role <> 'owner' then
        return 'more rights';
      end if;
      if p_expires_at > maker.expires_at then return 'too long'; end if;
    end if;
    -- A transfer of the ownership waits for the workspace, or was before.
    if not keeps_workspaces(p_workspace_id, case when p_key_id is null then p_person_id else maker.made_by_person_id end) then
      return 'more rights';
    end if;
    if (select count(*) from api_key k where k.workspace_id = p_customer_id and k.revoked_at is null) >= p_most then return 'too many'; end if;
    insert into api_key (id, workspace_id, name, secret_sha256, expires_at, scopes, secret_hint, made_by_parent_key_id, made_by_parent_person_id,
      family_id)
    values (p_id, p_customer_id, p_name, p_secret_sha256, coalesce(p_expires_at, maker.expires_at), p_scopes, p_secret_hint, p_key_id,
      case when p_key_id is null then p_person_id end, coalesce(maker.family_id, maker.id));
    return 'made';
  end $$;
revoke all on function create_customer_key from public;
grant execute on function create_customer_key to postroom_gateway, postroom_actor;

-- What customers' workspaces used on each day since p_since: mail in and out by the counters of lists, which leave out the trash, and logged
-- requests, which are kept for 7 days.
create function usage_of_customers(p_workspace_id text, p_ids text[], p_since timestamptz)
  returns table (id text, day timestamptz, mail_in bigint, mail_out bigint, requests bigint)
  language sql stable security definer set search_path = public, pg_temp as $$
    select w.id, u.day, sum(u.mail_in)::bigint, sum(u.mail_out)::bigint, sum(u.requests)::bigint
    from workspace w cross join lateral (
      select c.begins_at as day, c.count as mail_in, 0 as mail_out, 0 as requests from email_counter c
        where c.workspace_id = w.id and c.own_address = '*' and c.grain = 'day' and c.begins_at >= p_since and c.type = 'received'
      union all
      select c.begins_at, 0, c.count, 0 from email_counter c
        where c.workspace_id = w.id and c.own_address = '*' and c.grain = 'day' and c.begins_at >= p_since and c.type = 'sent'
      union all
      select date_trunc('day', r.created_at, 'UTC'), 0, 0, 1 from api_request r where r.workspace_id = w.id and r.created_at >= p_since) u
    where w.id = any (p_ids) and w.parent_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true)
    group by 1, 2 order by 1, 2 $$;
revoke all on function usage_of_customers from public;
grant execute on function usage_of_customers to postroom_gateway, postroom_actor;

-- What customers' workspaces have. rows_left: of a closed one, rows of its largest tables that are still to be erased; counting stops at 100,000.
create function holdings_of_customers(p_workspace_id text, p_ids text[])
  returns table (id text, domains bigint, addresses bigint, stored_bytes bigint, rows_left bigint)
  language sql stable security definer set search_path = public, pg_temp as $$
    select w.id, (select count(*) from domain d where d.workspace_id = w.id), (select count(*) from email_address a where a.workspace_id = w.id),
      case when w.erase_at is null then coalesce((select sum(octet_length(r.packed)) from email e join raw_message r on r.id = e.raw_id
        where e.workspace_id = w.id), 0) end,
      case when w.erase_at is not null then (select count(*) from (
        (select from email e where e.workspace_id = w.id limit 100000) union all (select from thread t where t.workspace_id = w.id limit 100000)
        union all (select from event v where v.workspace_id = w.id limit 100000) limit 100000) r) end
    from workspace w where w.id = any (p_ids) and w.parent_id = p_workspace_id and p_workspace_id = current_setting('postroom.workspace_id', true) $$;
revoke all on function holdings_of_customers from public;
grant execute on function holdings_of_customers to postroom_gateway, postroom_actor;

-- Mail that a workspace received and sent today (UTC), without the trash.
create function mail_of_today(p_workspace_id text) returns bigint
  language sql stable set search_path = public, pg_temp as $$
    select coalesce(sum(c.count), 0)::bigint from email_counter c where c.workspace_id = p_workspace_id and c.own_address = '*' and c.grain = 'day'
      and c.begins_at = date_trunc('day', postroom_now(), 'UTC') and c.type in ('received', 'sent') $$;

-- The quotas of the transaction's workspace, and what it used of them. Whoever adds a domain or an address locks the row first: of two at once
-- the second waits. Null: it has none.
create function quota_state(p_workspace_id text, p_locks boolean) returns jsonb
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    held jsonb;
  begin
    if p_workspace_id is distinct from current_setting('postroom.workspace_id', true) then return null; end if;
    select w.quotas into held from workspace w where w.id = p_workspace_id;
    if held is null then return null; end if;
    if p_locks then perform from workspace w where w.id = p_workspace_id for no key update; end if;
    return jsonb_build_object('quotas', held,
      'domains', (select count(*) from domain d where d.workspace_id = p_workspace_id),
      'addresses', (select count(*) from email_address a where a.workspace_id = p_workspace_id),
      'mailPerDay', mail_of_today(p_workspace_id),
      'storedBytes', (select w.stored_bytes from workspace w where w.id = p_workspace_id));
  end $$;
revoke all on function quota_state from public;
grant execute on function quota_state to postroom_gateway, postroom_actor;

-- Measures what workspaces with a quota of stored bytes have stored: those whose feed has grown since a minute, and all once an hour, because mail
-- that is erased has no event. Returns how many.
create function measure_stored_bytes(p_limit integer) returns integer
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    measured integer;
  begin
    with due as (
      select w.id, c.last_seq from workspace w left join event_counter c on c.workspace_id = w.id
      where w.quotas->>'storedBytes' is not null and w.erase_at is null and (w.stored_at is null
        or (w.stored_at < postroom_now() - interval '1 minute' and w.stored_seq is distinct from c.last_seq)
        or w.stored_at < postroom_now() - interval '1 hour')
      order by w.stored_at nulls first limit p_limit for update of w skip locked
    )
    update workspace w set stored_at = postroom_now(), stored_seq = d.last_seq, stored_bytes = coalesce((
      select sum(r.size_bytes) from email e join raw_message r on r.id = e.raw_id where e.workspace_id = d.id), 0)
    from due d where w.id = d.id;
    get diagnostics measured = row_count;
    return measured;
  end $$;
revoke all on function measure_stored_bytes from public;
grant execute on function measure_stored_bytes to postroom_actor;

-- Those of the addresses that a workspace has: the transaction's, or one that it keeps for a customer. Null: it is neither, or closed.
create function token_addresses(p_workspace_id text, p_target_id text, p_addresses text[]) returns text[]
  language sql stable security definer set search_path = public, pg_temp as $$
    select array(select a.address from email_address a where a.workspace_id = w.id and a.address = any (p_addresses))
    from workspace w where w.id = p_target_id and (w.id = p_workspace_id or w.parent_id = p_workspace_id) and w.erase_at is null
      and p_workspace_id = current_setting('postroom.workspace_id', true) $$;
revoke all on function token_addresses from public;
grant execute on function token_addresses to postroom_gateway, postroom_actor;

-- What is left of a browser token: the scopes of the key that created it, and those of its addresses that the workspace has. No row when the
-- key is not valid any more, or may keep no workspaces. The gateway does not know the workspace before it has read the signed token.
create function token_parent(p_key_id text, p_parent_id text, p_workspace_id text, p_addresses text[])
  returns table (scopes text[], addresses text[], is_suspended boolean, has_quotas boolean)
  language sql stable security definer set search_path = public, pg_temp as $$
    select k.scopes, array(select a.address from email_address a where a.workspace_id = w.id and a.address = any (p_addresses)),
      w.suspended_at is not null, w.quotas is not null
    from api_key k join workspace w on w.id = p_workspace_id and (w.id = k.workspace_id or w.parent_id = k.workspace_id) and w.erase_at is null
    left join workspace_member m on m.workspace_id = k.workspace_id and m.person_id = k.made_by_person_id
    where k.id = p_key_id and k.workspace_id = p_parent_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > postroom_now())
      and has_scope(k.scopes, 'workspaces') and (k.made_by_person_id is null or m.role = 'owner') $$;
revoke all on function token_parent from public;
grant execute on function token_parent to postroom_gateway, postroom_actor;
