import type pg from 'pg';
import { SYSTEM_WORKSPACE_ID } from '../../../core/accounts/system-account.ts';
import type { Retention } from '../../../core/upkeep/retention.ts';
import { claimStatement, LEASE_SECONDS } from '../../claim.ts';
import type { Database } from '../../connection/database.ts';
import { storeBodiesApart } from '../emails/bodies-in-message.ts';
import { noteChanged } from '../search/unindexed-email.ts';
import { isInWorkSql, removeRawMessages } from './remove-emails.ts';

/** A user whose old mail will be removed, claimed. */
export interface SweptWorkspace {
  workspaceId: string;
  /** the workspace's retention settings; null: none */
  own: Retention | null;
  /** position up to which the remaining mail was examined; null: none yet */
  rawAt: Date | null;
  bodiesAt: Date | null;
  receptionId: string | null;
  /** by PostgreSQL's clock */
  now: Date;
}

/** How often a user is examined, and how often all of the workspace's mail from its beginning. */
const EVERY = `interval '1 hour'`;
const ANEW_EVERY = `interval '1 day'`;
/** Pause after a failed batch: a few tries within the ten minutes of the alert for failing steps. */
const AFTER_FAULT = `interval '2 minutes'`;
/** Accounts that are scheduled for the sweep at once. */
const NOTED = 1_000;

/** Schedules users for the sweep: those with settings, and everyone when the service has defaults, including the user of its own mail. */
export async function noteWorkspacesToSweep(database: Database, hasDefaults: boolean): Promise<void> {
  await database.pool.query({
    name: hasDefaults ? 'retention-note-all' : 'retention-note-chosen',
    text: `
      insert into retention_sweep (workspace_id, due_at, begins_anew_at)
      select u.workspace_id, n.at, n.at + ${ANEW_EVERY}
      from (select workspace_id from retention union select t.workspace_id from trashed_email t where ${isOfTrashDue} ${hasDefaults ? `union select id from workspace union select '${SYSTEM_WORKSPACE_ID}'` : ''}) u
      cross join (select postroom_now() as at) n
      where not exists (select from retention_sweep s where s.workspace_id = u.workspace_id) limit ${NOTED}
      on conflict do nothing`,
  });
}

/** Days that mail stays in the trash. */
const TRASH_DAYS = 30;
const isOfTrashDue = `t.trashed_at < postroom_now() - interval '${TRASH_DAYS} days'`;

/** Returns the next emails that were in the trash for long enough, from a position on. */
export async function findTrashed(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  span: { from: Date | null; limit: number },
): Promise<Window> {
  const { rows } = await client.query<{ email_id: string; trashed_at: Date }>({
    name: 'retention-find-trash',
    text: `
      select t.email_id, t.trashed_at from trashed_email t
      where t.workspace_id = $1 and ${isOfTrashDue} and t.trashed_at >= coalesce($2::timestamptz, '-infinity')
      order by t.trashed_at, t.email_id limit $3`,
    values: [workspaceId, span.from?.toISOString() ?? null, span.limit],
  });
  return { ids: rows.map((row) => row.email_id), lastAt: rows.at(-1)?.trashed_at ?? null, count: rows.length };
}

/** Claims the user who is longest due; null: no user is due. */
export async function claimWorkspaceToSweep(database: Database, claimant: string): Promise<SweptWorkspace | null> {
  const { rows } = await database.pool.query<SweptRow>({
    name: 'retention-claim',
    text: CLAIM_SQL,
    values: [claimant, 1],
  });
  return (
    rows.map(({ is_own: isOwn, rawDays, bodyDays, metadataDays, ...user }) => ({
      ...user,
      own: isOwn ? { rawDays, bodyDays, metadataDays } : null,
    }))[0] ?? null
  );
}

type SweptRow = Omit<SweptWorkspace, 'own'> & Retention & { is_own: boolean };

const CLAIM_SQL = `
  with claimed as (${claimStatement({
    table: 'retention_sweep',
    isDue: 'd.due_at <= (select postroom_now())',
    orderBy: 'd.due_at',
    returning: ['workspace_id', 'raw_at', 'bodies_at', 'reception_id'],
  })})
  select c.workspace_id as "workspaceId", c.raw_at as "rawAt", c.bodies_at as "bodiesAt", c.reception_id as "receptionId", postroom_now() as now,
    r.workspace_id is not null as is_own, r.raw_days as "rawDays", r.body_days as "bodyDays", r.metadata_days as "metadataDays"
  from claimed c left join retention r on r.workspace_id = c.workspace_id`;

/** Stores the progress and extends the claim; false: another process has taken over. */
export async function noteSwept(
  client: Pick<pg.ClientBase, 'query'>,
  claimant: string,
  user: SweptWorkspace,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'retention-note',
    text: `
      update retention_sweep set raw_at = $3, bodies_at = $4, reception_id = $5,
        claimed_until = (select postroom_now()) + interval '${LEASE_SECONDS} seconds'
      where workspace_id = $2 and claimed_by = $1`,
    values: [claimant, user.workspaceId, user.rawAt, user.bodiesAt, user.receptionId],
  });
  return rowCount === 1;
}

/** How a workspace's turn ended: all is done for now, there is more, or batches failed and the rest is done. */
export type SweepOutcome = 'done' | 'more' | 'failed';

const DUE_AFTER: Record<SweepOutcome, string> = { done: EVERY, more: `interval '0'`, failed: AFTER_FAULT };

/** Releases the user: examined again later, at once, or after a pause. */
export async function releaseSwept(
  database: Database,
  claimant: string,
  workspaceId: string,
  outcome: SweepOutcome,
): Promise<void> {
  const begun = outcome === 'more' ? 'false' : 's.begins_anew_at <= (select postroom_now())';
  const kept = (column: string) => `${column} = case when ${begun} then null else s.${column} end`;
  await database.pool.query({
    name: `retention-release-${outcome}`,
    text: `
      update retention_sweep s set claimed_by = null, claimed_until = null,
        due_at = (select postroom_now()) + ${DUE_AFTER[outcome]},
        ${['raw_at', 'bodies_at', 'reception_id'].map(kept).join(', ')},
        begins_anew_at = case when ${begun} then (select postroom_now()) + ${ANEW_EVERY} else s.begins_anew_at end
      where s.workspace_id = $2 and s.claimed_by = $1`,
    values: [claimant, workspaceId],
  });
}

/** Emails in order of age. */
export interface Window {
  /** the emails that the step applies to; the others are being processed, or done */
  ids: string[];
  /** of the last one that was examined; null: there was none */
  lastAt: Date | null;
  /** number examined */
  count: number;
}

/** The steps: emails to remove, with bodies to remove, with raw messages to remove. */
export type Tier = 'metadata' | 'bodies' | 'raw';

const HELD = `exists (select from route h where h.workspace_id = e.workspace_id and h.email_id = e.id and h.outcome in ('blocked', 'review')
  and h.released_at is null)`;
const WANTED: Record<Tier, string> = {
  metadata: `not ${isInWorkSql}`,
  bodies: `not ${isInWorkSql} and not ${HELD} and exists (select from email_content c where c.workspace_id = e.workspace_id and c.email_id = e.id
    and (c.text_body is not null or c.html_body is not null or c.cleaned_text is not null or c.cleaned_html is not null
      or c.body_places is not null))`,
  raw: `not ${isInWorkSql} and not ${HELD} and (e.raw_id is not null or exists (select from delivery d
    where d.workspace_id = e.workspace_id and d.email_id = e.id and d.forward_raw_id is not null))`,
};

/** Returns the next emails older than an instant, from a position on; several with the same instant may be returned again. */
export async function findOldEmails(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  tier: Tier,
  span: { from: Date | null; before: Date; limit: number },
): Promise<Window> {
  const { rows } = await client.query<{ id: string; created_at: Date; is_wanted: boolean }>({
    name: `retention-find-${tier}`,
    text: `
      select e.id, e.created_at, ${WANTED[tier]} as is_wanted from (
        ${['is null', 'is not null']
          .map(
            (place) => `(
          select * from email o where o.workspace_id = $1 and o.trashed_at ${place}
            and o.created_at < $3 and o.created_at >= coalesce($2::timestamptz, '-infinity')
          order by o.created_at, o.id limit $4)`,
          )
          .join(' union all ')}
        order by created_at, id limit $4) e
      order by e.created_at, e.id`,
    values: [workspaceId, span.from?.toISOString() ?? null, span.before.toISOString(), span.limit],
  });
  return {
    ids: rows.flatMap((row) => (row.is_wanted ? [row.id] : [])),
    lastAt: rows.at(-1)?.created_at ?? null,
    count: rows.length,
  };
}

/** Removes the bodies of these emails, and their search words. In a transaction. */
export async function removeBodies(
  client: pg.ClientBase,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<void> {
  if (emailIds.length === 0) return;
  await client.query({
    name: 'retention-bodies',
    text: `
      with contents as (
        update email_content c set text_body = null, html_body = null, cleaned_text = null, cleaned_html = null, body_places = null,
          removed_parts = '[]',
          attachments = case when c.attachments @? '$[*].event' then (
            select jsonb_agg(one - 'event' order by place) from jsonb_array_elements(c.attachments) with ordinality as each (one, place)
          ) else c.attachments end
        where c.workspace_id = $1 and c.email_id = any ($2::text[])
      )
      update email e set preview = '' where e.workspace_id = $1 and e.id = any ($2::text[]) and e.preview <> ''`,
    values: [workspaceId, emailIds],
  });
  await noteChanged(client, workspaceId, emailIds);
}

/** Removes the bytes of these emails, and those of their forwarded copies. Bodies that lie in the bytes are kept. In a transaction. */
export async function removeRaws(
  client: pg.ClientBase,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<void> {
  if (emailIds.length === 0) return;
  await storeBodiesApart(client, workspaceId, emailIds);
  const { rows } = await client.query<{ raw_id: string }>({
    name: 'retention-raws',
    text: `
      with old_emails as materialized (
        select e.id, e.raw_id from email e where e.workspace_id = $1 and e.id = any ($2::text[]) and e.raw_id is not null order by e.id for update
      ), emails as (
        update email e set raw_id = null where e.workspace_id = $1 and e.id = any (array(select id from old_emails))
      ), old_copies as materialized (
        select d.id, d.forward_raw_id as raw_id from delivery d
        where d.workspace_id = $1 and d.email_id = any ($2::text[]) and d.forward_raw_id is not null and d.status <> 'pending' for update
      ), copies as (
        update delivery d set forward_raw_id = null where d.workspace_id = $1 and d.id = any (array(select id from old_copies))
      )
      select raw_id from old_emails union select raw_id from old_copies`,
    values: [workspaceId, emailIds],
  });
  await removeRawMessages(
    client,
    rows.map((row) => row.raw_id),
  );
}

/** Removes receptions that created no email, such as reports, in id order, with their bytes. In a transaction. */
export async function removeReportReceptions(
  client: pg.ClientBase,
  workspaceId: string,
  span: { behindId: string; beforeId: string; limit: number },
): Promise<{ lastId: string | null; count: number }> {
  const { rows } = await client.query<{ email_id: string; raw_id: string; is_gone: boolean }>({
    name: 'retention-receptions',
    text: `
      with walked as materialized (
        select r.email_id, r.raw_id, r.parsed_at is not null
          and not exists (select from email e where e.workspace_id = $1 and e.id = r.email_id) as is_gone
        from reception r where r.workspace_id = $1 and r.email_id > $2 and r.email_id < $3 order by r.email_id limit $4
      ), gone as (
        delete from reception r where r.workspace_id = $1 and r.email_id = any (array(select email_id from walked where is_gone))
      )
      select email_id, raw_id, is_gone from walked order by email_id`,
    values: [workspaceId, span.behindId, span.beforeId, span.limit],
  });
  await removeRawMessages(
    client,
    rows.flatMap((row) => (row.is_gone ? [row.raw_id] : [])),
  );
  return { lastId: rows.at(-1)?.email_id ?? null, count: rows.length };
}

/** Removes drafts that were not changed since an instant, with their files; returns how many. In a transaction. */
export async function removeOldDrafts(
  client: pg.ClientBase,
  workspaceId: string,
  before: Date,
  limit: number,
): Promise<number> {
  const { rowCount } = await client.query({
    name: 'retention-drafts',
    text: `
      with old as materialized (
        select d.id from draft d where d.workspace_id = $1 and d.updated_at < $2 order by d.id limit $3 for update skip locked
      ), files as (
        delete from draft_attachment a where a.workspace_id = $1 and a.draft_id = any (array(select id from old))
      )
      delete from draft d where d.workspace_id = $1 and d.id = any (array(select id from old))`,
    values: [workspaceId, before.toISOString(), limit],
  });
  return rowCount ?? 0;
}

/** Removes the first events of the feed that are older than an instant, with their deliveries; returns how many. In a transaction. */
export async function removeOldEvents(
  client: pg.ClientBase,
  workspaceId: string,
  before: Date,
  limit: number,
): Promise<number> {
  // The counter is locked first, as in appends.
  await client.query({
    name: 'retention-events-lock',
    text: 'select from event_counter c where c.workspace_id = $1 for no key update',
    values: [workspaceId],
  });
  const { rows } = await client.query<{ seq: number }>({
    name: 'retention-events-find',
    text: `
      select o.seq from (select e.seq, e.at from event e where e.workspace_id = $1 order by e.seq limit $3) o
      where o.at < $2 order by o.seq desc limit 1`,
    values: [workspaceId, before.toISOString(), limit],
  });
  const last = rows[0]?.seq;
  if (last === undefined) return 0;
  const { rowCount } = await client.query({
    name: 'retention-events',
    text: `
      with told as (update event_counter c set first_seq = $2::bigint + 1 where c.workspace_id = $1),
      -- the other deliveries go with their emails
      posted as (
        delete from delivery d where d.workspace_id = $1 and d.email_id is null and d.event_seq <= $2::bigint and d.status <> 'pending'
        returning d.id
      ), attempts as (
        delete from delivery_earlier_attempt a where a.workspace_id = $1 and a.delivery_id = any (array(select id from posted))
      ), dead as (
        delete from dead_row x where x.workspace_id = $1 and x.subject_id = any (array(select id from posted))
      )
      delete from event e where e.workspace_id = $1 and e.seq <= $2::bigint`,
    values: [workspaceId, last],
  });
  return rowCount ?? 0;
}
