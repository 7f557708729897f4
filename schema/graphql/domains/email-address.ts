import * as addresses from '../../../operations/domains/email-addresses.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { MailStatistics } from '../emails/mail-statistics.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DomainNode, EmailAddressNode, EndpointInterface } from '../nodes.ts';
import { addressQuery, EmailAddressConnection, EmailAddressFilter } from './address-connection.ts';

const AddressRouting = builder.enumType('AddressRouting', {
  description: 'How mail to an address is handed on.',
  values: {
    ENDPOINT: { value: 'endpoint', description: 'To an endpoint.' },
    WEBHOOK: { value: 'webhook', description: 'To an endpoint of type webhook, named the former way.' },
    NONE: { value: 'none', description: 'Not at all: it is stored.' },
  } as const,
});

const mailCounts = loadByOwner(({ reads }, names, _args: null) => addresses.countAddressEmails(reads, names));

EmailAddressNode.implement({
  description: 'An address of yours that takes mail.',
  isOfDomain: true,
  fields: (t) => ({
    address: t.exposeString('address', { description: 'The address itself, in lower case.' }),
    isActive: t.exposeBoolean('isActive', { description: 'Whether it takes mail, as you wish.' }),
    isReceiving: t.exposeBoolean('isReceiving', { description: 'Active, and mail for its domain comes here.' }),
    warning: t.exposeString('warning', {
      nullable: true,
      description: 'For people: why no mail comes although it is active; null: it does, or it is not active.',
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'The domain that it is on; null in the rare case that it was deleted while you asked.',
      resolve: (address) => address.domain.id,
    }),
    routing: t.field({
      type: AddressRouting,
      description: 'How mail to it is handed on.',
      resolve: ({ endpoint, endpointId }) =>
        endpoint === null ? 'none' : endpointId === null ? 'webhook' : 'endpoint',
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'Where mail to it goes, by either way; null: it is stored only.',
      resolve: (address) => address.endpoint?.id ?? null,
    }),
    emailStatistics: t.field({
      type: MailStatistics,
      description: 'How much mail it had lately; counted when it is asked for.',
      resolve: ({ address }, _args, context) => mailCounts(context, address, null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was changed.' }),
  }),
});

builder.queryFields((t) => ({
  emailAddress: t.field({
    type: EmailAddressNode,
    access: access.read,
    nullable: true,
    description: 'An address by its id; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Id of the address.' }) },
    resolve: (_root, { id }) => id,
  }),
  emailAddresses: t.connection(
    {
      type: EmailAddressNode,
      access: access.read,
      description: 'Your addresses, newest first.',
      args: {
        domainId: t.arg.id({ description: 'Only those on this domain; absent or null: on any.' }),
        filter: t.arg({ type: EmailAddressFilter, description: 'Which addresses to show.' }),
      },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query = { ...addressQuery(args.filter), domainId: args.domainId ?? undefined };
        const page = await connection<addresses.EmailAddress>(
          args,
          (address) => ({ at: address.createdAt, id: address.id }),
          (span) => addresses.pageEmailAddresses(reads, query, span),
        );
        return { ...page, count: () => addresses.countEmailAddresses(reads, query) };
      },
    },
    EmailAddressConnection,
  ),
}));
