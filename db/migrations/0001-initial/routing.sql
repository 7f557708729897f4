create table guard_rule (
  workspace_id text not null,
  id text not null,
  name text not null,
  description text,
  type text not null check (type in ('explicit', 'ai_prompt')),
  config jsonb not null,
  action text not null check (action in ('allow', 'block', 'route')),
  endpoint_id text,
  priority integer not null default 0,
  is_active boolean not null default true,
  set_by_key_id text,
  granted_scopes text[],
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, id)
);
call pg_temp.protect_rows('guard_rule');

create table guard_rule_stat (
  workspace_id text not null,
  rule_id text not null,
  trigger_count bigint not null default 0,
  last_triggered_at timestamptz(3),
  primary key (workspace_id, rule_id)
);
call pg_temp.protect_rows('guard_rule_stat');

create table route (
  workspace_id text not null,
  email_id text not null,
  created_at timestamptz(3) not null,
  threaded_at timestamptz(3) not null,
  decided_at timestamptz(3),
  outcome text check (outcome in ('endpoint', 'inactive', 'stored', 'blocked', 'review', 'asking')),
  via text check (via in ('address', 'webhook', 'catch-all', 'guard-rule')),
  endpoint_id text,
  rule_id text,
  reason text,
  matches jsonb,
  released_at timestamptz(3),
  verdicts jsonb,
  next_ask_at timestamptz(3),
  asks smallint not null default 0,
  claimed_by text,
  claimed_until timestamptz(3),
  primary key (workspace_id, email_id)
) with (fillfactor = 85);
create index route_undecided on route (created_at) where outcome is null;
create index route_asking on route (next_ask_at) where outcome = 'asking';
create index route_held on route (workspace_id, created_at, email_id) include (outcome)
  where outcome in ('blocked', 'review') and released_at is null;
call pg_temp.protect_rows('route');

-- What a key of one domain reads (docs/decisions/0035).
grant select on route to postroom_domain;
create policy route_of_domain on route for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and exists (select from email e where e.workspace_id = route.workspace_id and e.id = route.email_id));
-- Guard rules decide on all mail of the account.
grant select on guard_rule, guard_rule_stat to postroom_domain;
create policy guard_rule_of_domain on guard_rule for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and false);
create policy guard_rule_stat_of_domain on guard_rule_stat for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and false);
