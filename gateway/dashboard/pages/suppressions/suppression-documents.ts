import { graphql, type ResultOf } from '../../graphql.ts';

export const SUPPRESSIONS = graphql(`
  query DashboardSuppressions($first: Int!, $after: String, $filter: SuppressionFilter) {
    suppressions(first: $first, after: $after, filter: $filter) {
      edges { node { id address reason list detail refusal { title advice } createdAt email { id subject } } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** A suppression in the list. */
export type ShownSuppression = ResultOf<typeof SUPPRESSIONS>['suppressions']['edges'][number]['node'];

export const SUPPRESS = graphql(`
  mutation AddSuppression($input: SuppressAddressInput!) {
    suppressAddress(input: $input) {
      __typename
      ... on SuppressAddressPayload { suppression { id address reason } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

export const LIFT = graphql(`
  mutation DropSuppression($input: RemoveSuppressionInput!) {
    removeSuppression(input: $input) {
      __typename
      ... on RemoveSuppressionPayload { deletedId address }
      ... on Error { message code }
    }
  }
`);

/** Reasons with their texts, and what removing a suppression with that reason means. */
export const REASONS: Record<ShownSuppression['reason'], { words: string; lifting: string }> = {
  BOUNCE: {
    words: 'Bounced: the server permanently refused mail',
    lifting:
      'If the address still does not exist, the next email bounces and the address is suppressed again. Bounces harm your sender reputation.',
  },
  COMPLAINT: {
    words: 'Complaint: the recipient reported mail as spam',
    lifting: 'Do this only if the recipient asked for mail. Another complaint harms all mail of your domain.',
  },
  UNSUBSCRIBE: {
    words: 'Unsubscribed by the recipient',
    lifting: 'Do this only if the recipient asked for mail of this list again.',
  },
  MANUAL: { words: 'Added manually', lifting: 'The address was added manually.' },
};
