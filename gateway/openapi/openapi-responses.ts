import { STATUS_CODES } from 'node:http';
import type { OpenAPIV3_1 } from 'openapi-types';

type Operation = OpenAPIV3_1.OperationObject;
type Responses = Record<string, OpenAPIV3_1.ResponseObject | OpenAPIV3_1.ReferenceObject>;

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];

/** What a refusal means, by status. */
const refusals: Record<string, { name: string; description: string; headers?: string[] }> = {
  400: { name: 'BadRequest', description: 'Something in the request is not valid; `details` names it.' },
  401: { name: 'Unauthorized', description: 'The API key is missing or opens nothing.', headers: ['WWW-Authenticate'] },
  403: { name: 'Forbidden', description: 'The API key or the account may not do this.' },
  404: { name: 'NotFound', description: 'The account has no such thing.' },
  409: { name: 'Conflict', description: 'What is stored stands against it.', headers: ['X-Should-Retry'] },
  410: { name: 'Gone', description: 'What the cursor points to was removed.' },
  413: { name: 'PayloadTooLarge', description: 'The request body is too large.' },
  415: { name: 'UnsupportedMediaType', description: 'The request body is not `application/json`.' },
  429: { name: 'TooManyRequests', description: 'A limit of the account is used up.', headers: ['Retry-After'] },
  500: { name: 'InternalServerError', description: 'Nobody is to blame but this service.' },
  503: { name: 'ServiceUnavailable', description: 'Try again later.', headers: ['Retry-After'] },
};

const headers: Record<string, OpenAPIV3_1.HeaderObject> = {
  'X-Request-Id': { description: 'names the request in the logs', schema: { type: 'string' } },
  'RateLimit-Limit': { description: 'requests that the account may make in a second', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'requests left', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'seconds until more are left', schema: { type: 'integer' } },
  'X-RateLimit-Limit': { description: 'as `RateLimit-Limit`', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'as `RateLimit-Remaining`', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'when more are left, in milliseconds since 1970',
    schema: { type: 'integer', format: 'int64' },
  },
  'Retry-After': { description: 'seconds to wait', schema: { type: 'integer' } },
  'X-Should-Retry': { description: '`false` when trying again never helps', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'how to authenticate', schema: { type: 'string' } },
};
const LIMIT_HEADERS = Object.keys(headers).filter((name) => name.includes('RateLimit'));

/** What the answer to a request with a body may hold besides its own fields. */
const Warned: OpenAPIV3_1.SchemaObject = {
  type: 'object',
  properties: {
    warnings: {
      type: 'array',
      description: 'Fields of the request body that Postroom does not know and ignored. Absent when there are none.',
      items: {
        type: 'object',
        properties: {
          field: { type: 'string', description: 'path with dots, such as `attachments.0.name`' },
          message: { type: 'string' },
        },
        required: ['field', 'message'],
      },
    },
  },
};

/** The components that the responses of every operation refer to. */
export const sharedResponses: OpenAPIV3_1.ComponentsObject = {
  headers,
  schemas: { Warned },
  responses: Object.fromEntries(
    Object.entries(refusals).map(([status, { name, description, headers: own = [] }]) => {
      // Before the account is known nothing is counted.
      const names = ['X-Request-Id', ...(status === '401' ? [] : LIMIT_HEADERS), ...own];
      const schema = { $ref: '#/components/schemas/Error' };
      return [name, { description, headers: headerRefs(names), content: { 'application/json': { schema } } }];
    }),
  ),
};

/**
 * Adds to each operation what all of its kind may answer, and describes its successes. A `default` answer of the route stands for the
 * refusals that follow from the operation's form: its parameters, its body, its id.
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
    // What something has become may forbid a change as well as the form of the request.
    ...(method !== 'get' || parameters.some((parameter) => parameter.in !== 'path') ? ['400'] : []),
    '401',
    // The key has not the scope, or not the domain.
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

/** The answer with `warnings` beside its fields; one that is no JSON, or only refers to another, as it is. */
function warned(response: Responses[string]): Responses[string] {
  const json = '$ref' in response ? undefined : (response as OpenAPIV3_1.ResponseObject).content?.['application/json'];
  if (json?.schema === undefined) return response;
  const schema = { allOf: [json.schema, { $ref: '#/components/schemas/Warned' }] };
  return { ...response, content: { 'application/json': { ...json, schema } } } as OpenAPIV3_1.ResponseObject;
}

function headerRefs(names: string[]): Record<string, OpenAPIV3_1.ReferenceObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
