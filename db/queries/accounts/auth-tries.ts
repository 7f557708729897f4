import type { Database } from '../../connection/database.ts';

export interface TryLimit {
  /** tries within the window */
  most: number;
  windowSeconds: number;
}

/**
 * Counts a try for every key, or for none when one of them has had its most. Answers in how many seconds to try again; 0: counted. Lasts
 * over restarts and is shared by all gateways of the database; of tries at once no more get through than of tries one by one. Role postroom_auth.
 */
export async function takeAuthTry(database: Database, keys: readonly string[], limit: TryLimit): Promise<number> {
  const { rows } = await database.pool.query<{ wait: number }>({
    name: 'take-auth-try',
    text: `select take_auth_try($1, $2, make_interval(secs => $3)) as wait`,
    values: [keys, limit.most, limit.windowSeconds],
  });
  return rows[0]?.wait ?? limit.windowSeconds;
}

/** After a success: forgets all tries of `cleared`, and the last one of `givenBack`. */
export async function forgiveAuthTries(
  database: Database,
  cleared: readonly string[],
  givenBack: readonly string[],
): Promise<void> {
  await database.pool.query('select forgive_auth_tries($1, $2)', [cleared, givenBack]);
}
