import { isReplySubject } from '../../core/mime/subject.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { findLinks, findSubjectAnchor } from '../../core/threads/threading.ts';
import type { OutgoingContent } from '../../db/queries/sending/outgoing-write.ts';
import type { NewThread } from '../../db/queries/threads/new-thread.ts';
import { unthreadedEmail } from '../../db/queries/threads/thread-claim.ts';
import { planNew, type ThreadingParts } from './join-threads.ts';

type SentRow = OutgoingContent['row'];

/** Returns whether an email to send refers to other mail, or may join mail with its subject as a reply. */
export function isReferring({ in_reply_to: inReplyTo, reference_ids: references, subject }: SentRow): boolean {
  return inReplyTo.length > 0 || references.length > 0 || isReplySubject(subject);
}

/**
 * Returns the thread that an email to send starts when it is not referring. The statement that stores both says whether it has to join other
 * mail after all: mail that knows its Message-ID, or a reply with its subject.
 */
export function startThread(parts: ThreadingParts, row: SentRow): NewThread {
  const now = parts.now();
  const email = unthreadedEmail({
    ...row,
    type: 'sent',
    // Used only if `date` is not credible: the thread takes its times from the stored row.
    thread_at: now,
    is_read: false,
    is_archived: false,
    thread_key: null,
  });
  const links = findLinks(email);
  const id = newIdentifier(parts, 'thread', now);
  const { normalizedSubject, participants } = planNew([{ email, reason: 'new' }], id).row;
  return {
    id,
    eventId: newIdentifier(parts, 'event', now),
    key: links.own,
    anchor: findSubjectAnchor(email, links),
    normalizedSubject,
    participants,
  };
}
