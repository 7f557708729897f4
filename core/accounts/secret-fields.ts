import { z } from 'zod';
import { looksSecret, type Redactions, redactByName, type SecretKind } from './redaction.ts';

/**
 * Marks a field of a REST body or of an MCP tool as a secret, as a part of its `meta`: the request log replaces its value. The OpenAPI document
 * shows the mark.
 */
export const secret = { 'x-secret': 'value' } as const satisfies { 'x-secret': SecretKind };
/** Marks a URL whose path or query is a secret. */
export const secretUrl = { 'x-secret': 'url' } as const satisfies { 'x-secret': SecretKind };

/** Marks fields of an object that has no schema. */
export function secretFields(fields: Readonly<Record<string, SecretKind>>) {
  return { 'x-secret-fields': fields } as const;
}

interface Mark {
  'x-secret'?: SecretKind;
  'x-secret-fields'?: Readonly<Record<string, SecretKind>>;
}

/** A shape without wrappers and unions. */
interface Reading {
  kind: SecretKind | null;
  fields: Readonly<Record<string, SecretKind>>;
  leaves: readonly z.core.$ZodType[];
}

const readings = new WeakMap<z.core.$ZodType, Reading>();

/**
 * Returns a JSON value without its secrets: the values of marked fields, and of fields that none of the shapes has. If several shapes are
 * possible, a mark in one of them counts.
 */
export function redactByShape(value: unknown, shapes: readonly z.core.$ZodType[], redactions: Redactions): unknown {
  const read = shapes.map(readShape);
  const marked = read.find(({ kind }) => kind !== null)?.kind;
  if (marked != null) return redactions.replace(value, marked);
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  const leaves = read.flatMap((each) => each.leaves);
  const isOpen = leaves.some(isUnknown);
  if (typeof value === 'string') return isOpen || leaves.some(mayBeText) ? value : redactions.replace(value, 'value');
  if (Array.isArray(value)) {
    const items = leaves.flatMap(itemShapes);
    if (items.length === 0) return isOpen ? redactByName(value, redactions) : redactions.replace(value, 'value');
    return value.map((each) => redactByShape(each, items, redactions));
  }
  const kinds = new Map(read.flatMap(({ fields }) => Object.entries(fields)));
  return Object.fromEntries(
    Object.entries(value as object).map(([name, each]) => {
      const kind = kinds.get(name);
      if (kind !== undefined) return [name, redactions.replace(each, kind)];
      const inner = leaves.flatMap((leaf) => fieldShapes(leaf, name));
      if (inner.length > 0)
        return [
          name,
          inner.some(isOpenField) && looksSecret(name) && typeof each !== 'boolean'
            ? redactions.replace(each, 'value')
            : redactByShape(each, inner, redactions),
        ];
      if (!isOpen || looksSecret(name)) return [name, redactions.replace(each, 'value')];
      return [name, redactByName(each, redactions)];
    }),
  );
}

/** A value that no schema describes is judged by its name. */
function isOpenField(shape: z.core.$ZodType): boolean {
  const { leaves } = readShape(shape);
  return leaves.length === 1 && leaves.every(isUnknown);
}

function readShape(shape: z.core.$ZodType): Reading {
  const known = readings.get(shape);
  if (known !== undefined) return known;
  const found = { kind: null as SecretKind | null, fields: {}, leaves: [] as z.core.$ZodType[] };
  const open = [shape];
  const seen = new Set<z.core.$ZodType>();
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (seen.has(each)) continue;
    seen.add(each);
    const mark = z.globalRegistry.get(each) as Mark | undefined;
    found.kind ??= mark?.['x-secret'] ?? null;
    found.fields = { ...found.fields, ...mark?.['x-secret-fields'] };
    const { def } = (each as z.core.$ZodTypes)._zod;
    if (def.type === 'union') open.push(...def.options);
    else if (def.type === 'intersection') open.push(def.left, def.right);
    else if (def.type === 'pipe') open.push(def.in, def.out);
    else if (def.type === 'lazy') open.push(def.getter());
    else if ('innerType' in def) open.push(def.innerType);
    else if (def.type !== 'transform') found.leaves.push(each);
  }
  readings.set(shape, found);
  return found;
}

function isUnknown(leaf: z.core.$ZodType): boolean {
  return /^(?:unknown|any|custom)$/.test((leaf as z.core.$ZodTypes)._zod.def.type);
}

function mayBeText(leaf: z.core.$ZodType): boolean {
  return !/^(?:object|array|tuple|record|map|set|boolean|null|undefined)$/.test(
    (leaf as z.core.$ZodTypes)._zod.def.type,
  );
}

function itemShapes(leaf: z.core.$ZodType): readonly z.core.$ZodType[] {
  const { def } = (leaf as z.core.$ZodTypes)._zod;
  if (def.type === 'array') return [def.element];
  return def.type === 'tuple' ? [...def.items, ...(def.rest === null ? [] : [def.rest])] : [];
}

function fieldShapes(leaf: z.core.$ZodType, name: string): readonly z.core.$ZodType[] {
  const { def } = (leaf as z.core.$ZodTypes)._zod;
  if (def.type === 'record') return [def.valueType];
  if (def.type !== 'object') return [];
  const own = Object.hasOwn(def.shape, name) ? def.shape[name] : undefined;
  if (own !== undefined) return [own];
  return def.catchall !== undefined && def.catchall._zod.def.type !== 'never' ? [def.catchall] : [];
}
