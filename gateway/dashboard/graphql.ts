import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';

/** Creates a typed document from GraphQL text. `npm run contracts` writes the types to graphql-env.d.ts. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  disableMasking: true;
  scalars: { DateTime: string; URL: string; AddrSpec: string; JSON: unknown; ID: string };
}>();

type MutationText<
  Root extends string,
  Selection extends string,
> = `mutation ${Capitalize<Root>}($input: ${Capitalize<Root>}Input!) { ${Root}(input: $input) { __typename ... on ${Capitalize<Root>}Payload { ${Selection} } } }`;

/**
 * Returns the document of the mutation `root`, of whose payload it asks for `selection`. Its input, its payload and the operation have the name of
 * the mutation, as everywhere in the schema; what an error says is added where it is sent (parts/refusal.ts).
 */
export function mutation<
  const Root extends string,
  const Selection extends string,
  const Fragments extends NonNullable<Parameters<typeof graphql>[1]> = [],
>(root: Root, selection: Selection, fragments?: Fragments) {
  const name = `${root.charAt(0).toUpperCase()}${root.slice(1)}` as Capitalize<Root>;
  const text: MutationText<Root, Selection> =
    `mutation ${name}($input: ${name}Input!) { ${root}(input: $input) { __typename ... on ${name}Payload { ${selection} } } }`;
  return graphql(text, fragments);
}

type RecordText<Text extends string> = Text extends `${infer Root} {${infer Selection}`
  ? `query ${Root}($id: ID!) { ${Root}(id: $id) {${Selection} }`
  : never;

/** Returns the document that reads one record by its ID, such as `email { id subject }`. */
export function record<
  const Text extends string,
  const Fragments extends NonNullable<Parameters<typeof graphql>[1]> = [],
>(text: Text, fragments?: Fragments) {
  const [root = ''] = text.split(' {', 1);
  const document = `query ${root}($id: ID!) { ${root}(id: $id) {${text.slice(root.length + 2)} }`;
  return graphql(document as RecordText<Text>, fragments);
}

/** What the variables of `$filter: EmailFilter, $search: String` are passed as: `filter: $filter, search: $search`. */
type Passed<Variables extends string> = Variables extends `$${infer Name}: ${infer Rest}`
  ? Rest extends `${string}, ${infer Next}`
    ? `${Name}: $${Name}, ${Passed<Next>}`
    : `${Name}: $${Name}`
  : never;

type ConnectionText<Text extends string> = Text extends `${infer Head} {${infer Selection}`
  ? Head extends `${infer Root}(${infer Variables})`
    ? `query ${Root}($first: Int!, $after: String, ${Variables}) { ${Root}(first: $first, after: $after, ${Passed<Variables>}) { edges { cursor node {${Selection} } pageInfo { hasNextPage endCursor } } }`
    : `query ${Head}($first: Int!, $after: String) { ${Head}(first: $first, after: $after) { edges { cursor node {${Selection} } pageInfo { hasNextPage endCursor } } }`
  : never;

/**
 * Returns the document that reads a page of a list, such as `emails($filter: EmailFilter) { id subject }`: its variables, which are passed as
 * arguments of the same names, and what is read of each row.
 */
export function connection<
  const Text extends string,
  const Fragments extends NonNullable<Parameters<typeof graphql>[1]> = [],
>(text: Text, fragments?: Fragments) {
  const [head = ''] = text.split(' {', 1);
  const [root = '', declared = ''] = head.split(/[()]/);
  const variables = ['$first: Int!', '$after: String', ...(declared === '' ? [] : declared.split(', '))];
  const passed = variables.map(
    (variable) => `${variable.slice(1, variable.indexOf(':'))}: ${variable.split(':', 1)[0]}`,
  );
  const document = `query ${root}(${variables.join(', ')}) { ${root}(${passed.join(', ')}) { edges { cursor node {${text.slice(head.length + 2)} } pageInfo { hasNextPage endCursor } } }`;
  return graphql(document as ConnectionText<Text>, fragments);
}

export type { ResultOf, VariablesOf } from 'gql.tada';
