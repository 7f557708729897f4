import { graphql } from '../../graphql.ts';

/** Releases a received email that a guard rule holds. */
export const RELEASE = graphql(`
  mutation DashboardReleaseEmail($id: ID!) {
    releaseEmail(input: { id: $id }) {
      __typename
      ... on ReleaseEmailPayload { releasedAt email { id guardStatus } deliveries { id } }
    }
  }
`);

/** Retries a deferred email now. */
export const RETRY_SENDING = graphql(`
  mutation DashboardRetrySending($id: ID!) {
    retrySending(input: { id: $id }) {
      __typename
      ... on RetrySendingPayload { email { id } recipients { id nextAttemptAt } }
    }
  }
`);
