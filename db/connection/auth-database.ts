import type { PostgresPool } from 'kysely';
import type { Database } from './database.ts';
import { kyselyPool } from './kysely-pool.ts';

/**
 * The pool of better-auth, on a database opened as `postroom_auth`. It must return timestamps as Date: a session whose expiry is a string
 * would never end.
 */
export function authPool(database: Database): PostgresPool {
  return kyselyPool(database.pool);
}
