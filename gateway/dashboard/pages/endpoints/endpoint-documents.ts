import { graphql } from '../../graphql.ts';

/** One endpoint with its settings and its health. */
export const ENDPOINT = graphql(`
  query DashboardEndpoint($id: ID!) {
    endpoint(id: $id) {
      __typename id name description isActive inactiveReason createdAt
      stats { total successful failed lastDeliveryAt }
      emailAddresses(first: 20) { totalCount edges { node { id address } } }
      catchAllDomains { id name }
      ... on WebhookEndpoint {
        url format payload attachments timeoutSeconds retryAttempts maxPayloadOctets signatureScheme
        headers { name value }
        events
        filter { domains addresses }
        payloadQuery ordering allowActions verificationToken
        signingSecrets { secret validUntil }
      }
      ... on EmailEndpoint { forwardTo preserveHeaders includeAttachments subjectPrefix senderName fromAddress }
      ... on EmailGroupEndpoint { addresses preserveHeaders includeAttachments subjectPrefix senderName fromAddress }
    }
  }
`);

/** Changes a webhook. Absent fields stay unchanged. */
export const UPDATE_WEBHOOK = graphql(`
  mutation DashboardUpdateWebhook($input: UpdateWebhookEndpointInput!) {
    updateWebhookEndpoint(input: $input) {
      __typename
      ... on UpdateWebhookEndpointPayload { endpoint { __typename id isActive } }
    }
  }
`);

/** Changes an endpoint that forwards to one address. */
export const UPDATE_EMAIL = graphql(`
  mutation DashboardUpdateEmailEndpoint($input: UpdateEmailEndpointInput!) {
    updateEmailEndpoint(input: $input) {
      __typename
      ... on UpdateEmailEndpointPayload { endpoint { __typename id isActive } }
    }
  }
`);

/** Changes an endpoint that forwards to a group. */
export const UPDATE_GROUP = graphql(`
  mutation DashboardUpdateGroup($input: UpdateEmailGroupEndpointInput!) {
    updateEmailGroupEndpoint(input: $input) {
      __typename
      ... on UpdateEmailGroupEndpointPayload { endpoint { __typename id isActive } }
    }
  }
`);
