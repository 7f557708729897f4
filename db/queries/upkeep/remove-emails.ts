import type pg from 'pg';
import type { Mailbox } from '../../../core/mime/address.ts';
import { DAY_MS, HOUR_MS } from '../../../core/shared/durations.ts';
import { addParticipants } from '../../../core/threads/thread-participants.ts';
import { countEmailsSql } from '../emails/email-counter.ts';
import { noteGone } from '../search/unindexed-email.ts';
import { readMailboxes } from '../threads/thread-move.ts';
import { readThreadEnds, renumberThreads, writeThreads } from '../threads/thread-write.ts';

/** An email to remove, locked, with its values in totals and in its thread. */
interface RemovedEmail {
  id: string;
  created_at: Date;
  own_address: string;
  own_domain: string;
  type: 'received' | 'sent' | 'scheduled';
  status: string;
  is_read: boolean;
  is_archived: boolean;
  is_trashed: boolean;
  raw_id: string | null;
  batch_id: string | null;
  thread_id: string | null;
}

/** Conditions on a row `e` of email: it is being processed. A cancelled scheduled email never gets a thread. */
export const isInWorkSql = `(
  e.status = 'pending' or (e.type = 'scheduled' and e.status in ('scheduled', 'paused', 'awaiting_approval')) or (e.thread_id is null and e.type <> 'scheduled' and e.kept_apart is null)
  or exists (select from recipient r where r.workspace_id = e.workspace_id and r.email_id = e.id
    and (r.status = 'pending' or (r.status = 'failed' and r.reported_at is null)))
  or exists (select from delivery d where d.workspace_id = e.workspace_id and d.email_id = e.id and d.status = 'pending')
  or exists (select from route w where w.workspace_id = e.workspace_id and w.email_id = e.id and coalesce(w.outcome, 'asking') = 'asking'))`;

/**
 * Removes emails of the workspace with everything that belongs to them, except any that are being processed or locked: totals, threads, search
 * and bytes are consistent afterwards. In a transaction that holds the lock of the workspace's threads. Returns how many were removed.
 */
export async function removeEmails(
  client: pg.ClientBase,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<number> {
  if (emailIds.length === 0) return 0;
  const { rows: emails } = await client.query<RemovedEmail>({
    name: 'remove-emails-lock',
    text: `
      select e.id, e.created_at, e.own_address, e.own_domain, e.type, e.status, e.is_read, e.is_archived,
        e.trashed_at is not null as is_trashed,
        case when e.kept_apart = 'virus' then (select r.raw_id from reception r where r.workspace_id = $1 and r.email_id = e.id) else e.raw_id end as raw_id, e.batch_id, e.thread_id
      from email e where e.workspace_id = $1 and e.id = any ($2::text[]) and not ${isInWorkSql}
      order by e.id for update skip locked`,
    values: [workspaceId, emailIds],
  });
  if (emails.length === 0) return 0;
  const ids = emails.map(({ id }) => id);
  await noteGone(client, workspaceId, ids);
  const copies = await removeRows(client, workspaceId, ids);
  await removeFromThreads(client, workspaceId, emails);
  // The trash is in no total.
  const totalled = emails.filter((email) => !email.is_trashed);
  if (totalled.length > 0) await removeFromTotals(client, workspaceId, totalled);
  const rawIds = [...copies, ...emails.flatMap((email) => email.raw_id ?? [])];
  await removeRawMessages(client, [...new Set(rawIds)]);
  return emails.length;
}

/** Returns the raw messages of their forwarded copies. */
async function removeRows(client: pg.ClientBase, workspaceId: string, ids: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ raw_id: string | null }>({
    name: 'remove-emails-deliveries',
    text: `
      with gone as materialized (
        delete from delivery d where d.workspace_id = $1 and d.email_id = any ($2::text[]) returning d.id, d.forward_raw_id
      ), attempts as (
        delete from delivery_earlier_attempt a where a.workspace_id = $1 and a.delivery_id = any (array(select id from gone))
      ), dead as (
        delete from dead_row x where x.workspace_id = $1 and x.subject_id = any (array(select id from gone))
      )
      select forward_raw_id as raw_id from gone where forward_raw_id is not null`,
    values: [workspaceId, ids],
  });
  await client.query({
    name: 'remove-emails-recipients',
    text: `
      with gone as materialized (
        delete from recipient r where r.workspace_id = $1 and r.email_id = any ($2::text[]) returning r.id
      ), dead as (
        delete from dead_row x where x.workspace_id = $1 and x.subject_id = any (array(select id from gone) || $2::text[])
      )
      delete from sending_attempt a where a.workspace_id = $1 and a.recipient_id = any (array(select id from gone))`,
    values: [workspaceId, ids],
  });
  for (const table of TABLES_BY_EMAIL)
    await client.query({
      name: `remove-emails-${table}`,
      text: `delete from ${table} t where t.workspace_id = $1 and t.email_id = any ($2::text[])`,
      values: [workspaceId, ids],
    });
  // An address stays suppressed; only the reference to the email is removed.
  await client.query({
    name: 'remove-emails-suppressions',
    text: `update suppression s set email_id = null where s.workspace_id = $1 and s.email_id = any ($2::text[])`,
    values: [workspaceId, ids],
  });
  await client.query({
    name: 'remove-emails',
    text: `
      with gone as materialized (
        delete from email e where e.workspace_id = $1 and e.id = any ($2::text[]) returning e.batch_id
      )
      delete from batch b where b.workspace_id = $1 and b.id = any (array(select batch_id from gone where batch_id is not null))
        and not exists (select from email o where o.workspace_id = $1 and o.batch_id = b.id and o.id <> all ($2::text[]))`,
    values: [workspaceId, ids],
  });
  return rows.flatMap((row) => row.raw_id ?? []);
}

/** Keyed by workspace and email. */
const TABLES_BY_EMAIL = [
  'email_content',
  'email_search',
  'trashed_email',
  'screening_job',
  'reception',
  'route',
  'dmarc_report',
  'email_trace',
  'approval',
  'relayed_message_id',
] as const;

/** Removes threads without messages; threads that keep some begin with the first remaining message, and are renumbered. */
async function removeFromThreads(
  client: pg.ClientBase,
  workspaceId: string,
  emails: readonly RemovedEmail[],
): Promise<void> {
  const leaving = Map.groupBy(
    emails.filter(({ thread_id: id }) => id !== null),
    (email) => email.thread_id ?? '',
  );
  const threadIds = [...leaving.keys()].toSorted();
  if (threadIds.length === 0) return;
  await client.query({
    name: 'remove-emails-subjects',
    text: 'delete from thread_subject s where s.workspace_id = $1 and s.thread_id = any ($2::text[]) and s.email_id = any ($3::text[])',
    values: [workspaceId, threadIds, emails.map(({ id }) => id)],
  });
  const ends = await readThreadEnds(client, workspaceId, threadIds);
  const staying = new Set(ends.map(({ threadId }) => threadId));
  await removeThreads(
    client,
    workspaceId,
    threadIds.filter((id) => !staying.has(id)),
  );
  if (ends.length === 0) return;
  const fromBeginning = ends.map(({ threadId }) => ({ threadId, fromAt: new Date(0), fromEmailId: '' }));
  await renumberThreads(client, workspaceId, fromBeginning, []);
  const mailboxes = await readMailboxes(client, workspaceId, [...staying]);
  await writeThreads(
    client,
    workspaceId,
    ends.map(({ threadId, baseSubject, ...end }) => ({
      ...end,
      id: threadId,
      normalizedSubject: baseSubject,
      participants: addParticipants({ emails: [], names: [] }, mailboxes.get(threadId) ?? NO_MAILBOXES),
      counters: toLoss(leaving.get(threadId) ?? []),
    })),
  );
}

const NO_MAILBOXES: Mailbox[] = [];

function toLoss(emails: readonly RemovedEmail[]) {
  const received = emails.filter(({ type }) => type === 'received');
  return {
    messageCount: -emails.length,
    receivedCount: -received.length,
    unreadCount: -received.filter((email) => !email.is_read).length,
    archivedCount: -received.filter((email) => email.is_archived).length,
  };
}

async function removeThreads(client: pg.ClientBase, workspaceId: string, threadIds: readonly string[]): Promise<void> {
  if (threadIds.length === 0) return;
  const gone = 'workspace_id = $1 and thread_id = any ($2::text[])';
  await client.query({
    name: 'remove-threads',
    text: `
      with aliases as (delete from thread_alias where ${gone}),
      keys as (delete from thread_message_id where ${gone}),
      claims as (delete from thread_claim where ${gone}),
      notes as (delete from thread_note where ${gone}),
      reads as (delete from thread_read where ${gone}),
      subjects as (delete from thread_subject where ${gone}),
      parted as materialized (delete from thread_apart where ${gone} returning thread_id, other_id),
      others as (
        delete from thread_apart a using parted p
        where a.workspace_id = $1 and a.thread_id = p.other_id and a.other_id = p.thread_id and p.other_id <> all ($2::text[]))
      delete from thread where workspace_id = $1 and id = any ($2::text[])`,
    values: [workspaceId, threadIds],
  });
}

async function removeFromTotals(
  client: pg.ClientBase,
  workspaceId: string,
  emails: readonly RemovedEmail[],
): Promise<void> {
  const counted = emails.map((email) => ({
    created_at: email.created_at,
    own_address: email.own_address,
    own_domain: email.own_domain,
    type: email.type,
    status: email.status,
    is_read: email.is_read,
    is_archived: email.is_archived,
  }));
  await client.query({
    name: 'remove-emails-count',
    text: countEmailsSql(`(
      select $1::text as workspace_id, r.*, -1 as delta from jsonb_to_recordset($2::jsonb) as r(created_at timestamptz, own_address text,
        own_domain text, type text, status text, is_read boolean, is_archived boolean)) as removed`),
    values: [workspaceId, JSON.stringify(counted)],
  });
  // Hours of the distant past are not counted again. The statement before locked the rows.
  const hours = new Set(emails.map(({ created_at: at }) => Math.floor(at.getTime() / HOUR_MS) * HOUR_MS));
  const days = new Set(emails.map(({ created_at: at }) => Math.floor(at.getTime() / DAY_MS) * DAY_MS));
  await client.query({
    name: 'remove-emails-counters',
    text: `
      delete from email_counter c using unnest($2::text[]) as a(own_address), unnest($3::text[], $4::timestamptz[]) as g(grain, begins_at)
      where c.workspace_id = $1 and c.own_address = a.own_address and c.grain = g.grain and c.begins_at = g.begins_at and c.count = 0`,
    values: [
      workspaceId,
      ['*', ...new Set(emails.map((email) => email.own_address))],
      [...[...hours].map(() => 'hour'), ...[...days].map(() => 'day')],
      [...hours, ...days].map((at) => new Date(at).toISOString()),
    ],
  });
}

/**
 * Removes those raw messages that are no longer needed: no email has them, and no recipient that shares one waits to be parsed. They are
 * locked first, so that of two transactions that remove the last references the second one sees it.
 */
export async function removeRawMessages(client: pg.ClientBase, rawIds: readonly string[]): Promise<number> {
  if (rawIds.length === 0) return 0;
  await client.query({
    name: 'remove-raw-lock',
    text: 'select from raw_message m where m.id = any ($1::text[]) order by m.id for update',
    values: [rawIds],
  });
  const { rowCount } = await client.query({
    name: 'remove-raw',
    // Only SMTP messages are shared: sent mail and forwarded copies have their own.
    text: `
      delete from raw_message m where m.id = any ($1::text[]) and not exists (
        select from reception o left join email e on e.workspace_id = o.workspace_id and e.id = o.email_id
        where o.raw_id = m.id and (o.parsed_at is null or e.raw_id = m.id or e.kept_apart = 'virus'))`,
    values: [rawIds],
  });
  return rowCount ?? 0;
}
