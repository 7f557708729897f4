import { type Participants, threadSearchText } from '../../../core/threads/thread-participants.ts';
import type { SubjectAnchor } from '../../../core/threads/threading.ts';
import { listProbes, probesJson } from './thread-lookup.ts';

/** The thread of a sent email that joins no other mail. Its times are those of the email. */
export interface NewThread {
  id: string;
  /** of the event email.threaded */
  eventId: string;
  /** the msg-id that leads to it; null when that of the email is not valid */
  key: string | null;
  /** what later subject edges may join */
  anchor: SubjectAnchor | null;
  normalizedSubject: string;
  participants: Participants;
}

/** Returns the thread as the statement that stores its email takes it. */
export function newThreadJson({ id, eventId, key, anchor, normalizedSubject, participants }: NewThread) {
  return {
    id,
    event_id: eventId,
    key,
    anchor: anchor && { subject: anchor.subject, participants: anchor.participants, date: anchor.date },
    normalized_subject: normalizedSubject,
    participant_emails: participants.emails,
    participant_names: participants.names,
    search_text: threadSearchText(normalizedSubject, participants.emails),
  };
}

/** Returns where replies to the emails of new threads are looked for, as nearest_replies takes it. */
export function newThreadProbes(threads: readonly NewThread[]): string {
  return probesJson(listProbes(new Map(threads.flatMap(({ id, anchor }) => (anchor === null ? [] : [[id, anchor]])))));
}
