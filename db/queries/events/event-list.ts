import { sql, type Transaction } from 'kysely';
import type { AuditEventKind, EventKind } from '../../../core/events/event-kinds.ts';
import type { Database } from '../../connection/database.ts';
import { inWorkspaceTransaction } from '../../connection/transaction.ts';
import type { Tables } from '../../entities/tables.ts';

/** An event of a workspace's feed. */
export interface FeedEvent {
  /** 1 for the workspace's first event, then without gaps */
  seq: number;
  id: string;
  kind: EventKind;
  at: Date;
  /** its subject; null where not applicable */
  emailId: string | null;
  threadId: string | null;
  deliveryId: string | null;
  endpointId: string | null;
  domainId: string | null;
  /** further data, by kind */
  data: Record<string, unknown>;
}

/** Which events after a position are read. */
export interface EventsRequest {
  /** sequence number after which to read */
  after: number;
  /** null: every kind */
  kinds: readonly string[] | null;
  limit: number;
}

/** Events after a position, oldest first. */
export interface EventsAhead {
  events: FeedEvent[];
  /** everything up to here was read; continue after it */
  scannedTo: number;
  /** of the newest event at the time of reading; 0 when there is none */
  lastSeq: number;
  /** events before it were removed; 1: none was */
  firstSeq: number;
}

/** Where a workspace's feed begins and ends. */
export interface FeedEnd {
  lastSeq: number;
  /** events before it were removed; 1: none was */
  firstSeq: number;
  /** the database's clock in milliseconds, as in the times of rows */
  now: Date;
}

/** Sequence numbers that one statement scans, so that rare kinds cannot make it slow. */
const MAX_SCANNED = 10_000;
const LOCK_TIMEOUT_MS = 3_000;

/** Data of the events that are read at once, unless a single one has more. Bytes. @limit */
export const MAX_EVENTS_BYTES = 262_144;

/** Reads events after a position in one snapshot, fewer than `limit` if they are large. Numbers are assigned in commit order, so none before `lastSeq` is missing. */
export async function readEventsAfter(
  database: Database,
  workspaceId: string,
  request: EventsRequest,
): Promise<EventsAhead> {
  const { after, kinds, limit } = request;
  const { rows } = await inWorkspaceTransaction(
    database,
    workspaceId,
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
    async (client) =>
      client.query<(EventRow | { id: null }) & { last_seq: number; first_seq: number; found: number | null }>({
        name: kinds === null ? 'events-after' : 'events-after-of-kinds',
        text: kinds === null ? eventsAfterSql('') : eventsAfterSql('and e.kind = any ($4::text[])'),
        values: [workspaceId, after, limit, ...(kinds === null ? [] : [kinds])],
      }),
  );
  const lastSeq = rows[0]?.last_seq ?? 0;
  const firstSeq = rows[0]?.first_seq ?? 1;
  // In a feed whose beginning was removed, reading starts after that.
  const from = Math.max(after, firstSeq - 1);
  const events = rows.flatMap((row) => (row.id === null ? [] : [feedEvent(row)]));
  const last = events.at(-1);
  const found = rows[0]?.found ?? 0;
  const scannedTo =
    last !== undefined && (found === limit || events.length < found)
      ? last.seq
      : Math.max(after, Math.min(from + MAX_SCANNED, lastSeq));
  return { events, scannedTo, lastSeq, firstSeq };
}

/** Returns the events between two positions, in order or, inverted, from the end. */
export async function listEvents(
  transaction: Transaction<Tables>,
  workspaceId: string,
  page: { after: number; before: number | null; isInverted: boolean; limit: number },
): Promise<FeedEvent[]> {
  const { rows } = await sql<EventRow>`
    select ${sql.raw(COLUMNS)} from event e
    where e.workspace_id = ${workspaceId} and e.seq > ${page.after} ${page.before === null ? sql`` : sql`and e.seq < ${page.before}`}
    order by e.seq ${page.isInverted ? sql`desc` : sql``} limit ${page.limit}`.execute(transaction);
  return rows.map(feedEvent);
}

/** Counting one by one stops at this number. */
export const MAX_COUNTED_EVENTS = 10_000;

/** Returns the number of events that the role of the transaction can read, up to MAX_COUNTED_EVENTS. */
export async function countReadable(transaction: Transaction<Tables>, workspaceId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count
    from (select from event e where e.workspace_id = ${workspaceId} limit ${MAX_COUNTED_EVENTS}) c`.execute(
    transaction,
  );
  return rows[0]?.count ?? 0;
}

/** Returns those of the events that belong to the workspace, unordered. */
export async function findEvents(
  transaction: Transaction<Tables>,
  workspaceId: string,
  seqs: readonly number[],
): Promise<FeedEvent[]> {
  const { rows } = await sql<EventRow>`
    select ${sql.raw(COLUMNS)} from event e
    where e.workspace_id = ${workspaceId} and e.seq = any (${seqs}::bigint[])`.execute(transaction);
  return rows.map(feedEvent);
}

/** An event of the audit log. */
export interface AuditEvent {
  seq: number;
  id: string;
  kind: AuditEventKind;
  at: Date;
}

/** Returns those of the events of the audit log that the endpoint may be posted, unordered. The feed has none of them. */
export async function findPostedAuditEvents(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { endpointId, seqs }: { endpointId: string; seqs: readonly number[] },
): Promise<AuditEvent[]> {
  const { rows } = await sql<AuditEvent>`
    select seq, id, kind, at from posted_audit_events(${workspaceId}, ${endpointId}, ${seqs}::bigint[])`.execute(
    transaction,
  );
  return rows;
}

/** How much earlier an event may be than another with a smaller number: times are those of transactions. Milliseconds. */
const MAX_DISORDER_MS = 60_000;
/** Events after the receipt of an email among which its event is looked for. */
const MAX_FOLLOWING = 20_000;

/**
 * Returns the events `email.received` of emails that were accepted at an instant; removed ones are left out. There is no index for
 * them: bisects the feed by time, and looks at the events that follow.
 */
export async function findReceivedEvents(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emails: readonly { emailId: string; receivedAt: Date }[],
): Promise<FeedEvent[]> {
  const ids = emails.map(({ emailId }) => emailId);
  const since = emails.map(({ receivedAt }) => new Date(receivedAt.getTime() - MAX_DISORDER_MS).toISOString());
  const { rows } = await sql<EventRow>`
    select found.* from unnest(${ids}::text[], ${since}::timestamptz[]) as g (email_id, since) cross join lateral (
      with recursive bisected as (
        select c.first_seq as low, c.last_seq + 1 as high from event_counter c where c.workspace_id = ${workspaceId}
        union all
        select case when m.is_before then m.seq + 1 else b.low end, case when m.is_before then b.high else m.seq end
        from bisected b cross join lateral (
          select e.seq, e.at < g.since as is_before from event e
          where e.workspace_id = ${workspaceId} and e.seq = (b.low + b.high) / 2 limit 1) m
        where b.low < b.high
      ), beginning as (select max(low) as seq from bisected)
      select ${sql.raw(COLUMNS)} from event e
      where e.workspace_id = ${workspaceId} and e.seq >= (select seq from beginning) and e.seq < (select seq from beginning) + ${MAX_FOLLOWING}
        and e.email_id = g.email_id and e.kind = 'email.received'
      order by e.seq limit 1) found`.execute(transaction);
  return rows.map(feedEvent);
}

/** Returns the newest event of a kind, among the last 10,000 events; null when there is none. */
export async function findNewestEvent(
  transaction: Transaction<Tables>,
  workspaceId: string,
  kind: EventKind,
): Promise<FeedEvent | null> {
  const { rows } = await sql<EventRow>`
    select ${sql.raw(COLUMNS)} from event e
    where e.workspace_id = ${workspaceId} and e.kind = ${kind}
      and e.seq > (select c.last_seq - ${MAX_SCANNED} from event_counter c where c.workspace_id = ${workspaceId})
    order by e.seq desc limit 1`.execute(transaction);
  return rows[0] === undefined ? null : feedEvent(rows[0]);
}

/** Returns where the feed ends now. */
export async function readFeedEnd(transaction: Transaction<Tables>, workspaceId: string): Promise<FeedEnd> {
  const { rows } = await sql<{ last_seq: number | null; first_seq: number | null; now: Date }>`
    select c.last_seq, c.first_seq, postroom_now() as now from (select) one left join event_counter c on c.workspace_id = ${workspaceId}`.execute(
    transaction,
  );
  return {
    lastSeq: Number(rows[0]?.last_seq ?? 0),
    firstSeq: Number(rows[0]?.first_seq ?? 1),
    now: rows[0]?.now ?? new Date(Number.NaN),
  };
}

/** Returns the last sequence number per workspace; users without events are left out. */
export async function readEventPositions(
  database: Database,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await database.pool.query<{ workspace_id: string; last_seq: number }>({
    name: 'event-positions',
    text: 'select workspace_id, last_seq from event_positions($1)',
    values: [workspaceIds],
  });
  return new Map(rows.map((row) => [row.workspace_id, row.last_seq]));
}

interface EventRow {
  seq: number;
  id: string;
  kind: EventKind;
  at: Date;
  email_id: string | null;
  thread_id: string | null;
  delivery_id: string | null;
  endpoint_id: string | null;
  data: Record<string, unknown>;
}

const COLUMNS = 'e.seq, e.id, e.kind, e.at, e.email_id, e.thread_id, e.delivery_id, e.endpoint_id, e.data';

const eventsAfterSql = (condition: string) => `
  select c.last_seq, c.first_seq, e.* from event_counter c
  left join lateral (
    select p.* from (
      select w.*, count(*) over ()::integer as found,
        sum(octet_length(w.data::text)) over (order by w.seq) - octet_length(w.data::text) as bytes_before
      from (
        select ${COLUMNS} from event e
        where e.workspace_id = $1 and e.seq > $2::bigint and e.seq < greatest($2::bigint + 1, c.first_seq) + ${MAX_SCANNED} and e.seq <= c.last_seq
          ${condition}
        order by e.seq limit $3) w) p
    where p.bytes_before < ${MAX_EVENTS_BYTES}) e on true
  where c.workspace_id = $1
  order by e.seq`;

function feedEvent(row: EventRow): FeedEvent {
  const { domainId } = row.data;
  return {
    seq: row.seq,
    id: row.id,
    kind: row.kind,
    at: row.at,
    emailId: row.email_id,
    threadId: row.thread_id,
    deliveryId: row.delivery_id,
    endpointId: row.endpoint_id,
    domainId: typeof domainId === 'string' ? domainId : null,
    data: row.data,
  };
}
