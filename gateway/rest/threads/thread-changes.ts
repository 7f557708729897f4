import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { UNDO_HOURS } from '../../../core/threads/undo-hours.ts';
import { operatorSearch, searchLanguage } from '../../../operations/capability/field-shapes.ts';
import { invalid } from '../../../operations/context.ts';
import {
  listLabels,
  MAX_THREADS,
  type ThreadChange,
  updateThread,
  updateThreads,
} from '../../../operations/threads/thread-changes.ts';
import {
  MAX_MERGED_THREADS,
  MAX_MOVED_EMAILS,
  mergeThreads,
  moveEmails,
  splitThread,
} from '../../../operations/threads/thread-moves.ts';
import { MAX_SELECTED, selectInbox } from '../../../operations/threads/threads.ts';
import { restoreThreads, trashThreads } from '../../../operations/threads/trash.ts';
import { type ChangedThreads, undoThreadChange } from '../../../operations/threads/undo-change.ts';
import { access } from '../../admission/access.ts';
import { sendSnakeCaseError } from '../../http/error-response.ts';
import { errorBody, idInPath, queryBoolean, type RestOptions, text } from '../shapes.ts';

const changeShape = {
  is_read: z.boolean().optional().meta({ description: 'Marks all received messages as read or unread.' }),
  is_archived: z.boolean().optional().meta({ description: 'Archives or unarchives all received messages.' }),
  labels: z.array(z.string()).optional().meta({
    description: 'New set of labels, replacing all others. Cannot be combined with `add_labels` or `remove_labels`.',
  }),
  add_labels: z.array(z.string()).optional().meta({
    description: 'Labels to add, each 1 to 64 characters. A thread can have 32.',
  }),
  remove_labels: z.array(z.string()).optional().meta({ description: 'Labels to remove, case-insensitive.' }),
};

const updateThreadBody = z
  .object(changeShape)
  .meta({ id: 'UpdateThread', examples: [{ is_read: true, add_labels: ['billing'] }] });

const threadIds = (least: number, most: number) =>
  z
    .array(z.string())
    .min(least)
    .max(most)
    .meta({ description: `IDs of ${least} to ${most} threads.` });
const emailIds = z
  .array(z.string())
  .min(1)
  .max(MAX_MOVED_EMAILS)
  .meta({ description: `IDs of 1 to ${MAX_MOVED_EMAILS} messages.` });

const updateThreadsBody = z
  .object({
    thread_ids: threadIds(1, MAX_THREADS),
    ...changeShape,
    is_trashed: z.boolean().optional().meta({
      description: 'Moves the threads to the trash, or back. Cannot be combined with other changes.',
    }),
  })
  .meta({
    id: 'UpdateThreads',
    examples: [
      { thread_ids: ['th_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b', 'th_019aa3c1b2d47e1f8a0b3c4d5e6f7a8c'], is_archived: true },
    ],
  });

const changedThread = z
  .object({
    success: z.literal(true),
    message: z.string(),
    object: z.literal('thread'),
    id: z.string().meta({ description: 'ID of the thread. For a merged thread, that of the thread it is part of.' }),
  })
  .meta({ id: 'ChangedThread' });

const changedThreads = z
  .object({
    success: z.literal(true),
    message: z.string(),
    thread_ids: z.array(z.string()).meta({ description: 'IDs of the threads, in the order of the request.' }),
    undo_id: z.string().nullable().meta({
      description: 'Undoes the change for a day, with `POST /mail/threads/undo`. Null if nothing changed.',
    }),
  })
  .meta({ id: 'ChangedThreads' });

const undoneThreads = z
  .object({
    success: z.literal(true),
    message: z.string(),
    thread_ids: z.array(z.string()).meta({ description: 'IDs of the threads that are as they were before.' }),
    skipped_count: z.number().int().meta({
      description: 'Number of threads that were left alone because something has changed them since, such as new mail.',
    }),
  })
  .meta({ id: 'UndoneThreads' });

const splitThreads = z
  .object({
    success: z.literal(true),
    message: z.string(),
    thread_id: z.string().meta({ description: 'ID of the thread with the remaining messages.' }),
    new_thread_id: z.string().meta({ description: 'ID of the thread with the messages that were split off.' }),
  })
  .meta({ id: 'SplitThreads' });

const labelList = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z
        .object({
          name: z.string(),
          thread_count: z.number().int(),
          unread_thread_count: z.number().int(),
        })
        .meta({ id: 'Label' }),
    ),
  })
  .meta({ id: 'LabelList' });

const selectionQuery = z.object({
  search: operatorSearch.optional().meta({
    description: 'Search text with operators, as in `search` of the GraphQL field `inbox`.',
  }),
  language: searchLanguage,
  unread: queryBoolean.optional().meta({ description: '`true` selects threads with unread messages only.' }),
  archived: z.enum(['false', 'true', 'any']).default('false').meta({
    description:
      '`false` leaves out archived threads, and without a search or a label also threads that have only sent messages; `true` selects only archived threads, `any` all.',
  }),
  trashed: queryBoolean.optional().meta({ description: '`true` selects threads in the trash.' }),
  label: text.optional().meta({ description: 'A label of the thread, case-insensitive.' }),
  domain: text.optional().meta({ description: 'ID or name of a domain in the thread.' }),
  address: text.optional().meta({ description: 'ID of an address in the thread, or the address itself.' }),
});

const selection = z
  .object({
    object: z.literal('thread_selection'),
    thread_ids: z.array(z.string()).meta({
      description: `IDs of up to ${MAX_SELECTED.toLocaleString('en')} threads, newest message first.`,
    }),
    is_complete: z.boolean().meta({ description: 'False if more threads match.' }),
  })
  .meta({ id: 'ThreadSelection' });

const ARCHIVED = { false: false, true: true, any: 'any' } as const;

/** Changes of whole threads, labels, and what moves messages between threads. */
export const threadChangeRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.patch(
    '/mail/threads/:id',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.organize },
      schema: {
        operationId: 'updateThread',
        summary: 'Update a thread',
        description:
          'Sets flags and labels of a whole thread. Flags apply to all messages received so far; new messages are unread and not archived.',
        tags: ['Threads'],
        params: idInPath,
        body: updateThreadBody,
        response: { 200: changedThread, default: errorBody },
      },
    },
    async (request) => {
      const { threadId } = await updateThread(contextOf(request), request.params.id, readChange(request.body));
      return { success: true as const, message: 'Thread updated', object: 'thread' as const, id: threadId };
    },
  );

  app.post(
    '/mail/threads/bulk',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.organize },
      schema: {
        operationId: 'updateThreads',
        summary: 'Update several threads',
        description: `Updates up to ${MAX_THREADS} threads, or moves them to the trash or back: all of them or none.`,
        tags: ['Threads'],
        body: updateThreadsBody,
        response: { 200: changedThreads, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { thread_ids: ids, is_trashed: isTrashed } = request.body;
      const done = { success: true as const };
      const shown = ({ threadIds: changed, undoId }: ChangedThreads) => ({ thread_ids: changed, undo_id: undoId });
      if (isTrashed === undefined)
        return {
          ...done,
          message: 'Threads updated',
          ...shown(await updateThreads(context, ids, readChange(request.body))),
        };
      if (Object.keys(changeShape).some((name) => name in request.body)) throw trashedAlone();
      if (isTrashed)
        return { ...done, message: 'Threads moved to the trash', ...shown(await trashThreads(context, ids)) };
      return { ...done, message: 'Threads restored', ...shown(await restoreThreads(context, ids)) };
    },
  );

  app.post(
    '/mail/threads/undo',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.organize },
      schema: {
        operationId: 'undoThreadChange',
        summary: 'Undo a change of threads',
        description: `Undoes one request to \`POST /mail/threads/bulk\`, within ${UNDO_HOURS} hours and once. Threads that something has changed since, such as new mail, are left alone.`,
        tags: ['Threads'],
        body: z.object({ undo_id: z.string().meta({ description: '`undo_id` of the change.' }) }).meta({
          id: 'UndoThreadChange',
          examples: [{ undo_id: 'chg_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b' }],
        }),
        response: { 200: undoneThreads, default: errorBody },
      },
    },
    async (request) => {
      const { threadIds: undone, skippedCount } = await undoThreadChange(contextOf(request), request.body.undo_id);
      return { success: true as const, message: 'Change undone', thread_ids: undone, skipped_count: skippedCount };
    },
  );

  app.post(
    '/mail/threads/merge',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.organizeAccount },
      schema: {
        operationId: 'mergeThreads',
        summary: 'Merge threads',
        description:
          'Merges threads into the oldest one, which gets all labels, up to 256. The IDs of the others lead to it permanently. Threads that are merged already stay merged.',
        tags: ['Threads'],
        body: z.object({ thread_ids: threadIds(2, MAX_MERGED_THREADS) }).meta({
          id: 'MergeThreads',
          examples: [{ thread_ids: ['th_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b', 'th_019aa3c1b2d47e1f8a0b3c4d5e6f7a8c'] }],
        }),
        response: { 200: changedThread, default: errorBody },
      },
    },
    async (request) => {
      const id = await mergeThreads(contextOf(request), request.body.thread_ids);
      return { success: true as const, message: 'Threads merged', object: 'thread' as const, id };
    },
  );

  app.post(
    '/mail/threads/:id/split',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.organizeAccount },
      schema: {
        operationId: 'splitThread',
        summary: 'Split a thread',
        description:
          'Moves messages of a thread, but not all of them, into a new thread with the same labels. Later replies join the thread that has the message they answer. Repeating the request returns the same result.',
        tags: ['Threads'],
        params: idInPath,
        body: z
          .object({ email_ids: emailIds })
          .meta({ id: 'SplitThread', examples: [{ email_ids: ['em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b'] }] }),
        response: { 200: splitThreads, default: errorBody },
      },
    },
    async (request) => {
      const split = await splitThread(contextOf(request), request.params.id, request.body.email_ids);
      return {
        success: true as const,
        message: 'Thread split',
        thread_id: split.threadId,
        new_thread_id: split.newThreadId,
      };
    },
  );

  app.post(
    '/mail/threads/:id/move',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.organizeAccount },
      schema: {
        operationId: 'moveEmails',
        summary: 'Move messages into a thread',
        description:
          'Moves messages from any threads into this one. Later replies to them follow. A thread that has no messages left is merged into this one.',
        tags: ['Threads'],
        params: idInPath,
        body: z
          .object({ email_ids: emailIds })
          .meta({ id: 'MoveEmails', examples: [{ email_ids: ['em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b'] }] }),
        response: { 200: changedThread, default: errorBody },
      },
    },
    async (request) => {
      const id = await moveEmails(contextOf(request), request.body.email_ids, request.params.id);
      return { success: true as const, message: 'Emails moved', object: 'thread' as const, id };
    },
  );

  app.get(
    '/mail/threads/selection',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.read },
      schema: {
        operationId: 'selectThreads',
        summary: 'List the IDs of all matching threads',
        description:
          'Returns the IDs of all threads that match at one moment, to change them with `POST /mail/threads/bulk`, 100 at a time.',
        tags: ['Threads'],
        querystring: selectionQuery,
        response: { 200: selection, default: errorBody },
      },
    },
    async (request) => {
      const { unread: isUnread, archived, trashed: isTrashed, ...named } = request.query;
      const query = { ...named, isOfInbox: true, isUnread, isTrashed, isArchived: ARCHIVED[archived] };
      const { threadIds: ids, isComplete } = await selectInbox(contextOf(request), query);
      return { object: 'thread_selection' as const, thread_ids: [...ids], is_complete: isComplete };
    },
  );

  app.get(
    '/labels',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.read },
      schema: {
        operationId: 'listLabels',
        summary: 'List labels',
        description: 'Returns all labels of your threads by name. If there are more than 1,000, the most used ones.',
        tags: ['Threads'],
        response: { 200: labelList, default: errorBody },
      },
    },
    async (request) => {
      const labels = await listLabels(contextOf(request));
      return {
        object: 'list' as const,
        data: labels.map(({ name, threadCount, unreadThreadCount }) => ({
          name,
          thread_count: threadCount,
          unread_thread_count: unreadThreadCount,
        })),
      };
    },
  );
};

/** Throws validation when the body changes nothing, or gives labels in two ways. */
function readChange(body: z.infer<typeof updateThreadBody>): ThreadChange {
  const { labels, add_labels: added, remove_labels: removed } = body;
  if (Object.keys(changeShape).every((name) => body[name as keyof typeof changeShape] === undefined))
    throw invalid(`Give at least one of: ${Object.keys(changeShape).join(', ')}`, 'is_read');
  if (labels !== undefined && (added !== undefined || removed !== undefined))
    throw invalid('Give either `labels`, or `add_labels` and `remove_labels`', 'labels');
  return {
    isRead: body.is_read,
    isArchived: body.is_archived,
    labels: body.labels,
    addLabels: body.add_labels,
    removeLabels: body.remove_labels,
  };
}

function trashedAlone(): Error {
  return invalid(
    '`is_trashed` cannot be combined with other changes. Send them in a request of their own.',
    'is_trashed',
  );
}
