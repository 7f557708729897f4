import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { sendEmail } from '../../../operations/sending/send-email.ts';
import { refuseCrowds } from '../../../schema/shapes/outgoing.ts';
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
      preValidation: async (request) => refuseCrowds(request.body),
      config: { access: access.send },
      schema: {
        operationId: 'sendEmail',
        summary: 'Send an email, or schedule it',
        description:
          'Answers once the email is stored, with 201 when it is scheduled; what becomes of it, GET of the email tells. The domain of `from` must be verified and yours.',
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
