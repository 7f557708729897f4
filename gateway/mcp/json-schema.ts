import { z } from 'zod';
import { isRecord } from '../../core/shared/is-record.ts';

type JsonSchema = Record<string, unknown>;

/** Key of `meta`: the schema that is listed instead, such as the form of an argument that models should use. */
const LISTED_AS = 'x-listed-as';

/** Key of `meta`: null is a value of its own, and listed. */
const MEANS_NULL = 'x-means-null';

/** `meta` of an argument that is required and can be null. */
export const meansNull: JsonSchema = { [MEANS_NULL]: true };

/** Returns `meta` of an object whose fields are listed in words, or by another tool. Models read every schema with every conversation. */
export function listedInWords(description: string): JsonSchema {
  return { [LISTED_AS]: { type: 'object', description } };
}

/** `meta` of an object of any fields, or null. */
export const anyObjectOrNull: JsonSchema = { [LISTED_AS]: { anyOf: [{ type: 'object' }, { type: 'null' }] } };

/** Returns `meta` of a value that may have several forms, of which models need one. */
export function listedAs(schema: JsonSchema): JsonSchema {
  return { [LISTED_AS]: schema };
}

/**
 * Returns the JSON Schema of a tool's arguments or result, short, because models read it: it has no references, which some clients do not
 * follow, no extensions of the OpenAPI document, and nothing that only a validator needs, such as patterns. The arguments are checked by
 * their shape. For arguments it leaves out deprecated names, and null unless it means something of its own.
 * Strict validators and clients that know one type per value take it without a warning: it names no formats, and null is a choice of its own.
 */
export function makeJsonSchema(shape: z.ZodType, io: 'input' | 'output'): JsonSchema & { type: 'object' } {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: 'any' }) as JsonSchema;
  const definitions = (schema['$defs'] ?? {}) as Record<string, JsonSchema>;
  const inlined = inline(schema, definitions) as JsonSchema;
  const short = io === 'input' ? shortInput(inlined) : shortOutput(inlined);
  return { ...(short as JsonSchema), type: 'object' };
}

function inline(value: unknown, definitions: Record<string, JsonSchema>): unknown {
  if (!isRecord(value)) return Array.isArray(value) ? value.map((each) => inline(each, definitions)) : value;
  const { $ref, $defs: _, ...rest } = value;
  const referred = typeof $ref === 'string' ? definitions[$ref.replace('#/$defs/', '')] : undefined;
  return Object.fromEntries(
    Object.entries({ ...referred, ...rest })
      // A property can be named `id`; its value is an object.
      .filter(
        ([name, inner]) => name === LISTED_AS || name === MEANS_NULL || !(name.startsWith('x-') || isName(name, inner)),
      )
      .map(([name, inner]) => [name, inline(inner, definitions)]),
  );
}

function isName(name: string, value: unknown): boolean {
  return name === 'id' && typeof value === 'string';
}

/** What only validators need, and descriptions without words. Limits that are those of JavaScript's numbers, or 0 or 1, say nothing. */
function isForValidators(name: string, value: unknown): boolean {
  return (
    (/^(?:pattern|format|propertyNames|examples|m(?:in|ax)Length)$/.test(name) && !isProperty(name, value)) ||
    (name === 'description' && value === '') ||
    (name === 'minimum' && (value === 0 || value === 1)) ||
    (/^m(?:in|ax)imum$/.test(name) && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) ||
    (name === 'additionalProperties' && (value === false || (isRecord(value) && Object.keys(value).length === 0)))
  );
}

/** A property can have the name of a keyword; its value is a schema with a type. */
function isProperty(name: string, value: unknown): boolean {
  return name !== 'propertyNames' && isRecord(value);
}

function shortInput(value: unknown): unknown {
  if (!isRecord(value)) return Array.isArray(value) ? value.map(shortInput) : value;
  if (LISTED_AS in value) return value[LISTED_AS];
  const {
    anyOf,
    type,
    [MEANS_NULL]: isNullListed,
    ...rest
  } = Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => !isForValidators(name, inner) && !(isRecord(inner) && inner['deprecated'] === true))
      .map(([name, inner]) => [name, shortInput(inner)]),
  ) as JsonSchema;
  if (isNullListed === true)
    return { ...rest, anyOf: Array.isArray(type) ? type.map((each: unknown) => ({ type: each })) : anyOf };
  const types: unknown[] = Array.isArray(type) ? type.filter((each) => each !== 'null') : [];
  const kept = type === undefined ? {} : { type: types.length === 1 ? types[0] : type };
  if (!Array.isArray(anyOf)) return { ...kept, ...rest };
  const choices = (anyOf as JsonSchema[]).filter((choice) => choice['type'] !== 'null');
  const [only] = choices;
  return choices.length === 1 ? { ...only, ...rest, ...kept } : { ...rest, ...kept, anyOf: choices };
}

function shortOutput(value: unknown): unknown {
  if (!isRecord(value)) return Array.isArray(value) ? value.map(shortOutput) : value;
  if (LISTED_AS in value) return value[LISTED_AS];
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(value)
      // Results have every field of their schema.
      .filter(([name, inner]) => !isForValidators(name, inner) && !(name === 'required' && Array.isArray(inner)))
      .map(([name, inner]) => [name, shortOutput(inner)]),
  ) as JsonSchema;
  const { type, description, ...fields } = rest;
  if (Array.isArray(type)) {
    const choices = (type as unknown[]).map((each) => (each === 'null' ? { type: each } : { type: each, ...fields }));
    return { ...(description === undefined ? {} : { description }), anyOf: choices };
  }
  return Array.isArray(anyOf) ? { ...rest, anyOf } : rest;
}
