import { takeExpiredApprovals } from '../../db/queries/sending/approval.ts';
import type { ActorContext } from '../actor.ts';
import { endDue } from './end-due.ts';

export interface ApprovalOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: 'approvals.expired' | 'approvals.expired-before-commit' | 'approvals.expired-after-commit') => void;
}

/** Emails rejected at once. */
export const APPROVALS_BATCH = 100;

/** Rejects mail that waited for approval until its time was over. Returns how many emails were rejected. */
export function expireApprovals(context: ActorContext, { fault }: ApprovalOptions): Promise<number> {
  return endDue(context, {
    take: (client) => takeExpiredApprovals(client, APPROVALS_BATCH),
    toEvent: ({ emailId }) => ({ kind: 'email.rejected', emailId, data: { by: null, reason: 'expired' } }),
    fault,
    points: ['approvals.expired', 'approvals.expired-before-commit', 'approvals.expired-after-commit'],
  });
}
