import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import type { EmailStatus, EmailType } from '../../../core/emails/email-status.ts';
import type { AddressFields } from '../../../core/mime/address.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';
import type { CalendarEvent } from '../../../core/mime/calendar-event.ts';
import { REMOVED_KINDS, type RemovedPart } from '../../../core/mime/reply-text.ts';
import type { Injection } from '../../../core/screening/screened-mail.ts';
import type { KeptApart, Screening } from '../../../core/screening/spam-check.ts';
import type { BodyText } from '../../../core/shared/large-text.ts';
import type { ThreadReason } from '../../../core/threads/threading.ts';
import type { Row } from '../../entities/tables.ts';
import { bodySizeSql, placedColumns } from './bodies-in-message.ts';
import { type BodyColumn, largeBodies, smallBody, type WithLargeBodies } from './large-bodies.ts';

/** An email without its bodies, as shown in lists. Addresses are bare, as written. */
export interface EmailSummary {
  id: string;
  type: EmailType;
  status: EmailStatus;
  createdAt: Date;
  updatedAt: Date;
  sentAt: Date | null;
  scheduledAt: Date | null;
  /** IANA; for scheduled mail, whether sent since or not */
  timezone: string | null;
  /** why nothing more will happen to sent mail; null when something may or did */
  failureReason: string | null;
  /** envelope recipient; null for sent mail */
  recipient: string | null;
  messageId: string;
  subject: string;
  fromName: string | null;
  fromAddress: string;
  /** the From field, decoded */
  fromText: string;
  to: string[];
  cc: string[];
  preview: string;
  /** the Date field; null when absent or invalid */
  date: Date | null;
  hasAttachments: boolean;
  attachmentCount: number;
  isRead: boolean;
  readAt: Date | null;
  isArchived: boolean;
  /** when it was moved to the trash; null: it is not there */
  trashedAt: Date | null;
  /** in the folder Spam, or in quarantine; null: in neither */
  keptApart: KeptApart | null;
  /** created by its workspace as a test (operations/routing/simulate-inbound.ts) */
  isTest: boolean;
  /** what the reply address that received it was created with; null for other mail */
  metadata: unknown;
  /** its time in the thread: when it was received or sent */
  threadAt: Date;
  threadId: string | null;
  threadPosition: number | null;
  /** why it is in that thread; null while it has none */
  threadReason: ThreadReason | 'manual' | null;
  /** received: the address that accepted it, without plus-tag; sent: the From address. Lower case. */
  ownAddress: string;
  /** null: the catch-all accepted it, or it was sent from an address that the workspace does not have */
  addressId: string | null;
  domainId: string | null;
  batchId: string | null;
  /** whether its bytes are stored */
  hasRaw: boolean;
  /** whether a guard rule holds it now, and how: blocked, or waiting for a human to review it */
  guardStatus: 'blocked' | 'review' | null;
  /** the rule that matched, or whose model failed, whatever happened to the email since */
  guardRuleId: string | null;
}

/** Fields shown only for an opened email. */
export interface EmailContent {
  /** lower-case name and decoded value, in message order */
  headers: [string, string][];
  addresses: AddressFields;
  inReplyTo: string[];
  references: string[];
  text: BodyText | null;
  html: BodyText | null;
  attachments: Attachment[];
  authentication: unknown;
  /** null: not screened, as sent mail */
  injection: Injection | null;
  /** what the scanners said; null: not checked */
  screening: Screening | null;
  tags: { name: string; value: string }[];
}

const columns = [
  'id',
  'type',
  'status',
  'created_at',
  'updated_at',
  'sent_at',
  'scheduled_at',
  'timezone',
  'failure_reason',
  'recipient',
  'message_id',
  'subject',
  'from_name',
  'from_address',
  'from_text',
  'to_addresses',
  'cc_addresses',
  'preview',
  'date',
  'has_attachments',
  'attachment_count',
  'is_read',
  'read_at',
  'is_archived',
  'trashed_at',
  'kept_apart',
  'is_test',
  'metadata',
  'thread_at',
  'thread_id',
  'thread_position',
  'thread_reason',
  'own_address',
  'address_id',
  'domain_id',
  'batch_id',
  'raw_id',
] as const satisfies readonly (keyof Row<'email'>)[];

export type EmailSummaryRow = Pick<Row<'email'>, (typeof columns)[number]> & {
  guard_status: 'blocked' | 'review' | null;
  guard_rule_id: string | null;
  created_at: Date;
  updated_at: Date;
  trashed_at: Date | null;
  thread_at: Date;
  is_test: boolean;
};

/** Whether a server deferred a recipient of the sent email `e`, which is retried; the user is the one of `e`. */
export const isDeferred: RawBuilder<SqlBool> = sql`e.type = 'sent' and e.status = 'pending' and exists (
  select from recipient r where r.workspace_id = e.workspace_id and r.email_id = e.id and r.delivery_id is null and r.status = 'pending' and r.attempts > 0)`;

/** Whether a recipient of the sent email `e` reported it as spam. */
export const isComplainedOf: RawBuilder<SqlBool> = sql`e.type = 'sent' and exists (
  select from recipient r where r.workspace_id = e.workspace_id and r.email_id = e.id and r.delivery_id is null and r.complained_at is not null)`;

/** Whether the route `r` of an email is held, as in the index route_held. */
export const isHeldRoute: RawBuilder<SqlBool> = sql`r.outcome in ('blocked', 'review') and r.released_at is null`;

/** The columns of EmailSummary, of the table (or relation) `e`, which must have workspace_id, too. Each row costs a lookup of its route. */
export const emailSummaryColumns: RawBuilder<unknown> = sql.join([
  ...columns.map((column) => sql.ref(`e.${column}`)),
  sql`(select r.outcome from route r where r.workspace_id = e.workspace_id and r.email_id = e.id and ${isHeldRoute}) as guard_status`,
  sql`(select r.rule_id from route r where r.workspace_id = e.workspace_id and r.email_id = e.id) as guard_rule_id`,
]);

export function emailSummary(row: EmailSummaryRow): EmailSummary {
  return {
    id: row.id,
    type: row.type,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    sentAt: row.sent_at,
    scheduledAt: row.scheduled_at,
    timezone: row.timezone,
    failureReason: row.failure_reason,
    recipient: row.recipient,
    messageId: row.message_id,
    subject: row.subject,
    fromName: row.from_name,
    fromAddress: row.from_address,
    fromText: row.from_text,
    to: row.to_addresses,
    cc: row.cc_addresses,
    preview: row.preview,
    date: row.date,
    hasAttachments: row.has_attachments,
    attachmentCount: row.attachment_count,
    // Written by the user.
    isRead: row.type !== 'received' || row.is_read,
    readAt: row.read_at,
    isArchived: row.is_archived,
    trashedAt: row.trashed_at,
    keptApart: row.kept_apart,
    isTest: row.is_test,
    metadata: row.metadata,
    threadAt: row.thread_at,
    threadId: row.thread_id,
    threadPosition: row.thread_position,
    threadReason: row.thread_reason,
    ownAddress: row.own_address,
    addressId: row.address_id,
    domainId: row.domain_id,
    batchId: row.batch_id,
    hasRaw: row.raw_id !== null,
    guardStatus: row.guard_status,
    guardRuleId: row.guard_rule_id,
  };
}

const contentColumns = [
  'headers',
  'addresses',
  'in_reply_to',
  'reference_ids',
  'text_body',
  'html_body',
  'attachments',
  'authentication',
  'injection',
  'screening',
  'tags',
] as const satisfies readonly (keyof Row<'email_content'>)[];

/** Columns of a left join: all null when the email has no content row. */
export type ContentRow = { [Column in (typeof contentColumns)[number]]: Row<'email_content'>[Column] | null };
/** The same with bodies that may be large. */
type WholeContentRow = WithLargeBodies<ContentRow>;

/** The columns of EmailContent, of the table `c`, with null for bodies that are large, which readLargeBodies reads. */
export const emailContentColumnsIfSmall: RawBuilder<unknown> = sql.join([
  ...contentColumns.map((column) =>
    column === 'text_body' || column === 'html_body'
      ? sql`${smallBody(column)} as ${sql.ref(column)}`
      : sql.ref(`c.${column}`),
  ),
  sql`${largeBodies} as large_bodies`,
  sql.raw(placedColumns()),
]);

/** The same with null for the bodies where a condition is false. */
export const emailContentColumnsIf = (condition: RawBuilder<boolean>): RawBuilder<unknown> =>
  sql.join([
    ...contentColumns.map((column) =>
      column === 'text_body' || column === 'html_body'
        ? sql`case when ${condition} then ${sql.ref(`c.${column}`)} end as ${sql.ref(column)}`
        : sql.ref(`c.${column}`),
    ),
    sql`c.body_places, case when c.body_places is not null and ${condition} then placed_message(c.workspace_id, c.email_id) end as placed_message`,
  ]);

/** The bytes of a body of the table `c`; 0 without one. */
export function bodySize(column: BodyColumn): RawBuilder<number> {
  return sql`coalesce(${sql.raw(bodySizeSql(column))}, 0)`;
}

/** The bytes of the bodies of the table `c`. PostgreSQL knows them without reading the bodies. */
export const bodyBytes: RawBuilder<number> = sql`(${bodySize('text_body')}::bigint + ${bodySize('html_body')} + ${bodySize('cleaned_text')}
  + ${bodySize('cleaned_html')})`;

/** The bytes of everything in EmailContent, of the table `c`. What is not a body is read for it. */
export const contentBytes: RawBuilder<number> = sql`(${bodySize('text_body')}::bigint + ${bodySize('html_body')}
  + coalesce(octet_length(c.headers::text), 0) + coalesce(octet_length(c.addresses::text), 0) + coalesce(octet_length(c.attachments::text), 0)
  + coalesce(octet_length(c.reference_ids::text), 0) + coalesce(octet_length(c.in_reply_to::text), 0) + coalesce(octet_length(c.tags::text), 0)
  + coalesce(octet_length(c.authentication::text), 0) + coalesce(octet_length(c.injection::text), 0)
  + coalesce(octet_length(c.screening::text), 0))`;

/** The same with null for the bodies, which may be large. */
export const emailOutlineColumns: RawBuilder<unknown> = sql.join(
  contentColumns.map((column) =>
    column === 'text_body' || column === 'html_body' ? sql`null::text as ${sql.ref(column)}` : sql.ref(`c.${column}`),
  ),
);

/** Returns the content of an email; empty when the row does not exist yet. */
export function emailContent(row: WholeContentRow): EmailContent {
  return {
    headers: headers.parse(row.headers ?? []),
    addresses: addressFields(row.addresses),
    inReplyTo: row.in_reply_to ?? [],
    references: row.reference_ids ?? [],
    text: row.text_body,
    html: row.html_body,
    attachments: attachments.parse(row.attachments ?? []),
    authentication: row.authentication ?? null,
    injection: row.injection ?? null,
    screening: row.screening ?? null,
    tags: tags.parse(row.tags ?? []),
  };
}

/** The address fields of a content row; all null when there is none. */
export function addressFields(stored: unknown): AddressFields {
  return addresses.parse(stored ?? {});
}

/** What the author of an email typed, and the rest. */
export interface CleanedContent {
  /** without quoted mail and signature */
  cleanedText: BodyText | null;
  /** sanitized: without anything that could run, load or mislead; null when there is none, or it was too long to sanitize */
  cleanedHtml: BodyText | null;
  /** what the text has besides cleanedText */
  removedParts: RemovedPart[];
}

/** Columns of a left join: all null when the email has no content row. */
export type CleanedRow = { [Column in (typeof cleanedColumns)[number]]: Row<'email_content'>[Column] | null };
const cleanedColumns = ['cleaned_text', 'cleaned_html', 'removed_parts'] as const;

/** Returns the cleaned content; `cleaned_text` is stored only where it differs from the trimmed text. */
export function cleanedContent(row: WithLargeBodies<CleanedRow>, text: BodyText | null): CleanedContent {
  return {
    cleanedText: (row.cleaned_text ?? text)?.trim() ?? null,
    cleanedHtml: row.cleaned_html,
    removedParts: removedParts.parse(row.removed_parts ?? []),
  };
}

const removedParts = z.array(z.object({ kind: z.enum(REMOVED_KINDS), start: z.number(), end: z.number() }));
const headers = z.array(z.tuple([z.string(), z.string()]));
const addressList = z
  .object({
    text: z.string(),
    addresses: z.array(z.object({ name: z.string().nullable(), address: z.string() })),
  })
  .nullable()
  .default(null);
const addresses = z.object({
  from: addressList,
  to: addressList,
  cc: addressList,
  bcc: addressList,
  replyTo: addressList,
});
const attachments = z.array(
  z.object({
    index: z.number(),
    filename: z.string(),
    contentType: z.string(),
    size: z.number(),
    contentId: z.string().nullable(),
    contentDisposition: z.enum(['attachment', 'inline']).nullable(),
    start: z.number(),
    length: z.number(),
    transferEncoding: z.enum(['base64', 'quoted-printable', '7bit', '8bit', 'binary', 'uuencode']),
    // What the parser wrote; core/mime/calendar-event.ts.
    event: z.custom<CalendarEvent>((event) => typeof event === 'object' && event !== null).exactOptional(),
  }),
);
const tags = z.array(z.object({ name: z.string(), value: z.string() }));
