import {
  type GraphQLNamedType,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql';

const ID = 'ID of the object, which is globally unique. REST uses the same ID.';
const PAGING: Readonly<Record<string, string>> = {
  after: 'Returns items after this cursor.',
  before: 'Returns items before this cursor.',
  first: 'Number of items from the start of the list, 1 to 100. The default is 20 if `last` is omitted, too.',
  last: 'Number of items from the end of the list, 1 to 100. Cannot be combined with `first`.',
};
const CONNECTION: Readonly<Record<string, string>> = {
  edges: 'Items of the page with their cursors, in the order of the list.',
  nodes: 'Items of the page without their cursors, in the order of the list.',
  pageInfo: 'Cursors of the page, and whether there are more pages.',
  totalCount: 'Exact number of items on all pages. Counted only when requested.',
  cursor: 'Cursor of the item, for `after` and `before`.',
  node: 'The item.',
  hasNextPage: 'Whether there are items after this page.',
  hasPreviousPage: 'Whether there are items before this page.',
  startCursor: 'Cursor of the first item. Null if the page is empty.',
  endCursor: 'Cursor of the last item. Null if the page is empty.',
};

/** Adds descriptions to what plugins generate: connections, edges, IDs, and the inputs, payloads and unions of mutations. Changes the schema in place. */
export function describeGenerated(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    type.description ??= ofType(type);
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      field.description ??= ofField(type.name, field.name);
      for (const argument of field.args) {
        argument.description ??= PAGING[argument.name] ?? (argument.name === 'input' ? 'Input of the mutation.' : ID);
      }
    }
  }
  return schema;
}

function ofType(type: GraphQLNamedType): string | undefined {
  const { name } = type;
  const [, stem = name] = /^(.*?)(?:Input|Payload|Result|Connection|Edge)$/.exec(name) ?? [];
  const field = `\`${stem.slice(0, 1).toLowerCase()}${stem.slice(1)}\``;
  if (isInputObjectType(type) && name.endsWith('Input')) return `Input of ${field}.`;
  if (isUnionType(type) && name.endsWith('Result')) return `Result of ${field}: the payload, or an error.`;
  if (name.endsWith('Payload')) return `Payload of ${field}.`;
  if (name.endsWith('Connection')) return 'A page of a list (Relay connection).';
  if (name.endsWith('Edge')) return 'An item of a list and its cursor.';
  if (name === 'PageInfo') return 'Cursors of a page, and whether there are more pages.';
  return undefined;
}

function ofField(typeName: string, name: string): string | undefined {
  if (name === 'id') return ID;
  if (/(?:Connection|Edge|^PageInfo)$/.test(typeName)) return CONNECTION[name];
  return typeName.endsWith('Payload') ? 'The object in its current state.' : undefined;
}
