import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAX_SEARCH_LENGTH } from '../../operations/emails.ts';
import * as endpoints from '../../operations/endpoints.ts';
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
} from './shapes.ts';

/** interface.md "Limits" */
const MAX_NAME_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 1_000;

const type = z.enum(endpoints.ENDPOINT_TYPES);

const endpointFields = {
  id: z.string(),
  name: z.string(),
  type,
  webhookFormat: z.enum(['native', 'chat_a', 'chat_b']),
  config: z.record(z.string(), z.unknown()),
  isActive: z.boolean(),
  description: z.string().nullable(),
  userId: z.string(),
  createdAt: instant,
  updatedAt: instant,
  groupEmails: z.array(z.string()).nullable(),
  deliveryStats: z.object({
    total: z.number().int(),
    successful: z.number().int(),
    failed: z.number().int(),
    lastDelivery: instant.nullable(),
  }),
};
const endpointBody = z.object(endpointFields).meta({ id: 'Endpoint' });
const endpointDetails = z
  .object({
    ...endpointFields,
    signingSecret: z
      .string()
      .nullable()
      .meta({ description: 'Standard Webhooks secret; null when the endpoint is no webhook' }),
    recentDeliveries: z.array(
      z.object({
        id: z.string(),
        emailId: z.string(),
        endpointId: z.string(),
        deliveryType: z.enum(['webhook', 'email_forward']),
        status: z.enum(['pending', 'success', 'failed']),
        attempts: z.number().int(),
        lastAttemptAt: instant.nullable(),
        responseData: z.unknown(),
        createdAt: instant,
      }),
    ),
    associatedEmails: z.array(
      z.object({ id: z.string(), address: z.string(), isActive: z.boolean(), createdAt: instant }),
    ),
    catchAllDomains: z.array(z.object({ id: z.string(), domain: z.string(), status: z.string() })),
  })
  .meta({ id: 'EndpointDetails' });

/** The names that the reference service gives the formats, and ours. */
const formats = {
  native: 'native',
  chat_a: 'chat_a',
  chat_b: 'chat_b',
  inbound: 'native',
  discord: 'chat_a',
  slack: 'chat_b',
} as const;

const newEndpoint = z
  .object({
    name: text.min(1).max(MAX_NAME_LENGTH),
    type,
    config: z.unknown().meta({
      type: 'object',
      description: 'webhook: `url`, `timeout`, `retryAttempts`, `headers`; email: `forwardTo`; email_group: `emails`',
    }),
    webhookFormat: z
      .enum(['native', 'chat_a', 'chat_b', 'inbound', 'discord', 'slack'])
      .optional()
      .meta({ description: 'inbound, discord and slack are other names of native, chat_a and chat_b' }),
    description: text.max(MAX_DESCRIPTION_LENGTH).nullish(),
    isActive: z.boolean().optional(),
  })
  .meta({
    examples: [
      {
        name: 'my program',
        type: 'webhook',
        config: { url: 'https://hooks.example.com/mail', timeout: 30, retryAttempts: 3 },
      },
    ],
  });

const listQuery = z.object({
  limit: limit(),
  offset,
  type: type.optional().meta({ description: 'endpoints of one type' }),
  isActive: queryBoolean.optional().meta({ description: 'active endpoints, or those that are not' }),
  active: queryBoolean.optional().meta({ description: 'another name of `isActive`' }),
  sortBy: z.enum(['newest', 'oldest']).default('newest').meta({ description: 'which come first' }),
  search: text.max(MAX_SEARCH_LENGTH).optional().meta({ description: 'part of the name or of the configuration' }),
});

export const endpointRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/endpoints',
    {
      schema: {
        operationId: 'createEndpoint',
        summary: 'Add an endpoint',
        description:
          'The form of `config` follows from `type`. A webhook is given a verification token and a signing secret.',
        tags: ['Endpoints'],
        body: newEndpoint,
        response: { 201: endpointDetails, default: errorBody },
      },
    },
    async (request, reply) => {
      const context = contextOf(request);
      const { webhookFormat, ...input } = request.body;
      const endpoint = await endpoints.createEndpoint(context, {
        ...input,
        ...(webhookFormat === undefined ? {} : { webhookFormat: formats[webhookFormat] }),
      });
      return reply.code(201).send(detailsOf(endpoint, context.userId));
    },
  );

  app.get(
    '/endpoints',
    {
      schema: {
        operationId: 'listEndpoints',
        summary: 'List endpoints',
        description: 'With what became of the deliveries to each.',
        tags: ['Endpoints'],
        querystring: listQuery,
        response: { 200: listOf(endpointBody), default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { type: wanted, isActive, active, sortBy: order, search, limit: size, offset: start } = request.query;
      const page = { limit: size, offset: start };
      const query = { type: wanted, isActive: isActive ?? active, order, search };
      const found = await endpoints.listEndpoints(context, query, page);
      return listBody(
        found.endpoints.map((endpoint) => endpointBodyOf(endpoint, context.userId)),
        page,
        found.total,
      );
    },
  );

  app.get(
    '/endpoints/:id',
    {
      schema: {
        operationId: 'getEndpoint',
        summary: 'Read an endpoint',
        description: 'With its latest deliveries, and the addresses and domains that lead to it.',
        tags: ['Endpoints'],
        params: idInPath,
        response: { 200: endpointDetails, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      return detailsOf(await endpoints.readEndpoint(context, request.params.id), context.userId);
    },
  );
};

function endpointBodyOf(endpoint: endpoints.Endpoint, userId: string): z.infer<typeof endpointBody> {
  const { stats } = endpoint;
  const emails = endpoint.config['emails'];
  return {
    id: endpoint.id,
    name: endpoint.name,
    type: endpoint.type,
    webhookFormat: endpoint.webhookFormat,
    config: endpoint.config,
    isActive: endpoint.isActive,
    description: endpoint.description,
    userId,
    createdAt: wireInstant(endpoint.createdAt),
    updatedAt: wireInstant(endpoint.updatedAt),
    groupEmails: endpoint.type === 'email_group' && Array.isArray(emails) ? emails.map(String) : null,
    deliveryStats: {
      total: stats.total,
      successful: stats.successful,
      failed: stats.failed,
      lastDelivery: wireInstant(stats.lastDeliveryAt),
    },
  };
}

function detailsOf(endpoint: endpoints.EndpointDetails, userId: string): z.infer<typeof endpointDetails> {
  return {
    ...endpointBodyOf(endpoint, userId),
    signingSecret: endpoint.signingSecret,
    recentDeliveries: endpoint.deliveries.map((delivery) => ({
      id: delivery.id,
      emailId: delivery.emailId,
      endpointId: endpoint.id,
      deliveryType: delivery.type === 'webhook' ? 'webhook' : 'email_forward',
      status: delivery.status,
      attempts: delivery.attempts,
      lastAttemptAt: wireInstant(delivery.lastAttemptAt),
      responseData: delivery.responseData,
      createdAt: wireInstant(delivery.createdAt),
    })),
    associatedEmails: endpoint.addresses.map((address) => ({ ...address, createdAt: wireInstant(address.createdAt) })),
    catchAllDomains: endpoint.catchAllDomains.map(({ id, name, status }) => ({ id, domain: name, status })),
  };
}
