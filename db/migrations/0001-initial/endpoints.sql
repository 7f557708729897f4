create table endpoint (
  workspace_id text not null,
  id text not null,
  name text not null,
  type text not null check (type in ('webhook', 'email', 'email_group')),
  webhook_format text not null default 'native' check (webhook_format in ('native', 'chat_a', 'chat_b')),
  config jsonb not null,
  secret_ciphertext text,
  is_active boolean not null default true,
  inactive_reason text,
  description text,
  events text[] not null default '{email.received}',
  filter jsonb,
  payload_query text,
  ordering text not null default 'none' check (ordering in ('none', 'thread', 'sender')),
  allow_actions boolean not null default false,
  set_by_key_id text,
  set_by_person_id text,
  granted_scopes text[],
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, id)
);
call pg_temp.protect_rows('endpoint');

create table endpoint_stat (
  workspace_id text not null,
  endpoint_id text not null,
  total bigint not null default 0,
  successful bigint not null default 0,
  failed bigint not null default 0,
  last_delivery_at timestamptz(3),
  failing_since timestamptz(3),
  primary key (workspace_id, endpoint_id)
);
call pg_temp.protect_rows('endpoint_stat');

-- Up to which event of the feed an endpoint has its deliveries. Only endpoints that subscribe to more than email.received have a row.
create table endpoint_subscription (
  workspace_id text not null,
  endpoint_id text not null,
  event_seq bigint not null,
  primary key (workspace_id, endpoint_id)
);
call pg_temp.protect_rows('endpoint_subscription');

create table delivery (
  workspace_id text not null,
  id text not null,
  email_id text,
  endpoint_id text not null,
  delivery_type text not null check (delivery_type in ('webhook', 'email', 'email_group')),
  thread_id text,
  thread_position integer,
  event_seq bigint,
  event_kind text,
  order_key text,
  order_position text,
  cause text not null default 'route' check (cause in ('route', 'retry', 'replay', 'release', 'action', 'event')),
  forward_raw_id text,
  is_null_sender boolean,
  status text not null default 'pending' check (status in ('pending', 'success', 'failed')),
  attempts integer not null default 0,
  attempts_allowed integer not null,
  next_attempt_at timestamptz(3),
  last_attempt_at timestamptz(3),
  claimed_by text,
  claimed_until timestamptz(3),
  response_data jsonb,
  last_attempt jsonb,
  actions jsonb,
  created_at timestamptz(3) not null,
  completed_at timestamptz(3),
  primary key (workspace_id, id)
-- A row is claimed in place, and then grows by its last attempt.
) with (fillfactor = 50);
create index delivery_lane_due on delivery (workspace_id, endpoint_id, next_attempt_at) where status = 'pending' and delivery_type = 'webhook';
-- However often a part of the feed is read, each event has one first delivery per endpoint.
create unique index delivery_event on delivery (workspace_id, endpoint_id, event_seq) where cause = 'event';
create index delivery_of_event on delivery (workspace_id, endpoint_id, event_seq) where event_seq is not null;
-- Those that go with their events (retention); the others go with their emails.
create index delivery_without_email on delivery (workspace_id, event_seq) where email_id is null;
-- Of the deliveries with one order_key, at most one has its turn. The others wait without a next_attempt_at.
create unique index delivery_turn on delivery (workspace_id, endpoint_id, order_key)
  where status = 'pending' and order_key is not null and next_attempt_at is not null;
create index delivery_waiting_turn on delivery (workspace_id, endpoint_id, order_key, order_position, id)
  where status = 'pending' and order_key is not null and next_attempt_at is null;
create index delivery_forward_due on delivery (next_attempt_at) where status = 'pending' and delivery_type <> 'webhook';
create index delivery_email on delivery (workspace_id, email_id);
create index delivery_endpoint on delivery (workspace_id, endpoint_id, created_at, id);
create index delivery_failed on delivery (workspace_id, endpoint_id, created_at, id) where status = 'failed';
create index delivery_forward_pending on delivery (workspace_id, endpoint_id, created_at, id)
  where status = 'pending' and delivery_type <> 'webhook';
call pg_temp.protect_rows('delivery');

create table delivery_earlier_attempt (
  workspace_id text not null,
  delivery_id text not null,
  number integer not null,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  outcome text not null check (outcome in ('success', 'failed', 'interrupted')),
  status_code integer,
  error text,
  response_body text,
  request_headers jsonb not null,
  primary key (workspace_id, delivery_id, number)
);
call pg_temp.protect_rows('delivery_earlier_attempt');

create view delivery_attempt with (security_invoker = true) as
  select workspace_id, delivery_id, number, started_at, duration_ms, outcome, status_code, error, response_body, request_headers
  from delivery_earlier_attempt
  union all
  select d.workspace_id, d.id, l.number, l.started_at, l.duration_ms, l.outcome, l.status_code, l.error, l.response_body, l.request_headers
  from delivery d cross join lateral jsonb_to_record(d.last_attempt) as l(number integer, started_at timestamptz(3), duration_ms integer,
    outcome text, status_code integer, error text, response_body text, request_headers jsonb)
  where d.last_attempt is not null;
grant select on delivery_attempt to postroom_gateway, postroom_domain;
grant select, insert, update, delete on delivery_attempt to postroom_actor;

-- What a key of one domain reads (docs/decisions/0035).
-- An endpoint is of the domain if nothing else leads to it: no address of another domain, no other catch-all, no guard rule, and no events.
create function is_endpoint_of_domain(p_workspace_id text, p_endpoint_id text) returns boolean
  language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return p_workspace_id = current_setting('postroom.workspace_id', true)
      and coalesce((
        select bool_and(w.is_in_reach) from (
          select is_domain_in_reach(a.domain_id) or is_in_reach(null, a.address) as is_in_reach from email_address a
          where a.workspace_id = p_workspace_id and p_endpoint_id in (a.endpoint_id, a.webhook_id)
          union all
          select is_domain_in_reach(d.id) from domain d where d.workspace_id = p_workspace_id and d.catch_all_endpoint_id = p_endpoint_id) w), false)
      and not exists (select from guard_rule g where g.workspace_id = p_workspace_id and g.endpoint_id = p_endpoint_id)
      and not exists (select from endpoint_subscription s where s.workspace_id = p_workspace_id and s.endpoint_id = p_endpoint_id);
  end $$;
revoke all on function is_endpoint_of_domain from public;
grant execute on function is_endpoint_of_domain to postroom_domain;
grant select on endpoint to postroom_domain;
create policy endpoint_of_domain on endpoint for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_endpoint_of_domain(workspace_id, id));
grant select on endpoint_stat to postroom_domain;
create policy endpoint_stat_of_domain on endpoint_stat for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_endpoint_of_domain(workspace_id, endpoint_id));
grant select on endpoint_subscription to postroom_domain;
create policy endpoint_subscription_of_domain on endpoint_subscription for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and is_endpoint_of_domain(workspace_id, endpoint_id));
grant select on delivery to postroom_domain;
create policy delivery_of_domain on delivery for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from email e where e.workspace_id = delivery.workspace_id and e.id = delivery.email_id));
grant select on delivery_earlier_attempt to postroom_domain;
create policy delivery_earlier_attempt_of_domain on delivery_earlier_attempt for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from delivery d
  where d.workspace_id = delivery_earlier_attempt.workspace_id and d.id = delivery_earlier_attempt.delivery_id));
