import { updateEmail, updateEmails } from '../../../operations/emails/email-flags.ts';
import * as scheduled from '../../../operations/sending/scheduled-emails.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded, type GraphContext } from '../context.ts';
import { EmailNode } from '../nodes.ts';

const emailId = 'Id of the email.';
const flags = {
  isRead: 'Whether it is read; absent: as it is.',
  isArchived: 'Whether it is archived; absent: as it is.',
};

const CancelEmailPayload = changePayload('CancelEmailPayload', 'An email that is never sent.');
const PauseEmailPayload = changePayload('PauseEmailPayload', 'An email that is held back.');
const ResumeEmailPayload = changePayload('ResumeEmailPayload', 'An email that is on its schedule again.');

builder.mutationFields((t) => ({
  updateEmail: t.fieldWithInput({
    type: EmailNode,
    access: access.manage,
    errors: { dataField: { name: 'email' } },
    description: 'Marks a received email as read or archived, or not.',
    input: {
      id: t.input.id({ required: true, description: emailId }),
      isRead: t.input.boolean({ description: flags.isRead }),
      isArchived: t.input.boolean({ description: flags.isArchived }),
    },
    resolve: async (_root, { input: { id, isRead, isArchived } }, context) => {
      await updateEmail(context.operations, id, { isRead: isRead ?? undefined, isArchived: isArchived ?? undefined });
      return changed(context, id);
    },
  }),
  updateEmails: t.fieldWithInput({
    type: [EmailNode],
    access: access.manage,
    errors: { dataField: { name: 'emails' } },
    // Asked before the variables are looked at, which may be anything.
    complexity: (args) => ({
      field: 1,
      multiplier: Math.max(1, (args as Partial<typeof args>).input?.ids?.length ?? 1),
    }),
    description: 'Marks received emails as read or archived, or not: all of them or, when one cannot be marked, none.',
    input: {
      ids: t.input.idList({ required: true, description: 'Ids of 1 to 100 emails.' }),
      isRead: t.input.boolean({ description: flags.isRead }),
      isArchived: t.input.boolean({ description: flags.isArchived }),
    },
    resolve: async (_root, { input: { ids, isRead, isArchived } }, context) => {
      const marks = { isRead: isRead ?? undefined, isArchived: isArchived ?? undefined };
      const updated = await updateEmails(context.operations, ids, marks);
      forgetLoaded(context);
      return updated.map(({ id }) => id);
    },
  }),
  rescheduleEmail: t.fieldWithInput({
    type: EmailNode,
    access: access.send,
    errors: { dataField: { name: 'email' } },
    description: 'Gives a scheduled email another time; a paused one stays paused.',
    input: {
      id: t.input.id({ required: true, description: emailId }),
      scheduledAt: t.input.string({
        required: true,
        description:
          'ISO 8601, or an English phrase such as `tomorrow at 9am`; from a minute to a year ahead. Dotted dates are day first.',
      }),
      timezone: t.input.string({ description: 'IANA zone that it is told in; absent: that of the email.' }),
    },
    resolve: async (_root, { input: { id, scheduledAt, timezone } }, context) => {
      await scheduled.rescheduleEmail(context.operations, id, { text: scheduledAt, timezone: timezone ?? null });
      return changed(context, id);
    },
  }),
  cancelEmail: t.fieldWithInput({
    type: CancelEmailPayload,
    access: access.send,
    errors: { directResult: true },
    description: 'Cancels a scheduled email: it is never sent, and stays readable.',
    input: { id: t.input.id({ required: true, description: emailId }) },
    resolve: (_root, { input }, context) => told(context, scheduled.cancelEmail(context.operations, input.id)),
  }),
  pauseEmail: t.fieldWithInput({
    type: PauseEmailPayload,
    access: access.send,
    errors: { directResult: true },
    description: 'Holds a scheduled email back until it is resumed, even when its time passes.',
    input: { id: t.input.id({ required: true, description: emailId }) },
    resolve: (_root, { input }, context) => told(context, scheduled.pauseEmail(context.operations, input.id)),
  }),
  resumeEmail: t.fieldWithInput({
    type: ResumeEmailPayload,
    access: access.send,
    errors: { directResult: true },
    description: 'Puts a paused email back on its schedule. When its own time passed meanwhile, it is sent now.',
    input: {
      id: t.input.id({ required: true, description: emailId }),
      scheduledAt: t.input.string({ description: 'Another time, as of rescheduleEmail; absent: its own.' }),
      timezone: t.input.string({ description: 'IANA zone that it is told in; absent: that of the email.' }),
    },
    resolve: (_root, { input: { id, scheduledAt, timezone } }, context) => {
      const wish = scheduledAt == null ? null : { text: scheduledAt, timezone: timezone ?? null };
      return told(context, scheduled.resumeEmail(context.operations, id, wish));
    },
  }),
}));

function changePayload(name: string, description: string) {
  return builder.objectRef<scheduled.ScheduleChange>(name).implement({
    description,
    fields: (t) => ({
      email: t.field({ type: EmailNode, description: 'The email.', resolve: ({ email }) => email.id }),
      isChanged: t.exposeBoolean('isChanged', {
        description: 'Whether something was changed; false: it was so before.',
      }),
    }),
  });
}

/** Later fields of the request read it anew. */
function changed(context: GraphContext, id: string): string {
  forgetLoaded(context);
  return id;
}

async function told(context: GraphContext, change: Promise<scheduled.ScheduleChange>) {
  const done = await change;
  forgetLoaded(context);
  return done;
}
