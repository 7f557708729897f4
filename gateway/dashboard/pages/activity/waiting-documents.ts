import { graphql } from '../../graphql.ts';

/** Lets a received email through that a guard rule holds back. */
export const RELEASE = graphql(`
  mutation DashboardReleaseEmail($id: ID!) {
    releaseEmail(input: { id: $id }) {
      __typename
      ... on ReleaseEmailPayload { releasedAt email { id guardStatus } deliveries { id } }
      ... on Error { message code }
    }
  }
`);

/** Has servers that put a sent email off asked again now. */
export const RETRY_SENDING = graphql(`
  mutation DashboardRetrySending($id: ID!) {
    retrySending(input: { id: $id }) {
      __typename
      ... on RetrySendingPayload { email { id } recipients { id nextAttemptAt } }
      ... on Error { message code }
    }
  }
`);
