import { z } from 'zod';
import { secret } from '../../../core/accounts/secret-fields.ts';
import { claimThread, releaseClaim, renewClaim } from '../../../operations/threads/claim-thread.ts';
import { access } from '../../admission/access.ts';
import { wireInstant } from '../../rest/shapes.ts';
import { defineTool } from '../tool.ts';
import { claimToken } from './content-shapes.ts';

export const claimThreadTool = defineTool({
  name: 'claim_thread',
  title: 'Claim a thread',
  description:
    'Claims a thread, so that only one of several agents answers it. Pass `claim_token` when you reply; given here, it renews your claim.',
  access: access.send,
  effect: 'adds',
  input: z
    .object({
      thread_id: z.string(),
      holder: z.string().optional().meta({ description: 'Your name. Not needed to renew.' }),
      ttl: z.number().optional().meta({ description: 'Seconds, 10 to 86400. Default: 300.' }),
      claim_token: claimToken.meta({ ...secret, description: 'Of your claim, to renew it.' }),
    })
    .meta({ required: ['thread_id'] }),
  output: z.object({ thread_id: z.string(), claim_token: z.string().meta(secret), expires_at: z.string() }),
  async run(context, { thread_id: id, holder = '', ttl = null, claim_token: token }) {
    const claim =
      token == null
        ? await claimThread(context, id, { holder, seconds: ttl })
        : await renewClaim(context, { threadId: id, token }, ttl);
    return { thread_id: claim.threadId, claim_token: claim.token, expires_at: wireInstant(claim.expiresAt) };
  },
});

export const releaseThreadTool = defineTool({
  name: 'release_thread',
  title: 'Release a thread',
  description: 'Ends your claim of a thread, so that another agent can claim it.',
  access: access.send,
  effect: 'cancels',
  input: z.object({ thread_id: z.string(), claim_token: z.string().meta(secret) }),
  output: z.object({ thread_id: z.string(), released: z.literal(true) }),
  async run(context, { thread_id: id, claim_token: token }) {
    return { thread_id: await releaseClaim(context, { threadId: id, token }), released: true as const };
  },
});
