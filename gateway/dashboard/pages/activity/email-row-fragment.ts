import { graphql, type ResultOf } from '../../graphql.ts';

/** Fields of an email in a list. */
export const EMAIL_ROW = graphql(`
  fragment DashboardEmailRow on Email {
    id type subject status guardStatus createdAt scheduledAt isTest isArchived hasFiles envelopeRecipient
    from { name address }
    to { name address }
    recipients { status }
    deliveries(first: 1) { edges { node { id status statusCode type attemptCount } } }
  }
`);

/** An email in a list. */
export type EmailRow = ResultOf<typeof EMAIL_ROW>;
