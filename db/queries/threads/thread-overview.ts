import { sql, type Transaction } from 'kysely';
import type { Mailbox } from '../../../core/mime/address.ts';
import { distinctMailboxes } from '../../../core/threads/thread-participants.ts';
import type { Tables } from '../../entities/tables.ts';

/** Number of the latest messages of a thread whose senders are read. */
const READ_SENDERS = 50;

/** The subject of a thread's first message, and who wrote its latest messages, latest first. */
export interface ThreadOverview {
  subject: string;
  senders: Mailbox[];
}

/** Returns the overview of threads by id. */
export async function findOverviews(
  transaction: Transaction<Tables>,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<Map<string, ThreadOverview>> {
  const { rows } = await sql<{ id: string; subject: string; senders: Mailbox[] | null }>`
    select w.id, f.subject, s.senders from unnest(${threadIds}::text[]) as w(id)
    cross join lateral (
      select e.subject from email e where e.workspace_id = ${workspaceId} and e.thread_id = w.id order by e.thread_at, e.id limit 1
    ) f
    cross join lateral (
      select json_agg(json_build_object('name', l.from_name, 'address', l.from_address) order by l.thread_at desc, l.id desc) as senders
      from (
        select e.from_name, e.from_address, e.thread_at, e.id from email e
        where e.workspace_id = ${workspaceId} and e.thread_id = w.id order by e.thread_at desc, e.id desc limit ${READ_SENDERS}
      ) l
    ) s`.execute(transaction);
  return new Map(rows.map(({ id, subject, senders }) => [id, { subject, senders: distinctMailboxes(senders ?? []) }]));
}
