import { updateEmail, updateEmails } from '../../../operations/emails/email-flags.ts';
import { rescheduleEmail } from '../../../operations/sending/scheduled-emails.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded, type GraphContext } from '../context.ts';
import { EmailNode } from '../nodes.ts';

const emailId = 'ID of the email.';
const flags = {
  isRead: 'True marks the email as read, false as unread. Omit to keep the current value.',
  isArchived: 'True archives the email, false unarchives it. Omit to keep the current value.',
};

builder.mutationFields((t) => ({
  updateEmail: t.fieldWithInput({
    type: EmailNode,
    access: access.organize,
    errors: { dataField: { name: 'email' } },
    description: 'Marks a received email as read or unread, or archives or unarchives it.',
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
    access: access.organize,
    errors: { dataField: { name: 'emails' } },
    // Runs before the variables are validated, so the input can be anything.
    complexity: (args) => ({
      field: 1,
      multiplier: Math.max(1, (args as { input?: { ids?: unknown[] } }).input?.ids?.length ?? 1),
    }),
    description: 'Marks or archives several received emails. Changes all of them, or none if one cannot be changed.',
    input: {
      ids: t.input.idList({ required: true, description: 'IDs of 1 to 100 emails.' }),
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
    description: 'Changes the send time of a scheduled email. A paused email stays paused.',
    input: {
      id: t.input.id({ required: true, description: emailId }),
      scheduledAt: t.input.string({
        required: true,
        description:
          'ISO 8601 or an English phrase such as `tomorrow at 9am`, one minute to one year ahead. In dates with dots the day comes first.',
      }),
      timezone: t.input.string({
        description: 'IANA time zone of scheduledAt. The default is the time zone of the email.',
      }),
    },
    resolve: async (_root, { input: { id, scheduledAt, timezone } }, context) => {
      await rescheduleEmail(context.operations, id, { text: scheduledAt, timezone: timezone ?? null });
      return changed(context, id);
    },
  }),
}));

/** Returns the ID; later fields of the request load the email again. */
function changed(context: GraphContext, id: string): string {
  forgetLoaded(context);
  return id;
}
