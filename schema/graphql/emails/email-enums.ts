import { builder } from '../builder.ts';

export const EmailType = builder.enumType('EmailType', {
  description: 'Which way an email goes.',
  values: {
    RECEIVED: { value: 'received', description: 'It came in for one of your addresses.' },
    SENT: { value: 'sent', description: 'You sent it, or it left the schedule.' },
    SCHEDULED: {
      value: 'scheduled',
      description: 'You wrote it, and it waits for its time; cancelled ones stay here.',
    },
  } as const,
});

export const EmailStatus = builder.enumType('EmailStatus', {
  description: 'How far an email came.',
  values: {
    DELIVERED: { value: 'delivered', description: 'Received mail; sent mail that every recipient’s server took.' },
    PENDING: { value: 'pending', description: 'On its way; deferred recipients are tried for five days.' },
    FAILED: { value: 'failed', description: 'A recipient was given up after five days of trying.' },
    BOUNCED: {
      value: 'bounced',
      description: 'A recipient was refused for good, perhaps after its server took the mail.',
    },
    SCHEDULED: { value: 'scheduled', description: 'It goes at its time.' },
    PAUSED: { value: 'paused', description: 'It was on the schedule and is held back until it is resumed.' },
    CANCELLED: { value: 'cancelled', description: 'It was on the schedule and is never sent.' },
  } as const,
});

export const ThreadReason = builder.enumType('ThreadReason', {
  description: 'Why an email stands in its thread.',
  values: {
    HEADER: { value: 'header', description: 'Its In-Reply-To names a message of the thread.' },
    REFERENCES: { value: 'references', description: 'Its References name one.' },
    SUBJECT: { value: 'subject', description: 'Subject and participants fit.' },
    NEW: { value: 'new', description: 'It opened the thread.' },
    MANUAL: { value: 'manual', description: 'You put it there.' },
  } as const,
});

export const GuardStatus = builder.enumType('GuardStatus', {
  description: 'How a guard rule holds an email back.',
  values: {
    BLOCKED: { value: 'blocked', description: 'A rule blocked it.' },
    REVIEW: { value: 'review', description: 'The model behind a rule did not answer, so that it waits for you.' },
  } as const,
});

export const EmailPriority = builder.enumType('EmailPriority', {
  description: 'How urgent a sender calls an email.',
  values: {
    HIGH: { value: 'high', description: 'Urgent.' },
    NORMAL: { value: 'normal', description: 'As any other.' },
    LOW: { value: 'low', description: 'Not urgent.' },
  } as const,
});

export const AttachmentDisposition = builder.enumType('AttachmentDisposition', {
  description: 'How an attachment asks to be shown (RFC 2183).',
  values: {
    ATTACHMENT: { value: 'attachment', description: 'Apart from the text.' },
    INLINE: { value: 'inline', description: 'Within the text, as a picture that the HTML names.' },
  } as const,
});

export const RecipientStatus = builder.enumType('RecipientStatus', {
  description: 'How far an email came with one recipient.',
  values: {
    PENDING: { value: 'pending', description: 'It is still to be sent, or is tried again.' },
    DELIVERED: { value: 'delivered', description: 'The recipient’s server took it.' },
    BOUNCED: { value: 'bounced', description: 'It was refused for good, perhaps after the server had taken it.' },
    FAILED: { value: 'failed', description: 'It was given up after five days of trying.' },
  } as const,
});

export const AttemptOutcome = builder.enumType('AttemptOutcome', {
  description: 'What a try to send came to.',
  values: {
    DELIVERED: { value: 'delivered', description: 'The server took the mail.' },
    DEFERRED: { value: 'deferred', description: 'Not now: it is tried again.' },
    BOUNCED: { value: 'bounced', description: 'Refused for good.' },
    INTERRUPTED: { value: 'interrupted', description: 'It ended with the service, and does not count.' },
  } as const,
});
