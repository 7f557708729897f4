create table event (
  workspace_id text not null,
  seq bigint not null,
  id text not null,
  kind text not null,
  at timestamptz(3) not null,
  email_id text,
  thread_id text,
  delivery_id text,
  endpoint_id text,
  data jsonb not null default '{}',
  primary key (workspace_id, seq)
);
create index event_by_hand on event (workspace_id, email_id, seq) where kind in ('email.read', 'email.unread', 'email.archived',
  'email.unarchived', 'email.rescheduled', 'email.paused', 'email.resumed', 'email.cancelled', 'email.approval_requested',
  'email.approved', 'email.rejected', 'email.reprocessed', 'email.spam', 'email.not_spam');
call pg_temp.protect_rows('event');

create table event_counter (workspace_id text primary key, last_seq bigint not null, first_seq bigint not null default 1);
call pg_temp.protect_rows('event_counter');

-- Appends events (array of {id, kind, emailId?, threadId?, deliveryId?, endpointId?, data?}) and answers the last seq. Call it last.
create function append_events(p_workspace_id text, p_events jsonb) returns bigint language plpgsql as $$
declare
  n bigint := jsonb_array_length(p_events);
  last bigint;
begin
  if n = 0 then return null; end if;
  insert into event_counter as c (workspace_id, last_seq) values (p_workspace_id, n)
    on conflict (workspace_id) do update set last_seq = c.last_seq + n returning last_seq into last;
  insert into event (workspace_id, seq, id, kind, at, email_id, thread_id, delivery_id, endpoint_id, data)
    select p_workspace_id, last - n + e.ordinality, e.value->>'id', e.value->>'kind', (select postroom_now()), e.value->>'emailId',
      e.value->>'threadId',
           e.value->>'deliveryId', e.value->>'endpointId', coalesce(e.value->'data', '{}')
    from jsonb_array_elements(p_events) with ordinality e;
  return last;
end $$;

-- How far the event feeds of these workspaces have grown, for a gateway that watches them: numbers, nothing of what happened.
create function event_positions(p_workspace_ids text[]) returns table (workspace_id text, last_seq bigint)
  language sql stable security definer set search_path = public, pg_temp as $$
    select c.workspace_id, c.last_seq from event_counter c where c.workspace_id = any (p_workspace_ids) $$;
revoke all on function event_positions from public;
grant execute on function event_positions to postroom_gateway, postroom_actor;

-- What a key of one domain reads (docs/decisions/0035).
grant select on event to postroom_domain;
create policy event_of_domain on event for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and case when email_id is not null then exists (select from email e where e.workspace_id = event.workspace_id and e.id = event.email_id)
    and (data->>'domainId' is null or is_domain_in_reach(data->>'domainId'))
  when thread_id is not null then is_thread_of_domain(workspace_id, thread_id)
  else is_domain_in_reach(data->>'domainId') end);
grant select on event_counter to postroom_domain;
create policy event_counter_of_domain on event_counter for select to postroom_domain
  using (workspace_id = current_setting('postroom.workspace_id', true) and true);
