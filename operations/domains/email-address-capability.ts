import { z } from 'zod';
import { secretFields } from '../../core/accounts/secret-fields.ts';
import { DOMAIN_STATUSES } from '../../core/domains/domain-state.ts';
import { sendPolicyShape } from '../../core/sending/send-policy.ts';
import {
  asArgument,
  graphqlOnly,
  linkTo,
  named,
  nameType,
  omittedIfNull,
  restOnly,
} from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import {
  type Capability,
  defineChange,
  defineDelete,
  defineList,
  defineOwnedList,
  defineRead,
  defineResource,
} from '../capability/capability.ts';
import { searchText, text } from '../capability/field-shapes.ts';
import { loadPolicyUsage, policyUsageFields } from '../sending/policy-usage.ts';
import * as changes from './email-address-changes.ts';
import * as addresses from './email-addresses.ts';

/** Marks what is secret in the config of an endpoint. */
export const configSecrets = secretFields({ url: 'url', headers: 'value', verificationToken: 'value' });

/** Number of emails received and sent recently. */
export const mailStatistics = nameType(
  z.object({
    lastDay: named(z.int(), { graphqlName: 'last24Hours' }).meta({ description: 'Last 24 hours.' }),
    lastWeek: named(z.int(), { graphqlName: 'last7Days' }).meta({ description: 'Last 7 days.' }),
    lastMonth: named(z.int(), { graphqlName: 'last30Days' }).meta({ description: 'Last 30 days.' }),
  }),
  { type: 'MailStatistics', description: 'Number of emails received and sent recently, counted by full hours.' },
);

const ROUTINGS = ['endpoint', 'webhook', 'none'] as const;
const routingKind = oneOf(ROUTINGS, {
  name: 'AddressRouting',
  description: 'How mail to an address is routed.',
  values: {
    endpoint: 'To an endpoint.',
    webhook: 'To a webhook endpoint, set by the legacy field webhookId.',
    none: 'Not routed: mail is stored only.',
  },
});

const MAX_SIGNATURE_LENGTH = 2_000;

const changeable = {
  webhookId: text.nullish().meta({
    description: 'Legacy alternative to `endpointId`: ID of a webhook endpoint. Cannot be combined with `endpointId`.',
  }),
  isActive: z.boolean().optional().meta({ description: 'Whether the address accepts mail.' }),
  policy: sendPolicyShape.nullish().meta({
    description: 'Limits the mail that the address sends. Replaces the whole policy; null removes it.',
  }),
  signature: z.string().max(MAX_SIGNATURE_LENGTH).nullish().meta({
    description: 'Plain text that the dashboard puts below new mail and replies from the address. Null removes it.',
  }),
};
const addressListFilter = z.object({
  domainId: asArgument(text.optional()).meta({ description: 'ID of a domain, to return its addresses only.' }),
  isActive: z.boolean().optional().meta({ description: '`true` returns active addresses, `false` inactive ones.' }),
  isReceiving: named(z.boolean().optional(), { restName: 'isReceiptRuleConfigured' }).meta({
    description: '`true` returns addresses that can receive mail, `false` the others.',
  }),
  search: graphqlOnly(searchText.optional()).meta({
    description: 'Part of the address, case-insensitive, up to 100 characters.',
  }),
});

const target = { argument: 'id', argumentDescription: 'ID of the address.' } as const;
const EXAMPLE_ENDPOINT = 'ep_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b';

const findRouteKind = ({ endpoint, endpointId }: addresses.EmailAddress): (typeof ROUTINGS)[number] =>
  endpoint === null ? 'none' : endpointId === null ? 'webhook' : 'endpoint';

export const emailAddressCapability: Capability = {
  feature: 'Domains',
  what: 'Email addresses',
  tag: 'Email addresses',
  path: '/email-addresses',
  restCase: 'camel',
  resource: defineResource<addresses.EmailAddress>()({
    name: 'EmailAddress',
    identifier: 'emailAddress',
    description: 'An address of yours that receives mail.',
    isOfDomain: true,
    shape: z.object({
      address: z.string().meta({ description: 'The address in lowercase.' }),
      domainId: restOnly(z.string()),
      webhookId: restOnly(z.string().nullable()),
      endpointId: restOnly(z.string().nullable()),
      isActive: z.boolean().meta({ description: 'Whether the address is set to accept mail.' }),
      isReceiving: named(z.boolean(), { restName: 'isReceiptRuleConfigured' }).meta({
        description: 'Whether the address is active and mail for its domain arrives here.',
      }),
      receiptRuleName: restOnly(z.string().nullable()),
      createdAt: z.date().meta({ description: 'When the address was created.' }),
      updatedAt: z.date().meta({ description: 'When the address was last changed.' }),
      userId: restOnly(z.string()),
      domain: restOnly(z.object({ id: z.string(), name: z.string(), status: z.enum(DOMAIN_STATUSES) })),
      ownDomainId: linkTo('Domain', graphqlOnly(z.string().nullable()), 'domain').meta({
        description: 'Domain of the address. Null if it was deleted while you asked.',
      }),
      routingKind: graphqlOnly(routingKind, 'routing').meta({ description: 'How its mail is routed.' }),
      routing: restOnly(
        z.object({
          type: z.enum(ROUTINGS),
          id: z.string().nullable(),
          name: z.string().nullable(),
          config: z.unknown().optional().meta(configSecrets),
          isActive: z.boolean(),
        }),
      ),
      routedToId: linkTo('Endpoint', graphqlOnly(z.string().nullable()), 'endpoint').meta({
        description: 'Endpoint that receives its mail, however it was set. Null if mail is stored only.',
      }),
      emailStatistics: graphqlOnly(mailStatistics).meta({
        description: 'Recent amount of mail. Counted only when requested.',
      }),
      policy: sendPolicyShape
        .nullable()
        .meta({ description: 'Limits the mail that the address sends. Null: no limits.' }),
      ...policyUsageFields('policyUsage'),
      signature: z.string().nullable().meta({
        description: 'Plain text that the dashboard puts below new mail and replies from the address. Null: none.',
      }),
      warning: omittedIfNull(z.string().nullable()).meta({
        description: 'Why an active address receives no mail. Display text; null if it does, or if it is inactive.',
      }),
    }),
    computed: {
      domainId: ({ domain }) => domain.id,
      receiptRuleName: () => null,
      userId: (_address, { workspaceId }) => workspaceId,
      ownDomainId: ({ domain }) => domain.id,
      routingKind: findRouteKind,
      routing: (address) => {
        const { endpoint } = address;
        if (endpoint === null) return { type: 'none' as const, id: null, name: null, isActive: false };
        const { id, name, config, isActive } = endpoint;
        return { type: findRouteKind(address), id, name, config, isActive };
      },
      routedToId: ({ endpoint }) => endpoint?.id ?? null,
    },
    loaded: {
      emailStatistics: {
        isInLists: false,
        load: (context, rows) =>
          addresses.countAddressEmails(
            context,
            rows.map(({ address }) => address),
          ),
      },
      ...loadPolicyUsage<addresses.EmailAddress>(({ address: owner, policy }) =>
        policy === null ? null : { of: 'address', owner, policy },
      ),
    },
    load: addresses.loadEmailAddresses,
  }),
  operations: [
    defineChange({
      kind: 'create',
      access: 'domains',
      operationId: 'createEmailAddress',
      field: 'createEmailAddress',
      summary: 'Create an email address',
      description:
        'Creates an address on one of your verified domains. Its mail is stored, and delivered to the endpoint if it has one.',
      input: z.object({
        address: text.meta({ description: 'The address, case-insensitive.' }),
        domainId: text.meta({ description: 'ID of the domain.' }),
        endpointId: text
          .nullish()
          .meta({ description: 'ID of the endpoint that receives the mail. Omit or pass null to store mail only.' }),
        ...changeable,
      }),
      example: {
        address: 'orders@example.com',
        domainId: 'dom_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b',
        endpointId: EXAMPLE_ENDPOINT,
      },
      errors: [404, 409],
      run: (context, input) => changes.createEmailAddress(context, input),
    }),
    defineList({
      access: 'read',
      operationId: 'listEmailAddresses',
      field: 'emailAddresses',
      summary: 'List email addresses',
      description: 'Returns your addresses, newest first.',
      filter: addressListFilter,
      isPagedByItem: false,
      page: addresses.pageEmailAddresses,
      count: addresses.countEmailAddresses,
      list: addresses.listEmailAddresses,
    }),
    defineRead({
      access: 'read',
      operationId: 'getEmailAddress',
      field: 'emailAddress',
      summary: 'Retrieve an email address',
      description: 'Returns the address and where its mail is routed.',
      target,
      read: addresses.readEmailAddress,
    }),
    defineChange({
      kind: 'update',
      access: 'domains',
      operationId: 'updateEmailAddress',
      putOperationId: 'putEmailAddress',
      field: 'updateEmailAddress',
      summary: 'Update an email address',
      description:
        'Omitted fields keep their values. `endpointId` and `webhookId` replace each other. `policy` replaces the whole policy; a stricter one pauses what was scheduled from the address (`email.paused`).',
      target,
      input: z.object({
        endpointId: text.nullish().meta({ description: 'Null removes the endpoint, so that mail is stored only.' }),
        ...changeable,
      }),
      inputName: 'UpdateEmailAddress',
      example: { endpointId: EXAMPLE_ENDPOINT },
      errors: [],
      run: (context, input, id) => changes.updateEmailAddress(context, id, input),
    }),
    defineDelete({
      access: 'domains',
      operationId: 'deleteEmailAddress',
      field: 'deleteEmailAddress',
      summary: 'Delete an email address',
      description: 'The address stops receiving mail, unless its domain has a catch-all. Its emails stay readable.',
      target,
      input: z.object({}),
      errors: [],
      deleted: { description: 'A deleted address.', fields: ['address', 'ownDomainId'] },
      run: (context, _input, id) => changes.deleteEmailAddress(context, id),
    }),
    defineOwnedList({
      access: 'read',
      summary: 'List the addresses on a domain',
      description: 'Addresses on the domain, newest first.',
      of: { type: 'Domain', field: 'addresses' },
      filter: addressListFilter,
      page: addresses.pageAddressesOfDomains,
      count: addresses.countAddressesOfDomains,
    }),
  ],
};
