import { type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import type { ClaimEnd } from '../../../core/threads/reply-claim.ts';
import type { ThreadEvent } from './thread-events.ts';

/** Who answers a thread, by PostgreSQL's clock. */
export interface ThreadClaim {
  holder: string;
  claimedAt: Date;
  expiresAt: Date;
}

/** A claim as its holder names it. */
export interface HeldClaim {
  threadId: string;
  tokenSha256: Buffer;
}

/** Removes the claim of a thread if it expired; returns its holder, else null. */
export async function removeExpiredClaim(
  client: pg.ClientBase,
  workspaceId: string,
  threadId: string,
): Promise<string | null> {
  const { rows } = await client.query<{ holder: string }>({
    name: 'claim-remove-expired',
    text: `delete from thread_claim where workspace_id = $1 and thread_id = $2 and expires_at <= (select postroom_now()) returning holder`,
    values: [workspaceId, threadId],
  });
  return rows[0]?.holder ?? null;
}

/** Stores a claim of a thread; null when the thread has one. The caller holds lockThreads. */
export async function insertClaim(
  client: pg.ClientBase,
  workspaceId: string,
  { threadId, tokenSha256, holder, seconds }: HeldClaim & { holder: string; seconds: number },
): Promise<ThreadClaim | null> {
  const { rows } = await client.query<ClaimColumns>({
    name: 'claim-insert',
    text: `
      insert into thread_claim (workspace_id, thread_id, token_sha256, holder, claimed_at, expires_at)
      select $1, $2, $3, $4, n.now, n.now + make_interval(secs => $5) from (select postroom_now() as now) n
      on conflict (workspace_id, thread_id) do nothing returning ${COLUMNS}`,
    values: [workspaceId, threadId, tokenSha256, holder, seconds],
  });
  return findClaim(rows[0]);
}

/** Returns the claim of a thread, with the seconds that it holds on; null when there is none. */
export async function readClaim(
  client: pg.ClientBase,
  workspaceId: string,
  threadId: string,
): Promise<(ThreadClaim & { seconds: number }) | null> {
  const { rows } = await client.query<ClaimColumns & { seconds: number }>({
    name: 'claim-read',
    text: `select ${COLUMNS}, extract(epoch from expires_at - (select postroom_now()))::float8 as seconds from thread_claim
      where workspace_id = $1 and thread_id = $2 and expires_at > (select postroom_now())`,
    values: [workspaceId, threadId],
  });
  const [row] = rows;
  const claim = findClaim(row);
  return row === undefined || claim === null ? null : { ...claim, seconds: row.seconds };
}

/** Lets a claim hold for that long from now; null when it is lost. */
export async function extendClaim(
  client: pg.ClientBase,
  workspaceId: string,
  { threadId, tokenSha256 }: HeldClaim,
  seconds: number,
): Promise<ThreadClaim | null> {
  const { rows } = await client.query<ClaimColumns>({
    name: 'claim-extend',
    text: `update thread_claim set expires_at = (select postroom_now()) + make_interval(secs => $4)
      where ${IS_HELD} returning ${COLUMNS}`,
    values: [workspaceId, threadId, tokenSha256, seconds],
  });
  return findClaim(rows[0]);
}

/** Removes a claim; returns its holder, null when it is lost. */
export async function removeClaim(
  client: pg.ClientBase,
  workspaceId: string,
  { threadId, tokenSha256 }: HeldClaim,
): Promise<string | null> {
  const { rows } = await client.query<{ holder: string }>({
    name: 'claim-remove',
    text: `delete from thread_claim where ${IS_HELD} returning holder`,
    values: [workspaceId, threadId, tokenSha256],
  });
  return rows[0]?.holder ?? null;
}

const IS_HELD = `workspace_id = $1 and thread_id = $2 and token_sha256 = $3 and expires_at > (select postroom_now())`;

/** An email that is sent under a claim. */
export interface ClaimedReply {
  tokenSha256: Buffer;
  /** the thread that the request names, or one that was merged since; null: the keys decide */
  threadId: string | null;
  /** keys of the msg-ids that the email refers to (core/threads/threading.ts) */
  keys: readonly string[];
}

/**
 * Returns for each email whether its claim holds the thread that it replies to. Such claims stay locked until the transaction ends, so that no
 * other holder gets the thread before.
 */
export async function lockHeldClaims(
  client: pg.ClientBase,
  workspaceId: string,
  results: readonly ClaimedReply[],
): Promise<boolean[]> {
  const { rows: claims } = await client.query<{ thread_id: string; token_sha256: Buffer }>({
    name: 'claim-lock-held',
    text: `select thread_id, token_sha256 from thread_claim
      where workspace_id = $1 and token_sha256 = any ($2::bytea[]) and expires_at > (select postroom_now()) order by thread_id for share`,
    values: [workspaceId, results.map(({ tokenSha256 }) => tokenSha256)],
  });
  const { rows: threads } = await client.query<{ place: number; thread_id: string }>({
    name: 'claim-answered-threads',
    text: `
      select w.place, case when a.thread_id is null then w.thread_id else a.thread_id end as thread_id
      from jsonb_to_recordset($2::jsonb) as w(place integer, thread_id text)
      left join thread_alias a on a.workspace_id = $1 and a.alias_id = w.thread_id
      union all
      select w.place, m.thread_id from jsonb_to_recordset($3::jsonb) as w(place integer, key text)
      join thread_message_id m on m.workspace_id = $1 and m.message_id = w.key`,
    values: [
      workspaceId,
      JSON.stringify(results.map(({ threadId }, place) => ({ place, thread_id: threadId }))),
      JSON.stringify(results.flatMap(({ keys }, place) => keys.map((key) => ({ place, key })))),
    ],
  });
  const held = new Map(claims.map((claim) => [claim.token_sha256.toString('hex'), claim.thread_id]));
  return results.map(({ tokenSha256 }, place) => {
    const threadId = held.get(tokenSha256.toString('hex'));
    return threads.some((thread) => thread.place === place && thread.thread_id === threadId);
  });
}

/** A claim whose time is over, removed. */
export interface ExpiredClaim {
  workspaceId: string;
  /** that of the thread at the end; the remaining one after a merge */
  threadId: string;
  holder: string;
  end: ClaimEnd;
}

/** Removes up to `limit` claims of all workspaces that expired, and returns them. Locked ones are skipped. */
export async function takeExpiredClaims(client: pg.ClientBase, limit: number): Promise<ExpiredClaim[]> {
  const { rows } = await client.query<ExpiredClaim>({
    name: 'claim-take-expired',
    text: `
      with taken as (
        delete from thread_claim c where c.ctid = any (array(
          select d.ctid from thread_claim d where d.expires_at <= (select postroom_now()) order by d.expires_at limit $1 for update skip locked))
        returning c.workspace_id, c.thread_id, c.holder, c.expires_at
      )
      select t.workspace_id as "workspaceId", coalesce(a.thread_id, t.thread_id) as "threadId", t.holder,
        case when a.thread_id is null then 'expired' else 'merged' end as "end"
      from taken t left join thread_alias a on a.workspace_id = t.workspace_id and a.alias_id = t.thread_id
      order by t.workspace_id, t.expires_at, t.thread_id`,
    values: [limit],
  });
  return rows;
}

/** Returns the event of a claim that ended. */
export function releasedEvent(threadId: string, holder: string, reason: ClaimEnd): Omit<ThreadEvent, 'id'> {
  return { kind: 'thread.released', threadId, data: { holder, reason } };
}

const COLUMNS = 'holder, claimed_at, expires_at';

interface ClaimColumns {
  holder: string;
  claimed_at: Date;
  expires_at: Date;
}

function findClaim(row: ClaimColumns | undefined): ThreadClaim | null {
  return row === undefined ? null : { holder: row.holder, claimedAt: row.claimed_at, expiresAt: row.expires_at };
}

/** Joins the claim of the thread `t` as `k`, for joinedClaimColumns. */
export function joinClaim(user: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`left join thread_claim k on k.workspace_id = ${user} and k.thread_id = t.id and k.expires_at > (select postroom_now())`;
}

export const joinedClaimColumns = sql`k.holder as claim_holder, k.claimed_at as claim_claimed_at, k.expires_at as claim_expires_at`;

/** joinedClaimColumns of a row. */
export interface JoinedClaimColumns {
  claim_holder: string | null;
  claim_claimed_at: Date | null;
  claim_expires_at: Date | null;
}

/** Returns the claim in a row; null when the thread has none. */
export function joinedClaim(row: JoinedClaimColumns): ThreadClaim | null {
  const { claim_holder: holder, claim_claimed_at: claimedAt, claim_expires_at: expiresAt } = row;
  return holder === null || claimedAt === null || expiresAt === null ? null : { holder, claimedAt, expiresAt };
}

/**
 * Condition on the thread `t`: whether it is claimed. The claimed ones are gathered first, since they are few among all threads.
 */
export function claimedCondition(user: RawBuilder<unknown>, isClaimed: boolean | null): RawBuilder<unknown> {
  if (isClaimed === null) return sql``;
  const live = sql`k.workspace_id = ${user} and k.expires_at > (select postroom_now())`;
  return isClaimed
    ? sql`and t.id = any (array(select k.thread_id from thread_claim k where ${live}))`
    : sql`and not exists (select from thread_claim k where ${live} and k.thread_id = t.id)`;
}
