import { setTimeout as sleep } from 'node:timers/promises';
import { schemaRoles } from '../../../db/connection/logins.ts';
import { connectClient } from '../../../db/connection/open-pool.ts';

/** Connections that have just closed are still listed for a moment. Milliseconds. */
const GOING = { limit: 3_000, pause: 100 };

/** Throws if the database contains a table, view or function, or if other clients are connected to it. */
export async function assertEmptyDatabase(url: string): Promise<void> {
  const client = await connectClient(url);
  try {
    for (const deadline = Date.now() + GOING.limit; ; await sleep(GOING.pause)) {
      // The backend_type of other users' roles is hidden; workers of the server have no role.
      const { rows: others } = await client.query<{ pid: number; name: string }>(
        `select pid, coalesce(nullif(application_name, ''), 'a client') as name from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and usesysid is not null
           and coalesce(backend_type, 'client backend') = 'client backend' order by pid limit 1`,
      );
      const [other] = others;
      if (other === undefined) break;
      if (Date.now() > deadline)
        throw new Error(`${other.name} (pid ${other.pid}) is connected to the database of DATABASE_URL. Stop it first`);
    }
    const { rows } = await client.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
         and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e') limit 1`,
    );
    const [held] = rows;
    if (held !== undefined)
      throw new Error(`The database of DATABASE_URL is not empty: it contains ${held.name}. Use an empty database`);
  } finally {
    await client.end();
  }
}

/**
 * Drops every table, view, sequence, type and function of the database in one transaction. Extensions stay, because they may have been
 * there before; assertEmptyDatabase does not count them.
 */
export async function emptyDatabase(url: string): Promise<void> {
  const client = await connectClient(url);
  try {
    const { rows } = await client.query<{ statement: string }>(OBJECTS_SQL);
    await client.query('begin');
    for (const { statement } of rows) await client.query(statement);
    await client.query('commit');
  } finally {
    await client.end();
  }
}

/** Tables first, because sequences belong to them. `if exists` covers objects that a cascade has already dropped. */
const OBJECTS_SQL = `
  with held as (
    select 'pg_class'::regclass as class, c.oid, c.relnamespace as namespace, case when c.relkind = 'S' then 2 else 1 end as place,
      case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' when 'S' then 'sequence'
                     else 'table' end as kind
    from pg_class c where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    union all
    select 'pg_proc'::regclass, p.oid, p.pronamespace, 3, 'routine' from pg_proc p
    union all
    select 'pg_type'::regclass, t.oid, t.typnamespace, 4, 'type' from pg_type t left join pg_class c on c.oid = t.typrelid
    where t.typtype in ('d', 'e', 'r') or c.relkind = 'c'
  )
  select format('drop %s if exists %s cascade', h.kind, (pg_identify_object(h.class, h.oid, 0)).identity) as statement
  from held h join pg_namespace n on n.oid = h.namespace
  where n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
    and not exists (select from pg_depend d where d.classid = h.class and d.objid = h.oid and d.deptype = 'e')
  order by h.place, h.oid`;

/** Creates the missing roles that a dump grants rights to; bin/migrate.ts sets their logins. */
export async function makeRoles(url: string): Promise<void> {
  const client = await connectClient(url);
  try {
    for (const role of schemaRoles)
      await client.query(
        `do $$ begin create role ${role} nologin noinherit; exception when duplicate_object or unique_violation then null; end $$`,
      );
  } finally {
    await client.end();
  }
}
