import { builder } from '../builder.ts';

export const EmailType = builder.enumType('EmailType', {
  description: 'Type of an email.',
  values: {
    RECEIVED: { value: 'received', description: 'Received by one of your addresses.' },
    SENT: { value: 'sent', description: 'Sent, or released from the schedule.' },
    SCHEDULED: {
      value: 'scheduled',
      description: 'Scheduled to be sent; includes cancelled emails.',
    },
  } as const,
});

export const EmailStatus = builder.enumType('EmailStatus', {
  description: 'Status of an email.',
  values: {
    DELIVERED: { value: 'delivered', description: 'Received, or accepted by the servers of all recipients.' },
    PENDING: { value: 'pending', description: 'Being sent. Deferred recipients are retried for five days.' },
    FAILED: { value: 'failed', description: 'At least one recipient could not be reached within five days.' },
    BOUNCED: {
      value: 'bounced',
      description: 'At least one recipient was rejected permanently, possibly after the server had accepted the email.',
    },
    SCHEDULED: { value: 'scheduled', description: 'Waiting for its send time.' },
    PAUSED: { value: 'paused', description: 'Scheduled, but on hold until you resume it.' },
    CANCELLED: { value: 'cancelled', description: 'Cancelled before it was sent.' },
  } as const,
});

export const ThreadReason = builder.enumType('ThreadReason', {
  description: 'Why an email belongs to its thread.',
  values: {
    HEADER: { value: 'header', description: 'Its In-Reply-To header names a message of the thread.' },
    REFERENCES: { value: 'references', description: 'Its References header names a message of the thread.' },
    SUBJECT: { value: 'subject', description: 'Its subject and participants match.' },
    NEW: { value: 'new', description: 'First message of this conversation.' },
    MANUAL: { value: 'manual', description: 'You moved it here.' },
  } as const,
});

export const GuardStatus = builder.enumType('GuardStatus', {
  description: 'How a guard rule holds an email.',
  values: {
    BLOCKED: { value: 'blocked', description: 'A guard rule blocked it.' },
    REVIEW: {
      value: 'review',
      description: 'The language model of a guard rule did not respond; the email waits for your review.',
    },
  } as const,
});

export const EmailPriority = builder.enumType('EmailPriority', {
  description: 'Priority set by the sender.',
  values: {
    HIGH: { value: 'high', description: 'High priority.' },
    NORMAL: { value: 'normal', description: 'Normal priority.' },
    LOW: { value: 'low', description: 'Low priority.' },
  } as const,
});

export const AttachmentDisposition = builder.enumType('AttachmentDisposition', {
  description: 'How an attachment should be displayed (RFC 2183).',
  values: {
    ATTACHMENT: { value: 'attachment', description: 'As a separate file.' },
    INLINE: { value: 'inline', description: 'Inside the text, as an image that the HTML refers to.' },
  } as const,
});

export const RecipientStatus = builder.enumType('RecipientStatus', {
  description: 'Delivery status of one recipient.',
  values: {
    PENDING: { value: 'pending', description: 'Not sent yet, or being retried.' },
    DELIVERED: { value: 'delivered', description: 'Accepted by the recipient’s server.' },
    BOUNCED: {
      value: 'bounced',
      description: 'Rejected permanently, possibly after the server had accepted the email.',
    },
    FAILED: { value: 'failed', description: 'Given up after five days of retries.' },
  } as const,
});

export const AttemptOutcome = builder.enumType('AttemptOutcome', {
  description: 'Result of an attempt to send.',
  values: {
    DELIVERED: { value: 'delivered', description: 'The server accepted the email.' },
    DEFERRED: { value: 'deferred', description: 'Deferred: Postroom retries it.' },
    BOUNCED: { value: 'bounced', description: 'Rejected permanently.' },
    INTERRUPTED: {
      value: 'interrupted',
      description: 'Interrupted by a restart of the service; does not count as an attempt.',
    },
  } as const,
});
