import type { KeysetCursor } from '../../../core/shared/page.ts';
import * as emails from '../../../operations/emails/emails.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { EmailNode } from '../nodes.ts';
import { SEARCH_SYNTAX } from '../threads/inbox.ts';
import { EmailType } from './email-enums.ts';

const EmailStatusFilter = builder.enumType('EmailStatusFilter', {
  description: 'Status of an email, or state of a received email. BLOCKED includes everything that guard rules hold.',
  values: {
    DELIVERED: { value: 'delivered', description: 'Received, or accepted by the servers of all recipients.' },
    PENDING: { value: 'pending', description: 'Being sent.' },
    FAILED: { value: 'failed', description: 'Given up for a recipient after five days of retries.' },
    BOUNCED: { value: 'bounced', description: 'Rejected permanently by a recipient’s server.' },
    SCHEDULED: { value: 'scheduled', description: 'Waiting for its send time.' },
    CANCELLED: { value: 'cancelled', description: 'Cancelled before it was sent.' },
    PAUSED: { value: 'paused', description: 'On hold until you resume it.' },
    UNREAD: { value: 'unread', description: 'Received and read.' },
    READ: { value: 'read', description: 'Received and unread.' },
    ARCHIVED: { value: 'archived', description: 'Received and archived.' },
    BLOCKED: { value: 'blocked', description: 'Received and held by a guard rule or waiting for review.' },
  } as const,
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

const EmailFilter = builder.inputType('EmailFilter', {
  description: 'Filters a list of emails. Omit a field or pass null to match all; only timeRange has a default.',
  fields: (t) => ({
    type: t.field({ type: EmailType, description: 'Matches emails of this type. Omit to match all types.' }),
    status: t.field({ type: EmailStatusFilter, description: 'Matches emails with this status.' }),
    isArchived: t.boolean({ description: 'True matches archived emails only, false the others.' }),
    isTest: t.boolean({ description: 'True matches simulated emails only, false all others.' }),
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

builder.queryFields((t) => ({
  email: t.field({
    type: EmailNode,
    access: access.read,
    nullable: true,
    description: 'Returns the email with this ID, or null if the account has no such email.',
    args: { id: t.arg.id({ required: true, description: 'ID of the email.' }) },
    resolve: (_root, { id }) => id,
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
      },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query = { ...emailQuery(args.filter), words: args.search ?? undefined };
        const page = await connection(args, placeOf, (span) => emails.pageEmails(reads, query, span));
        return { ...page, count: () => emails.countEmails(reads, query) };
      },
    },
    {
      name: 'EmailConnection',
      description: 'A page of emails.',
      fields: (c) => ({
        totalCount: c.int({
          description: 'Exact number of emails on all pages. Counted only when requested.',
          resolve: (page) => page.count(),
        }),
      }),
    },
    { name: 'EmailEdge', description: 'An email and its cursor.' },
  ),
}));

function placeOf(email: emails.EmailSummary): KeysetCursor {
  return { at: email.createdAt, id: email.id };
}

type EmailFilterInput = typeof EmailFilter.$inferInput | null | undefined;

function emailQuery(filter: EmailFilterInput): emails.EmailQuery {
  return {
    type: filter?.type ?? undefined,
    status: filter?.status ?? undefined,
    isArchived: filter?.isArchived ?? undefined,
    isTest: filter?.isTest ?? undefined,
    timeRange: filter?.timeRange ?? undefined,
    domain: filter?.domain ?? undefined,
    address: filter?.address ?? undefined,
    search: filter?.contains ?? undefined,
  };
}
