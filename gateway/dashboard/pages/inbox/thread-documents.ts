import { graphql, type ResultOf } from '../../graphql.ts';

/** Messages per page. */
export const MESSAGES = 50;

/** Fields of a message's head, collapsed or expanded. */
const MESSAGE = graphql(`
  fragment ThreadMessage on Email {
    id type status subject preview createdAt date isRead isArchived isTest guardStatus threadPosition threadReason
    failureReason scheduledAt
    from { name address }
    to { name address }
    cc { name address }
    bcc { name address }
    replyTo { name address }
    ownAddress { address }
    envelopeRecipient hasFiles isReadByMe
  }
`);

/** A thread and its newest messages. */
export const THREAD = graphql(
  `query InboxThread($id: ID!, $last: Int!) {
    thread(id: $id) {
      id subject messageCount unreadCount isReadByMe isArchived trashedAt labels lastMessageAt snoozedUntil remindAt
      returnedBy
      claim { holder expiresAt }
      assignee { id name email image }
      participants { name address }
      messages(last: $last) { edges { cursor node { ...ThreadMessage } } pageInfo { hasPreviousPage startCursor } }
    }
  }`,
  [MESSAGE],
);

/** Messages before the loaded ones. */
export const EARLIER_MESSAGES = graphql(
  `query InboxEarlierMessages($id: ID!, $before: String!, $last: Int!) {
    thread(id: $id) {
      id
      messages(last: $last, before: $before) {
        edges { cursor node { ...ThreadMessage } }
        pageInfo { hasPreviousPage startCursor }
      }
    }
  }`,
  [MESSAGE],
);

/** Fields of an expanded message. */
export const MESSAGE_BODY = graphql(`
  query InboxMessageBody($id: ID!) {
    email(id: $id) {
      id type status
      attachments { index filename contentType contentId size downloadUrl disposition }
      recipients { id address status lastCode lastText refusal { title advice } nextAttemptAt settledAt }
      securityWarnings { kind text shown actual }
      security { injection { verdict findings { part excerpt why } } }
      listUnsubscribe { isOneClick url mailto }
      content {
        text cleanedText html parseError isTruncated
        authentication {
          sender { verdict domain text }
          hasSeveralFromFields
          spf { result domain }
          dkim { result domain selector }
          dmarc { result domain policy }
          arc { result }
        }
      }
    }
  }
`);

/** A message of a thread. */
export type ThreadMessage = ResultOf<typeof MESSAGE>;
/** A thread with its newest messages. */
export type OpenThread = NonNullable<ResultOf<typeof THREAD>['thread']>;
/** The expanded part of a message. */
export type MessageBodyData = NonNullable<ResultOf<typeof MESSAGE_BODY>['email']>;

/** Returns the message that a reply to the conversation is to: the last received one, or else the last. */
export function findReplied(messages: readonly ThreadMessage[]): ThreadMessage | undefined {
  return messages.findLast(({ type }) => type === 'RECEIVED') ?? messages.at(-1);
}
