import { defineEntity, p } from '@mikro-orm/core';
import { APPROVAL_DECISIONS, APPROVAL_RULES } from '../../core/sending/approval.ts';
import { DRAFT_KINDS } from '../../core/sending/draft.ts';
import type { RefusalReason } from '../../core/sending/refusal-advice.ts';
import { SUPPRESSION_REASONS } from '../../core/sending/suppression.ts';
import { RECIPIENT_STATUSES, SENDING_OUTCOMES } from '../../core/smtp/delivery-status.ts';

/**
 * The queue of sent mail, one row per recipient. Due when next_attempt_at is past. It is null while the email is scheduled, and after the
 * recipient is settled.
 */
export const RecipientSchema = defineEntity({
  name: 'Recipient',
  tableName: 'recipient',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    emailId: p.text(),
    /** the delivery of a forwarded copy of the received email email_id; null: email_id is a sent email */
    deliveryId: p.text().nullable(),
    /** the domain of the copy's From address, whose keys sign it; null: the domain of the email */
    senderDomain: p.text().nullable(),
    /** the list whose unsubscribed recipients it must not reach; null: mail without List-Unsubscribe */
    list: p.text().nullable(),
    /** the address in the envelope, and its domain in lower case */
    address: p.text(),
    domain: p.text(),
    status: p.enum(RECIPIENT_STATUSES).default('pending'),
    /** when it entered the queue, the start of the five days of retries; null while the email is scheduled */
    queuedAt: p.datetime(3).nullable(),
    /** number of attempts; an interrupted one is recorded but not counted */
    attempts: p.integer().default(0),
    nextAttemptAt: p.datetime(3).nullable(),
    claimedBy: p.text().nullable(),
    claimedUntil: p.datetime(3).nullable(),
    /** the recipient that the return address of the last transaction was created for; all recipients of that transaction have the same */
    returnId: p.text().nullable(),
    /** the last reply of a server, or the diagnostic code of a DSN */
    lastCode: p.smallint().nullable(),
    lastStatus: p.text().nullable(),
    lastText: p.text().nullable(),
    /** why it was refused or deferred (core/sending/refusal-reason.ts) */
    refusalReason: p.text().$type<RefusalReason>().nullable(),
    settledAt: p.datetime(3).nullable(),
    /** when a complaint arrived, and when the sender was notified that it was given up */
    complainedAt: p.datetime(3).nullable(),
    reportedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
  },
  indexes: [
    { name: 'recipient_delivery', properties: ['workspaceId', 'deliveryId'], where: 'delivery_id IS NOT NULL' },
    // Read in steps by position, so that a long backlog of one destination is scanned rarely and not at every claim ...
    {
      name: 'recipient_due',
      properties: ['nextAttemptAt', 'id'],
      where: `(status = 'pending') AND (next_attempt_at IS NOT NULL)`,
    },
    { name: 'recipient_email', properties: ['workspaceId', 'emailId'] },
    { name: 'recipient_complained', properties: ['workspaceId', 'complainedAt'], where: 'complained_at IS NOT NULL' },
    // recently forwarded copies of a workspace, for the hourly limit
    { name: 'recipient_forwarded', properties: ['workspaceId', 'queuedAt'], where: 'delivery_id IS NOT NULL' },
    // ... and by sender and destination when they have room again.
    {
      name: 'recipient_lane_due',
      properties: ['domain', 'workspaceId', 'nextAttemptAt', 'id'],
      where: `(status = 'pending') AND (next_attempt_at IS NOT NULL)`,
    },
    { name: 'recipient_unreported', properties: ['settledAt'], where: `(status = 'failed') AND (reported_at IS NULL)` },
  ],
});

/** Attempts. Inserted before connecting, updated with the outcome. finished_at null with an expired lease: the process died. */
export const SendingAttemptSchema = defineEntity({
  name: 'SendingAttempt',
  tableName: 'sending_attempt',
  properties: {
    workspaceId: p.text().primary(),
    recipientId: p.text().primary(),
    number: p.integer().primary(),
    startedAt: p.datetime(3),
    finishedAt: p.datetime(3).nullable(),
    outcome: p.enum(SENDING_OUTCOMES).nullable(),
    /** name and address of the server; null without a connection */
    host: p.text().nullable(),
    remoteAddress: p.text().nullable(),
    isTls: p.boolean().nullable(),
    code: p.smallint().nullable(),
    enhancedStatus: p.text().nullable(),
    text: p.text().nullable(),
  },
});

/** Suppressed addresses of each workspace, lower case. */
export const SuppressionSchema = defineEntity({
  name: 'Suppression',
  tableName: 'suppression',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    address: p.text(),
    reason: p.enum(SUPPRESSION_REASONS),
    /** only mail of this list is suppressed; empty: all mail */
    list: p.text().default(''),
    /** text of the server, the report or the user */
    detail: p.text().nullable(),
    /** why the mail bounced; null for other suppressions */
    refusalReason: p.text().$type<RefusalReason>().nullable(),
    emailId: p.text().nullable(),
    createdAt: p.datetime(3),
  },
  uniques: [{ name: 'suppression_address', properties: ['workspaceId', 'address', 'list'] }],
});
export class Suppression extends SuppressionSchema.class {}
SuppressionSchema.setClass(Suppression);

/** Mail that a send policy made wait for approval, and what became of it. */
export const ApprovalSchema = defineEntity({
  name: 'Approval',
  tableName: 'approval',
  properties: {
    workspaceId: p.text().primary(),
    emailId: p.text().primary(),
    rule: p.enum(APPROVAL_RULES),
    /** whose policy it is */
    policyOf: p.enum(['key', 'address'] as const),
    /** the API key that sent it; null: a person, or an action of a webhook */
    sentByKeyId: p.text().nullable(),
    /** name of that key at that time */
    sentBy: p.text().nullable(),
    requestedAt: p.datetime(3),
    /** null: it no longer waits */
    expiresAt: p.datetime(3).nullable(),
    /** null: it waits */
    decision: p.enum(APPROVAL_DECISIONS).nullable(),
    decidedAt: p.datetime(3).nullable(),
    /** the API key that decided; null: a person, or it expired */
    decidedByKeyId: p.text().nullable(),
    /** name of the key or email address of the person at that time; null: it expired or was cancelled */
    decidedBy: p.text().nullable(),
    /** of a rejection */
    reason: p.text().nullable(),
  },
  checks: [
    {
      name: 'approval_check',
      expression: '(((decision IS NULL) = (expires_at IS NOT NULL)) AND ((decision IS NULL) = (decided_at IS NULL)))',
    },
  ],
  indexes: [{ name: 'approval_expiry', properties: ['expiresAt'] }],
});

/** Emails that are not sent yet. */
export const DraftSchema = defineEntity({
  name: 'Draft',
  tableName: 'draft',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    kind: p.enum(DRAFT_KINDS),
    /** the email that it replies to or forwards; null: a new email */
    originalEmailId: p.text().nullable(),
    /** of the sender, lower case; while it has none, the domain of the API key that made it */
    ownDomain: p.text().nullable(),
    ownAddress: p.text().nullable(),
    /** what the client gave, except for bodies and attachments */
    fields: p.json<unknown>(),
    textBody: p.text().nullable(),
    htmlBody: p.text().nullable(),
    /** of all of it */
    sizeBytes: p.integer(),
    /** grows with every change */
    version: p.integer().default(1),
    /** the API keys that made it, and that changed it last; null: a session */
    createdByKeyId: p.text().nullable(),
    updatedByKeyId: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [
    {
      name: 'draft_list',
      columns: [{ name: 'workspaceId' }, { name: 'updatedAt', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    {
      name: 'draft_original',
      properties: ['workspaceId', 'originalEmailId'],
      where: 'original_email_id IS NOT NULL',
    },
  ],
});

/** Files of drafts, decoded. */
export const DraftAttachmentSchema = defineEntity({
  name: 'DraftAttachment',
  tableName: 'draft_attachment',
  properties: {
    workspaceId: p.text().primary(),
    draftId: p.text().primary(),
    id: p.text().primary(),
    position: p.smallint(),
    filename: p.text(),
    contentType: p.text(),
    contentId: p.text().nullable(),
    content: p.blob().$type<Buffer>(),
    sizeBytes: p.integer(),
  },
});

/** Responses to requests with an Idempotency-Key, kept for 24 hours; written in the transaction of the request. */
export const IdempotencyKeySchema = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_key',
  properties: {
    workspaceId: p.text().primary(),
    /** the API key whose request it was; empty: a person */
    apiKeyId: p.text().primary().default(''),
    key: p.text().primary(),
    operation: p.text(),
    requestSha256: p.blob().$type<Buffer>(),
    response: p.json<unknown>(),
    createdAt: p.datetime(3),
  },
  indexes: [{ name: 'idempotency_key_age', properties: ['createdAt'] }],
});

/** The MTA-STS policies of domains that mail was sent to, for all workspaces (docs/decisions/0074). */
export const MtaStsPolicySchema = defineEntity({
  name: 'MtaStsPolicy',
  tableName: 'mta_sts_policy',
  properties: {
    domain: p.text().primary(),
    /** of the TXT record that announced it */
    policyId: p.text(),
    mode: p.enum(['enforce', 'testing', 'none']),
    mx: p.array(),
    maxAgeSeconds: p.integer(),
    fetchedAt: p.datetime(3),
    expiresAt: p.datetime(3),
  },
  indexes: [{ name: 'mta_sts_policy_expired', properties: ['expiresAt'] }],
});

/** Reports about TLS that wait to be sent, for all workspaces (docs/decisions/0074). */
export const TlsReportSchema = defineEntity({
  name: 'TlsReport',
  tableName: 'tls_report',
  properties: {
    /** UTC */
    day: p.date().primary(),
    /** of the recipients */
    domain: p.text().primary(),
    reportId: p.text(),
    /** when it is sent, or tried again; while it is claimed, when others may claim it */
    dueAt: p.datetime(3),
    /** URIs of the domain that have it already */
    sentTo: p.array().defaultRaw(`'{}'`),
    claimedBy: p.text().nullable(),
  },
  indexes: [{ name: 'tls_report_due', properties: ['dueAt'] }],
});

/** How many sessions with the servers of a domain succeeded, or failed in one way, in a day. */
export const TlsSessionCountSchema = defineEntity({
  name: 'TlsSessionCount',
  tableName: 'tls_session_count',
  properties: {
    /** UTC */
    day: p.date().primary(),
    domain: p.text().primary(),
    /** hash of policy and failure */
    id: p.text().primary(),
    /** in the form of the report */
    policy: p.json<unknown>(),
    /** in the form of the report; null: the sessions succeeded */
    failure: p.json<unknown>().nullable(),
    sessions: p.bigint('number'),
  },
});

export const BatchSchema = defineEntity({
  name: 'Batch',
  tableName: 'batch',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    total: p.integer(),
    createdAt: p.datetime(3),
  },
});

/** A text of the workspace that the composer inserts. */
export const SnippetSchema = defineEntity({
  name: 'Snippet',
  tableName: 'snippet',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    text: p.text(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [
    { name: 'snippet_name', expression: 'create unique index snippet_name on snippet (workspace_id, lower(name))' },
  ],
});
