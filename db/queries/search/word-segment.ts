import type pg from 'pg';
import { DamagedSegment } from '../../../core/search/segment/bytes.ts';
import type { SegmentParts } from '../../../core/search/segment/merge-segments.ts';
import type { EncodedSegment } from '../../../core/search/segment/segment.ts';
import { LEASE_SECONDS } from '../../claim.ts';
import type { Database } from '../../connection/database.ts';
import { inTransaction } from '../../connection/transaction.ts';

/** A stored segment without its parts. */
export interface SegmentRow {
  id: string;
  emailCount: number;
  sizeBytes: number;
  firstAt: Date;
  lastAt: Date;
}

/** A row of unindexed_email. */
export interface UnindexedRow {
  emailId: string;
  state: 'new' | 'changed' | 'gone';
  changes: number;
  createdAt: Date;
  /** since it was noted, by PostgreSQL's clock */
  ageSeconds: number;
}

/** Numbers of the parts of a segment that are no blocks of words. */
export const IDS_PART = -1;
export const TABLE_PART = -2;

/** An account whose segments will be built or rewritten when it has so many unindexed emails of a state, or when one waits for so long. */
export interface DueLimits {
  newCount: number;
  newSeconds: number;
  changedCount: number;
  goneCount: number;
  /** of both changed and gone ones */
  changedSeconds: number;
}

/** When an account is due. Searches read new and changed emails themselves until then. */
export const DUE_LIMITS: DueLimits = {
  newCount: 200,
  newSeconds: 60,
  // A rewrite reads and writes whole segments. Of removed ones, searches read only the ids.
  changedCount: 500,
  goneCount: 4_000,
  // Words leave the database within a quarter of an hour, as retention promises: this, RETIRED_SECONDS, and the age of caches.
  changedSeconds: 10 * 60,
};

/** Statement that selects the accounts that are due and not claimed. Its table has only what waits. */
export function dueAccountsSql({ newCount, newSeconds, changedCount, goneCount, changedSeconds }: DueLimits): string {
  return `
    select u.workspace_id from unindexed_email u
    where not exists (select from word_build h where h.workspace_id = u.workspace_id and h.claimed_until >= now())
    group by u.workspace_id
    having count(*) filter (where u.state = 'new') >= ${newCount}
      or min(u.noted_at) filter (where u.state = 'new') < now() - ${newSeconds} * interval '1 second'
      or count(*) filter (where u.state = 'changed') >= ${changedCount} or count(*) filter (where u.state = 'gone') >= ${goneCount}
      or min(u.noted_at) filter (where u.state <> 'new') < now() - ${changedSeconds} * interval '1 second'`;
}

/** Claims up to `limit` accounts that are due. A lease that ended is taken over; what its holder stores after that fails. */
export async function claimDueAccounts(
  database: Database,
  claimant: string,
  limits: DueLimits,
  limit: number,
): Promise<string[]> {
  const { rows } = await database.pool.query<{ workspace_id: string }>({
    text: `
      insert into word_build as b (workspace_id, claimed_by, claimed_until)
      select d.workspace_id, $1, now() + interval '${LEASE_SECONDS} seconds' from (${dueAccountsSql(limits)}) d order by d.workspace_id limit $2
      on conflict (workspace_id) do update set claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until
      where b.claimed_until is null or b.claimed_until < now()
      returning b.workspace_id`,
    values: [claimant, limit],
  });
  return rows.map((row) => row.workspace_id);
}

/** Extends the claim; false: it is another's. */
export async function extendClaim(database: Database, claimant: string, workspaceId: string): Promise<boolean> {
  const { rowCount } = await database.pool.query({
    name: 'word-build-extend',
    text: `update word_build set claimed_until = now() + interval '${LEASE_SECONDS} seconds' where workspace_id = $2 and claimed_by = $1`,
    values: [claimant, workspaceId],
  });
  return rowCount === 1;
}

/** Ends the claim. */
export async function releaseClaim(database: Database, claimant: string, workspaceId: string): Promise<void> {
  await database.pool.query({
    name: 'word-build-release',
    text: 'delete from word_build where workspace_id = $2 and claimed_by = $1',
    values: [claimant, workspaceId],
  });
}

/** Returns the workspace's segments, and up to so many unindexed emails that are new or not, in one snapshot. */
export async function readBuildState(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  limits: { new: number; changed: number },
): Promise<{ segments: SegmentRow[]; unindexed: UnindexedRow[] }> {
  const { rows } = await client.query<{ segments: JsonOf<SegmentRow>[]; unindexed: JsonOf<UnindexedRow>[] }>({
    name: 'word-build-state',
    text: `
      select (${SEGMENTS_SQL}) as segments, (
        select coalesce(jsonb_agg(to_jsonb(u)), '[]') from (
          select * from (${unindexedSql(`state = 'new'`, '$2')}) n
          union all select * from (${unindexedSql(`state <> 'new'`, '$3')}) c) u) as unindexed`,
    values: [workspaceId, limits.new, limits.changed],
  });
  const { segments = [], unindexed = [] } = rows[0] ?? {};
  return { segments: segments.map(segmentRow), unindexed: unindexed.map(unindexedRow) };
}

type JsonOf<T> = { [K in keyof T]: T[K] extends Date ? number : T[K] };

/** The user's segments as jsonb; $1 is the user. */
export const SEGMENTS_SQL = `
  select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'emailCount', s.email_count, 'sizeBytes', s.size_bytes,
    'firstAt', (extract(epoch from s.first_at) * 1000)::bigint, 'lastAt', (extract(epoch from s.last_at) * 1000)::bigint)), '[]')
  from word_segment s where s.workspace_id = $1 and s.retired_at is null`;

// Ids are in the order of time, about, and there is an index of them.
const unindexedSql = (condition: string, limit: string) => `
  select email_id as "emailId", state, changes, (extract(epoch from created_at) * 1000)::bigint as "createdAt",
    extract(epoch from now() - noted_at)::float8 as "ageSeconds"
  from unindexed_email where workspace_id = $1 and ${condition} order by email_id limit ${limit}`;

/** Returns the segment of a row of SEGMENTS_SQL. */
export function segmentRow(row: JsonOf<SegmentRow>): SegmentRow {
  return { ...row, firstAt: new Date(row.firstAt), lastAt: new Date(row.lastAt) };
}

function unindexedRow(row: JsonOf<UnindexedRow>): UnindexedRow {
  return { ...row, createdAt: new Date(row.createdAt) };
}

/**
 * Returns the parts of a segment, without its words when only its documents are wanted; null when it is gone. A part that is missing has no
 * bytes, which its checksum does not match.
 */
export async function readParts(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  segmentId: string,
  wanted: 'all' | 'documents',
): Promise<SegmentParts | null> {
  const { rows } = await client.query<{ head: Buffer }>({
    name: 'word-segment-head',
    text: 'select head from word_segment where workspace_id = $1 and id = $2 and retired_at is null',
    values: [workspaceId, segmentId],
  });
  const [segment] = rows;
  if (segment === undefined) return null;
  const { rows: parts } = await client.query<{ number: number; bytes: Buffer }>({
    name: 'word-segment-parts',
    text: 'select number, bytes from word_block where workspace_id = $1 and segment_id = $2 and number < $3 order by number',
    values: [workspaceId, segmentId, wanted === 'all' ? MAX_BLOCKS : 0],
  });
  const part = (one: number) => parts.find(({ number }) => number === one)?.bytes ?? Buffer.alloc(0);
  return {
    head: segment.head,
    ids: part(IDS_PART),
    table: part(TABLE_PART),
    blocks: parts.filter(({ number }) => number >= 0).map(({ bytes }) => bytes),
  };
}

/** More than a segment has. */
const MAX_BLOCKS = 2 ** 31 - 1;

/** A segment is damaged: its emails must be read again (discardSegment). */
export class SegmentDamage extends Error {
  readonly segmentId: string;
  constructor(segmentId: string, cause: unknown) {
    super('A segment of search words is damaged', { cause });
    this.segmentId = segmentId;
  }
}

/** Returns what `read` returns. Throws SegmentDamage for DamagedSegment. */
export function noteDamage<T>(segmentId: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof DamagedSegment ? new SegmentDamage(segmentId, error) : error;
  }
}

/** Another builder was faster, or the account is gone: nothing was stored. */
export class BuildSuperseded extends Error {}

/** What replaces what in one transaction. */
export interface SegmentSwap {
  workspaceId: string;
  /** segments that are replaced */
  replaced: readonly string[];
  /** null: all their emails are gone */
  segment: { id: string; encoded: EncodedSegment } | null;
  /** the emails whose rows in unindexed_email end with this, as they were when their words were read */
  indexed: readonly Pick<UnindexedRow, 'emailId' | 'changes'>[];
}

/** Blocks that are stored at once. */
const BLOCKS_AT_ONCE = 64;

/**
 * Stores a segment in place of others. An email that changed after its words were read stays unindexed. Throws BuildSuperseded when one of the
 * replaced segments, or one of the unindexed emails, was replaced by another builder.
 */
export async function swapSegments(
  database: Database,
  { workspaceId, replaced, segment, indexed }: SegmentSwap,
  beforeCommit: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await inTransaction(database, async (client) => {
    await lockIndexed(client, workspaceId, indexed);
    const { rowCount } = await client.query({
      name: 'word-segment-retire',
      text: `update word_segment set retired_at = now() where workspace_id = $1 and id = any ($2::text[]) and retired_at is null`,
      values: [workspaceId, replaced],
    });
    if (rowCount !== replaced.length) throw new BuildSuperseded('A segment was replaced meanwhile');
    if (segment !== null) await insertSegment(client, workspaceId, segment.id, segment.encoded);
    await client.query({
      name: 'unindexed-end',
      text: `
        with built as materialized (select * from unnest($2::text[], $3::integer[]) b(id, changes)), ended as (
          delete from unindexed_email u using built b where u.workspace_id = $1 and u.email_id = b.id and u.changes = b.changes
        )
        update unindexed_email u set state = 'changed' from built b
        where u.workspace_id = $1 and u.email_id = b.id and u.changes <> b.changes and u.state = 'new'`,
      values: [workspaceId, indexed.map(({ emailId }) => emailId), indexed.map(({ changes }) => changes)],
    });
    await beforeCommit();
  });
}

/**
 * Ends a rewrite: no segment has what it had of these emails, so removed ones are forgotten, and changed ones are new. In the
 * hands of the claimant only: another builder may have stored segments that have them. Throws BuildSuperseded.
 */
export async function settleChanged(
  database: Database,
  { claimant, workspaceId, emailIds }: { claimant: string; workspaceId: string; emailIds: readonly string[] },
  beforeCommit: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await inTransaction(database, async (client) => {
    const { rowCount } = await client.query({
      name: 'word-build-hold',
      text: 'select from word_build where workspace_id = $2 and claimed_by = $1 for update',
      values: [claimant, workspaceId],
    });
    if (rowCount !== 1) throw new BuildSuperseded('The claim of the account is over');
    await client.query({
      name: 'unindexed-settle',
      text: `
        with settled as materialized (
          select email_id from unindexed_email where workspace_id = $1 and email_id = any ($2::text[]) order by email_id for update
        ), forgotten as (
          delete from unindexed_email u using settled s where u.workspace_id = $1 and u.email_id = s.email_id and u.state = 'gone'
        )
        update unindexed_email u set state = 'new' from settled s where u.workspace_id = $1 and u.email_id = s.email_id and u.state = 'changed'`,
      values: [workspaceId, emailIds],
    });
    await beforeCommit();
  });
}

async function lockIndexed(client: pg.ClientBase, workspaceId: string, indexed: SegmentSwap['indexed']): Promise<void> {
  const { rows } = await client.query<{ email_id: string }>({
    name: 'unindexed-lock',
    text: 'select email_id from unindexed_email where workspace_id = $1 and email_id = any ($2::text[]) order by email_id for update',
    values: [workspaceId, indexed.map(({ emailId }) => emailId)],
  });
  if (rows.length !== indexed.length) throw new BuildSuperseded('Emails were put into a segment meanwhile');
}

async function insertSegment(
  client: pg.ClientBase,
  workspaceId: string,
  id: string,
  encoded: EncodedSegment,
): Promise<void> {
  const { head, ids, table, blocks, count, firstAt, lastAt } = encoded;
  const parts = [
    { number: IDS_PART, bytes: ids },
    { number: TABLE_PART, bytes: table },
    ...blocks.map((bytes, number) => ({ number, bytes })),
  ];
  const size = head.length + parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  await client.query({
    name: 'word-segment-insert',
    text: `
      insert into word_segment (workspace_id, id, email_count, size_bytes, first_at, last_at, head) values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [workspaceId, id, count, size, new Date(firstAt), new Date(lastAt), head],
  });
  for (let at = 0; at < parts.length; at += BLOCKS_AT_ONCE) {
    const some = parts.slice(at, at + BLOCKS_AT_ONCE);
    let end = 0;
    const ends = some.map(({ bytes }) => (end += bytes.length));
    await client.query({
      name: 'word-block-insert',
      text: `
        insert into word_block (workspace_id, segment_id, number, bytes)
        select $1, $2, p.number, substring($5::bytea from p.ends - p.size + 1 for p.size)
        from unnest($3::integer[], $4::integer[], $6::integer[]) p(number, ends, size)`,
      values: [
        workspaceId,
        id,
        some.map(({ number }) => number),
        ends,
        Buffer.concat(some.map(({ bytes }) => bytes)),
        some.map(({ bytes }) => bytes.length),
      ],
    });
  }
}

/**
 * Gives up a damaged segment: its emails are unindexed until they are in a new one. Emails of the same time in other segments are built
 * again as well. Returns how many emails there are; 0 when another process was faster.
 */
export async function discardSegment(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  segmentId: string,
): Promise<number> {
  const { rows } = await client.query<{ count: number }>({
    name: 'word-segment-discard',
    text: `select discard_word_segment($1, $2) as count`,
    values: [workspaceId, segmentId],
  });
  return rows[0]?.count ?? 0;
}

/** Seconds for which searches may still read a segment that was replaced. */
const RETIRED_SECONDS = 60;

/** Removes segments that were replaced a while ago; returns how many. */
export async function removeRetired(database: Database, limit: number): Promise<number> {
  const { rowCount } = await database.pool.query({
    name: 'word-segment-remove',
    text: `
      with old as materialized (
        delete from word_segment s where s.ctid = any (array(
          select ctid from word_segment where retired_at < now() - interval '${RETIRED_SECONDS} seconds' limit $1 for update skip locked))
        returning s.workspace_id, s.id
      ), blocks as (
        delete from word_block b using old o where b.workspace_id = o.workspace_id and b.segment_id = o.id
      )
      select from old`,
    values: [limit],
  });
  return rowCount ?? 0;
}
