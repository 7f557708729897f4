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

export type { ResultOf, VariablesOf } from 'gql.tada';
