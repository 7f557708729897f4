import { z } from 'zod';

type JsonSchema = Record<string, unknown>;

/**
 * Returns the JSON Schema of a tool's arguments or result, short, because models read it: it has no references, which some clients do not
 * follow, and no extensions of the OpenAPI document. For arguments it leaves out deprecated names, and null where the argument can be omitted.
 */
export function jsonSchemaOf(shape: z.ZodType, io: 'input' | 'output'): JsonSchema & { type: 'object' } {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: 'any' }) as JsonSchema;
  const definitions = (schema['$defs'] ?? {}) as Record<string, JsonSchema>;
  const inlined = inline(schema, definitions) as JsonSchema;
  return { ...(io === 'input' ? (withoutNull(inlined) as JsonSchema) : inlined), type: 'object' };
}

function inline(value: unknown, definitions: Record<string, JsonSchema>): unknown {
  if (!isObject(value)) return Array.isArray(value) ? value.map((each) => inline(each, definitions)) : value;
  const { $ref, $defs: _, ...rest } = value;
  const referred = typeof $ref === 'string' ? definitions[$ref.replace('#/$defs/', '')] : undefined;
  return Object.fromEntries(
    Object.entries({ ...referred, ...rest })
      // A property can be named `id`; its value is an object.
      .filter(([name, inner]) => !name.startsWith('x-') && !(name === 'id' && typeof inner === 'string'))
      .map(([name, inner]) => [name, inline(inner, definitions)]),
  );
}

function withoutNull(value: unknown): unknown {
  if (!isObject(value)) return Array.isArray(value) ? value.map(withoutNull) : value;
  const { anyOf, type, ...rest } = Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => !isObject(inner) || inner['deprecated'] !== true)
      .map(([name, inner]) => [name, withoutNull(inner)]),
  ) as JsonSchema;
  const types: unknown[] = Array.isArray(type) ? type.filter((each) => each !== 'null') : [];
  const kept = type === undefined ? {} : { type: types.length === 1 ? types[0] : type };
  if (!Array.isArray(anyOf)) return { ...rest, ...kept };
  const choices = (anyOf as JsonSchema[]).filter((choice) => choice['type'] !== 'null');
  const [only] = choices;
  return choices.length === 1 ? { ...only, ...rest, ...kept } : { ...rest, ...kept, anyOf: choices };
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
