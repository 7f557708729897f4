create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Due-ness is decided by postroom_now(); only test support moves the offset. It is not cheap: where rows come in crowds write
-- (select postroom_now()), which is asked once per statement.
create table clock (id boolean primary key default true check (id), shift interval not null default '0');
insert into clock default values;
grant select on clock to postroom_gateway, postroom_domain;
grant select, insert, update, delete on clock to postroom_actor;

create function postroom_now() returns timestamptz language sql stable parallel safe
  as 'select now() + (select shift from clock)';
