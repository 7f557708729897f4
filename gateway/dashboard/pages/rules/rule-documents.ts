import { graphql, type ResultOf, type VariablesOf } from '../../graphql.ts';

/** All rules in the order in which they are asked. */
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
              subject { operator values } from { operator values isAligned } to { operator values } hasWords { operator values }
              attachments { operator values } hasAttachment spf dkim dmarc
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

/** A rule as the list shows it. */
export type Rule = ResultOf<typeof RULES>['guardRules']['edges'][number]['node'];

/** Makes a rule. */
export const CREATE = graphql(`
  mutation DashboardCreateRule($input: CreateGuardRuleInput!) {
    createGuardRule(input: $input) {
      __typename
      ... on CreateGuardRulePayload { guardRule { __typename id } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

/** Changes a rule; what is absent stays. */
export const UPDATE = graphql(`
  mutation DashboardUpdateRule($input: UpdateGuardRuleInput!) {
    updateGuardRule(input: $input) {
      __typename
      ... on UpdateGuardRulePayload { guardRule { __typename id priority isActive } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

/** Removes a rule. */
export const DELETE = graphql(`
  mutation DashboardDeleteRule($id: ID!) {
    deleteGuardRule(input: { id: $id }) {
      __typename
      ... on DeleteGuardRulePayload { deletedId }
      ... on Error { message code }
    }
  }
`);

/** Asks what a rule would have done with the mail of some days. */
export const BACKTEST = graphql(`
  mutation DashboardBacktest($input: BacktestGuardRuleInput!) {
    backtestGuardRule(input: $input) {
      __typename
      ... on BacktestGuardRulePayload {
        backtest {
          since scannedCount matchedCount decidedCount isComplete stoppedAt
          examples { isDecisive matches { criterion value } email { id subject createdAt from { name address } } }
        }
      }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

/** What a rule is asked to be. */
export type RuleInput = VariablesOf<typeof CREATE>['input'];
