import { randomBytes } from 'node:crypto';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { Database } from '../../../db/connection/database.ts';
import { countEmailsSql } from '../../../db/queries/emails/email-counter.ts';

/** A scheduled email as its sender leaves it; what is not given is made up. */
export interface ScheduledMail {
  workspaceId: string;
  id?: string;
  /** seconds from now by PostgreSQL's shifted clock */
  inSeconds: number;
  status?: 'scheduled' | 'paused' | 'cancelled' | 'awaiting_approval';
  createdAt?: Date;
  from?: string;
  to?: string[];
  subject?: string;
  messageId?: string;
  inReplyTo?: string[];
  references?: string[];
}

/** Stores scheduled emails with content, recipients and totals, straight into the tables; returns their ids in order. */
export async function insertScheduled(database: Database, mails: readonly ScheduledMail[]): Promise<string[]> {
  const rows = mails.map((mail) => {
    const createdAt = mail.createdAt ?? new Date();
    const id = mail.id ?? makeIdentifier('email', createdAt, randomBytes(10));
    const from = mail.from ?? 'hello@box.test';
    const to = mail.to ?? ['ada@elsewhere.test'];
    const list = (addresses: string[]) => ({
      text: addresses.join(', '),
      addresses: addresses.map((address) => ({ name: null, address })),
    });
    return {
      workspace_id: mail.workspaceId,
      id,
      status: mail.status ?? 'scheduled',
      created_at: createdAt,
      in_seconds: mail.inSeconds,
      own_address: from,
      own_domain: from.split('@')[1],
      message_id: mail.messageId ?? `<${id}@box.test>`,
      subject: mail.subject ?? 'A subject',
      to_addresses: to,
      in_reply_to: mail.inReplyTo ?? [],
      reference_ids: mail.references ?? [],
      addresses: { from: list([from]), to: list(to), cc: null, bcc: null, replyTo: null },
      recipient_ids: to.map(() => makeIdentifier('recipient', createdAt, randomBytes(10))),
    };
  });
  await database.pool.query(
    `with mail as materialized (
       select * from jsonb_to_recordset($1::jsonb) as x(workspace_id text, id text, status text, created_at timestamptz, in_seconds float8,
         own_address text, own_domain text, message_id text, subject text, to_addresses text[], in_reply_to text[], reference_ids text[],
         addresses jsonb, recipient_ids text[])),
     e as (
       insert into email (workspace_id, id, type, status, created_at, scheduled_at, timezone, own_address, own_domain, message_id, subject,
         base_subject, from_address, from_text, to_addresses, cc_addresses, preview)
       select workspace_id, id, 'scheduled', status, created_at, (select postroom_now()) + in_seconds * interval '1 second', 'UTC', own_address,
         own_domain, message_id, subject, subject, own_address, own_address, to_addresses, '{}', 'preview' from mail
       returning *),
     counted as (${countEmailsSql('(select *, 1 as delta from e)')}),
     content as (
       insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, attachments, parser_version)
       select workspace_id, id, '[]', addresses, in_reply_to, reference_ids, 'text', '[]', 1 from mail),
     searched as (
       insert into email_search (workspace_id, email_id, created_at, text)
       select workspace_id, id, created_at, lower(subject || chr(10) || own_address || chr(10) || array_to_string(to_addresses, chr(10))) from mail)
     insert into recipient (workspace_id, id, email_id, address, domain, created_at)
     select m.workspace_id, r.id, m.id, r.address, split_part(r.address, '@', 2), m.created_at
     from mail m cross join unnest(m.recipient_ids, m.to_addresses) as r(id, address)`,
    [JSON.stringify(rows)],
  );
  return rows.map((row) => row.id);
}

/** Moves the clock by which mail falls due; `owner` is the database's owner. */
export async function moveClock(owner: Database, seconds: number): Promise<void> {
  await owner.pool.query(`update clock set shift = shift + $1 * interval '1 second'`, [seconds]);
}

/** What differs between the totals of lists and the emails themselves; empty when they agree. */
export async function wrongTotals(database: Database, workspaceId: string): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    `with counted as (
       select own_address, grain, begins_at, own_domain, type, status, is_read, is_archived, count from email_counter where workspace_id = $1
     ), actual as (
       select g.own_address, g.grain, g.begins_at, own_domain, type, status, is_read, is_archived, count(*)
       from email e
       cross join lateral (
         select address, grain, case grain when 'all' then '-infinity' else date_trunc(grain, e.created_at, 'UTC') end
         from unnest(array[e.own_address, '*']) address cross join unnest(array['hour', 'day', 'all']) grain
       ) as g(own_address, grain, begins_at)
       where e.workspace_id = $1
       group by 1, 2, 3, 4, 5, 6, 7, 8
     )
     select own_address, grain, begins_at::text, own_domain, type, status, is_read, is_archived,
       coalesce(c.count, 0) as counted, coalesce(a.count, 0) as actual
     from counted c full join actual a using (own_address, grain, begins_at, own_domain, type, status, is_read, is_archived)
     where coalesce(c.count, 0) <> coalesce(a.count, 0)`,
    [workspaceId],
  );
  return rows;
}
