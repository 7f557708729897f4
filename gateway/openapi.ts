import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';

/** How the OpenAPI document is made from the routes and their zod shapes. */
export const openApiOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Postroom', version: 'e2', description: 'Sends, receives, threads and routes mail.' },
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    security: [{ key: [] }],
  },
  transform: jsonSchemaTransform,
  transformObject: (document) => withoutUnused(jsonSchemaTransformObject(document)),
};

/** Every shape comes once as input and once as output; those that nothing refers to are left out. */
function withoutUnused<Document extends object>(document: Document): Document {
  const { components } = document as { components?: { schemas?: Record<string, unknown> } };
  const schemas = Object.entries(components?.schemas ?? {});
  const text = JSON.stringify(document);
  const used = schemas.filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
  if (used.length === schemas.length) return document;
  // What was left out may have been the last to refer to another.
  return withoutUnused({ ...document, components: { ...components, schemas: Object.fromEntries(used) } });
}
