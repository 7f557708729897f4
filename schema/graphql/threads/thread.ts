import type { RelevanceCursor } from '../../../core/search/relevance-cursor.ts';
import type { KeysetCursor, KeysetPage } from '../../../core/shared/page.ts';
import { participantList } from '../../../core/threads/thread-participants.ts';
import { LIST_SEARCH } from '../../../operations/capability/field-shapes.ts';
import type { EmailSummary } from '../../../operations/emails/emails.ts';
import { loadMemberNames } from '../../../operations/threads/assign-thread.ts';
import { memberName } from '../../../operations/threads/assignee-capability.ts';
import { threadClaim } from '../../../operations/threads/claim-capability.ts';
import { loadReadByMe } from '../../../operations/threads/read-state.ts';
import { suggestSearch } from '../../../operations/threads/suggest-search.ts';
import type { Thread } from '../../../operations/threads/threads.ts';
import * as threads from '../../../operations/threads/threads.ts';
import { SEARCH_SYNTAX } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import {
  type CountedConnection,
  connection,
  connectionBy,
  newestCursors,
  relevanceCursors,
  totalCount,
} from '../connection.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EmailNode, ThreadNode } from '../nodes.ts';
import { SEARCH_LANGUAGE, SearchLanguage } from '../search/search-language.ts';
import { SEARCH_ORDER, SearchOrder } from '../search/search-order.ts';

/** As much as a search of a few threads. */
const SUGGESTION_COST = 20;

const ThreadConnection = builder.connectionObject<
  typeof ThreadNode,
  CountedConnection<Thread> & { suggest?: () => Promise<string | null> }
>(
  {
    type: ThreadNode,
    name: 'ThreadConnection',
    description: 'A page of threads.',
    fields: (c) => ({
      ...totalCount(c),
      suggestedSearch: c.string({
        nullable: true,
        description:
          'The search of `inbox` with words of your mail in place of those that no mail has, if it finds something: "webhook" for "webhok". Null: no word is misspelled, or nothing like it is found. Ask for it when a search finds nothing.',
        complexity: { field: SUGGESTION_COST },
        resolve: (page) => page.suggest?.() ?? null,
      }),
    }),
  },
  { name: 'ThreadEdge', description: 'A thread and its cursor.' },
);

/** Returns the cursor of a thread; lists are sorted by the newest message, or when a thread came back. */
function placeOfThread(thread: Thread): KeysetCursor {
  return { at: thread.listedAt, id: thread.id };
}

const ReturnReasonRef = builder.enumType('ReturnReason', {
  description: 'Why a thread came back to the inbox.',
  values: enumValues({
    snooze: 'Its snooze was over.',
    reply: 'A reply came while it was snoozed.',
    reminder: 'No reply came in time.',
  }),
});

const messagePages = loadByOwner(({ reads }, threadIds, page: KeysetPage) =>
  threads.pageThreadEmails(reads, threadIds, page),
);

const overviews = loadByOwner(({ reads }, threadIds, _args: null) => threads.loadOverviews(reads, threadIds));

const readStates = loadByOwner(({ reads }, threadIds, _args: null) => loadReadByMe(reads, threadIds));

const assignees = loadByOwner(({ reads }, personIds, _args: null) => loadMemberNames(reads, personIds));

const Participant = builder.objectRef<ReturnType<typeof participantList>[number]>('Participant').implement({
  description: 'A participant of a thread: a sender, a recipient, or your address that received a message.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'Display name in emails. Null if there is none.' }),
    address: t.exposeString('address', { description: 'In lowercase.' }),
  }),
});

ThreadNode.implement({
  description:
    'A conversation of received and sent emails, joined by their reply headers or else by subject. IDs of merged threads lead to the thread they were merged into.',
  isOfDomain: true,
  fields: (t) => ({
    rootMessageId: t.exposeString('rootMessageId', { description: 'Message-ID of the first message.' }),
    normalizedSubject: t.exposeString('normalizedSubject', {
      description: 'Subject of the first message, without prefixes such as Re: and Fwd:.',
    }),
    subject: t.string({
      description: 'Subject of the first message as its sender wrote it. Replies do not change it.',
      resolve: async (thread, _args, context) =>
        (await overviews(context, thread.id, null))?.subject ?? thread.normalizedSubject,
    }),
    senders: t.field({
      type: [Participant],
      description: 'Who wrote the latest 50 messages, latest first, each address once.',
      complexity: { field: 1, multiplier: 5 },
      resolve: async (thread, _args, context) => (await overviews(context, thread.id, null))?.senders ?? [],
    }),
    participants: t.field({
      type: [Participant],
      description: 'Participants in the order they joined, up to 100.',
      complexity: { field: 1, multiplier: 5 },
      resolve: ({ participantEmails, participantNames }) =>
        participantList({ emails: participantEmails, names: participantNames }),
    }),
    participantEmails: t.exposeStringList('participantEmails', { description: 'Addresses of the participants.' }),
    participantNames: t.exposeStringList('participantNames', {
      description:
        'Display text of each participant, in the same order: `Ada <ada@example.org>`, or the address if there is no name.',
    }),
    claim: t.field({
      type: typeFor(threadClaim, { isOfDomain: true }),
      nullable: true,
      description: 'The claim of the thread. Null if no one has claimed it.',
      resolve: ({ claim }) => claim,
    }),
    assignee: t.field({
      type: typeFor(memberName, { isOfDomain: true }),
      nullable: true,
      description: 'The member who works on the thread. Null: none.',
      resolve: ({ assigneeId }, _args, context) => (assigneeId === null ? null : assignees(context, assigneeId, null)),
    }),
    labels: t.exposeStringList('labels', { description: 'Labels, in the order you added them.' }),
    messageCount: t.exposeInt('messageCount', { description: 'Number of received and sent messages.' }),
    unreadCount: t.exposeInt('unreadCount', { description: 'Number of unread messages.' }),
    isReadByMe: t.boolean({
      nullable: true,
      description:
        'Whether you have read all received messages. Null for requests without a person, such as API keys of the workspace. unreadCount and isRead belong to the workspace.',
      resolve: (thread, _args, context) => readStates(context, thread.id, null),
    }),
    isArchived: t.exposeBoolean('isArchived', {
      description:
        'Whether the thread is archived: it has received messages and all of them are archived. A new message brings it back to the inbox.',
    }),
    trashedAt: t.expose('trashedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the thread was moved to the trash. Null if it is not there. It is deleted 30 days later.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the first message was received or sent.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When the thread last changed: its messages, flags or labels.',
    }),
    lastMessageAt: t.expose('lastMessageAt', {
      type: 'DateTime',
      description: 'When the latest message was received or sent.',
    }),
    listedAt: t.expose('listedAt', {
      type: 'DateTime',
      description: 'Lists are sorted by it: `lastMessageAt`, or `returnedAt` if that is later.',
    }),
    snoozedUntil: t.expose('snoozedUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'The thread is out of the inbox until then, or until a reply comes. Null if it is not snoozed.',
    }),
    remindAt: t.expose('remindAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the thread comes back to the inbox unless a reply comes before. Null: no reminder.',
    }),
    returnedAt: t.expose('returnedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the thread came back to the inbox. Null if it did not, or was archived or snoozed since.',
    }),
    returnedBy: t.field({
      type: ReturnReasonRef,
      nullable: true,
      description: 'Why the thread came back to the inbox. Null if it did not.',
      resolve: ({ returnedBy }) => returnedBy,
    }),
    latestMessage: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The latest message. Null if it was moved to another thread while you asked.',
      resolve: (thread) => thread.latestEmailId,
    }),
    messages: t.connection(
      {
        type: EmailNode,
        description: 'All messages in chronological order.',
        complexity: connectionComplexity,
        resolve: async (thread, args, context) => {
          const page = await connection<EmailSummary>(
            args,
            (email) => ({ at: email.threadAt, id: email.id }),
            (span) => messagePages(context, thread.id, span),
          );
          return { ...page, total: thread.messageCount };
        },
      },
      {
        name: 'ThreadMessageConnection',
        description: 'A page of messages in a thread.',
        fields: (c) => ({ totalCount: c.exposeInt('total', { description: 'Number of messages on all pages.' }) }),
      },
      { name: 'ThreadMessageEdge', description: 'A message of a thread and its cursor.' },
    ),
  }),
});

const ASSIGNED = 'Who works on the thread: `me`, `none`, or the ID or address of a member.';

const UNREAD_BY_ME = 'True matches threads with messages that you have not read yourself.';

const ThreadFilter = builder.inputType('ThreadFilter', {
  description: 'Filters a list of threads. Omit a field to match all.',
  fields: (t) => ({
    unread: t.boolean({ description: 'True matches threads with unread messages only.' }),
    unreadByMe: t.boolean({ description: UNREAD_BY_ME }),
    claimed: t.boolean({ description: 'False matches threads that no one has claimed, true the others.' }),
    assigned: t.string({ description: ASSIGNED }),
    trashed: t.boolean({ description: 'True matches threads in the trash, which are left out otherwise.' }),
    domain: t.string({ description: 'ID of a domain of yours, or the domain name of a participant.' }),
    address: t.string({ description: 'ID of an address of yours, or the address of a participant.' }),
    search: t.string({ description: `${LIST_SEARCH} A thread is found if one of its messages matches.` }),
    language: t.field({ type: SearchLanguage, description: SEARCH_LANGUAGE }),
  }),
});

builder.queryFields((t) => ({
  thread: t.field({
    type: ThreadNode,
    access: access.read,
    nullable: true,
    description: 'Returns the thread with this ID, or null if the account has no such thread.',
    args: { id: t.arg.id({ required: true, description: 'ID of a thread, or of one that was merged into it.' }) },
    resolve: (_root, { id }) => id,
  }),
  threads: t.connection(
    {
      type: ThreadNode,
      access: access.read,
      description: 'All threads, newest message first.',
      args: { filter: t.arg({ type: ThreadFilter, description: 'Filters the threads. Omit to return all.' }) },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query = threadQuery(args.filter);
        const page = await connection(args, placeOfThread, (span) => threads.pageThreads(reads, query, span));
        return { ...page, count: () => threads.countThreads(reads, query) };
      },
    },
    ThreadConnection,
  ),
}));

function threadQuery(filter: typeof ThreadFilter.$inferInput | null | undefined): threads.ThreadQuery {
  return {
    isUnread: filter?.unread ?? undefined,
    isUnreadByMe: filter?.unreadByMe ?? undefined,
    isClaimed: filter?.claimed ?? undefined,
    assigned: filter?.assigned ?? undefined,
    isTrashed: filter?.trashed ?? undefined,
    domain: filter?.domain ?? undefined,
    address: filter?.address ?? undefined,
    search: filter?.search ?? undefined,
    language: filter?.language ?? undefined,
  };
}

const ArchivedFilter = builder.enumType('ArchivedFilter', {
  description: 'Whether to return archived threads.',
  values: enumValues({
    'not archived': 'Non-archived threads only.',
    archived: 'Archived threads only.',
    any: 'Both of these.',
  }),
});

const InboxFilter = builder.inputType('InboxFilter', {
  description: 'Filters the inbox. Omit a field or pass null to match all; only archived has a default.',
  fields: (t) => ({
    isUnread: t.boolean({ description: 'True matches threads with unread messages only.' }),
    isUnreadByMe: t.boolean({ description: UNREAD_BY_ME }),
    archived: t.field({
      type: ArchivedFilter,
      description:
        'By default archived threads are left out, unless the search asks for them (is:archived, in:archive).',
    }),
    isTrashed: t.boolean({
      description:
        'True matches threads in the trash, archived or not. They are left out otherwise, unless the search asks for them (in:trash).',
    }),
    assigned: t.string({ description: ASSIGNED }),
    label: t.string({ description: 'A label of the thread, case-insensitive.' }),
    domain: t.string({ description: 'ID of a domain of yours, or the domain name of a participant.' }),
    address: t.string({ description: 'ID of an address of yours, or the address of a participant.' }),
  }),
});

builder.queryField('inbox', (t) =>
  t.connection(
    {
      type: ThreadNode,
      access: access.read,
      description:
        'Non-archived threads with received messages, newest message first, or the results of a search. Snoozed threads, and threads that have only sent messages until the first reply, are left out unless you give a search, a label or `archived: ANY`.',
      args: {
        filter: t.arg({
          type: InboxFilter,
          description: 'Filters the threads. Omit to return all that are not archived.',
        }),
        search: t.arg.string({ description: `${SEARCH_SYNTAX} A thread is found if one of its messages matches.` }),
        orderBy: t.arg({ type: SearchOrder, defaultValue: 'newest', description: SEARCH_ORDER }),
        language: t.arg({ type: SearchLanguage, description: SEARCH_LANGUAGE }),
      },
      complexity: connectionComplexity,
      resolve: async (_root, { filter, search, orderBy, language, ...args }, { reads }) => {
        const query = { ...inboxQuery(filter, search), language: language ?? undefined };
        const page =
          orderBy === 'relevance'
            ? await connectionBy<threads.RankedThread, RelevanceCursor>(
                relevanceCursors,
                args,
                (thread) => ({ ...placeOfThread(thread), score: thread.score }),
                (span) => threads.pageInboxByRelevance(reads, query, span),
              )
            : await connectionBy<threads.ListedThread, KeysetCursor>(newestCursors, args, placeOfThread, (span) =>
                threads.pageInbox(reads, query, span),
              );
        return {
          ...page,
          count: () => threads.countInbox(reads, query),
          suggest: () => suggestSearch(reads, query),
        };
      },
    },
    ThreadConnection,
  ),
);

/** As much as a page of 100 threads. */
const SELECTION_COST = 100;

const ThreadSelectionRef = builder.objectRef<threads.ThreadSelection>('ThreadSelection').implement({
  description: 'All threads that match at one moment, to change them in batches.',
  fields: (t) => ({
    threadIds: t.exposeIDList('threadIds', {
      description: `IDs of up to ${threads.MAX_SELECTED.toLocaleString('en')} threads, newest message first.`,
    }),
    isComplete: t.exposeBoolean('isComplete', { description: 'False if more threads match.' }),
  }),
});

builder.queryField('inboxSelection', (t) =>
  t.field({
    type: ThreadSelectionRef,
    access: access.read,
    description:
      'The IDs of all threads that `inbox` returns for the same filter and search. Change them with updateThreads or trashThreads, 100 at a time.',
    args: {
      filter: t.arg({
        type: InboxFilter,
        description: 'Filters the threads. Omit to select all that are not archived.',
      }),
      search: t.arg.string({ description: `${SEARCH_SYNTAX} A thread is found if one of its messages matches.` }),
      language: t.arg({ type: SearchLanguage, description: SEARCH_LANGUAGE }),
    },
    complexity: { field: SELECTION_COST },
    resolve: (_root, { filter, search, language }, { reads }) =>
      threads.selectInbox(reads, { ...inboxQuery(filter, search), language: language ?? undefined }),
  }),
);

const ARCHIVED = { 'not archived': false, archived: true, any: 'any' } as const;

type InboxFilterInput = typeof InboxFilter.$inferInput | null | undefined;

function inboxQuery(filter: InboxFilterInput, search: string | null | undefined): threads.InboxQuery {
  const archived = filter?.archived;
  return {
    isOfInbox: true,
    search: search ?? undefined,
    isUnread: filter?.isUnread ?? undefined,
    isUnreadByMe: filter?.isUnreadByMe ?? undefined,
    isArchived: archived === null || archived === undefined ? undefined : ARCHIVED[archived],
    isTrashed: filter?.isTrashed ?? undefined,
    label: filter?.label ?? undefined,
    assigned: filter?.assigned ?? undefined,
    domain: filter?.domain ?? undefined,
    address: filter?.address ?? undefined,
  };
}
