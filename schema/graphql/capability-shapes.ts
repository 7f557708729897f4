import type { z } from 'zod';
import type { Fields } from '../../operations/capability/capability.ts';
import { findTypeName, readNotes } from '../../operations/capability/field-notes.ts';
import { findVocabulary } from '../../operations/capability/vocabulary.ts';
import { builder, enumValues } from './builder.ts';
import type { GraphContext } from './context.ts';
import { nodeTypes } from './nodes.ts';

/** Types of GraphQL from shapes of capabilities. */

/** What Pothos takes as type of a field: a scalar's name, or a reference to a type. */
type FieldType = Parameters<typeof builder.enumType>[0] | object;

export interface FieldShape {
  type: FieldType | [FieldType];
  isNullable: boolean;
  description: string;
}

type Kind = 'type' | 'input';

/** Types that are written by hand, or were made before, by their name in openapi.json. */
const namedTypes: Record<Kind, Map<string, object>> = { type: new Map(), input: new Map() };
const enumTypes = new Map<string, object>();
const readers = new Map<string, Read>();

/** Makes an object type of GraphQL usable for fields whose shape has this name (`id`) in openapi.json. */
export function addObjectType(name: string, type: object): void {
  namedTypes.type.set(name, type);
}

/** Makes an input type of GraphQL usable, in the same way. `read` returns what the shape accepts, and throws validation. */
export function addInputType(name: string, type: object, read: (value: never) => unknown): void {
  namedTypes.input.set(name, type);
  readers.set(name, read as Read);
}

/** Returns the type of a field. Names that end in `Id` are IDs. Throws for a shape that GraphQL has no type for. */
export function fieldShape(name: string, field: z.core.$ZodType, kind: Kind = 'type', isOfDomain = false): FieldShape {
  const shape = field as z.ZodType;
  const hasDefault = kind === 'input' && findDefault(field) !== undefined;
  return {
    type: typeOfShape(name, field, { kind, isOfDomain }),
    isNullable: !hasDefault && (shape.safeParse(null).success || shape.safeParse(undefined).success),
    description: shape.meta()?.description ?? '',
  };
}

/** Returns the default of a field in an input; undefined if there is none. */
function findDefault(field: z.core.$ZodType): unknown {
  const { def } = (field as z.core.$ZodTypes)._zod;
  return def.type === 'default' ? def.defaultValue : undefined;
}

const SCALARS: Partial<Record<z.core.$ZodTypeDef['type'], string>> = {
  boolean: 'Boolean',
  date: 'DateTime',
  record: 'JSON',
  unknown: 'JSON',
};

interface Place {
  kind: Kind;
  isOfDomain: boolean;
}

function typeOfShape(name: string, field: z.core.$ZodType, place: Place): FieldShape['type'] {
  const shape = field as z.ZodType;
  const { def } = (field as z.core.$ZodTypes)._zod;
  const vocabulary = findVocabulary(field);
  if (vocabulary !== undefined) return enumType(vocabulary);
  if (def.type === 'array') return [typeOfShape(name, def.element, place) as FieldType];
  if (def.type === 'pipe') {
    const { in: from, out } = def;
    return typeOfShape(name, from._zod.def.type === 'transform' ? out : from, place);
  }
  if ('innerType' in def) return typeOfShape(name, def.innerType, place);
  if (def.type === 'string') return /^id$|Id$/.test(name) ? 'ID' : 'String';
  if (def.type === 'number') return shape.safeParse(0.5).success || shape.safeParse(1.5).success ? 'Float' : 'Int';
  const type = SCALARS[def.type] ?? (def.type === 'object' ? objectType(shape as Fields, place) : undefined);
  if (type === undefined) throw new Error(`GraphQL has no type for the field ${name} (${def.type})`);
  return type;
}

function enumType({ name, description, values }: NonNullable<ReturnType<typeof findVocabulary>>): object {
  const known = enumTypes.get(name);
  if (known !== undefined) return known;
  const made = builder.enumType(name, { description, values: enumValues(values) });
  enumTypes.set(name, made);
  return made;
}

function objectType(shape: Fields, { kind, isOfDomain }: Place): object | undefined {
  const id = shape.meta()?.id;
  const written = id === undefined ? undefined : namedTypes[kind].get(id);
  if (written !== undefined) return written;
  const name = findTypeName(shape, kind);
  if (name === undefined) return undefined;
  const known = namedTypes[kind].get(name);
  if (known !== undefined) return known;
  return kind === 'type' ? makeObjectType(name, shape, isOfDomain) : makeInputType(name, shape);
}

function makeObjectType(name: string, shape: Fields, isOfDomain: boolean): object {
  const ref = builder.objectRef<Record<string, unknown>>(name);
  namedTypes.type.set(name, ref);
  ref.implement({
    description: shape.meta()?.description ?? '',
    isOfDomain,
    fields: (t) =>
      objectFields(t as never, shape, {
        isOfDomain,
        read: (row: Record<string, unknown>, field) => row[field],
      }) as never,
  });
  return ref;
}

function makeInputType(name: string, shape: Fields): object {
  const ref = builder.inputType(name, {
    description: shape.meta()?.description ?? '',
    fields: (t) => inputFields(t, shape),
  });
  namedTypes.input.set(name, ref);
  return ref;
}

type ObjectBuilder<Row> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Row>;
type Resolve<Row> = (row: Row, field: string, context: GraphContext) => unknown;

/** Returns the fields of an object. A field that links to a resource is the object, and is named without `Id`. */
export function objectFields<Row extends object>(
  t: ObjectBuilder<Row>,
  shape: Fields,
  { isOfDomain, read }: { isOfDomain: boolean; read: Resolve<Row> },
) {
  const made = Object.entries(shape.shape).flatMap(([field, inner]) => {
    const { only, graphqlName, linksTo, usualCount } = readNotes(inner);
    if (only === 'rest') return [];
    const described = fieldShape(linksTo === undefined ? (graphqlName ?? field) : field, inner, 'type', isOfDomain);
    const { isNullable: nullable, description } = described;
    const link = linksTo === undefined ? undefined : nodeTypes[linksTo];
    if (linksTo !== undefined && link === undefined) throw new Error(`${field} links to ${linksTo}, which is no node`);
    const isList = Array.isArray(described.type);
    const type = link === undefined ? described.type : isList ? [link] : link;
    const name = graphqlName ?? (linksTo === undefined ? field : field.replace(/Ids$/, 's').replace(/Id$/, ''));
    const extensions = secretOf(inner);
    const options = {
      type: type as 'JSON',
      nullable,
      description,
      ...(extensions === undefined ? {} : { extensions }),
      ...(usualCount === undefined ? {} : { complexity: { field: 1, multiplier: usualCount } }),
      resolve: (row: Row, _args: object, context: GraphContext) => (read(row, field, context) ?? null) as never,
    };
    return [[name, t.field(options as never)] as const];
  });
  return Object.fromEntries(made);
}

/** Returns the mark of a secret, as `extensions` of GraphQL. */
function secretOf(field: z.core.$ZodType): { secret: unknown } | undefined {
  const mark = (field as z.ZodType).meta()?.['x-secret'];
  return mark === undefined ? undefined : { secret: mark };
}

export type InputBuilder = Parameters<NonNullable<Parameters<typeof builder.inputType>[1]['fields']>>[0];

/** Returns the fields of an input, or the arguments of a query. */
export function inputFields(t: Pick<InputBuilder, 'field'>, shape: Fields) {
  const made = Object.entries(shape.shape).flatMap(([field, inner]) => {
    const { only, graphqlName = field } = readNotes(inner);
    if (only === 'rest') return [];
    const { type, isNullable, description } = fieldShape(graphqlName, inner, 'input');
    const extensions = secretOf(inner);
    const defaultValue = findDefault(inner);
    const options = {
      type: type as 'JSON',
      required: !isNullable,
      description,
      ...(extensions === undefined ? {} : { extensions }),
      ...(defaultValue === undefined ? {} : { defaultValue }),
    };
    return [[graphqlName, t.field(options as { type: 'JSON' })] as const];
  });
  return Object.fromEntries(made);
}

type Read = (value: unknown) => unknown;

/**
 * Returns the function that reads what was given for a shape, in the names of the capability. Null counts as omitted where the shape does not
 * take it.
 */
export function makeInputReader(shape: z.core.$ZodType): Read {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  const id = (shape as z.ZodType).meta()?.id;
  const written = def.type === 'object' && id !== undefined ? readers.get(id) : undefined;
  if (written !== undefined) return written;
  if (def.type === 'object') return makeFieldsReader(shape as Fields);
  if (def.type === 'array') {
    const read = makeInputReader(def.element);
    return (value) => (Array.isArray(value) ? value.map(read) : value);
  }
  if (def.type === 'pipe') return makeInputReader(def.in._zod.def.type === 'transform' ? def.out : def.in);
  if ('innerType' in def) {
    const read = makeInputReader(def.innerType);
    return (value) => (value == null ? value : read(value));
  }
  return (value) => value;
}

function makeFieldsReader(shape: Fields): Read {
  const fields = Object.entries(shape.shape).flatMap(([field, inner]) => {
    const { only, graphqlName = field } = readNotes(inner);
    if (only === 'rest') return [];
    return [{ field, graphqlName, read: makeInputReader(inner), takesNull: inner.safeParse(null).success }];
  });
  return (given) =>
    Object.fromEntries(
      fields.flatMap(({ field, graphqlName, read, takesNull }) => {
        const value = (given as Record<string, unknown>)[graphqlName];
        return value === undefined || (value === null && !takesNull) ? [] : [[field, read(value)]];
      }),
    );
}
