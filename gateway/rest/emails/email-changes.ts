import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAX_EMAILS, updateEmails } from '../../../operations/emails/email-flags.ts';
import {
  MAX_REPROCESSED,
  REPROCESS_ANSWER_MS,
  REPROCESS_STEPS,
  reprocessEmails,
} from '../../../operations/emails/reprocess.ts';
import { access } from '../../admission/access.ts';
import { sendSnakeCaseError } from '../../http/error-response.ts';
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

const reprocessBody = z
  .object({
    email_ids: emailIds(MAX_REPROCESSED),
    steps: z.array(z.enum(REPROCESS_STEPS)).min(1).meta({
      description:
        'Steps to run, always in this order: `parse` parses the raw message with the current parser, `thread` threads the email as if it arrived now, `route` applies guard rules and routes, and delivers the email again accordingly.',
    }),
    dry_run: z.boolean().meta({ description: 'True to change nothing and return what would change.' }),
  })
  .meta({
    id: 'ReprocessEmails',
    examples: [{ email_ids: ['em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b'], steps: ['parse'], dry_run: true }],
  });

const reprocessedEmails = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z
        .object({
          email_id: z.string(),
          changes: z
            .array(
              z.object({
                step: z.enum(REPROCESS_STEPS),
                field: z.string(),
                before: z.string().nullable().meta({ description: 'Old value, up to 500 characters.' }),
                after: z.string().nullable().meta({ description: 'New value, up to 500 characters.' }),
                differs_at: z.number().int().nullable().meta({
                  description: 'Of bodies: number of characters before the first difference.',
                }),
              }),
            )
            .meta({ description: 'Differences, by step. Empty if nothing differs.' }),
          endpoint_id: z.string().nullable().meta({ description: 'With `route`: the endpoint of the email.' }),
          delivery_id: z.string().nullable().meta({ description: 'The new delivery. Null in a dry run.' }),
          error: z
            .object({ code: z.string(), message: z.string() })
            .nullable()
            .meta({ description: 'Why a step failed. Earlier steps took effect, later ones did not run.' }),
        })
        .meta({ id: 'ReprocessedEmail' }),
    ),
  })
  .meta({ id: 'ReprocessedEmails' });

/** Changes of several emails at once. */
export const emailChangeRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/bulk',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.manage },
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

  app.post(
    '/emails/reprocess',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.manage, answerWithinMs: REPROCESS_ANSWER_MS },
      schema: {
        operationId: 'reprocessEmails',
        summary: 'Reprocess emails',
        description:
          'Parses, threads or routes stored emails again with the current version and rules. Your changes are kept: read and archived flags, labels, and messages you moved. Only received emails can be parsed and routed.',
        tags: ['Emails'],
        body: reprocessBody,
        response: { 200: reprocessedEmails, default: errorBody },
      },
    },
    async (request) => {
      const { email_ids: ids, steps, dry_run: isDryRun } = request.body;
      const done = await reprocessEmails(contextOf(request), {
        emailIds: ids,
        steps,
        mode: isDryRun ? 'dry' : 'run',
      });
      return {
        object: 'list' as const,
        data: done.map(({ emailId, changes, endpointId, deliveryId, error }) => ({
          email_id: emailId,
          changes: changes.map(({ differsAt, ...change }) => ({ ...change, differs_at: differsAt })),
          endpoint_id: endpointId,
          delivery_id: deliveryId,
          error: error === null ? null : { code: error.code, message: error.message },
        })),
      };
    },
  );
};
