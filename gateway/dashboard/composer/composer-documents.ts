import { graphql, type ResultOf } from '../graphql.ts';

/** Where mail can be sent from. */
export const SENDERS = graphql(`
  query ComposerSenders {
    senders(first: 50) { address }
    domains(first: 100, filter: { status: VERIFIED }) { edges { node { id name canSend } } }
  }
`);

/** The message that is answered or sent on. */
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

/** People that mail was exchanged with, by how their address or name begins. */
export const CONTACTS = graphql(`
  query ComposerContacts($prefix: String!) { contacts(prefix: $prefix, first: 10) { name address } }
`);

const SENT = graphql(`
  fragment SentEmail on Email { id status scheduledAt thread { id } }
`);

/** A new email. */
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

/** An answer. */
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

/** A message sent on. */
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

/** Takes an email off the schedule. */
export const CANCEL = graphql(`
  mutation ComposerCancel($input: CancelEmailInput!) {
    cancelEmail(input: $input) {
      __typename
      ... on CancelEmailPayload { email { id status } }
      ... on Error { message code }
    }
  }
`);

/** The message that is answered or sent on. */
export type Original = NonNullable<ResultOf<typeof ORIGINAL>['email']>;
/** An email that was just given to be sent. */
export type SentEmail = ResultOf<typeof SENT>;
