import { z } from 'zod';
import { graphqlOnly, linkTo, omittedIfNull, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { canonicalSender } from '../../core/smtp/reply-address.ts';
import {
  type Capability,
  defineChange,
  defineDelete,
  defineList,
  defineRead,
  defineResource,
} from '../capability/capability.ts';
import { domainName, MAX_ADDRESS_LENGTH, MAX_METADATA_BYTES, metadata, text } from '../capability/field-shapes.ts';
import * as replies from './reply-addresses.ts';

const MAX_SENDERS = 100;
const MAX_REPLY_MESSAGES = 1_000_000;

const status = oneOf(replies.REPLY_ADDRESS_STATUSES, {
  name: 'ReplyAddressStatus',
  description: 'Whether a reply address accepts mail, or why not.',
  values: {
    active: 'It accepts mail.',
    expired: 'Its expiry time has passed.',
    used_up: 'It has accepted as many messages as it may.',
    revoked: 'You revoked it.',
  },
});

const newReplyAddress = z.object({
  domain: domainName.meta({ description: 'Name or ID of a verified domain.' }),
  metadata: metadata.meta({
    description: `A JSON object that each received email carries as \`metadata\`; up to ${MAX_METADATA_BYTES} bytes.`,
  }),
  senders: z
    .array(
      text
        .max(MAX_ADDRESS_LENGTH)
        .refine((sender) => canonicalSender(sender) !== null, 'must be an email address or a domain'),
    )
    .max(MAX_SENDERS)
    .nullish()
    .meta({
      description:
        'Addresses and domains that may write to it; a domain excludes its subdomains. Both the envelope sender and the From address must match. Default: everyone.',
    }),
  maxMessages: z
    .int()
    .min(1)
    .max(MAX_REPLY_MESSAGES)
    .nullish()
    .meta({ description: 'Number of messages that the address accepts. Default: no limit.' }),
  threadId: text.nullish().meta({ description: 'ID of the thread that its mail joins, whatever its headers say.' }),
  deliverTo: text.nullish().meta({
    description:
      'An address of the domain, by name or ID, that receives the mail and decides its endpoint. Default: `reply@` of the domain; without such an address, the mail is routed like mail to the catch-all.',
  }),
  expiresAt: z.date().nullish().meta({ description: 'When it stops accepting mail. Default: never.' }),
});

const target = { argument: 'id', argumentDescription: 'ID of the reply address.' } as const;

export const replyAddressCapability: Capability = {
  feature: 'Domains',
  what: 'Reply addresses',
  tag: 'Reply addresses',
  path: '/reply-addresses',
  restCase: 'snake',
  command: {
    name: 'reply-addresses',
    description: 'Lists reply addresses, or creates or revokes one: a signed address for replies.',
    columns: { id: 'ID', address: 'Address', status: 'Status', message_count: 'Messages', expires_at: 'Expires' },
    empty: 'There are no reply addresses.',
    create: {
      create: { field: 'domain', description: 'create one on this verified domain' },
      'deliver-to': { field: 'deliver_to', description: 'address of the domain that gets the mail' },
      thread: { field: 'thread_id', description: 'ID of the thread that its mail joins' },
      expires: { field: 'expires_at', description: 'when it stops accepting mail, in ISO 8601' },
    },
    examples: [
      'postroom reply-addresses',
      'postroom reply-addresses --create example.com --thread th_...',
      'postroom reply-addresses --delete rpl_...',
    ],
  },
  resource: defineResource<replies.ReplyAddress>()({
    name: 'ReplyAddress',
    identifier: 'replyAddress',
    description: 'A signed address that carries metadata, a thread and conditions for the mail to it.',
    isOfDomain: true,
    shape: z.object({
      address: z
        .string()
        .meta({ description: 'The address to use as From or Reply-To. It carries its own signature.' }),
      status: status.meta({ description: 'Whether it accepts mail: `active`, or the reason why it does not.' }),
      domain: restOnly(z.string()).meta({ description: 'Name of its domain.' }),
      domainId: linkTo('Domain', graphqlOnly(z.string().nullable())).meta({
        description: 'Domain of the address. Null if it was deleted while you asked.',
      }),
      deliverTo: z.string().nullable().meta({
        description: 'The address that receives its mail. Null for `reply@` of the domain.',
      }),
      metadata: z.unknown().meta({ description: 'Returned with each email that it receives. Null if there is none.' }),
      threadId: linkTo('Thread', z.string().nullable()).meta({
        description: 'The thread that its mail joins. Null if none was named.',
      }),
      senders: z
        .array(z.string())
        .meta({ description: 'Addresses and domains that may write to it. Empty for everyone.' }),
      maxMessages: z
        .number()
        .int()
        .nullable()
        .meta({ description: 'Number of messages that it accepts. Null for no limit.' }),
      messageCount: z.number().int().meta({ description: 'Number of messages that it has accepted.' }),
      expiresAt: z.date().nullable().meta({ description: 'When it stops accepting mail. Null for never.' }),
      revokedAt: z.date().nullable().meta({ description: 'When it was revoked. Null if it was not.' }),
      createdAt: z.date().meta({ description: 'When it was created.' }),
      warning: omittedIfNull(z.string().nullable()).meta({
        description:
          'Why its mail is delivered to no endpoint, or refused, and what to do. Null if an endpoint gets it; REST omits it then, and in lists.',
      }),
    }),
    computed: {},
    loaded: {
      warning: {
        isInLists: false,
        load: (context, rows) =>
          replies.loadReplyWarnings(
            context,
            rows.map(({ id }) => id),
          ),
      },
    },
    load: replies.loadReplyAddresses,
  }),
  operations: [
    defineChange({
      kind: 'create',
      access: 'send',
      operationId: 'createReplyAddress',
      field: 'createReplyAddress',
      summary: 'Create a reply address',
      tool: {
        name: 'create_reply_address',
        description: 'Returns a signed address; mail to it carries `metadata` and joins the thread.',
        words: {
          domain: 'A verified one.',
          metadata: '',
          senders: 'Addresses and domains that may write to it. Default: all.',
          max_messages: '',
          thread_id: '',
          deliver_to: 'An address of yours whose endpoint gets the mail.',
          expires_at: 'Default: never.',
        },
      },
      description:
        'Returns a signed address on one of your verified domains. Mail to it carries `metadata`, joins the thread, and is refused with 550 5.1.1 once the address has expired, is used up or revoked, or when others write to it.',
      input: newReplyAddress,
      inputName: 'CreateReplyAddress',
      example: {
        domain: 'example.com',
        metadata: { order: 4711 },
        senders: ['ada@example.org'],
        maxMessages: 5,
        expiresAt: '2099-01-31T12:00:00Z',
      },
      errors: [404, 409],
      shows: ['ReplyAddress.address'],
      run: (context, input) => replies.createReplyAddress(context, input),
    }),
    defineList({
      access: 'read',
      operationId: 'listReplyAddresses',
      field: 'replyAddresses',
      summary: 'List reply addresses',
      tool: {
        name: 'list_reply_addresses',
        description: 'Returns reply addresses, newest first.',
        words: { domain: '' },
      },
      description: 'Returns your reply addresses, newest first. Expired and revoked ones are listed for 30 days.',
      filter: z.object({
        domain: text.optional().meta({ description: 'Returns addresses of this domain only; its name or ID.' }),
      }),
      isPagedByItem: false,
      page: replies.pageReplyAddresses,
      count: replies.countReplyAddresses,
      list: replies.listReplyAddresses,
    }),
    defineRead({
      access: 'read',
      operationId: 'getReplyAddress',
      field: 'replyAddress',
      summary: 'Retrieve a reply address',
      description: 'Returns the conditions of a reply address, and how many messages it has accepted.',
      target,
      read: replies.readReplyAddress,
    }),
    defineDelete({
      access: 'send',
      operationId: 'revokeReplyAddress',
      field: 'revokeReplyAddress',
      summary: 'Revoke a reply address',
      tool: { name: 'revoke_reply_address', description: 'Makes a reply address refuse mail.' },
      description:
        'Revokes a reply address: it accepts no more mail, from this moment on. Mail that it received stays.',
      target,
      input: z.object({}),
      errors: [],
      run: (context, _input, id) => replies.revokeReplyAddress(context, id),
    }),
  ],
};
