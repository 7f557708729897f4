import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { SPAM_CHOICES } from '../../../core/screening/spam-check.ts';
import {
  LIST_SEARCH,
  operatorSearch,
  searchLanguage,
  searchOrder,
} from '../../../operations/capability/field-shapes.ts';
import { invalid, type OperationContext } from '../../../operations/context.ts';
import { updateEmail } from '../../../operations/emails/email-flags.ts';
import * as emails from '../../../operations/emails/emails.ts';
import { rescheduleEmail } from '../../../operations/sending/scheduled-emails.ts';
import { access, accessByCase } from '../../admission/access.ts';
import { addWarning } from '../../http/body-warnings.ts';
import { isLegacyPath } from '../../http/requests.ts';
import { INSTEAD_OF_OFFSET, isOneSided, oneSide, pageByIdFields, readSide } from '../page-by-id.ts';
import { approvalBody, readApprovals } from '../sending/approvals.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  offset,
  queryBoolean,
  type RestOptions,
  text,
  wireInstant,
} from '../shapes.ts';
import { emailListItem, makeEmailBody, makeEmailListItem, makeLegacyEmailBody } from './email-wire.ts';
import { examinedEmailBody, NO_FINDINGS, readSenderFindings } from './sender-findings.ts';

export const listQuery = z
  .object({
    type: z.enum(emails.EMAIL_TYPES).default('all').meta({ description: 'Returns emails of this type only.' }),
    status: z.enum(emails.EMAIL_STATUSES).optional().meta({
      description:
        'Returns emails with this status only. `pending` mail is `queued` or `deferred` (retried after a temporary refusal); `complained` was reported as spam. `unread`, `read`, `archived` and `blocked` (held by a guard rule or for review) return received mail only.',
    }),
    time_range: z.enum(emails.TIME_RANGES).default('30d').meta({
      description:
        'Maximum age of the emails. If nothing is that young, `warnings` says how many older emails match. `all` has no limit.',
    }),
    domain: text.optional().meta({
      description:
        'ID of one of your domains, to return its mail; or any domain name, to return mail sent to or from it.',
    }),
    address: text.optional().meta({
      description:
        'ID of one of your addresses, to return its mail; or any email address, for example a customer’s, to return all mail exchanged with it (To, Cc and Bcc of sent mail, From of received mail).',
    }),
    search: operatorSearch.optional().meta({ description: LIST_SEARCH }),
    order_by: searchOrder,
    language: searchLanguage,
    trashed: queryBoolean
      .default(false)
      .meta({ description: 'Returns the emails in the trash, which are left out otherwise.' }),
    spam: z.enum(SPAM_CHOICES).optional().meta({
      description:
        '`only` returns the emails in the folder Spam and in quarantine, `include` returns them with the others. They are left out otherwise.',
    }),
    limit: limit(),
    offset,
    ...pageByIdFields('an email', INSTEAD_OF_OFFSET),
  })
  .refine(isOneSided, oneSide);

const listResponse = z.object({
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
    scheduled_at: z.string().nullish().meta({ description: 'New send time, in the formats of the original request.' }),
    scheduledAt: z.string().nullish().meta({ deprecated: true, description: 'Alias of `scheduled_at`.' }),
    timezone: z
      .string()
      .nullish()
      .meta({ description: 'IANA time zone of `scheduled_at`. The default is that of the email.' }),
  })
  .meta({
    id: 'UpdateEmail',
    examples: [{ is_read: true }, { scheduled_at: 'tomorrow at 9am', timezone: 'Europe/Berlin' }],
  });
export const updateResponse = z
  .object({
    object: z.literal('email'),
    id: z.string(),
    is_read: z.boolean().optional().meta({ description: 'For a received email.' }),
    is_archived: z.boolean().optional().meta({ description: 'For a received email.' }),
    status: z.enum(['scheduled', 'paused', 'cancelled']).optional().meta({ description: 'For a scheduled email.' }),
    scheduled_at: instant.optional().meta({ description: 'For a scheduled email.' }),
    timezone: z.string().optional().meta({ description: 'For a scheduled email.' }),
    updated_at: instant,
  })
  .meta({ id: 'UpdatedEmail' });

/** Rescheduling needs the scope `send`, marking needs `manage`. */
const accessToChange = accessByCase({ 'to reschedule': ['send'], 'to mark': ['organize'] }, ({ body }) => {
  const { scheduled_at, scheduledAt, ...flags } = (body ?? {}) as Record<string, unknown>;
  const isScheduled = scheduled_at != null || scheduledAt != null;
  const isMarked = Object.entries(flags).some(([name, value]) => name !== 'timezone' && value != null);
  return [...(isScheduled ? (['send'] as const) : []), ...(isMarked || !isScheduled ? (['organize'] as const) : [])];
});

/** An email as its GET route shows it. */
export const detailedEmailBody = examinedEmailBody
  .extend({
    approval: approvalBody.nullable().meta({
      description: 'Why the email waits for approval or waited, and what became of it. Null if it never did.',
    }),
  })
  .meta({ id: 'DetailedEmail' });

export const emailRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listEmails',
        summary: 'List emails',
        description: 'Returns sent, scheduled and received emails, newest first unless `order_by` says otherwise.',
        tags: ['Emails'],
        querystring: listQuery,
        response: { 200: listResponse, default: errorBody },
      },
    },
    async (request) => {
      const {
        type,
        status,
        time_range: timeRange,
        domain,
        address,
        search,
        order_by: order,
        language,
        trashed,
        spam,
        after,
        before,
        ...page
      } = request.query;
      const context = contextOf(request);
      const query = { type, status, timeRange, domain, address, search, language, isTrashed: trashed, spam };
      const named = readSide({ after, before });
      const beside = named === null ? null : { side: named.side, emailId: named.id };
      const found =
        order === 'relevance'
          ? await emails.listEmailsByRelevance(context, query, { ...page, beside })
          : beside === null
            ? await emails.listEmails(context, query, page)
            : await emails.listEmailsBeside(context, query, { ...beside, limit: page.limit });
      if (found.total === 0) await warnOfOlder(request, context, query);
      return {
        object: 'list' as const,
        data: found.emails.map((email, at) => makeEmailListItem(email, found.addresses[at] ?? null)),
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
        summary: 'Retrieve an email',
        description:
          'For a sent email, `status` shows its progress. Reading an email does not mark it as read. A received email exists once it is parsed and has its thread. Right after SMTP accepted it (`250 ... queued as em_...`), the request waits for that up to a second.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: detailedEmailBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const email = await emails.readEmail(context, request.params.id);
      const body = makeEmailBody(email, context.settings.publicUrl);
      const [findings = NO_FINDINGS] = await readSenderFindings(context, [email]);
      const [approval = null] = await readApprovals(context, [email]);
      const more = { ...findings, approval };
      return { ...(isLegacyPath(request) ? makeLegacyEmailBody(body) : body), ...more };
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
          'Either marks or archives a received email with `is_read` and `is_archived`, where omitted fields keep their values, or reschedules a scheduled email with `scheduled_at`.',
        tags: ['Emails'],
        params: idInPath,
        body: updateBody,
        response: { 200: updateResponse, default: errorBody },
      },
      handler: (request) => update(contextOf(request), request.params.id, request.body),
    });
};

/** Some clients send PUT. */
const updates = [
  { method: 'PATCH', operationId: 'updateEmail', summary: 'Update or reschedule an email' },
  { method: 'PUT', operationId: 'putEmail', summary: 'Update or reschedule an email (PUT)' },
] as const;

async function update(
  context: OperationContext,
  emailId: string,
  body: z.infer<typeof updateBody>,
): Promise<z.infer<typeof updateResponse>> {
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
  const schedule = { text: scheduledAt, timezone: body.timezone ?? null };
  const updated = await rescheduleEmail(context, emailId, schedule);
  return {
    object: 'email',
    id: updated.id,
    status: updated.status,
    scheduled_at: wireInstant(updated.scheduledAt),
    timezone: updated.timezone,
    updated_at: wireInstant(updated.updatedAt),
  };
}

/** Says on an empty page how many emails lie outside of its time range. */
export async function warnOfOlder(
  request: FastifyRequest,
  context: OperationContext,
  query: emails.EmailQuery,
  parameter = 'time_range',
): Promise<void> {
  const count = await emails.countOlder(context, query);
  if (count === null || count === 0) return;
  const { timeRange = '30d' } = query;
  const older = count === 1 ? '1 matching email is' : `${count} matching emails are`;
  addWarning(request, parameter, `${older} older than ${timeRange}. Add ${parameter}=all to list all.`);
}
