import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ENDPOINT_CONFIG_FIELDS } from '../../../core/endpoints/endpoint-config.ts';
import { searchText } from '../../../operations/capability/field-shapes.ts';
import { configSecrets } from '../../../operations/domains/email-address-capability.ts';
import { updateEndpoint } from '../../../operations/endpoints/endpoint-changes.ts';
import * as endpoints from '../../../operations/endpoints/endpoints.ts';
import { endpointNaming, endpointSubscription } from '../../../schema/input-shapes.ts';
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
    ...configSecrets,
    type: 'object',
    description:
      'webhook: `url`, `timeout`, `retryAttempts`, `headers`, `signatureScheme`, `payload`, `maxPayloadOctets`, `attachments`; email: `forwardTo`; email_group: `emails`; both: `preserveHeaders`, `subjectPrefix`, `fromAddress`, `senderName`, `includeAttachments`',
  }),
  webhookFormat: z
    .enum(FORMAT_NAMES)
    .optional()
    .meta({ description: '`inbound`, `discord` and `slack` are aliases of `native`, `chat_a` and `chat_b`.' }),
  description: endpointNaming.description,
  isActive: z.boolean().optional(),
  ...endpointSubscription,
};

/** Fields of a config of any type; checkEndpointConfig validates it by type. */
const configFields = z
  .object(Object.fromEntries(ENDPOINT_CONFIG_FIELDS.map((name) => [name, z.unknown()])))
  .meta(configSecrets);

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
    type: endpointType.optional().meta({ description: 'Must be the type of the endpoint, which cannot be changed.' }),
    isActive: fields.isActive.meta({ description: '`true` also enables an endpoint that Postroom disabled.' }),
  })
  .meta({ id: 'UpdateEndpoint', examples: [{ config: { url: 'https://hooks.example.com/v2/mail' }, isActive: true }] });

const listQuery = z.object({
  limit: limit(),
  offset,
  type: endpointType.optional().meta({ description: 'Returns endpoints of this type only.' }),
  isActive: queryBoolean.optional().meta({ description: '`true` returns active endpoints, `false` the others.' }),
  active: queryBoolean.optional().meta({ description: 'Alias of `isActive`.' }),
  sortBy: z.enum(['newest', 'oldest']).default('newest').meta({ description: 'Sort order.' }),
  search: searchText.optional().meta({ description: 'Part of the name or configuration.' }),
});

export const endpointRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/endpoints',
    {
      config: { access: access.endpoints, bodyFields: newEndpoint.extend({ config: configFields }) },
      schema: {
        operationId: 'createEndpoint',
        summary: 'Create an endpoint',
        description:
          'The fields of `config` depend on `type`. A webhook gets a verification token and a signing secret.',
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
      return reply.code(201).send(endpointDetailsOf(endpoint, context, webhookFormat));
    },
  );

  app.get(
    '/endpoints',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listEndpoints',
        summary: 'List endpoints',
        description: 'Returns endpoints with their delivery statistics.',
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
      config: { access: access.read },
      schema: {
        operationId: 'getEndpoint',
        summary: 'Retrieve an endpoint',
        description: 'Returns the endpoint with its latest deliveries, and the addresses and domains that use it.',
        tags: ['Endpoints'],
        params: idInPath,
        response: { 200: endpointDetails, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      return endpointDetailsOf(await endpoints.readEndpoint(context, request.params.id), context);
    },
  );

  for (const { method, operationId, summary } of updates)
    app.route({
      method,
      url: '/endpoints/:id',
      config: { access: access.endpoints, bodyFields: endpointChange.extend({ config: configFields }) },
      schema: {
        operationId,
        summary,
        description:
          'Omitted fields keep their values. `config` replaces the whole configuration, except for the verification token and the signing secret.',
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
        return endpointDetailsOf(endpoint, context, webhookFormat);
      },
    });
};

/** PATCH is the documented method; one published client sends PUT. */
const updates = [
  { method: 'PATCH', operationId: 'updateEndpoint', summary: 'Update an endpoint' },
  { method: 'PUT', operationId: 'putEndpoint', summary: 'Update an endpoint (PUT)' },
] as const;
