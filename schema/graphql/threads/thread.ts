import { type KeysetCursor } from '../../../core/shared/page.ts';
import { participantList } from '../../../core/threads/thread-participants.ts';
import { type EmailSummary } from '../../../operations/emails/emails.ts';
import * as threads from '../../../operations/threads/threads.ts';
import { type Thread } from '../../../operations/threads/threads.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { type Connection, connection } from '../connection.ts';
import { EmailNode, ThreadNode } from '../nodes.ts';

export const ThreadConnection = builder.connectionObject<
  typeof ThreadNode,
  Connection<Thread> & { count: () => Promise<number> }
>(
  {
    type: ThreadNode,
    name: 'ThreadConnection',
    description: 'A page of threads.',
    fields: (c) => ({
      totalCount: c.int({
        description: 'Number of threads on all pages. Counted only when requested.',
        resolve: (page) => page.count(),
      }),
    }),
  },
  { name: 'ThreadEdge', description: 'A thread and its cursor.' },
);

/** Lists of threads are ordered by their newest messages. */
export function placeOfThread(thread: Thread): KeysetCursor {
  return { at: thread.lastMessageAt, id: thread.id };
}

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
    labels: t.exposeStringList('labels', { description: 'Labels, in the order you added them.' }),
    messageCount: t.exposeInt('messageCount', { description: 'Number of received and sent messages.' }),
    unreadCount: t.exposeInt('unreadCount', { description: 'Number of unread messages.' }),
    isArchived: t.exposeBoolean('isArchived', {
      description:
        'Whether the thread is archived: it has received messages and all of them are archived. A new message brings it back to the inbox.',
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
      description: 'When the latest message was received or sent. Lists are sorted by it.',
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
        resolve: async (thread, args, { threadPages }) => {
          const page = await connection<EmailSummary>(
            args,
            (email) => ({ at: email.threadAt, id: email.id }),
            (span) => threadPages.load(thread.id, span),
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

const ThreadFilter = builder.inputType('ThreadFilter', {
  description: 'Filters a list of threads. Omit a field to match all.',
  fields: (t) => ({
    unread: t.boolean({ description: 'True matches threads with unread messages only.' }),
    domain: t.string({ description: 'ID of a domain of yours, or the domain name of a participant.' }),
    address: t.string({ description: 'ID of an address of yours, or the address of a participant.' }),
    search: t.string({ description: 'Part of the subject or of an address, case-insensitive, up to 100 characters.' }),
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
