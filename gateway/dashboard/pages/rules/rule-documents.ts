import { graphql, type ResultOf } from '../../graphql.ts';

/** All rules in the order of evaluation. */
export const RULES = graphql(`
  query DashboardRules {
    guardRules(first: 90) {
      edges {
        node {
          __typename id name description type action priority isActive triggerCount lastTriggeredAt
          endpoint { __typename id name }
          config {
            __typename
            ... on ExplicitGuardConfig {
              subject { operator values }
              from { operator values isAligned }
              to { operator values }
              hasWords { operator values }
              attachments { operator values }
              hasAttachment spf dkim dmarc injection spam minSpamScore
            }
            ... on PromptGuardConfig { prompt }
          }
        }
      }
      pageInfo { hasNextPage }
    }
    guardLimits { hasModel maxPriority maxRules }
  }
`);

/** A rule in the list. */
export type Rule = ResultOf<typeof RULES>['guardRules']['edges'][number]['node'];

/** Changes a rule. Absent fields stay unchanged. */
export const UPDATE_RULE = graphql(`
  mutation DashboardUpdateRule($input: UpdateGuardRuleInput!) {
    updateGuardRule(input: $input) {
      __typename
      ... on UpdateGuardRulePayload { guardRule { __typename id priority isActive } }
    }
  }
`);
