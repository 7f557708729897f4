import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { sendEmail } from '../../../operations/sending/send-email.ts';
import { limitEntries } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { errorBody, type RestOptions } from '../shapes.ts';
import {
  idempotencyHeader,
  idempotencyOf,
  MAIL_BODY_LIMIT,
  newEmailOf,
  scheduledAnswer,
  scheduledBodyOf,
  sendBody,
  sentAnswer,
  sentBodyOf,
} from './outgoing-shapes.ts';

export const sendingRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      preValidation: async (request) => limitEntries(request.body),
      config: { access: access.send },
      schema: {
        operationId: 'sendEmail',
        summary: 'Send an email',
        description:
          'Sends an email, or schedules it if `scheduled_at` is set, which returns 201. Responds as soon as the email is stored; retrieve the email to see its delivery status. The domain of `from` must be one of your verified domains.',
        tags: ['Emails'],
        headers: idempotencyHeader,
        body: sendBody,
        response: { 200: sentAnswer, 201: scheduledAnswer, 403: errorBody, 409: errorBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const idempotency = idempotencyOf(request.headers, 'send', request.body);
      const { receipt } = await sendEmail(contextOf(request), newEmailOf(request.body), idempotency);
      const scheduled = scheduledBodyOf(receipt);
      return scheduled === null ? sentBodyOf(receipt) : reply.code(201).send(scheduled);
    },
  );
};
