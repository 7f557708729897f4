import type { Place } from '../../../core/shared/page.ts';
import * as emails from '../../../operations/emails/emails.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { EmailNode } from '../nodes.ts';
import { SEARCH_SYNTAX } from '../threads/inbox.ts';
import { EmailType } from './email-enums.ts';

const EmailStatusFilter = builder.enumType('EmailStatusFilter', {
  description:
    'Emails of one status, or received ones of one kind. What guard rules hold back is shown by BLOCKED too.',
  values: {
    DELIVERED: { value: 'delivered', description: 'Received mail; sent mail that every recipient’s server took.' },
    PENDING: { value: 'pending', description: 'On its way.' },
    FAILED: { value: 'failed', description: 'Given up for a recipient after five days of trying.' },
    BOUNCED: { value: 'bounced', description: 'Refused for good by a recipient’s server.' },
    SCHEDULED: { value: 'scheduled', description: 'Waiting for its time.' },
    CANCELLED: { value: 'cancelled', description: 'Never sent.' },
    PAUSED: { value: 'paused', description: 'Held back by you until it is resumed.' },
    UNREAD: { value: 'unread', description: 'Received and not marked as read.' },
    READ: { value: 'read', description: 'Received and marked as read.' },
    ARCHIVED: { value: 'archived', description: 'Received and archived.' },
    BLOCKED: { value: 'blocked', description: 'Received and held back by a guard rule, or waiting for your review.' },
  } as const,
});

const TimeRange = builder.enumType('TimeRange', {
  description: 'How far back from now emails were created.',
  values: {
    HOUR: { value: '1h', description: 'One hour.' },
    DAY: { value: '24h', description: '24 hours.' },
    WEEK: { value: '7d', description: '7 days.' },
    MONTH: { value: '30d', description: '30 days.' },
    QUARTER: { value: '90d', description: '90 days.' },
    ALL: { value: 'all', description: 'Without end.' },
  } as const,
});

const EmailFilter = builder.inputType('EmailFilter', {
  description: 'Which emails a list shows; what is absent or null puts no condition, but for timeRange.',
  fields: (t) => ({
    type: t.field({ type: EmailType, description: 'Emails of one type; absent: sent, received and scheduled ones.' }),
    status: t.field({ type: EmailStatusFilter, description: 'Emails of one status.' }),
    isArchived: t.boolean({ description: 'Only archived ones, or only those that are not.' }),
    isTest: t.boolean({ description: 'Only those that you made come in to try things out, or only the others.' }),
    timeRange: t.field({
      type: TimeRange,
      description:
        'How old they may be; without it 30 days, and any age for a search. Use ALL for every email there is.',
    }),
    domain: t.string({
      description:
        'Id of a domain of yours: its mail. A domain name: mail of which either side, yours or the other, has it.',
    }),
    address: t.string({
      description:
        'Id of an address of yours: its mail. An address itself, also of others: mail of which either side has it.',
    }),
    contains: t.string({ description: 'Part of subject, sender or recipients, in any case; at most 100 characters.' }),
  }),
});

builder.queryFields((t) => ({
  email: t.field({
    type: EmailNode,
    access: access.read,
    nullable: true,
    description: 'An email by its id; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Id of the email.' }) },
    resolve: (_root, { id }) => id,
  }),
  emails: t.connection(
    {
      type: EmailNode,
      access: access.read,
      description:
        'Sent, received and scheduled mail in one list, newest first. Without a filter: of the last 30 days.',
      args: {
        filter: t.arg({ type: EmailFilter, description: 'Which emails to show.' }),
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
          description: 'How many there are on all pages, exact; counted only when it is asked for.',
          resolve: (page) => page.count(),
        }),
      }),
    },
    { name: 'EmailEdge', description: 'An email in a list.' },
  ),
}));

function placeOf(email: emails.EmailSummary): Place {
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
