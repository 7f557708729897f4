import { z } from 'zod';
import { graphqlText, inRest, linkTo, maybeGone, named, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { UNDO_HOURS } from '../../core/threads/undo-hours.ts';
import { type Capability, defineAction, OF_THREADS } from '../capability/capability.ts';
import { operatorSearch, searchLanguage, text } from '../capability/field-shapes.ts';
import { listLabels, MAX_THREADS, updateThread, updateThreads } from './thread-changes.ts';
import { MAX_MERGED_THREADS, MAX_MOVED_EMAILS, mergeThreads, moveEmails, splitThread } from './thread-moves.ts';
import { MAX_SELECTED, selectInbox } from './threads.ts';
import * as trash from './trash.ts';
import { undoThreadChange } from './undo-change.ts';

const number = z.number().int();
export const threadTarget = { argument: 'threadId', argumentDescription: 'ID of the thread.' } as const;
export const idList = z.array(named(z.string(), { graphqlType: 'ID' }));
const message = restOnly(z.string());
/** What REST says of each change. */
export const done = { success: restLiteral(true), message };

const THREAD_EXAMPLES = ['th_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b', 'th_019aa3c1b2d47e1f8a0b3c4d5e6f7a8c'];
const EMAIL_EXAMPLES = ['em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b'];

/** IDs that REST counts before the operation does. */
function countedIds(kind: 'threads' | 'messages', least: number, most: number, graphqlDescription: string) {
  const description = `IDs of ${least} to ${most} ${kind}.`;
  return graphqlText(
    inRest(idList, z.array(z.string()).min(least).max(most).meta({ description })),
    graphqlDescription,
  );
}

/** What changes whole threads. REST rejects combinations in its own words (gateway/rest/threads/thread-changes.ts). */
export const threadFlags = z.object({
  isRead: z.boolean().optional().meta({ description: 'Marks all received messages as read or unread.' }),
  isArchived: z.boolean().optional().meta({ description: 'Archives or unarchives all received messages.' }),
  labels: graphqlText(
    z.array(z.string()).optional().meta({
      description: 'New set of labels, replacing all others. Cannot be combined with `add_labels` or `remove_labels`.',
    }),
    'New set of labels, replacing all others. Cannot be combined with addLabels or removeLabels.',
  ),
  addLabels: graphqlText(
    z.array(z.string()).optional().meta({
      description: 'Labels to add, each 1 to 64 characters. A thread can have 32.',
    }),
    'Labels to add, each 1 to 64 characters. A thread can have 32. A label the thread has already in another case stays unchanged.',
  ),
  removeLabels: z.array(z.string()).optional().meta({ description: 'Labels to remove, case-insensitive.' }),
});

const changedThread = z
  .object({
    ...done,
    object: restLiteral('thread'),
    id: linkTo('Thread', z.string(), 'thread').meta({
      description: 'ID of the thread. For a merged thread, that of the thread it is part of.',
    }),
  })
  .meta({ id: 'ChangedThread' });

export const changedThreads = graphqlText(
  z
    .object({
      ...done,
      threadIds: graphqlText(linkTo('Thread', z.array(z.string())), 'The existing threads.').meta({
        description: 'IDs of the threads, in the order of the request.',
      }),
      undoId: graphqlText(
        z.string().nullable(),
        'Undoes the change for a day, with undoThreadChange. Null if nothing changed.',
      ).meta({ description: 'Undoes the change for a day, with `POST /mail/threads/undo`. Null if nothing changed.' }),
    })
    .meta({ id: 'ChangedThreads' }),
  'The changed threads, and what undoes the change.',
);

const undoneThreads = graphqlText(
  z
    .object({
      ...done,
      threadIds: graphqlText(linkTo('Thread', z.array(z.string())), 'The threads that are as they were before.').meta({
        description: 'IDs of the threads that are as they were before.',
      }),
      skippedCount: number.meta({
        description:
          'Number of threads that were left alone because something has changed them since, such as new mail.',
      }),
    })
    .meta({ id: 'UndoneThreads' }),
  'Result of undoing a change of threads.',
);

const splitThreads = graphqlText(
  z
    .object({
      ...done,
      threadId: graphqlText(
        maybeGone(linkTo('Thread', z.string())),
        'The thread with the remaining messages. Null if it was deleted in the meantime.',
      ).meta({ description: 'ID of the thread with the remaining messages.' }),
      newThreadId: graphqlText(
        maybeGone(linkTo('Thread', z.string())),
        'The thread with the messages that were split off. Null if it was deleted in the meantime.',
      ).meta({ description: 'ID of the thread with the messages that were split off.' }),
    })
    .meta({ id: 'SplitThreads' }),
  'Result of splitting a thread.',
);

const label = graphqlText(
  z
    .object({
      name: graphqlText(z.string(), 'Name in the spelling most of its threads use.'),
      threadCount: graphqlText(number, 'Number of threads with the label.'),
      unreadThreadCount: graphqlText(number, 'Number of threads with the label and unread messages.'),
    })
    .meta({ id: 'Label' }),
  'A label that you have given to threads. Labels are case-insensitive.',
);

/** Number of labels that the cost limit assumes, however many the account has. */
const LIKELY_LABELS = 20;

export const threadSelection = graphqlText(
  z
    .object({
      object: restLiteral('thread_selection'),
      threadIds: z.array(named(z.string(), { graphqlType: 'ID' })).meta({
        description: `IDs of up to ${MAX_SELECTED.toLocaleString('en')} threads, newest message first.`,
      }),
      isComplete: z.boolean().meta({ description: 'False if more threads match.' }),
    })
    .meta({ id: 'ThreadSelection' }),
  'All threads that match at one moment, to change them in batches.',
);

const ARCHIVED = { false: false, true: true, any: 'any' } as const;

export const changeOptions = { access: 'organize', isOfDomain: true, method: 'POST', errors: [] } as const;
/** What moves messages may lead beyond what a member or key is limited to. */
const regrouping = { ...changeOptions, access: 'organizeAccount', isOfDomain: false } as const;

/** Changes of whole threads, and what moves messages between threads. */
export const threadChangeCapability: Capability = {
  feature: 'Threads',
  what: 'Change flags and labels',
  ...OF_THREADS,
  operations: [
    defineAction({
      ...changeOptions,
      method: 'PATCH',
      operationId: 'updateThread',
      summary: 'Update a thread',
      description:
        'Sets flags and labels of a whole thread. Flags apply to all messages received so far; new messages are unread and not archived.',
      path: '/:id',
      target: threadTarget,
      input: threadFlags,
      inputName: 'UpdateThread',
      example: { isRead: true, addLabels: ['billing'] },
      output: changedThread,
      run: async (context, change, id) => ({
        message: 'Thread updated',
        id: (await updateThread(context, id, change)).threadId,
      }),
    }),
    defineAction({
      ...changeOptions,
      operationId: 'updateThreads',
      field: 'updateThreads',
      summary: 'Update several threads',
      description: `Updates up to ${MAX_THREADS} threads, or moves them to the trash or back: all of them or none.`,
      graphqlDescription:
        'Updates whole threads: all of them or none. Flags apply to all messages received so far; new messages are unread and not archived.',
      path: '/bulk',
      input: z.object({
        threadIds: countedIds('threads', 1, MAX_THREADS, 'IDs of 1 to 100 threads.'),
        ...threadFlags.shape,
        isTrashed: restOnly(z.boolean().optional()).meta({
          description: 'Moves the threads to the trash, or back. Cannot be combined with other changes.',
        }),
      }),
      inputName: 'UpdateThreads',
      example: { threadIds: THREAD_EXAMPLES, isArchived: true },
      output: changedThreads,
      async run(context, { threadIds, isTrashed, ...change }) {
        if (isTrashed === undefined)
          return { message: 'Threads updated', ...(await updateThreads(context, threadIds, change)) };
        return isTrashed
          ? { message: 'Threads moved to the trash', ...(await trash.trashThreads(context, threadIds)) }
          : { message: 'Threads restored', ...(await trash.restoreThreads(context, threadIds)) };
      },
    }),
    defineAction({
      ...changeOptions,
      what: 'Undo a change',
      operationId: 'undoThreadChange',
      field: 'undoThreadChange',
      summary: 'Undo a change of threads',
      description: `Undoes one request to \`POST /mail/threads/bulk\`, within ${UNDO_HOURS} hours and once. Threads that something has changed since, such as new mail, are left alone.`,
      graphqlDescription:
        'Undoes one updateThreads, trashThreads or restoreThreads, within a day and once. Threads that something has changed since are left alone.',
      path: '/undo',
      input: z.object({
        undoId: graphqlText(z.string(), 'undoId of the change.').meta({ description: '`undo_id` of the change.' }),
      }),
      inputName: 'UndoThreadChange',
      example: { undoId: 'chg_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b' },
      output: undoneThreads,
      run: async (context, { undoId }) => ({ message: 'Change undone', ...(await undoThreadChange(context, undoId)) }),
    }),
    defineAction({
      ...regrouping,
      what: 'Merge threads',
      operationId: 'mergeThreads',
      field: 'mergeThreads',
      summary: 'Merge threads',
      description:
        'Merges threads into the oldest one, which gets all labels, up to 256. The IDs of the others lead to it permanently. Threads that are merged already stay merged.',
      path: '/merge',
      input: z.object({ threadIds: countedIds('threads', 2, MAX_MERGED_THREADS, 'IDs of 2 to 20 threads.') }),
      inputName: 'MergeThreads',
      example: { threadIds: THREAD_EXAMPLES },
      output: changedThread,
      payloadField: 'thread',
      run: async (context, { threadIds }) => ({
        message: 'Threads merged',
        id: await mergeThreads(context, threadIds),
      }),
    }),
    defineAction({
      ...regrouping,
      what: 'Split a thread',
      operationId: 'splitThread',
      field: 'splitThread',
      summary: 'Split a thread',
      description:
        'Moves messages of a thread, but not all of them, into a new thread with the same labels. Later replies join the thread that has the message they answer. Repeating the request returns the same result.',
      graphqlDescription:
        'Moves messages of a thread into a new thread with the same labels. Later replies join the thread that has the message they answer, and no later message joins the two threads again; use mergeThreads to do so. Repeating the request returns the same result.',
      path: '/:id/split',
      target: threadTarget,
      input: z.object({
        emailIds: countedIds(
          'messages',
          1,
          MAX_MOVED_EMAILS,
          'IDs of 1 to 500 messages of the thread, but not all of them.',
        ),
      }),
      inputName: 'SplitThread',
      example: { emailIds: EMAIL_EXAMPLES },
      output: splitThreads,
      run: async (context, { emailIds }, id) => ({
        message: 'Thread split',
        ...(await splitThread(context, id, emailIds)),
      }),
    }),
    defineAction({
      ...regrouping,
      what: 'Move messages',
      operationId: 'moveEmails',
      field: 'moveEmails',
      summary: 'Move messages into a thread',
      description:
        'Moves messages from any threads into this one. Later replies to them follow. A thread that has no messages left is merged into this one.',
      graphqlDescription:
        'Moves messages from any threads into another one. Later replies to them follow. The original threads stay separate, as after splitThread; a thread without messages is merged into the target.',
      path: '/:id/move',
      target: { argument: 'threadId', argumentDescription: 'ID of the target thread.' },
      input: z.object({
        emailIds: countedIds(
          'messages',
          1,
          MAX_MOVED_EMAILS,
          'IDs of 1 to 500 messages. Messages that are in the thread already stay there.',
        ),
      }),
      inputName: 'MoveEmails',
      example: { emailIds: EMAIL_EXAMPLES },
      output: changedThread,
      payloadField: 'thread',
      run: async (context, { emailIds }, id) => ({
        message: 'Emails moved',
        id: await moveEmails(context, emailIds, id),
      }),
    }),
    defineAction({
      access: 'read',
      what: 'Select all matching threads',
      operationId: 'selectThreads',
      summary: 'List the IDs of all matching threads',
      description:
        'Returns the IDs of all threads that match at one moment, to change them with `POST /mail/threads/bulk`, 100 at a time.',
      method: 'GET',
      path: '/selection',
      input: z.object({
        search: operatorSearch.optional().meta({
          description: 'Search text with operators, as in `search` of the GraphQL field `inbox`.',
        }),
        language: searchLanguage,
        unread: z.boolean().optional().meta({ description: '`true` selects threads with unread messages only.' }),
        archived: z.enum(['false', 'true', 'any']).default('false').meta({
          description:
            '`false` leaves out archived threads, and without a search or a label also threads that have only sent messages; `true` selects only archived threads, `any` all.',
        }),
        trashed: z.boolean().optional().meta({ description: '`true` selects threads in the trash.' }),
        label: text.optional().meta({ description: 'A label of the thread, case-insensitive.' }),
        domain: text.optional().meta({ description: 'ID or name of a domain in the thread.' }),
        address: text.optional().meta({ description: 'ID of an address in the thread, or the address itself.' }),
      }),
      output: threadSelection,
      errors: [],
      run: (context, { unread: isUnread, archived, trashed: isTrashed, ...query }) =>
        selectInbox(context, { ...query, isOfInbox: true, isUnread, isTrashed, isArchived: ARCHIVED[archived] }),
    }),
  ],
};

export const labelCapability: Capability = {
  feature: 'Threads',
  what: 'List labels',
  byHand: { mcp: ['list_labels'] },
  tag: 'Threads',
  path: '/labels',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'read',
      operationId: 'listLabels',
      field: 'labels',
      summary: 'List labels',
      description: 'Returns all labels of your threads by name. If there are more than 1,000, the most used ones.',
      graphqlDescription:
        'All labels of your threads, sorted by name. If there are more than 1,000, the most used ones.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: z.array(label).meta({ id: 'LabelList' }),
      cost: () => ({ field: 5, multiplier: LIKELY_LABELS }),
      errors: [],
      run: (context) => listLabels(context),
    }),
  ],
};
