import { graphql, type ResultOf } from '../../graphql.ts';

const REPLY_ADDRESS = graphql(`
  fragment ReplyAddressParts on ReplyAddress {
    id address status deliverTo metadata senders maxMessages messageCount expiresAt createdAt
    thread { id normalizedSubject }
  }
`);

/** Fields of a reply address. */
export type ShownReplyAddress = ResultOf<typeof REPLY_ADDRESS>;

export const REPLY_ADDRESSES = graphql(
  `
  query DashboardReplyAddresses($first: Int!, $after: String) {
    replyAddresses(first: $first, after: $after) {
      edges { node { ...ReplyAddressParts } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [REPLY_ADDRESS],
);

export const DOMAIN_ADDRESSES = graphql(`
  query DashboardDomainAddresses($domainId: ID!) {
    emailAddresses(first: 100, domainId: $domainId) { edges { node { id address } } }
  }
`);

export const CREATE_REPLY_ADDRESS = graphql(`
  mutation DashboardCreateReplyAddress($input: CreateReplyAddressInput!) {
    createReplyAddress(input: $input) {
      __typename
      ... on CreateReplyAddressPayload { replyAddress { id address } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

export const REVOKE_REPLY_ADDRESS = graphql(`
  mutation DashboardRevokeReplyAddress($input: RevokeReplyAddressInput!) {
    revokeReplyAddress(input: $input) {
      __typename
      ... on RevokeReplyAddressPayload { replyAddress { id status } }
      ... on Error { message code }
    }
  }
`);
