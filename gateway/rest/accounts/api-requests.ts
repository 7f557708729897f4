import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { API_INTERFACES, REQUEST_LOG_DAYS, STATUS_CLASSES } from '../../../core/accounts/logged-request.ts';
import { curlOf } from '../../../core/accounts/request-curl.ts';
import { secret } from '../../../core/accounts/secret-fields.ts';
import * as requests from '../../../operations/accounts/api-requests.ts';
import { apiRequestQueryShape } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  listBody,
  listOf,
  offset,
  type RestOptions,
  text,
  wireInstant,
} from '../shapes.ts';

const headers = z.record(z.string(), z.string());
const bytes = z.number().int().nullable();
const BODY = 'Shortened to 8,192 characters, without secrets, with sizes instead of files. Null: none, or not logged.';

const requestBody = z
  .object({
    object: z.literal('request'),
    id: z.string(),
    request_id: z.string().meta({ description: 'Value of the X-Request-Id header of the response.' }),
    interface: z.enum(API_INTERFACES),
    method: z.string(),
    path: z.string().meta({ description: 'With the query, without secrets.' }),
    operation: z.string().nullable().meta({ description: 'Name of the GraphQL operation or the MCP tool.' }),
    status: z.number().int(),
    duration_ms: z.number().int().meta({ description: 'Until the response, or the beginning of a stream.' }),
    api_key_id: z.string(),
    client_address: z.string().meta({ description: 'IP address of the client.' }),
    request_headers: headers,
    request_bytes: bytes,
    request_body: z
      .string()
      .nullable()
      .meta({ ...secret, description: BODY }),
    response_headers: headers,
    response_bytes: bytes,
    response_body: z
      .string()
      .nullable()
      .meta({ ...secret, description: BODY }),
    omits_bodies: z.boolean().meta({ description: 'Whether bodies are missing because the service was busy.' }),
    curl: z.string().meta({
      ...secret,
      description: 'A shell command that sends the request again, with the API key in $POSTROOM_KEY.',
    }),
    created_at: instant,
  })
  .meta({ id: 'ApiRequest' });

const time = z.iso.datetime({ offset: true }).transform((given) => new Date(given));
const listQuery = z.object({
  limit: limit(),
  offset,
  status: z.enum(STATUS_CLASSES).optional().meta({ description: 'Class of the status: below 400, 4xx or 5xx.' }),
  method: apiRequestQueryShape.shape.method.meta({ description: 'HTTP method.' }),
  interface: apiRequestQueryShape.shape.interface.meta({ description: 'Where the request arrived.' }),
  api_key_id: text.optional().meta({ description: 'ID of the API key.' }),
  search: apiRequestQueryShape.shape.search.meta({
    description: `Part of the request ID, path, operation or bodies. Covers the newest ${requests.SEARCHED_REQUESTS.toLocaleString('en')} requests that match the other filters.`,
  }),
  since: time.optional().meta({ format: 'date-time', description: 'Requests at or after this time.' }),
  until: time.optional().meta({ format: 'date-time', description: 'Requests before this time.' }),
});

const TAGS = ['Requests'];

export const apiRequestRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/requests',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listRequests',
        summary: 'List requests',
        description: `Returns the requests of the last ${REQUEST_LOG_DAYS} days that came with an API key of the account, newest first. The total counts up to ${requests.MAX_COUNTED_REQUESTS.toLocaleString('en')}; pass \`until\` to see what is older.`,
        tags: TAGS,
        querystring: listQuery,
        response: { 200: listOf(requestBody), default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { limit: size, offset: from, status: statusClass, api_key_id: keyId, ...filter } = request.query;
      const page = { limit: size, offset: from };
      const found = await requests.listApiRequests(context, { ...filter, statusClass, keyId }, page);
      const bodies = found.requests.map((each) => bodyOf(each, context.settings.publicUrl));
      return listBody(bodies, page, found.total);
    },
  );

  app.get(
    '/requests/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getRequest',
        summary: 'Retrieve a request',
        description: 'The ID may also be the value of the X-Request-Id header.',
        tags: TAGS,
        params: idInPath,
        response: { 200: requestBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      return bodyOf(await requests.readApiRequest(context, request.params.id), context.settings.publicUrl);
    },
  );
};

function bodyOf(request: requests.ApiRequest, publicUrl: string): z.infer<typeof requestBody> {
  return {
    object: 'request',
    id: request.id,
    request_id: request.id.replace(/^req_/, ''),
    interface: request.interface,
    method: request.method,
    path: request.path,
    operation: request.operation,
    status: request.status,
    duration_ms: request.durationMs,
    api_key_id: request.keyId,
    client_address: request.clientAddress,
    request_headers: request.requestHeaders,
    request_bytes: request.requestBytes,
    request_body: request.requestBody,
    response_headers: request.responseHeaders,
    response_bytes: request.responseBytes,
    response_body: request.responseBody,
    omits_bodies: request.omitsBodies,
    curl: curlOf(request, publicUrl),
    created_at: wireInstant(request.createdAt),
  };
}
