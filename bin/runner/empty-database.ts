import { connectClient } from '../../db/open-pool.ts';

/** The roles that the schema grants to; the migrations make them, and a dump expects them. */
const ROLES = ['postroom_gateway', 'postroom_actor', 'postroom_auth', 'postroom_domain'];

/** Throws when the database holds a table, view or function of its own. */
export async function assertEmptyDatabase(url: string): Promise<void> {
  const client = await connectClient(url);
  try {
    const { rows } = await client.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
         and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e') limit 1`,
    );
    const [held] = rows;
    if (held !== undefined)
      throw new Error(`The database of DATABASE_URL holds ${held.name}: a backup goes into an empty one`);
  } finally {
    await client.end();
  }
}

/** Makes the roles that are lacking, and lets our own role take them. */
export async function makeRoles(url: string): Promise<void> {
  const client = await connectClient(url);
  try {
    for (const role of ROLES) {
      await client.query(
        `do $$ begin create role ${role} nologin; exception when duplicate_object or unique_violation then null; end $$`,
      );
      await client.query(
        `do $$ begin execute format('grant ${role} to %I', current_user); exception when others then null; end $$`,
      );
    }
  } finally {
    await client.end();
  }
}
