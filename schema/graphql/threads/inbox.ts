import * as inbox from '../../../operations/threads/threads.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { ThreadNode } from '../nodes.ts';
import { placeOfThread, ThreadConnection } from './thread-connection.ts';

/** What a search is written in, for descriptions of arguments. */
export const SEARCH_SYNTAX =
  'Words, "phrases" and operators, all of which one email has to be: from: to: subject: domain: label: before: after: has:attachment is:unread is:read is:archived in:inbox in:archive in:sent in:received in:scheduled; a minus before one means not. Words are looked for in subject, sender, recipients and body, each as the beginning of a word.';

const ArchivedFilter = builder.enumType('ArchivedFilter', {
  description: 'Whether archived threads are shown.',
  values: {
    NOT_ARCHIVED: { value: 'not archived', description: 'Only threads that are not archived.' },
    ARCHIVED: { value: 'archived', description: 'Only archived threads.' },
    ANY: { value: 'any', description: 'Both.' },
  } as const,
});

const InboxFilter = builder.inputType('InboxFilter', {
  description: 'Which threads the inbox shows; what is absent or null puts no condition, but for archived.',
  fields: (t) => ({
    isUnread: t.boolean({ description: 'True: only threads with unread messages.' }),
    archived: t.field({
      type: ArchivedFilter,
      description:
        'Absent: archived threads are not in the inbox, unless the search asks for archived mail (is:archived, in:archive).',
    }),
    label: t.string({ description: 'A label of the thread, in any case.' }),
    domain: t.string({ description: 'Id of a domain of yours, or a name; the domain of a participant.' }),
    address: t.string({ description: 'Id of an address of yours, or an address; a participant.' }),
  }),
});

builder.queryField('inbox', (t) =>
  t.connection(
    {
      type: ThreadNode,
      access: access.readAccount,
      description: 'Threads that are not archived, that with the newest message first; or those that a search finds.',
      args: {
        filter: t.arg({ type: InboxFilter, description: 'Which threads; absent: all that are not archived.' }),
        search: t.arg.string({ description: `${SEARCH_SYNTAX} A thread is found by one of its messages.` }),
      },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query = inboxQuery(args.filter, args.search);
        const page = await connection(args, placeOfThread, (span) => inbox.pageInbox(reads, query, span));
        return { ...page, count: () => inbox.countInbox(reads, query) };
      },
    },
    ThreadConnection,
  ),
);

const ARCHIVED = { 'not archived': false, archived: true, any: 'any' } as const;

type InboxFilterInput = typeof InboxFilter.$inferInput | null | undefined;

function inboxQuery(filter: InboxFilterInput, search: string | null | undefined): inbox.InboxQuery {
  const archived = filter?.archived;
  return {
    search: search ?? undefined,
    isUnread: filter?.isUnread ?? undefined,
    isArchived: archived === null || archived === undefined ? undefined : ARCHIVED[archived],
    label: filter?.label ?? undefined,
    domain: filter?.domain ?? undefined,
    address: filter?.address ?? undefined,
  };
}
