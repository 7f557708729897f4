import { z } from 'zod';
import { APPROVAL_DECISIONS, APPROVAL_RULES } from '../../core/sending/approval.ts';
import { graphqlOnly, linkTo, named, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, OF_EMAILS } from '../capability/capability.ts';
import { type Approval, approveEmail, type Decided, rejectEmail } from './approvals.ts';

/** Why an email waits for approval or waited, and what became of it. */
export const approval = z
  .object({
    status: oneOf(['awaiting_approval', ...APPROVAL_DECISIONS], {
      name: 'ApprovalStatus',
      description: 'What became of an email that waits for approval.',
      values: {
        awaiting_approval: 'Waiting until it is approved or rejected.',
        approved: 'Approved: it is sent when its time has come.',
        rejected: 'Rejected: it is not sent.',
        expired: 'Rejected, because its time to wait was over.',
        cancelled: 'Cancelled by its sender while it waited.',
      },
    }).meta({
      description:
        'What became of it. `expired`: its time was over, and it is rejected. `cancelled`: the sender cancelled it.',
    }),
    rule: named(
      oneOf(APPROVAL_RULES, {
        name: 'ApprovalReason',
        description: 'The rule of the send policy that asks for approval.',
        values: {
          on_review: 'It answers or forwards mail with the screening verdict review, or may follow from such mail.',
          new_recipients: 'A recipient is new: the account has not sent mail to that address before.',
          always: 'Every email waits.',
        },
      }),
      { graphqlName: 'reasonToWait' },
    ).meta({ description: 'The rule that asks for approval: the value of `approval` in the send policy.' }),
    policyOf: restOnly(z.enum(['api_key', 'address'])).meta({
      description: 'Whether the policy belongs to the API key or the address.',
    }),
    isOfKey: graphqlOnly(z.boolean()).meta({
      description: 'Whether the send policy belongs to the API key. False: it belongs to the address.',
    }),
    sentBy: z.string().nullable().meta({
      description: 'Name of the API key that sent it. Null if a person or a webhook did.',
    }),
    requestedAt: z.date().meta({ description: 'Since when it waits.' }),
    expiresAt: z.date().nullable().meta({
      description: 'When it is rejected if it was not approved. Null if it no longer waits.',
    }),
    decidedAt: z.date().nullable().meta({ description: 'When the wait ended. Null if it waits.' }),
    decidedBy: z.string().nullable().meta({
      description:
        'Name of the API key, or email address of the person, that decided. Null if it waits, expired or was cancelled.',
    }),
    reason: named(z.string().nullable(), { graphqlName: 'rejectionReason' }).meta({
      description: 'Why it was rejected. Null if no reason was given.',
    }),
  })
  .meta({ id: 'Approval', description: 'Why an email waits for approval or waited, and what became of it.' });

/** Returns an approval in the form of its shape. */
export function describeApproval({
  decision,
  policyOf,
  ...rest
}: Approval): z.output<typeof approval> & { emailId: string } {
  return {
    ...rest,
    status: decision ?? 'awaiting_approval',
    policyOf: policyOf === 'key' ? 'api_key' : 'address',
    isOfKey: policyOf === 'key',
  };
}

export const approvalDecision = z
  .object({
    object: restLiteral('email'),
    emailId: linkTo('Email', graphqlOnly(z.string())).meta({ description: 'The email.' }),
    id: restOnly(z.string()),
    decision: restOnly(z.enum(['approved', 'rejected']), 'approval'),
    decidedBy: restOnly(z.string().nullable()),
    sendAt: restOnly(z.date().nullable()).meta({
      description: 'When an approved email is sent. Null if it was rejected.',
    }),
    isChanged: named(z.boolean(), { restName: 'changed' }).meta({ description: 'False if it was decided so before.' }),
  })
  .meta({ id: 'ApprovalDecision', description: 'A decision on an email that waited for approval.' });

export function describeDecision(decided: Decided) {
  return { ...decided, id: decided.emailId };
}

const target = { argument: 'id', argumentDescription: 'ID of the email.' } as const;

export const approvalCapability: Capability = {
  feature: 'Sending',
  what: 'Approve or reject',
  byHand: { mcp: ['approve_email', 'reject_email'] },
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'approve',
      operationId: 'approveEmail',
      field: 'approveEmail',
      summary: 'Approve an email',
      description:
        'Sends an email that waits for approval, at once or when its scheduled time has come. The API key that sent it cannot approve it. Approving again changes nothing; a conflict if it was rejected, cancelled or never waited.',
      method: 'POST',
      path: '/:id/approve',
      target,
      input: z.object({}),
      output: approvalDecision,
      errors: [403, 409],
      run: async (context, _input, id) => describeDecision(await approveEmail(context, id)),
    }),
    defineAction({
      access: 'approve',
      operationId: 'rejectEmail',
      field: 'rejectEmail',
      summary: 'Reject an email',
      description:
        'Ends the wait of an email for approval: it is never sent and stays readable. The API key that sent it cannot reject it, but can cancel it. Rejecting again changes nothing; a conflict if it was approved, cancelled or never waited.',
      method: 'POST',
      path: '/:id/reject',
      target,
      input: z.object({
        reason: z.string().nullish().meta({
          description: 'Why, up to 500 characters. It is shown with the email and in its event.',
        }),
      }),
      isInputOptional: true,
      inputName: 'RejectEmail',
      example: { reason: 'The price is wrong.' },
      output: approvalDecision,
      errors: [403, 409],
      run: async (context, { reason = null }, id) => describeDecision(await rejectEmail(context, id, reason)),
    }),
  ],
};
