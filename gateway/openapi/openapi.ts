import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import type { Scope } from '../../core/accounts/key-rights.ts';
import { describeNeeded, listScopes } from '../../core/accounts/rights.ts';
import type { RouteAccess } from '../admission/access.ts';
import { addExamples } from './document-examples.ts';
import { nameBodies } from './name-bodies.ts';
import { describeWebhooks, webhookSchemas } from './webhooks.ts';

/** Documents every route that is added from here on; `app.swagger()` returns the document. */
export async function documentRoutes(app: FastifyInstance, publicUrl: string): Promise<void> {
  await app.register(swagger, openApiOptions(publicUrl));
}

/**
 * Returns how the OpenAPI document is generated from the routes and their zod shapes. A route declares its operation, its responses and the
 * errors of its own; the responses that every operation can have are added here. `publicUrl` has no slash at its end.
 */
function openApiOptions(publicUrl: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Postroom',
        version: 'e2',
        summary: 'Send, receive, thread and route mail for your domains.',
        description,
        contact: { name: 'The operator of this server', url: publicUrl },
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl, description: 'This server.' }],
      tags,
      components: {
        securitySchemes: {
          key: {
            type: 'http',
            scheme: 'bearer',
            description:
              'An API key of the account, in the Authorization header. `x-required-scopes` of an operation has lists of scopes: the key needs all of one list. The token of an OAuth grant for the whole service does as well: the level `read` has the scope `read`, `send` has `read` and `send`, and `everything` has all.',
          },
        },
        ...sharedResponses,
      },
      security: [{ key: [] }],
    },
    transform: (route) => {
      const made = jsonSchemaTransform(route);
      const { access } = (route.route.config ?? {}) as FastifyContextConfig;
      return access === undefined ? made : { ...made, schema: withNeeded(made.schema, access) };
    },
    transformObject: (document) => {
      const made = jsonSchemaTransformObject(document) as OpenAPIV3_1.Document;
      const folded = foldComponents({ ...made, paths: describeResponses(made) });
      const schemas = { ...folded.components?.schemas, ...webhookSchemas } as OpenAPIV3_1.ComponentsObject['schemas'];
      const whole: OpenAPIV3_1.Document = {
        ...relaxBodies(folded),
        webhooks: describeWebhooks(),
        components: { ...folded.components, ...(schemas && { schemas }) },
      };
      return addExamples(nameBodies(whole));
    },
  };
}

const description = `Authenticate every request with an API key: \`Authorization: Bearer KEY\`. Objects of other accounts are treated as if they did not exist.

**Bodies** are JSON. Emails and threads have snake_case fields; domains, email addresses and endpoints have camelCase fields. Times are ISO 8601 in UTC. A request may name an ID in either case: \`domain_id\` and \`domainId\` are the same. Unknown fields of a request and unknown query parameters are ignored and listed in the \`warnings\` of the response, as \`{field, message}\`; with \`?strict=true\` they are 400. Requests about API keys, members, invitations and customers' workspaces, and waits for an email, always refuse both, because a misspelled or misplaced limit or filter would give more.

**Lists** are paged by \`limit\` and \`offset\`, threads by \`cursor\`. A limit above 100 counts as 100.

**Errors** all have the same format, see the schema Error.

**Rate limit**: the \`RateLimit\` and \`X-RateLimit\` headers of each response show how many requests are left in the current second. After a 429 response, wait for the number of seconds in \`Retry-After\`.`;

const tags = [
  { name: 'Emails', description: 'Sent, scheduled and received emails.' },
  { name: 'Drafts', description: 'Emails, replies and forwards that are not sent yet.' },
  { name: 'Threads', description: 'Conversations of sent and received emails.' },
  { name: 'Saved views', description: 'Searches with filters that are kept under a name.' },
  { name: 'Snippets', description: 'Texts that the composer of the dashboard inserts.' },
  { name: 'Attachments', description: 'Attachments and raw messages.' },
  {
    name: 'Suppressions',
    description:
      'Addresses that Postroom does not send to, because mail bounced, the recipient complained, or you added them.',
  },
  { name: 'Domains', description: 'Domains that send and receive mail.' },
  { name: 'Email addresses', description: 'Addresses on your domains, each with an optional endpoint.' },
  {
    name: 'Reply addresses',
    description: 'Signed addresses that carry metadata, a thread and conditions for the mail to them.',
  },
  {
    name: 'Endpoints',
    description: 'Destinations of received mail: a webhook, an email address or a group of addresses.',
  },
  { name: 'Webhooks', description: 'What Postroom posts to the endpoints of the account, by kind of event.' },
  { name: 'Events', description: 'Everything that happens in the account, as a feed that you can poll or stream.' },
  {
    name: 'Guard rules',
    description: 'Rules that allow, block or reroute received mail.',
  },
  { name: 'Account', description: 'The account, its limits, its state, and how long mail is kept.' },
  { name: 'Members', description: 'The workspace, its members with their roles, and invitations.' },
  {
    name: 'Workspaces',
    description: 'Workspaces for the customers of a product, their quotas, keys and browser tokens.',
  },
  { name: 'API keys', description: 'Keys of programs, with their scopes and send policies.' },
  { name: 'Refusals', description: 'Mail that was refused before it was accepted, and why.' },
  { name: 'Audit', description: 'The audit log: who changed what, and what was refused.' },
  { name: 'Requests', description: 'The log of requests that came with an API key.' },
  {
    name: 'Paths of other clients',
    description: 'Paths that other and older clients use. They run the same operations.',
  },
  { name: 'Agents', description: 'Inboxes that agents create for themselves.' },
];

/**
 * Adds what the operation needs, as its route declares it: in words, and as lists of scopes of the API key, of which one suffices. A route
 * that does several things has a list for each.
 */
function withNeeded(schema: FastifySchema, { rights, isOfDomain }: RouteAccess): FastifySchema {
  const cases = 'cases' in rights ? rights.cases : { '': rights };
  const scopes = 'cases' in rights ? listLeast(Object.values(cases).map(listScopes)) : [listScopes(rights)];
  return {
    ...schema,
    description: `${schema.description ?? ''}${describeNeeded(cases, isOfDomain)}`,
    'x-required-scopes': scopes,
  } as FastifySchema;
}

/** Returns the lists that no other one is a part of, each once. */
function listLeast(lists: readonly Scope[][]): Scope[][] {
  return lists.filter(
    (list, at) =>
      !lists.some(
        (other, place) =>
          other.every((scope) => list.includes(scope)) &&
          (other.length < list.length || (other.length === list.length && place < at)),
      ),
  );
}

const PREFIX = '#/components/schemas/';

/**
 * Merges duplicate components. Every named shape is generated twice, as output and, with the suffix `Input`, as input; the two become one if
 * they are equal or only one is used. Unused components are removed, schemas are simplified (see tidied) and sorted by name, so that the
 * document does not depend on import order.
 */
function foldComponents<Document extends OpenAPIV3_1.Document>(document: Document): Document {
  const kept = withoutUnused(tidied(document) as Document);
  const schemas = kept.components?.schemas ?? {};
  const shortenName = (name: string) => {
    const plain = name.replace(/Input$/, '');
    return schemas[plain] === undefined || isDeepStrictEqual(schemas[plain], schemas[name]) ? plain : name;
  };
  const byName = (one: string, other: string) => (shortenName(one) < shortenName(other) ? -1 : 1);
  const names = Object.keys(schemas);
  const renamed = Object.fromEntries(names.toSorted(byName).map((name) => [shortenName(name), schemas[name]]));
  const text = JSON.stringify({ ...kept, components: { ...kept.components, schemas: renamed } });
  const folded = names.reduce(
    (json, name) => json.replaceAll(`"${PREFIX}${name}"`, `"${PREFIX}${shortenName(name)}"`),
    text,
  );
  return JSON.parse(folded) as Document;
}

/** Marks request bodies as optional if their shape allows null. */
function relaxBodies<Document extends OpenAPIV3_1.Document>(document: Document): Document {
  const schemas = document.components?.schemas ?? {};
  for (const item of Object.values(document.paths ?? {}))
    for (const operation of Object.values(item ?? {}) as OpenAPIV3_1.OperationObject[]) {
      const body = operation.requestBody as OpenAPIV3_1.RequestBodyObject | undefined;
      const schema = body?.content['application/json']?.schema as { $ref?: string; type?: unknown } | undefined;
      const named = schemas[schema?.$ref?.slice(PREFIX.length) ?? ''] ?? schema;
      const types: unknown = named?.type;
      if (body !== undefined && Array.isArray(types) && types.includes('null')) body.required = false;
    }
  return document;
}

function withoutUnused<Document extends OpenAPIV3_1.Document>(document: Document): Document {
  const text = JSON.stringify(document);
  const { schemas, responses, headers, ...rest } = document.components ?? {};
  const used = Object.entries({ schemas, responses, headers }).map(([kind, components]) => {
    const entries = Object.entries(components ?? {});
    return [kind, entries.filter(([name]) => text.includes(`"#/components/${kind}/${name}"`))] as const;
  });
  const kept = Object.fromEntries(used.map(([kind, entries]) => [kind, Object.fromEntries(entries)]));
  const less = { ...document, components: { ...rest, ...kept } };
  // A removed component may have held the last reference to another one.
  return JSON.stringify(less).length < text.length ? withoutUnused(less) : less;
}

/**
 * Simplifies schemas: null becomes one of the types, bounds that every JSON integer satisfies are removed, and so is the promise that a response
 * never gets more fields; a request that refuses unknown fields says so. `x-examples` and `x-default` become examples and default, which zod
 * omits from shapes that transform a value.
 */
function tidied(value: unknown, isRequest = false): unknown {
  if (Array.isArray(value)) return value.map((each) => tidied(each, isRequest));
  if (typeof value !== 'object' || value === null) return value;
  const { anyOf, ...rest } = value as Record<string, unknown>;
  const options = Array.isArray(anyOf) ? (anyOf as Record<string, unknown>[]) : [];
  const [option, none] = options;
  const isNullable =
    options.length === 2 && typeof option?.['type'] === 'string' && !('const' in option) && none?.['type'] === 'null';
  const entries = Object.entries(
    isNullable
      ? { ...option, ...rest, type: [rest['type'] ?? option['type'], 'null'].flat(), ...nullableEnum(option) }
      : (value as Record<string, unknown>),
  );
  const isNoise = ([key, each]: [string, unknown]) =>
    (key === 'minimum' && each === Number.MIN_SAFE_INTEGER) ||
    (key === 'maximum' && each === Number.MAX_SAFE_INTEGER) ||
    (key === 'additionalProperties' && each === false && !isRequest);
  const renameKey = (key: string) => (key === 'x-examples' || key === 'x-default' ? key.slice('x-'.length) : key);
  return Object.fromEntries(
    entries
      .filter((entry) => !isNoise(entry))
      // Components of requests end in `Input` until they are folded.
      .map(([key, each]) => [
        renameKey(key),
        tidied(each, isRequest || key === 'requestBody' || key.endsWith('Input')),
      ]),
  );
}

function nullableEnum(option: Record<string, unknown>): { enum?: unknown[] } {
  return Array.isArray(option['enum']) ? { enum: [...(option['enum'] as unknown[]), null] } : {};
}

type Operation = OpenAPIV3_1.OperationObject;
type Components = OpenAPIV3_1.ComponentsObject | undefined;
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
      description:
        'Unknown fields of the request body and query parameters, which were ignored. Absent if there are none.',
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
const sharedResponses: OpenAPIV3_1.ComponentsObject = {
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
 * Adds to each operation the responses that follow from its form (parameters, body, ids in the path or the body), which the route declares as
 * `default`, and describes its successes.
 */
function describeResponses({ paths = {}, components }: OpenAPIV3_1.Document): OpenAPIV3_1.PathsObject {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      const operations = METHODS.flatMap((method) => {
        const operation = item?.[method];
        return operation === undefined ? [] : [[method, withResponses(method, operation, components)] as const];
      });
      const others = Object.entries(item ?? {}).filter(([key]) => !(METHODS as readonly string[]).includes(key));
      return [path, Object.fromEntries([...others, ...operations])];
    }),
  );
}

function withResponses(method: Method, operation: Operation, components: Components): Operation {
  const { default: _default, ...own } = (operation.responses ?? {}) as Responses;
  const described = Object.entries(own).map(([status, response]) => {
    const result = describe(status, response);
    return [status, operation.requestBody === undefined ? result : warned(result)] as const;
  });
  const refused = formRefusals(method, operation, components).map(
    (status) => [status, describe(status, { description: '' })] as const,
  );
  return { ...operation, responses: Object.fromEntries([...described, ...refused]) };
}

function formRefusals(method: Method, operation: Operation, components: Components): string[] {
  const parameters = (operation.parameters ?? []) as OpenAPIV3_1.ParameterObject[];
  const isGiven = operation.requestBody !== undefined;
  return [
    // A change can be invalid because of the object's state, whatever the form of the request.
    ...(method !== 'get' || parameters.some((parameter) => parameter.in !== 'path') ? ['400'] : []),
    '401',
    // The key lacks the scope or the domain.
    '403',
    ...(parameters.some((parameter) => parameter.in === 'path') || namesObjects(operation, components) ? ['404'] : []),
    ...(isGiven ? ['413', '415'] : []),
    '429',
    '500',
    '503',
  ];
}

/** Returns whether the body of a request has fields for IDs of objects, such as `thread_ids` or `endpointId`. */
function namesObjects({ requestBody }: Operation, components: Components): boolean {
  const body = requestBody as OpenAPIV3_1.RequestBodyObject | undefined;
  const given = body?.content['application/json']?.schema as OpenAPIV3_1.SchemaObject | undefined;
  const name = given !== undefined && '$ref' in given ? String(given.$ref).split('/').at(-1) : undefined;
  const schema = name === undefined ? given : components?.schemas?.[name];
  return Object.keys(schema?.properties ?? {}).some((field) =>
    /^(?!client_id$)(?:ids?|.+_ids?|.*[a-z]Ids?)$/.test(field),
  );
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
