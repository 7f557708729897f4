import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { deleteEmail } from '../../../operations/emails/delete-email.ts';
import { emailTrashChange } from '../../../operations/threads/trash-capability.ts';
import { accessByCase } from '../../admission/access.ts';
import { wireOutput } from '../capability-shapes.ts';
import { makeCancelledBody, scheduleChangeBody } from '../sending/scheduled-emails.ts';
import { errorBody, idInPath, queryBoolean, type RestOptions } from '../shapes.ts';

/** Cancels a scheduled email, or deletes one forever: two operations with one path. */
export const deleteEmailRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.delete(
    '/emails/:id',
    {
      // Cancelling needs send, deleting manage: which of them is decided by the email.
      config: { access: accessByCase({ 'to cancel': ['send'], 'to delete forever': ['remove'] }, () => []) },
      schema: {
        operationId: 'deleteEmail',
        summary: 'Cancel a scheduled email, or delete an email forever',
        description:
          'A scheduled email is cancelled: it is never sent and stays readable. Repeating the request changes nothing. A received or sent email is refused with 400, unless `forever` deletes it permanently: POST /emails/{id}/trash moves it to the trash.',
        tags: ['Emails'],
        params: idInPath,
        querystring: z.object({
          forever: queryBoolean.default(false).meta({
            description: 'Deletes an email that was received or sent permanently, now.',
          }),
        }),
        response: { 200: z.union([scheduleChangeBody, wireOutput(emailTrashChange, 'snake')]), default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const done = await deleteEmail(contextOf(request), id, request.query.forever ? 'forever' : 'cancel');
      if (done.kind === 'cancelled') return makeCancelledBody(done.change);
      const { removed, inWork } = done.removed;
      const counts = { deleted_emails: removed, kept_emails: inWork };
      return { success: true, message: 'Email deleted forever', object: 'email', id, thread_id: null, ...counts };
    },
  );
};
