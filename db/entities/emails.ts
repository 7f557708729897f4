import { defineEntity, p } from '@mikro-orm/core';
import type { GeneratedAlways } from 'kysely';
import { EMAIL_STATUSES, EMAIL_TYPES, type EmailStatus, type EmailType } from '../../core/emails/email-status.ts';
import type { Injection } from '../../core/screening/screened-mail.ts';
import { KEPT_APART, SCREENING_JOBS, type Screening } from '../../core/screening/spam-check.ts';
import { THREAD_REASONS } from '../../core/threads/threading.ts';

/** The bytes of one SMTP transaction, as received, without our own trace headers; shared by its recipients. */
export const RawMessageSchema = defineEntity({
  name: 'RawMessage',
  tableName: 'raw_message',
  properties: {
    id: p.text().primary(),
    packed: p.blob().$type<Buffer>(),
    sha256: p.blob().$type<Buffer>(),
    sizeBytes: p.integer(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/**
 * One row per accepted recipient, committed before the 250. It stores the envelope. It is due for parsing while parsed_at is null and
 * claimed_until is past.
 */
export const ReceptionSchema = defineEntity({
  name: 'Reception',
  tableName: 'reception',
  properties: {
    workspaceId: p.text().primary(),
    emailId: p.text().primary(),
    rawId: p.text(),
    reversePath: p.text(),
    recipient: p.text(),
    ownAddress: p.text(),
    addressId: p.text().nullable(),
    domainId: p.text(),
    remoteAddress: p.text(),
    helo: p.text(),
    isTls: p.boolean(),
    traceFields: p.text(),
    acceptedAt: p.datetime(3),
    parsedAt: p.datetime(3).nullable(),
    claimedBy: p.text().nullable(),
    claimedUntil: p.datetime(3).nullable(),
    tries: p.smallint().default(0),
    lastError: p.text().nullable(),
    /** simulated by the user, not received by SMTP */
    isTest: p.boolean().default(false),
    /** the reply address in `recipient`; null: it is not one */
    replyAddressId: p.text().nullable(),
    /** see Imported in db/queries/emails/reception-claim.ts; null: not imported */
    imported: p.json<unknown>().nullable(),
    /** what the scanners said before the 250; null: nothing */
    screening: p.json<Screening>().nullable(),
    /** how often its client offered it again, and when it last did */
    repeatCount: p.integer().default(0),
    repeatedAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'reception_raw', properties: ['rawId'] },
    { name: 'reception_unparsed', properties: ['acceptedAt'], where: 'parsed_at IS NULL' },
  ],
});

/** Detects a client that lost our 250 and sends the same bytes again (core/smtp/repeated-mail.ts). Rows that expired are removed. */
export const SmtpOfferSchema = defineEntity({
  name: 'SmtpOffer',
  tableName: 'smtp_offer',
  properties: {
    workspaceId: p.text().primary(),
    recipient: p.text().primary(),
    reversePath: p.text().primary(),
    sha256: p.blob().$type<Buffer>().primary(),
    remoteAddress: p.text().primary(),
    emailId: p.text(),
    acceptedAt: p.datetime(3),
    /** from then on the same bytes are a new message */
    expiresAt: p.datetime(3),
  },
  indexes: [{ name: 'smtp_offer_end', properties: ['expiresAt'] }],
});

/** What is still to be asked of the scanners, and lessons for the spam filter. */
export const ScreeningJobSchema = defineEntity({
  name: 'ScreeningJob',
  tableName: 'screening_job',
  properties: {
    workspaceId: p.text().primary(),
    emailId: p.text().primary(),
    kind: p.enum(SCREENING_JOBS),
    tries: p.smallint().default(0),
    nextAttemptAt: p.datetime(3),
    claimedBy: p.text().nullable(),
    claimedUntil: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
  },
  indexes: [{ name: 'screening_job_due', properties: ['nextAttemptAt'] }],
});

/** Emails as lists show them. A received email gets its row when it is parsed, or when parsing was given up; bodies are in email_content. */
export const EmailSchema = defineEntity({
  name: 'Email',
  tableName: 'email',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    type: p.enum(EMAIL_TYPES),
    status: p.enum(EMAIL_STATUSES),
    /** received: when SMTP replied 250; sent: when it was created */
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3).defaultRaw('now()'),
    /** when the first server accepted a sent email */
    sentAt: p.datetime(3).nullable(),
    scheduledAt: p.datetime(3).nullable(),
    /** IANA time zone that scheduled_at was given in */
    timezone: p.text().nullable(),
    /** when a scheduled email was moved to the queue */
    releasedAt: p.datetime(3).nullable(),
    /** position in its thread */
    threadAt: p.datetime(3).$type<GeneratedAlways<Date>>().generated('(coalesce(released_at, created_at)) stored'),
    /** error message of a sent email */
    failureReason: p.text().nullable(),
    batchId: p.text().nullable(),
    batchIndex: p.smallint().nullable(),
    rawId: p.text().nullable(),
    /** received: the address that received it, without plus-tag; sent: the From address. Lower case. */
    ownAddress: p.text(),
    ownDomain: p.text(),
    addressId: p.text().nullable(),
    domainId: p.text().nullable(),
    /** envelope recipient as given, with plus-tag; null for sent mail */
    recipient: p.text().nullable(),
    messageId: p.text(),
    subject: p.text(),
    baseSubject: p.text(),
    fromName: p.text().nullable(),
    fromAddress: p.text(),
    fromText: p.text(),
    toAddresses: p.array(),
    ccAddresses: p.array(),
    preview: p.text(),
    /** the Date field; null when absent or invalid */
    date: p.datetime(3).nullable(),
    hasAttachments: p.boolean().default(false),
    attachmentCount: p.integer().default(0),
    isRead: p.boolean().default(false),
    readAt: p.datetime(3).nullable(),
    isArchived: p.boolean().default(false),
    /** when it was moved to the trash, with its whole thread; null: it is not there */
    trashedAt: p.datetime(3).nullable(),
    /** received mail in the folder Spam, or in quarantine: it is in the trash, too */
    keptApart: p.enum(KEPT_APART).nullable(),
    isTest: p.boolean().default(false),
    /** the reply address that received it */
    replyAddressId: p.text().nullable(),
    /** of that reply address */
    metadata: p.json<unknown>().nullable(),
    /** whether a webhook's response asked for this reply; few per thread and hour are sent */
    automaticReplyTo: p.text().nullable(),
    /** the API key that sent it, recorded where a send policy applies; null: none does, or it was not sent with a key */
    apiKeyId: p.text().nullable(),
    /** the own address whose send policy applied to it; null: none did */
    policyAddress: p.text().nullable(),
    /** of scheduled mail: the API key that scheduled it last; null: a person, or an approved email */
    scheduledByKeyId: p.text().nullable(),
    scheduledByPersonId: p.text().nullable(),
    /** sent mail: the reminder of its thread, until it has one */
    remindAt: p.datetime(3).nullable(),
    threadId: p.text().nullable(),
    threadPosition: p.integer().nullable(),
    threadReason: p.enum([...THREAD_REASONS, 'manual'] as const).nullable(),
  },
  indexes: [
    {
      name: 'email_automatic_reply',
      properties: ['workspaceId', 'threadId', 'createdAt'],
      where: 'automatic_reply_to is not null',
    },
    {
      name: 'email_automatic_reply_to',
      properties: ['workspaceId', 'automaticReplyTo', 'createdAt'],
      where: 'automatic_reply_to is not null',
    },
    {
      name: 'email_api_key',
      columns: [{ name: 'workspaceId' }, { name: 'apiKeyId' }, { name: 'createdAt' }],
      where: 'api_key_id IS NOT NULL',
    },
    { name: 'email_released', properties: ['workspaceId', 'threadId'], where: 'released_at IS NOT NULL' },
    { name: 'email_batch', properties: ['workspaceId', 'batchId', 'batchIndex'], where: 'batch_id IS NOT NULL' },
    {
      name: 'email_list',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt' }, { name: 'id' }],
      where: 'trashed_at IS NULL',
    },
    {
      name: 'email_trash',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt' }, { name: 'id' }],
      where: 'trashed_at IS NOT NULL',
    },
    { name: 'email_apart', properties: ['workspaceId', 'createdAt', 'id'], where: 'kept_apart IS NOT NULL' },
    { name: 'email_message_id', properties: ['workspaceId', 'messageId'] },
    {
      name: 'email_policy_address',
      columns: [{ name: 'workspaceId' }, { name: 'policyAddress' }, { name: 'createdAt' }],
      where: 'policy_address IS NOT NULL',
    },
    // recently sent mail of a workspace, for the hourly limit
    {
      name: 'email_outgoing',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt' }],
      where: `type <> 'received'`,
    },
    {
      name: 'email_own_address',
      columns: [{ name: 'workspaceId' }, { name: 'ownAddress' }, { name: 'createdAt' }, { name: 'id' }],
      where: 'trashed_at IS NULL',
    },
    { name: 'email_scheduled', properties: ['scheduledAt'], where: `status = 'scheduled'` },
    // mail that waits for approval, which is little
    {
      name: 'email_approval',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt' }, { name: 'id' }],
      where: `status = 'awaiting_approval'`,
    },
    // simulated mail, which is rare
    {
      name: 'email_test',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt' }, { name: 'id' }],
      where: 'is_test',
    },
    { name: 'email_thread', properties: ['workspaceId', 'threadId', 'threadAt', 'id'] },
    {
      name: 'email_timetable',
      properties: ['workspaceId', 'scheduledAt', 'id'],
      where: `(type = 'scheduled') AND (status = ANY (ARRAY['scheduled', 'paused']))`,
    },
    // a workspace's mail in the queue, and scheduled mail: both are few
    {
      name: 'email_unsent',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt' }, { name: 'id' }],
      where: `(type = 'sent') AND (status = 'pending')`,
    },
    {
      name: 'email_unthreaded',
      properties: ['createdAt'],
      where: `(thread_id IS NULL) AND (type <> 'scheduled') AND (kept_apart IS NULL)`,
    },
  ],
});

export const EmailContentSchema = defineEntity({
  name: 'EmailContent',
  tableName: 'email_content',
  properties: {
    workspaceId: p.text().primary(),
    emailId: p.text().primary(),
    /** [[lower-case name, decoded value], ...] in the order of the message, at most 1,000 */
    headers: p.json<unknown>(),
    /** {from,to,cc,bcc,replyTo}: null or {text, addresses: [{name, address}]} */
    addresses: p.json<unknown>(),
    inReplyTo: p.array(),
    referenceIds: p.array(),
    textBody: p.text().nullable(),
    htmlBody: p.text().nullable(),
    /** null when nothing was removed: then it equals the trimmed text_body */
    cleanedText: p.text().nullable(),
    cleanedHtml: p.text().nullable(),
    /** where bodies lie in the message; null: all are in their columns, see db/queries/emails/bodies-in-message.ts */
    bodyPlaces: p
      .array((value) => Number(value))
      .columnType('integer[]')
      .nullable(),
    /** what text_body has besides cleaned_text, see core/mime/reply-text.ts */
    removedParts: p.json<unknown>().defaultRaw(`'[]'`),
    /** see core/mime/attachment.ts */
    attachments: p.json<unknown>(),
    /** results of SPF, DKIM, DMARC and ARC; null when not checked */
    authentication: p.json<unknown>().nullable(),
    /** see core/screening/screened-mail.ts; null: it was not screened */
    injection: p.json<Injection>().nullable(),
    /** what the scanners said; null: not checked */
    screening: p.json<Screening>().nullable(),
    priority: p.text().nullable(),
    tags: p.json<unknown>().defaultRaw(`'[]'`),
    isTruncated: p.boolean().default(false),
    parseError: p.text().nullable(),
    parserVersion: p.smallint(),
  },
  indexes: [
    {
      name: 'email_content_review',
      properties: ['workspaceId', 'emailId'],
      where: `((injection ->> 'verdict'::text) = 'review'::text) OR (parse_error IS NOT NULL) OR ((injection IS NULL) AND (parser_version > 1))`,
    },
  ],
});

export const EmailTraceSchema = defineEntity({
  name: 'EmailTrace',
  tableName: 'email_trace',
  properties: {
    workspaceId: p.text().primary(),
    emailId: p.text().primary(),
    /** W3C Trace Context */
    traceParent: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [{ name: 'email_trace_age', properties: ['createdAt'] }],
});

/**
 * Exact totals, updated in the transaction that changes the email. Each email counts in six rows: for its address and for its whole domain
 * (own_address '*'), each for its hour, its day (UTC) and for all time (from -infinity).
 */
export const EmailCounterSchema = defineEntity({
  name: 'EmailCounter',
  tableName: 'email_counter',
  properties: {
    workspaceId: p.text().primary(),
    ownAddress: p.text().primary(),
    grain: p.enum(['hour', 'day', 'all'] as const).primary(),
    beginsAt: p.datetime(3).$type<Date | number>().primary(),
    ownDomain: p.text().primary(),
    type: p.text().$type<EmailType>().primary(),
    status: p.text().$type<EmailStatus>().primary(),
    isRead: p.boolean().primary(),
    isArchived: p.boolean().primary(),
    count: p.bigint('number'),
  },
  indexes: [
    // the total of one domain among many
    {
      name: 'email_counter_domain',
      properties: ['workspaceId', 'ownDomain', 'grain', 'beginsAt'],
      where: `own_address = '*'`,
    },
  ],
});

/** Senders whose remote images the user always wants to see. */
export const ImageSenderSchema = defineEntity({
  name: 'ImageSender',
  tableName: 'image_sender',
  properties: {
    workspaceId: p.text().primary(),
    /** lower case */
    address: p.text().primary(),
    createdAt: p.datetime(3),
  },
});
