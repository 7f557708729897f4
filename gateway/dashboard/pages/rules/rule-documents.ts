import { graphql, type ResultOf, type VariablesOf } from '../../graphql.ts';

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
              subject { operator values } from { operator values isAligned } to { operator values } hasWords { operator values }
              attachments { operator values } hasAttachment spf dkim dmarc injection spam minSpamScore
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

/** Creates a rule. */
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

/** Changes a rule. Absent fields stay unchanged. */
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

/** Deletes a rule. */
export const DELETE = graphql(`
  mutation DashboardDeleteRule($id: ID!) {
    deleteGuardRule(input: { id: $id }) {
      __typename
      ... on DeleteGuardRulePayload { deletedId }
      ... on Error { message code }
    }
  }
`);

/** Back-tests a rule with the mail of some days. */
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

/** Input of a rule. */
export type RuleInput = VariablesOf<typeof CREATE>['input'];
