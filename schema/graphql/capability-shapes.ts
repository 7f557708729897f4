import type { z } from 'zod';
import { findVocabulary } from '../../operations/capability/vocabulary.ts';
import { builder, enumValues } from './builder.ts';

/** Types of GraphQL from shapes of capabilities. */

/** What Pothos takes as type of a field: a scalar's name, or a reference to a type. */
type FieldType = Parameters<typeof builder.enumType>[0] | object;

export interface FieldShape {
  type: FieldType | [FieldType];
  isNullable: boolean;
  description: string;
}

const objectTypes = new Map<string, object>();
const enumTypes = new Map<string, object>();

/** Makes an object type of GraphQL usable for fields whose shape has this name (`id`) in openapi.json. */
export function addObjectType(name: string, type: object): void {
  objectTypes.set(name, type);
}

/** Returns the type of a field. Names that end in `Id` are IDs. Throws for a shape that GraphQL has no type for. */
export function fieldShape(name: string, field: z.core.$ZodType): FieldShape {
  const shape = field as z.ZodType;
  return {
    type: typeOfShape(name, field),
    isNullable: shape.safeParse(null).success || shape.safeParse(undefined).success,
    description: shape.meta()?.description ?? '',
  };
}

const SCALARS: Partial<Record<z.core.$ZodTypeDef['type'], string>> = {
  boolean: 'Boolean',
  date: 'DateTime',
  record: 'JSON',
  unknown: 'JSON',
};

function typeOfShape(name: string, field: z.core.$ZodType): FieldShape['type'] {
  const shape = field as z.ZodType;
  const { def } = (field as z.core.$ZodTypes)._zod;
  if (def.type === 'nullable' || def.type === 'optional') return typeOfShape(name, def.innerType);
  if (def.type === 'array') return [typeOfShape(name, def.element) as FieldType];
  if (def.type === 'string') return /^id$|Id$/.test(name) ? 'ID' : 'String';
  if (def.type === 'number') return shape.safeParse(0.5).success ? 'Float' : 'Int';
  const vocabulary = findVocabulary(field);
  const type =
    SCALARS[def.type] ?? (vocabulary === undefined ? objectTypes.get(shape.meta()?.id ?? '') : enumType(vocabulary));
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
