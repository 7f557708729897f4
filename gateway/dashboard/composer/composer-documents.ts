import { graphql, type ResultOf } from '../graphql.ts';

/** Addresses and domains that can send mail. */
export const SENDERS = graphql(`
  query ComposerSenders {
    senders(first: 50) { address }
    domains(first: 100, filter: { status: VERIFIED }) { edges { node { id name canSend } } }
  }
`);

/** The message to reply to or to forward. */
export const ORIGINAL = graphql(`
  query ComposerOriginal($id: ID!) {
    email(id: $id) {
      id type subject createdAt date envelopeRecipient
      ownAddress { address }
      from { name address } to { name address } cc { name address } replyTo { name address }
      thread { id }
      attachments { index filename size }
      content { text cleanedText html }
    }
  }
`);

/** People with whom mail was exchanged, by the prefix of their address or name. */
export const CONTACTS = graphql(`
  query ComposerContacts($prefix: String!) { contacts(prefix: $prefix, first: 10) { name address } }
`);

const SENT = graphql(`
  fragment SentEmail on Email { id status scheduledAt thread { id } }
`);

/** Sends a new email. */
export const SEND = graphql(
  `
  mutation ComposerSend($input: SendEmailInput!) {
    sendEmail(input: $input) {
      __typename
      ... on SendEmailPayload { email { ...SentEmail } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`,
  [SENT],
);

/** Sends a reply. */
export const REPLY = graphql(
  `
  mutation ComposerReply($input: ReplyToEmailInput!) {
    replyToEmail(input: $input) {
      __typename
      ... on ReplyToEmailPayload { email { ...SentEmail } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`,
  [SENT],
);

/** Forwards a message. */
export const FORWARD = graphql(
  `
  mutation ComposerForward($input: ForwardEmailInput!) {
    forwardEmail(input: $input) {
      __typename
      ... on ForwardEmailPayload { email { ...SentEmail } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`,
  [SENT],
);

/** Cancels a scheduled email. */
export const CANCEL = graphql(`
  mutation ComposerCancel($input: CancelEmailInput!) {
    cancelEmail(input: $input) {
      __typename
      ... on CancelEmailPayload { email { id status } }
      ... on Error { message code }
    }
  }
`);

/** The message to reply to or to forward. */
export type Original = NonNullable<ResultOf<typeof ORIGINAL>['email']>;
/** An email that was just submitted. */
export type SentEmail = ResultOf<typeof SENT>;
