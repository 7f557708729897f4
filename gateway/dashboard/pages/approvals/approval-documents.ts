import { graphql } from '../../graphql.ts';

/** Mail that waits for approval, without its content. */
export const WAITING = graphql(`
  query DashboardApprovals($first: Int!, $after: String) {
    waitingEmails(for: AWAITING_APPROVAL, first: $first, after: $after) {
      edges {
        cursor
        node {
          id subject status createdAt scheduledAt timezone
          from { name address }
          to { name address }
          cc { name address }
          bcc { name address }
          approval { sentBy reasonToWait isOfKey expiresAt }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** The content of an email that waits, and the thread that it answers. */
export const WAITING_CONTENT = graphql(`
  query DashboardApprovalContent($id: ID!, $last: Int!) {
    email(id: $id) {
      id subject
      attachments { index filename contentType size downloadUrl disposition }
      content { html }
      review {
        fields { name value }
        parts {
          path contentType disposition filename sizeBytes source isTruncated
          pieces { text target unseen { kind detail } }
        }
        notes { kind where detail }
        isTruncated
      }
      approval {
        thread {
          id normalizedSubject messageCount
          messages(last: $last) { edges { node { id type createdAt preview from { name address } } } }
        }
      }
    }
  }
`);

/** The replies to a thread that wait; few wait at once. */
export const WAITING_REPLIES = graphql(`
  query DashboardWaitingReplies {
    waitingEmails(for: AWAITING_APPROVAL, first: 50) { edges { node { id preview approval { thread { id } } } } }
  }
`);

/** Events after which other mail waits. */
export const APPROVAL_KINDS = [
  'EMAIL_APPROVAL_REQUESTED',
  'EMAIL_APPROVED',
  'EMAIL_REJECTED',
  'EMAIL_CANCELLED',
] as const;
