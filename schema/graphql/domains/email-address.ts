import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import type { RecentEmails } from '../../../db/queries/upkeep/recent-emails.ts';
import * as changes from '../../../operations/domains/email-address-changes.ts';
import type { EmailAddress, EmailAddressQuery } from '../../../operations/domains/email-addresses.ts';
import * as addresses from '../../../operations/domains/email-addresses.ts';
import { readPolicyUsage } from '../../../operations/sending/policy-usage.ts';
import { addressChangeShape, newAddressShape, parseInput, searchShape } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { type CountedConnection, connection, totalCount } from '../connection.ts';
import { forgetLoaded } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DomainNode, EmailAddressNode, EndpointInterface } from '../nodes.ts';
import { PolicyUsageNode, policyOfInput, SendPolicyInput, SendPolicyNode } from '../sending/send-policy.ts';

export const MailStatistics = builder.objectRef<RecentEmails>('MailStatistics').implement({
  description: 'Number of emails received and sent recently, counted by full hours.',
  isOfDomain: true,
  fields: (t) => ({
    last24Hours: t.exposeInt('lastDay', { description: 'Last 24 hours.' }),
    last7Days: t.exposeInt('lastWeek', { description: 'Last 7 days.' }),
    last30Days: t.exposeInt('lastMonth', { description: 'Last 30 days.' }),
  }),
});

export const EmailAddressFilter = builder.inputType('EmailAddressFilter', {
  description: 'Filters a list of email addresses. Omit a field or pass null to match all.',
  fields: (t) => ({
    isActive: t.boolean({ description: 'True matches active addresses only, false inactive ones.' }),
    isReceiving: t.boolean({ description: 'True matches addresses that can receive mail, false the others.' }),
    search: t.string({ description: 'Part of the address, case-insensitive, up to 100 characters.' }),
  }),
});

export const EmailAddressConnection = builder.connectionObject<
  typeof EmailAddressNode,
  CountedConnection<EmailAddress>
>(
  {
    type: EmailAddressNode,
    name: 'EmailAddressConnection',
    description: 'A page of email addresses.',
    fields: (c) => totalCount(c),
  },
  { name: 'EmailAddressEdge', description: 'An email address and its cursor.' },
);

interface Filter {
  isActive?: boolean | null | undefined;
  isReceiving?: boolean | null | undefined;
  search?: string | null | undefined;
}

export function addressQuery(filter: Filter | null | undefined): EmailAddressQuery {
  const { isActive, isReceiving, search } = filter ?? {};
  return {
    isActive: isActive ?? undefined,
    isReceiving: isReceiving ?? undefined,
    search: parseInput(searchShape, { search: search ?? undefined }).search,
  };
}

const AddressRouting = builder.enumType('AddressRouting', {
  description: 'How mail to an address is routed.',
  values: enumValues({
    endpoint: 'To an endpoint.',
    webhook: 'To a webhook endpoint, set by the legacy field webhookId.',
    none: 'Not routed: mail is stored only.',
  }),
});

const mailCounts = loadByOwner(({ reads }, names, _args: null) => addresses.countAddressEmails(reads, names));

const addressUsage = loadByOwner(({ reads }, names, { policy }: { policy: SendPolicy | null }) =>
  readPolicyUsage(
    reads,
    names.map((owner) => (policy === null ? null : { of: 'address', owner, policy })),
  ),
);

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
    policy: t.field({
      type: SendPolicyNode,
      nullable: true,
      description: 'Limits the mail that the address sends. Null means no limits.',
      resolve: ({ policy }) => policy,
    }),
    policyUsage: t.field({
      type: [PolicyUsageNode],
      description: 'What is left of the budgets of the policy. Empty without budgets.',
      resolve: ({ address, policy }, _args, context) => addressUsage(context, address, { policy }),
    }),
    signature: t.exposeString('signature', {
      nullable: true,
      description: 'Plain text that the dashboard puts below new mail and replies from the address. Null means none.',
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

const webhookId = 'Legacy alternative to endpointId: ID of a webhook endpoint. Cannot be combined with endpointId.';

builder.mutationField('createEmailAddress', (t) =>
  t.fieldWithInput({
    type: EmailAddressNode,
    access: access.manage,
    description:
      'Creates an address on a verified domain. Its mail is stored, and delivered to the endpoint if it has one.',
    input: {
      address: t.input.string({ required: true, description: 'The address, case-insensitive.' }),
      domainId: t.input.id({ required: true, description: 'ID of the domain.' }),
      endpointId: t.input.id({
        description: 'ID of the endpoint that receives the mail. Omit or pass null to store mail only.',
      }),
      webhookId: t.input.id({ description: webhookId }),
      isActive: t.input.boolean({ description: 'Whether the address accepts mail. The default is true.' }),
      policy: t.input.field({ type: SendPolicyInput, description: 'Limits the mail that the address sends.' }),
      signature: t.input.string({ description: 'Plain text that the dashboard puts below mail from the address.' }),
    },
    errors: { dataField: { name: 'emailAddress' } },
    resolve: async (_root, { input }, context) => {
      const { policy, ...fields } = input;
      const given = parseInput(newAddressShape, { ...fields, isActive: fields.isActive ?? undefined });
      const { id } = await changes.createEmailAddress(context.operations, { ...given, policy: policyOfInput(policy) });
      forgetLoaded(context);
      return id;
    },
  }),
);

builder.mutationField('updateEmailAddress', (t) =>
  t.fieldWithInput({
    type: EmailAddressNode,
    access: access.manage,
    description:
      'Updates where mail to an address goes, whether the address accepts mail, its send policy, and its signature. Omitted fields keep their values. endpointId and webhookId replace each other.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the address.' }),
      endpointId: t.input.id({ description: 'ID of the endpoint that receives the mail. Null stores mail only.' }),
      webhookId: t.input.id({ description: webhookId }),
      isActive: t.input.boolean({ description: 'Whether the address accepts mail.' }),
      policy: t.input.field({
        type: SendPolicyInput,
        description: 'Replaces the whole send policy. Null removes it.',
      }),
      signature: t.input.string({
        description: 'Plain text that the dashboard puts below mail from the address. Null removes it.',
      }),
    },
    errors: { dataField: { name: 'emailAddress' } },
    resolve: async (_root, { input }, context) => {
      const { id, policy, ...fields } = input;
      const change = parseInput(addressChangeShape, { ...fields, isActive: fields.isActive ?? undefined });
      await changes.updateEmailAddress(context.operations, id, { ...change, policy: policyOfInput(policy) });
      forgetLoaded(context);
      return id;
    },
  }),
);

const DeleteEmailAddressPayload = builder.objectRef<EmailAddress>('DeleteEmailAddressPayload').implement({
  description: 'A deleted address.',
  fields: (t) => ({
    deletedId: t.exposeID('id', { description: 'The ID it had.' }),
    address: t.exposeString('address', { description: 'The address, which can be created again.' }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Domain of the address. Null if it was deleted while you asked.',
      resolve: ({ domain }) => domain.id,
    }),
  }),
});

builder.mutationField('deleteEmailAddress', (t) =>
  t.fieldWithInput({
    type: DeleteEmailAddressPayload,
    access: access.manage,
    description:
      'Deletes an address. It stops receiving mail, unless its domain has a catch-all. Its emails stay readable.',
    input: { id: t.input.id({ required: true, description: 'ID of the address.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input: { id } }, context) => {
      const deleted = await changes.deleteEmailAddress(context.operations, id);
      forgetLoaded(context);
      return deleted;
    },
  }),
);
