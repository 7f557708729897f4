create table domain (
  workspace_id text not null,
  id text not null,
  name text not null,
  status text not null default 'pending' check (status in ('pending', 'verified', 'failed')),
  is_trusted boolean not null default false,
  verified_at timestamptz(3),
  is_catch_all_enabled boolean not null default false,
  catch_all_endpoint_id text,
  route_set_by_key_id text,
  route_granted_scopes text[],
  receive_dmarc_emails boolean not null default false,
  parent_id text,
  dns_check jsonb,
  checked_at timestamptz(3),
  check_due_at timestamptz(3) not null default now(),
  is_mx_seen boolean not null default false,
  proof_lost_at timestamptz(3),
  mail_from_verified_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, id)
);
create unique index domain_name on domain (workspace_id, name);
create index domain_check_due on domain (check_due_at);
call pg_temp.protect_rows('domain');

create table dkim_key (
  workspace_id text not null,
  domain_id text not null,
  selector text not null,
  private_key_ciphertext text not null,
  public_key text not null,
  created_at timestamptz(3) not null default now(),
  activated_at timestamptz(3) default now(),
  retired_at timestamptz(3),
  primary key (workspace_id, domain_id, selector)
);
call pg_temp.protect_rows('dkim_key');

create table verified_domain_name (name text primary key, workspace_id text not null, domain_id text not null);
call pg_temp.protect_rows('verified_domain_name');

create table email_address (
  workspace_id text not null,
  id text not null,
  domain_id text not null,
  address text not null,
  endpoint_id text,
  webhook_id text,
  route_set_by_key_id text,
  route_granted_scopes text[],
  is_active boolean not null default true,
  send_policy jsonb,
  signature text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, id)
);
create index email_address_domain on email_address (workspace_id, domain_id);
create index email_address_endpoint on email_address (workspace_id, (coalesce(endpoint_id, webhook_id)));
call pg_temp.protect_rows('email_address');

create table email_address_name (address text primary key, workspace_id text not null, address_id text not null);
call pg_temp.protect_rows('email_address_name');

-- Their address is signed and not stored: core/smtp/reply-address.ts.
create table reply_address (
  workspace_id text not null,
  id text not null,
  domain_id text not null,
  domain text not null,
  deliver_to text,
  metadata jsonb,
  thread_id text,
  senders text[] not null default '{}',
  max_messages integer check (max_messages > 0),
  message_count integer not null default 0,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  check (message_count <= max_messages)
) with (fillfactor = 85);
create index reply_address_list on reply_address (workspace_id, created_at desc, id desc);
create index reply_address_domain on reply_address (workspace_id, domain_id, created_at desc, id desc);
create index reply_address_end on reply_address ((coalesce(revoked_at, expires_at)));
call pg_temp.protect_rows('reply_address');

create table dmarc_report (
  workspace_id text not null,
  id text not null,
  email_id text not null,
  domain text not null,
  domain_id text not null,
  organization text not null,
  report_id text not null,
  begins_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  policy jsonb not null,
  records jsonb not null,
  record_count integer not null,
  message_count integer not null,
  aligned_count integer not null,
  is_truncated boolean not null default false,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create unique index dmarc_report_email on dmarc_report (workspace_id, email_id);
create index dmarc_report_domain on dmarc_report (workspace_id, domain_id, ends_at desc, id desc);
call pg_temp.protect_rows('dmarc_report');

-- What is left of a reach; null: nothing.
create function reach_without(p_reach jsonb, p_ended jsonb) returns jsonb language plpgsql immutable set search_path = public, pg_temp as $$
  declare
    rest jsonb;
  begin
    rest := jsonb_build_object(
      'domains', (select coalesce(jsonb_agg(d order by place), '[]') from jsonb_array_elements(p_reach->'domains') with ordinality as u(d, place)
        where not coalesce(p_ended->'domains' @> jsonb_build_array(jsonb_build_object('id', d->>'id')), false)),
      'addresses', (select coalesce(jsonb_agg(a order by place), '[]') from jsonb_array_elements(p_reach->'addresses') with ordinality as u(a, place)
        where not coalesce(p_ended->'addresses' @> jsonb_build_array(a), false)));
    return case when not is_reach_empty(rest) then rest end;
  end $$;
-- A key loses the domains and addresses that are deleted. One that keeps none is revoked, and shows what it was limited to.
create function end_reach_of_keys() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    ended jsonb;
  begin
    if tg_table_name = 'domain' then
      ended := jsonb_build_object('domains', jsonb_build_array(jsonb_build_object('id', old.id)));
    else
      ended := jsonb_build_object('addresses', jsonb_build_array(old.address));
    end if;
    update api_key k set reach = coalesce(reach_without(k.reach, ended), k.reach),
        revoked_at = case when reach_without(k.reach, ended) is null then now() end
      where k.workspace_id = old.workspace_id and k.reach @> ended and k.revoked_at is null;
    return null;
  end $$;
create trigger domain_keys_end after delete on domain for each row execute function end_reach_of_keys();
create trigger email_address_keys_end after delete on email_address for each row execute function end_reach_of_keys();

-- Whether mail for the domain comes here, which everybody may know.
create function is_hosted_domain(p_name text) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
    select exists (select from verified_domain_name v where v.name = p_name) $$;
revoke all on function is_hosted_domain from public;
grant execute on function is_hosted_domain to postroom_gateway, postroom_actor;

-- Names are unique on the whole service; that one is taken is all that a user learns of another's.
-- Whether a claim may be made: there is no verified owner, or one whose proof is missing. Otherwise the owner's proof is looked at
-- soon, unless that was done lately.
create function contest_verified_name(p_name text) returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    now_at timestamptz := postroom_now();
    owner record;
  begin
    select d.workspace_id, d.id, d.proof_lost_at, d.is_trusted or d.parent_id is not null as needs_none into owner
      from verified_domain_name v join domain d on d.workspace_id = v.workspace_id and d.id = v.domain_id where v.name = p_name;
    if not found then return not exists (select from verified_domain_name v where v.name = p_name); end if;
    if owner.needs_none then return false; end if;
    if owner.proof_lost_at is not null then return true; end if;
    update domain d set check_due_at = now_at where d.workspace_id = owner.workspace_id and d.id = owner.id
      and d.check_due_at > now_at and coalesce(d.checked_at, '-infinity') < now_at - interval '10 minutes';
    return false;
  end $$;
revoke all on function contest_verified_name from public;
grant execute on function contest_verified_name to postroom_gateway, postroom_actor;

-- What a key of one domain reads (docs/decisions/0035).
grant select on domain to postroom_domain;
create policy domain_of_domain on domain for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_domain_in_reach(id));
grant select (workspace_id, domain_id, selector, public_key, created_at, activated_at, retired_at) on dkim_key to postroom_domain;
create policy dkim_key_of_domain on dkim_key for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_domain_in_reach(domain_id));
grant select on email_address to postroom_domain;
create policy email_address_of_domain on email_address for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and (is_domain_in_reach(domain_id) or is_in_reach(null, address)));
-- What an address shows of its domain. The rest of the domain is shown to keys that may access all of it.
create view address_domain as
  select d.workspace_id, d.id, d.name, d.status, d.is_trusted, d.is_mx_seen from domain d
  where d.workspace_id = current_setting('postroom.workspace_id', true) and (current_setting('role') <> 'postroom_domain' or is_domain_in_reach(d.id)
    or exists (select from email_address a where a.workspace_id = d.workspace_id and a.domain_id = d.id and is_in_reach(null, a.address)));
grant select on address_domain to postroom_gateway, postroom_actor, postroom_domain;
grant select on reply_address to postroom_domain;
create policy reply_address_of_domain on reply_address for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_domain_in_reach(domain_id));
grant select on dmarc_report to postroom_domain;
create policy dmarc_report_of_domain on dmarc_report for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_domain_in_reach(domain_id));
grant select on email_address_name to postroom_domain;
create policy email_address_name_of_domain on email_address_name for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from email_address a
  where a.workspace_id = email_address_name.workspace_id and a.id = email_address_name.address_id));
