import { z } from 'zod';
import { text } from '../../../operations/capability/field-shapes.ts';
import { updateThreads } from '../../../operations/threads/thread-changes.ts';
import { restoreThreads, trashThreads } from '../../../operations/threads/trash.ts';
import { access } from '../../admission/access.ts';
import { defineTool } from '../tool.ts';

const threadIds = z.array(z.string()).meta({ description: 'Up to 100.' });

/** What these tools share. They return the IDs of the threads as they are now; merged ones have a new ID. */
const shared = {
  access: access.organize,
  effect: 'changes',
  output: z.object({ thread_ids: z.array(z.string()) }),
} as const;

const writeIds = ({ threadIds: ids }: { threadIds: string[] }) => ({ thread_ids: ids });

export const labelThreads = defineTool({
  ...shared,
  name: 'label_threads',
  title: 'Label threads',
  description: 'Adds and removes labels of threads.',
  input: z.object({
    thread_ids: threadIds,
    add_labels: z.array(text).optional(),
    remove_labels: z.array(text).optional(),
  }),
  run: async (context, { thread_ids: ids, add_labels: addLabels, remove_labels: removeLabels }) =>
    writeIds(await updateThreads(context, ids, { addLabels, removeLabels })),
});

export const archiveThreads = defineTool({
  ...shared,
  name: 'archive_threads',
  title: 'Archive threads',
  description: 'Archives threads, or moves them back to the inbox. A new message also brings a thread back.',
  input: z.object({
    thread_ids: threadIds,
    archived: z.boolean().default(true).meta({ description: 'False: back to the inbox.' }),
  }),
  run: async (context, { thread_ids: ids, archived: isArchived }) =>
    writeIds(await updateThreads(context, ids, { isArchived })),
});

export const markThreadsRead = defineTool({
  ...shared,
  name: 'mark_threads_read',
  title: 'Mark threads as read',
  description: 'Marks all received messages of threads as read, or as unread.',
  input: z.object({
    thread_ids: threadIds,
    read: z.boolean().default(true).meta({ description: 'False: unread.' }),
  }),
  run: async (context, { thread_ids: ids, read: isRead }) => writeIds(await updateThreads(context, ids, { isRead })),
});

export const trashThreadsTool = defineTool({
  ...shared,
  name: 'trash_threads',
  title: 'Move threads to the trash',
  description:
    'Moves threads to the trash, where they are deleted after 30 days, or back. Searches do not find them there, except with in:trash. A new message also brings a thread back.',
  input: z.object({
    thread_ids: threadIds,
    trashed: z.boolean().default(true).meta({ description: 'False: back.' }),
  }),
  run: async (context, { thread_ids: ids, trashed }) =>
    writeIds(await (trashed ? trashThreads : restoreThreads)(context, ids)),
});
