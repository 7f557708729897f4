import {
  GROUP_TYPE,
  MAX_SCIM_PAGE,
  type ScimAttribute,
  type ScimType,
  USER_TYPE,
} from '../../core/accounts/scim/schema.ts';

const CONFIG_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';
const TYPE_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const SCHEMA_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema';

/** A resource of discovery (RFC 7644 §4). */
type Described = { id?: string; name?: string } & Record<string, unknown>;

export interface ScimDiscovery {
  config: Described;
  resourceTypes: readonly Described[];
  schemas: readonly Described[];
}

/** Returns what clients read to learn what the service can do. `base` is the URL of SCIM. */
export function describeScim(base: string): ScimDiscovery {
  return {
    config: {
      schemas: [CONFIG_SCHEMA],
      documentationUri: 'https://www.rfc-editor.org/rfc/rfc7644',
      patch: { supported: true },
      bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
      filter: { supported: true, maxResults: MAX_SCIM_PAGE },
      changePassword: { supported: false },
      sort: { supported: false },
      etag: { supported: true },
      authenticationSchemes: [
        {
          type: 'oauthbearertoken',
          name: 'SCIM token',
          description: 'The SCIM token of the workspace in the Authorization header, after "Bearer".',
          specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
          primary: true,
        },
      ],
      meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
    },
    resourceTypes: [USER_TYPE, GROUP_TYPE].map(({ name, endpoint, description, schema, extension }) => ({
      schemas: [TYPE_SCHEMA],
      id: name,
      name,
      endpoint,
      description,
      schema,
      ...(extension === null ? {} : { schemaExtensions: [{ schema: extension.schema, required: false }] }),
      meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
    })),
    schemas: [
      ...[USER_TYPE, GROUP_TYPE].flatMap(describeSchemas),
      {
        id: CONFIG_SCHEMA,
        name: 'ServiceProviderConfig',
        description: 'What the service can do',
        attributes: configAttributes,
      },
      { id: TYPE_SCHEMA, name: 'ResourceType', description: 'A type of resources', attributes: typeAttributes },
      { id: SCHEMA_SCHEMA, name: 'Schema', description: 'The attributes of resources', attributes: schemaAttributes },
    ].map(({ attributes, ...schema }) => ({
      schemas: [SCHEMA_SCHEMA],
      ...schema,
      attributes: attributes.map(describeAttribute),
      meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema.id}` },
    })),
  };
}

interface DescribedSchema {
  id: string;
  name: string;
  description: string;
  attributes: readonly ScimAttribute[];
}

function describeSchemas({ name, description, schema, attributes, extension }: ScimType): DescribedSchema[] {
  const own = { id: schema, name, description, attributes };
  if (extension === null) return [own];
  return [
    own,
    {
      id: extension.schema,
      name: `Enterprise${name}`,
      description: 'A person in a company',
      attributes: extension.attributes,
    },
  ];
}

function describeAttribute(attribute: ScimAttribute): Record<string, unknown> {
  const { name, type, description, isMultiple, isRequired, isUnique, isExact, mutability } = attribute;
  const { canonicalValues, referenceTypes, subAttributes } = attribute;
  return {
    name,
    type,
    multiValued: isMultiple === true,
    description,
    required: isRequired === true,
    ...(type === 'string' || type === 'reference' ? { caseExact: isExact === true || type === 'reference' } : {}),
    mutability: mutability ?? 'readWrite',
    returned: 'default',
    ...(type === 'boolean' || type === 'complex' ? {} : { uniqueness: isUnique === true ? 'server' : 'none' }),
    ...(canonicalValues === undefined ? {} : { canonicalValues }),
    ...(referenceTypes === undefined ? {} : { referenceTypes }),
    ...(subAttributes === undefined ? {} : { subAttributes: subAttributes.map(describeAttribute) }),
  };
}

// The schemas of discovery itself (RFC 7643 §8.7.2), with what this service sends.
const readOnly = { mutability: 'readOnly' } as const;
const fact = (name: string, type: ScimAttribute['type'], description: string): ScimAttribute => ({
  name,
  type,
  description,
  ...readOnly,
});
const facts = (name: string, description: string, subAttributes: readonly ScimAttribute[]): ScimAttribute => ({
  name,
  type: 'complex',
  description,
  subAttributes,
  ...readOnly,
});
const supported = fact('supported', 'boolean', 'Whether it is supported.');

const configAttributes: readonly ScimAttribute[] = [
  { ...fact('documentationUri', 'reference', 'The documentation.'), referenceTypes: ['external'] },
  facts('patch', 'PATCH.', [supported]),
  facts('bulk', 'Bulk requests.', [supported]),
  facts('filter', 'Filters.', [supported]),
  facts('changePassword', 'Changes of passwords.', [supported]),
  facts('sort', 'Sorting.', [supported]),
  facts('etag', 'Versions.', [supported]),
  {
    ...facts('authenticationSchemes', 'How clients authenticate.', [
      fact('type', 'string', 'The type.'),
      fact('name', 'string', 'The name.'),
      fact('description', 'string', 'The description.'),
    ]),
    isMultiple: true,
  },
];

const typeAttributes: readonly ScimAttribute[] = [
  fact('name', 'string', 'The name.'),
  fact('description', 'string', 'The description.'),
  { ...fact('endpoint', 'reference', 'The path.'), referenceTypes: ['uri'] },
  { ...fact('schema', 'reference', 'The schema.'), referenceTypes: ['uri'] },
  {
    ...facts('schemaExtensions', 'Further schemas.', [
      { ...fact('schema', 'reference', 'The schema.'), referenceTypes: ['uri'] },
      fact('required', 'boolean', 'Whether resources must have it.'),
    ]),
    isMultiple: true,
  },
];

const schemaAttributes: readonly ScimAttribute[] = [
  fact('name', 'string', 'The name.'),
  fact('description', 'string', 'The description.'),
  { ...facts('attributes', 'The attributes.', [fact('name', 'string', 'The name.')]), isMultiple: true },
];
