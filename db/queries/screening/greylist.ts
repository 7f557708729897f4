import type { Database } from '../../connection/database.ts';

/** A first contact: what is greylisted. */
export interface GreylistQuestion {
  workspaceId: string;
  /** of the client and its sender and recipient: makeTriplet in core/screening/door/greylist.ts */
  id: string;
  /** that of the network alone, for networks with many first contacts */
  networkId: string;
  /** IPv4 /24 or IPv6 /64, or a pool of servers */
  network: string;
  waitSeconds: number;
}

export interface GreylistState {
  isPassed: boolean;
  /** until a further attempt passes */
  secondsLeft: number;
  /** whether it waits together with other first contacts of its network, which has many */
  isShared: boolean;
}

/** First contacts of one network with one workspace that wait at once; the others of the network wait together. */
const MAX_WAITING = 100;

/** Notes an attempt and returns whether it passes. */
export async function noteGreylist(database: Database, question: GreylistQuestion): Promise<GreylistState> {
  const { workspaceId, id, networkId, network, waitSeconds } = question;
  const { rows } = await database.pool.query<GreylistState>({
    name: 'note-greylist',
    text: GREYLIST_SQL,
    values: [workspaceId, id, networkId, network, waitSeconds],
  });
  return rows[0] ?? { isPassed: true, secondsLeft: 0, isShared: false };
}

// The columns have milliseconds, so first_at may be rounded up. A network that has passed once is known for 35 days. A first contact that is not repeated within a day begins again.
const GREYLIST_SQL = `
  with known as (
      select from greylist g where g.workspace_id = $1 and g.network = $4 and g.passed_at is not null
        and g.last_at > postroom_now() - interval '35 days' limit 1),
    seen as (update greylist g set last_at = postroom_now()
      where g.ctid = (select o.ctid from greylist o where o.workspace_id = $1 and o.network = $4 and o.passed_at is not null
        and o.last_at < postroom_now() - interval '1 day' and o.last_at > postroom_now() - interval '35 days' limit 1)),
    chosen as (
      select case when exists (select from greylist g where g.workspace_id = $1 and g.id = $2)
        or (select count(*) from greylist g where g.workspace_id = $1 and g.network = $4 and g.passed_at is null) < ${MAX_WAITING}
        then $2 else $3 end as id where not exists (select from known)),
    noted as (
      insert into greylist as g (workspace_id, id, network, first_at, last_at)
      select $1, c.id, $4, postroom_now(), postroom_now() from chosen c
      on conflict (workspace_id, id) do update set last_at = excluded.last_at,
        first_at = case when g.passed_at is null and g.first_at < excluded.last_at - interval '1 day' then excluded.last_at else g.first_at end,
        passed_at = case when g.passed_at is null and g.first_at >= excluded.last_at - interval '1 day'
          and g.first_at <= excluded.last_at - $5 * interval '1 second' then excluded.last_at else g.passed_at end
      returning g.first_at, g.passed_at, g.id)
  select exists (select from known) or n.passed_at is not null as "isPassed",
    greatest(1, ceil(coalesce(extract(epoch from n.first_at - postroom_now()), 0) + $5 - 0.01))::int as "secondsLeft",
    coalesce(n.id = $3 and $2 <> $3, false) as "isShared"
  from (select 1) one left join noted n on true`;
