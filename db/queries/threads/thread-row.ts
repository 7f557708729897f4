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

/** The row as store_threads takes it (db/migrations/0001-initial/threads.sql). */
export function threadRow(thread: ThreadGain) {
  return {
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
  };
}
