import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { sendReply } from '../../../operations/sending/replies.ts';
import { refuseCrowds } from '../../../schema/shapes/outgoing.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, type RestOptions } from '../shapes.ts';
import {
  addresses,
  contentShape,
  idempotencyHeader,
  idempotencyOf,
  MAIL_BODY_LIMIT,
  newEmailOf,
  providerIds,
  providerIdsOf,
  scheduledAnswer,
  scheduledBodyOf,
  sentAnswer,
  sentBodyOf,
} from './outgoing-shapes.ts';

const replyBody = z
  .object({
    from: z.string().nullish(),
    from_name: z.string().nullish().meta({ description: 'the name of the sender, where from brings none' }),
    fromName: z.string().nullish().meta({ deprecated: true, description: 'alias of from_name' }),
    to: addresses.nullish().meta({ description: 'default: who sent the original' }),
    subject: z.string().nullish().meta({ description: 'default: `Re: ` and the subject of the original' }),
    reply_all: z.boolean().nullish().meta({ description: 'to the other addressees of the original, too' }),
    replyAll: z.boolean().nullish().meta({ deprecated: true, description: 'alias of reply_all' }),
    ...contentShape,
  })
  .meta({
    id: 'ReplyToEmail',
    required: ['from'],
    'x-examples': [{ from: 'Support <support@example.com>', text: 'It is on its way.', reply_all: true }],
  });

const repliedTo = {
  replied_to_email_id: z.string(),
  replied_to_thread_id: z.string().nullable(),
  is_thread_reply: z.boolean().meta({ description: 'whether the id was that of a thread' }),
};

export const replyRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/:id/reply',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      preValidation: async (request) => refuseCrowds(request.body),
      config: { access: access.send },
      schema: {
        operationId: 'replyToEmail',
        summary: 'Answer an email, or the latest message of a thread',
        description:
          'The id is that of an email or of a thread. The answer goes to whom the original asks for, and joins its thread.',
        tags: ['Emails'],
        params: idInPath,
        headers: idempotencyHeader,
        body: replyBody,
        response: {
          200: sentAnswer.extend(repliedTo).meta({ id: 'SentReply' }),
          201: scheduledAnswer.extend({ ...providerIds, ...repliedTo }).meta({ id: 'ScheduledReply' }),
          403: errorBody,
          409: errorBody,
          default: errorBody,
        },
      },
    },
    async (request, reply) => {
      const { body, params } = request;
      const idempotency = idempotencyOf(request.headers, 'reply', [params.id, body]);
      const wish = {
        ...newEmailOf(body),
        fromName: body.from_name ?? body.fromName,
        audience: (body.reply_all ?? body.replyAll) ? ('all' as const) : ('sender' as const),
      };
      const { receipt } = await sendReply(contextOf(request), params.id, wish, idempotency);
      const original = {
        replied_to_email_id: receipt.repliedTo?.emailId ?? '',
        replied_to_thread_id: receipt.repliedTo?.threadId ?? null,
        is_thread_reply: receipt.repliedTo?.isThread ?? false,
      };
      const scheduled = scheduledBodyOf(receipt);
      if (scheduled !== null) return reply.code(201).send({ ...scheduled, ...providerIdsOf(receipt), ...original });
      return { ...sentBodyOf(receipt), ...original };
    },
  );
};
