import {
  ENTERPRISE_SCHEMA,
  isObject,
  LIST_SCHEMA,
  ScimError,
  type ScimErrorType,
  type ScimType,
} from '../../core/accounts/scim/schema.ts';
import type { ScimResource } from '../../operations/accounts/scim-directory.ts';

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Which attributes a response has (RFC 7644 §3.9); names in lower case. */
export interface Projection {
  included: ReadonlySet<string> | null;
  excluded: ReadonlySet<string>;
}

/** Attributes in a list of a request. @limit */
const MAX_NAMES = 100;

/** Returns the projection of the parameters `attributes` and `excludedAttributes`. Throws ScimError. */
export function readProjection(type: ScimType, attributes: unknown, excludedAttributes: unknown): Projection {
  const included = readNames(type, attributes);
  const excluded = readNames(type, excludedAttributes);
  if (included !== null && excluded !== null)
    throw new ScimError(400, 'invalidSyntax', 'Give either attributes or excludedAttributes.');
  return { included, excluded: excluded ?? new Set() };
}

function readNames({ schema }: ScimType, given: unknown): ReadonlySet<string> | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== 'string' && !Array.isArray(given))
    throw new ScimError(400, 'invalidValue', 'A list of attributes is a text with commas, or an array.');
  const names = (typeof given === 'string' ? given.split(',') : given)
    .map((name: unknown) => String(name).trim().toLowerCase())
    .filter((name) => name !== '');
  if (names.length > MAX_NAMES) throw new ScimError(400, 'tooMany', `A list of attributes has at most ${MAX_NAMES}.`);
  const prefix = `${schema.toLowerCase()}:`;
  return new Set(names.map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name)));
}

/** Returns whether a response has an attribute of the resource. */
export function isShown({ included, excluded }: Projection, name: string): boolean {
  const lower = name.toLowerCase();
  if (included === null) return !excluded.has(lower);
  return included.has(lower) || [...included].some((each) => isBelow(each, lower));
}

/** Whether a name in lower case is of a sub-attribute; those of extensions follow a colon. */
const isBelow = (name: string, parent: string) => name.startsWith(`${parent}.`) || name.startsWith(`${parent}:`);

/** Returns a resource as JSON. `base` is the URL of SCIM. */
export function showResource(
  type: ScimType,
  { id, document, version, createdAt, updatedAt }: ScimResource,
  { base, projection }: { base: string; projection: Projection },
): Record<string, unknown> {
  const hasExtension = type.extension !== null && document[type.extension.schema] !== undefined;
  const attributes = {
    ...document,
    ...linked(base, document),
    meta: {
      resourceType: type.name,
      created: createdAt.toISOString(),
      lastModified: updatedAt.toISOString(),
      location: `${base}${type.endpoint}/${id}`,
      version: makeEtag(version),
    },
  };
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(attributes))
    if (isShown(projection, name)) shown[name] = project(value, name.toLowerCase(), projection);
  return { schemas: [type.schema, ...(hasExtension ? [ENTERPRISE_SCHEMA] : [])], id, ...shown };
}

/** Returns the attributes whose values are other resources, with their URLs. */
function linked(base: string, { members, groups }: ScimResource['document']): Record<string, unknown> {
  return {
    ...(Array.isArray(members) ? { members: members.map((each) => withUrl(each, `${base}/Users`)) } : {}),
    ...(Array.isArray(groups) ? { groups: groups.map((each) => withUrl(each, `${base}/Groups`)) } : {}),
  };
}

function withUrl(value: unknown, list: string): unknown {
  return isObject(value) ? { ...value, $ref: `${list}/${String(value['value'])}` } : value;
}

function project(value: unknown, path: string, { included, excluded }: Projection): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => project(each, path, { included, excluded }));
  if (!isObject(value) || (included !== null && included.has(path))) return value;
  const separator = path.startsWith('urn:') ? ':' : '.';
  const isWanted = (name: string) => {
    const full = `${path}${separator}${name.toLowerCase()}`;
    return included === null
      ? !excluded.has(full)
      : included.has(full) || [...included].some((each) => isBelow(each, full));
  };
  return Object.fromEntries(Object.entries(value).filter(([name]) => isWanted(name)));
}

export function listResponse(
  resources: readonly unknown[],
  { total, startIndex }: { total: number; startIndex: number },
): Record<string, unknown> {
  return {
    schemas: [LIST_SCHEMA],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

export function makeEtag(version: number): string {
  return `W/"${version}"`;
}

/** Returns the version that a header names; null for none or any, -1 for what is no version of ours. */
export function readVersion(header: string | undefined): number | null {
  if (header === undefined || header.trim() === '*') return null;
  const version = /^(?:W\/)?"(\d{1,9})"$/.exec(header.trim())?.[1];
  return version === undefined ? -1 : Number(version);
}

/** Returns the body of an error (RFC 7644 §3.12). */
export function scimErrorBody(
  status: number,
  detail: string,
  scimType: ScimErrorType | null = null,
): Record<string, unknown> {
  return { schemas: [ERROR_SCHEMA], status: String(status), ...(scimType === null ? {} : { scimType }), detail };
}
