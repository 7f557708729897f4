import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';

const FIRST = graphql(`
  query DashboardFirstAddress { emailAddresses(first: 20) { edges { node { id address isReceiving } } } }
`);

/** An address of the user's that takes mail, for commands to try; null: there is none, or it is not known yet. */
export function useFirstAddress(): string | null {
  const [{ data }] = useQuery({ query: FIRST, variables: {}, requestPolicy: 'cache-and-network' });
  return data?.emailAddresses.edges.find(({ node }) => node.isReceiving)?.node.address ?? null;
}
