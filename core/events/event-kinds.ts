import { AUDIT_ACTIONS, type AuditAction } from '../accounts/audit.ts';
import { oneOf } from '../shared/vocabulary.ts';

/** Every kind of event in a user's feed, and what it means. */
export const EVENT_KINDS = {
  'email.received': 'An email was received and can be read. It is threaded next.',
  'email.spam':
    'An email is kept in the folder Spam or in quarantine: `data.verdict` is `spam` or `virus`, `data.score` the score of the spam filter, `data.virus` the name of the virus, `data.by` is `filter` or `user`.',
  'email.not_spam':
    'A person or program took an email out of the folder Spam. If it was never delivered, it is received now.',
  'email.threaded': 'A received or sent email was added to a thread.',
  'email.read': 'A received email was marked as read.',
  'email.unread': 'A received email was marked as unread.',
  'email.archived': 'A received email was archived.',
  'email.unarchived': 'A received email was unarchived.',
  'email.blocked': 'A guard rule blocked a received email.',
  'email.held': 'A received email is held for review because a guard rule could not decide.',
  'email.released': 'A held email was released.',
  'email.sent': 'An email was submitted for sending, or a scheduled email became due.',
  'email.scheduled': 'An email was scheduled.',
  'email.rescheduled': 'A scheduled email was rescheduled.',
  'email.paused': 'A scheduled email was paused.',
  'email.resumed': 'A paused email was resumed.',
  'email.cancelled': 'A scheduled email was cancelled.',
  'email.approval_requested':
    'An email waits for approval, because the send policy of its API key or address asks for it.',
  'email.approved': 'An email was approved; `data.by` says by whom. It is sent when its time has come.',
  'email.rejected':
    'An email was rejected and is not sent; `data.by` says by whom, and `data.reason` why: `expired` if its time was over.',
  'email.delivered': 'A recipient’s server accepted a sent email.',
  'email.delayed': 'A recipient’s server deferred a sent email; Postroom retries it.',
  'email.bounced': 'A recipient’s server rejected a sent email, or a bounce report arrived.',
  'email.failed': 'Postroom gave up sending an email to a recipient.',
  'email.complained': 'A recipient reported a sent email as spam.',
  'email.reprocessed': 'A stored email was parsed, threaded or routed again.',
  'thread.merged': 'A thread was merged into another; its old ID leads there.',
  'thread.renumbered': 'The messages of a thread were renumbered.',
  'thread.split': 'Messages were split off into a new thread; `data.thread` is its ID.',
  'thread.moved': 'Messages were moved to another thread; `data.thread` is its ID.',
  'thread.read': 'All received messages of a thread were marked as read.',
  'thread.unread': 'All received messages of a thread were marked as unread.',
  'thread.archived': 'All received messages of a thread were archived.',
  'thread.unarchived': 'All received messages of a thread were unarchived.',
  'thread.labelled': 'The labels of a thread changed; `data.labels` lists all of them.',
  'thread.trashed':
    'A thread was moved to the trash. `data.from` is the thread that its only message left; without it, the thread was moved as a whole.',
  'thread.restored': 'A thread was moved back from the trash, by a person or program or by a new message.',
  'thread.deleted': 'A thread was deleted forever.',
  'thread.claimed':
    'A thread was claimed, so that one holder answers it; `data.holder` is the holder, `data.expiresAt` the end.',
  'thread.assigned':
    'A thread was assigned to a member, or to none: `data.assignee` has the `id`, `name` and `email` of the member or is null, `data.by` says by whom.',
  'thread.snoozed':
    'A thread was snoozed or woken, or its reminder changed: `data.until` is when the snooze ends, `data.remindAt` when it comes back unless a reply comes before; null: not.',
  'thread.returned':
    'A thread came back to the inbox: `data.by` is `snooze` when its time was over, `reminder` when no reply came in time. A reply to a snoozed thread is an `email.received`.',
  'thread.note_added':
    'A member wrote a note in a thread. `data` has its `noteId`, the author’s name as `by`, and the IDs of mentioned members as `mentions`, not its text.',
  'thread.note_edited':
    'The author changed a note in a thread. `data` has its `noteId`, the author’s name as `by`, and the IDs of members whom only the new text mentions as `mentions`.',
  'thread.note_deleted': 'A note in a thread was deleted; `data.noteId` is its ID.',
  'thread.released': 'A claim of a thread ended; `data.reason` is `released`, `expired` or `merged`.',
  'delivery.succeeded': 'A received email was delivered to an endpoint.',
  'delivery.deferred': 'An attempt to deliver to an endpoint failed; Postroom retries it.',
  'delivery.failed': 'A delivery to an endpoint failed permanently.',
  'endpoint.disabled':
    'Postroom disabled an endpoint: its deliveries failed for too long, or the API key that set it up may no longer read.',
  'domain.verified': 'A domain was verified.',
  'domain.failed': 'A domain could not be verified, or another account verified it.',
  'domain.records_lost': 'DNS records of a verified domain are missing.',
  'dmarc.report_received': 'A DMARC report on a domain was received.',
} as const satisfies Record<string, string>;

export type EventKind = keyof typeof EVENT_KINDS;

/** Returns whether a text is one of EVENT_KINDS. */
export function isEventKind(text: string): text is EventKind {
  return Object.hasOwn(EVENT_KINDS, text);
}

/** A kind of event, as a field of REST and GraphQL. */
export const eventKind = oneOf(Object.keys(EVENT_KINDS) as [EventKind, ...EventKind[]], {
  name: 'EventKind',
  description: 'Kind of an event.',
  values: EVENT_KINDS,
});

/** The kind of the event of an entry of the audit log: `audit.api_key_revoked` of `api_key.revoked`. */
export type AuditEventKind = AuditAction extends infer Each
  ? Each extends `${infer Kind}.${infer Action}`
    ? `audit.${Kind}_${Action}`
    : never
  : never;

/** A kind of event that webhooks are posted. */
export type PostedKind = EventKind | AuditEventKind;

const AUDIT_PREFIX = 'audit.';

const auditActions = new Map(
  AUDIT_ACTIONS.map((action) => [`${AUDIT_PREFIX}${action.replace('.', '_')}` as AuditEventKind, action]),
);

/** The kinds of events of the audit log. They are posted to webhooks and are not in the feed, which every member reads. */
export const AUDIT_EVENT_KINDS: readonly AuditEventKind[] = [...auditActions.keys()];

/** Returns whether a kind is of the audit log, also one of a later version. */
export function isAuditKind(kind: string): kind is AuditEventKind {
  return kind.startsWith(AUDIT_PREFIX);
}

/** Returns the action of the audit log whose event has this kind; null if there is none. */
export function findAuditAction(kind: string): AuditAction | null {
  return auditActions.get(kind as AuditEventKind) ?? null;
}

/** Returns what a kind of event means. */
export function describeKind(kind: PostedKind): string {
  return isAuditKind(kind) ? `The audit log has a new entry \`${auditActions.get(kind) ?? kind}\`.` : EVENT_KINDS[kind];
}

/** A kind of event that is delivered, as a field of REST and GraphQL. */
export const postedKind = oneOf([...Object.keys(EVENT_KINDS), ...AUDIT_EVENT_KINDS] as [PostedKind, ...PostedKind[]], {
  name: 'PostedEventKind',
  description: 'Kind of an event that webhooks are posted.',
  values: Object.fromEntries(
    [...(Object.keys(EVENT_KINDS) as EventKind[]), ...AUDIT_EVENT_KINDS].map((kind) => [kind, describeKind(kind)]),
  ) as Record<PostedKind, string>,
});
