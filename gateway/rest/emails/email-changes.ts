import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAX_EMAILS, updateEmails } from '../../../operations/emails/email-flags.ts';
import { MAX_REPROCESSED, REPROCESS_STEPS } from '../../../operations/emails/reprocess.ts';
import { reprocessCapability } from '../../../operations/emails/reprocess-capability.ts';
import { access } from '../../admission/access.ts';
import { sendSnakeCaseError } from '../../http/error-response.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { errorBody, instant, type RestOptions, wireInstant } from '../shapes.ts';

const emailIds = (most: number) =>
  z
    .array(z.string())
    .min(1)
    .max(most)
    .meta({ description: `IDs of 1 to ${most} emails.` });

const updateBody = z
  .object({
    email_ids: emailIds(MAX_EMAILS),
    is_read: z.boolean().optional().meta({ description: 'True marks the emails as read, false as unread.' }),
    is_archived: z.boolean().optional().meta({ description: 'True archives the emails, false unarchives them.' }),
  })
  .meta({
    id: 'UpdateEmails',
    examples: [
      { email_ids: ['em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b', 'em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8c'], is_read: true },
    ],
  });

const updatedEmails = z
  .object({
    object: z.literal('list'),
    data: z
      .array(
        z.object({
          id: z.string(),
          is_read: z.boolean(),
          is_archived: z.boolean(),
          updated_at: instant,
        }),
      )
      .meta({ description: 'The emails, in the order of the request.' }),
  })
  .meta({ id: 'UpdatedEmails' });

/** The lists are checked before the operation. */
export const reprocessRoutes = capabilityRoutes(reprocessCapability, {
  operations: {
    reprocessEmails: {
      request: z.object({
        email_ids: emailIds(MAX_REPROCESSED),
        steps: z.array(z.enum(REPROCESS_STEPS)).min(1).meta({
          description:
            'Steps to run, always in this order: `parse` parses the raw message with the current parser, `thread` threads the email as if it arrived now, `route` applies guard rules and routes, and delivers the email again accordingly.',
        }),
        dry_run: z.boolean().meta({ description: 'True to change nothing and return what would change.' }),
      }),
      route: { errorHandler: sendSnakeCaseError },
    },
  },
});

/** Changes of several emails at once. */
export const emailChangeRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/bulk',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.organize },
      schema: {
        operationId: 'updateEmails',
        summary: 'Update several emails',
        description: 'Marks or archives received emails. Changes all of them, or none if one cannot be changed.',
        tags: ['Emails'],
        body: updateBody,
        response: { 200: updatedEmails, default: errorBody },
      },
    },
    async (request) => {
      const { email_ids: ids, is_read: isRead, is_archived: isArchived } = request.body;
      const updated = await updateEmails(contextOf(request), ids, { isRead, isArchived });
      return {
        object: 'list' as const,
        data: updated.map((email) => ({
          id: email.id,
          is_read: email.isRead,
          is_archived: email.isArchived,
          updated_at: wireInstant(email.updatedAt),
        })),
      };
    },
  );
};
