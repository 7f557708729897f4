import { graphql, type ResultOf } from '../../graphql.ts';

/** Fields of a thread in the list. */
export const THREAD_ROW = graphql(`
  fragment ThreadRow on Thread {
    id subject messageCount unreadCount isReadByMe lastMessageAt listedAt snoozedUntil returnedBy isArchived trashedAt
    labels
    assignee { id name email image }
    participants { name address }
    senders { name address }
    latestMessage { id preview hasFiles type date createdAt }
  }
`);

/** One page of the list after a cursor. */
export const THREADS_PAGE = graphql(
  `query InboxThreads($first: Int!, $after: String, $filter: InboxFilter, $search: String) {
    inbox(first: $first, after: $after, filter: $filter, search: $search) {
      edges { cursor node { ...ThreadRow } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  [THREAD_ROW],
);

/** How many threads a search finds. */
export const RESULT_COUNT = graphql(`
  query InboxResultCount($filter: InboxFilter, $search: String) {
    inbox(first: 1, filter: $filter, search: $search) { totalCount }
  }
`);

/** A search that finds something, in place of one that finds nothing. */
export const SUGGESTED_SEARCH = graphql(`
  query InboxSuggestedSearch($filter: InboxFilter, $search: String) {
    inbox(first: 1, filter: $filter, search: $search) { suggestedSearch }
  }
`);

/** Threads by id, in the order of the ids; null for deleted ones. */
export const THREADS_BY_ID = graphql(
  `query InboxThreadsById($ids: [ID!]!) { nodes(ids: $ids) { ... on Thread { ...ThreadRow } } }`,
  [THREAD_ROW],
);

/** Labels with counts, and the user's addresses and domains. */
export const INBOX_FRAME = graphql(`
  query InboxFrame {
    labels { name threadCount unreadThreadCount }
    emailAddresses(first: 100) { edges { node { id address isReceiving } } }
    domains(first: 100) { edges { node { id name canReceive canSend } } }
  }
`);

/** Commands that send the first mail. */
export const FIRST_MAIL = graphql(`query InboxFirstMail { viewer { id firstMail { address swaks curl } } }`);

/** A thread in the list. */
export type ThreadRow = ResultOf<typeof THREAD_ROW>;
/** Labels with counts, addresses and domains. */
export type InboxFrame = ResultOf<typeof INBOX_FRAME>;
/** A label with its counts. */
export type LabelCount = InboxFrame['labels'][number];
