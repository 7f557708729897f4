import { isDeepStrictEqual } from 'node:util';
import type { OpenAPIV3_1 } from 'openapi-types';

const PREFIX = '#/components/schemas/';

/**
 * Every named shape comes once as the output it is and once, called `...Input`, as the input it would be. Here the two become one
 * where they agree or only one is used, and what nothing refers to is left out. Schemas are put shortly (see tidied) and sorted by name,
 * so that the document does not depend on the order in which files are imported.
 */
export function foldComponents<Document extends OpenAPIV3_1.Document>(document: Document): Document {
  const kept = withoutUnused(tidied(document) as Document);
  const schemas = kept.components?.schemas ?? {};
  const nameOf = (name: string) => {
    const plain = name.replace(/Input$/, '');
    return schemas[plain] === undefined || isDeepStrictEqual(schemas[plain], schemas[name]) ? plain : name;
  };
  const byName = (one: string, other: string) => (nameOf(one) < nameOf(other) ? -1 : 1);
  const names = Object.keys(schemas);
  const renamed = Object.fromEntries(names.toSorted(byName).map((name) => [nameOf(name), schemas[name]]));
  const text = JSON.stringify({ ...kept, components: { ...kept.components, schemas: renamed } });
  const folded = names.reduce(
    (json, name) => json.replaceAll(`"${PREFIX}${name}"`, `"${PREFIX}${nameOf(name)}"`),
    text,
  );
  return JSON.parse(folded) as Document;
}

/** Marks the request bodies that may be left out: those whose shape takes null. */
export function relaxBodies<Document extends OpenAPIV3_1.Document>(document: Document): Document {
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
  // What was left out may have been the last to refer to another.
  return JSON.stringify(less).length < text.length ? withoutUnused(less) : less;
}

/**
 * The same schemas in fewer words: null as one of the types, no bounds that every whole number of JSON keeps, and no promise that an
 * answer never gets a further field. `x-examples` are examples, and `x-default` is the default:
 * zod leaves both out of shapes that change a value as they read it.
 */
function tidied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidied);
  if (typeof value !== 'object' || value === null) return value;
  const { anyOf, ...rest } = value as Record<string, unknown>;
  const options = Array.isArray(anyOf) ? (anyOf as Record<string, unknown>[]) : [];
  const [option, none] = options;
  const isNullable =
    options.length === 2 && typeof option?.['type'] === 'string' && !('const' in option) && none?.['type'] === 'null';
  const entries = Object.entries(
    isNullable
      ? { ...option, ...rest, type: [option['type'], 'null'], ...nullableEnum(option) }
      : (value as Record<string, unknown>),
  );
  const isNoise = ([key, each]: [string, unknown]) =>
    (key === 'minimum' && each === Number.MIN_SAFE_INTEGER) ||
    (key === 'maximum' && each === Number.MAX_SAFE_INTEGER) ||
    (key === 'additionalProperties' && each === false);
  const nameOf = (key: string) => (key === 'x-examples' || key === 'x-default' ? key.slice('x-'.length) : key);
  return Object.fromEntries(
    entries.filter((entry) => !isNoise(entry)).map(([key, each]) => [nameOf(key), tidied(each)]),
  );
}

function nullableEnum(option: Record<string, unknown>): { enum?: unknown[] } {
  return Array.isArray(option['enum']) ? { enum: [...(option['enum'] as unknown[]), null] } : {};
}
