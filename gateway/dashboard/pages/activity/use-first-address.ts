import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';

const FIRST = graphql(`
  query DashboardFirstAddress { emailAddresses(first: 20) { edges { node { id address isReceiving } } } }
`);

/** Returns one of the user's active addresses for sample commands; null if there is none or it is still loading. */
export function useFirstAddress(): string | null {
  const [{ data }] = useQuery({ query: FIRST, variables: {}, requestPolicy: 'cache-and-network' });
  return data?.emailAddresses.edges.find(({ node }) => node.isReceiving)?.node.address ?? null;
}
