import * as replies from '../../../operations/domains/reply-addresses.ts';
import { newReplyAddressShape, parseInput } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { connection, totalCount } from '../connection.ts';
import { forgetLoaded } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { addNodeKind } from '../node-kinds.ts';
import { DomainNode, loaderOf, orNull, ThreadNode } from '../nodes.ts';

const ReplyAddressStatus = builder.enumType('ReplyAddressStatus', {
  description: 'Whether a reply address accepts mail, or why not.',
  values: enumValues<replies.ReplyAddress['status']>({
    active: 'It accepts mail.',
    expired: 'Its expiry time has passed.',
    used_up: 'It has accepted as many messages as it may.',
    revoked: 'You revoked it.',
  }),
});

const ReplyAddressNode = builder.loadableNodeRef<replies.ReplyAddress, string, string>('ReplyAddress', {
  id: { resolve: ({ id }) => id },
  load: (ids: string[], { reads }) => replies.loadReplyAddresses(reads, ids).then(orNull),
});
addNodeKind('rpl', loaderOf('ReplyAddress', ReplyAddressNode));

const warningOf = loadByOwner(({ reads }, ids) => replies.loadReplyWarnings(reads, ids));

ReplyAddressNode.implement({
  description: 'A signed address that carries metadata, a thread and conditions for the mail to it.',
  isOfDomain: true,
  fields: (t) => ({
    address: t.exposeString('address', { description: 'The address to use as From or Reply-To.' }),
    status: t.expose('status', { type: ReplyAddressStatus, description: 'Whether it accepts mail, or why not.' }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Domain of the address. Null if it was deleted while you asked.',
      resolve: ({ domainId }) => domainId,
    }),
    deliverTo: t.exposeString('deliverTo', {
      nullable: true,
      description: 'The address that receives its mail. Null for `reply@` of the domain.',
    }),
    metadata: t.expose('metadata', {
      type: 'JSON',
      nullable: true,
      description: 'Returned with each email that it receives. Null if there is none.',
    }),
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread that its mail joins. Null if none was named, or if it no longer exists.',
      resolve: ({ threadId }) => threadId,
    }),
    senders: t.exposeStringList('senders', {
      description: 'Addresses and domains that may write to it. Empty for everyone.',
    }),
    maxMessages: t.exposeInt('maxMessages', {
      nullable: true,
      description: 'Number of messages that it accepts. Null for no limit.',
    }),
    messageCount: t.exposeInt('messageCount', { description: 'Number of messages that it has accepted.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it stops accepting mail. Null for never.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked. Null if it was not.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    warning: t.string({
      nullable: true,
      description: 'Why its mail is delivered to no endpoint, or refused, and what to do. Null if an endpoint gets it.',
      complexity: 10,
      resolve: ({ id }, _args, context) => warningOf(context, id, null),
    }),
  }),
});

const ReplyAddressFilter = builder.inputType('ReplyAddressFilter', {
  description: 'Filters a list of reply addresses. Omit a field or pass null to match all.',
  fields: (t) => ({ domain: t.string({ description: 'Name or ID of the domain.' }) }),
});

builder.queryFields((t) => ({
  replyAddress: t.field({
    type: ReplyAddressNode,
    access: access.read,
    nullable: true,
    description: 'Returns the reply address with this ID, or null if the account has no such address.',
    args: { id: t.arg.id({ required: true, description: 'ID of the reply address.' }) },
    resolve: (_root, { id }) => id,
  }),
  replyAddresses: t.connection(
    {
      type: ReplyAddressNode,
      access: access.read,
      description: 'Reply addresses, newest first. Expired and revoked ones are listed for 30 days.',
      args: { filter: t.arg({ type: ReplyAddressFilter, description: 'Filters the reply addresses.' }) },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query = { domain: args.filter?.domain };
        const page = await connection<replies.ReplyAddress>(
          args,
          ({ createdAt, id }) => ({ at: createdAt, id }),
          (span) => replies.pageReplyAddresses(reads, query, span),
        );
        return { ...page, count: () => replies.countReplyAddresses(reads, query) };
      },
    },
    { name: 'ReplyAddressConnection', description: 'A page of reply addresses.', fields: (c) => totalCount(c) },
    { name: 'ReplyAddressEdge', description: 'A reply address and its cursor.' },
  ),
}));

builder.mutationField('createReplyAddress', (t) =>
  t.fieldWithInput({
    type: ReplyAddressNode,
    access: { ...access.send, shows: ['ReplyAddress.address'] },
    description: 'Creates a reply address on one of your verified domains.',
    input: {
      domain: t.input.string({ required: true, description: 'Name or ID of a verified domain.' }),
      metadata: t.input.field({
        type: 'JSON',
        description: 'An object that each received email carries as `metadata`, up to 4,096 bytes of JSON.',
      }),
      expiresAt: t.input.field({ type: 'DateTime', description: 'When it stops accepting mail. Default: never.' }),
      maxMessages: t.input.int({ description: 'Number of messages that it accepts. Default: no limit.' }),
      threadId: t.input.id({ description: 'ID of the thread that its mail joins, whatever its headers say.' }),
      senders: t.input.stringList({
        description:
          'Addresses and domains that may write to it. Both the envelope sender and the From address must match. Default: everyone.',
      }),
      deliverTo: t.input.string({
        description:
          'An address of the domain, by name or ID, that receives the mail. Default: `reply@` of the domain.',
      }),
    },
    errors: { dataField: { name: 'replyAddress' } },
    resolve: async (_root, { input }, context) => {
      const { id } = await replies.createReplyAddress(context.operations, parseInput(newReplyAddressShape, input));
      forgetLoaded(context);
      return id;
    },
  }),
);

builder.mutationField('revokeReplyAddress', (t) =>
  t.fieldWithInput({
    type: ReplyAddressNode,
    access: access.send,
    description: 'Revokes a reply address: it accepts no more mail. Mail that it received stays.',
    input: { id: t.input.id({ required: true, description: 'ID of the reply address.' }) },
    errors: { dataField: { name: 'replyAddress' } },
    resolve: async (_root, { input }, context) => {
      const { id } = await replies.revokeReplyAddress(context.operations, input.id);
      forgetLoaded(context);
      return id;
    },
  }),
);
