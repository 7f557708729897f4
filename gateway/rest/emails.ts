import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import * as emails from '../../operations/emails.ts';
import { emailBody, emailBodyOf, emailListItem, emailListItemOf } from './email-wire.ts';
import { errorBody, idInPath, instant, limit, offset, type RestOptions, text, wireInstant } from './shapes.ts';

const listQuery = z
  .object({
    type: z.enum(emails.EMAIL_TYPES).default('all').meta({ description: 'emails of one type' }),
    status: z
      .enum(emails.EMAIL_STATUSES)
      .optional()
      .meta({ description: 'emails of one status; unread, read and archived show received mail alone' }),
    time_range: z.enum(emails.TIME_RANGES).default('30d').meta({ description: 'how old they may be' }),
    domain: text.optional().meta({ description: 'id or name of a domain of yours' }),
    address: text.optional().meta({ description: 'id of an address of yours, or the address itself' }),
    search: text
      .max(emails.MAX_SEARCH_LENGTH)
      .optional()
      .meta({ description: 'part of the subject, the sender or a recipient' }),
    limit: limit(),
    offset,
    // The `resend` client pages by the id of an email.
    after: z
      .string()
      .optional()
      .meta({ description: 'id of an email: the page that lies behind it, instead of `offset`' }),
    before: z.string().optional().meta({ description: 'id of an email: the page that lies before it' }),
  })
  .refine(({ after, before }) => after === undefined || before === undefined, {
    path: ['before'],
    message: 'cannot be used with after',
  });

const listAnswer = z.object({
  object: z.literal('list'),
  data: z.array(emailListItem),
  has_more: z.boolean(),
  pagination: z.object({
    limit: z.number().int(),
    offset: z.number().int(),
    total: z.number().int(),
    has_more: z.boolean(),
  }),
  filters: z.object({
    type: z.string(),
    status: z.string().optional(),
    time_range: z.string(),
    search: z.string().optional(),
    domain: z.string().optional(),
    address: z.string().optional(),
  }),
});

const flagsBody = z.object({ is_read: z.boolean().optional(), is_archived: z.boolean().optional() });
const flagsAnswer = z.object({
  object: z.literal('email'),
  id: z.string(),
  is_read: z.boolean(),
  is_archived: z.boolean(),
  updated_at: instant,
});

export const emailRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails',
    {
      schema: {
        operationId: 'listEmails',
        summary: 'List all email activity',
        description: 'Sent, scheduled and received mail, newest first.',
        tags: ['Emails'],
        querystring: listQuery,
        response: { 200: listAnswer, default: errorBody },
      },
    },
    async (request) => {
      const { type, status, time_range: timeRange, domain, address, search, after, before, ...page } = request.query;
      const context = contextOf(request);
      const query = { type, status, timeRange, domain, address, search };
      const emailId = after ?? before;
      const side = after === undefined ? 'before' : 'after';
      const found =
        emailId === undefined
          ? await emails.listEmails(context, query, page)
          : await emails.listEmailsBeside(context, query, { side, emailId, limit: page.limit });
      return {
        object: 'list' as const,
        data: found.emails.map(emailListItemOf),
        has_more: found.hasMore,
        pagination: { ...page, total: found.total, has_more: found.hasMore },
        filters: { type, status, time_range: timeRange, search, domain, address },
      };
    },
  );

  app.get(
    '/emails/:id',
    {
      schema: {
        operationId: 'getEmail',
        summary: 'Read an email',
        description: 'Of sent mail `status` tells how far it came; reading changes nothing.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: emailBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      return emailBodyOf(await emails.readEmail(context, request.params.id), context.settings.publicUrl);
    },
  );

  app.patch(
    '/emails/:id',
    {
      schema: {
        operationId: 'updateEmail',
        summary: 'Mark a received email as read or archived, or not',
        description: 'Fields that are absent stay as they are.',
        tags: ['Emails'],
        params: idInPath,
        body: flagsBody,
        response: { 200: flagsAnswer, default: errorBody },
      },
    },
    async (request) => {
      const { is_read: isRead, is_archived: isArchived } = request.body;
      const updated = await emails.updateEmail(contextOf(request), request.params.id, { isRead, isArchived });
      return {
        object: 'email' as const,
        id: updated.id,
        is_read: updated.isRead,
        is_archived: updated.isArchived,
        updated_at: wireInstant(updated.updatedAt),
      };
    },
  );
};
