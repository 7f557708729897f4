import { z } from 'zod';
import { text } from '../../../operations/capability/field-shapes.ts';
import { updateThreads } from '../../../operations/threads/thread-changes.ts';
import { restoreThreads, trashThreads } from '../../../operations/threads/trash.ts';
import { access } from '../../admission/access.ts';
import { defineTool } from '../tool.ts';

const threadIds = z.array(z.string()).meta({ description: 'Up to 100.' });
/** IDs of the threads as they are now; merged ones have a new ID. */
const output = z.object({ thread_ids: z.array(z.string()) });

export const labelThreads = defineTool({
  name: 'label_threads',
  title: 'Label threads',
  description: 'Adds and removes labels of threads.',
  access: access.organize,
  effect: 'changes',
  input: z.object({
    thread_ids: threadIds,
    add_labels: z.array(text).optional(),
    remove_labels: z.array(text).optional(),
  }),
  output,
  async run(context, { thread_ids: ids, add_labels: addLabels, remove_labels: removeLabels }) {
    return { thread_ids: (await updateThreads(context, ids, { addLabels, removeLabels })).threadIds };
  },
});

export const archiveThreads = defineTool({
  name: 'archive_threads',
  title: 'Archive threads',
  description: 'Archives threads, or moves them back to the inbox. A new message also brings a thread back.',
  access: access.organize,
  effect: 'changes',
  input: z.object({
    thread_ids: threadIds,
    archived: z.boolean().default(true).meta({ description: 'False: back to the inbox.' }),
  }),
  output,
  async run(context, { thread_ids: ids, archived: isArchived }) {
    return { thread_ids: (await updateThreads(context, ids, { isArchived })).threadIds };
  },
});

export const markThreadsRead = defineTool({
  name: 'mark_threads_read',
  title: 'Mark threads as read',
  description: 'Marks all received messages of threads as read, or as unread.',
  access: access.organize,
  effect: 'changes',
  input: z.object({
    thread_ids: threadIds,
    read: z.boolean().default(true).meta({ description: 'False: unread.' }),
  }),
  output,
  async run(context, { thread_ids: ids, read: isRead }) {
    return { thread_ids: (await updateThreads(context, ids, { isRead })).threadIds };
  },
});

export const trashThreadsTool = defineTool({
  name: 'trash_threads',
  title: 'Move threads to the trash',
  description:
    'Moves threads to the trash, where they are deleted after 30 days, or back. Searches do not find them there, except with in:trash. A new message also brings a thread back.',
  access: access.organize,
  effect: 'changes',
  input: z.object({
    thread_ids: threadIds,
    trashed: z.boolean().default(true).meta({ description: 'False: back.' }),
  }),
  output,
  async run(context, { thread_ids: ids, trashed }) {
    return { thread_ids: (await (trashed ? trashThreads : restoreThreads)(context, ids)).threadIds };
  },
});
