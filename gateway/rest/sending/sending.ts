import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { forwardEmail } from '../../../operations/sending/forward-email.ts';
import { sendReply } from '../../../operations/sending/replies.ts';
import { sendEmail } from '../../../operations/sending/send-email.ts';
import { limitEntries } from '../../../schema/input-shapes.ts';
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

export const replyBody = z
  .object({
    from: sendBody.shape.from,
    from_name: z.string().nullish().meta({ description: 'Sender name, if `from` does not include one.' }),
    fromName: z.string().nullish().meta({ deprecated: true, description: 'Alias of `from_name`.' }),
    to: addresses.nullish().meta({ description: 'The default is the sender of the original.' }),
    subject: z.string().nullish().meta({ description: 'The default is `Re: ` and the subject of the original.' }),
    reply_all: z
      .boolean()
      .nullish()
      .meta({ description: 'Whether to also reply to the other recipients of the original.' }),
    replyAll: z.boolean().nullish().meta({ deprecated: true, description: 'Alias of `reply_all`.' }),
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
  is_thread_reply: z.boolean().meta({ description: 'Whether the ID was that of a thread.' }),
};

export const replyRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/:id/reply',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      preValidation: async (request) => limitEntries(request.body),
      config: { access: access.send },
      schema: {
        operationId: 'replyToEmail',
        summary: 'Reply to an email or a thread',
        description:
          'Replies to an email, or to the latest message of a thread. By default the reply goes to the addresses that the original asks for. It joins the thread.',
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
      const newReply = {
        ...newEmailOf(body),
        fromName: body.from_name ?? body.fromName,
        audience: (body.reply_all ?? body.replyAll) ? ('all' as const) : ('sender' as const),
      };
      const { receipt } = await sendReply(contextOf(request), params.id, newReply, idempotency);
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

const { attachments: _ownFiles, ...forwardedContent } = contentShape;

const forwardBody = z
  .object({
    from: sendBody.shape.from,
    to: sendBody.shape.to,
    subject: z.string().nullish().meta({ description: 'The default is `Fwd: ` and the subject of the original.' }),
    ...forwardedContent,
    text: z.string().nullish().meta({ description: 'Text above the original. The default is none.' }),
    html: z.string().nullish().meta({
      description: 'HTML above the original. By default it is created from `text`, if the original has HTML.',
    }),
    with_attachments: z.boolean().default(true).meta({ description: 'Whether to include the attachments.' }),
  })
  .meta({
    id: 'ForwardEmail',
    required: ['from', 'to'],
    'x-examples': [{ from: 'support@example.com', to: 'ada@example.org', text: 'For your information.' }],
  });

const forwardedFrom = { forwarded_email_id: z.string().meta({ description: 'ID of the original.' }) };

export const forwardRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/:id/forward',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      preValidation: async (request) => limitEntries(request.body),
      config: { access: access.readAndSend },
      schema: {
        operationId: 'forwardEmail',
        summary: 'Forward an email',
        description:
          'Forwards a received or sent email, as mail programs do: a new email that quotes the original and starts its own thread.',
        tags: ['Emails'],
        params: idInPath,
        headers: idempotencyHeader,
        body: forwardBody,
        response: {
          200: sentAnswer.extend(forwardedFrom).meta({ id: 'SentForward' }),
          201: scheduledAnswer.extend({ ...providerIds, ...forwardedFrom }).meta({ id: 'ScheduledForward' }),
          403: errorBody,
          409: errorBody,
          default: errorBody,
        },
      },
    },
    async (request, reply) => {
      const { body, params } = request;
      const idempotency = idempotencyOf(request.headers, 'forward', [params.id, body]);
      const { attachments: _none, ...email } = newEmailOf(body);
      const attachments = body.with_attachments ? ('all' as const) : ('none' as const);
      const { receipt } = await forwardEmail(contextOf(request), params.id, { ...email, attachments }, idempotency);
      const original = { forwarded_email_id: params.id };
      const scheduled = scheduledBodyOf(receipt);
      if (scheduled !== null) return reply.code(201).send({ ...scheduled, ...providerIdsOf(receipt), ...original });
      return { ...sentBodyOf(receipt), ...original };
    },
  );
};
