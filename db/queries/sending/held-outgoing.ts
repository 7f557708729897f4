import type pg from 'pg';
import { newIdentifier } from '../../../core/shared/identifiers.ts';
import { type Database } from '../../connection/database.ts';
import { inTransaction } from '../../connection/transaction.ts';
import { settleForwards } from '../endpoints/forward-settle.ts';
import { appendThreadEvents } from '../threads/thread-events.ts';
import { refreshEmailsSql } from './recipient-finish.ts';
import { type DueKey, listDueKeys, queueReleased, takeDue } from './scheduled-release.ts';

/**
 * A held recipient is in the queue without a time: pending, queued, and never due. A restore holds mail that may have been sent since its
 * backup was made; the operator sends it or gives it up. Scheduled mail has no queued_at and is not among it.
 */
export interface HeldRecipient {
  workspaceId: string;
  emailId: string;
  recipientId: string;
  address: string;
  messageId: string;
  queuedAt: Date;
}

/** Counts of recipients and of their emails. */
export interface OutgoingCount {
  recipients: number;
  emails: number;
}

/** Emails processed at once. */
const BATCH = 500;

const HELD = `r.status = 'pending' and r.next_attempt_at is null and r.queued_at is not null`;

/**
 * Holds all outgoing mail that is due, including scheduled mail that fell due meanwhile. Only while no service runs, which would be as
 * fast. The pool must be of the URL's own role.
 */
export async function holdDueOutgoing(
  database: Database,
  random: (bytes: number) => Uint8Array,
  now: () => Date,
): Promise<OutgoingCount> {
  return inTransaction(database, async (client) => {
    await client.query('set local statement_timeout = 0');
    // Mail that may not be sent stays scheduled: the service pauses it.
    const refused: DueKey[] = [];
    for (;;) {
      const due = await takeDue(client, await listDueKeys(client, BATCH, refused));
      refused.push(...due.refused);
      if (due.taken.length + due.refused.length === 0) break;
      const released = await queueReleased(
        client,
        due.taken.map((email) => ({ ...email, event_id: newIdentifier({ now, random }, 'event') })),
      );
      // The threading actor gives them their threads when the service starts.
      for (const { workspace_id: workspaceId, events } of released)
        await appendThreadEvents(client, workspaceId, events);
    }
    return count(
      client,
      `update recipient r set next_attempt_at = null, last_text = $1
       where r.status = 'pending' and r.next_attempt_at <= (select postroom_now()) returning r.workspace_id, r.email_id`,
      ['Held back since a restore: it may have been sent before'],
    );
  });
}

/** Returns every held recipient, first queued first. */
export async function listHeld(database: Database): Promise<HeldRecipient[]> {
  const { rows } = await database.pool.query<HeldRecipient>(
    `select r.workspace_id as "workspaceId", r.email_id as "emailId", r.id as "recipientId", r.address, e.message_id as "messageId",
            r.queued_at as "queuedAt"
     from recipient r join email e on e.workspace_id = r.workspace_id and e.id = r.email_id
     where ${HELD} order by r.queued_at, r.id`,
  );
  return rows;
}

/** Releases held recipients, of one email or of all (null); the period of retries starts again. */
export async function sendHeld(database: Database, emailId: string | null): Promise<OutgoingCount> {
  return inTransaction(database, async (client) => {
    await client.query('set local statement_timeout = 0');
    return count(
      client,
      `update recipient r set next_attempt_at = (select postroom_now()), queued_at = (select postroom_now())
       where ${HELD} and ($1::text is null or r.email_id = $1) returning r.workspace_id, r.email_id`,
      [emailId],
    );
  });
}

/** Gives held recipients up: they fail, and their senders get no DSN, as the mail may well have arrived. */
export async function dropHeld(database: Database, emailId: string | null): Promise<OutgoingCount> {
  return inTransaction(database, async (client) => {
    await client.query('set local statement_timeout = 0');
    const { rows } = await client.query<{ workspace_id: string; email_id: string; delivery_id: string | null }>(
      `update recipient r set status = 'failed', settled_at = (select postroom_now()), reported_at = (select postroom_now()), last_text = $2
       where ${HELD} and ($1::text is null or r.email_id = $1) returning r.workspace_id, r.email_id, r.delivery_id`,
      [emailId, 'Given up by the operator after a restore: it may have been sent before'],
    );
    const sent = rows.filter((row) => row.delivery_id === null);
    await client.query(refreshEmailsSql, [sent.map((row) => row.workspace_id), sent.map((row) => row.email_id)]);
    const deliveries = rows.flatMap(({ workspace_id: workspaceId, delivery_id: deliveryId }) =>
      deliveryId === null ? [] : [{ workspaceId, deliveryId }],
    );
    await settleForwards(client, deliveries);
    return { recipients: rows.length, emails: new Set(rows.map((row) => `${row.workspace_id} ${row.email_id}`)).size };
  });
}

/** Other work that waits and will be done again as soon as the service runs. */
export interface WaitingWork {
  /** pending attempts, which keep their webhook-id */
  webhooks: number;
  /** copies that are not composed yet, and so have no recipients to hold */
  forwards: number;
  /** mail scheduled for the future */
  scheduled: number;
  /** received mail that is not parsed or not routed yet */
  unfinished: number;
  /** recipients whose next attempt is due */
  due: number;
}

export async function readWaitingWork(database: Database): Promise<WaitingWork> {
  const { rows } = await database.pool.query<WaitingWork>(
    `select (select count(*)::float8 from delivery where status = 'pending' and delivery_type = 'webhook') as webhooks,
            (select count(*)::float8 from delivery where status = 'pending' and delivery_type <> 'webhook' and forward_raw_id is null) as forwards,
            (select count(*)::float8 from email where status = 'scheduled') as scheduled,
            (select count(*)::float8 from reception where parsed_at is null)
              + (select count(*)::float8 from route where outcome is null) as unfinished,
            (select count(*)::float8 from recipient where status = 'pending' and next_attempt_at <= (select postroom_now()))
              + (select count(*)::float8 from email where status = 'scheduled' and scheduled_at <= (select postroom_now())) as due`,
  );
  return rows[0] ?? { webhooks: 0, forwards: 0, scheduled: 0, unfinished: 0, due: 0 };
}

async function count(client: pg.ClientBase, changing: string, values: unknown[]): Promise<OutgoingCount> {
  const { rows } = await client.query<OutgoingCount>(
    `with changed as (${changing})
     select count(*)::int as recipients, count(distinct (workspace_id, email_id))::int as emails from changed`,
    values,
  );
  return rows[0] ?? { recipients: 0, emails: 0 };
}
