import type { EmailSummary } from '../../operations/emails.ts';
import * as threads from '../../operations/threads.ts';
import { builder, connectionComplexity } from './builder.ts';
import { connection } from './connection.ts';
import { EmailNode, ThreadNode } from './nodes.ts';

const ThreadFilter = builder.inputType('ThreadFilter', {
  fields: (t) => ({
    unread: t.boolean({ description: 'Only threads with unread messages.' }),
    domain: t.string({ description: 'Id of a domain of yours, or a name; the domain of a participant.' }),
    address: t.string({ description: 'Id of an address of yours, or an address; a participant.' }),
    search: t.string({ description: 'Part of the subject or of an address, in any case.' }),
  }),
});

ThreadNode.implement({
  fields: (t) => ({
    rootMessageId: t.exposeString('rootMessageId'),
    normalizedSubject: t.exposeString('normalizedSubject'),
    participantEmails: t.exposeStringList('participantEmails'),
    participantNames: t.exposeStringList('participantNames'),
    messageCount: t.exposeInt('messageCount'),
    unreadCount: t.exposeInt('unreadCount'),
    isArchived: t.exposeBoolean('isArchived', { description: 'All its received mails are.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    lastMessageAt: t.expose('lastMessageAt', { type: 'DateTime' }),
    latestMessage: t.field({ type: EmailNode, nullable: true, resolve: (thread) => thread.latestEmailId }),
    messages: t.connection(
      {
        type: EmailNode,
        description: 'In chronological order.',
        complexity: connectionComplexity,
        resolve: (thread, args, { threadPages }) =>
          connection<EmailSummary>(
            args,
            (email) => ({ at: email.threadAt, id: email.id }),
            (page) => threadPages.load(thread.id, page),
          ),
      },
      { name: 'ThreadMessageConnection' },
      { name: 'ThreadMessageEdge' },
    ),
  }),
});

builder.queryFields((t) => ({
  thread: t.field({
    type: ThreadNode,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }) => id,
  }),
  threads: t.connection(
    {
      type: ThreadNode,
      description: 'Newest message first.',
      args: { filter: t.arg({ type: ThreadFilter }) },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query = threadQuery(args.filter);
        const page = await connection<threads.Thread>(
          args,
          (thread) => ({ at: thread.lastMessageAt, id: thread.id }),
          (span) => threads.pageThreads(reads, query, span),
        );
        return { ...page, count: () => threads.countThreads(reads, query) };
      },
    },
    { name: 'ThreadConnection', fields: (c) => ({ totalCount: c.int({ resolve: (page) => page.count() }) }) },
    { name: 'ThreadEdge' },
  ),
}));

interface ThreadFilterInput {
  unread?: boolean | null | undefined;
  domain?: string | null | undefined;
  address?: string | null | undefined;
  search?: string | null | undefined;
}

function threadQuery(filter: ThreadFilterInput | null | undefined): threads.ThreadQuery {
  return {
    isUnread: filter?.unread ?? undefined,
    domain: filter?.domain ?? undefined,
    address: filter?.address ?? undefined,
    search: filter?.search ?? undefined,
  };
}
