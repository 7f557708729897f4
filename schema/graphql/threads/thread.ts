import { z } from 'zod';
import type { KeysetCursor, KeysetPage } from '../../../core/shared/page.ts';
import { participantList } from '../../../core/threads/thread-participants.ts';
import { searchArguments, searchLanguage } from '../../../operations/capability/field-shapes.ts';
import type { EmailSummary } from '../../../operations/emails/emails.ts';
import { loadMemberNames } from '../../../operations/threads/assign-thread.ts';
import { loadReadByMe } from '../../../operations/threads/read-state.ts';
import { suggestSearch } from '../../../operations/threads/suggest-search.ts';
import { threadSelection } from '../../../operations/threads/thread-change-capability.ts';
import { inboxFilter, threadFilter, threadShape } from '../../../operations/threads/thread-shapes.ts';
import * as threads from '../../../operations/threads/threads.ts';
import { SEARCH_SYNTAX } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { describe, inputFields, inputTypeFor, makeInputReader, objectFields, typeFor } from '../capability-shapes.ts';
import { type CountedConnection, connection, type SearchArgs, searchConnection, totalCount } from '../connection.ts';
import type { GraphContext } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EmailNode, ThreadNode } from '../nodes.ts';

type Thread = threads.Thread;

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
          'The search of `inbox` with words of your mail in place of words that no mail has, if it finds something: "webhook" for "webhok". Null: no word is misspelled, or nothing like it is found. Ask for it when a search finds nothing.',
        complexity: { field: SUGGESTION_COST },
        resolve: (page) => page.suggest?.() ?? null,
      }),
    }),
  },
  { name: 'ThreadEdge', description: 'A thread and its cursor.' },
);

/** Returns the cursor of a thread; lists are sorted by the newest message, or when a thread came back. */
function toCursor(thread: Thread): KeysetCursor {
  return { at: thread.listedAt, id: thread.id };
}

const messagePages = loadByOwner(({ reads }, threadIds, page: KeysetPage) =>
  threads.pageThreadEmails(reads, threadIds, page),
);

const overviews = loadByOwner(({ reads }, threadIds, _args: null) => threads.loadOverviews(reads, threadIds));

const readStates = loadByOwner(({ reads }, threadIds, _args: null) => loadReadByMe(reads, threadIds));

const assignees = loadByOwner(({ reads }, personIds, _args: null) => loadMemberNames(reads, personIds));

/** Fields that are not in the row of a thread as they are. */
const readers: Record<string, (thread: Thread, context: GraphContext) => unknown> = {
  subject: async ({ id, normalizedSubject }, context) =>
    (await overviews(context, id, null))?.subject ?? normalizedSubject,
  senders: async ({ id }, context) => (await overviews(context, id, null))?.senders ?? [],
  participants: ({ participantEmails: emails, participantNames: names }) => participantList({ emails, names }),
  heldClaim: ({ claim }) => claim,
  assignee: ({ assigneeId }, context) => (assigneeId === null ? null : assignees(context, assigneeId, null)),
  isReadByMe: ({ id }, context) => readStates(context, id, null),
};

ThreadNode.implement({
  description: describe(threadShape),
  isOfDomain: true,
  fields: (t) => ({
    ...(objectFields(t as never, threadShape, {
      isOfDomain: true,
      read: (thread: Thread, field, context) =>
        readers[field] === undefined ? thread[field as keyof Thread] : readers[field](thread, context),
    }) as object),
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

const ThreadFilter = inputTypeFor(threadFilter);
const readThreadFilter = makeInputReader(threadFilter);

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
        const query = readThreadFilter(args.filter ?? {}) as threads.ThreadQuery;
        const page = await connection(args, toCursor, (span) => threads.pageThreads(reads, query, span));
        return { ...page, count: () => threads.countThreads(reads, query) };
      },
    },
    ThreadConnection,
  ),
}));

const InboxFilter = inputTypeFor(inboxFilter);
const readInboxFilter = makeInputReader(inboxFilter);
const ARCHIVED = { 'not archived': false, archived: true, any: 'any' } as const;

/** Arguments of the inbox, apart from those of its pages. */
interface InboxArgs extends SearchArgs {
  filter?: object | null | undefined;
  search?: string | null | undefined;
}

function inboxQuery({ filter, search, language }: InboxArgs): threads.InboxQuery {
  const { archived, ...others } = readInboxFilter(filter ?? {}) as { archived?: keyof typeof ARCHIVED };
  return {
    ...others,
    isOfInbox: true,
    search: search ?? undefined,
    language: language ?? undefined,
    isArchived: archived === undefined ? undefined : ARCHIVED[archived],
  };
}

const INBOX_SEARCH = `${SEARCH_SYNTAX} A thread is found if one of its messages matches.`;

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
        search: t.arg.string({ description: INBOX_SEARCH }),
        ...inputFields({ field: t.arg as never }, searchArguments, { arguments: true }),
      },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const given = args as InboxArgs;
        const query = inboxQuery(given);
        const page = await searchConnection(given, {
          cursorOf: toCursor,
          page: (span): Promise<Thread[]> => threads.pageInbox(reads, query, span),
          pageByRelevance: (span) => threads.pageInboxByRelevance(reads, query, span),
          count: () => threads.countInbox(reads, query),
        });
        return { ...page, suggest: () => suggestSearch(reads, query) };
      },
    },
    ThreadConnection,
  ),
);

/** As much as a page of 100 threads. */
const SELECTION_COST = 100;

builder.queryField('inboxSelection', (t) =>
  t.field({
    type: typeFor(threadSelection),
    access: access.read,
    description:
      'The IDs of all threads that `inbox` returns for the same filter and search. Change them with updateThreads or trashThreads, 100 at a time.',
    args: {
      filter: t.arg({
        type: InboxFilter,
        description: 'Filters the threads. Omit to select all that are not archived.',
      }),
      search: t.arg.string({ description: INBOX_SEARCH }),
      ...inputFields({ field: t.arg as never }, z.object({ language: searchLanguage }), { arguments: true }),
    },
    complexity: { field: SELECTION_COST },
    resolve: (_root, args, { reads }) => threads.selectInbox(reads, inboxQuery(args as InboxArgs)),
  }),
);
