import { z } from 'zod';
import { API_INTERFACES, REQUEST_LOG_DAYS, STATUS_CLASSES } from '../../core/accounts/logged-request.ts';
import { writeCurl } from '../../core/accounts/request-curl.ts';
import { secret } from '../../core/accounts/secret-fields.ts';
import { graphqlOnly, linkTo, named, restOnly, usually } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineList, defineRead, defineResource } from '../capability/capability.ts';
import { searchText, text } from '../capability/field-shapes.ts';
import type { OperationContext } from '../context.ts';
import * as requests from './api-requests.ts';

const apiInterface = oneOf(API_INTERFACES, {
  name: 'ApiInterface',
  description: 'An interface of the service.',
  values: {
    rest: 'The REST API, `/api/e2`.',
    graphql: 'The GraphQL API, `/graphql`.',
    mcp: 'The MCP server, `/mcp`.',
  },
});
const statusClass = oneOf(STATUS_CLASSES, {
  name: 'ApiRequestStatusClass',
  description: 'A class of HTTP status codes.',
  values: {
    success: 'Below 400.',
    client_error: '400 to 499: the client has to change the request.',
    server_error: '500 and above: the service failed or was unavailable.',
  },
});

const header = z
  .object({
    name: z.string().meta({ description: 'In lowercase.' }),
    value: z.string().meta({ description: 'Value of the header.' }),
  })
  .meta({ id: 'HttpHeader', description: 'A header of an HTTP request or response.' });
const headersByName = z.record(z.string(), z.string());
const listHeaders = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));
/** Headers that the cost limit of GraphQL assumes. */
const USUAL_HEADERS = 3;
const BODY =
  'Shortened to 8,192 characters; secrets are redacted, and files replaced by their size. Null if there is none, or if it is not logged.';
const bytes = named(z.number().int().nullable(), { graphqlType: 'Float' });

/** Returns what the bodies of each request are needed for. */
async function loadShown(context: OperationContext, rows: readonly requests.ApiRequest[]) {
  const { publicUrl } = context.settings;
  return (await requests.loadRequestBodies(context, rows)).map((bodies, at) => ({
    ...bodies,
    get curl() {
      const request = rows[at];
      return request === undefined ? null : writeCurl({ ...request, ...bodies }, publicUrl);
    },
  }));
}

export const apiRequestCapability: Capability = {
  feature: 'Account',
  what: 'Request log',
  tag: 'Requests',
  path: '/requests',
  restCase: 'snake',
  resource: defineResource<requests.ApiRequest>()({
    name: 'ApiRequest',
    noun: 'logged request',
    objectName: 'request',
    identifier: 'apiRequest',
    description: `A request that came with an API key, kept for ${REQUEST_LOG_DAYS} days.`,
    isOfDomain: false,
    shape: z.object({
      requestId: named(z.string(), { graphqlType: 'String' }).meta({
        description: 'Value of the X-Request-Id header of the response.',
      }),
      interface: apiInterface.meta({ description: 'Where the request arrived.' }),
      method: z.string().meta({ description: 'HTTP method.' }),
      path: z.string().meta({ description: 'Path with the query. Secrets are redacted.' }),
      operation: z.string().nullable().meta({
        description: 'Name of the GraphQL operation, or of the MCP tool. Null for REST, or if it is not known.',
      }),
      status: z.number().int().meta({ description: 'HTTP status code of the response.' }),
      durationMs: z.number().int().meta({
        description: 'Milliseconds from the arrival of the request to the response, or to the beginning of a stream.',
      }),
      apiKeyId: restOnly(z.string()),
      keyId: linkTo('ApiKey', graphqlOnly(z.string().nullable()), 'apiKey').meta({
        description: 'The API key. Null if it no longer exists.',
      }),
      clientAddress: z.string().meta({ description: 'IP address of the client.' }),
      requestHeaders: restOnly(headersByName),
      requestHeaderList: usually(USUAL_HEADERS, graphqlOnly(z.array(header), 'requestHeaders')).meta({
        description: 'Headers of the request that are logged. None holds a credential.',
      }),
      requestBytes: bytes.meta({ description: 'Size of the request body in bytes. Null if there is none.' }),
      requestBody: z
        .string()
        .nullable()
        .meta({ ...secret, description: BODY }),
      responseHeaders: restOnly(headersByName),
      responseHeaderList: usually(USUAL_HEADERS, graphqlOnly(z.array(header), 'responseHeaders')).meta({
        description: 'Headers of the response that are logged.',
      }),
      responseBytes: bytes.meta({ description: 'Size of the response body in bytes. Null if it is not known.' }),
      responseBody: z
        .string()
        .nullable()
        .meta({ ...secret, description: BODY }),
      omitsBodies: z.boolean().meta({ description: 'Whether bodies are missing because the service was busy.' }),
      curl: z.string().meta({
        ...secret,
        description: 'A shell command that sends the request again, with the API key in $POSTROOM_KEY.',
      }),
      createdAt: z.date().meta({ description: 'When the request arrived.' }),
    }),
    computed: {
      requestId: ({ id }) => id.replace(/^req_/, ''),
      apiKeyId: ({ keyId }) => keyId,
      requestHeaderList: ({ requestHeaders }) => listHeaders(requestHeaders),
      responseHeaderList: ({ responseHeaders }) => listHeaders(responseHeaders),
    },
    loaded: {
      requestBody: { isInLists: true, of: 'requestBody', load: loadShown },
      responseBody: { isInLists: true, of: 'responseBody', load: loadShown },
      curl: { isInLists: true, of: 'curl', load: loadShown },
    },
    load: requests.loadApiRequests,
  }),
  operations: [
    defineList({
      access: 'requests',
      operationId: 'listRequests',
      field: 'apiRequests',
      summary: 'List requests',
      description: `Returns the requests of the last ${REQUEST_LOG_DAYS} days that came with an API key of the account, newest first. Requests of dashboard sessions are not logged. The total counts up to ${requests.MAX_COUNTED_REQUESTS.toLocaleString('en')}; pass \`until\` to see what is older.`,
      filter: z.object({
        statusClass: named(statusClass.optional(), { restName: 'status' }).meta({
          description: 'Class of the status: below 400, 4xx or 5xx.',
        }),
        method: text.optional().meta({ description: 'HTTP method, case-insensitive.' }),
        interface: apiInterface.optional().meta({ description: 'Where the request arrived.' }),
        keyId: named(text.optional(), { restName: 'api_key_id', graphqlName: 'apiKeyId' }).meta({
          description: 'ID of the API key.',
        }),
        search: searchText.optional().meta({
          description: `Part of the request ID, path, operation or bodies, case-insensitive. Covers the newest ${requests.SEARCHED_REQUESTS.toLocaleString('en')} requests that match the other filters.`,
        }),
        since: z.date().optional().meta({ description: 'Requests at or after this time.' }),
        until: z.date().optional().meta({ description: 'Requests before this time.' }),
      }),
      isPagedByItem: false,
      page: requests.pageApiRequests,
      count: requests.countApiRequests,
      list: requests.listApiRequests,
    }),
    defineRead({
      access: 'requests',
      operationId: 'getRequest',
      field: 'apiRequest',
      summary: 'Retrieve a request',
      description: 'Returns a logged request. The ID may also be the value of the X-Request-Id header.',
      target: { argument: 'id', argumentDescription: 'ID of the request, or the value of X-Request-Id.' },
      isReadAlone: true,
      read: requests.readApiRequest,
    }),
  ],
};

/** Returns a logged body as JSON, and one that was shortened or is none as text. */
function readBody(body: string | null): unknown {
  try {
    return body === null ? null : (JSON.parse(body) as unknown);
  } catch {
    return body;
  }
}

async function loadJson(context: OperationContext, rows: readonly requests.ApiRequest[]) {
  return (await requests.loadRequestBodies(context, rows)).map(({ requestBody, responseBody }) => ({
    requestJson: readBody(requestBody),
    responseJson: readBody(responseBody),
  }));
}

const LOGGED = 'The body as JSON, or as text. Lists leave it out.';

/** The log of requests at the paths and in the format of the `resend` client. */
export const resendLogCapability: Capability = {
  feature: 'Paths of other clients',
  what: 'Logs',
  tag: 'Paths of other clients',
  path: '/logs',
  restCase: 'snake',
  resource: defineResource<requests.ApiRequest>()({
    name: 'Log',
    identifier: 'apiRequest',
    description: 'A logged request, in the format of the `resend` client.',
    isOfDomain: false,
    shape: z.object({
      createdAt: z.date(),
      endpoint: z.string().meta({ description: 'Path without `/api/e2` and the query.', examples: ['/emails'] }),
      method: z.string(),
      responseStatus: z.number().int(),
      userAgent: z.string().nullable(),
      requestJson: named(z.unknown().optional(), { restName: 'request_body' }).meta({
        ...secret,
        description: `${LOGGED} ${BODY}`,
      }),
      responseJson: named(z.unknown().optional(), { restName: 'response_body' }).meta({
        ...secret,
        description: `${LOGGED} ${BODY}`,
      }),
    }),
    computed: {
      endpoint: ({ path }) => path.replace(/^\/api\/(?:e2|v2)(?=\/)/, '').replace(/\?.*$/s, ''),
      responseStatus: ({ status }) => status,
      userAgent: ({ requestHeaders }) => requestHeaders['user-agent'] ?? null,
    },
    loaded: {
      requestJson: { isInLists: false, of: 'requestJson', load: loadJson },
      responseJson: { isInLists: false, of: 'responseJson', load: loadJson },
    },
    load: requests.loadApiRequests,
  }),
  operations: [
    defineList({
      access: 'requests',
      operationId: 'listLogs',
      summary: 'List logs',
      description: 'Same as GET /requests, in the format of the `resend` client.',
      filter: z.object({}),
      isPagedByItem: true,
      page: requests.pageApiRequests,
      count: requests.countApiRequests,
      list: requests.listApiRequests,
    }),
    defineRead({
      access: 'requests',
      operationId: 'getLog',
      summary: 'Retrieve a log',
      description: 'Same as GET /requests/{id}, in the format of the `resend` client.',
      target: { argument: 'id', argumentDescription: 'ID of the request.' },
      read: requests.readApiRequest,
    }),
  ],
};
