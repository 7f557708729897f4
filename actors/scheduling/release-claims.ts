import { releasedEvent, takeExpiredClaims } from '../../db/queries/threads/reply-claim.ts';
import type { ActorContext } from '../actor.ts';
import { endDue } from './end-due.ts';

export interface ClaimOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: 'claims.removed' | 'claims.before-commit' | 'claims.after-commit') => void;
}

/** Claims ended at once. */
export const CLAIMS_BATCH = 100;

/** Removes claims of threads that expired. Returns how many were removed. */
export function releaseExpiredClaims(context: ActorContext, { fault }: ClaimOptions): Promise<number> {
  return endDue(context, {
    take: (client) => takeExpiredClaims(client, CLAIMS_BATCH),
    toEvent: ({ threadId, holder, end }) => releasedEvent(threadId, holder, end),
    fault,
    points: ['claims.removed', 'claims.before-commit', 'claims.after-commit'],
  });
}
