import { SYSTEM_WORKSPACE_ID } from '../../../core/accounts/system-account.ts';
import type { Database } from '../../../db/connection/database.ts';

/** Which tables have changed, and their rows as they were. */
export interface ChangedRows {
  /** returns the tables whose rows have changed since the last call, other than those that are written for every request */
  take: () => Promise<string[]>;
  /** puts the rows of these tables back as they were when recording began */
  restore: (tables: readonly string[]) => Promise<void>;
}

/** Columns that a request changes by being one. */
const OF_REQUESTS = ['last_used_at', 'last_used_from', 'last_seen_at', 'updated_at', 'expires_at'];
/** Notes of requests, which are refused ones as well, and messages, which come and go with the rows of their emails. */
const NOTES = ['audit_entry', 'api_request', 'request_window', 'auth_rate_limit', 'raw_message', 'swept_change'];

/**
 * Records which tables change, by triggers: looking at all rows after each of thousands of requests would take minutes. `owner`: a superuser, with
 * a database of its own.
 */
export async function recordChanges(owner: Database): Promise<ChangedRows> {
  const { pool } = owner;
  const { rows: tables } = await pool.query<{ name: string; columns: string }>(
    `select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where a.attgenerated = '') as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition group by 1`,
  );
  await pool.query(`
    create schema before_sweep;
    create unlogged table swept_change (name text not null);
    create function note_swept_change() returns trigger language plpgsql security definer set search_path = public as $$
    begin
      if tg_op = 'UPDATE' and to_jsonb(new) - '{${OF_REQUESTS.join(',')}}'::text[] = to_jsonb(old) - '{${OF_REQUESTS.join(',')}}'::text[] then
        return null;
      end if;
      -- Mail of the service about a request is sent after its response.
      if coalesce(to_jsonb(new), to_jsonb(old))->>'workspace_id' = '${SYSTEM_WORKSPACE_ID}' then return null; end if;
      insert into swept_change values (tg_argv[0]);
      return null;
    end $$;`);
  const swept = tables.filter(({ name }) => !NOTES.includes(name));
  for (const { name, columns } of swept)
    await pool.query(`
      create table before_sweep.${name} as select ${columns} from ${name};
      create trigger note_swept_change after insert or update or delete on ${name}
        for each row execute function note_swept_change('${name}')`);
  const columnsByTable = new Map(swept.map(({ name, columns }) => [name, columns]));
  return {
    async take() {
      const { rows } = await pool.query<{ name: string }>('delete from swept_change returning name');
      return [...new Set(rows.map(({ name }) => name))].toSorted();
    },
    async restore(changed) {
      if (changed.length === 0) return;
      const statements = changed.map(
        (name) =>
          `delete from ${name}; insert into ${name} (${columnsByTable.get(name)}) select ${columnsByTable.get(name)} from before_sweep.${name};`,
      );
      // Neither triggers nor foreign keys: the rows fit together as they did before.
      await pool.query(`begin; set local session_replication_role = replica; ${statements.join(' ')} commit`);
    },
  };
}
