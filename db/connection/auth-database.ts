import type { PostgresPool } from 'kysely';
import type { Database } from './database.ts';
import { kyselyPool } from './kysely-pool.ts';

/**
 * The pool that better-auth works on, of a database opened as `postroom_auth` for it alone. It must answer instants as Date: a session
 * whose end is a text would never be over.
 */
export function authPool(database: Database): PostgresPool {
  return kyselyPool(database.pool);
}
