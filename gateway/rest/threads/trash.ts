import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { deleteEmail } from '../../../operations/emails/delete-email.ts';
import * as trash from '../../../operations/threads/trash.ts';
import { access, type RouteAccess } from '../../admission/access.ts';
import { cancelledBodyOf, scheduleChangeBody } from '../sending/scheduled-emails.ts';
import { errorBody, idInPath, queryBoolean, type RestOptions } from '../shapes.ts';

const deleteQuery = z.object({
  forever: queryBoolean.default(false).meta({
    description: 'Deletes the mail permanently, now. By default it is in the trash for 30 days.',
  }),
});

const deleteEmailQuery = z.object({
  forever: queryBoolean.default(false).meta({
    description: 'Deletes an email that was received or sent permanently, now.',
  }),
});

const removedCounts = {
  deleted_emails: z.number().int().optional().meta({ description: 'With `forever`: number of emails that are gone.' }),
  kept_emails: z.number().int().optional().meta({
    description:
      'With `forever`: number of emails that stay in the trash because they are still sent, routed or delivered.',
  }),
};

const threadAnswer = z
  .object({
    success: z.literal(true),
    message: z.string(),
    object: z.literal('thread'),
    id: z.string().meta({ description: 'ID of the thread that has the messages.' }),
    ...removedCounts,
  })
  .meta({ id: 'ThreadTrashChange' });

const emailAnswer = z
  .object({
    success: z.literal(true),
    message: z.string(),
    object: z.literal('email'),
    id: z.string(),
    thread_id: z.string().nullable().meta({ description: 'Its thread now. Null if the email is gone.' }),
    ...removedCounts,
  })
  .meta({ id: 'EmailTrashChange' });

/** The trash keeps a thread for a while; `forever` does not. */
const accessToDeleteThread: RouteAccess = {
  rights: {
    oneOf: ['organize'],
    of: ({ query }) => ((query as { forever?: unknown }).forever === true ? ['remove'] : ['organize']),
  },
  isOfDomain: true,
};

/** Deleting and restoring mail. */
export const trashRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.delete(
    '/emails/:id',
    {
      // Cancelling needs send, deleting manage: which of them is decided by the email.
      config: { access: { rights: { oneOf: ['send', 'remove'], of: () => [] }, isOfDomain: true } },
      schema: {
        operationId: 'deleteEmail',
        summary: 'Cancel a scheduled email, or delete an email forever',
        description:
          'A scheduled email is cancelled: it is never sent and stays readable (scope `send`). Repeating the request changes nothing. A received or sent email is refused with 400, unless `forever` deletes it permanently (scope `manage`): POST /emails/{id}/trash moves it to the trash.',
        tags: ['Emails'],
        params: idInPath,
        querystring: deleteEmailQuery,
        response: { 200: z.union([scheduleChangeBody, emailAnswer]), default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const done = await deleteEmail(contextOf(request), id, request.query.forever ? 'forever' : 'cancel');
      if (done.kind === 'cancelled') return cancelledBodyOf(done.change);
      const message = 'Email deleted forever';
      return {
        success: true as const,
        message,
        object: 'email' as const,
        id,
        thread_id: null,
        ...countsOf(done.removed),
      };
    },
  );

  app.post(
    '/emails/:id/trash',
    {
      config: { access: access.organize },
      schema: {
        operationId: 'trashEmail',
        summary: 'Move an email to the trash',
        description:
          'Moves a received email, or one that has left, to the trash for 30 days. If its thread has other messages, the email gets a thread of its own there. Repeating the request changes nothing.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: emailAnswer, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const [trashed] = await trash.trashEmails(contextOf(request), [id]);
      const message = 'Email moved to the trash';
      return { success: true as const, message, object: 'email' as const, id, thread_id: trashed?.threadId ?? null };
    },
  );

  app.post(
    '/emails/:id/restore',
    {
      config: { access: access.organize },
      schema: {
        operationId: 'restoreEmail',
        summary: 'Restore an email from the trash',
        description: 'Moves the email back, with its thread in the trash. An email that is not there stays as it is.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: emailAnswer, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const [restored] = await trash.restoreEmails(contextOf(request), [id]);
      const message = 'Email restored';
      return { success: true as const, message, object: 'email' as const, id, thread_id: restored?.threadId ?? null };
    },
  );

  app.delete(
    '/mail/threads/:id',
    {
      config: { access: accessToDeleteThread },
      schema: {
        operationId: 'deleteThread',
        summary: 'Delete a thread',
        description:
          'Moves the thread to the trash for 30 days, with all its messages. A new message brings it back. Repeating the request changes nothing.',
        tags: ['Threads'],
        params: idInPath,
        querystring: deleteQuery,
        response: { 200: threadAnswer, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const context = contextOf(request);
      const answer = { success: true as const, object: 'thread' as const };
      if (request.query.forever) {
        const removed = await trash.removeThreads(context, [id]);
        return { ...answer, message: 'Thread deleted forever', id, ...countsOf(removed) };
      }
      const [threadId = id] = (await trash.trashThreads(context, [id])).threadIds;
      return { ...answer, message: 'Thread moved to the trash', id: threadId };
    },
  );

  app.post(
    '/mail/threads/:id/restore',
    {
      config: { access: access.organize },
      schema: {
        operationId: 'restoreThread',
        summary: 'Restore a thread from the trash',
        description:
          'Moves the thread back. A message that was moved to the trash alone returns to its thread, whose ID is in the response.',
        tags: ['Threads'],
        params: idInPath,
        response: { 200: threadAnswer, default: errorBody },
      },
    },
    async (request) => {
      const [threadId = request.params.id] = (await trash.restoreThreads(contextOf(request), [request.params.id]))
        .threadIds;
      return { success: true as const, message: 'Thread restored', object: 'thread' as const, id: threadId };
    },
  );
};

function countsOf({ removed, inWork }: trash.RemovedMail) {
  return { deleted_emails: removed, kept_emails: inWork };
}
