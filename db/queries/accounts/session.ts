import type { Database } from '../../connection/database.ts';

/** Returns the session with that cookie token that has not expired at `now`; null when there is none. Role postroom_auth. */
export async function findSession(
  database: Database,
  token: string,
  now: Date,
): Promise<{ sessionId: string; userId: string; expiresAt: Date } | null> {
  const { rows } = await database.pool.query<{ id: string; user_id: string; expires_at: Date }>({
    name: 'find-session',
    text: 'select id, user_id, expires_at from auth_session where token = $1 and expires_at > $2',
    values: [token, now],
  });
  const row = rows[0];
  return row === undefined ? null : { sessionId: row.id, userId: row.user_id, expiresAt: row.expires_at };
}
