import { z } from 'zod';
import { linkTo, named, nameType, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction, OF_EMAILS, OF_THREADS } from '../capability/capability.ts';
import {
  changedThreads,
  changeOptions as common,
  done,
  idList,
  threadTarget as target,
} from './thread-change-capability.ts';
import * as trash from './trash.ts';

const number = z.number().int();

const removedCounts = {
  deletedEmails: restOnly(number.optional()).meta({ description: 'With `forever`: number of emails that are gone.' }),
  keptEmails: restOnly(number.optional()).meta({
    description:
      'With `forever`: number of emails that stay in the trash because they are still sent, routed or delivered.',
  }),
};

const threadTrashChange = z
  .object({
    ...done,
    object: restLiteral('thread'),
    id: z.string().meta({ description: 'ID of the thread that has the messages.' }),
    ...removedCounts,
  })
  .meta({ id: 'ThreadTrashChange' });

/** Also what DELETE /emails/{id} returns for an email that is gone. */
export const emailTrashChange = z
  .object({
    ...done,
    object: restLiteral('email'),
    id: z.string(),
    threadId: z.string().nullable().meta({ description: 'Its thread now. Null if the email is gone.' }),
    ...removedCounts,
  })
  .meta({ id: 'EmailTrashChange' });

const emailTarget = { argument: 'id', argumentDescription: 'ID of the email.' } as const;
const threadIds = idList.meta({ description: 'IDs of 1 to 100 threads.' });
const many = { ...common, path: '', summary: '' } as const;

const changeThreads = (field: string, description: string, run: typeof trash.trashThreads) =>
  defineAction({
    ...many,
    field,
    description,
    input: z.object({ threadIds }),
    output: changedThreads,
    run: async (context, input) => ({ message: '', ...(await run(context, input.threadIds)) }),
  });

/** Single emails in the trash. REST moves one at a time, GraphQL several. */
export const emailTrashCapability: Capability = {
  feature: 'Emails',
  what: 'Move an email to the trash',
  ...OF_EMAILS,
  operations: [
    defineAction({
      ...common,
      operationId: 'trashEmail',
      summary: 'Move an email to the trash',
      description:
        'Moves a received email, or one that has left, to the trash for 30 days. If its thread has other messages, the email gets a thread of its own there. Repeating the request changes nothing.',
      path: '/:id/trash',
      target: emailTarget,
      input: z.object({}),
      output: emailTrashChange,
      async run(context, _input, id) {
        const [trashed] = await trash.trashEmails(context, [id]);
        return { message: 'Email moved to the trash', id, threadId: trashed?.threadId ?? null };
      },
    }),
    defineAction({
      ...common,
      what: 'Restore an email',
      operationId: 'restoreEmail',
      summary: 'Restore an email from the trash',
      description: 'Moves the email back, with its thread in the trash. An email that is not there stays as it is.',
      path: '/:id/restore',
      target: emailTarget,
      input: z.object({}),
      output: emailTrashChange,
      async run(context, _input, id) {
        const [restored] = await trash.restoreEmails(context, [id]);
        return { message: 'Email restored', id, threadId: restored?.threadId ?? null };
      },
    }),
    defineAction({
      ...many,
      field: 'trashEmails',
      description:
        'Moves emails that have arrived or left to the trash: all of them or none. An email whose thread has other messages gets a thread of its own there, and returns when you restore that thread. Scheduled emails are cancelled instead: cancelEmail.',
      input: z.object({ emailIds: idList.meta({ description: 'IDs of 1 to 100 emails.' }) }),
      output: z.object({ emailIds: linkTo('Email', z.array(z.string())) }),
      payloadField: 'emails',
      run: async (context, { emailIds }) => ({
        emailIds: (await trash.trashEmails(context, emailIds)).map(({ emailId }) => emailId),
      }),
    }),
  ],
};

/** Whole threads in the trash. */
export const threadTrashCapability: Capability = {
  feature: 'Threads',
  what: 'Trash, delete and restore',
  ...OF_THREADS,
  operations: [
    defineAction({
      ...common,
      method: 'DELETE',
      operationId: 'deleteThread',
      summary: 'Delete a thread',
      description:
        'Moves the thread to the trash for 30 days, with all its messages. A new message brings it back. Repeating the request changes nothing.',
      path: '/:id',
      target,
      // In the query (gateway/rest/threads/thread-changes.ts).
      input: z.object({ forever: restOnly(z.boolean().optional()) }),
      output: threadTrashChange,
      async run(context, { forever }, id) {
        if (forever === true) {
          const { removed, inWork } = await trash.removeThreads(context, [id]);
          return { message: 'Thread deleted forever', id, deletedEmails: removed, keptEmails: inWork };
        }
        const [threadId = id] = (await trash.trashThreads(context, [id])).threadIds;
        return { message: 'Thread moved to the trash', id: threadId };
      },
    }),
    defineAction({
      ...common,
      operationId: 'restoreThread',
      summary: 'Restore a thread from the trash',
      description:
        'Moves the thread back. A message that was moved to the trash alone returns to its thread, whose ID is in the response.',
      path: '/:id/restore',
      target,
      input: z.object({}),
      output: threadTrashChange,
      async run(context, _input, id) {
        const [threadId = id] = (await trash.restoreThreads(context, [id])).threadIds;
        return { message: 'Thread restored', id: threadId };
      },
    }),
    changeThreads(
      'trashThreads',
      'Moves whole threads to the trash: all of them or none. Lists, counts and searches leave them out. They are deleted after 30 days; a new message brings its thread back.',
      trash.trashThreads,
    ),
    defineAction({
      ...many,
      access: 'remove',
      field: 'deleteThreadsForever',
      description:
        'Deletes threads with everything that belongs to their messages, whether they are in the trash or not. This cannot be undone.',
      input: z.object({ threadIds }),
      output: nameType(
        z.object({
          removed: named(number, { graphqlName: 'deletedEmailCount' }).meta({
            description: 'Number of emails that are gone.',
          }),
          inWork: named(number, { graphqlName: 'keptEmailCount' }).meta({
            description:
              'Number of emails that stay in the trash because they are still sent, routed or delivered. Delete them again later.',
          }),
        }),
        { type: 'DeleteForeverPayload', description: 'Result of deleting mail forever.' },
      ),
      run: (context, input) => trash.removeThreads(context, input.threadIds),
    }),
    changeThreads(
      'restoreThreads',
      'Moves threads back from the trash: all of them or none. A message that was moved there alone returns to its thread.',
      trash.restoreThreads,
    ),
  ],
};
