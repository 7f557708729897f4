import type { Database } from '../../connection/database.ts';

export interface TryLimit {
  /** tries within the window */
  most: number;
  windowSeconds: number;
}

/**
 * Counts a try for every key, or for none when one of them has reached its limit. Returns the seconds after which to try again; 0 when it
 * was counted. The counts survive restarts and are shared by all gateways of the database. Concurrent tries cannot exceed the limit. Role
 * postroom_auth.
 */
export async function takeAuthTry(database: Database, keys: readonly string[], limit: TryLimit): Promise<number> {
  const { rows } = await database.pool.query<{ wait: number }>({
    name: 'take-auth-try',
    text: `select take_auth_try($1, $2, make_interval(secs => $3)) as wait`,
    values: [keys, limit.most, limit.windowSeconds],
  });
  return rows[0]?.wait ?? limit.windowSeconds;
}

/** After a success: deletes all tries of `cleared`, and the last one of `givenBack`. */
export async function forgiveAuthTries(
  database: Database,
  cleared: readonly string[],
  givenBack: readonly string[],
): Promise<void> {
  await database.pool.query('select forgive_auth_tries($1, $2)', [cleared, givenBack]);
}
