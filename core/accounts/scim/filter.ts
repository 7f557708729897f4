import { EXTERNAL_ID, findAttribute, isObject, type ScimAttribute, ScimError, type ScimType } from './schema.ts';

/** An attribute that a filter or a path names. `column` is one that no document holds. */
export interface ScimTarget {
  column: 'id' | 'created' | 'lastModified' | null;
  /** keys in the document that lead to the attribute, at most three */
  keys: readonly string[];
  attribute: ScimAttribute;
  /** the sub-attribute of `attribute`; null: the attribute itself */
  sub: ScimAttribute | null;
}

const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** A filter of SCIM (RFC 7644 §3.4.2.2), whose attributes exist. */
export type ScimFilter =
  | { kind: 'and' | 'or'; parts: readonly [ScimFilter, ScimFilter] }
  | { kind: 'not'; part: ScimFilter }
  | { kind: 'present'; target: ScimTarget }
  | { kind: 'compare'; target: ScimTarget; comparison: Comparison; value: string | boolean | null }
  /** one value of an attribute matches */
  | { kind: 'some'; target: ScimTarget; part: ScimFilter };

/** @limit */
const MAX_FILTER_LENGTH = 2_000;
/** Comparisons of one filter. @limit */
export const MAX_COMPARISONS = 30;
/** Parentheses within each other. @limit */
const MAX_DEPTH = 10;

const TOKEN = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y;

/** How names of attributes are resolved: those of a resource, or the sub-attributes of one value. */
type Resolve = (name: string) => ScimTarget;

/** Returns the filter over resources of a type. Throws ScimError with `invalidFilter`. */
export function parseScimFilter(type: ScimType, source: string): ScimFilter {
  return parseFilter(source, (name) => resolveTarget(type, name, 'invalidFilter'));
}

/** Returns the filter over values of one attribute, as in `emails[type eq "work"]`. Throws ScimError. */
export function parseValueFilter(attribute: ScimAttribute, source: string): ScimFilter {
  return parseFilter(source, createSubResolver(attribute));
}

function createSubResolver(attribute: ScimAttribute): Resolve {
  return (name) => {
    const found = findAttribute(attribute.subAttributes ?? [], name);
    if (found === undefined) throw invalidFilter(`${attribute.name} has no attribute ${shown(name)}.`);
    return { column: null, keys: [found.name], attribute: found, sub: null };
  };
}

function parseFilter(source: string, resolve: Resolve): ScimFilter {
  if (source.length > MAX_FILTER_LENGTH) throw invalidFilter(`A filter has at most ${MAX_FILTER_LENGTH} characters.`);
  const tokens = tokenize(source);
  let at = 0;
  let comparisons = 0;
  const isWord = (word: string) => tokens[at]?.toLowerCase() === word;

  function parseOr(names: Resolve, depth: number): ScimFilter {
    let left = parseAnd(names, depth);
    while (isWord('or')) {
      at++;
      left = { kind: 'or', parts: [left, parseAnd(names, depth)] };
    }
    return left;
  }

  function parseAnd(names: Resolve, depth: number): ScimFilter {
    let left = parseOne(names, depth);
    while (isWord('and')) {
      at++;
      left = { kind: 'and', parts: [left, parseOne(names, depth)] };
    }
    return left;
  }

  function parseOne(names: Resolve, depth: number): ScimFilter {
    if (depth > MAX_DEPTH) throw invalidFilter(`A filter has at most ${MAX_DEPTH} parentheses within each other.`);
    if (isWord('not')) {
      at++;
      if (tokens[at] !== '(') throw invalidFilter('After not comes an expression in parentheses.');
      return { kind: 'not', part: parseOne(names, depth + 1) };
    }
    if (tokens[at] === '(') {
      at++;
      const inner = parseOr(names, depth + 1);
      expect(')');
      return inner;
    }
    return parseComparison(names, depth);
  }

  function parseComparison(names: Resolve, depth: number): ScimFilter {
    if (++comparisons > MAX_COMPARISONS) throw invalidFilter(`A filter has at most ${MAX_COMPARISONS} comparisons.`);
    const name = tokens[at++];
    if (name === undefined || !/^[A-Za-z]/.test(name)) throw invalidFilter('A filter begins with an attribute.');
    const target = names(name);
    if (tokens[at] === '[') {
      if (target.sub !== null || target.attribute.type !== 'complex')
        throw invalidFilter(`${shown(name)} has no sub-attributes.`);
      at++;
      const part = parseOr(createSubResolver(target.attribute), depth + 1);
      expect(']');
      return { kind: 'some', target, part };
    }
    const word = tokens[at++]?.toLowerCase();
    if (word === 'pr') return { kind: 'present', target };
    const comparison = COMPARISONS.find((each) => each === word);
    if (comparison === undefined)
      throw invalidFilter(`After ${shown(name)} comes one of ${COMPARISONS.join(', ')}, pr.`);
    return { kind: 'compare', target, comparison, value: readOperand(target, comparison, tokens[at++]) };
  }

  function expect(token: string): void {
    if (tokens[at++] !== token) throw invalidFilter(`The filter lacks ${token}.`);
  }

  const filter = parseOr(resolve, 0);
  if (at !== tokens.length) throw invalidFilter(`The filter cannot be read from ${shown(tokens[at] ?? '')} on.`);
  return filter;
}

function tokenize(source: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const end = source.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) throw invalidFilter(`The filter cannot be read from character ${from + 1} on.`);
    tokens.push(match[1] ?? match[2] ?? match[3] ?? '');
  }
  return tokens;
}

function readOperand(target: ScimTarget, comparison: Comparison, token: string | undefined): string | boolean | null {
  const { type } = comparedAttribute(target);
  const value = token === undefined ? undefined : parseJson(token);
  if (value === null && (comparison === 'eq' || comparison === 'ne')) return null;
  if (type === 'boolean') {
    // Microsoft Entra sends "True".
    const word = String(value).toLowerCase();
    if ((word === 'true' || word === 'false') && (comparison === 'eq' || comparison === 'ne')) return word === 'true';
    throw invalidFilter(`${target.attribute.name} can be compared by eq and ne, with true or false.`);
  }
  if (typeof value !== 'string' || value.includes('\0'))
    throw invalidFilter(`${target.attribute.name} is compared with a text in double quotes.`);
  return value;
}

function parseJson(token: string): unknown {
  try {
    return JSON.parse(/^(?:true|false)$/i.test(token) ? token.toLowerCase() : token);
  } catch {
    return undefined;
  }
}

/** Returns the attribute that a comparison is about: of a complex attribute, its `value` (RFC 7644 §3.4.2.2). */
export function comparedAttribute({ attribute, sub }: ScimTarget): ScimAttribute {
  if (sub !== null) return sub;
  if (attribute.type !== 'complex') return attribute;
  const value = findAttribute(attribute.subAttributes ?? [], 'value');
  if (value === undefined) throw invalidFilter(`${attribute.name} must be followed by a sub-attribute.`);
  return value;
}

const ID: ScimAttribute = { name: 'id', type: 'string', description: '', isExact: true, mutability: 'readOnly' };
const META: ScimAttribute = { name: 'meta', type: 'string', description: '', isExact: true, mutability: 'readOnly' };

/** Returns the attribute that a name leads to, see findTarget. Throws ScimError of `scimType`. */
export function resolveTarget(type: ScimType, name: string, scimType: 'invalidFilter' | 'invalidPath'): ScimTarget {
  const target = findTarget(type, name);
  if (target === null) throw new ScimError(400, scimType, `A ${type.name} has no attribute ${shown(name)}.`);
  return target;
}

/** Returns the attribute that a name leads to, such as `name.givenName` or a URN with an attribute; null if there is none. */
export function findTarget(type: ScimType, name: string): ScimTarget | null {
  const { attributes, keys, rest } = splitUrn(type, name);
  const [first = '', second, ...more] = rest.split('.');
  if (more.length > 0) return null;
  if (keys.length === 0) {
    const lower = rest.toLowerCase();
    if (lower === 'id') return { column: 'id', keys: [], attribute: ID, sub: null };
    if (lower === 'meta.created') return { column: 'created', keys: [], attribute: META, sub: null };
    if (lower === 'meta.lastmodified') return { column: 'lastModified', keys: [], attribute: META, sub: null };
  }
  const attribute = findAttribute(attributes, first);
  if (attribute === undefined) return null;
  const path = [...keys, attribute.name];
  if (second === undefined) return { column: null, keys: path, attribute, sub: null };
  const sub = findAttribute(attribute.subAttributes ?? [], second);
  if (sub === undefined) return null;
  return { column: null, keys: [...path, sub.name], attribute, sub };
}

/** Returns the attributes that a name is one of, the keys that lead to them, and the name without its URN. */
function splitUrn(
  { schema, attributes, extension }: ScimType,
  name: string,
): { attributes: readonly ScimAttribute[]; keys: readonly string[]; rest: string } {
  const lower = name.toLowerCase();
  const own = [EXTERNAL_ID, ...attributes];
  if (lower.startsWith(`${schema.toLowerCase()}:`))
    return { attributes: own, keys: [], rest: name.slice(schema.length + 1) };
  if (extension !== null && lower.startsWith(`${extension.schema.toLowerCase()}:`))
    return {
      attributes: extension.attributes,
      keys: [extension.schema],
      rest: name.slice(extension.schema.length + 1),
    };
  return { attributes: own, keys: [], rest: name };
}

/** Returns whether a value of a complex attribute matches a filter of parseValueFilter. */
export function matchesValue(filter: ScimFilter, value: unknown): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.parts.every((part) => matchesValue(part, value));
    case 'or':
      return filter.parts.some((part) => matchesValue(part, value));
    case 'not':
      return !matchesValue(filter.part, value);
    case 'some':
      return false;
    case 'present':
      return heldIn(value, filter.target) !== undefined;
    case 'compare':
      return compares(filter.comparison, heldIn(value, filter.target), filter.value, filter.target.attribute);
  }
}

function heldIn(value: unknown, { attribute }: ScimTarget): unknown {
  return isObject(value) ? value[attribute.name] : undefined;
}

function compares(
  comparison: Comparison,
  held: unknown,
  wanted: string | boolean | null,
  { isExact }: ScimAttribute,
): boolean {
  if (wanted === null) return (held === undefined) === (comparison === 'eq');
  if (typeof held !== 'string' || typeof wanted !== 'string')
    return comparison === 'eq' ? held === wanted : comparison === 'ne' ? held !== wanted : false;
  const left = isExact === true ? held : held.toLowerCase();
  const right = isExact === true ? wanted : wanted.toLowerCase();
  switch (comparison) {
    case 'eq':
      return left === right;
    case 'ne':
      return left !== right;
    case 'co':
      return left.includes(right);
    case 'sw':
      return left.startsWith(right);
    case 'ew':
      return left.endsWith(right);
    case 'gt':
      return left > right;
    case 'ge':
      return left >= right;
    case 'lt':
      return left < right;
    case 'le':
      return left <= right;
  }
}

function invalidFilter(detail: string): ScimError {
  return new ScimError(400, 'invalidFilter', detail);
}

/** Returns a name of a request, as errors show it. */
function shown(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}
