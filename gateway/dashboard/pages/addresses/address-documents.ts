import { graphql, type ResultOf } from '../../graphql.ts';
import { POLICY_PARTS, USAGE_PARTS } from '../../parts/send-policy.tsx';

const ADDRESS = graphql(
  `fragment AddressParts on EmailAddress {
    id address isActive isReceiving warning routing signature createdAt
    endpoint { id name isActive }
    domain { id name catchAll { isEnabled endpoint { id name } } }
    emailStatistics { last24Hours last7Days last30Days }
    policy { ...PolicyParts }
    policyUsage { ...UsageParts }
  }`,
  [POLICY_PARTS, USAGE_PARTS],
);

/** Fields of an address. */
export type ShownAddress = ResultOf<typeof ADDRESS>;

export const ADDRESSES = graphql(
  `query DashboardAddresses($first: Int!, $after: String, $domainId: ID, $filter: EmailAddressFilter) {
    emailAddresses(first: $first, after: $after, domainId: $domainId, filter: $filter) {
      edges { node { ...AddressParts } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  [ADDRESS],
);

export const ONE_ADDRESS = graphql(`query DashboardAddress($id: ID!) { emailAddress(id: $id) { ...AddressParts } }`, [
  ADDRESS,
]);

export const CREATE_ADDRESS = graphql(`
  mutation AddAddress($input: CreateEmailAddressInput!) {
    createEmailAddress(input: $input) { __typename ... on CreateEmailAddressPayload { emailAddress { id address } } }
  }
`);

/** Returns the destination of an address's mail as text. */
export function describeRoute({ endpoint, routing, domain }: ShownAddress): string {
  if (endpoint !== null) {
    const name = endpoint.isActive ? endpoint.name : `${endpoint.name} (off, so mail is only stored)`;
    return routing === 'WEBHOOK' ? `Webhook ${name}` : name;
  }
  const catchAll = domain?.catchAll;
  return catchAll?.isEnabled === true && catchAll.endpoint !== null
    ? `Catch-all of the domain: ${catchAll.endpoint.name}`
    : 'Stored only';
}
