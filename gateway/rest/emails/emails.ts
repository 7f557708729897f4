import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { invalid, type OperationContext } from '../../../operations/context.ts';
import { updateEmail } from '../../../operations/emails/email-flags.ts';
import * as emails from '../../../operations/emails/emails.ts';
import { rescheduleEmail } from '../../../operations/sending/scheduled-emails.ts';
import { access, type RouteAccess } from '../../admission/access.ts';
import { isFormerPath } from '../../http/requests.ts';
import { errorBody, idInPath, instant, limit, offset, type RestOptions, text, wireInstant } from '../shapes.ts';
import { emailBody, emailBodyOf, emailListItem, emailListItemOf, formerEmailBodyOf } from './email-wire.ts';

const listQuery = z
  .object({
    type: z.enum(emails.EMAIL_TYPES).default('all').meta({ description: 'emails of one type' }),
    status: z.enum(emails.EMAIL_STATUSES).optional().meta({
      description:
        'emails of one status; unread, read, archived and blocked (held back by a guard rule, or for review) show received mail alone',
    }),
    time_range: z.enum(emails.TIME_RANGES).default('30d').meta({ description: 'how old they may be' }),
    domain: text.optional().meta({
      description:
        'id of a domain of yours: its mail; any domain name: mail of which either side, yours or the other, has it',
    }),
    address: text.optional().meta({
      description:
        'id of an address of yours: its mail; any address itself, for example of a customer: all mail that you exchanged with it (To, Cc and Bcc of sent mail, From of received mail)',
    }),
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

const updateBody = z
  .object({
    is_read: z.boolean().nullish(),
    is_archived: z.boolean().nullish(),
    scheduled_at: z.string().nullish().meta({ description: 'another time to send, as when it was scheduled' }),
    scheduledAt: z.string().nullish().meta({ deprecated: true, description: 'alias of scheduled_at' }),
    timezone: z.string().nullish().meta({ description: 'IANA zone of scheduled_at; default: that of the email' }),
  })
  .meta({
    id: 'UpdateEmail',
    examples: [{ is_read: true }, { scheduled_at: 'tomorrow at 9am', timezone: 'Europe/Berlin' }],
  });
const updateAnswer = z
  .object({
    object: z.literal('email'),
    id: z.string(),
    is_read: z.boolean().optional().meta({ description: 'of a received email' }),
    is_archived: z.boolean().optional().meta({ description: 'of a received email' }),
    status: z.enum(['scheduled', 'paused', 'cancelled']).optional().meta({ description: 'of a scheduled email' }),
    scheduled_at: instant.optional().meta({ description: 'of a scheduled email' }),
    timezone: z.string().optional().meta({ description: 'of a scheduled email' }),
    updated_at: instant,
  })
  .meta({ id: 'UpdatedEmail' });

/** Setting another time is sending; marking is managing. */
const accessToChange: RouteAccess = {
  scopes: {
    oneOf: ['send', 'manage'],
    of: ({ body }) => {
      const { scheduled_at, scheduledAt, ...flags } = (body ?? {}) as Record<string, unknown>;
      const isScheduled = scheduled_at != null || scheduledAt != null;
      const isMarked = Object.entries(flags).some(([name, value]) => name !== 'timezone' && value != null);
      return [...(isScheduled ? (['send'] as const) : []), ...(isMarked || !isScheduled ? (['manage'] as const) : [])];
    },
  },
  isOfDomain: true,
};

export const emailRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails',
    {
      config: { access: access.read },
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
        data: found.emails.map((email, at) => emailListItemOf(email, found.addresses[at] ?? null)),
        has_more: found.hasMore,
        pagination: { ...page, total: found.total, has_more: found.hasMore },
        filters: { type, status, time_range: timeRange, search, domain, address },
      };
    },
  );

  app.get(
    '/emails/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getEmail',
        summary: 'Read an email',
        description:
          'Of sent mail `status` tells how far it came; reading changes nothing. A received email can be read as soon as SMTP has accepted it (`250 ... queued as em_...`): until it is parsed it shows the envelope and the header section, without bodies, attachments and verdicts.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: emailBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const body = emailBodyOf(await emails.readEmail(context, request.params.id), context.settings.publicUrl);
      return isFormerPath(request) ? formerEmailBodyOf(body) : body;
    },
  );

  for (const { method, operationId, summary } of updates)
    app.route({
      method,
      url: '/emails/:id',
      config: { access: accessToChange },
      schema: {
        operationId,
        summary,
        description:
          'Either `is_read` and `is_archived` of a received email, where absent ones stay as they are, or `scheduled_at` of one that is still to be sent.',
        tags: ['Emails'],
        params: idInPath,
        body: updateBody,
        response: { 200: updateAnswer, default: errorBody },
      },
      handler: (request) => update(contextOf(request), request.params.id, request.body),
    });
};

/** Some clients send PUT. */
const updates = [
  { method: 'PATCH', operationId: 'updateEmail', summary: 'Mark or reschedule an email' },
  { method: 'PUT', operationId: 'putEmail', summary: 'Mark or reschedule an email, by another method' },
] as const;

async function update(
  context: OperationContext,
  emailId: string,
  body: z.infer<typeof updateBody>,
): Promise<z.infer<typeof updateAnswer>> {
  const flags = { isRead: body.is_read ?? undefined, isArchived: body.is_archived ?? undefined };
  const scheduledAt = body.scheduled_at ?? body.scheduledAt ?? null;
  if (scheduledAt === null) {
    const updated = await updateEmail(context, emailId, flags);
    return {
      object: 'email',
      id: updated.id,
      is_read: updated.isRead,
      is_archived: updated.isArchived,
      updated_at: wireInstant(updated.updatedAt),
    };
  }
  if (flags.isRead !== undefined || flags.isArchived !== undefined)
    throw invalid('scheduled_at cannot be changed together with is_read or is_archived', 'scheduled_at');
  const wish = { text: scheduledAt, timezone: body.timezone ?? null };
  const updated = await rescheduleEmail(context, emailId, wish);
  return {
    object: 'email',
    id: updated.id,
    status: updated.status,
    scheduled_at: wireInstant(updated.scheduledAt),
    timezone: updated.timezone,
    updated_at: wireInstant(updated.updatedAt),
  };
}
