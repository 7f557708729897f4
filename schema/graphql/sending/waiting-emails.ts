import type { EmailSummary } from '../../../operations/emails/emails.ts';
import { pageWaitingEmails, retrySending } from '../../../operations/sending/recipients.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { forgetLoaded } from '../context.ts';
import { EmailNode, RecipientNode } from '../nodes.ts';
import { USUAL_RECIPIENTS } from './recipient.ts';

const WaitReason = builder.enumType('WaitReason', {
  description: 'What emails wait for.',
  values: {
    SCHEDULED: { value: 'scheduled', description: 'For their time, or paused; the one that goes soonest comes first.' },
    BLOCKED: { value: 'blocked', description: 'For you to let them through: a guard rule blocked them.' },
    REVIEW: { value: 'review', description: 'For you to look at them: the model of a guard rule did not answer.' },
    DEFERRED: { value: 'deferred', description: 'For another try: a server put them off.' },
  } as const,
});

builder.queryFields((t) => ({
  waitingEmails: t.connection(
    {
      type: EmailNode,
      access: access.readAccount,
      description: 'Emails of any age that wait for something; but for scheduled ones, newest first.',
      args: { for: t.arg({ type: WaitReason, required: true, description: 'What they wait for.' }) },
      complexity: connectionComplexity,
      resolve: (_root, args, { reads }) =>
        connection(args, placeIn(args.for), (page) => pageWaitingEmails(reads, args.for, page)),
    },
    { name: 'WaitingEmailConnection', description: 'A page of emails that wait.' },
    { name: 'WaitingEmailEdge', description: 'An email that waits, with its cursor.' },
  ),
}));

function placeIn(wait: typeof WaitReason.$inferType) {
  return ({ id, createdAt, scheduledAt }: EmailSummary) => ({
    at: wait === 'scheduled' ? (scheduledAt ?? createdAt) : createdAt,
    id,
  });
}

interface TriedAgain {
  emailId: string;
  recipientIds: string[];
}

const RetrySendingPayload = builder.objectRef<TriedAgain>('RetrySendingPayload').implement({
  description: 'A sent email that is tried again now.',
  fields: (t) => ({
    email: t.field({ type: EmailNode, description: 'The email.', resolve: ({ emailId }) => emailId }),
    recipients: t.field({
      type: [RecipientNode],
      description: 'Those that are tried now.',
      complexity: { field: 1, multiplier: USUAL_RECIPIENTS },
      resolve: ({ recipientIds }) => recipientIds,
    }),
  }),
});

builder.mutationField('retrySending', (t) =>
  t.fieldWithInput({
    type: RetrySendingPayload,
    access: access.sendAccount,
    errors: { directResult: true },
    description: 'Tries the recipients of a sent email now that their servers put off, instead of when they are due.',
    input: { id: t.input.id({ required: true, description: 'Id of the email.' }) },
    resolve: async (_root, { input: { id } }, context) => {
      const recipientIds = await retrySending(context.operations, id);
      forgetLoaded(context);
      return { emailId: id, recipientIds };
    },
  }),
);
