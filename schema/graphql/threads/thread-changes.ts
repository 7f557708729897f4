import { type Label, listLabels, updateThreads } from '../../../operations/threads/thread-changes.ts';
import { mergeThreads, moveEmails, type SplitThread, splitThread } from '../../../operations/threads/thread-moves.ts';
import { type UndoneChange, undoThreadChange } from '../../../operations/threads/undo-change.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { ThreadNode } from '../nodes.ts';
import { changedThreadsPayload } from './changed-threads.ts';

const LabelRef = builder.objectRef<Label>('Label').implement({
  description: 'A label that you have given to threads. Labels are case-insensitive.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name in the spelling most of its threads use.' }),
    threadCount: t.exposeInt('threadCount', { description: 'Number of threads with the label.' }),
    unreadThreadCount: t.exposeInt('unreadThreadCount', {
      description: 'Number of threads with the label and unread messages.',
    }),
  }),
});

/** Number of labels that the cost limit assumes, however many the account has. */
const LIKELY_LABELS = 20;

builder.queryField('labels', (t) =>
  t.field({
    type: [LabelRef],
    access: access.read,
    description: 'All labels of your threads, sorted by name. If there are more than 1,000, the most used ones.',
    complexity: { field: 5, multiplier: LIKELY_LABELS },
    resolve: (_root, _args, { reads }) => listLabels(reads),
  }),
);

builder.mutationField('updateThreads', (t) =>
  t.fieldWithInput({
    type: changedThreadsPayload('UpdateThreadsPayload'),
    access: access.organize,
    description:
      'Updates whole threads: all of them or none. Flags apply to all messages received so far; new messages are unread and not archived.',
    input: {
      threadIds: t.input.idList({ required: true, description: 'IDs of 1 to 100 threads.' }),
      isRead: t.input.boolean({ description: 'Marks all received messages as read or unread.' }),
      isArchived: t.input.boolean({ description: 'Archives or unarchives all received messages.' }),
      addLabels: t.input.stringList({
        description:
          'Labels to add, each 1 to 64 characters. A thread can have 32. A label the thread has already in another case stays unchanged.',
      }),
      removeLabels: t.input.stringList({ description: 'Labels to remove, case-insensitive.' }),
      labels: t.input.stringList({
        description: 'New set of labels, replacing all others. Cannot be combined with addLabels or removeLabels.',
      }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input }, context) => {
      const { threadIds, ...change } = input;
      const changed = await updateThreads(context.operations, threadIds, {
        isRead: change.isRead ?? undefined,
        isArchived: change.isArchived ?? undefined,
        labels: change.labels ?? undefined,
        addLabels: change.addLabels ?? undefined,
        removeLabels: change.removeLabels ?? undefined,
      });
      forgetLoaded(context);
      return changed;
    },
  }),
);

const UndoThreadChangePayload = builder.objectRef<UndoneChange>('UndoThreadChangePayload').implement({
  description: 'Result of undoing a change of threads.',
  fields: (t) => ({
    threads: t.field({
      type: [ThreadNode],
      description: 'The threads that are as they were before.',
      resolve: ({ threadIds }) => threadIds,
    }),
    skippedCount: t.exposeInt('skippedCount', {
      description: 'Number of threads that were left alone because something has changed them since, such as new mail.',
    }),
  }),
});

builder.mutationField('undoThreadChange', (t) =>
  t.fieldWithInput({
    type: UndoThreadChangePayload,
    access: access.organize,
    description:
      'Undoes one updateThreads, trashThreads or restoreThreads, within a day and once. Threads that something has changed since are left alone.',
    input: { undoId: t.input.id({ required: true, description: 'undoId of the change.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input }, context) => {
      const undone = await undoThreadChange(context.operations, input.undoId);
      forgetLoaded(context);
      return undone;
    },
  }),
);

builder.mutationField('mergeThreads', (t) =>
  t.fieldWithInput({
    type: ThreadNode,
    access: access.organizeAccount,
    description:
      'Merges threads into the oldest one, which gets all labels, up to 256. The IDs of the others lead to it permanently. Threads that are merged already stay merged.',
    input: { threadIds: t.input.idList({ required: true, description: 'IDs of 2 to 20 threads.' }) },
    errors: { dataField: { name: 'thread' } },
    resolve: async (_root, { input }, context) => {
      const threadId = await mergeThreads(context.operations, input.threadIds);
      forgetLoaded(context);
      return threadId;
    },
  }),
);

const SplitThreadPayload = builder.objectRef<SplitThread>('SplitThreadPayload').implement({
  description: 'Result of splitting a thread.',
  fields: (t) => ({
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread with the remaining messages. Null if it was deleted in the meantime.',
      resolve: ({ threadId }) => threadId,
    }),
    newThread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread with the messages that were split off. Null if it was deleted in the meantime.',
      resolve: ({ newThreadId }) => newThreadId,
    }),
  }),
});

builder.mutationField('splitThread', (t) =>
  t.fieldWithInput({
    type: SplitThreadPayload,
    access: access.organizeAccount,
    description:
      'Moves messages of a thread into a new thread with the same labels. Later replies join the thread that has the message they answer, and no later message joins the two threads again; use mergeThreads to do so. Repeating the request returns the same result.',
    input: {
      threadId: t.input.id({ required: true, description: 'ID of the thread.' }),
      emailIds: t.input.idList({
        required: true,
        description: 'IDs of 1 to 500 messages of the thread, but not all of them.',
      }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input }, context) => {
      const split = await splitThread(context.operations, input.threadId, input.emailIds);
      forgetLoaded(context);
      return split;
    },
  }),
);

builder.mutationField('moveEmails', (t) =>
  t.fieldWithInput({
    type: ThreadNode,
    access: access.organizeAccount,
    description:
      'Moves messages from any threads into another one. Later replies to them follow. The original threads stay separate, as after splitThread; a thread without messages is merged into the target.',
    input: {
      emailIds: t.input.idList({
        required: true,
        description: 'IDs of 1 to 500 messages. Messages that are in the thread already stay there.',
      }),
      threadId: t.input.id({ required: true, description: 'ID of the target thread.' }),
    },
    errors: { dataField: { name: 'thread' } },
    resolve: async (_root, { input }, context) => {
      const threadId = await moveEmails(context.operations, input.emailIds, input.threadId);
      forgetLoaded(context);
      return threadId;
    },
  }),
);
