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
 * How the OpenAPI document is made from the routes and their zod shapes. A route names its operation, its answers and the refusals
 * that are its own; what every operation may answer is added here. `publicUrl` is the base of the service, without a slash at its end.
 */
function openApiOptions(publicUrl: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Postroom',
        version: 'e2',
        summary: 'Sends, receives, threads and routes mail for your own domains.',
        description,
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl, description: 'This service.' }],
      tags,
      components: {
        securitySchemes: {
          key: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key of the account, in the Authorization field.',
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

const description = `Every request bears an API key: \`Authorization: Bearer KEY\`. What belongs to another account is answered as if it did not exist.

**Bodies** are JSON. Emails and threads have snake_case names, domains, email addresses and endpoints camelCase ones. Instants are ISO 8601 in UTC. Unknown fields are ignored and reported in \`warnings\`, a list of \`{field, message}\` in the answer.

**Lists** are paged by \`limit\` and \`offset\`, threads by \`cursor\`. A limit above 100 counts as 100.

**Errors** have one shape, see the schema Error.

**Request limit**: each answer tells what is left of the second, in the \`RateLimit\` and \`X-RateLimit\` fields; 429 says in \`Retry-After\` when to come again.`;

const tags = [
  { name: 'Emails', description: 'Mail that was sent, is to be sent, or was received.' },
  { name: 'Threads', description: 'Conversations: sent and received mail that belongs together.' },
  { name: 'Attachments', description: 'Files in mail, as they were sent.' },
  {
    name: 'Suppressions',
    description: 'Addresses that mail is no longer sent to: it bounced, was complained of, or you put them in.',
  },
  { name: 'Domains', description: 'Domains that mail is sent from and received for.' },
  { name: 'Email addresses', description: 'Addresses of your domains, each leading to an endpoint.' },
  {
    name: 'Endpoints',
    description: 'Where received mail is handed on to: a webhook, an address or a group of addresses.',
  },
  { name: 'Events', description: 'What happens, as one feed that can be followed and taken up again.' },
  {
    name: 'Guard rules',
    description: 'Rules that let received mail through, hold it back, or lead it elsewhere.',
  },
  {
    name: 'Paths of other clients',
    description: 'What other and older clients ask for, answered by the same operations.',
  },
];
