/** Every kind of event that a user's feed may hold, and what happened then. */
export const EVENT_KINDS = {
  'email.received': 'An email came in and can be read; its thread follows.',
  'email.threaded': 'An email, received or sent, has its place in a thread.',
  'email.read': 'A received email was marked as read.',
  'email.unread': 'A received email was marked as unread.',
  'email.archived': 'A received email was archived.',
  'email.unarchived': 'A received email was taken out of the archive.',
  'email.blocked': 'A guard rule holds a received email back.',
  'email.held': 'A received email waits for review: its guard rule could not be asked.',
  'email.released': 'A received email that was held back was let through.',
  'email.sent': 'An email was given to be sent now, or a scheduled one became due.',
  'email.scheduled': 'An email was given to be sent later.',
  'email.rescheduled': 'A scheduled email got another time.',
  'email.paused': 'A scheduled email was paused.',
  'email.resumed': 'A paused email was scheduled again.',
  'email.cancelled': 'A scheduled email was cancelled.',
  'email.delivered': 'A server took a sent email for a recipient.',
  'email.delayed': 'A sent email could not be handed over yet; it is tried again.',
  'email.bounced': 'A sent email was refused for a recipient, or came back.',
  'email.failed': 'A sent email was given up for a recipient.',
  'email.complained': 'A recipient reported a sent email as unwanted.',
  'email.reprocessed': 'A stored email was parsed, threaded or routed again.',
  'thread.merged': 'A thread was joined to another; its old id leads there.',
  'thread.renumbered': 'The messages of a thread got other positions.',
  'thread.split': 'Messages of a thread became a thread of their own; `data.thread` names it.',
  'thread.moved': 'Messages of a thread were moved to another; `data.thread` names it.',
  'thread.read': 'All received messages of a thread were marked as read.',
  'thread.unread': 'All received messages of a thread were marked as unread.',
  'thread.archived': 'All received messages of a thread were archived.',
  'thread.unarchived': 'All received messages of a thread were taken out of the archive.',
  'thread.labelled': 'A thread got other labels; `data.labels` are all that it has.',
  'delivery.succeeded': 'A received email reached an endpoint.',
  'delivery.deferred': 'A delivery to an endpoint failed; it is tried again.',
  'delivery.failed': 'A delivery to an endpoint was given up.',
  'endpoint.disabled': 'An endpoint was switched off because it had failed for too long.',
  'domain.verified': 'A domain was proven.',
  'domain.failed': 'A domain could not be proven, or belongs to another account now.',
  'domain.records_lost': 'DNS records of a verified domain are missing.',
  'dmarc.report_received': 'A DMARC report on a domain came in.',
} as const satisfies Record<string, string>;

export type EventKind = keyof typeof EVENT_KINDS;

/** Whether a text is one of EVENT_KINDS. */
export function isEventKind(text: string): text is EventKind {
  return Object.hasOwn(EVENT_KINDS, text);
}
