import * as addresses from '../../../operations/domains/email-addresses.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { MailStatistics } from '../emails/mail-statistics.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DomainNode, EmailAddressNode, EndpointInterface } from '../nodes.ts';
import { addressQuery, EmailAddressConnection, EmailAddressFilter } from './address-connection.ts';

const AddressRouting = builder.enumType('AddressRouting', {
  description: 'How mail to an address is routed.',
  values: {
    ENDPOINT: { value: 'endpoint', description: 'To an endpoint.' },
    WEBHOOK: { value: 'webhook', description: 'To a webhook endpoint, set by the legacy field webhookId.' },
    NONE: { value: 'none', description: 'Not routed: mail is stored only.' },
  } as const,
});

const mailCounts = loadByOwner(({ reads }, names, _args: null) => addresses.countAddressEmails(reads, names));

EmailAddressNode.implement({
  description: 'An address of yours that receives mail.',
  isOfDomain: true,
  fields: (t) => ({
    address: t.exposeString('address', { description: 'The address in lowercase.' }),
    isActive: t.exposeBoolean('isActive', { description: 'Whether the address is set to accept mail.' }),
    isReceiving: t.exposeBoolean('isReceiving', {
      description: 'Whether the address is active and mail for its domain arrives here.',
    }),
    warning: t.exposeString('warning', {
      nullable: true,
      description: 'Why an active address receives no mail. Display text; null if it does, or if it is inactive.',
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Domain of the address. Null if it was deleted while you asked.',
      resolve: (address) => address.domain.id,
    }),
    routing: t.field({
      type: AddressRouting,
      description: 'How its mail is routed.',
      resolve: ({ endpoint, endpointId }) =>
        endpoint === null ? 'none' : endpointId === null ? 'webhook' : 'endpoint',
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'Endpoint that receives its mail, however it was set. Null if mail is stored only.',
      resolve: (address) => address.endpoint?.id ?? null,
    }),
    emailStatistics: t.field({
      type: MailStatistics,
      description: 'Recent amount of mail. Counted only when requested.',
      resolve: ({ address }, _args, context) => mailCounts(context, address, null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the address was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the address was last changed.' }),
  }),
});

builder.queryFields((t) => ({
  emailAddress: t.field({
    type: EmailAddressNode,
    access: access.read,
    nullable: true,
    description: 'Returns the address with this ID, or null if the account has no such address.',
    args: { id: t.arg.id({ required: true, description: 'ID of the address.' }) },
    resolve: (_root, { id }) => id,
  }),
  emailAddresses: t.connection(
    {
      type: EmailAddressNode,
      access: access.read,
      description: 'Your addresses, newest first.',
      args: {
        domainId: t.arg.id({
          description: 'ID of a domain, to return its addresses only. Omit or pass null for all domains.',
        }),
        filter: t.arg({ type: EmailAddressFilter, description: 'Filters the addresses.' }),
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
