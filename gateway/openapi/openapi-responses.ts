import { STATUS_CODES } from 'node:http';
import type { OpenAPIV3_1 } from 'openapi-types';

type Operation = OpenAPIV3_1.OperationObject;
type Responses = Record<string, OpenAPIV3_1.ResponseObject | OpenAPIV3_1.ReferenceObject>;

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];

/** The error responses by status. */
const refusals: Record<string, { name: string; description: string; headers?: string[] }> = {
  400: { name: 'BadRequest', description: 'The request is invalid. `details` lists the fields with errors.' },
  401: { name: 'Unauthorized', description: 'The API key is missing or invalid.', headers: ['WWW-Authenticate'] },
  403: { name: 'Forbidden', description: 'The API key or the account is not allowed to do this.' },
  404: { name: 'NotFound', description: 'The account has no such object.' },
  409: { name: 'Conflict', description: 'The request conflicts with existing data.', headers: ['X-Should-Retry'] },
  410: { name: 'Gone', description: 'The position of the cursor no longer exists.' },
  413: { name: 'PayloadTooLarge', description: 'The request body is too large.' },
  415: { name: 'UnsupportedMediaType', description: 'The request body is not `application/json`.' },
  429: { name: 'TooManyRequests', description: 'A limit of the account was exceeded.', headers: ['Retry-After'] },
  500: { name: 'InternalServerError', description: 'An error in Postroom.' },
  503: {
    name: 'ServiceUnavailable',
    description: 'Temporarily unavailable. Retry after the time in `Retry-After`.',
    headers: ['Retry-After'],
  },
};

const headers: Record<string, OpenAPIV3_1.HeaderObject> = {
  'X-Request-Id': { description: 'ID of the request, for support and logs.', schema: { type: 'string' } },
  'RateLimit-Limit': { description: 'Requests per second that the account can make.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests left.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until more requests are available.', schema: { type: 'integer' } },
  'X-RateLimit-Limit': { description: 'Same as `RateLimit-Limit`.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Same as `RateLimit-Remaining`.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'When more requests are available, in milliseconds since 1970.',
    schema: { type: 'integer', format: 'int64' },
  },
  'Retry-After': { description: 'Seconds to wait before a retry.', schema: { type: 'integer' } },
  'X-Should-Retry': { description: '`false` if a retry cannot succeed.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
};
const LIMIT_HEADERS = Object.keys(headers).filter((name) => name.includes('RateLimit'));

/** A field that every response to a request with a body can have. */
const Warned: OpenAPIV3_1.SchemaObject = {
  type: 'object',
  properties: {
    warnings: {
      type: 'array',
      description: 'Unknown fields of the request body, which were ignored. Absent if there are none.',
      items: {
        type: 'object',
        properties: {
          field: { type: 'string', description: 'Path to the field, such as `attachments.0.name`.' },
          message: { type: 'string' },
        },
        required: ['field', 'message'],
      },
    },
  },
};

/** Components that the responses of every operation refer to. */
export const sharedResponses: OpenAPIV3_1.ComponentsObject = {
  headers,
  schemas: { Warned },
  responses: Object.fromEntries(
    Object.entries(refusals).map(([status, { name, description, headers: own = [] }]) => {
      // Requests are counted only once the account is known.
      const names = ['X-Request-Id', ...(status === '401' ? [] : LIMIT_HEADERS), ...own];
      const schema = { $ref: '#/components/schemas/Error' };
      return [name, { description, headers: headerRefs(names), content: { 'application/json': { schema } } }];
    }),
  ),
};

/**
 * Adds to each operation the responses that follow from its form (parameters, body, id in the path), which the route declares as `default`,
 * and describes its successes.
 */
export function describeResponses(paths: OpenAPIV3_1.PathsObject): OpenAPIV3_1.PathsObject {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      const operations = METHODS.flatMap((method) => {
        const operation = item?.[method];
        return operation === undefined ? [] : [[method, withResponses(method, operation)] as const];
      });
      const others = Object.entries(item ?? {}).filter(([key]) => !(METHODS as readonly string[]).includes(key));
      return [path, Object.fromEntries([...others, ...operations])];
    }),
  );
}

function withResponses(method: Method, operation: Operation): Operation {
  const { default: _default, ...own } = (operation.responses ?? {}) as Responses;
  const described = Object.entries(own).map(([status, response]) => {
    const answer = describe(status, response);
    return [status, operation.requestBody === undefined ? answer : warned(answer)] as const;
  });
  const refused = formRefusals(method, operation).map(
    (status) => [status, describe(status, { description: '' })] as const,
  );
  return { ...operation, responses: Object.fromEntries([...described, ...refused]) };
}

function formRefusals(method: Method, operation: Operation): string[] {
  const parameters = (operation.parameters ?? []) as OpenAPIV3_1.ParameterObject[];
  const isGiven = operation.requestBody !== undefined;
  return [
    // A change can be invalid because of the object's state, whatever the form of the request.
    ...(method !== 'get' || parameters.some((parameter) => parameter.in !== 'path') ? ['400'] : []),
    '401',
    // The key lacks the scope or the domain.
    '403',
    ...(parameters.some((parameter) => parameter.in === 'path') ? ['404'] : []),
    ...(isGiven ? ['413', '415'] : []),
    '429',
    '500',
    '503',
  ];
}

function describe(status: string, response: Responses[string]): Responses[string] {
  const refusal = refusals[status];
  if (refusal !== undefined) return { $ref: `#/components/responses/${refusal.name}` };
  if ('$ref' in response) return response;
  const { description } = response as OpenAPIV3_1.ResponseObject;
  return {
    ...response,
    description: description === 'Default Response' ? (STATUS_CODES[status] ?? status) : description,
    headers: { ...headerRefs(['X-Request-Id', ...LIMIT_HEADERS]), ...(response as OpenAPIV3_1.ResponseObject).headers },
  };
}

/** Adds `warnings` to a JSON response. Returns other responses and references unchanged. */
function warned(response: Responses[string]): Responses[string] {
  const json = '$ref' in response ? undefined : (response as OpenAPIV3_1.ResponseObject).content?.['application/json'];
  if (json?.schema === undefined) return response;
  const schema = { allOf: [json.schema, { $ref: '#/components/schemas/Warned' }] };
  return { ...response, content: { 'application/json': { ...json, schema } } } as OpenAPIV3_1.ResponseObject;
}

function headerRefs(names: string[]): Record<string, OpenAPIV3_1.ReferenceObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
