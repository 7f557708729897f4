import { z } from 'zod';
import { graphqlOnly, linkTo, restLiteral, restOnly, usually } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction, OF_EMAILS } from '../capability/capability.ts';
import { USUAL_RECIPIENTS } from './recipient-capability.ts';
import { retrySending } from './recipients.ts';
import * as scheduled from './scheduled-emails.ts';

const target = { argument: 'id', argumentDescription: 'ID of the email.' } as const;
const emailId = linkTo('Email', graphqlOnly(z.string())).meta({ description: 'The email.' });

export const retrySendingCapability: Capability = {
  feature: 'Sending',
  what: 'Retry deferred recipients',
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'sendAccount',
      operationId: 'retrySending',
      field: 'retrySending',
      summary: 'Retry deferred recipients now',
      description: 'Retries the recipients of a sent email that a server deferred, without waiting for their time.',
      method: 'POST',
      path: '/:id/retry-sending',
      target,
      input: z.object({}),
      output: z
        .object({
          success: restLiteral(true),
          message: restOnly(z.string()),
          id: restOnly(z.string()),
          emailId,
          recipientIds: usually(USUAL_RECIPIENTS, linkTo('Recipient', z.array(z.string()), 'recipients')).meta({
            description: 'Recipients that are retried now; their IDs in REST.',
          }),
        })
        .meta({ id: 'RetriedSending', description: 'An email that is retried now.' }),
      errors: [],
      async run(context, _input, id) {
        const recipientIds = await retrySending(context, id);
        return { message: 'The email is being sent again', id, emailId: id, recipientIds };
      },
    }),
  ],
};

export const scheduleChange = z
  .object({
    success: restLiteral(true),
    message: restOnly(z.string()),
    object: restLiteral('email'),
    emailId,
    id: restOnly(z.string()),
    status: restOnly(z.enum(['scheduled', 'paused', 'cancelled'])),
    scheduledAt: restOnly(z.date()),
    isChanged: graphqlOnly(z.boolean()).meta({
      description: 'Whether this request changed anything. False if the email was in this state already.',
    }),
  })
  .meta({ id: 'ScheduleChange', description: 'An email after a change of its schedule.' });

/** Returns what a change returns. */
function describeChange({ email, isChanged }: scheduled.ScheduleChange, message: string) {
  const { id, status, scheduledAt } = email;
  return { message, emailId: id, id, status, scheduledAt, isChanged };
}

export function describeCancelled(change: scheduled.ScheduleChange) {
  return describeChange(change, change.isChanged ? 'Scheduled email cancelled' : 'Email already cancelled');
}

const timezone = 'The default is the time zone of the email.';

export const scheduleCapability: Capability = {
  feature: 'Sending',
  what: 'Cancel, pause and resume',
  byHand: { mcp: ['cancel_email'] },
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'send',
      operationId: 'cancelEmail',
      field: 'cancelEmail',
      summary: 'Cancel a scheduled email',
      description: 'The email is never sent and stays readable. Cancelling again changes nothing.',
      method: 'POST',
      path: '/:id/cancel',
      target,
      input: z.object({}),
      output: scheduleChange,
      errors: [],
      run: async (context, _input, id) => describeCancelled(await scheduled.cancelEmail(context, id)),
    }),
    defineAction({
      access: 'send',
      operationId: 'pauseEmail',
      field: 'pauseEmail',
      summary: 'Pause a scheduled email',
      description:
        'The email is not sent before you resume it, even after its send time. A key with a send policy pauses only emails that it scheduled under it.',
      method: 'POST',
      path: '/:id/pause',
      target,
      input: z.object({}),
      output: scheduleChange,
      errors: [],
      async run(context, _input, id) {
        const change = await scheduled.pauseEmail(context, id);
        return describeChange(change, change.isChanged ? 'Scheduled email paused' : 'Email already paused');
      },
    }),
    defineAction({
      access: 'send',
      operationId: 'resumeEmail',
      field: 'resumeEmail',
      summary: 'Resume a paused email',
      description: 'Puts the email back on its schedule, or on a new one. If its send time has passed, it is sent now.',
      method: 'POST',
      path: '/:id/resume',
      target,
      input: z.object({
        scheduledAt: z.string().nullish().meta({ description: 'New send time. The default is the original one.' }),
        timezone: z
          .string()
          .nullish()
          .meta({ description: `IANA time zone of the new send time. ${timezone}` }),
      }),
      isInputOptional: true,
      inputName: 'ResumeEmail',
      example: { scheduledAt: 'in 2 hours' },
      output: scheduleChange,
      errors: [],
      async run(context, { scheduledAt, timezone: zone }, id) {
        const schedule = scheduledAt == null ? null : { text: scheduledAt, timezone: zone ?? null };
        const change = await scheduled.resumeEmail(context, id, schedule);
        if (!change.isChanged) return describeChange(change, 'Email is not paused');
        const hint = change.isDue ? '; its time has passed, so it is sent now' : '';
        return describeChange(change, `Scheduled email resumed${hint}`);
      },
    }),
  ],
};
