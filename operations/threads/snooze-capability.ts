import { z } from 'zod';
import { linkTo, named } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction, OF_EMAILS, OF_THREADS } from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import { type GivenTime, remindOfEmail, remindOfThread, snoozeThread } from './snooze.ts';

/** Characters; longer than any date or time zone. */
const MAX_TIME_LENGTH = 200;

const timezone = text
  .max(MAX_TIME_LENGTH)
  .nullish()
  .meta({ description: 'IANA time zone of a time without offset, such as `Europe/Berlin`. The default is UTC.' });

const reminderTime = text.max(MAX_TIME_LENGTH).nullable().meta({
  description:
    'A time between a minute and a year ahead, in ISO 8601 or words such as `in 3 days`. Null removes the reminder.',
});

const reminder = z.object({ at: reminderTime, timezone });

const snoozed = z
  .object({
    threadId: linkTo('Thread', z.string()).meta({ description: 'The thread.' }),
    snoozedUntil: z.date().nullable().meta({ description: 'When the snooze ends. Null: the thread is not snoozed.' }),
    remindAt: z
      .date()
      .nullable()
      .meta({ description: 'When the thread comes back unless a reply comes before. Null: no reminder.' }),
    undoId: named(z.string().nullable(), { graphqlType: 'ID' }).meta({
      description: 'Undoes the change for a day. Null if nothing changed.',
    }),
  })
  .meta({ id: 'SnoozedThread', description: 'When a thread comes back to the inbox.' });

const common = {
  access: 'organize',
  method: 'POST',
  target: { argument: 'threadId', argumentDescription: 'ID of the thread.' },
  output: snoozed,
  errors: [409],
} as const;

/** Returns a time with its zone; null for none. */
function givenTime(time: string | null, zone: string | null | undefined): GivenTime | null {
  return time === null ? null : { text: time, timezone: zone ?? null };
}

export const snoozeCapability: Capability = {
  feature: 'Threads',
  what: 'Snooze a thread, and a reminder if no one replies',
  ...OF_THREADS,
  operations: [
    defineAction({
      ...common,
      operationId: 'snoozeThread',
      field: 'snoozeThread',
      summary: 'Snooze a thread',
      tool: {
        name: 'snooze_thread',
        description: 'Takes a thread out of the inbox until a time or a reply.',
        words: { until: '`tomorrow at 9am` or ISO 8601. Null: back to the inbox.', timezone: '' },
      },
      description:
        'Takes a thread out of the inbox for all members until a time. Then, or at once when a message arrives in it, it comes back on top of the inbox: `returnedAt` and `returnedBy` say when and why, and the event is `thread.returned`. `is:snoozed` finds snoozed threads. Archiving ends a snooze.',
      path: '/:id/snooze',
      input: z.object({
        until: text.max(MAX_TIME_LENGTH).nullable().meta({
          description:
            'A time between a minute and a year ahead, in ISO 8601 or words such as `tomorrow at 9am`. Null brings the thread back.',
        }),
        timezone,
      }),
      inputName: 'SnoozeThread',
      example: { until: 'in 3 days' },
      run: (context, { until, timezone: zone }, threadId) => snoozeThread(context, threadId, givenTime(until, zone)),
    }),
    defineAction({
      ...common,
      operationId: 'remindOfThread',
      field: 'remindOfThread',
      summary: 'Set a reminder for a thread without a reply',
      tool: {
        name: 'remind_of_thread',
        description: 'Brings a thread back to the inbox at a time unless a reply comes.',
        words: { at: '`in 3 days` or ISO 8601. Null: no reminder.', timezone: '' },
      },
      description:
        'Brings a thread back on top of the inbox at a time, also one that has only sent mail. A message that arrives in it before cancels the reminder. The event is `thread.returned`, with `by` as `reminder`.',
      path: '/:id/reminder',
      input: reminder,
      inputName: 'SetReminder',
      example: { at: 'in 3 days' },
      run: (context, { at, timezone: zone }, threadId) => remindOfThread(context, threadId, givenTime(at, zone)),
    }),
  ],
};

export const emailReminderCapability: Capability = {
  feature: 'Sending',
  what: 'Reminder if no one replies to an email',
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'send',
      method: 'POST',
      operationId: 'remindOfEmail',
      field: 'remindOfEmail',
      summary: 'Set a reminder for an email without a reply',
      description:
        'Brings the thread of a sent or scheduled email back on top of the inbox at a time unless a message arrives in it before. An email that is not sent yet keeps the reminder.',
      path: '/:id/reminder',
      target: { argument: 'emailId', argumentDescription: 'ID of the email.' },
      input: reminder,
      inputName: 'SetReminder',
      example: { at: 'in 3 days' },
      output: z
        .object({
          emailId: linkTo('Email', z.string()).meta({ description: 'The email.' }),
          remindAt: z.date().nullable().meta({ description: 'When its thread comes back. Null: no reminder.' }),
        })
        .meta({ id: 'RemindedEmail', description: 'When the thread of an email comes back.' }),
      errors: [409],
      run: (context, { at, timezone: zone }, emailId) => remindOfEmail(context, emailId, givenTime(at, zone)),
    }),
  ],
};
