import { z } from 'zod';
import { readNotes } from '../../core/shared/field-notes.ts';
import { snakeCase } from '../../core/shared/word-case.ts';
import type { Capability, Fields, Resource, ResourceRow } from '../../operations/capability/capability.ts';
import type { OperationContext } from '../../operations/context.ts';
import { makeWriter, wireOutput } from './capability-shapes.ts';

/** Resources of capabilities as objects of REST. */

type Body = Record<string, unknown>;

/** Fields that an object has beside its own, or in another form. */
export interface MoreFields<Row> {
  shape: Record<string, z.ZodType>;
  valuesOf: (row: Row, made: Body) => Body;
}

/** A resource as REST has it. */
export interface WireObject {
  shape: Fields;
  /** returns an object without the fields that cost a read */
  writeRow: (context: OperationContext, row: ResourceRow) => Body;
  /** returns objects with the fields of lists */
  writeSeveral: (context: OperationContext, rows: readonly ResourceRow[]) => Promise<Body[]>;
  /** returns one object with all fields */
  writeOne: (context: OperationContext, row: ResourceRow) => Promise<Body>;
}

const NOTHING_MORE = { shape: {}, valuesOf: () => ({}) };

const plainObjects = new Map<string, WireObject>();

/** Returns a resource as REST has it without differences. There is one of each, as it is a component of openapi.json. */
export function plainWireObject(resource: Resource, restCase: Capability['restCase']): WireObject {
  const made = plainObjects.get(resource.name) ?? wireObject(resource, restCase);
  plainObjects.set(resource.name, made);
  return made;
}

/** Returns a resource as REST has it. `isComponent`: it is a component of openapi.json, which tools of MCP are not. */
export function wireObject(
  resource: Resource,
  restCase: Capability['restCase'],
  { more = NOTHING_MORE, isComponent = true }: { more?: MoreFields<never>; isComponent?: boolean } = {},
): WireObject {
  const { object: own, ...ownShape } = wireOutput(resource.shape, restCase).shape;
  const literal = own ?? (restCase === 'camel' ? undefined : z.literal(objectName(resource)));
  const identity = literal === undefined ? {} : { object: literal };
  const shape = z
    .object({ ...identity, id: z.string(), ...ownShape, ...more.shape })
    .meta(isComponent ? { id: resource.name } : {});
  const { readField } = resource;
  const isInRest = ([name]: [string, unknown]) => readNotes(resource.shape.shape[name] as z.ZodType).only !== 'graphql';
  const loaded = Object.fromEntries(Object.entries(resource.loaded ?? {}).filter(isInRest));
  const fields = Object.entries(resource.shape.shape).filter((field) => isInRest(field));
  const names = fields.map(([name]) => name).filter((name) => !Object.hasOwn(loaded, name));
  const write = makeWriter(resource.shape, restCase) ?? ((value: unknown) => value);
  const object = restCase === 'camel' ? {} : { object: objectName(resource) };
  const writeRow = (context: OperationContext, row: ResourceRow, read: Body) => {
    const values = { ...Object.fromEntries(names.map((name) => [name, readField(row, name, context)])), ...read };
    const made = { ...object, id: row.id, ...(write(values) as Body) };
    return { ...made, ...more.valuesOf(row as never, made) };
  };
  const writeRows = async (context: OperationContext, rows: readonly ResourceRow[], wanted: typeof loaded) => {
    const read: Body[] = rows.map(() => ({}));
    const known = new Map<unknown, readonly unknown[]>();
    for (const [name, { load, of }] of Object.entries(wanted)) {
      const isRead = rows.every((row) => Object.hasOwn(row, name));
      const values = isRead ? rows : (known.get(load) ?? (await load(context, rows)));
      if (!isRead) known.set(load, values);
      const part = isRead ? name : of;
      for (const [at, value] of values.entries()) {
        const field = part === undefined ? value : (value as Body | null)?.[part];
        Object.assign(read[at] ?? {}, { [name]: field ?? null });
      }
    }
    return rows.map((row, at) => writeRow(context, row, read[at] ?? {}));
  };
  const inLists = Object.fromEntries(Object.entries(loaded).filter(([, { isInLists }]) => isInLists));
  return {
    shape,
    writeRow: (context, row) => writeRow(context, row, {}),
    writeSeveral: (context, rows) => writeRows(context, rows, inLists),
    writeOne: async (context, row) => {
      const [made = {}] = await writeRows(context, [row], loaded);
      return made;
    },
  };
}

/** Returns the `object` of an object, such as `reply_address`. */
export function objectName({ name, objectName: given }: Resource): string {
  return given ?? snakeCase(`${name.slice(0, 1).toLowerCase()}${name.slice(1)}`);
}
