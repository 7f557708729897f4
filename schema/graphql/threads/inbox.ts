import * as inbox from '../../../operations/threads/threads.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { ThreadNode } from '../nodes.ts';
import { placeOfThread, ThreadConnection } from './thread.ts';

/** What a search is written in, for descriptions of arguments. */
export const SEARCH_SYNTAX =
  'Words, "phrases" and operators, all of which must match one email: from: to: subject: domain: label: before: after: has:attachment is:unread is:read is:archived in:inbox in:archive in:sent in:received in:scheduled. A minus before a term excludes it. Words match the start of a word in the subject, sender, recipients or body.';

const ArchivedFilter = builder.enumType('ArchivedFilter', {
  description: 'Whether to return archived threads.',
  values: {
    NOT_ARCHIVED: { value: 'not archived', description: 'Non-archived threads only.' },
    ARCHIVED: { value: 'archived', description: 'Archived threads only.' },
    ANY: { value: 'any', description: 'Both of these.' },
  } as const,
});

const InboxFilter = builder.inputType('InboxFilter', {
  description: 'Filters the inbox. Omit a field or pass null to match all; only archived has a default.',
  fields: (t) => ({
    isUnread: t.boolean({ description: 'True matches threads with unread messages only.' }),
    archived: t.field({
      type: ArchivedFilter,
      description:
        'By default archived threads are left out, unless the search asks for them (is:archived, in:archive).',
    }),
    label: t.string({ description: 'A label of the thread, case-insensitive.' }),
    domain: t.string({ description: 'ID of a domain of yours, or the domain name of a participant.' }),
    address: t.string({ description: 'ID of an address of yours, or the address of a participant.' }),
  }),
});

builder.queryField('inbox', (t) =>
  t.connection(
    {
      type: ThreadNode,
      access: access.readAccount,
      description: 'Non-archived threads, newest message first, or the results of a search.',
      args: {
        filter: t.arg({
          type: InboxFilter,
          description: 'Filters the threads. Omit to return all that are not archived.',
        }),
        search: t.arg.string({ description: `${SEARCH_SYNTAX} A thread is found if one of its messages matches.` }),
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
