import { useState } from 'react';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { POLICY_PARTS, USAGE_PARTS } from '../../parts/send-policy.tsx';

const KEYS = graphql(
  `
  query DashboardKeys($first: Int!, $isRevoked: Boolean!) {
    apiKeys(first: $first, isRevoked: $isRevoked) {
      totalCount
      edges {
        node {
          id name status isCurrent scopes domains { id name } addresses createdAt expiresAt revokedAt lastUsedAt lastUsedFrom hint
          policy { ...PolicyParts } policyUsage { ...UsageParts }
        }
      }
      pageInfo { hasNextPage }
    }
  }
`,
  [POLICY_PARTS, USAGE_PARTS],
);

/** A key in the list. */
export type ShownKey = ResultOf<typeof KEYS>['apiKeys']['edges'][number]['node'];

/** Maximum page size of a query. There are never more active keys than this. */
const MOST = 100;
const STEP = 50;

/** Returns the active or the revoked keys, newest first. `more` is null if all are loaded. */
export function useKeys(isRevoked: boolean) {
  const [first, setFirst] = useState(STEP);
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: KEYS,
    variables: { first, isRevoked },
    // What is left of budgets changes as mail is sent.
    kinds: ['EMAIL_SENT', 'EMAIL_SCHEDULED'],
    types: ['ApiKey'],
  });
  const hasMore = (data?.apiKeys.pageInfo.hasNextPage ?? false) && first < MOST;
  return {
    keys: data?.apiKeys.edges.map(({ node }) => node),
    total: data?.apiKeys.totalCount ?? 0,
    error,
    isLoading,
    refresh,
    more: hasMore ? () => setFirst(MOST) : null,
  };
}
