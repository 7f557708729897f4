import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { sendEmail } from '../../operations/send-email.ts';
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
import { errorBody, type RestOptions } from './shapes.ts';

export const sendingRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      schema: {
        summary: 'Send an email, or schedule it',
        tags: ['Emails'],
        headers: idempotencyHeader,
        body: sendBody,
        response: { 200: sentAnswer, 201: scheduledAnswer, default: errorBody },
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
