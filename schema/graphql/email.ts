import type { Place } from '../../core/page.ts';
import * as emails from '../../operations/emails.ts';
import { builder, connectionComplexity } from './builder.ts';
import { connection } from './connection.ts';
import { EmailContentRef, EmailNode, ThreadNode } from './nodes.ts';

const EmailType = builder.enumType('EmailType', {
  values: { RECEIVED: { value: 'received' }, SENT: { value: 'sent' }, SCHEDULED: { value: 'scheduled' } } as const,
});
const EmailStatus = builder.enumType('EmailStatus', {
  values: {
    DELIVERED: { value: 'delivered' },
    PENDING: { value: 'pending' },
    FAILED: { value: 'failed' },
    BOUNCED: { value: 'bounced' },
    SCHEDULED: { value: 'scheduled' },
    PAUSED: { value: 'paused' },
    CANCELLED: { value: 'cancelled' },
  } as const,
});
const EmailStatusFilter = builder.enumType('EmailStatusFilter', {
  description: 'UNREAD, READ and ARCHIVED show received mail alone.',
  values: {
    DELIVERED: { value: 'delivered' },
    PENDING: { value: 'pending' },
    FAILED: { value: 'failed' },
    BOUNCED: { value: 'bounced' },
    SCHEDULED: { value: 'scheduled' },
    CANCELLED: { value: 'cancelled' },
    PAUSED: { value: 'paused' },
    UNREAD: { value: 'unread' },
    READ: { value: 'read' },
    ARCHIVED: { value: 'archived' },
  } as const,
});
const TimeRange = builder.enumType('TimeRange', {
  description: 'How far back from now emails were created.',
  values: {
    HOUR: { value: '1h' },
    DAY: { value: '24h' },
    WEEK: { value: '7d' },
    MONTH: { value: '30d' },
    QUARTER: { value: '90d' },
    ALL: { value: 'all' },
  } as const,
});

const EmailFilter = builder.inputType('EmailFilter', {
  fields: (t) => ({
    type: t.field({ type: EmailType }),
    status: t.field({ type: EmailStatusFilter }),
    timeRange: t.field({ type: TimeRange, defaultValue: '30d' }),
    domain: t.string({ description: 'Id or name of a domain of yours.' }),
    address: t.string({ description: 'Id of an address of yours, or the address itself.' }),
    search: t.string({ description: 'Part of subject, sender or recipients, in any case.' }),
  }),
});

interface AttachmentOf {
  emailId: string;
  attachment: emails.EmailContent['attachments'][number];
}

const Attachment = builder.objectRef<AttachmentOf>('Attachment').implement({
  fields: (t) => ({
    filename: t.string({ resolve: ({ attachment }) => attachment.filename }),
    contentType: t.string({ resolve: ({ attachment }) => attachment.contentType }),
    size: t.int({ description: 'Octets, decoded.', resolve: ({ attachment }) => attachment.size }),
    contentId: t.string({ nullable: true, resolve: ({ attachment }) => attachment.contentId }),
    downloadUrl: t.string({
      resolve: ({ emailId, attachment }, _args, { operations }) =>
        `${operations.settings.publicUrl}/api/e2/attachments/${emailId}/parts/${attachment.index}`,
    }),
  }),
});

const HeaderField = builder.objectRef<{ name: string; value: string }>('HeaderField').implement({
  fields: (t) => ({
    name: t.exposeString('name', { description: 'In lower case.' }),
    value: t.exposeString('value', { description: 'Decoded.' }),
  }),
});

const Mailbox = builder.objectRef<{ name: string | null; address: string }>('Mailbox').implement({
  fields: (t) => ({ name: t.exposeString('name', { nullable: true }), address: t.exposeString('address') }),
});

EmailContentRef.implement({
  description: 'What only an opened email shows.',
  fields: (t) => ({
    text: t.exposeString('text', { nullable: true }),
    html: t.exposeString('html', { nullable: true, description: 'As it came: unsafe to show outside of a sandbox.' }),
    bcc: t.field({ type: [Mailbox], resolve: ({ addresses }) => addresses.bcc?.addresses ?? [] }),
    replyTo: t.field({ type: [Mailbox], resolve: ({ addresses }) => addresses.replyTo?.addresses ?? [] }),
    inReplyTo: t.exposeStringList('inReplyTo'),
    references: t.exposeStringList('references'),
    headers: t.field({
      type: [HeaderField],
      description: 'In the order of the message.',
      resolve: ({ headers }) => headers.map(([name, value]) => ({ name, value })),
    }),
    attachments: t.field({
      type: [Attachment],
      resolve: ({ emailId, attachments }) => attachments.map((attachment) => ({ emailId, attachment })),
    }),
  }),
});

EmailNode.implement({
  fields: (t) => ({
    type: t.expose('type', { type: EmailType }),
    status: t.expose('status', { type: EmailStatus }),
    messageId: t.exposeString('messageId'),
    subject: t.exposeString('subject'),
    from: t.field({ type: Mailbox, resolve: (email) => ({ name: email.fromName, address: email.fromAddress }) }),
    to: t.exposeStringList('to'),
    cc: t.exposeStringList('cc'),
    recipient: t.exposeString('recipient', { nullable: true, description: 'Of the envelope; null for sent mail.' }),
    preview: t.exposeString('preview'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    sentAt: t.expose('sentAt', { type: 'DateTime', nullable: true }),
    scheduledAt: t.expose('scheduledAt', { type: 'DateTime', nullable: true }),
    date: t.expose('date', { type: 'DateTime', nullable: true, description: 'Of the Date field.' }),
    hasAttachments: t.exposeBoolean('hasAttachments'),
    attachmentCount: t.exposeInt('attachmentCount'),
    isRead: t.exposeBoolean('isRead'),
    readAt: t.expose('readAt', { type: 'DateTime', nullable: true }),
    isArchived: t.exposeBoolean('isArchived'),
    thread: t.field({ type: ThreadNode, nullable: true, resolve: (email) => email.threadId }),
    threadPosition: t.exposeInt('threadPosition', { nullable: true, description: '0 is the first of its thread.' }),
    content: t.field({ type: EmailContentRef, resolve: (email) => email.id }),
  }),
});

builder.queryFields((t) => ({
  email: t.field({
    type: EmailNode,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }) => id,
  }),
  emails: t.connection(
    {
      type: EmailNode,
      description: 'Newest first.',
      args: { filter: t.arg({ type: EmailFilter }) },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query = emailQuery(args.filter);
        const page = await connection(args, placeOf, (span) => emails.pageEmails(reads, query, span));
        return { ...page, count: () => emails.countEmails(reads, query) };
      },
    },
    { name: 'EmailConnection', fields: (c) => ({ totalCount: c.int({ resolve: (page) => page.count() }) }) },
    { name: 'EmailEdge' },
  ),
}));

builder.mutationFields((t) => ({
  updateEmail: t.fieldWithInput({
    type: EmailNode,
    errors: { dataField: { name: 'email' } },
    description: 'Marks a received email as read or archived, or not.',
    input: {
      id: t.input.id({ required: true }),
      isRead: t.input.boolean(),
      isArchived: t.input.boolean(),
    },
    resolve: async (_root, { input }, { operations }) => {
      const { id, isRead, isArchived } = input;
      await emails.updateEmail(operations, id, { isRead: isRead ?? undefined, isArchived: isArchived ?? undefined });
      return id;
    },
  }),
}));

function placeOf(email: emails.EmailSummary): Place {
  return { at: email.createdAt, id: email.id };
}

type EmailFilterInput = { [Field in keyof emails.EmailQuery]: emails.EmailQuery[Field] | null } | null | undefined;

function emailQuery(filter: EmailFilterInput): emails.EmailQuery {
  return {
    type: filter?.type ?? undefined,
    status: filter?.status ?? undefined,
    timeRange: filter?.timeRange ?? undefined,
    domain: filter?.domain ?? undefined,
    address: filter?.address ?? undefined,
    search: filter?.search ?? undefined,
  };
}
