import { z } from 'zod';
import { MAX_REJECTION_REASON_LENGTH } from '../../../core/sending/approval.ts';
import type { OperationContext } from '../../../operations/context.ts';
import {
  approval,
  approvalCapability,
  approvalDecision,
  describeApproval,
  describeDecision,
} from '../../../operations/sending/approval-capability.ts';
import { type Decided, loadApprovals } from '../../../operations/sending/approvals.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { makeWriter, wireOutput } from '../capability-shapes.ts';

type Body = Record<string, unknown>;

export const approvalBody = wireOutput(approval, 'snake');
const writeApproval = makeWriter(approval, 'snake');
const writeDecision = makeWriter(approvalDecision, 'snake');

/** Returns why each email waits for approval or waited, and what became of it; null where it never did. */
export async function readApprovals(
  context: OperationContext,
  emails: readonly { id: string; type: string }[],
): Promise<(Body | null)[]> {
  const ids = emails.filter(({ type }) => type !== 'received').map(({ id }) => id);
  const found = ids.length === 0 ? [] : await loadApprovals(context, ids);
  const byId = new Map(found.map((each, at) => [ids[at], each]));
  return emails.map(({ id }) => {
    const each = byId.get(id) ?? null;
    return each === null ? null : (writeApproval?.(describeApproval(each)) as Body);
  });
}

/** Returns the response to a decision, which is the result of tools, too. */
export function makeDecisionBody(decided: Decided): Body {
  return writeDecision?.(describeDecision(decided)) as Body;
}

export const rejectionReason = z
  .string()
  .max(MAX_REJECTION_REASON_LENGTH)
  .nullish()
  .meta({ description: 'Why. It is shown with the email and in its event.' });

export const approvalRoutes = capabilityRoutes(approvalCapability, {
  operations: { rejectEmail: { request: z.object({ reason: rejectionReason }) } },
});
