-- What was refused before it was accepted, see docs/screening.md: one row per workspace, hour, reason, network, sender and recipient, whose
-- ID is made from these. What belongs to no workspace has the owner `-operator`, which is the ID of none.
create table door_refusal (
  user_id text not null,
  id text not null,
  created_at timestamptz(3) not null,
  hour_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  reason text not null,
  client_address text not null,
  network text,
  helo text,
  sender text,
  recipient text,
  reply text not null,
  times integer not null check (times > 0),
  primary key (user_id, id)
);
create index door_refusal_list on door_refusal (user_id, created_at desc, id desc);
create index door_refusal_hour on door_refusal (user_id, hour_at);
create index door_refusal_age on door_refusal (last_at);
call pg_temp.protect_rows('door_refusal');
-- The actors write it.
revoke insert, update, delete on door_refusal from postroom_gateway;

-- First contacts of clients with a workspace, while GREYLIST_SECONDS is set: whether they were repeated (docs/screening.md).
create table greylist (
  user_id text not null,
  id text not null,
  network text not null,
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  passed_at timestamptz(3),
  primary key (user_id, id)
);
create index greylist_network on greylist (user_id, network);
create index greylist_age on greylist (last_at);
call pg_temp.protect_rows('greylist');
revoke insert, update, delete on greylist from postroom_gateway;
