import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { sendEmail } from '../../operations/send-email.ts';
import { idempotencyOf, MAIL_BODY_LIMIT, newEmailOf, sendBody } from './outgoing-shapes.ts';
import { errorBody, instant, type RestOptions } from './shapes.ts';

const sentAnswer = z
  .object({
    id: z.string(),
    message_id: z.string().meta({ description: 'RFC 5322 Message-ID' }),
    messageId: z.string(),
    status: z.literal('sent'),
    provider_message_id: z.string(),
    aws_message_id: z.string(),
    awsMessageId: z.string(),
  })
  .meta({ id: 'SentEmail' });

const scheduledAnswer = z
  .object({
    id: z.string(),
    message_id: z.string(),
    messageId: z.string(),
    status: z.literal('scheduled'),
    scheduled_at: instant,
    timezone: z.string(),
  })
  .meta({ id: 'ScheduledEmail' });

export const sendingRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      schema: {
        summary: 'Send an email, or schedule it',
        tags: ['Emails'],
        headers: z.object({ 'idempotency-key': z.string().optional() }),
        body: sendBody,
        response: { 200: sentAnswer, 201: scheduledAnswer, default: errorBody },
      },
    },
    async (request, reply) => {
      const idempotency = idempotencyOf(request.headers, 'send', request.body);
      const { receipt } = await sendEmail(contextOf(request), newEmailOf(request.body), idempotency);
      const [email] = receipt.emails;
      if (email === undefined) throw new Error('a receipt without an email');
      const { id, messageId, scheduledAt, timezone } = email;
      const ids = { id, message_id: messageId, messageId };
      if (scheduledAt !== null)
        return reply
          .code(201)
          .send({ ...ids, status: 'scheduled' as const, scheduled_at: scheduledAt, timezone: timezone ?? 'UTC' });
      return {
        ...ids,
        status: 'sent' as const,
        provider_message_id: id,
        aws_message_id: id,
        awsMessageId: id,
      };
    },
  );
};
