import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { OperationContext } from '../../../operations/context.ts';
import * as replies from '../../../operations/domains/reply-addresses.ts';
import { replyAddressFields } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  listBody,
  listOf,
  offset,
  type RestOptions,
  text,
  wireInstant,
} from '../shapes.ts';

const replyAddressBody = z
  .object({
    object: z.literal('reply_address'),
    id: z.string(),
    address: z.string().meta({ description: 'The address to use as From or Reply-To. It carries its own signature.' }),
    status: z.enum(replies.REPLY_ADDRESS_STATUSES).meta({
      description: 'Whether it accepts mail: `active`, or the reason why it does not.',
    }),
    domain: z.string(),
    deliver_to: z.string().nullable().meta({
      description: 'The address that receives its mail. Null for `reply@` of the domain.',
    }),
    metadata: z.unknown().meta({ description: 'Returned with each email that it receives. Null if there is none.' }),
    thread_id: z.string().nullable().meta({ description: 'The thread that its mail joins.' }),
    senders: z.array(z.string()).meta({ description: 'Who may write to it. Empty for everyone.' }),
    max_messages: z.number().int().nullable(),
    message_count: z.number().int().meta({ description: 'Number of messages that it has accepted.' }),
    expires_at: instant.nullable(),
    revoked_at: instant.nullable(),
    created_at: instant,
    warning: z.string().optional().meta({
      description:
        'Why its mail is delivered to no endpoint, or refused, and what to do. Absent if an endpoint gets it. Not in lists.',
    }),
  })
  .meta({ id: 'ReplyAddress' });

const { domain, metadata, senders, maxMessages, threadId, deliverTo } = replyAddressFields;
const newReplyAddress = z
  .object({
    domain,
    metadata,
    senders,
    max_messages: maxMessages,
    thread_id: threadId,
    deliver_to: deliverTo,
    expires_at: z.iso
      .datetime({ offset: true })
      .nullish()
      .meta({ description: 'When it stops accepting mail. Default: never.' }),
  })
  .meta({
    id: 'CreateReplyAddress',
    examples: [
      {
        domain: 'example.com',
        metadata: { order: 4711 },
        senders: ['ada@example.org'],
        max_messages: 5,
        expires_at: '2099-01-31T12:00:00Z',
      },
    ],
  });

const listQuery = z.object({
  limit: limit(),
  offset,
  domain: text.optional().meta({ description: 'Returns addresses of this domain only; its name or ID.' }),
});

export const replyAddressRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/reply-addresses',
    {
      config: { access: access.send },
      schema: {
        operationId: 'createReplyAddress',
        summary: 'Create a reply address',
        description:
          'Returns a signed address. Mail to it carries `metadata`, joins the thread, and is refused with 550 5.1.1 once the address has expired, is used up or revoked, or when others write to it.',
        tags: ['Reply addresses'],
        body: newReplyAddress,
        response: { 201: replyAddressBody, 404: errorBody, 409: errorBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const { max_messages, thread_id, deliver_to, expires_at, ...input } = request.body;
      const context = contextOf(request);
      const created = await replies.createReplyAddress(context, {
        ...input,
        maxMessages: max_messages,
        threadId: thread_id,
        deliverTo: deliver_to,
        expiresAt: expires_at == null ? null : new Date(expires_at),
      });
      return reply.code(201).send(await warnedBodyOf(context, created));
    },
  );

  app.get(
    '/reply-addresses',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listReplyAddresses',
        summary: 'List reply addresses',
        description: 'Returns the newest first. Expired and revoked ones are listed for 30 days.',
        tags: ['Reply addresses'],
        querystring: listQuery,
        response: { 200: listOf(replyAddressBody), default: errorBody },
      },
    },
    async (request) => {
      const { domain: ofDomain, ...page } = request.query;
      const found = await replies.listReplyAddresses(contextOf(request), { domain: ofDomain }, page);
      return listBody(found.addresses.map(replyAddressBodyOf), page, found.total);
    },
  );

  app.get(
    '/reply-addresses/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getReplyAddress',
        summary: 'Retrieve a reply address',
        description: 'Returns its conditions, and how many messages it has accepted.',
        tags: ['Reply addresses'],
        params: idInPath,
        response: { 200: replyAddressBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      return warnedBodyOf(context, await replies.readReplyAddress(context, request.params.id));
    },
  );

  app.delete(
    '/reply-addresses/:id',
    {
      config: { access: access.send },
      schema: {
        operationId: 'revokeReplyAddress',
        summary: 'Revoke a reply address',
        description: 'It accepts no more mail, from this moment on. Mail that it received stays.',
        tags: ['Reply addresses'],
        params: idInPath,
        response: { 200: replyAddressBody, default: errorBody },
      },
    },
    async (request) => replyAddressBodyOf(await replies.revokeReplyAddress(contextOf(request), request.params.id)),
  );
};

async function warnedBodyOf(
  context: OperationContext,
  address: replies.ReplyAddress,
): Promise<z.infer<typeof replyAddressBody>> {
  const [warning] = await replies.loadReplyWarnings(context, [address.id]);
  return { ...replyAddressBodyOf(address), ...(warning == null ? {} : { warning }) };
}

function replyAddressBodyOf(address: replies.ReplyAddress): z.infer<typeof replyAddressBody> {
  return {
    object: 'reply_address',
    id: address.id,
    address: address.address,
    status: address.status,
    domain: address.domain,
    deliver_to: address.deliverTo,
    metadata: address.metadata,
    thread_id: address.threadId,
    senders: address.senders,
    max_messages: address.maxMessages,
    message_count: address.messageCount,
    expires_at: wireInstant(address.expiresAt),
    revoked_at: wireInstant(address.revokedAt),
    created_at: wireInstant(address.createdAt),
  };
}
