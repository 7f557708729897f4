import type pg from 'pg';
import { type Participants, threadSearchText } from '../../../core/threads/thread-participants.ts';

/** A thread's future row: what it shows, and what is added to its counters. */
export interface ThreadGain {
  id: string;
  createdAt: Date;
  rootMessageId: string;
  normalizedSubject: string;
  participants: Participants;
  latestEmailId: string;
  lastMessageAt: Date;
  counters: ThreadCounters;
}

/** All, received, received and unread, received and archived messages. */
export interface ThreadCounters {
  messageCount: number;
  receivedCount: number;
  unreadCount: number;
  archivedCount: number;
}

/**
 * Creates or updates threads. Counters are increased, not set: users mark mail as read at the same time, without our lock. Must be last
 * except for the events, so that the rows are locked only briefly.
 */
export async function writeThreads(
  client: pg.ClientBase,
  userId: string,
  threads: readonly ThreadGain[],
): Promise<void> {
  const rows = threads.map((thread) => ({
    id: thread.id,
    root_message_id: thread.rootMessageId,
    normalized_subject: thread.normalizedSubject,
    participant_emails: thread.participants.emails,
    participant_names: thread.participants.names,
    search_text: threadSearchText(thread.normalizedSubject, thread.participants.emails),
    message_count: thread.counters.messageCount,
    received_count: thread.counters.receivedCount,
    unread_count: thread.counters.unreadCount,
    archived_count: thread.counters.archivedCount,
    latest_email_id: thread.latestEmailId,
    last_message_at: thread.lastMessageAt,
    created_at: thread.createdAt,
  }));
  await client.query({
    name: 'thread-write',
    text: `
      insert into thread as t (user_id, ${columns}, updated_at)
      select $1, ${columns}, (select postroom_now())
      from jsonb_to_recordset($2::jsonb) as x(
        id text, root_message_id text, normalized_subject text, participant_emails text[], participant_names text[], search_text text,
        message_count integer, received_count integer, unread_count integer, archived_count integer,
        latest_email_id text, last_message_at timestamptz, created_at timestamptz)
      order by id
      on conflict (user_id, id) do update set
        root_message_id = excluded.root_message_id, normalized_subject = excluded.normalized_subject,
        participant_emails = excluded.participant_emails, participant_names = excluded.participant_names,
        search_text = excluded.search_text,
        message_count = t.message_count + excluded.message_count, received_count = t.received_count + excluded.received_count,
        unread_count = t.unread_count + excluded.unread_count, archived_count = t.archived_count + excluded.archived_count,
        latest_email_id = excluded.latest_email_id, last_message_at = excluded.last_message_at,
        created_at = excluded.created_at, updated_at = excluded.updated_at`,
    values: [userId, JSON.stringify(rows)],
  });
}

const columns = `id, root_message_id, normalized_subject, participant_emails, participant_names, search_text, message_count,
  received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at`;
