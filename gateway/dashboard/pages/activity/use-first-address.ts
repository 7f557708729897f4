import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';

const FIRST = graphql(`
  query DashboardFirstAddress { emailAddresses(first: 20) { edges { node { id address isReceiving } } } }
`);

/** Returns one of the user's active addresses for sample commands; null: there is none, undefined: it is still loading. */
export function useFirstAddress(): string | null | undefined {
  const [{ data }] = useQuery({ query: FIRST, variables: {}, requestPolicy: 'cache-and-network' });
  if (data === undefined) return undefined;
  return data.emailAddresses.edges.find(({ node }) => node.isReceiving)?.node.address ?? null;
}
