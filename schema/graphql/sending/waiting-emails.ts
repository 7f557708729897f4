import type { EmailSummary } from '../../../operations/emails/emails.ts';
import { pageWaitingEmails } from '../../../operations/sending/recipients.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { connection } from '../connection.ts';
import { EmailNode } from '../nodes.ts';

const WaitReason = builder.enumType('WaitReason', {
  description: 'Why emails are waiting.',
  values: enumValues<Parameters<typeof pageWaitingEmails>[1]>({
    scheduled: 'Scheduled or paused emails, soonest first.',
    awaiting_approval: 'Emails waiting until they are approved.',
    blocked: 'Emails that a guard rule blocked, waiting for your release.',
    review: 'Emails waiting for your review because a language model did not respond.',
    deferred: 'Emails that a server deferred, waiting for a retry.',
  }),
});

builder.queryFields((t) => ({
  waitingEmails: t.connection(
    {
      type: EmailNode,
      access: access.read,
      description: 'Emails of any age that are waiting. Scheduled emails soonest first, all others newest first.',
      args: { for: t.arg({ type: WaitReason, required: true, description: 'Why the emails are waiting.' }) },
      complexity: connectionComplexity,
      resolve: (_root, args, { reads }) =>
        connection(args, placeIn(args.for), (page) => pageWaitingEmails(reads, args.for, page)),
    },
    { name: 'WaitingEmailConnection', description: 'A page of waiting emails.' },
    { name: 'WaitingEmailEdge', description: 'A waiting email and its cursor.' },
  ),
}));

function placeIn(wait: typeof WaitReason.$inferType) {
  return ({ id, createdAt, scheduledAt }: EmailSummary) => ({
    at: wait === 'scheduled' ? (scheduledAt ?? createdAt) : createdAt,
    id,
  });
}
