import type { ApprovalDecision, ApprovalRule } from '../../../core/sending/approval.ts';
import {
  type Approval,
  approveEmail,
  type Decided,
  loadAnsweredThreads,
  loadApprovals,
  rejectEmail,
} from '../../../operations/sending/approvals.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { forgetLoaded, type GraphContext } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EmailNode, ThreadNode } from '../nodes.ts';

const STATUS_WORDS: Record<ApprovalDecision | 'awaiting_approval', string> = {
  awaiting_approval: 'Waiting until it is approved or rejected.',
  approved: 'Approved: it is sent when its time has come.',
  rejected: 'Rejected: it is not sent.',
  expired: 'Rejected, because its time to wait was over.',
  cancelled: 'Cancelled by its sender while it waited.',
};
const ApprovalStatus = builder.enumType('ApprovalStatus', {
  description: 'What became of an email that waits for approval.',
  values: enumValues(STATUS_WORDS),
});

const ApprovalReason = builder.enumType('ApprovalReason', {
  description: 'The rule of the send policy that asks for approval.',
  values: enumValues<ApprovalRule>({
    new_recipients: 'A recipient is new: the account has not sent mail to that address before.',
    always: 'Every email waits.',
  }),
});

const approvalOf = loadByOwner(({ reads }, emailIds) => loadApprovals(reads, emailIds));
const answeredThreadOf = loadByOwner(({ reads }, emailIds) => loadAnsweredThreads(reads, emailIds));

const ApprovalRef = builder.objectRef<Approval>('Approval').implement({
  description: 'Why an email waits for approval or waited, and what became of it.',
  isOfDomain: true,
  fields: (t) => ({
    status: t.field({
      type: ApprovalStatus,
      description: 'What became of it.',
      resolve: ({ decision }) => decision ?? ('awaiting_approval' as const),
    }),
    reasonToWait: t.expose('rule', { type: ApprovalReason, description: 'The rule that asks for approval.' }),
    isOfKey: t.boolean({
      description: 'Whether the send policy is that of the API key. False: that of the address.',
      resolve: ({ policyOf }) => policyOf === 'key',
    }),
    sentBy: t.exposeString('sentBy', {
      nullable: true,
      description: 'Name of the API key that sent it. Null if a person or a webhook did.',
    }),
    requestedAt: t.expose('requestedAt', { type: 'DateTime', description: 'Since when it waits.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is rejected if it was not approved. Null if it no longer waits.',
    }),
    decidedAt: t.expose('decidedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the wait ended. Null if it waits.',
    }),
    decidedBy: t.exposeString('decidedBy', {
      nullable: true,
      description:
        'Name of the API key, or email address of the person, that decided. Null if it waits, expired or was cancelled.',
    }),
    rejectionReason: t.exposeString('reason', {
      nullable: true,
      description: 'Why it was rejected. Null if no reason was given.',
    }),
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread that the email answers. Null if it starts one.',
      resolve: ({ emailId }, _args, context) => answeredThreadOf(context, emailId, null),
    }),
  }),
});

builder.objectField(EmailNode, 'approval', (t) =>
  t.field({
    type: ApprovalRef,
    nullable: true,
    description: 'Why the email waits for approval or waited. Null if it never did.',
    resolve: ({ id, type }, _args, context) => (type === 'received' ? null : approvalOf(context, id, null)),
  }),
);

const ApproveEmailPayload = decisionPayload('ApproveEmailPayload', 'An approved email.');
const RejectEmailPayload = decisionPayload('RejectEmailPayload', 'A rejected email.');

builder.mutationFields((t) => ({
  approveEmail: t.fieldWithInput({
    type: ApproveEmailPayload,
    access: access.approve,
    errors: { directResult: true },
    description:
      'Sends an email that waits for approval, at once or when its scheduled time has come. The API key that sent it cannot approve it.',
    input: { id: t.input.id({ required: true, description: 'ID of the email.' }) },
    resolve: (_root, { input: { id } }, context) => told(context, approveEmail(context.operations, id)),
  }),
  rejectEmail: t.fieldWithInput({
    type: RejectEmailPayload,
    access: access.approve,
    errors: { directResult: true },
    description: 'Rejects an email that waits for approval. It is never sent and stays readable.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the email.' }),
      reason: t.input.string({
        description: 'Why, up to 500 characters. It is shown with the email and in its event.',
      }),
    },
    resolve: (_root, { input: { id, reason } }, context) =>
      told(context, rejectEmail(context.operations, id, reason ?? null)),
  }),
}));

function decisionPayload(name: string, description: string) {
  return builder.objectRef<Decided>(name).implement({
    description,
    fields: (t) => ({
      email: t.field({ type: EmailNode, description: 'The email.', resolve: ({ emailId }) => emailId }),
      isChanged: t.exposeBoolean('isChanged', { description: 'False if it was decided so before.' }),
    }),
  });
}

async function told(context: GraphContext, decision: Promise<Decided>): Promise<Decided> {
  const decided = await decision;
  forgetLoaded(context);
  return decided;
}
