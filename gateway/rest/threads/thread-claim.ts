import { z } from 'zod';
import { claimCapability } from '../../../operations/threads/claim-capability.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { errorBody, instant } from '../shapes.ts';

const conflictBody = errorBody
  .extend({
    holder: z.string().optional().meta({ description: 'Who has claimed the thread, if it is claimed.' }),
    expires_at: instant.optional().meta({ description: 'When that claim expires.' }),
  })
  .meta({ id: 'ThreadClaimConflict', description: 'The thread is claimed, or the claim is lost.' });
const errors = { 409: conflictBody };

export const threadClaimRoutes = capabilityRoutes(claimCapability, {
  operations: { claimThread: { errors }, renewThreadClaim: { errors }, releaseThreadClaim: { errors } },
});
