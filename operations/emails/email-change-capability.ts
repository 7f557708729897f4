import { z } from 'zod';
import {
  graphqlOnly,
  graphqlText,
  inRest,
  linkTo,
  named,
  restLiteral,
  restOnly,
} from '../../core/shared/field-notes.ts';
import { type Capability, defineAction, OF_EMAILS } from '../capability/capability.ts';
import { rescheduleEmail } from '../sending/scheduled-emails.ts';
import { MAX_EMAILS, updateEmail, updateEmails } from './email-flags.ts';

const target = { argument: 'id', argumentDescription: 'ID of the email.' } as const;
const common = { access: 'organize', isOfDomain: true, method: 'POST', path: '', summary: '', errors: [] } as const;
const IS_READ = 'True marks the email as read, false as unread. Omit to keep the current value.';
const IS_ARCHIVED = 'True archives the email, false unarchives it. Omit to keep the current value.';
const flag = z.boolean().optional();
const changed = z.object({ emailId: linkTo('Email', graphqlOnly(z.string())) });

/** Flags of received emails, and the time of scheduled ones. `PATCH /emails/{id}`, which does both, is in gateway/rest/emails/emails.ts. */
export const emailChangeCapability: Capability = {
  feature: 'Emails',
  what: 'Read or archive several emails',
  ...OF_EMAILS,
  operations: [
    defineAction({
      ...common,
      what: 'Read or archive one email',
      field: 'updateEmail',
      description: 'Marks a received email as read or unread, or archives or unarchives it.',
      target,
      input: z.object({
        isRead: flag.meta({ description: IS_READ }),
        isArchived: flag.meta({ description: IS_ARCHIVED }),
      }),
      output: changed,
      payloadField: 'email',
      async run(context, flags, id) {
        await updateEmail(context, id, flags);
        return { emailId: id };
      },
    }),
    defineAction({
      ...common,
      operationId: 'updateEmails',
      field: 'updateEmails',
      summary: 'Update several emails',
      description: 'Marks or archives received emails. Changes all of them, or none if one cannot be changed.',
      graphqlDescription:
        'Marks or archives several received emails. Changes all of them, or none if one cannot be changed.',
      path: '/bulk',
      // Runs before the variables are validated, so the input can be anything.
      cost: (input: { ids?: unknown[] } | undefined) => ({
        field: 1,
        multiplier: Math.max(1, input?.ids?.length ?? 1),
      }),
      input: z.object({
        ids: graphqlText(
          named(
            inRest(
              z.array(named(z.string(), { graphqlType: 'ID' })),
              z
                .array(z.string())
                .min(1)
                .max(MAX_EMAILS)
                .meta({ description: `IDs of 1 to ${MAX_EMAILS} emails.` }),
            ),
            { restName: 'email_ids' },
          ),
          'IDs of 1 to 100 emails.',
        ),
        isRead: graphqlText(flag, IS_READ).meta({
          description: 'True marks the emails as read, false as unread.',
        }),
        isArchived: graphqlText(flag, IS_ARCHIVED).meta({
          description: 'True archives the emails, false unarchives them.',
        }),
      }),
      inputName: 'UpdateEmails',
      example: {
        ids: ['em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b', 'em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8c'],
        isRead: true,
      },
      output: z
        .object({
          object: restLiteral('list'),
          data: restOnly(
            z.array(z.object({ id: z.string(), isRead: z.boolean(), isArchived: z.boolean(), updatedAt: z.date() })),
          ).meta({ description: 'The emails, in the order of the request.' }),
          emailIds: linkTo('Email', graphqlOnly(z.array(z.string())), 'emails'),
        })
        .meta({ id: 'UpdatedEmails' }),
      payloadField: 'emails',
      async run(context, { ids, ...flags }) {
        const data = await updateEmails(context, ids, flags);
        return { data, emailIds: data.map(({ id }) => id) };
      },
    }),
  ],
};

export const rescheduleCapability: Capability = {
  feature: 'Sending',
  what: 'Reschedule',
  byHand: { mcp: ['reschedule_email'] },
  ...OF_EMAILS,
  operations: [
    defineAction({
      ...common,
      access: 'send',
      field: 'rescheduleEmail',
      description: 'Changes the send time of a scheduled email. A paused email stays paused.',
      target,
      input: z.object({
        scheduledAt: z.string().meta({
          description:
            'ISO 8601 or an English phrase such as `tomorrow at 9am`, one minute to one year ahead. In dates with dots the day comes first.',
        }),
        timezone: z.string().nullish().meta({
          description: 'IANA time zone of scheduledAt. The default is the time zone of the email.',
        }),
      }),
      output: changed,
      payloadField: 'email',
      async run(context, { scheduledAt, timezone = null }, id) {
        await rescheduleEmail(context, id, { text: scheduledAt, timezone });
        return { emailId: id };
      },
    }),
  ],
};
