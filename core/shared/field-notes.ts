import { z } from 'zod';

/** How the interfaces differ in one field of a shape. Without notes, REST and GraphQL have the field under its own name. */
interface FieldNotes {
  /** the interface that has the field */
  only?: 'rest' | 'graphql';
  /** its name in REST, in the case of REST */
  restName?: string;
  graphqlName?: string;
  /** its description in GraphQL, where names of REST do not fit */
  graphqlDescription?: string;
  /** returns the shape that REST has instead of the converted one; of type unknown, because types of zod in a registry do not end */
  restShape?: () => unknown;
  /** the resource whose ID the value is: GraphQL returns the object */
  linksTo?: string;
  /** the scalar in GraphQL, where the shape does not say it: an integer of more than 32 bits, or an ID with another name */
  graphqlType?: 'Float' | 'ID' | 'Int' | 'String' | 'JSON' | 'URL' | 'AddrSpec';
  /** of a filter: an argument beside `filter` in GraphQL */
  isArgument?: boolean;
  /** REST omits the field if it is null */
  isOmittedIfNull?: boolean;
  /** whether it can be null in GraphQL, where the shape does not say it */
  isNullableInGraphql?: boolean;
  /** values that a list usually has, for the cost limit of GraphQL */
  usualCount?: number;
  /** cost of the field in GraphQL, if it is not that of one */
  cost?: number;
}

const notes = z.registry<FieldNotes>();

/** Returns the notes of a field; descriptions that were added later keep them. */
export function readNotes(field: z.core.$ZodType): FieldNotes {
  return notes.get(field) ?? {};
}

/** Returns the shape that REST has of a field, if it is not the converted one. */
export function readRestShape(field: z.core.$ZodType): z.ZodType | undefined {
  return readNotes(field).restShape?.() as z.ZodType | undefined;
}

/** Returns the shape of a field that REST alone has. */
export function restOnly<Shape extends z.ZodType>(shape: Shape, restName?: string): Shape {
  return annotate(shape, { only: 'rest', ...(restName === undefined ? {} : { restName }) });
}

/** Returns the shape of a field that GraphQL alone has. */
export function graphqlOnly<Shape extends z.ZodType>(shape: Shape, graphqlName?: string): Shape {
  return annotate(shape, { only: 'graphql', ...(graphqlName === undefined ? {} : { graphqlName }) });
}

/** Returns the shape of a field with other names, or another scalar in GraphQL. */
export function named<Shape extends z.ZodType>(
  shape: Shape,
  names: Pick<FieldNotes, 'restName' | 'graphqlName' | 'graphqlType'>,
): Shape {
  return annotate(shape, names);
}

/** Returns the shape of a field or an object that GraphQL describes in other words, such as with names of its own fields. */
export function graphqlText<Shape extends z.ZodType>(shape: Shape, graphqlDescription: string): Shape {
  return annotate(shape, { graphqlDescription });
}

declare const restForm: unique symbol;

/** The shape that REST has of a field, for the compiler alone. */
export interface InRest<Rest extends z.ZodType> {
  readonly [restForm]: Rest;
}

/** Returns the shape of a field that REST checks in its own way: with limits that GraphQL leaves to the operation, or in more forms. */
export function inRest<Shape extends z.ZodType, Rest extends z.ZodType>(
  shape: Shape,
  restShape: Rest,
): Shape & InRest<Rest> {
  return annotate(shape, { restShape: () => restShape }) as Shape & InRest<Rest>;
}

/**
 * Returns the shape of an ID of another resource. GraphQL returns the object, in a field that is named like this one without `Id`, or like
 * `graphqlName`. It is nullable where the object may no longer exist.
 */
export function linkTo<Shape extends z.ZodType>(resource: string, shape: Shape, graphqlName?: string): Shape {
  return annotate(shape, { linksTo: resource, ...(graphqlName === undefined ? {} : { graphqlName }) });
}

/** Returns the shape of a link that GraphQL returns as null if the object is gone. */
export function maybeGone<Shape extends z.ZodType>(shape: Shape): Shape {
  return annotate(shape, { isNullableInGraphql: true });
}

/** Returns the shape of an input with a default that null means in GraphQL. */
export function defaultIfNull<Shape extends z.ZodType>(shape: Shape): Shape {
  return annotate(shape, { isNullableInGraphql: true });
}

/** Returns the shape of a value that GraphQL requires, although the shape takes null. */
export function required<Shape extends z.ZodType>(shape: Shape): Shape {
  return annotate(shape, { isNullableInGraphql: false });
}

/**
 * Returns the shape of a field of REST that always has the same value, such as `object`. Routes fill it in, so that functions need not return
 * it: that is why its type is optional.
 */
export function restLiteral<Value extends string | true>(value: Value): z.ZodOptional<z.ZodLiteral<Value>> {
  return restOnly(z.literal(value)) as unknown as z.ZodOptional<z.ZodLiteral<Value>>;
}

/** Returns the shape of a list that usually has this many values. */
export function usually<Shape extends z.ZodType>(usualCount: number, shape: Shape): Shape {
  return annotate(shape, { usualCount });
}

/** Returns the shape of a field that costs as much as several in GraphQL. */
export function costing<Shape extends z.ZodType>(cost: number, shape: Shape): Shape {
  return annotate(shape, { cost });
}

/** Returns the shape of a filter that is an argument of its own in GraphQL. */
export function asArgument<Shape extends z.ZodType>(shape: Shape): Shape {
  return annotate(shape, { isArgument: true });
}

/** Returns the shape of a field that REST omits if it is null. */
export function omittedIfNull<Inner extends z.ZodType>(shape: z.ZodNullable<Inner>): z.ZodNullable<Inner> {
  return annotate(shape, { isOmittedIfNull: true });
}

function annotate<Shape extends z.ZodType>(shape: Shape, more: FieldNotes): Shape {
  const meta = shape.meta();
  // A clone keeps its description, but not its name in openapi.json. A named copy has no parent: zod refuses a document with two shapes of one name.
  const copy = meta?.id === undefined ? shape.clone() : shape.clone(shape.def as never);
  if (meta?.id !== undefined) z.globalRegistry.add(copy, meta);
  notes.add(copy, { ...readNotes(shape), ...more });
  return copy;
}

/** Names of a shape in GraphQL, where they differ from that of the component in openapi.json. */
const typeNames = z.registry<{
  type?: string;
  input?: string;
  interfaces?: readonly unknown[];
  /** that of the type, whatever description a field has that it is the type of */
  graphqlDescription?: string;
}>();

interface TypeNames {
  id?: string;
  type?: string;
  input?: string;
  description?: string;
  /** named shapes, all of whose fields the object has: interfaces of GraphQL */
  interfaces?: readonly unknown[];
}

/** Names an object of a capability: `id` in openapi.json, the others in GraphQL. */
export function nameType<Shape extends z.ZodType>(shape: Shape, { id, description, ...graphql }: TypeNames): Shape {
  const copy = shape.meta({
    ...(id === undefined ? {} : { id }),
    ...(description === undefined ? {} : { description }),
  }) as Shape;
  const { graphqlDescription } = readNotes(shape);
  typeNames.add(copy, { ...graphql, ...(graphqlDescription === undefined ? {} : { graphqlDescription }) });
  return copy;
}

/** Returns the interfaces of GraphQL that an object implements. */
export function findInterfaces(shape: z.core.$ZodType): readonly z.ZodObject[] {
  return (typeNames.get(shape)?.interfaces ?? []) as readonly z.ZodObject[];
}

/** Returns the name of an object in GraphQL; undefined if it has none. */
export function findTypeName(shape: z.core.$ZodType, kind: 'type' | 'input'): string | undefined {
  return typeNames.get(shape)?.[kind] ?? findId(shape);
}

/** Returns the description of an object in GraphQL, if it differs from that in REST; undefined if not. */
export function findTypeText(shape: z.core.$ZodType): string | undefined {
  return typeNames.get(shape)?.graphqlDescription;
}

/** Returns the name that an object has in GraphQL alone; undefined if it has none. */
export function findOwnTypeName(shape: z.core.$ZodType): string | undefined {
  return typeNames.get(shape)?.type;
}

/** Returns the name of a shape in openapi.json, also of a copy with another description; undefined if it has none. */
function findId(shape: z.core.$ZodType): string | undefined {
  const { parent } = shape._zod;
  return (shape as z.ZodType).meta()?.id ?? (parent === undefined ? undefined : findId(parent));
}

/** Whether a field or an argument with this name is an ID. */
export function isIdName(name: string): boolean {
  return /^id$|Id$/.test(name);
}
