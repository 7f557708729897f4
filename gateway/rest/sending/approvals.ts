import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { APPROVAL_DECISIONS, APPROVAL_RULES, MAX_REJECTION_REASON_LENGTH } from '../../../core/sending/approval.ts';
import type { OperationContext } from '../../../operations/context.ts';
import {
  type Approval,
  approveEmail,
  type Decided,
  loadApprovals,
  rejectEmail,
} from '../../../operations/sending/approvals.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, instant, type RestOptions, wireInstant } from '../shapes.ts';

/** Why an email waits for approval or waited, and what became of it. */
export const approvalBody = z
  .object({
    status: z.enum(['awaiting_approval', ...APPROVAL_DECISIONS]).meta({
      description: '`expired`: its time was over, and it is rejected. `cancelled`: the sender cancelled it.',
    }),
    rule: z.enum(APPROVAL_RULES).meta({ description: 'The value of `approval` in the send policy.' }),
    policy_of: z
      .enum(['api_key', 'address'])
      .meta({ description: 'Whether the policy is that of the API key or address.' }),
    sent_by: z.string().nullable().meta({
      description: 'Name of the API key that sent it. Null if a person or a webhook did.',
    }),
    requested_at: instant,
    expires_at: instant.nullable().meta({ description: 'When it is rejected. Null if it no longer waits.' }),
    decided_at: instant.nullable(),
    decided_by: z.string().nullable().meta({
      description: 'Name of the API key, or email address of the person, that decided.',
    }),
    reason: z.string().nullable().meta({ description: 'Why it was rejected.' }),
  })
  .meta({ id: 'Approval' });

/** Returns why each email waits for approval or waited, and what became of it; null where it never did. */
export async function readApprovals(
  context: OperationContext,
  emails: readonly { id: string; type: string }[],
): Promise<(z.infer<typeof approvalBody> | null)[]> {
  const ids = emails.filter(({ type }) => type !== 'received').map(({ id }) => id);
  const found = ids.length === 0 ? [] : await loadApprovals(context, ids);
  const byId = new Map(found.map((approval, at) => [ids[at], approval]));
  return emails.map(({ id }) => {
    const approval = byId.get(id) ?? null;
    return approval === null ? null : approvalBodyOf(approval);
  });
}

function approvalBodyOf(approval: Approval): z.infer<typeof approvalBody> {
  return {
    status: approval.decision ?? 'awaiting_approval',
    rule: approval.rule,
    policy_of: approval.policyOf === 'key' ? 'api_key' : 'address',
    sent_by: approval.sentBy,
    requested_at: wireInstant(approval.requestedAt),
    expires_at: wireInstant(approval.expiresAt),
    decided_at: wireInstant(approval.decidedAt),
    decided_by: approval.decidedBy,
    reason: approval.reason,
  };
}

/** The response of both routes, and the result of both MCP tools. */
export const decisionBody = z
  .object({
    object: z.literal('email'),
    id: z.string(),
    approval: z.enum(['approved', 'rejected']),
    decided_by: z.string().nullable(),
    send_at: instant.nullable().meta({ description: 'When an approved email is sent. Null if it was rejected.' }),
    changed: z.boolean().meta({ description: 'False if it was decided so before.' }),
  })
  .meta({ id: 'ApprovalDecision' });

export function decisionBodyOf({
  emailId,
  decision,
  decidedBy,
  sendAt,
  isChanged,
}: Decided): z.infer<typeof decisionBody> {
  return {
    object: 'email',
    id: emailId,
    approval: decision,
    decided_by: decidedBy,
    send_at: wireInstant(sendAt),
    changed: isChanged,
  };
}

export const rejectionReason = z
  .string()
  .max(MAX_REJECTION_REASON_LENGTH)
  .nullish()
  .meta({ description: 'Why. It is shown with the email and in its event.' });

const rejectBody = z
  .object({ reason: rejectionReason })
  .nullish()
  .meta({ id: 'RejectEmail', examples: [{ reason: 'The price is wrong.' }] });

/** Approving and rejecting mail that a send policy made wait. */
export const approvalRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  const response = { 200: decisionBody, 403: errorBody, 409: errorBody, default: errorBody };
  const tags = ['Emails'];

  app.post(
    '/emails/:id/approve',
    {
      config: { access: access.approve },
      schema: {
        operationId: 'approveEmail',
        summary: 'Approve an email',
        description:
          'Sends an email that waits for approval, at once or when its scheduled time has come. The API key that sent it cannot approve it. Approving again changes nothing; 409 if it was rejected, cancelled or never waited.',
        tags,
        params: idInPath,
        response,
      },
    },
    async (request) => decisionBodyOf(await approveEmail(contextOf(request), request.params.id)),
  );

  app.post(
    '/emails/:id/reject',
    {
      config: { access: access.approve },
      schema: {
        operationId: 'rejectEmail',
        summary: 'Reject an email',
        description:
          'Ends the wait of an email for approval: it is never sent and stays readable. The API key that sent it cannot reject it, but can cancel it. Rejecting again changes nothing; 409 if it was approved, cancelled or never waited.',
        tags,
        params: idInPath,
        body: rejectBody,
        response,
      },
    },
    async (request) =>
      decisionBodyOf(await rejectEmail(contextOf(request), request.params.id, request.body?.reason ?? null)),
  );
};
