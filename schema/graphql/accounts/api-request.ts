import { type ApiInterface, REQUEST_LOG_DAYS, type StatusClass } from '../../../core/accounts/logged-request.ts';
import { curlOf } from '../../../core/accounts/request-curl.ts';
import * as requests from '../../../operations/accounts/api-requests.ts';
import { apiRequestQueryShape, parseInput } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { connection, totalCount } from '../connection.ts';
import { addNodeKind } from '../node-kinds.ts';
import { loaderOf, orNull } from '../nodes.ts';
import { secret } from '../secret.ts';
import { ApiKeyNode } from './api-key.ts';

const ApiInterfaceEnum = builder.enumType('ApiInterface', {
  description: 'An interface of the service.',
  values: enumValues<ApiInterface>({
    rest: 'The REST API, `/api/e2`.',
    graphql: 'The GraphQL API, `/graphql`.',
    mcp: 'The MCP server, `/mcp`.',
  }),
});

const StatusClassEnum = builder.enumType('ApiRequestStatusClass', {
  description: 'A class of HTTP status codes.',
  values: enumValues<StatusClass>({
    success: 'Below 400.',
    client_error: '400 to 499: the client has to change the request.',
    server_error: '500 and above: the service failed or was unavailable.',
  }),
});

const HttpHeader = builder.objectRef<{ name: string; value: string }>('HttpHeader').implement({
  description: 'A header of an HTTP request or response.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'In lowercase.' }),
    value: t.exposeString('value', { description: 'Value of the header.' }),
  }),
});

const ApiRequestNode = builder.loadableNodeRef<requests.ApiRequest, string, string>('ApiRequest', {
  id: { resolve: (request) => request.id },
  load: (ids: string[], { reads }) => requests.loadApiRequests(reads, ids).then(orNull),
});
addNodeKind('req', loaderOf('ApiRequest', ApiRequestNode));

const headersOf = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

const BODY = 'JSON is shortened to 8,192 characters; secrets are redacted, and files replaced by their size.';

ApiRequestNode.implement({
  description: `A request that came with an API key, kept for ${REQUEST_LOG_DAYS} days.`,
  fields: (t) => ({
    requestId: t.string({
      description: 'Value of the X-Request-Id header of the response.',
      resolve: ({ id }) => id.replace(/^req_/, ''),
    }),
    interface: t.expose('interface', { type: ApiInterfaceEnum, description: 'Where the request arrived.' }),
    method: t.exposeString('method', { description: 'HTTP method.' }),
    path: t.exposeString('path', { description: 'Path with the query. Secrets are redacted.' }),
    operation: t.exposeString('operation', {
      nullable: true,
      description: 'Name of the GraphQL operation, or of the MCP tool. Null for REST, or if it is not known.',
    }),
    status: t.exposeInt('status', { description: 'HTTP status code of the response.' }),
    durationMs: t.exposeInt('durationMs', {
      description: 'Milliseconds from the arrival of the request to the response, or to the beginning of a stream.',
    }),
    apiKey: t.field({
      type: ApiKeyNode,
      nullable: true,
      description: 'The API key. Null if it no longer exists.',
      resolve: ({ keyId }) => keyId,
    }),
    clientAddress: t.exposeString('clientAddress', { description: 'IP address of the client.' }),
    requestHeaders: t.field({
      type: [HttpHeader],
      description: 'Headers of the request that are logged. None holds a credential.',
      complexity: { field: 1, multiplier: 3 },
      resolve: ({ requestHeaders }) => headersOf(requestHeaders),
    }),
    responseHeaders: t.field({
      type: [HttpHeader],
      description: 'Headers of the response that are logged.',
      complexity: { field: 1, multiplier: 3 },
      resolve: ({ responseHeaders }) => headersOf(responseHeaders),
    }),
    requestBytes: t.exposeFloat('requestBytes', {
      nullable: true,
      description: 'Size of the request body in bytes. Null if there is none.',
    }),
    requestBody: t.exposeString('requestBody', {
      extensions: secret,
      nullable: true,
      description: `Body of the request. ${BODY} Null if there is none, or if it is not logged.`,
    }),
    responseBytes: t.exposeFloat('responseBytes', {
      nullable: true,
      description: 'Size of the response body in bytes. Null if it is not known.',
    }),
    responseBody: t.exposeString('responseBody', {
      extensions: secret,
      nullable: true,
      description: `Body of the response. ${BODY} Null if there is none, or if it is not logged.`,
    }),
    omitsBodies: t.exposeBoolean('omitsBodies', {
      description: 'Whether bodies are missing because the service was busy.',
    }),
    curl: t.string({
      extensions: secret,
      description: 'A shell command that sends the request again, with the API key in $POSTROOM_KEY.',
      resolve: (request, _args, { operations }) => curlOf(request, operations.settings.publicUrl),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the request arrived.' }),
  }),
});

const ApiRequestFilter = builder.inputType('ApiRequestFilter', {
  description: 'Filters the request log. Omit a field or pass null to match all.',
  fields: (t) => ({
    statusClass: t.field({ type: StatusClassEnum, description: 'Matches responses of this class.' }),
    method: t.string({ description: 'Matches requests with this HTTP method, case-insensitive.' }),
    interface: t.field({ type: ApiInterfaceEnum, description: 'Matches requests of this interface.' }),
    apiKeyId: t.id({ description: 'Matches requests with this API key.' }),
    search: t.string({
      description: `Part of the request ID, path, operation or bodies, case-insensitive, up to 100 characters. A search covers ${requests.SEARCHED_REQUESTS.toLocaleString('en')} requests from the cursor on.`,
    }),
    since: t.field({ type: 'DateTime', description: 'Matches requests at or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Matches requests before this time.' }),
  }),
});

builder.queryFields((t) => ({
  apiRequest: t.field({
    type: ApiRequestNode,
    access: access.read,
    nullable: true,
    description: 'Returns a logged request, or null if the account has no such request.',
    args: { id: t.arg.id({ required: true, description: 'ID of the request, or the value of X-Request-Id.' }) },
    resolve: async (_root, { id }, { reads }) => {
      await reads.storeLoggedRequests();
      return id;
    },
  }),
  apiRequests: t.connection(
    {
      type: ApiRequestNode,
      access: access.read,
      description: `Requests of the last ${REQUEST_LOG_DAYS} days that came with an API key, newest first. Requests of dashboard sessions are not logged.`,
      args: { filter: t.arg({ type: ApiRequestFilter, description: 'Filters the requests.' }) },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const { apiKeyId, ...given } = args.filter ?? {};
        const present = Object.entries({ ...given, keyId: apiKeyId }).filter(([, value]) => value != null);
        const query = parseInput(apiRequestQueryShape, Object.fromEntries(present));
        const page = await connection<requests.ApiRequest>(
          args,
          (request) => ({ at: request.createdAt, id: request.id }),
          (span) => requests.pageApiRequests(reads, query, span),
        );
        return { ...page, count: () => requests.countApiRequests(reads, query) };
      },
    },
    {
      name: 'ApiRequestConnection',
      description: `A page of logged requests. \`totalCount\` counts up to ${requests.MAX_COUNTED_REQUESTS.toLocaleString('en')}.`,
      fields: (c) => totalCount(c),
    },
    { name: 'ApiRequestEdge', description: 'A logged request and its cursor.' },
  ),
}));
