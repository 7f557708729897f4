import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { SIMULATED_KINDS } from '../../../core/mime/simulated-mail.ts';
import { readSimulatedMessage, simulateInbound } from '../../../operations/routing/simulate-inbound.ts';
import { access } from '../../admission/access.ts';
import { sendSnakeCaseError } from '../../http/error-response.ts';
import { idempotencyHeader, idempotencyOf, MAIL_BODY_LIMIT } from '../sending/outgoing-shapes.ts';
import { errorBody, type RestOptions } from '../shapes.ts';

const simulateBody = z
  .object({
    raw: z.string().nullish().meta({ description: 'A whole message (RFC 5322) in UTF-8, with any line ends.' }),
    raw_base64: z.string().nullish().meta({ description: 'A whole message in base64.' }),
    template: z
      .enum([...SIMULATED_KINDS, 'bounce'])
      .nullish()
      .meta({
        description:
          'A sample message. `reply` answers the email in `email_id`; `bounce` reports that the sent email in `email_id` cannot be delivered, and has the same effects as a real report.',
      }),
    to: z.string().nullish().meta({
      description: 'One of your addresses. The default of `reply` is the address in the conversation.',
    }),
    from: z.string().nullish().meta({
      description: '`address` or `Name <address>`. The default is the From header of the message, or a sample address.',
    }),
    subject: z.string().nullish().meta({ description: 'Replaces the subject of the template.' }),
    text: z.string().nullish().meta({ description: 'Replaces the bodies of the template.' }),
    html: z.string().nullish().meta({ description: 'Replaces the bodies of the template.' }),
    email_id: z.string().nullish().meta({ description: 'Of `reply` and `bounce`: ID of the email.' }),
    recipient: z.string().nullish().meta({
      description: 'Of `bounce`: the recipient that bounces. The default is the first one.',
    }),
    status: z.string().nullish().meta({
      description: 'Of `bounce`: enhanced status code (RFC 3463). The default is 5.1.1.',
    }),
  })
  .meta({
    id: 'SimulateInbound',
    description: 'Exactly one of `raw`, `raw_base64` and `template` is required.',
    examples: [
      { template: 'one-time-code', to: 'hello@inbox.test' },
      { template: 'reply', email_id: 'em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b', text: 'Thank you.' },
    ],
  });

const simulatedEmail = z
  .object({
    object: z.literal('simulated_email'),
    id: z.string().nullable().meta({ description: 'ID of the new email. Null for a bounce report.' }),
    reported_email_id: z.string().nullable().meta({
      description: 'ID of the sent email that the report is about. Null if the message is no report.',
    }),
    to: z.string().meta({ description: 'The envelope recipient.' }),
  })
  .meta({ id: 'SimulatedEmail' });

export const simulateRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/simulate',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      errorHandler: sendSnakeCaseError,
      config: { access: access.manage },
      schema: {
        operationId: 'simulateInbound',
        summary: 'Receive a test email',
        description:
          'Receives a test email as if another server had sent it. It is marked as simulated and is parsed, threaded, routed and delivered like all mail.',
        tags: ['Emails'],
        headers: idempotencyHeader,
        body: simulateBody,
        response: { 200: simulatedEmail, default: errorBody },
      },
    },
    async (request) => {
      const { raw_base64: rawBase64, email_id: emailId, to, from, ...rest } = request.body;
      const idempotency = idempotencyOf(request.headers, 'simulate', request.body);
      const message = readSimulatedMessage({ ...rest, rawBase64, emailId });
      const done = await simulateInbound(
        contextOf(request),
        { message, to: to ?? null, from: from ?? null },
        idempotency,
      );
      return {
        object: 'simulated_email' as const,
        id: done.emailId,
        reported_email_id: done.reportedEmailId,
        to: done.to,
      };
    },
  );
};
