import {
  boundRefusals,
  type DoorReason,
  type DoorRefusal,
  OPERATOR,
  type RefusalRoom,
  toStoredRefusal,
} from '../../../core/screening/door/refusal.ts';
import type { Database } from '../../connection/database.ts';

/**
 * Stores refusals, or adds to the counts of stored ones. Those of workspaces that are gone are left out. A log may lose its last
 * moments: it does not wait for the disk.
 */
export async function keepRefusals(database: Database, refusals: readonly DoorRefusal[]): Promise<void> {
  if (refusals.length === 0) return;
  const given = refusals.map(toStoredRefusal);
  const { rows } = await database.pool.query<{ known: string[]; rooms: RefusalRoom[] }>({
    name: 'find-refusal-room',
    text: ROOM_SQL,
    values: [given.map(({ workspaceId }) => workspaceId), given.map(({ id }) => id), given.map(({ hourAt }) => hourAt)],
  });
  const { known = [], rooms = [] } = rows[0] ?? {};
  const parsed = rooms.map((room) => ({ ...room, hourAt: new Date(room.hourAt) }));
  const bounded = boundRefusals(given, new Set(known), parsed);
  await database.pool.query({
    name: 'keep-refusals',
    text: KEEP_SQL,
    // Ordered, so that two processes lock rows in the same order.
    values: [JSON.stringify(bounded.toSorted((a, b) => (a.id < b.id ? -1 : 1)))],
  });
}

const ROOM_SQL = `
  with given as (select * from unnest($1::text[], $2::text[], $3::timestamptz[]) as g(workspace_id, id, hour_at)),
    counted as (
      select r.workspace_id, r.hour_at, coalesce(r.network, '') as network, count(*)::int as rows from door_refusal r
      where (r.workspace_id, r.hour_at) in (select workspace_id, hour_at from given) group by 1, 2, 3)
  select array(select r.id from door_refusal r join given g on g.workspace_id = r.workspace_id and g.id = r.id) as known,
    (select coalesce(jsonb_agg(jsonb_build_object('workspaceId', c.workspace_id, 'hourAt', c.hour_at, 'rows', c.rows)), '[]')
      from (select workspace_id, hour_at, jsonb_object_agg(network, rows) as rows from counted group by 1, 2) c) as rooms`;

const KEEP_SQL = `
  insert into door_refusal as r (workspace_id, id, created_at, hour_at, last_at, reason, client_address, network, helo, sender, recipient, reply, times)
  select g."workspaceId", g.id, g.at, g."hourAt", g.at, g.reason, g.address, g.network, g.helo, g.sender, g.recipient, g.reply, g.times
  from json_to_recordset($1::json) as g("workspaceId" text, id text, at timestamptz, "hourAt" timestamptz, reason text, address text,
    network text, helo text, sender text, recipient text, reply text, times integer)
  where g."workspaceId" = '${OPERATOR}' or exists (select from workspace w where w.id = g."workspaceId" and w.erase_at is null)
  on conflict (workspace_id, id) do update set times = r.times + excluded.times, last_at = greatest(r.last_at, excluded.last_at),
    client_address = excluded.client_address, helo = excluded.helo, reply = excluded.reply`;

/** Unknown recipients of a client in the last hour. */
export interface CountedGuesses {
  address: string;
  times: number;
  at: Date;
}

/** Returns how many unknown recipients clients named within the last minutes, those with the most first. */
export async function findRecentGuesses(database: Database, minutes: number, limit: number): Promise<CountedGuesses[]> {
  const reasons: readonly DoorReason[] = ['unknown_recipient', 'unknown_domain'];
  const { rows } = await database.pool.query<CountedGuesses>({
    name: 'find-recent-guesses',
    text: `select client_address as address, sum(times)::int as times, max(last_at) as at from door_refusal
      where last_at > now() - $1 * interval '1 minute' and reason = any ($2::text[])
      group by 1 order by 2 desc, 1 limit $3`,
    values: [minutes, reasons, limit],
  });
  return rows;
}
