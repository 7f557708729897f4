import { z } from 'zod';
import { type InRest, readNotes, readRestShape } from '../../core/shared/field-notes.ts';
import { snakeCase } from '../../core/shared/word-case.ts';
import type { Fields } from '../../operations/capability/capability.ts';
import { instant, queryBoolean } from './shapes.ts';

/**
 * Shapes of REST from shapes of capabilities: names of fields in their case, times as text in ISO 8601. Shapes are converted when routes are
 * made; a request runs functions that were made then.
 */

export type RestCase = 'snake' | 'camel';

/** Returns a field as REST has it, by its name and shape in the capability; null if REST does not have it. */
function wireName(field: string, shape: z.core.$ZodType, restCase: RestCase): string | null {
  const { only, restName } = readNotes(shape);
  if (only === 'graphql') return null;
  return restName ?? (restCase === 'camel' ? field : snakeCase(field));
}

/** Returns the shape of a response. */
export function wireOutput(shape: Fields, restCase: RestCase): Fields {
  return wired(shape, { restCase, time: instant, known: knownOutputs[restCase] }) as Fields;
}

type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

type SnakeCased<Shape> = { [Name in keyof Shape as SnakeCase<Name>]: Wired<Shape[Name]> };

type ObjectOf<Shape> = z.ZodObject<Extract<SnakeCased<Shape>, z.core.$ZodShape>>;

/** The shape that REST has of a field in snake_case. */
type Wired<Shape> =
  Shape extends InRest<infer Rest>
    ? Rest
    : Shape extends z.ZodDate
      ? z.ZodString
      : Shape extends z.ZodNullable<infer Inner>
        ? z.ZodNullable<Extract<Wired<Inner>, z.core.SomeType>>
        : Shape extends z.ZodOptional<infer Inner>
          ? z.ZodOptional<Extract<Wired<Inner>, z.core.SomeType>>
          : Shape extends z.ZodArray<infer Item>
            ? z.ZodArray<Extract<Wired<Item>, z.core.SomeType>>
            : Shape extends z.ZodObject<infer Inner>
              ? ObjectOf<Inner>
              : Shape;

/** What REST is given of a field, before it is written. */
type Given<Shape> =
  Shape extends InRest<infer Rest>
    ? z.output<Rest>
    : Shape extends z.ZodNullable<infer Inner>
      ? Given<Inner> | null
      : Shape extends z.ZodArray<infer Item>
        ? readonly Given<Item>[]
        : Shape extends z.ZodObject<infer Inner>
          ? { readonly [Name in keyof Inner]: Given<Inner[Name]> }
          : z.output<Shape>;

/**
 * Returns a response of REST in snake_case with its type, and the function that writes it. For shapes whose names are the same in REST apart
 * from their case.
 */
export function snakeOutput<Shape extends z.core.$ZodShape>(shape: z.ZodObject<Shape>) {
  return {
    body: wireOutput(shape as never, 'snake') as unknown as ObjectOf<Shape>,
    write: makeWriter(shape, 'snake') as (given: Given<z.ZodObject<Shape>>) => z.output<ObjectOf<Shape>>,
  };
}

/** Returns the shape of a request; `makeReader` reads what it accepts. */
export function wireInput(shape: Fields, restCase: RestCase): Fields {
  return wired(shape, requests(restCase)) as Fields;
}

/** Returns the shape of a query, whose values are texts. */
export function wireQuery(shape: Fields, restCase: RestCase): Fields {
  return wired(shape, { ...requests(restCase), known: new WeakMap(), isQuery: true }) as Fields;
}

function requests(restCase: RestCase): Conversion {
  return { restCase, time: z.iso.datetime({ offset: true }), known: knownInputs[restCase] };
}

interface Conversion {
  restCase: RestCase;
  time: z.ZodType;
  /** a query has only texts */
  isQuery?: true;
  /** what was converted before: a named shape is one component */
  known: WeakMap<z.core.$ZodType, z.ZodType>;
}

const makeKnown = (): Conversion['known'] => new WeakMap();
const knownOutputs = { snake: makeKnown(), camel: makeKnown() };
const knownInputs = { snake: makeKnown(), camel: makeKnown() };

/** Returns a shape as REST has it: the same one if nothing differs. Keeps descriptions and names. */
function wired(shape: z.core.$ZodType, conversion: Conversion): z.ZodType {
  const { known } = conversion;
  const restShape = readRestShape(shape);
  if (restShape !== undefined) return restShape;
  const before = known.get(shape);
  if (before !== undefined) return before;
  const converted = convert(shape as z.core.$ZodTypes, conversion);
  const made =
    converted === shape ? converted : converted.meta({ ...converted.meta(), ...(shape as z.ZodType).meta() });
  known.set(shape, made);
  return made;
}

function convert(shape: z.core.$ZodTypes, conversion: Conversion): z.ZodType {
  const { def } = shape._zod;
  const same = shape as unknown as z.ZodType;
  if (def.type === 'date') return conversion.time;
  if (conversion.isQuery === true && def.type === 'boolean') return queryBoolean;
  if (conversion.isQuery === true && def.type === 'number') return rebuilt(same, { coerce: true });
  if (def.type === 'object') return convertObject(same as Fields, conversion);
  if (def.type === 'array') {
    const element = wired(def.element, conversion);
    return element === def.element ? same : rebuilt(same, { element });
  }
  if ('innerType' in def) {
    const innerType = wired(def.innerType, conversion);
    return innerType === def.innerType ? same : rebuilt(same, { innerType });
  }
  return same;
}

function convertObject(shape: Fields, conversion: Conversion): Fields {
  const fields = Object.entries(shape.shape);
  const converted = fields.flatMap(([field, inner]) => {
    const name = wireName(field, inner, conversion.restCase);
    if (name === null) return [];
    return [
      [
        name,
        readNotes(inner).isOmittedIfNull === true ? optional(inner, conversion) : wired(inner, conversion),
      ] as const,
    ];
  });
  const isSame =
    converted.length === fields.length &&
    converted.every(([name, inner], at) => {
      const [field, shaped] = fields[at] ?? [];
      return name === field && inner === shaped;
    });
  return isSame ? shape : (rebuilt(shape, { shape: Object.fromEntries(converted) }) as Fields);
}

/** Returns a shape that takes null as one that may be omitted instead. */
function optional(shape: z.ZodType, conversion: Conversion): z.ZodType {
  const { innerType } = (shape as z.ZodNullable<z.ZodType>)._zod.def;
  return wired(innerType, conversion)
    .optional()
    .meta({ ...shape.meta() });
}

/** Returns a copy of a shape, with its checks, that differs in these parts. */
function rebuilt(shape: z.ZodType, parts: object): z.ZodType {
  return shape.clone({ ...shape._zod.def, ...parts } as typeof shape._zod.def);
}

type Write = (value: unknown) => unknown;

/** Returns the function that writes a value of a shape as REST has it; null if REST has it as it is. */
export function makeWriter(shape: z.core.$ZodType, restCase: RestCase): Write | null {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (readRestShape(shape) !== undefined) return null;
  if (def.type === 'literal') return () => def.values[0];
  if (def.type === 'date') return (value) => (value instanceof Date ? value.toISOString() : value);
  if (def.type === 'object') return makeObjectWriter(shape as Fields, restCase);
  if (def.type === 'array') {
    const write = makeWriter(def.element, restCase);
    return write === null ? null : (value) => (value as unknown[]).map(write);
  }
  if ('innerType' in def) {
    const write = makeWriter(def.innerType, restCase);
    return write === null ? null : (value) => (value == null ? value : write(value));
  }
  return null;
}

function makeObjectWriter(shape: Fields, restCase: RestCase): Write {
  const fields = Object.entries(shape.shape).flatMap(([field, inner]) => {
    const name = wireName(field, inner, restCase);
    const isOmitted = readNotes(inner).isOmittedIfNull === true;
    const isLiteral = (inner as unknown as z.core.$ZodTypes)._zod.def.type === 'literal';
    return name === null ? [] : [{ field, name, isOmitted, isLiteral, write: makeWriter(inner, restCase) }];
  });
  return (value) => {
    const body: Record<string, unknown> = {};
    for (const { field, name, isOmitted, isLiteral, write } of fields) {
      const inner = (value as Record<string, unknown>)[field];
      if ((inner !== undefined || isLiteral) && !(isOmitted && inner === null))
        body[name] = write === null ? inner : write(inner);
    }
    return body;
  };
}

/** Returns the function that reads a checked request in the names and types of the capability. Omitted fields stay omitted. */
export function makeReader(shape: z.core.$ZodType, restCase: RestCase): Write {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (readRestShape(shape) !== undefined) return (value) => value;
  if (def.type === 'date') return (value) => (typeof value === 'string' ? new Date(value) : value);
  if (def.type === 'array') {
    const read = makeReader(def.element, restCase);
    return (value) => (Array.isArray(value) ? value.map(read) : value);
  }
  if (def.type === 'object') {
    const fields = Object.entries((shape as Fields).shape).flatMap(([field, inner]) => {
      const name = wireName(field, inner, restCase);
      return name === null ? [] : [{ field, name, read: makeReader(inner, restCase) }];
    });
    return (value) =>
      Object.fromEntries(
        fields.flatMap(({ field, name, read }) => {
          const given = (value as Record<string, unknown> | null | undefined)?.[name];
          return given === undefined ? [] : [[field, read(given)]];
        }),
      );
  }
  if ('innerType' in def) {
    const read = makeReader(def.innerType, restCase);
    return (value) => (value == null ? value : read(value));
  }
  return (value) => value;
}
