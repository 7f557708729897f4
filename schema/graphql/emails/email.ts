import type { EmailStatus as Status, EmailType as Type } from '../../../core/emails/email-status.ts';
import { downloadPath } from '../../../core/endpoints/download-link.ts';
import { plusTagOf } from '../../../core/mime/address.ts';
import type { RelevanceCursor } from '../../../core/search/relevance-cursor.ts';
import type { KeysetCursor } from '../../../core/shared/page.ts';
import * as emails from '../../../operations/emails/emails.ts';
import { MAX_WAIT_MS, waitForEmail } from '../../../operations/emails/wait-for-email.ts';
import { sentTag } from '../../../operations/sending/draft-capability.ts';
import { USUAL_RECIPIENTS } from '../../../operations/sending/recipient-capability.ts';
import { loadRecipientsOf } from '../../../operations/sending/recipients.ts';
import { SEARCH_SYNTAX } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import { connectionBy, newestCursors, relevanceCursors, totalCount } from '../connection.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { BatchNode, DomainNode, EmailAddressNode, EmailNode, RecipientNode, ThreadNode } from '../nodes.ts';
import { SEARCH_LANGUAGE, SearchLanguage } from '../search/search-language.ts';
import { SEARCH_ORDER, SearchOrder } from '../search/search-order.ts';
import {
  Attachment,
  EmailContentRef,
  loadBody,
  loadEmailParts,
  Mailbox,
  mailboxesOf,
  readMailboxes,
} from './email-content.ts';

const EmailType = builder.enumType('EmailType', {
  description: 'Type of an email.',
  values: enumValues<Type>({
    received: 'Received by one of your addresses.',
    sent: 'Sent, or released from the schedule.',
    scheduled: 'Scheduled to be sent, or waiting for approval; includes cancelled and rejected emails.',
  }),
});

const EmailStatus = builder.enumType('EmailStatus', {
  description: 'Status of an email.',
  values: enumValues<Status>({
    delivered: 'Received, or accepted by the servers of all recipients.',
    pending: 'Being sent. Deferred recipients are retried for five days.',
    failed: 'At least one recipient could not be reached within five days.',
    bounced: 'At least one recipient was rejected permanently, possibly after the server had accepted the email.',
    scheduled: 'Waiting for its send time.',
    paused: 'Scheduled, but on hold until you resume it.',
    cancelled: 'Cancelled before it was sent.',
    awaiting_approval: 'Waiting until it is approved or rejected, because a send policy asks for it.',
    rejected: 'Rejected, or not approved in time. It is not sent.',
  }),
});

const KeptApart = builder.enumType('KeptApart', {
  description: 'Where a received email is kept apart from other mail.',
  values: {
    SPAM: { value: 'spam', description: 'In the folder Spam.' },
    VIRUS: { value: 'virus', description: 'In quarantine, because it has a virus.' },
  } as const,
});

const ThreadReason = builder.enumType('ThreadReason', {
  description: 'Why an email belongs to its thread.',
  values: enumValues<NonNullable<emails.EmailSummary['threadReason']>>({
    header: 'Its In-Reply-To header names a message of the thread.',
    references: 'Its References header names a message of the thread.',
    subject: 'Its subject and participants match.',
    'reply-address': 'It was sent to a reply address that names the thread.',
    new: 'First message of this conversation.',
    manual: 'You moved it here.',
  }),
});

const GuardStatus = builder.enumType('GuardStatus', {
  description: 'How a guard rule holds an email.',
  values: enumValues<NonNullable<emails.EmailSummary['guardStatus']>>({
    blocked: 'A guard rule blocked it.',
    review: 'The language model of a guard rule did not respond; the email waits for your review.',
  }),
});

const recipientsOf = loadByOwner(({ reads }, emailIds) => loadRecipientsOf(reads, emailIds));
const sizeOf = loadByOwner(({ reads }, emailIds) => emails.loadSizes(reads, emailIds));

const Tag = typeFor(sentTag, { isOfDomain: true });

EmailNode.implement({
  description: 'An email that was received, sent or scheduled.',
  isOfDomain: true,
  fields: (t) => ({
    type: t.expose('type', { type: EmailType, description: 'Type of the email.' }),
    status: t.expose('status', { type: EmailStatus, description: 'Status of the email.' }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'Why sending stopped. Null if sending continues or succeeded.',
    }),
    messageId: t.exposeString('messageId', {
      description: 'Message-ID header, with angle brackets (RFC 5322 §3.6.4).',
    }),
    subject: t.exposeString('subject', { description: 'Subject, decoded; empty if there is none.' }),
    preview: t.exposeString('preview', { description: 'First characters of the text the author typed, for lists.' }),
    from: t.field({
      type: Mailbox,
      description: 'First address in the From header.',
      resolve: ({ fromName, fromAddress }) => ({ name: fromName, address: fromAddress }),
    }),
    fromText: t.exposeString('fromText', { description: 'From header, decoded.' }),
    to: t.field({ type: [Mailbox], description: 'To header.', resolve: (email) => mailboxesOf(email, 'to') }),
    cc: t.field({ type: [Mailbox], description: 'Cc header.', resolve: (email) => mailboxesOf(email, 'cc') }),
    bcc: t.field({
      type: [Mailbox],
      description: 'Bcc recipients of a sent email. For received mail the Bcc header, which is usually absent.',
      resolve: (email, _args, context) => readMailboxes(context, email, 'bcc'),
    }),
    replyTo: t.field({
      type: [Mailbox],
      description: 'Addresses to reply to. Empty to reply to the sender.',
      resolve: (email, _args, context) => readMailboxes(context, email, 'replyTo'),
    }),
    envelopeRecipient: t.exposeString('recipient', {
      nullable: true,
      description: 'Envelope recipient of a received email, including the plus tag. Null for sent mail.',
    }),
    metadata: t.expose('metadata', {
      type: 'JSON',
      nullable: true,
      description:
        'Metadata of the reply address that received the email, or else of the sent email that it answers (In-Reply-To, References). Of a sent email: as it was given. Null if there is none.',
    }),
    plusTag: t.string({
      nullable: true,
      description: 'Plus tag of the envelope recipient: `news` in `ann+news@example.com`. Null if there is none.',
      resolve: ({ recipient }) => (recipient === null ? null : plusTagOf(recipient)),
    }),
    ownAddress: t.field({
      type: EmailAddressNode,
      nullable: true,
      description:
        'Your address that received or sent the email. Null if the catch-all received it, it was sent from another address of the domain, or the address was deleted.',
      resolve: ({ addressId }) => addressId,
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Your domain that received or sent the email. Null if it was deleted.',
      resolve: ({ domainId }) => domainId,
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the email was received or created. Lists are sorted by it.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the email last changed.' }),
    sentAt: t.expose('sentAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a server first accepted the sent email. Null if none has, or for received mail.',
    }),
    scheduledAt: t.expose('scheduledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Scheduled send time. Null if the email was never scheduled.',
    }),
    timezone: t.exposeString('timezone', {
      nullable: true,
      description: 'IANA time zone of the scheduled time. Null if the email was never scheduled.',
    }),
    date: t.expose('date', {
      type: 'DateTime',
      nullable: true,
      description: 'Date header, set by the sender. Null if it is missing or invalid.',
    }),
    isRead: t.exposeBoolean('isRead', {
      description: 'Whether the received email is marked as read. False for sent mail.',
    }),
    readAt: t.expose('readAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the email was marked as read. Null if it is unread.',
    }),
    isArchived: t.exposeBoolean('isArchived', { description: 'Whether the received email is archived.' }),
    isTest: t.exposeBoolean('isTest', { description: 'Whether the email was created by simulateInbound.' }),
    hasAttachments: t.exposeBoolean('hasAttachments', { description: 'Whether the email has attachments.' }),
    attachmentCount: t.exposeInt('attachmentCount', { description: 'Number of attachments.' }),
    attachments: t.field({
      type: [Attachment],
      description: 'Attachments, in the order of the email.',
      resolve: async ({ id: emailId, hasAttachments }, _args, context) => {
        if (!hasAttachments) return [];
        const { attachments } = await loadEmailParts(context, emailId, null);
        return attachments.map((attachment) => ({ emailId, attachment }));
      },
    }),
    tags: t.field({
      type: [Tag],
      description: 'Tags of a sent email.',
      resolve: async ({ id, type }, _args, context) =>
        type === 'received' ? [] : (await loadEmailParts(context, id, null)).tags,
    }),
    text: t.string({
      nullable: true,
      description: 'The plain-text body as received, as in `content`. Null if there is none.',
      resolve: ({ id }, _args, context) => loadBody(context, id, 'text'),
    }),
    content: t.field({
      type: EmailContentRef,
      description: 'Bodies and headers.',
      resolve: ({ id }) => ({ emailId: id }),
    }),
    size: t.int({
      nullable: true,
      description: 'Size of the raw message in bytes. Null if it is no longer stored.',
      resolve: ({ id, hasOctets }, _args, context) => (hasOctets ? sizeOf(context, id, null) : null),
    }),
    rawUrl: t.field({
      type: 'URL',
      nullable: true,
      description:
        'URL of the raw message, `message/rfc822`. Requires the same API key. Null if it is no longer stored.',
      resolve: ({ id, hasOctets }, _args, { operations }) =>
        hasOctets ? operations.settings.publicUrl + downloadPath({ emailId: id, part: 'raw' }) : null,
    }),
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread. Null for a moment after the email arrives, and until a scheduled email is sent.',
      resolve: ({ threadId }) => threadId,
    }),
    trashedAt: t.expose('trashedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the email was moved to the trash. Null if it is not there.',
    }),
    keptApart: t.expose('keptApart', {
      type: KeptApart,
      nullable: true,
      description: 'Whether the email is in the folder Spam or in quarantine. Null for other mail.',
    }),
    threadPosition: t.exposeInt('threadPosition', {
      nullable: true,
      description: 'Position in the thread, starting at 0. Null if there is no thread yet.',
    }),
    threadReason: t.expose('threadReason', {
      type: ThreadReason,
      nullable: true,
      description: 'Why the email belongs to this thread. Null if there is no thread yet.',
    }),
    batch: t.field({
      type: BatchNode,
      nullable: true,
      description: 'The batch the email was sent with. Null if it was sent alone or received.',
      resolve: ({ batchId }) => batchId,
    }),
    guardStatus: t.expose('guardStatus', {
      type: GuardStatus,
      nullable: true,
      description: 'How a guard rule holds the email. Null if none does.',
    }),
    recipients: t.field({
      type: [RecipientNode],
      description: 'Recipients and their delivery status, in the order To, Cc, Bcc. Empty for received mail.',
      complexity: { field: 1, multiplier: USUAL_RECIPIENTS },
      resolve: ({ id, type }, _args, context) => (type === 'received' ? [] : recipientsOf(context, id, null)),
    }),
  }),
});

const EmailStatusFilter = builder.enumType('EmailStatusFilter', {
  description: 'Status of an email, or state of a received email. BLOCKED includes everything that guard rules hold.',
  values: enumValues<Exclude<(typeof emails.EMAIL_STATUSES)[number], 'all'>>({
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
  }),
});

const TimeRange = builder.enumType('TimeRange', {
  description: 'Maximum age of emails, by creation time.',
  values: {
    HOUR: { value: '1h', description: 'Last hour.' },
    DAY: { value: '24h', description: 'Last 24 hours.' },
    WEEK: { value: '7d', description: 'Last 7 days.' },
    MONTH: { value: '30d', description: 'Last 30 days.' },
    QUARTER: { value: '90d', description: 'Last 90 days.' },
    ALL: { value: 'all', description: 'Any age.' },
  } as const,
});

const SpamChoice = builder.enumType('SpamChoice', {
  description: 'Which emails of the folder Spam a list has.',
  values: {
    INCLUDE: { value: 'include', description: 'With the other emails.' },
    ONLY: { value: 'only', description: 'Only these.' },
  } as const,
});

const EmailFilter = builder.inputType('EmailFilter', {
  description: 'Filters a list of emails. Omit a field or pass null to match all; only timeRange has a default.',
  fields: (t) => ({
    type: t.field({ type: EmailType, description: 'Matches emails of this type. Omit to match all types.' }),
    status: t.field({ type: EmailStatusFilter, description: 'Matches emails with this status.' }),
    isArchived: t.boolean({ description: 'True matches archived emails only, false the others.' }),
    isTest: t.boolean({ description: 'True matches simulated emails only, false all others.' }),
    isTrashed: t.boolean({ description: 'True matches emails in the trash, which are left out otherwise.' }),
    spam: t.field({
      type: SpamChoice,
      description: 'Matches emails in the folder Spam and in quarantine, which are left out otherwise.',
    }),
    timeRange: t.field({
      type: TimeRange,
      description:
        'Maximum age of the emails. The default is 30 days, or any age for a search. Use ALL to match every email.',
    }),
    domain: t.string({
      description: 'ID of a domain of yours, to match its mail; or a domain name, to match mail sent to or from it.',
    }),
    address: t.string({
      description:
        'ID of an address of yours, to match its mail; or any email address, to match mail sent to or from it.',
    }),
    contains: t.string({
      description: 'Part of the subject, sender or recipients, case-insensitive, up to 100 characters.',
    }),
  }),
});

const DEFAULT_TIMEOUT_SECONDS = 30;
/** Time for the queries before and after a wait, in milliseconds. */
const QUERY_MS = 10_000;

builder.queryFields((t) => ({
  email: t.field({
    type: EmailNode,
    access: access.read,
    nullable: true,
    description: 'Returns the email with this ID, or null if the account has no such email.',
    args: { id: t.arg.id({ required: true, description: 'ID of the email.' }) },
    resolve: (_root, { id }) => id,
  }),
  waitForEmail: t.field({
    type: EmailNode,
    access: access.read,
    nullable: true,
    description:
      'Waits for a received email that matches all arguments and returns the first one once it has a thread. Returns null if none arrives in time.',
    args: {
      address: t.arg.string({
        description:
          'ID of an address of yours, or the address itself. An address with a plus tag matches mail to that tag only.',
      }),
      domain: t.arg.string({ description: 'ID or name of a domain of yours.' }),
      from: t.arg.string({ description: 'Email address or domain of the sender.' }),
      subject: t.arg.string({ description: 'Part of the subject, case-insensitive.' }),
      since: t.arg({
        type: 'DateTime',
        description: 'Also matches mail accepted since this time, up to 24 hours ago. Null matches mail from now on.',
      }),
      timeout: t.arg.int({
        defaultValue: DEFAULT_TIMEOUT_SECONDS,
        description: `Seconds to wait, 0 to ${MAX_WAIT_MS / 1_000}.`,
      }),
    },
    resolve: (_root, { timeout, ...given }, { operations, answerWithin }) => {
      const timeoutMs = (timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1_000;
      const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
      if (timeoutMs >= 0 && timeoutMs <= MAX_WAIT_MS) answerWithin(timeoutMs + QUERY_MS);
      return waitForEmail(operations, filter, timeoutMs);
    },
  }),
  emails: t.connection(
    {
      type: EmailNode,
      access: access.read,
      description:
        'Sent, received and scheduled emails in one list, newest first. Without a filter, those of the last 30 days.',
      args: {
        filter: t.arg({ type: EmailFilter, description: 'Filters the emails.' }),
        search: t.arg.string({ description: SEARCH_SYNTAX }),
        orderBy: t.arg({ type: SearchOrder, defaultValue: 'newest', description: SEARCH_ORDER }),
        language: t.arg({ type: SearchLanguage, description: SEARCH_LANGUAGE }),
      },
      complexity: connectionComplexity,
      resolve: async (_root, { filter, search, orderBy, language, ...args }, { reads }) => {
        const query = { ...emailQuery(filter), words: search ?? undefined, language: language ?? undefined };
        const page =
          orderBy === 'relevance'
            ? await connectionBy<emails.RankedEmail, RelevanceCursor>(
                relevanceCursors,
                args,
                (email) => ({ ...cursorOf(email), score: email.score }),
                (span) => emails.pageEmailsByRelevance(reads, query, span),
              )
            : await connectionBy<emails.EmailSummary, KeysetCursor>(newestCursors, args, cursorOf, (span) =>
                emails.pageEmails(reads, query, span),
              );
        return { ...page, count: () => emails.countEmails(reads, query) };
      },
    },
    {
      name: 'EmailConnection',
      description: 'A page of emails.',
      fields: (c) => totalCount(c),
    },
    { name: 'EmailEdge', description: 'An email and its cursor.' },
  ),
}));

function cursorOf(email: emails.EmailSummary): KeysetCursor {
  return { at: email.createdAt, id: email.id };
}

type EmailFilterInput = typeof EmailFilter.$inferInput | null | undefined;

function emailQuery(filter: EmailFilterInput): emails.EmailQuery {
  return {
    type: filter?.type ?? undefined,
    status: filter?.status ?? undefined,
    isArchived: filter?.isArchived ?? undefined,
    isTest: filter?.isTest ?? undefined,
    isTrashed: filter?.isTrashed ?? undefined,
    spam: filter?.spam ?? undefined,
    timeRange: filter?.timeRange ?? undefined,
    domain: filter?.domain ?? undefined,
    address: filter?.address ?? undefined,
    search: filter?.contains ?? undefined,
  };
}
