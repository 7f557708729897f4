import { z } from 'zod';
import { EMAIL_STATUSES, EMAIL_TYPES } from '../../core/emails/email-status.ts';
import { REMOVED_KINDS } from '../../core/mime/reply-text.ts';
import { KEPT_APART, SPAM_CHOICES } from '../../core/screening/spam-check.ts';
import {
  graphqlOnly,
  graphqlText,
  inRest,
  linkTo,
  named,
  nameType,
  restOnly,
  usually,
} from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { sentTag } from '../sending/draft-capability.ts';
import { recipientShape, USUAL_RECIPIENTS } from '../sending/recipient-capability.ts';
import { attachmentShape, bodyText, contentShape, mailboxShape } from './content-shapes.ts';
import * as emails from './emails.ts';
import { calendarEvent } from './finding-shapes.ts';

/** Emails as all interfaces have them: the fields of an email, of an item in a list, and of a message in a thread; and the filters of lists. */

const maybe = z.string().nullable();
const number = z.number().int();
const texts = z.array(z.string());
const mailboxes = z.array(mailboxShape);

/** Headers by lower-case name. Not a z.record, which would drop a header named `__proto__`. */
const headers = z.unknown().meta({ type: 'object', additionalProperties: { type: 'string' } });

const emailType = oneOf(EMAIL_TYPES, {
  name: 'EmailType',
  description: 'Type of an email.',
  values: {
    received: 'Received by one of your addresses.',
    sent: 'Sent, or released from the schedule.',
    scheduled: 'Scheduled to be sent, or waiting for approval; includes cancelled and rejected emails.',
  },
});

const emailStatus = oneOf(EMAIL_STATUSES, {
  name: 'EmailStatus',
  description: 'Status of an email.',
  values: {
    delivered: 'Received, or accepted by the servers of all recipients.',
    pending: 'Being sent. Deferred recipients are retried for five days.',
    failed: 'At least one recipient could not be reached within five days.',
    bounced: 'At least one recipient was rejected permanently, possibly after the server had accepted the email.',
    scheduled: 'Waiting for its send time.',
    paused: 'Scheduled, but on hold until you resume it.',
    cancelled: 'Cancelled before it was sent.',
    awaiting_approval: 'Waiting until it is approved or rejected, because a send policy asks for it.',
    rejected: 'Rejected, or not approved in time. It is not sent.',
  },
});

/** Published clients know no approval: for them, mail that waits for it is queued, and rejected mail was cancelled. `approval` says more. */
const restStatus = z
  .enum(EMAIL_STATUSES)
  .exclude(['awaiting_approval', 'rejected'])
  .or(z.literal('queued'))
  .meta({ description: '`queued`: it waits for approval; see `approval`. Rejected mail is `cancelled`.' });

const attachment = z
  .object({
    filename: z.string(),
    contentType: z.string(),
    size: number.meta({ description: 'Size in bytes, decoded.' }),
    contentId: maybe,
    contentDisposition: z.enum(['attachment', 'inline']).nullable(),
    downloadUrl: z.string(),
  })
  .meta({ id: 'Attachment' });

const cleanedContent = z
  .object({
    text: bodyText.nullable().meta({ description: 'The text the author typed, without quotes and signature.' }),
    html: bodyText.nullable().meta({
      description:
        'The same of the HTML, without anything that can run, load or mislead. Null if it is too long to clean.',
    }),
    quotedText: bodyText.nullable().meta({ description: 'The quoted mail that was removed, as text.' }),
    signature: bodyText.nullable().meta({ description: 'The signature that was removed, as text.' }),
    removedFrom: z.enum(['text', 'html']).meta({
      description: 'The body as received that `removed_parts` are offsets in; `html` when the email came without text.',
    }),
    removedParts: z
      .array(
        z.object({
          kind: z.enum(REMOVED_KINDS),
          start: number.meta({ description: 'Offset in the body, in UTF-16 code units.' }),
          end: number.meta({ description: 'Offset after its last character.' }),
        }),
      )
      .meta({ description: 'Where the body has what was removed, in order.' }),
  })
  .meta({ id: 'CleanedContent' });

const subject = graphqlText(z.string(), 'Subject, decoded; empty if there is none.');
const messageId = named(graphqlText(z.string(), 'Message-ID header, with angle brackets (RFC 5322 §3.6.4).'), {
  graphqlType: 'String',
});
const preview = graphqlText(z.string(), 'First characters of the text the author typed, for lists.');
const attachmentCount = graphqlText(number, 'Number of attachments.');
const addressees = {
  to: inRest(graphqlText(mailboxes, 'To header.'), texts),
  cc: inRest(graphqlText(mailboxes, 'Cc header.'), texts),
  bcc: inRest(
    graphqlText(
      mailboxes,
      'Bcc recipients of a sent email. For received mail the Bcc header, which is usually absent.',
    ),
    texts,
  ),
};
const replyTo = inRest(
  graphqlText(mailboxes, 'Addresses to reply to. Empty to reply to the sender.'),
  texts.nullable(),
);
const status = inRest(graphqlText(emailStatus, 'Status of the email.'), restStatus);
const lastEvent = restOnly(
  z.enum(['queued', 'delivered', 'bounced', 'failed', 'scheduled', 'canceled', 'pending']),
).meta({
  description:
    'Status in the terms of the `resend` client. Under `/api/v2`, those of `@inboundemail/sdk`: pending, delivered or failed.',
});
const createdAt = graphqlText(z.date(), 'When the email was received or created. Lists are sorted by it.');
const sentAt = graphqlText(
  z.date().nullable(),
  'When a server first accepted the sent email. Null if none has, or for received mail.',
);
const scheduledAt = graphqlText(z.date().nullable(), 'Scheduled send time. Null if the email was never scheduled.');
const hasAttachments = graphqlText(z.boolean(), 'Whether the email has attachments.');
const attachments = inRest(
  graphqlText(z.array(attachmentShape), 'Attachments, in the order of the email.'),
  z.array(attachment),
);
const flags = {
  isRead: graphqlText(z.boolean(), 'Whether the received email is marked as read. False for sent mail.'),
  readAt: graphqlText(z.date().nullable(), 'When the email was marked as read. Null if it is unread.'),
};
const isArchived = graphqlText(z.boolean(), 'Whether the received email is archived.');
const keptApart = graphqlText(
  oneOf(KEPT_APART, {
    name: 'KeptApart',
    description: 'Where a received email is kept apart from other mail.',
    values: { spam: 'In the folder Spam.', virus: 'In quarantine, because it has a virus.' },
  }).nullable(),
  'Whether the email is in the folder Spam or in quarantine. Null for other mail.',
).meta({ description: '`spam`: it is in the folder Spam. `virus`: it is in quarantine. Null for other mail.' });
const isTest = graphqlText(z.boolean(), 'Whether the email was created by simulateInbound.').meta({
  description: 'Whether this is a test email that did not arrive over SMTP.',
});
const threadId = linkTo(
  'Thread',
  graphqlText(maybe, 'The thread. Null for a moment after the email arrives, and until a scheduled email is sent.'),
).meta({ description: 'Null until the email is threaded, which happens shortly after it is received or sent.' });
const threadPosition = graphqlText(
  number.nullable(),
  'Position in the thread, starting at 0. Null if there is no thread yet.',
);
const envelopeRecipient = graphqlText(
  maybe,
  'Envelope recipient of a received email, including the plus tag. Null for sent mail.',
);
const guard = {
  guardStatus: graphqlText(
    oneOf(['blocked', 'review'], {
      name: 'GuardStatus',
      description: 'How a guard rule holds an email.',
      values: {
        blocked: 'A guard rule blocked it.',
        review: 'The language model of a guard rule did not respond; the email waits for your review.',
      },
    }).nullable(),
    'How a guard rule holds the email. Null if none does.',
  ).meta({
    description:
      '`blocked`: a guard rule holds the email. `review`: the rule’s language model did not respond, and the email waits for your review.',
  }),
  guardRuleId: restOnly(maybe).meta({ description: 'The guard rule that matched or holds the email.' }),
};
const tags = inRest(
  graphqlText(z.array(sentTag), 'Tags of a sent email.'),
  z.array(z.object({ name: z.string(), value: z.string() })),
);

/** An email that was opened, in REST. */
export const openedEmailShape = z
  .object({
    object: restOnly(z.literal('email')),
    id: restOnly(z.string()),
    type: graphqlText(emailType, 'Type of the email.'),
    messageId,
    from: inRest(graphqlText(mailboxShape, 'First address in the From header.'), z.string()),
    ...addressees,
    replyTo,
    subject,
    html: restOnly(bodyText.nullable()),
    text: named(
      graphqlText(bodyText.nullable(), 'The plain-text body as received, as in `content`. Null if there is none.'),
      {
        graphqlType: 'String',
      },
    ),
    cleanedContent: restOnly(cleanedContent.nullable()).meta({ description: 'Null for sent mail.' }),
    status,
    lastEvent,
    createdAt,
    updatedAt: graphqlText(z.date(), 'When the email last changed.'),
    sentAt,
    scheduledAt,
    hasAttachments,
    attachments,
    event: restOnly(calendarEvent.nullable()).meta({
      description: 'The event of its first calendar. Null if it has none.',
    }),
    ...flags,
    isArchived,
    trashedAt: graphqlText(z.date().nullable(), 'When the email was moved to the trash. Null if it is not there.').meta(
      { description: 'When it was moved to the trash. Null if it is not there.' },
    ),
    keptApart,
    isTest,
    threadId,
    threadPosition,
    metadata: z.unknown().meta({
      description:
        'Metadata of the reply address that received the email, or else of the sent email that it answers (In-Reply-To, References). Of a sent email: as it was given. Null if there is none.',
    }),
    envelopeRecipient,
    ...guard,
    headers: restOnly(headers),
    tags,
    authentication: restOnly(z.unknown()).meta({
      description: 'Results of SPF, DKIM, DMARC and ARC. Null if not checked.',
    }),
    recipients: restOnly(z.array(recipientShape.meta({ id: 'Recipient' }))).meta({
      description: 'Delivery status of each recipient. Empty for received mail.',
    }),
  })
  .meta({ id: 'Email' });

/** An email in a list of REST. */
export const listedEmailShape = z
  .object({
    id: z.string(),
    type: emailType,
    messageId,
    from: z.string(),
    fromName: maybe,
    ...addressees,
    replyTo,
    subject,
    preview,
    status,
    lastEvent,
    createdAt,
    sentAt,
    scheduledAt,
    hasAttachments,
    attachmentCount,
    threadId,
    ...flags,
    isArchived,
    keptApart,
    isTest,
    envelopeRecipient,
    ...guard,
  })
  .meta({ id: 'EmailListItem' });

/** A message of a thread in REST. */
export const threadMessageShape = z
  .object({
    id: z.string(),
    messageId,
    type: z.enum(['inbound', 'outbound']),
    threadPosition,
    subject,
    textBody: bodyText.nullable(),
    htmlBody: bodyText.nullable(),
    from: z.string(),
    fromName: maybe,
    fromAddress: z.string(),
    ...addressees,
    date: z.date(),
    receivedAt: z.date().nullable(),
    sentAt,
    ...flags,
    hasAttachments,
    attachments,
    inReplyTo: maybe,
    references: texts,
    headers,
    tags,
    status: z.enum(['pending', 'sent', 'bounced', 'failed']).optional(),
    failureReason: maybe.optional(),
  })
  .meta({ id: 'ThreadMessage' });

/** An email in GraphQL, which reads a field only if it is requested. */
export const emailShape = z
  .object({
    ...openedEmailShape.shape,
    preview,
    attachmentCount,
    hasFiles: z.boolean().meta({
      description: 'Whether the email has attachments other than images that its HTML shows. For lists.',
    }),
    isReadByMe: z.boolean().nullable().meta({
      description:
        'Whether you have read this received email. Null for sent mail, and for requests without a person. isRead belongs to the workspace.',
    }),
    failureReason: maybe.meta({ description: 'Why sending stopped. Null if sending continues or succeeded.' }),
    fromText: z.string().meta({ description: 'From header, decoded.' }),
    plusTag: maybe.meta({
      description: 'Plus tag of the envelope recipient: `news` in `ann+news@example.com`. Null if there is none.',
    }),
    addressId: linkTo('EmailAddress', maybe, 'ownAddress').meta({
      description:
        'Your address that received or sent the email. Null if the catch-all received it, it was sent from another address of the domain, or the address was deleted.',
    }),
    domainId: linkTo('Domain', maybe).meta({
      description: 'Your domain that received or sent the email. Null if it was deleted.',
    }),
    timezone: maybe.meta({
      description: 'IANA time zone of the scheduled time. Null if the email was never scheduled.',
    }),
    date: z.date().nullable().meta({
      description: 'Date header, set by the sender. Null if it is missing or invalid.',
    }),
    content: contentShape.meta({ description: 'Bodies and headers.' }),
    size: number.nullable().meta({
      description: 'Size of the raw message in bytes. Null if it is no longer stored.',
    }),
    rawUrl: named(maybe, { graphqlType: 'URL' }).meta({
      description:
        'URL of the raw message, `message/rfc822`. Requires the same API key. Null if it is no longer stored.',
    }),
    threadReason: oneOf(['header', 'references', 'subject', 'reply-address', 'new', 'manual'], {
      name: 'ThreadReason',
      description: 'Why an email belongs to its thread.',
      values: {
        header: 'Its In-Reply-To header names a message of the thread.',
        references: 'Its References header names a message of the thread.',
        subject: 'Its subject and participants match.',
        'reply-address': 'It was sent to a reply address that names the thread.',
        new: 'First message of this conversation.',
        manual: 'You moved it here.',
      },
    })
      .nullable()
      .meta({ description: 'Why the email belongs to this thread. Null if there is no thread yet.' }),
    batchId: linkTo('Batch', maybe).meta({
      description: 'The batch the email was sent with. Null if it was sent alone or received.',
    }),
    recipientIds: usually(USUAL_RECIPIENTS, linkTo('Recipient', graphqlOnly(texts), 'recipients')).meta({
      description: 'Recipients and their delivery status, in the order To, Cc, Bcc. Empty for received mail.',
    }),
  })
  .meta({ description: 'An email that was received, sent or scheduled.' });

const [, ...statusFilters] = emails.EMAIL_STATUSES;

/** Filters of lists of emails in GraphQL. */
export const emailFilter = nameType(
  z.object({
    type: emailType.optional().meta({ description: 'Matches emails of this type. Omit to match all types.' }),
    status: oneOf(statusFilters, {
      name: 'EmailStatusFilter',
      description:
        'Status of an email, or state of a received email. BLOCKED includes everything that guard rules hold.',
      values: {
        delivered: 'Received, or accepted by the servers of all recipients.',
        pending: 'Being sent: queued or deferred.',
        queued: 'Being sent, and no server deferred it.',
        deferred: 'Deferred by a recipient’s server, and retried.',
        complained: 'Sent, and reported as spam by a recipient.',
        failed: 'Given up for a recipient after five days of retries.',
        bounced: 'Rejected permanently by a recipient’s server.',
        scheduled: 'Waiting for its send time.',
        cancelled: 'Cancelled before it was sent.',
        paused: 'On hold until you resume it.',
        awaiting_approval: 'Waiting for approval.',
        rejected: 'Rejected, or not approved in time.',
        unread: 'Received and unread.',
        read: 'Received and read.',
        archived: 'Received and archived.',
        blocked: 'Received and held by a guard rule or waiting for review.',
      },
    })
      .optional()
      .meta({ description: 'Matches emails with this status.' }),
    isArchived: z.boolean().optional().meta({ description: 'True matches archived emails only, false the others.' }),
    isTest: z.boolean().optional().meta({ description: 'True matches simulated emails only, false all others.' }),
    isTrashed: z.boolean().optional().meta({
      description: 'True matches emails in the trash, which are left out otherwise.',
    }),
    spam: oneOf(SPAM_CHOICES, {
      name: 'SpamChoice',
      description: 'Which emails of the folder Spam a list has.',
      values: { include: 'With the other emails.', only: 'Only these.' },
    })
      .optional()
      .meta({ description: 'Matches emails in the folder Spam and in quarantine, which are left out otherwise.' }),
    timeRange: oneOf(emails.TIME_RANGES, {
      name: 'TimeRange',
      description: 'Maximum age of emails, by creation time.',
      names: { '1h': 'HOUR', '24h': 'DAY', '7d': 'WEEK', '30d': 'MONTH', '90d': 'QUARTER', all: 'ALL' },
      values: {
        '1h': 'Last hour.',
        '24h': 'Last 24 hours.',
        '7d': 'Last 7 days.',
        '30d': 'Last 30 days.',
        '90d': 'Last 90 days.',
        all: 'Any age.',
      },
    })
      .optional()
      .meta({
        description:
          'Maximum age of the emails. The default is 30 days, or any age for a search. Use ALL to match every email.',
      }),
    domain: z.string().optional().meta({
      description: 'ID of a domain of yours, to match its mail; or a domain name, to match mail sent to or from it.',
    }),
    address: z.string().optional().meta({
      description:
        'ID of an address of yours, to match its mail; or any email address, to match mail sent to or from it.',
    }),
    search: named(z.string().optional(), { graphqlName: 'contains' }).meta({
      description: 'Part of the subject, sender or recipients, case-insensitive, up to 100 characters.',
    }),
  }),
  {
    input: 'EmailFilter',
    description: 'Filters a list of emails. Omit a field or pass null to match all; only timeRange has a default.',
  },
);
