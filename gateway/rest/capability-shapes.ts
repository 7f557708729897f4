import { z } from 'zod';
import type { Fields } from '../../operations/capability/capability.ts';
import { instant } from './shapes.ts';

/**
 * Shapes of REST from shapes of capabilities: names of fields in snake_case, times as text in ISO 8601.
 */

/** Returns the name of a field in REST. */
export function wireName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the fields of a response. */
export function wireFields(shape: Fields): Record<string, z.ZodType> {
  return renamed(shape, (field) => wired(field, instant));
}

/** Returns the fields of a request; `parseWire` reads what they accept. */
export function wireInputs(shape: Fields): Record<string, z.ZodType> {
  return renamed(shape, (field) => wired(field, z.iso.datetime({ offset: true })));
}

/** Returns values of fields as REST has them. */
export function wireValues(values: readonly (readonly [field: string, value: unknown])[]): Record<string, unknown> {
  return Object.fromEntries(
    values.map(([field, value]) => [wireName(field), value instanceof Date ? value.toISOString() : value]),
  );
}

/** Returns a checked request in the names and types of the capability. Omitted fields stay omitted. */
export function fromWire(shape: Fields, body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shape.shape).flatMap(([name, field]) => {
      const value = body[wireName(name)];
      if (value === undefined) return [];
      return [[name, typeof value === 'string' && isTime(field) ? new Date(value) : value]];
    }),
  );
}

function renamed(shape: Fields, convert: (field: z.core.$ZodType) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(shape.shape).map(([name, field]) => [wireName(name), convert(field)]));
}

/** Replaces a time by its text, keeping null, omission and the description. Returns other shapes as they are. */
function wired(field: z.core.$ZodType, time: z.ZodType): z.ZodType {
  const shape = field as z.ZodType;
  if (!isTime(field)) return shape;
  const { def } = (field as z.core.$ZodTypes)._zod;
  const plain =
    def.type === 'nullable'
      ? wired(def.innerType, time).nullable()
      : def.type === 'optional'
        ? wired(def.innerType, time).optional()
        : time;
  return plain.meta({ ...plain.meta(), ...shape.meta() });
}

function isTime(field: z.core.$ZodType): boolean {
  const { def } = (field as z.core.$ZodTypes)._zod;
  if (def.type === 'nullable' || def.type === 'optional') return isTime(def.innerType);
  return def.type === 'date';
}
