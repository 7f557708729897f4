import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DOMAIN_STATUSES } from '../../../core/domains/domain-state.ts';
import { sendPolicyShape } from '../../../core/sending/send-policy.ts';
import type { OperationContext } from '../../../operations/context.ts';
import * as changes from '../../../operations/domains/email-address-changes.ts';
import * as addresses from '../../../operations/domains/email-addresses.ts';
import type { PolicyUsage } from '../../../operations/sending/policy-usage.ts';
import { addressChangeShape, newAddressShape } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { configSecrets } from '../endpoints/endpoint-wire.ts';
import { policyUsageBody, policyUsageBodyOf } from '../sending/policy-wire.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  listBody,
  listOf,
  offset,
  queryBoolean,
  type RestOptions,
  text,
  wireInstant,
} from '../shapes.ts';

const addressBody = z
  .object({
    id: z.string(),
    address: z.string(),
    domainId: z.string(),
    webhookId: z.string().nullable(),
    endpointId: z.string().nullable(),
    isActive: z.boolean(),
    isReceiptRuleConfigured: z.boolean(),
    receiptRuleName: z.string().nullable(),
    createdAt: instant,
    updatedAt: instant,
    userId: z.string(),
    domain: z.object({ id: z.string(), name: z.string(), status: z.enum(DOMAIN_STATUSES) }),
    routing: z.object({
      type: z.enum(['endpoint', 'webhook', 'none']),
      id: z.string().nullable(),
      name: z.string().nullable(),
      config: z.unknown().optional().meta(configSecrets),
      isActive: z.boolean(),
    }),
    policy: sendPolicyShape
      .nullable()
      .meta({ description: 'Limits the mail that the address sends. Null: no limits.' }),
    policyUsage: policyUsageBody.nullable(),
    signature: z
      .string()
      .nullable()
      .meta({ description: 'Plain text that the dashboard puts below mail from the address. Null: none.' }),
    warning: z.string().optional(),
  })
  .meta({ id: 'EmailAddress' });

const newAddress = newAddressShape.meta({
  examples: [
    {
      address: 'orders@example.com',
      domainId: 'dom_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b',
      endpointId: 'ep_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b',
    },
  ],
});

const addressChange = addressChangeShape.meta({
  id: 'UpdateEmailAddress',
  examples: [{ endpointId: 'ep_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b' }],
});

const deletedAddress = z
  .object({
    success: z.literal(true),
    message: z.string(),
    id: z.string(),
    cleanup: z.object({ emailAddress: z.string(), domain: z.string(), sesRuleUpdated: z.boolean() }),
  })
  .meta({ id: 'DeletedEmailAddress' });

const listQuery = z.object({
  limit: limit(),
  offset,
  domainId: text.optional().meta({ description: 'Returns addresses of this domain only.' }),
  isActive: queryBoolean.optional().meta({ description: '`true` returns active addresses, `false` inactive ones.' }),
  isReceiptRuleConfigured: queryBoolean
    .optional()
    .meta({ description: '`true` returns addresses that can receive mail, `false` the others.' }),
});

export const emailAddressRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/email-addresses',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'createEmailAddress',
        summary: 'Create an email address',
        description:
          'Creates an address on one of your verified domains. Its mail is stored, and delivered to the endpoint if it has one.',
        tags: ['Email addresses'],
        body: newAddress,
        response: { 201: addressBody, 404: errorBody, 409: errorBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const context = contextOf(request);
      const address = await changes.createEmailAddress(context, request.body);
      return reply.code(201).send(await bodyOf(context, address));
    },
  );

  app.get(
    '/email-addresses',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listEmailAddresses',
        summary: 'List email addresses',
        description: 'Returns the newest first.',
        tags: ['Email addresses'],
        querystring: listQuery,
        response: { 200: listOf(addressBody), default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { domainId, isActive, isReceiptRuleConfigured: isReceiving, ...page } = request.query;
      const found = await addresses.listEmailAddresses(context, { domainId, isActive, isReceiving }, page);
      return listBody(await bodiesOf(context, found.addresses), page, found.total);
    },
  );

  app.get(
    '/email-addresses/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getEmailAddress',
        summary: 'Retrieve an email address',
        description: 'Returns the address and where its mail is routed.',
        tags: ['Email addresses'],
        params: idInPath,
        response: { 200: addressBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      return bodyOf(context, await addresses.readEmailAddress(context, request.params.id));
    },
  );

  for (const { method, operationId, summary } of updates)
    app.route({
      method,
      url: '/email-addresses/:id',
      config: { access: access.manage },
      schema: {
        operationId,
        summary,
        description:
          'Omitted fields keep their values. `endpointId` and `webhookId` replace each other. `policy` replaces the whole policy.',
        tags: ['Email addresses'],
        params: idInPath,
        body: addressChange,
        response: { 200: addressBody, default: errorBody },
      },
      handler: async (request) => {
        const context = contextOf(request);
        const address = await changes.updateEmailAddress(context, request.params.id, request.body);
        return bodyOf(context, address);
      },
    });

  app.delete(
    '/email-addresses/:id',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'deleteEmailAddress',
        summary: 'Delete an email address',
        description: 'The address stops receiving mail, unless its domain has a catch-all. Its emails stay readable.',
        tags: ['Email addresses'],
        params: idInPath,
        response: { 200: deletedAddress, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { address, domain } = await changes.deleteEmailAddress(contextOf(request), id);
      return {
        success: true as const,
        message: 'Email address deleted successfully',
        id,
        cleanup: { emailAddress: address, domain: domain.name, sesRuleUpdated: true },
      };
    },
  );
};

/** PATCH is the documented method; one published client sends PUT. */
const updates = [
  { method: 'PATCH', operationId: 'updateEmailAddress', summary: 'Update an email address' },
  { method: 'PUT', operationId: 'putEmailAddress', summary: 'Update an email address (PUT)' },
] as const;

async function bodyOf(
  context: OperationContext,
  address: addresses.EmailAddress,
): Promise<z.infer<typeof addressBody>> {
  const [usage = []] = await addresses.readAddressUsage(context, [address]);
  return addressBodyOf(address, usage, context.userId);
}

async function bodiesOf(
  context: OperationContext,
  found: readonly addresses.EmailAddress[],
): Promise<z.infer<typeof addressBody>[]> {
  const usage = await addresses.readAddressUsage(context, found);
  return found.map((address, at) => addressBodyOf(address, usage[at] ?? [], context.userId));
}

function addressBodyOf(
  address: addresses.EmailAddress,
  usage: readonly PolicyUsage[],
  userId: string,
): z.infer<typeof addressBody> {
  const { domain, endpoint } = address;
  return {
    id: address.id,
    address: address.address,
    domainId: domain.id,
    webhookId: address.webhookId,
    endpointId: address.endpointId,
    isActive: address.isActive,
    isReceiptRuleConfigured: address.isReceiving,
    receiptRuleName: null,
    createdAt: wireInstant(address.createdAt),
    updatedAt: wireInstant(address.updatedAt),
    userId,
    domain: { id: domain.id, name: domain.name, status: domain.status },
    routing:
      endpoint === null
        ? { type: 'none', id: null, name: null, isActive: false }
        : {
            type: address.endpointId === null ? 'webhook' : 'endpoint',
            id: endpoint.id,
            name: endpoint.name,
            config: endpoint.config,
            isActive: endpoint.isActive,
          },
    policy: address.policy,
    policyUsage: policyUsageBodyOf(usage),
    signature: address.signature,
    ...(address.warning === null ? {} : { warning: address.warning }),
  };
}
