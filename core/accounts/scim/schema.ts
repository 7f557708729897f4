/** Attributes of resources of SCIM (RFC 7643 §2, §4), from which documents are checked, filtered and described to clients. */
export interface ScimAttribute {
  name: string;
  type: 'string' | 'boolean' | 'complex' | 'reference';
  description: string;
  isMultiple?: true;
  isRequired?: true;
  isUnique?: true;
  isExact?: true;
  mutability?: 'readOnly' | 'immutable';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  subAttributes?: readonly ScimAttribute[];
}

/** A resource of SCIM as it is stored, without `id`, `meta` and `schemas`. */
export type ScimDocument = Readonly<Record<string, unknown>>;

export const SCIM_PATH = '/scim/v2';
const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const ENTERPRISE_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** Resources of one page. */
export const MAX_SCIM_PAGE = 100;
/** Characters of one text. @limit */
const MAX_TEXT_LENGTH = 1_024;

const text = (name: string, description: string, more: Partial<ScimAttribute> = {}): ScimAttribute => ({
  name,
  type: 'string',
  description,
  ...more,
});

const complex = (
  name: string,
  description: string,
  subAttributes: readonly ScimAttribute[],
  more: Partial<ScimAttribute> = {},
): ScimAttribute => ({ name, type: 'complex', description, subAttributes, ...more });

const isPrimary: ScimAttribute = {
  name: 'primary',
  type: 'boolean',
  description: 'Whether this is the preferred value. At most one is.',
};

const plural = (name: string, description: string, types: readonly string[], more: readonly ScimAttribute[] = []) =>
  complex(
    name,
    description,
    [
      ...(more.length > 0 ? more : [text('value', 'The value.'), text('display', 'A name of the value, for display.')]),
      text('type', 'What the value is for.', { canonicalValues: types }),
      isPrimary,
    ],
    { isMultiple: true },
  );

const userAttributes: readonly ScimAttribute[] = [
  text('userName', 'The address that the person signs in with, in a domain that the workspace has verified.', {
    isRequired: true,
    isUnique: true,
  }),
  complex('name', 'The name of the person.', [
    text('formatted', 'The full name, for display.'),
    text('familyName', 'The family name.'),
    text('givenName', 'The given name.'),
    text('middleName', 'The middle names.'),
    text('honorificPrefix', 'A title, such as Dr.'),
    text('honorificSuffix', 'A suffix, such as III.'),
  ]),
  text('displayName', 'The name that other members see.'),
  text('nickName', 'A casual name.'),
  { name: 'profileUrl', type: 'reference', description: 'A page about the person.', referenceTypes: ['external'] },
  text('title', 'The title in the company.'),
  text('userType', 'The relation to the company.'),
  text('preferredLanguage', 'The preferred language.'),
  text('locale', 'The locale.'),
  text('timezone', 'The time zone.'),
  { name: 'active', type: 'boolean', description: 'Whether the person may be a member of the workspace.' },
  plural('emails', 'Addresses of the person. The primary one signs in if `userName` is no address.', [
    'work',
    'home',
    'other',
  ]),
  plural('phoneNumbers', 'Phone numbers of the person.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
  plural(
    'addresses',
    'Postal addresses of the person.',
    ['work', 'home', 'other'],
    [
      text('formatted', 'The address as one text.'),
      text('streetAddress', 'The street and house number.'),
      text('locality', 'The city.'),
      text('region', 'The state or region.'),
      text('postalCode', 'The postal code.'),
      text('country', 'The country.'),
    ],
  ),
  complex(
    'groups',
    'The groups of the person.',
    [
      text('value', 'ID of the group.', { mutability: 'readOnly' }),
      {
        name: '$ref',
        type: 'reference',
        description: 'URL of the group.',
        referenceTypes: ['Group'],
        mutability: 'readOnly',
      },
      text('display', 'Name of the group.', { mutability: 'readOnly' }),
    ],
    { isMultiple: true, mutability: 'readOnly' },
  ),
];

const enterpriseAttributes: readonly ScimAttribute[] = [
  text('employeeNumber', 'The number of the person in the company.'),
  text('costCenter', 'The cost center.'),
  text('organization', 'The organization.'),
  text('division', 'The division.'),
  text('department', 'The department.'),
  complex('manager', 'The manager of the person.', [
    text('value', 'ID of the manager.'),
    { name: '$ref', type: 'reference', description: 'URL of the manager.', referenceTypes: ['User'] },
    text('displayName', 'Name of the manager.', { mutability: 'readOnly' }),
  ]),
];

const groupAttributes: readonly ScimAttribute[] = [
  text('displayName', 'Name of the group. Single sign-on maps groups of this name to roles.', { isRequired: true }),
  complex(
    'members',
    'The users in the group.',
    [
      text('value', 'ID of the user.', { mutability: 'immutable' }),
      {
        name: '$ref',
        type: 'reference',
        description: 'URL of the user.',
        referenceTypes: ['User'],
        mutability: 'immutable',
      },
      text('type', 'The type of the member.', { mutability: 'immutable', canonicalValues: ['User'] }),
    ],
    { isMultiple: true },
  ),
];

/** A type of resources, its attributes, and the attributes of its extension by the URN of their schema. */
export interface ScimType {
  name: 'User' | 'Group';
  endpoint: '/Users' | '/Groups';
  description: string;
  schema: string;
  attributes: readonly ScimAttribute[];
  extension: { schema: string; attributes: readonly ScimAttribute[] } | null;
  /** bytes of a document as JSON. @limit */
  maxBytes: number;
  /** values of an attribute. @limit */
  maxValues: number;
}

/** Common to all resources (RFC 7643 §3.1): no schema describes it. */
export const EXTERNAL_ID = text('externalId', 'ID that the client gave the resource.', { isExact: true });

export const USER_TYPE: ScimType = {
  name: 'User',
  endpoint: '/Users',
  description: 'A person who can be a member of the workspace',
  schema: USER_SCHEMA,
  attributes: userAttributes,
  extension: { schema: ENTERPRISE_SCHEMA, attributes: enterpriseAttributes },
  maxBytes: 16_384,
  maxValues: 50,
};

/** Users of a group, and users that a workspace can have. */
export const MAX_SCIM_USERS = 2_000;

export const GROUP_TYPE: ScimType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'A group of users, to which the single sign-on of the workspace can map a role',
  schema: GROUP_SCHEMA,
  attributes: groupAttributes,
  extension: null,
  maxBytes: 524_288,
  maxValues: MAX_SCIM_USERS,
};

/** Returns the attribute of that name, in any case; undefined if there is none. */
export function findAttribute(attributes: readonly ScimAttribute[], name: string): ScimAttribute | undefined {
  const wanted = name.toLowerCase();
  return attributes.find((each) => each.name.toLowerCase() === wanted);
}

/** What is wrong with a request of SCIM, as a client gets it (RFC 7644 §3.12). */
export class ScimError extends Error {
  override name = 'ScimError';
  readonly status: number;
  readonly scimType: ScimErrorType | null;

  constructor(status: number, scimType: ScimErrorType | null, detail: string) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export type ScimErrorType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

/**
 * Returns the document of a request with the attributes that the type has, in their spelling and with their types. Omits what is read-only,
 * unknown, null or empty. Throws ScimError.
 */
export function readScimDocument(type: ScimType, given: unknown): ScimDocument {
  if (!isObject(given)) throw new ScimError(400, 'invalidSyntax', 'The body must be a JSON object.');
  const document = readAttributes([EXTERNAL_ID, ...type.attributes], given, type, '');
  const extension = type.extension;
  if (extension !== null) {
    const held = findMember(given, extension.schema);
    if (held != null) {
      if (!isObject(held)) throw new ScimError(400, 'invalidValue', `${extension.schema} must be an object.`);
      const read = readAttributes(extension.attributes, held, type, `${extension.schema}:`);
      if (Object.keys(read).length > 0) document[extension.schema] = read;
    }
  }
  for (const { name, isRequired } of type.attributes)
    if (isRequired === true && document[name] === undefined)
      throw new ScimError(400, 'invalidValue', `${name} is required.`);
  if (Buffer.byteLength(JSON.stringify(document)) > type.maxBytes)
    throw new ScimError(413, null, `A ${type.name} has at most ${type.maxBytes} bytes.`);
  return document;
}

function readAttributes(
  attributes: readonly ScimAttribute[],
  given: Record<string, unknown>,
  type: ScimType,
  path: string,
): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const attribute of attributes) {
    if (attribute.mutability === 'readOnly') continue;
    const value = findMember(given, attribute.name);
    const held = value == null ? null : readValue(attribute, value, type, `${path}${attribute.name}`);
    if (held !== null) read[attribute.name] = held;
  }
  return read;
}

/** Returns the value of an attribute; null for one without content. */
function readValue(attribute: ScimAttribute, value: unknown, type: ScimType, path: string): unknown {
  if (attribute.isMultiple !== true) return readSingle(attribute, value, type, path);
  const values = Array.isArray(value) ? value : [value];
  if (values.length > type.maxValues)
    throw new ScimError(400, 'tooMany', `${path} has at most ${type.maxValues} values.`);
  const read = values.map((each) => readSingle(attribute, each, type, path)).filter((each) => each !== null);
  if (read.filter((each) => isObject(each) && each['primary'] === true).length > 1)
    throw new ScimError(400, 'invalidValue', `Only one value of ${path} can be the primary one.`);
  return read.length === 0 ? null : read;
}

function readSingle(attribute: ScimAttribute, value: unknown, type: ScimType, path: string): unknown {
  if (value === null) return null;
  switch (attribute.type) {
    case 'boolean':
      return readBoolean(value, path);
    case 'complex': {
      if (!isObject(value)) throw new ScimError(400, 'invalidValue', `${path} must be an object.`);
      const read = readAttributes(attribute.subAttributes ?? [], value, type, `${path}.`);
      return Object.keys(read).length === 0 ? null : read;
    }
    case 'string':
    case 'reference': {
      if (typeof value !== 'string') throw new ScimError(400, 'invalidValue', `${path} must be a text.`);
      if (value.length > MAX_TEXT_LENGTH)
        throw new ScimError(400, 'invalidValue', `${path} has at most ${MAX_TEXT_LENGTH} characters.`);
      if (value.includes('\0') || !value.isWellFormed())
        throw new ScimError(400, 'invalidValue', `${path} has characters that cannot be stored.`);
      return value === '' ? null : value;
    }
  }
}

/** Returns the boolean; Microsoft Entra sends `"False"`. */
function readBoolean(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  if (word === 'true' || word === 'false') return word === 'true';
  throw new ScimError(400, 'invalidValue', `${path} must be true or false.`);
}

/** Returns the member of that name, in any case. */
function findMember(given: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(given, name)) return given[name];
  const wanted = name.toLowerCase();
  const key = Object.keys(given).find((each) => each.toLowerCase() === wanted);
  return key === undefined ? undefined : given[key];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
