import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ENDPOINT_CONFIG_FIELDS } from '../../../core/endpoints/endpoint-config.ts';
import { deleteEndpoint, updateEndpoint } from '../../../operations/endpoints/endpoint-changes.ts';
import * as endpoints from '../../../operations/endpoints/endpoints.ts';
import { endpointNaming } from '../../../schema/shapes/endpoint.ts';
import { searchText } from '../../../schema/shapes/search.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, limit, listBody, listOf, offset, queryBoolean, type RestOptions } from '../shapes.ts';
import {
  endpointBody,
  endpointBodyOf,
  endpointDetails,
  endpointDetailsOf,
  endpointType,
  FORMAT_NAMES,
  formats,
} from './endpoint-wire.ts';

const fields = {
  name: endpointNaming.name,
  config: z.unknown().meta({
    type: 'object',
    description:
      'webhook: `url`, `timeout`, `retryAttempts`, `headers`, `signatureScheme`, `payload`, `maxPayloadOctets`, `attachments`; email: `forwardTo`; email_group: `emails`; both: `preserveHeaders`, `subjectPrefix`, `fromAddress`, `senderName`, `includeAttachments`',
  }),
  webhookFormat: z
    .enum(FORMAT_NAMES)
    .optional()
    .meta({ description: 'inbound, discord and slack are other names of native, chat_a and chat_b' }),
  description: endpointNaming.description,
  isActive: z.boolean().optional(),
};

/** What a config may hold; checkEndpointConfig reads it by its type. */
const configFields = z.object(Object.fromEntries(ENDPOINT_CONFIG_FIELDS.map((name) => [name, z.unknown()])));

const newEndpoint = z.object({ ...fields, type: endpointType }).meta({
  examples: [
    {
      name: 'my program',
      type: 'webhook',
      config: { url: 'https://hooks.example.com/mail', timeout: 30, retryAttempts: 3 },
    },
  ],
});

const endpointChange = z
  .object({
    ...fields,
    name: fields.name.optional(),
    config: fields.config.optional(),
    type: endpointType.optional().meta({ description: 'the one that it has; it cannot be changed' }),
    isActive: fields.isActive.meta({ description: 'true switches one on again that the service switched off' }),
  })
  .meta({ id: 'UpdateEndpoint', examples: [{ config: { url: 'https://hooks.example.com/v2/mail' }, isActive: true }] });

const deletedEndpoint = z
  .object({
    success: z.literal(true),
    message: z.string(),
    id: z.string(),
    cleanup: z.object({
      emailAddressesUpdated: z.number().int(),
      emailAddresses: z.array(z.string()),
      domainsUpdated: z.number().int(),
      domains: z.array(z.string()),
      groupEmailsDeleted: z.number().int(),
      guardRulesUpdated: z.number().int(),
      deliveriesDeleted: z.number().int().meta({ description: 'always 0: what was delivered stays with the emails' }),
      deliveriesEnded: z.number().int().meta({ description: 'deliveries that will not be tried again' }),
    }),
  })
  .meta({ id: 'DeletedEndpoint' });

const listQuery = z.object({
  limit: limit(),
  offset,
  type: endpointType.optional().meta({ description: 'endpoints of one type' }),
  isActive: queryBoolean.optional().meta({ description: 'active endpoints, or those that are not' }),
  active: queryBoolean.optional().meta({ description: 'another name of `isActive`' }),
  sortBy: z.enum(['newest', 'oldest']).default('newest').meta({ description: 'which come first' }),
  search: searchText.optional().meta({ description: 'part of the name or of the configuration' }),
});

export const endpointRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/endpoints',
    {
      config: { access: access.manage, bodyFields: newEndpoint.extend({ config: configFields }) },
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
      return reply.code(201).send(endpointDetailsOf(endpoint, context.userId));
    },
  );

  app.get(
    '/endpoints',
    {
      config: { access: access.readAccount },
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
      config: { access: access.readAccount },
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
      return endpointDetailsOf(await endpoints.readEndpoint(context, request.params.id), context.userId);
    },
  );

  for (const { method, operationId, summary } of updates)
    app.route({
      method,
      url: '/endpoints/:id',
      config: { access: access.manage, bodyFields: endpointChange.extend({ config: configFields }) },
      schema: {
        operationId,
        summary,
        description:
          'What is not given stays. A `config` takes the place of the whole former one, but for the verification token and the signing secret.',
        tags: ['Endpoints'],
        params: idInPath,
        body: endpointChange,
        response: { 200: endpointDetails, default: errorBody },
      },
      handler: async (request) => {
        const context = contextOf(request);
        const { webhookFormat, ...change } = request.body;
        const endpoint = await updateEndpoint(context, request.params.id, {
          ...change,
          ...(webhookFormat === undefined ? {} : { webhookFormat: formats[webhookFormat] }),
        });
        return endpointDetailsOf(endpoint, context.userId);
      },
    });

  app.delete(
    '/endpoints/:id',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'deleteEndpoint',
        summary: 'Delete an endpoint',
        description:
          'Addresses, catch-alls and guard rules that led to it do not any more; mail to them is stored. What was delivered stays listed with the emails.',
        tags: ['Endpoints'],
        params: idInPath,
        response: { 200: deletedEndpoint, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const deleted = await deleteEndpoint(contextOf(request), id);
      return {
        success: true as const,
        message: 'Endpoint deleted successfully',
        id,
        cleanup: {
          emailAddressesUpdated: deleted.addresses.length,
          emailAddresses: deleted.addresses,
          domainsUpdated: deleted.domains.length,
          domains: deleted.domains,
          groupEmailsDeleted: deleted.groupEmailCount,
          guardRulesUpdated: deleted.guardRuleCount,
          deliveriesDeleted: 0,
          deliveriesEnded: deleted.endedDeliveryCount,
        },
      };
    },
  );
};

/** interface.md has PATCH, and one published client sends PUT. */
const updates = [
  { method: 'PATCH', operationId: 'updateEndpoint', summary: 'Change an endpoint' },
  { method: 'PUT', operationId: 'putEndpoint', summary: 'Change an endpoint, by another method' },
] as const;
