import { graphql, type ResultOf } from '../../graphql.ts';

/** What a row of a list of emails shows. */
export const EMAIL_ROW = graphql(`
  fragment DashboardEmailRow on Email {
    id type subject status guardStatus createdAt scheduledAt isTest isArchived hasAttachments envelopeRecipient
    from { name address }
    to { name address }
    recipients { status }
    deliveries(first: 1) { edges { node { id status statusCode type attemptCount } } }
  }
`);

/** A row of a list of emails. */
export type EmailRow = ResultOf<typeof EMAIL_ROW>;
