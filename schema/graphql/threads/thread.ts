import { participantList } from '../../../core/threads/thread-participants.ts';
import type { EmailSummary } from '../../../operations/emails/emails.ts';
import * as threads from '../../../operations/threads/threads.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { EmailNode, ThreadNode } from '../nodes.ts';
import { placeOfThread, ThreadConnection } from './thread-connection.ts';

const Participant = builder.objectRef<ReturnType<typeof participantList>[number]>('Participant').implement({
  description:
    'Somebody who takes part in a thread: a sender or recipient, or the address of yours that took a message.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'As messages show it; null when none does.' }),
    address: t.exposeString('address', { description: 'In lower case.' }),
  }),
});

ThreadNode.implement({
  description:
    'Emails, received and sent, that belong together: by what they answer, or else by their subject. Ids of threads that were joined to another lead to that for ever.',
  isOfDomain: true,
  fields: (t) => ({
    rootMessageId: t.exposeString('rootMessageId', { description: 'The Message-ID field of the first message.' }),
    normalizedSubject: t.exposeString('normalizedSubject', {
      description: 'Subject of the first message, without Re:, Fwd: and the like.',
    }),
    participants: t.field({
      type: [Participant],
      description: 'In the order in which they came in, at most 100.',
      complexity: { field: 1, multiplier: 5 },
      resolve: ({ participantEmails, participantNames }) =>
        participantList({ emails: participantEmails, names: participantNames }),
    }),
    participantEmails: t.exposeStringList('participantEmails', { description: 'The addresses of participants.' }),
    participantNames: t.exposeStringList('participantNames', {
      description:
        'In the same order, what to show of each: `Ada <ada@example.org>`, or the address where no name is known.',
    }),
    labels: t.exposeStringList('labels', { description: 'Given by you, in the order in which you gave them.' }),
    messageCount: t.exposeInt('messageCount', { description: 'Received and sent messages.' }),
    unreadCount: t.exposeInt('unreadCount', { description: 'Received messages that were not marked as read.' }),
    isArchived: t.exposeBoolean('isArchived', {
      description:
        'Whether all received messages are archived, and there are any. A new message brings the thread back.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the first message was received or sent.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When anything of the thread changed: messages, flags or labels.',
    }),
    lastMessageAt: t.expose('lastMessageAt', {
      type: 'DateTime',
      description: 'When the latest message was received or sent. Lists are ordered by it.',
    }),
    latestMessage: t.field({
      type: EmailNode,
      nullable: true,
      description: 'Null in the rare case that it came into another thread while you asked.',
      resolve: (thread) => thread.latestEmailId,
    }),
    messages: t.connection(
      {
        type: EmailNode,
        description: 'All messages in chronological order, by when they were received or sent.',
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
        description: 'Messages of a thread.',
        fields: (c) => ({ totalCount: c.exposeInt('total', { description: 'Of all pages.' }) }),
      },
      { name: 'ThreadMessageEdge', description: 'A message of a thread with its cursor.' },
    ),
  }),
});

const ThreadFilter = builder.inputType('ThreadFilter', {
  description: 'Which threads a list shows; what is left out puts no condition.',
  fields: (t) => ({
    unread: t.boolean({ description: 'Only threads with unread messages.' }),
    domain: t.string({ description: 'Id of a domain of yours, or a name; the domain of a participant.' }),
    address: t.string({ description: 'Id of an address of yours, or an address; a participant.' }),
    search: t.string({ description: 'Part of the subject or of an address, in any case; at most 100 characters.' }),
  }),
});

builder.queryFields((t) => ({
  thread: t.field({
    type: ThreadNode,
    access: access.read,
    nullable: true,
    description: 'A thread of yours; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Of a thread, or of one that was joined to another.' }) },
    resolve: (_root, { id }) => id,
  }),
  threads: t.connection(
    {
      type: ThreadNode,
      access: access.read,
      description: 'All threads, that with the newest message first.',
      args: { filter: t.arg({ type: ThreadFilter, description: 'Which threads; all without it.' }) },
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
