import { z } from 'zod';
import { DOOR_REASONS, REFUSAL_DAYS } from '../../core/screening/door/refusal.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineList, defineRead, defineResource } from '../capability/capability.ts';
import { searchText, text } from '../capability/field-shapes.ts';
import * as refusals from './refusals.ts';

const reason = oneOf(DOOR_REASONS, {
  name: 'DoorRefusalReason',
  description: 'Why mail was refused before it was accepted.',
  values: {
    unknown_recipient: 'The address does not exist on the domain.',
    unknown_domain: 'The domain is not a verified domain of this service.',
    unavailable: 'The workspace is suspended or has received its mail for the day, or the service had no room.',
    early_talker: 'The client sent commands before its turn.',
    own_name: 'The client introduced itself with the name or address of this server.',
    sender_domain: 'The domain of the sender accepts no mail.',
    block_list: 'A DNS block list names the client.',
    greylist: 'The first attempt of an unknown client: a later one is accepted.',
    dmarc: 'The message failed DMARC, and the policy of its domain asks for it to be rejected.',
    connection_rate: 'Too many connections from the network of the client.',
    message_rate: 'Too many messages from the network of the client.',
    content: 'The content of the message was refused.',
  },
});
const seen = (what: string) => `${what} Written by the client: do not trust it.`;

const refusalFilter = z.object({
  search: searchText.optional().meta({
    description: 'Part of the recipient, the sender, or the address or name of the client, case-insensitive.',
  }),
  recipient: text.optional().meta({ description: 'The whole address of the recipient, case-insensitive.' }),
  reason: reason.optional().meta({ description: 'Why mail was refused.' }),
  since: z.date().optional().meta({ description: 'Refusals at or after this time.' }),
  until: z.date().optional().meta({ description: 'Refusals before this time.' }),
});

export const refusalCapability: Capability = {
  feature: 'Routing',
  what: 'Mail refused at the door',
  tag: 'Refusals',
  path: '/refusals',
  restCase: 'snake',
  command: {
    name: 'refusals',
    description: 'Lists mail that was refused before it was accepted, and why.',
    columns: {
      last_at: 'Last',
      times: 'Times',
      recipient: 'Recipient',
      sender: 'Sender',
      client_address: 'Client',
      reply: 'Reply',
    },
    empty: `No mail was refused in the last ${REFUSAL_DAYS} days.`,
    filter: {
      search: { field: 'search', description: 'part of the recipient, the sender, or the client' },
      reason: { field: 'reason', description: 'such as unknown_recipient or block_list' },
    },
    isReadOnly: true,
    examples: ['postroom refusals', 'postroom refusals --search ada@example.org'],
  },
  resource: defineResource<refusals.DoorRefusal>()({
    name: 'DoorRefusal',
    identifier: 'refusal',
    description: `Mail to your domains that was refused before it was accepted, kept for ${REFUSAL_DAYS} days. The same from one network within an hour is counted in one refusal.`,
    isOfDomain: true,
    shape: z.object({
      reason: reason.meta({ description: 'Why it was refused.' }),
      recipient: z
        .string()
        .nullable()
        .meta({
          description: seen('The recipient. Null for several that are counted together.'),
        }),
      sender: z
        .string()
        .nullable()
        .meta({
          description: seen('The envelope sender; empty for bounces. Null for several that are counted together.'),
        }),
      clientAddress: z.string().meta({ description: 'IP address of the client; of several: the last one.' }),
      network: z.string().nullable().meta({
        description: 'Network of the client: IPv4 /24 or IPv6 /64. Null for several that are counted together.',
      }),
      helo: z
        .string()
        .nullable()
        .meta({
          description: seen('What the client called itself in HELO or EHLO. Null if it is not known.'),
        }),
      reply: z.string().meta({ description: 'The reply of the SMTP server, with its code.' }),
      times: z.number().int().meta({ description: 'How often it was refused.' }),
      createdAt: z.date().meta({ description: 'When it was refused first.' }),
      lastAt: z.date().meta({ description: 'When it was refused last.' }),
    }),
    computed: {},
    load: refusals.loadRefusals,
  }),
  operations: [
    defineList({
      access: 'read',
      operationId: 'listRefusals',
      field: 'refusals',
      summary: 'List refusals',
      tool: {
        name: 'list_refusals',
        description: 'Returns mail that was refused before it was accepted, and why.',
        words: {
          search: 'Part of the recipient, the sender or the client.',
          recipient: '',
          reason: '',
          since: '',
          until: '',
        },
      },
      description: `Returns mail to your domains that was refused in the last ${REFUSAL_DAYS} days, newest first. The total counts up to ${refusals.MAX_COUNTED_REFUSALS.toLocaleString('en')}.`,
      filter: refusalFilter,
      isPagedByItem: false,
      page: refusals.pageRefusals,
      count: refusals.countRefusals,
      list: refusals.listRefusals,
    }),
    defineRead({
      access: 'read',
      operationId: 'getRefusal',
      field: 'refusal',
      summary: 'Retrieve a refusal',
      description: 'Returns a refusal.',
      target: { argument: 'id', argumentDescription: 'ID of the refusal.' },
      read: refusals.readRefusal,
    }),
  ],
};
