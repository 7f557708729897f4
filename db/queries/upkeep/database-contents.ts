import type { Database } from '../../connection/database.ts';
import { migrationNames } from '../../migrations/names.ts';

/** The contents of the database, for operators who want to know which one it is. */
export interface DatabaseContents {
  accounts: number;
  emails: number;
  /** when the newest email was received or written; null without one */
  newestEmailAt: Date | null;
}

/** Counts exactly, which takes a while with millions of emails. The pool must be of the URL's own role, without a statement timeout. */
export async function readContents(database: Database): Promise<DatabaseContents> {
  const { rows } = await database.pool.query<DatabaseContents>(
    `select (select count(*)::float8 from workspace) as accounts, (select count(*)::float8 from email) as emails,
            (select max(created_at) from email) as "newestEmailAt"`,
  );
  return rows[0] ?? { accounts: 0, emails: 0, newestEmailAt: null };
}

/** Returns the applied migrations in order, and those of them that this version of Postroom does not know: a newer one applied them. */
export async function readMigrations(database: Database): Promise<{ ran: string[]; unknown: string[] }> {
  const { rows: found } = await database.pool.query<{ there: boolean }>(
    `select to_regclass('migration') is not null as there`,
  );
  if (found[0]?.there !== true) return { ran: [], unknown: [] };
  const { rows } = await database.pool.query<{ name: string }>('select name from migration order by name');
  const known = new Set<string>(migrationNames);
  const ran = rows.map(({ name }) => name);
  return { ran, unknown: ran.filter((name) => !known.has(name)) };
}
