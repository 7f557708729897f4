import { type Label, listLabels, updateThreads } from '../../../operations/threads/thread-changes.ts';
import { mergeThreads, moveEmails, type SplitThread, splitThread } from '../../../operations/threads/thread-moves.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { ThreadNode } from '../nodes.ts';

const LabelRef = builder.objectRef<Label>('Label').implement({
  description: 'A word that you filed threads under. Case does not part two labels.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'In the spelling of most of its threads.' }),
    threadCount: t.exposeInt('threadCount', { description: 'Threads that have it.' }),
    unreadThreadCount: t.exposeInt('unreadThreadCount', { description: 'Those of them with unread messages.' }),
  }),
});

/** Assumed by the limit on costs; accounts with more pay no more. */
const LIKELY_LABELS = 20;

builder.queryField('labels', (t) =>
  t.field({
    type: [LabelRef],
    access: access.readAccount,
    description: 'Every label of your threads, by name; of more than 1,000 those of most threads.',
    complexity: { field: 5, multiplier: LIKELY_LABELS },
    resolve: (_root, _args, { reads }) => listLabels(reads),
  }),
);

builder.mutationField('updateThreads', (t) =>
  t.fieldWithInput({
    type: [ThreadNode],
    access: access.manage,
    description:
      'Changes whole threads: all of them, or none. Flags are set on every received message that is there now; a message that comes later is unread and not archived.',
    input: {
      threadIds: t.input.idList({ required: true, description: '1 to 100 threads.' }),
      isRead: t.input.boolean({ description: 'Marks all received messages as read, or as unread.' }),
      isArchived: t.input.boolean({ description: 'Archives all received messages, or takes them out of the archive.' }),
      addLabels: t.input.stringList({
        description:
          'Labels to give, each of 1 to 64 characters. A thread has at most 32; one that it has in another case stays as it is.',
      }),
      removeLabels: t.input.stringList({ description: 'Labels to take away, in any case.' }),
      labels: t.input.stringList({
        description:
          'Labels to have from now on, in place of all others. Not together with addLabels and removeLabels.',
      }),
    },
    errors: { dataField: { name: 'threads' } },
    resolve: async (_root, { input }, context) => {
      const { threadIds, ...change } = input;
      const living = await updateThreads(context.operations, threadIds, {
        isRead: change.isRead ?? undefined,
        isArchived: change.isArchived ?? undefined,
        labels: change.labels ?? undefined,
        addLabels: change.addLabels ?? undefined,
        removeLabels: change.removeLabels ?? undefined,
      });
      forgetLoaded(context);
      return living;
    },
  }),
);

builder.mutationField('mergeThreads', (t) =>
  t.fieldWithInput({
    type: ThreadNode,
    access: access.manage,
    description:
      'Joins threads into the oldest of them, with the labels of all. The ids of the others lead to it for ever. Threads that are one already stay so.',
    input: { threadIds: t.input.idList({ required: true, description: '2 to 20 threads.' }) },
    errors: { dataField: { name: 'thread' } },
    resolve: async (_root, { input }, context) => {
      const threadId = await mergeThreads(context.operations, input.threadIds);
      forgetLoaded(context);
      return threadId;
    },
  }),
);

const SplitThreadPayload = builder.objectRef<SplitThread>('SplitThreadPayload').implement({
  description: 'A thread that was divided.',
  fields: (t) => ({
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The messages that stayed. Null when the thread ended in the meantime.',
      resolve: ({ threadId }) => threadId,
    }),
    newThread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The messages that were split off. Null when the thread ended in the meantime.',
      resolve: ({ newThreadId }) => newThreadId,
    }),
  }),
});

builder.mutationField('splitThread', (t) =>
  t.fieldWithInput({
    type: SplitThreadPayload,
    access: access.manage,
    description:
      'Makes messages of a thread a thread of their own, with the same labels. From then on answers go to whichever of the two has what they answer, and no later message joins the two; mergeThreads does. Asked again, it answers the same.',
    input: {
      threadId: t.input.id({ required: true, description: 'The thread that has the messages.' }),
      emailIds: t.input.idList({ required: true, description: '1 to 500 of its messages, not all.' }),
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
    access: access.manage,
    description:
      'Moves messages of any threads into another; answers to them follow. The threads that they leave stay apart from it, as after splitThread; one that is left without messages ends in it.',
    input: {
      emailIds: t.input.idList({
        required: true,
        description: '1 to 500 messages. Those that are there already stay.',
      }),
      threadId: t.input.id({ required: true, description: 'The thread that gets them.' }),
    },
    errors: { dataField: { name: 'thread' } },
    resolve: async (_root, { input }, context) => {
      const threadId = await moveEmails(context.operations, input.emailIds, input.threadId);
      forgetLoaded(context);
      return threadId;
    },
  }),
);
