import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';

/** Creates a typed document from GraphQL text. `npm run contracts` writes the types to graphql-env.d.ts. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  disableMasking: true;
  scalars: { DateTime: string; URL: string; AddrSpec: string; JSON: unknown; ID: string };
}>();

export type { ResultOf, VariablesOf } from 'gql.tada';
