import { isDeepStrictEqual } from 'node:util';
import type { OpenAPIV3_1 } from 'openapi-types';
import { capitalized } from '../../core/shared/word-case.ts';

type Schema = OpenAPIV3_1.SchemaObject & { $ref?: string; [extension: `x-${string}`]: unknown };
type Schemas = Record<string, Schema>;

const PREFIX = '#/components/schemas/';

/**
 * Gives every JSON body that is described in place a name, from its operation: `ListEmailsResult`, `UpdateEmailsRequest`, and for items of a
 * list `ListEmailsItem`. Not `ListEmailsResponse`: oapi-codegen gives that name to a type of its own. Equal bodies get one name, that of a component if there is one, so that a generated client has one type for them.
 */
export function nameBodies(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const schemas: Schemas = { ...(document.components?.schemas as Schemas | undefined) };
  const named = (schema: Schema, name: string): Schema => {
    if (schema.$ref !== undefined || !isObject(schema)) return schema;
    const [same] = Object.entries(schemas).find(([, each]) => isDeepStrictEqual(each, schema)) ?? [];
    const chosen = same ?? freeName(name, schemas);
    schemas[chosen] = schema;
    return { $ref: `${PREFIX}${chosen}` };
  };
  const withItems = (schema: Schema, name: string): Schema => {
    const data = schema.properties?.['data'] as { type?: unknown; items?: Schema } | undefined;
    if (data?.type !== 'array' || data.items === undefined) return schema;
    return {
      ...schema,
      properties: { ...schema.properties, data: { ...data, items: named(data.items, `${name}Item`) } },
    } as Schema;
  };
  const makeBody = (schema: Schema, operation: string, suffix: string): Schema => {
    // A success with `warnings` beside it.
    if (schema.allOf !== undefined)
      return { ...schema, allOf: schema.allOf.map((part) => makeBody(part as Schema, operation, suffix)) } as Schema;
    return named(withItems(schema, operation), operation + suffix);
  };
  for (const item of Object.values(document.paths ?? {}))
    for (const operation of Object.values(item ?? {}) as OpenAPIV3_1.OperationObject[]) {
      const name = (operation.operationId ?? '').replace(/^[a-z]/, (letter) => letter.toUpperCase());
      const request = operation.requestBody as OpenAPIV3_1.RequestBodyObject | undefined;
      nameIn(request, (schema) => makeBody(schema, name, 'Request'));
      const successes = Object.entries(operation.responses ?? {}).filter(([status]) => Number(status) < 300);
      for (const [status, response] of successes)
        nameIn(response as OpenAPIV3_1.ResponseObject, (schema) =>
          makeBody(schema, name, successes.length > 1 ? `Result${status}` : 'Result'),
        );
    }
  nameForGo(document, schemas);
  const sorted = Object.fromEntries(Object.entries(schemas).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return {
    ...document,
    components: { ...document.components, schemas: sorted as OpenAPIV3_1.ComponentsObject['schemas'] },
  } as OpenAPIV3_1.Document;
}

/**
 * Names what would have one name twice in a client that oapi-codegen makes, which would not compile: a field in both cases (`email_id` and
 * `emailId`), and the values of a field whose type is named as the response of an operation.
 */
function nameForGo(document: OpenAPIV3_1.Document, schemas: Schemas): void {
  const operations = Object.values(document.paths ?? {}).flatMap((item) =>
    Object.values(item ?? {}).map((operation) => (operation as OpenAPIV3_1.OperationObject).operationId ?? ''),
  );
  const responses = new Set(operations.map((id) => `${id}response`.toLowerCase()));
  for (const [name, { properties = {} }] of Object.entries(schemas)) {
    const found = new Set<string>();
    for (const [field, schema] of Object.entries(properties)) {
      const words = field.split('_').map(capitalized).join('');
      const goName = words.toLowerCase();
      if (found.has(goName)) properties[field] = { ...schema, 'x-go-name': `Other${words}` } as Schema;
      if (responses.has((name + words).toLowerCase()))
        properties[field] = { ...schema, 'x-go-type-name': `${name}${words}Value` } as Schema;
      found.add(goName);
    }
  }
}

function nameIn(
  holder: { content?: Record<string, OpenAPIV3_1.MediaTypeObject> } | undefined,
  name: (schema: Schema) => Schema,
): void {
  const json = holder?.content?.['application/json'];
  if (json?.schema !== undefined) json.schema = name(json.schema as Schema);
}

function isObject({ type, properties }: Schema): boolean {
  return properties !== undefined && [type].flat().includes('object');
}

function freeName(name: string, schemas: Schemas): string {
  return schemas[name] === undefined ? name : `${name}Body`;
}
