import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { foldComponents, relaxBodies } from './openapi-components.ts';
import { describeResponses, sharedResponses } from './openapi-responses.ts';

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
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl, description: 'This server.' }],
      tags,
      components: {
        securitySchemes: {
          key: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key of the account, in the Authorization header.',
          },
        },
        ...sharedResponses,
      },
      security: [{ key: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => {
      const made = jsonSchemaTransformObject(document) as OpenAPIV3_1.Document;
      return relaxBodies(foldComponents({ ...made, paths: describeResponses(made.paths ?? {}) }));
    },
  };
}

const description = `Authenticate every request with an API key: \`Authorization: Bearer KEY\`. Objects of other accounts are treated as if they did not exist.

**Bodies** are JSON. Emails and threads have snake_case fields; domains, email addresses and endpoints have camelCase fields. Times are ISO 8601 in UTC. Unknown fields of a request are ignored and listed in the \`warnings\` of the response, as \`{field, message}\`.

**Lists** are paged by \`limit\` and \`offset\`, threads by \`cursor\`. A limit above 100 counts as 100.

**Errors** all have the same format, see the schema Error.

**Rate limit**: the \`RateLimit\` and \`X-RateLimit\` headers of each response show how many requests are left in the current second. After a 429 response, wait for the number of seconds in \`Retry-After\`.`;

const tags = [
  { name: 'Emails', description: 'Sent, scheduled and received emails.' },
  { name: 'Threads', description: 'Conversations of sent and received emails.' },
  { name: 'Attachments', description: 'Attachments and raw messages.' },
  {
    name: 'Suppressions',
    description:
      'Addresses that Postroom does not send to, because mail bounced, the recipient complained, or you added them.',
  },
  { name: 'Domains', description: 'Domains that send and receive mail.' },
  { name: 'Email addresses', description: 'Addresses on your domains, each with an optional endpoint.' },
  {
    name: 'Endpoints',
    description: 'Destinations of received mail: a webhook, an email address or a group of addresses.',
  },
  { name: 'Events', description: 'Everything that happens in the account, as a feed that you can poll or stream.' },
  {
    name: 'Guard rules',
    description: 'Rules that allow, block or reroute received mail.',
  },
  {
    name: 'Paths of other clients',
    description: 'Paths that other and older clients use. They run the same operations.',
  },
];
