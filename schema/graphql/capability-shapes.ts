import type { InputRef, OutputRef } from '@pothos/core';
import type { z } from 'zod';
import { findInterfaces, findTypeName, findTypeText, isIdName, readNotes } from '../../core/shared/field-notes.ts';
import { findVocabulary, type Vocabulary } from '../../core/shared/vocabulary.ts';
import type { Fields } from '../../operations/capability/capability.ts';
import { builder, enumValues } from './builder.ts';
import type { GraphContext } from './context.ts';
import { loadNode } from './node-kinds.ts';
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

/** Types that are written by hand, or were made before, by their name in GraphQL. */
const namedTypes: Record<Kind, Map<string, object>> = { type: new Map(), input: new Map() };
const enumTypes = new Map<string, object>();
const readers = new Map<string, Read>();

/** Makes a type that is written by hand usable for fields whose shape has its name. */
export function addOutputType(name: string, type: object): void {
  namedTypes.type.set(name, type);
}

/** Returns a type that is written by hand. Throws if there is none with this name. */
export function findOutputType(name: string): object {
  const type = namedTypes.type.get(name);
  if (type === undefined) throw new Error(`There is no type ${name}`);
  return type;
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
    isNullable:
      readNotes(field).isNullableInGraphql ??
      (!hasDefault && (shape.safeParse(null).success || shape.safeParse(undefined).success)),
    description: describe(shape),
  };
}

/** Returns the description of a field or an object; empty if it has none. */
export function describe(shape: z.ZodType): string {
  return readNotes(shape).graphqlDescription ?? shape.meta()?.description ?? '';
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

interface ShapeOwner {
  kind: Kind;
  isOfDomain: boolean;
}

function typeOfShape(name: string, field: z.core.$ZodType, place: ShapeOwner): FieldShape['type'] {
  const shape = field as z.ZodType;
  const { def } = (field as z.core.$ZodTypes)._zod;
  const { graphqlType } = readNotes(field);
  if (graphqlType !== undefined) return graphqlType;
  const vocabulary = findVocabulary(field);
  if (vocabulary !== undefined) return enumType(vocabulary);
  const written = namedTypes[place.kind].get(findTypeName(field, place.kind) ?? '');
  if (written !== undefined) return written;
  if (def.type === 'array') return [typeOfShape(name, def.element, place) as FieldType];
  if (def.type === 'pipe') {
    const { in: from, out } = def;
    return typeOfShape(name, from._zod.def.type === 'transform' ? out : from, place);
  }
  if ('innerType' in def) return typeOfShape(name, def.innerType, place);
  if (def.type === 'string') return isIdName(name) ? 'ID' : 'String';
  if (def.type === 'number') return shape.safeParse(0.5).success || shape.safeParse(1.5).success ? 'Float' : 'Int';
  const type = SCALARS[def.type] ?? (def.type === 'object' ? objectType(shape as Fields, place) : undefined);
  if (type === undefined) throw new Error(`GraphQL has no type for the field ${name} (${def.type})`);
  return type;
}

function enumType({ name, description, values, names = {} }: Vocabulary): object {
  const known = enumTypes.get(name);
  if (known !== undefined) return known;
  const made = builder.enumType(name, { description, values: renamedValues(enumValues(values), names) });
  enumTypes.set(name, made);
  return made;
}

/** Gives values of an enum other names than their own. */
function renamedValues<Value>(
  values: Record<string, { value: string } & Value>,
  names: Readonly<Record<string, string>>,
) {
  return Object.fromEntries(Object.entries(values).map(([name, made]) => [names[made.value] ?? name, made]));
}

function objectType(shape: Fields, { kind, isOfDomain }: ShapeOwner): object | undefined {
  const name = findTypeName(shape, kind);
  if (name === undefined) return undefined;
  return kind === 'type' ? makeObjectType(name, shape, isOfDomain) : makeInputType(name, shape);
}

/** Returns the type of a shape, for types that are written by hand. */
export function typeFor<Shape extends z.ZodType>(
  shape: Shape,
  { isOfDomain = false } = {},
): OutputRef<z.output<Shape>> & InputRef<z.output<Shape>> {
  return typeOfShape('', shape, { kind: 'type', isOfDomain }) as never;
}

/** Returns the input type of a shape, for inputs that are written by hand. */
export function inputTypeFor<Shape extends z.ZodType>(shape: Shape): InputRef<z.output<Shape>> {
  return typeOfShape('', shape, { kind: 'input', isOfDomain: false }) as never;
}

function makeObjectType(name: string, shape: Fields, isOfDomain: boolean): object {
  const ref = builder.objectRef<Record<string, unknown>>(name);
  namedTypes.type.set(name, ref);
  ref.implement({
    description: findTypeText(shape) ?? describe(shape),
    isOfDomain,
    interfaces: findInterfaces(shape).map((each) => interfaceType(each as Fields, isOfDomain)) as never,
    fields: (t) => plainFields(t as never, shape, isOfDomain) as never,
  });
  return ref;
}

/** Returns the interface of GraphQL with the fields of a shape. */
function interfaceType(shape: Fields, isOfDomain: boolean): object {
  const name = findTypeName(shape, 'type') ?? '';
  const known = namedTypes.type.get(name);
  if (known !== undefined) return known;
  const ref = builder.interfaceRef<Record<string, unknown>>(name);
  namedTypes.type.set(name, ref);
  ref.implement({
    description: findTypeText(shape) ?? describe(shape),
    isOfDomain,
    fields: (t) => plainFields(t as never, shape, isOfDomain) as never,
  });
  return ref;
}

function plainFields(t: ObjectBuilder<Record<string, unknown>>, shape: Fields, isOfDomain: boolean) {
  return objectFields(t, shape, { isOfDomain, read: (row: Record<string, unknown>, field) => row[field] });
}

/** Returns the type of a payload with this name, which no other field has. */
export function makePayloadType(name: string, shape: Fields): object {
  return makeObjectType(name, shape, false);
}

function makeInputType(name: string, shape: Fields): object {
  const ref = builder.inputType(name, {
    description: findTypeText(shape) ?? describe(shape),
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
    const { only, graphqlName, linksTo, usualCount, cost } = readNotes(inner);
    if (only === 'rest') return [];
    const described = fieldShape(linksTo === undefined ? (graphqlName ?? field) : field, inner, 'type', isOfDomain);
    const { isNullable: nullable, description } = described;
    const link = linksTo === 'Node' ? builder.nodeInterfaceRef() : nodeTypes[linksTo ?? ''];
    if (linksTo !== undefined && link === undefined) throw new Error(`${field} links to ${linksTo}, which is no node`);
    const isList = Array.isArray(described.type);
    const type = link === undefined ? described.type : isList ? [link] : link;
    const name =
      graphqlName ?? (linksTo === undefined ? camelCase(field) : field.replace(/Ids$/, 's').replace(/Id$/, ''));
    const extensions = readSecret(inner);
    const options = {
      type: type as 'JSON',
      nullable,
      description,
      ...(extensions === undefined ? {} : { extensions }),
      ...(usualCount === undefined ? {} : { complexity: { field: 1, multiplier: usualCount } }),
      ...(cost === undefined ? {} : { complexity: cost }),
      resolve: (row: Row, _args: object, context: GraphContext) => {
        const found = read(row, field, context) ?? null;
        const value: unknown = typeof found === 'function' ? (found as () => unknown)() : found;
        return (linksTo === 'Node' && value !== null ? loadNode(value as string, context) : value) as never;
      },
    };
    return [[name, t.field(options as never)] as const];
  });
  return Object.fromEntries(made);
}

/** Shapes that are in the case of REST keep it there. */
function camelCase(field: string): string {
  return field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the mark of a secret, as `extensions` of GraphQL. */
function readSecret(field: z.core.$ZodType): { secret: unknown } | undefined {
  const mark = (field as z.ZodType).meta()?.['x-secret'];
  return mark === undefined ? undefined : { secret: mark };
}

export type InputBuilder = Parameters<NonNullable<Parameters<typeof builder.inputType>[1]['fields']>>[0];

/** Returns the fields of an input, or the arguments of a query. */
export function inputFields(t: Pick<InputBuilder, 'field'>, shape: Fields, { arguments: areArguments = false } = {}) {
  const made = Object.entries(shape.shape).flatMap(([field, inner]) => {
    const { only, graphqlName = camelCase(field), isArgument = false } = readNotes(inner);
    if (only === 'rest' || (isArgument && !areArguments)) return [];
    const { type, isNullable, description } = fieldShape(graphqlName, inner, 'input');
    const extensions = readSecret(inner);
    const defaultValue = findDefault(inner);
    const options = {
      type: type as 'JSON',
      required: !isNullable && !(areArguments && defaultValue !== undefined),
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
  const written = readers.get(findTypeName(shape, 'input') ?? '');
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
    const { only, graphqlName = camelCase(field) } = readNotes(inner);
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
