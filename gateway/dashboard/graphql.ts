import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';

/** Makes a typed document of GraphQL text; the types come from graphql-env.d.ts, which `npm run contracts` writes. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  disableMasking: true;
  scalars: { DateTime: string; URL: string; AddrSpec: string; JSON: unknown; ID: string };
}>();

export type { ResultOf, VariablesOf } from 'gql.tada';
