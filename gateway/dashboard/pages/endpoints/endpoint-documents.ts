import { graphql } from '../../graphql.ts';

/** Changes a webhook; what is absent stays. */
export const UPDATE_WEBHOOK = graphql(`
  mutation DashboardUpdateWebhook($input: UpdateWebhookEndpointInput!) {
    updateWebhookEndpoint(input: $input) {
      __typename
      ... on UpdateWebhookEndpointPayload { endpoint { __typename id isActive } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

/** Changes an endpoint that forwards to one address. */
export const UPDATE_EMAIL = graphql(`
  mutation DashboardUpdateEmailEndpoint($input: UpdateEmailEndpointInput!) {
    updateEmailEndpoint(input: $input) {
      __typename
      ... on UpdateEmailEndpointPayload { endpoint { __typename id isActive } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

/** Changes an endpoint that forwards to a group. */
export const UPDATE_GROUP = graphql(`
  mutation DashboardUpdateGroup($input: UpdateEmailGroupEndpointInput!) {
    updateEmailGroupEndpoint(input: $input) {
      __typename
      ... on UpdateEmailGroupEndpointPayload { endpoint { __typename id isActive } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);
