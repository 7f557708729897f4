import {
  findTarget,
  matchesValue,
  parseValueFilter,
  resolveTarget,
  type ScimFilter,
  type ScimTarget,
} from './filter.ts';
import { isObject, type ScimDocument, ScimError, type ScimType } from './schema.ts';

/** Operations of one PATCH. @limit */
export const MAX_PATCH_OPERATIONS = 500;
/** Values that all operations of one PATCH compare with a condition, or with what they add: half a second at most. @limit */
export const MAX_PATCH_COMPARISONS = 1_000_000;

interface Operation {
  op: 'add' | 'replace' | 'remove';
  path: string | null;
  value: unknown;
}

/** Where an operation acts: an attribute, the values of it that match a filter, and a sub-attribute of them. */
interface PatchTarget extends ScimTarget {
  filter: ScimFilter | null;
}

type Draft = Record<string, unknown>;

/**
 * Returns what the operations of a PATCH (RFC 7644 §3.5.2) make of a document, which readScimDocument must still check. Throws ScimError.
 */
export function patchScimDocument(type: ScimType, document: ScimDocument, body: unknown): unknown {
  const draft = structuredClone(document) as Draft;
  const work = { comparisons: 0 };
  for (const operation of readOperations(body)) applyOperation(type, draft, { ...operation, work });
  return draft;
}

/** What the operations of one PATCH have done so far. */
interface Work {
  comparisons: number;
}

/** Counts the comparisons of an operation with the values of an attribute, which it must not have too many of. */
function countWork(type: ScimType, work: Work, held: readonly unknown[], filter: ScimFilter | null): void {
  if (held.length > type.maxValues)
    throw new ScimError(400, 'tooMany', `An attribute has at most ${type.maxValues} values.`);
  work.comparisons += held.length * (filter === null ? 1 : countComparisons(filter));
  if (work.comparisons > MAX_PATCH_COMPARISONS)
    throw new ScimError(400, 'tooMany', 'The operations of this PATCH compare too many values. Send fewer at once.');
}

function countComparisons(filter: ScimFilter): number {
  if ('parts' in filter) return filter.parts.reduce((sum, part) => sum + countComparisons(part), 0);
  return 'part' in filter ? countComparisons(filter.part) : 1;
}

function readOperations(body: unknown): Operation[] {
  const given = isObject(body) ? (body['Operations'] ?? body['operations']) : null;
  if (!Array.isArray(given) || given.length === 0)
    throw new ScimError(400, 'invalidSyntax', 'A PATCH has Operations, a list with at least one operation.');
  if (given.length > MAX_PATCH_OPERATIONS)
    throw new ScimError(400, 'tooMany', `A PATCH has at most ${MAX_PATCH_OPERATIONS} operations.`);
  return given.map((each: unknown) => {
    const op = isObject(each) && typeof each['op'] === 'string' ? each['op'].toLowerCase() : '';
    const path = isObject(each) ? (each['path'] ?? null) : null;
    if (!isObject(each) || (op !== 'add' && op !== 'replace' && op !== 'remove'))
      throw new ScimError(400, 'invalidSyntax', 'The op of an operation is add, replace or remove.');
    if (path !== null && typeof path !== 'string')
      throw new ScimError(400, 'invalidPath', 'The path of an operation is a text.');
    return { op, path: path === '' ? null : path, value: each['value'] };
  });
}

function applyOperation(type: ScimType, draft: Draft, { op, path, value, work }: Operation & { work: Work }): void {
  if (path !== null && !isExtension(type, path)) return applyAt(type, draft, { op, path, value, work });
  if (op === 'remove') {
    if (path === null) throw new ScimError(400, 'noTarget', 'A remove operation needs a path.');
    delete draft[type.extension?.schema ?? ''];
    return;
  }
  if (!isObject(value)) throw new ScimError(400, 'invalidValue', 'Without a path, the value is an object.');
  const prefix = path === null ? '' : `${path}:`;
  for (const [name, each] of Object.entries(value)) {
    // As in a POST, what is unknown or read-only is ignored.
    const target = name.includes('[') ? null : findTarget(type, `${prefix}${name}`);
    const isKnown = target === null ? name.includes('[') : target.attribute.mutability !== 'readOnly';
    if (!isKnown && !isExtension(type, name)) continue;
    if (path === null && isExtension(type, name)) applyOperation(type, draft, { op, path: name, value: each, work });
    else applyAt(type, draft, { op, path: `${prefix}${name}`, value: each, work });
  }
}

function isExtension({ extension }: ScimType, path: string): boolean {
  return extension !== null && path.toLowerCase() === extension.schema.toLowerCase();
}

function applyAt(
  type: ScimType,
  draft: Draft,
  { op, path, value, work }: Operation & { path: string; work: Work },
): void {
  const place = readPath(type, path);
  const { attribute, sub, filter, keys } = place;
  if (attribute.mutability === 'readOnly' || sub?.mutability === 'readOnly')
    throw new ScimError(400, 'mutability', `${attribute.name} is read-only.`);
  if (op === 'remove' && attribute.isRequired === true && sub === null)
    throw new ScimError(400, 'mutability', `${attribute.name} is required.`);
  const holder = openHolder(draft, sub === null ? keys.slice(0, -1) : keys.slice(0, -2));
  const name = attribute.name;
  if (attribute.isMultiple === true) {
    const held = Array.isArray(holder[name]) ? (holder[name] as unknown[]) : [];
    countWork(type, work, held, filter);
    holder[name] =
      filter === null && sub === null ? changeList(op, held, value) : changeMatching(op, held, { ...place, value });
  } else if (sub !== null) {
    holder[name] = { ...(isObject(holder[name]) ? holder[name] : {}), [sub.name]: op === 'remove' ? null : value };
  } else if (op === 'remove') delete holder[name];
  else
    holder[name] =
      attribute.type === 'complex' && isObject(value)
        ? { ...(isObject(holder[name]) ? holder[name] : {}), ...value }
        : value;
}

/** Returns the object that these keys lead to, which is created if it is missing. */
function openHolder(draft: Draft, keys: readonly string[]): Draft {
  let holder = draft;
  for (const key of keys) {
    const held = holder[key];
    const next: Draft = isObject(held) ? held : {};
    holder[key] = next;
    holder = next;
  }
  return holder;
}

function changeList(op: Operation['op'], held: readonly unknown[], value: unknown): unknown {
  const given: unknown[] = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  if (op === 'replace') return given;
  if (op === 'remove') {
    // Microsoft Entra names what to remove in the value.
    if (given.length === 0) return [];
    const gone = new Set(given.map(makeValueKey));
    return held.filter((each) => !gone.has(makeValueKey(each)));
  }
  const known = new Set(held.map((each) => JSON.stringify(each)));
  const added = given.filter((each: unknown) => !known.has(JSON.stringify(each)));
  const hasPrimary = added.some((each: unknown) => isObject(each) && each['primary'] === true);
  return [...(hasPrimary ? held.map(withoutPrimary) : held), ...added];
}

function changeMatching(
  op: Operation['op'],
  held: readonly unknown[],
  { attribute, sub, filter, value }: PatchTarget & { value: unknown },
): unknown {
  const isTarget = (each: unknown) => filter === null || matchesValue(filter, each);
  if (op === 'remove')
    return sub === null
      ? held.filter((each) => !isTarget(each))
      : held.map((each) => (isTarget(each) && isObject(each) ? { ...each, [sub.name]: null } : each));
  if (sub === null && !isObject(value))
    throw new ScimError(400, 'invalidValue', `The value for ${attribute.name} is an object.`);
  const change: Draft = sub === null ? (value as Draft) : { [sub.name]: value };
  if (!held.some(isTarget)) {
    const made = op === 'add' ? valueOfFilter(filter) : null;
    if (made === null) throw new ScimError(400, 'noTarget', `No value of ${attribute.name} matches the path.`);
    return [...held, { ...made, ...change }];
  }
  const isPrimary = change['primary'] === true;
  return held.map((each) => {
    if (isTarget(each)) return { ...(isObject(each) ? each : {}), ...change };
    return isPrimary ? withoutPrimary(each) : each;
  });
}

/** Returns the value that a filter of equalities describes, which an add creates; null for another filter. */
function valueOfFilter(filter: ScimFilter | null): Draft | null {
  if (filter === null) return {};
  if (filter.kind === 'and') {
    const [left, right] = filter.parts.map(valueOfFilter);
    return left == null || right == null ? null : { ...left, ...right };
  }
  if (filter.kind !== 'compare' || filter.comparison !== 'eq') return null;
  return { [filter.target.attribute.name]: filter.value };
}

function withoutPrimary(value: unknown): unknown {
  return isObject(value) && value['primary'] === true ? { ...value, primary: false } : value;
}

function makeValueKey(value: unknown): string {
  return isObject(value) && typeof value['value'] === 'string' ? value['value'] : JSON.stringify(value);
}

/** Returns the place of a path such as `emails[type eq "work"].value`. */
function readPath(type: ScimType, path: string): PatchTarget {
  const match = /^([^[\]]+)(?:\[(.*)\](?:\.([A-Za-z$]+))?)?$/s.exec(path.trim());
  if (match === null) throw new ScimError(400, 'invalidPath', 'The path of an operation cannot be read.');
  const [, name = '', source, subName] = match;
  if (source === undefined) return { ...resolveTarget(type, name, 'invalidPath'), filter: null };
  const target = resolveTarget(type, subName === undefined ? name : `${name}.${subName}`, 'invalidPath');
  if (target.attribute.isMultiple !== true || target.attribute.subAttributes === undefined)
    throw new ScimError(400, 'invalidPath', `${target.attribute.name} has no values to choose from.`);
  return { ...target, filter: parseValueFilter(target.attribute, source) };
}
