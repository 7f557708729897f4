import {
  type GraphQLNamedType,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql';

const ID = 'Of the object, on the whole service; the REST interface knows it by the same.';
const PAGING: Readonly<Record<string, string>> = {
  after: 'Only what comes behind this cursor.',
  before: 'Only what comes before this cursor.',
  first: 'So many from the beginning, at most 100; 20 when neither `first` nor `last` is given.',
  last: 'So many from the end, at most 100.',
};
const CONNECTION: Readonly<Record<string, string>> = {
  edges: 'In the order of the list.',
  pageInfo: 'Whether there is more, and where it begins.',
  totalCount: 'Of all pages, exact; counted when asked for.',
  cursor: 'The place of this object in the list, for `after` and `before`.',
  node: 'The object.',
  hasNextPage: 'Whether there is more behind this page.',
  hasPreviousPage: 'Whether there is more before this page.',
  startCursor: 'Of the first of the page; null of an empty one.',
  endCursor: 'Of the last of the page; null of an empty one.',
};

/** Describes what plugins generate: connections, edges, ids, and the inputs, payloads and unions of mutations. Changes the schema itself. */
export function describeGenerated(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    type.description ??= ofType(type);
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      field.description ??= ofField(type.name, field.name);
      for (const argument of field.args) {
        argument.description ??= PAGING[argument.name] ?? (argument.name === 'input' ? 'What is to be done.' : ID);
      }
    }
  }
  return schema;
}

function ofType(type: GraphQLNamedType): string | undefined {
  const { name } = type;
  const [, stem = name] = /^(.*?)(?:Input|Payload|Result|Connection|Edge)$/.exec(name) ?? [];
  const field = `\`${stem.slice(0, 1).toLowerCase()}${stem.slice(1)}\``;
  if (isInputObjectType(type) && name.endsWith('Input')) return `What ${field} is asked with.`;
  if (isUnionType(type) && name.endsWith('Result')) return `The payload of ${field}, or why nothing was done.`;
  if (name.endsWith('Payload')) return `What ${field} did.`;
  if (name.endsWith('Connection')) return 'A page of a list, by cursors (Relay).';
  if (name.endsWith('Edge')) return 'An object with its place in a list.';
  if (name === 'PageInfo') return 'Where a page of a list lies.';
  return undefined;
}

function ofField(typeName: string, name: string): string | undefined {
  if (name === 'id') return ID;
  if (/(?:Connection|Edge|^PageInfo)$/.test(typeName)) return CONNECTION[name];
  return typeName.endsWith('Payload') ? 'As it is now.' : undefined;
}
