import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { OperationContext } from '../../../operations/context.ts';
import { retrySending } from '../../../operations/sending/recipients.ts';
import * as scheduled from '../../../operations/sending/scheduled-emails.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, instant, type RestOptions, wireInstant } from '../shapes.ts';

export const scheduleChange = z
  .object({
    success: z.literal(true),
    message: z.string(),
    object: z.literal('email'),
    id: z.string(),
    status: z.enum(['scheduled', 'paused', 'cancelled']),
    scheduled_at: instant,
  })
  .meta({ id: 'ScheduleChange' });

const retriedSending = z
  .object({
    success: z.literal(true),
    message: z.string(),
    id: z.string(),
    recipient_ids: z.array(z.string()).meta({ description: 'IDs of the recipients that are retried now.' }),
  })
  .meta({ id: 'RetriedSending' });

const resumeBody = z
  .object({
    scheduled_at: z.string().nullish().meta({ description: 'New send time. The default is the original one.' }),
    scheduledAt: z.string().nullish().meta({ deprecated: true, description: 'Alias of `scheduled_at`.' }),
    timezone: z
      .string()
      .nullish()
      .meta({ description: 'IANA time zone of `scheduled_at`. The default is that of the email.' }),
  })
  .nullish()
  .meta({ id: 'ResumeEmail', examples: [{ scheduled_at: 'in 2 hours' }] });

/** Cancelling, pausing and resuming scheduled emails. */
export const scheduledEmailRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  const response = { 200: scheduleChange, default: errorBody };
  const tags = ['Emails'];

  app.post(
    '/emails/:id/retry-sending',
    {
      config: { access: access.sendAccount },
      schema: {
        operationId: 'retrySending',
        summary: 'Retry deferred recipients now',
        description: 'Retries the recipients of a sent email that a server deferred, without waiting for their time.',
        tags,
        params: idInPath,
        response: { 200: retriedSending, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const recipientIds = await retrySending(contextOf(request), id);
      return { success: true as const, message: 'The email is being sent again', id, recipient_ids: recipientIds };
    },
  );

  app.post(
    '/emails/:id/cancel',
    {
      config: { access: access.send },
      schema: {
        operationId: 'cancelEmail',
        summary: 'Cancel a scheduled email',
        description: 'The email is never sent and stays readable. Cancelling again changes nothing.',
        tags,
        params: idInPath,
        response,
      },
    },
    (request) => cancel(contextOf(request), request.params.id),
  );

  app.post(
    '/emails/:id/pause',
    {
      config: { access: access.send },
      schema: {
        operationId: 'pauseEmail',
        summary: 'Pause a scheduled email',
        description: 'The email is not sent before you resume it, even after its send time.',
        tags,
        params: idInPath,
        response,
      },
    },
    async (request) => {
      const change = await scheduled.pauseEmail(contextOf(request), request.params.id);
      return scheduleChangeOf(change, change.isChanged ? 'Scheduled email paused' : 'Email already paused');
    },
  );

  app.post(
    '/emails/:id/resume',
    {
      config: { access: access.send },
      schema: {
        operationId: 'resumeEmail',
        summary: 'Resume a paused email',
        description:
          'Puts the email back on its schedule, or on a new one. If its send time has passed, it is sent now.',
        tags,
        params: idInPath,
        body: resumeBody,
        response,
      },
    },
    async (request) => {
      const { scheduled_at, scheduledAt, timezone } = request.body ?? {};
      const text = scheduled_at ?? scheduledAt ?? null;
      const schedule = text === null ? null : { text, timezone: timezone ?? null };
      const change = await scheduled.resumeEmail(contextOf(request), request.params.id, schedule);
      if (!change.isChanged) return scheduleChangeOf(change, 'Email is not paused');
      const hint = change.isDue ? '; its time has passed, so it is sent now' : '';
      return scheduleChangeOf(change, `Scheduled email resumed${hint}`);
    },
  );
};

async function cancel(context: OperationContext, emailId: string): Promise<z.infer<typeof scheduleChange>> {
  const change = await scheduled.cancelEmail(context, emailId);
  return scheduleChangeOf(change, change.isChanged ? 'Scheduled email cancelled' : 'Email already cancelled');
}

export function scheduleChangeOf({ email }: scheduled.ScheduleChange, message: string): z.infer<typeof scheduleChange> {
  const { id, status, scheduledAt } = email;
  return { success: true, message, object: 'email', id, status, scheduled_at: wireInstant(scheduledAt) };
}
