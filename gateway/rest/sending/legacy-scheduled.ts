import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { UserError } from '../../../core/shared/errors.ts';
import { invalid } from '../../../operations/context.ts';
import { bodyText } from '../../../operations/emails/content-shapes.ts';
import * as emails from '../../../operations/emails/emails.ts';
import { cancelEmail } from '../../../operations/sending/scheduled-emails.ts';
import { sendEmail } from '../../../operations/sending/send-email.ts';
import { limitEntries } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { emailBody, makeEmailBody } from '../emails/email-wire.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  listBody,
  makeListShape,
  offset,
  type RestOptions,
  wireInstant,
} from '../shapes.ts';
import {
  idempotencyHeader,
  MAIL_BODY_LIMIT,
  readEmail,
  readIdempotencyHeader,
  scheduledResponse,
  writeTimed,
} from './outgoing-shapes.ts';
import { sendEmailBody } from './sending.ts';

const summary = {
  id: z.string(),
  from: z.string(),
  to: z.array(z.string()),
  subject: z.string(),
  scheduled_at: instant,
  timezone: z.string(),
  status: z.enum(['scheduled', 'paused', 'cancelled', 'sent']),
  created_at: instant,
  attempts: z.number().int().meta({ description: '1 once the email is in the sending queue.' }),
};
const listItem = z.object(summary).meta({ id: 'LegacyScheduledEmailListItem' });
const details = z
  .object({
    ...summary,
    cc: emailBody.shape.cc,
    bcc: emailBody.shape.bcc,
    replyTo: z.array(z.string()).optional(),
    html: bodyText.optional(),
    text: bodyText.optional(),
    headers: emailBody.shape.headers,
    attachments: emailBody.shape.attachments,
    tags: emailBody.shape.tags,
    updated_at: emailBody.shape.updated_at,
    sent_at: instant.optional(),
    max_attempts: z.number().int(),
    sent_email_id: z.string().optional(),
  })
  .meta({ id: 'LegacyScheduledEmail' });
const cancelled = z.object({ id: z.string(), status: z.literal('cancelled'), cancelled_at: instant });

const scheduleBody = sendEmailBody.meta({
  id: 'LegacyScheduleEmail',
  required: ['from', 'to', 'subject'],
  anyOf: ['scheduled_at', 'scheduledAt'].map((name) => ({
    type: 'object' as const,
    properties: { [name]: { type: 'string' } },
    required: [name],
  })),
  'x-examples': [
    {
      from: 'support@example.com',
      to: 'ada@example.org',
      subject: 'A reminder',
      text: 'Tomorrow is the day.',
      scheduled_at: 'tomorrow at 9am',
    },
  ],
});

/** Scheduled emails at the paths of `@inboundemail/sdk`, with the same operations as /emails. */
export const legacyScheduledRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  const frame = { tags: ['Paths of other clients'], deprecated: true };

  app.post(
    '/emails/schedule',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      preValidation: async (request) => limitEntries(request.body),
      config: { access: access.send },
      schema: {
        ...frame,
        operationId: 'legacyScheduleEmail',
        summary: 'Schedule an email',
        description: 'Same as POST /emails, where `scheduled_at` is required.',
        headers: idempotencyHeader,
        body: scheduleBody,
        response: { 201: scheduledResponse, 403: errorBody, 409: errorBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const email = readEmail(request.body);
      if (email.scheduledAt == null) throw invalid('scheduled_at is required', 'scheduled_at');
      const idempotency = readIdempotencyHeader(request.headers, 'send', request.body);
      const { receipt } = await sendEmail(contextOf(request), email, idempotency);
      // Mail that waits for approval has its time already.
      const result = writeTimed(receipt);
      if (result === null) throw new Error('an email with a time was not scheduled');
      return reply.code(201).send(result);
    },
  );

  app.get(
    '/emails/schedule',
    {
      config: { access: access.read },
      schema: {
        ...frame,
        operationId: 'legacyListScheduledEmails',
        summary: 'List scheduled emails',
        description: 'Returns emails that have not been sent, newest first.',
        querystring: z.object({
          limit: limit(),
          offset,
          status: z
            .enum(['all', 'scheduled', 'paused', 'cancelled'])
            .optional()
            .meta({ description: 'Returns emails with this status only.' }),
        }),
        response: { 200: makeListShape(listItem), default: errorBody },
      },
    },
    async (request) => {
      const { status, ...page } = request.query;
      const query = { type: 'scheduled', status, timeRange: 'all' } as const;
      const found = await emails.listEmails(contextOf(request), query, page);
      return listBody(found.emails.map(toSummary), page, found.total);
    },
  );

  app.get(
    '/emails/schedule/:id',
    {
      config: { access: access.read },
      schema: {
        ...frame,
        operationId: 'legacyGetScheduledEmail',
        summary: 'Retrieve a scheduled email',
        description: 'Also returns an email that has been sent since.',
        params: idInPath,
        response: { 200: details, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const email = await emails.readEmail(context, request.params.id).catch(nameScheduledEmail);
      if (email.scheduledAt === null) throw notFound();
      const { reply_to: replyTo, html, text, sent_at, ...body } = makeEmailBody(email, context.settings.publicUrl);
      return {
        ...body,
        ...toSummary(email),
        // The types of the client do not allow null here.
        ...(replyTo === null ? {} : { replyTo }),
        ...(html === null ? {} : { html }),
        ...(text === null ? {} : { text }),
        ...(sent_at === null ? {} : { sent_at }),
        ...(email.type === 'sent' ? { sent_email_id: email.id } : {}),
        max_attempts: 1,
      };
    },
  );

  app.delete(
    '/emails/schedule/:id',
    {
      config: { access: access.send },
      schema: {
        ...frame,
        operationId: 'legacyCancelScheduledEmail',
        summary: 'Cancel a scheduled email',
        description: 'Same as DELETE /emails/{id}.',
        params: idInPath,
        response: { 200: cancelled, default: errorBody },
      },
    },
    async (request) => {
      const { email } = await cancelEmail(contextOf(request), request.params.id).catch(nameScheduledEmail);
      return { id: email.id, status: 'cancelled' as const, cancelled_at: wireInstant(email.updatedAt) };
    },
  );
};

/** Rethrows an error; a missing email is named as the reference service names it. */
function nameScheduledEmail(error: unknown): never {
  throw error instanceof UserError && error.code === 'not_found' ? notFound() : error;
}

function notFound(): UserError {
  return new UserError('not_found', 'Scheduled email not found');
}

/** The client knows no approval. */
const LEGACY_STATUSES: Partial<Record<emails.EmailSummary['status'], 'scheduled' | 'cancelled'>> = {
  awaiting_approval: 'scheduled',
  rejected: 'cancelled',
};

function toSummary(email: emails.EmailSummary): z.infer<typeof listItem> {
  const status = LEGACY_STATUSES[email.status] ?? email.status;
  const isWaiting = status === 'scheduled' || status === 'paused' || status === 'cancelled';
  return {
    id: email.id,
    from: email.fromText,
    to: email.to,
    subject: email.subject,
    scheduled_at: wireInstant(email.scheduledAt ?? email.createdAt),
    timezone: email.timezone ?? 'UTC',
    status: isWaiting ? status : 'sent',
    created_at: wireInstant(email.createdAt),
    attempts: isWaiting ? 0 : 1,
  };
}
