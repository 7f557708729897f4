import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';

/** Without the extension, which is not to be had here: functions of its names check what Citus demands of a table. */
const statements = readFileSync(path.resolve(import.meta.dirname, '../../docs/deploy/citus.sql'), 'utf8').replace(
  'create extension if not exists citus;',
  '',
);

let testDatabase: TestDatabase;
let owner: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  owner = testDatabase.open(null);
  await owner.pool.query(stubs);
});
afterAll(() => testDatabase.drop());

test('citus.sql distributes every table once and uses nothing that Citus refuses', async () => {
  await owner.pool.query(statements);
  const { rows } = await owner.pool.query<{ name: string; placed: number }>(
    `select c.relname as name, (select count(*)::int from placement p where p.name = c.oid) as placed
     from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'placement'`,
  );
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.filter(({ placed }) => placed !== 1)).toEqual([]);
  const { rows: apart } = await owner.pool.query(
    `select p.name::regclass::text as name from placement p join pg_attribute a on a.attrelid = p.name and a.attname = 'workspace_id'
     where p.kind = 'distributed' and p.part <> 'workspace_id'`,
  );
  expect(apart).toEqual([]);
});

test('the docs describe what queries across all users need from Citus', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/deploy/kubernetes.md'), 'utf8');
  expect(page).toContain('for update skip locked');
});

test.each([
  [
    'a unique key without the column',
    'create table bad (workspace_id text not null, id text primary key)',
    'unique key',
  ],
  ['a column that may be null', 'create table bad (workspace_id text, unique (workspace_id))', 'may be null'],
  [
    'a reference to a table on other shards',
    'create table bad (workspace_id text not null, id text not null references raw_message (id), primary key (workspace_id, id))',
    'foreign key',
  ],
  [
    'a trigger, unless that is allowed',
    'create table bad (workspace_id text primary key); create trigger t before insert on bad for each row execute function suppress_redundant_updates_trigger()',
    'trigger',
  ],
])('the check sees %s', async (_, table, words) => {
  const client = await owner.pool.connect();
  try {
    await client.query('begin');
    await client.query(table);
    await client.query('set local citus.enable_unsafe_triggers to off');
    await expect(
      client.query(`select create_distributed_table('bad', 'workspace_id', colocate_with => 'event_counter')`),
    ).rejects.toThrow(words);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

/** What the documentation of Citus says that it refuses (constraints, foreign keys, triggers), as functions of its names. */
const stubs = `
create table placement (name regclass primary key, kind text not null, part text, colocation text);

create function check_table(kind text, target regclass, part text, beside text) returns void language plpgsql as $$
declare it record;
begin
  if kind = 'distributed' then
    for it in select attnotnull from pg_attribute where attrelid = target and attname = part loop
      if not it.attnotnull then raise exception '%: % may be null', target, part; end if;
    end loop;
    if not found then raise exception '%: has no %', target, part; end if;
    for it in
      select i.indexrelid::regclass as index from pg_index i
      where i.indrelid = target and (i.indisunique or i.indisexclusion)
        and not exists (select from pg_attribute a where a.attrelid = target and a.attname = part and a.attnum = any (i.indkey))
    loop raise exception '%: unique key % without %', target, it.index, part; end loop;
    if coalesce(current_setting('citus.enable_unsafe_triggers', true), 'off') <> 'on'
      and exists (select from pg_trigger where tgrelid = target and not tgisinternal)
    then raise exception '%: has a trigger', target; end if;
    if beside is not null and not exists (select from placement p where p.name = beside::regclass)
    then raise exception '%: nothing to lie beside', target; end if;
  end if;
  for it in
    select c.conname, p.kind, p.colocation, p.name as referenced,
      exists (select from pg_attribute a where a.attrelid = target and a.attname = check_table.part and a.attnum = c.conkey[1]) as is_by_part
    from pg_constraint c left join placement p on p.name = c.confrelid
    where c.conrelid = target and c.contype = 'f' and c.confrelid <> target
  loop
    if it.kind = 'reference' then continue; end if;
    if check_table.kind = 'distributed' and it.kind = 'distributed' and it.is_by_part and it.colocation = beside then continue; end if;
    raise exception '%: foreign key % to a table of other shards', target, it.conname;
  end loop;
  insert into placement values (target, kind, part, coalesce(beside, target::text));
end $$;

create function create_distributed_table(target regclass, part text, colocate_with text) returns void language sql as
  $$ select check_table('distributed', target, part, nullif(colocate_with, 'none')) $$;
create function create_reference_table(target regclass) returns void language sql as
  $$ select check_table('reference', target, null, null) $$;
create function citus_add_local_table_to_metadata(target regclass) returns void language sql as
  $$ select check_table('local', target, null, null) $$;
`;
