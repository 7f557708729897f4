import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { entities } from '../../db/entities/list.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';

/** What entities cannot make, and columns or indexes need. */
const BESIDE_ENTITIES = `
  create extension pg_trgm; create extension btree_gin;
  create type request_lease as (id text, granted_at timestamptz, requests integer, counts_until timestamptz)`;

let migrated: TestDatabase;
/** Has what MikroORM makes of the entities, and nothing else. */
let described: TestDatabase;

beforeAll(async () => {
  [migrated, described] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const orm = new MikroORM({ entities, clientUrl: described.url, dbName: 'described', ensureDatabase: false });
  const tables = await orm.schema.getCreateSchemaSQL({ wrap: false });
  await orm.close();
  await on(described.url, async (client) => {
    await client.query('drop schema public cascade; create schema public');
    await client.query(BESIDE_ENTITIES);
    await client.query(tables);
  });
});
afterAll(() => Promise.all([migrated.drop(), described.drop()]));

async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Returns one line for each column, index and constraint of every table and view, in PostgreSQL's own words. */
async function readSchema(url: string): Promise<string[]> {
  const { rows } = await on(url, (client) => client.query<{ line: string }>(SCHEMA));
  return rows.map(({ line }) => line);
}

const SCHEMA = `
  with relation as (
    select oid, relname, relkind from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'v') and relname <> 'migration'
  )
  select concat_ws(' ', case r.relkind when 'v' then 'view' else 'table' end, r.relname || '.' || a.attname,
    format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' else 'null' end,
    case a.attgenerated when 's' then 'generated' when '' then 'default' end, coalesce(pg_get_expr(d.adbin, d.adrelid), 'none')) as line
  from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
  union all
  select 'index ' || pg_get_indexdef(i.indexrelid) from relation r join pg_index i on i.indrelid = r.oid
  union all
  select concat_ws(' ', 'constraint', r.relname, c.conname, pg_get_constraintdef(c.oid))
  from relation r join pg_constraint c on c.conrelid = r.oid where c.contype in ('c', 'f', 'p')
  order by line`;

test('entities describe every column, index and constraint that the migrations make', async () => {
  const lines = await readSchema(migrated.url);
  expect(lines.length).toBeGreaterThan(500);
  expect(await readSchema(described.url)).toEqual(lines);
});

test.each([
  ['a column', 'alter table email add column color text', 'table email.color text null default none'],
  ['a type', 'alter table event alter column seq type integer', 'table event.seq integer not null default none'],
  ['null', 'alter table email alter column subject drop not null', 'table email.subject text null default none'],
  [
    'a default',
    'alter table email alter column is_test set default true',
    'table email.is_test boolean not null default true',
  ],
  [
    'an index',
    'create index email_subject on email (subject)',
    'index CREATE INDEX email_subject ON public.email USING btree (subject)',
  ],
  [
    'a check',
    `alter table email add constraint email_subject check (subject <> '')`,
    `constraint email email_subject CHECK ((subject <> ''::text))`,
  ],
])('differences between schemas are found: %s', async (_, statement, line) => {
  const client = new pg.Client({ connectionString: migrated.url });
  await client.connect();
  try {
    await client.query(`begin; drop view delivery_attempt; ${statement}`);
    const { rows } = await client.query<{ line: string }>(SCHEMA);
    const known = new Set(await readSchema(described.url));
    expect(rows.map((row) => row.line).filter((shown) => !known.has(shown))).toEqual([line]);
  } finally {
    await client.end();
  }
});
