import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { secret } from '../../../core/accounts/secret-fields.ts';
import {
  DEFAULT_CLAIM_SECONDS,
  MAX_CLAIM_SECONDS,
  MAX_HOLDER_LENGTH,
  MIN_CLAIM_SECONDS,
} from '../../../core/threads/answerer-claim.ts';
import { claimThread, type GrantedClaim, releaseClaim, renewClaim } from '../../../operations/threads/claim-thread.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, instant, type RestOptions, wireInstant } from '../shapes.ts';

const ttl = z
  .number()
  .nullish()
  .meta({
    type: 'integer',
    minimum: MIN_CLAIM_SECONDS,
    maximum: MAX_CLAIM_SECONDS,
    description: `Seconds that the claim holds from now. The default is ${DEFAULT_CLAIM_SECONDS}.`,
  });
const token = z.string().meta({ ...secret, description: 'Token of the claim.' });

const grantedClaim = z
  .object({
    token: token.meta({ description: 'Proves that you hold the claim. It is shown to the holder only.' }),
    thread_id: z.string(),
    holder: z.string(),
    claimed_at: instant,
    expires_at: instant,
  })
  .meta({ id: 'GrantedThreadClaim' });

const conflictBody = errorBody
  .extend({
    holder: z.string().optional().meta({ description: 'Who has claimed the thread, if it is claimed.' }),
    expires_at: instant.optional().meta({ description: 'When that claim expires.' }),
  })
  .meta({ id: 'ThreadClaimConflict', description: 'The thread is claimed, or the claim is lost.' });

export const threadClaimRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/mail/threads/:id/claim',
    {
      config: { access: access.send },
      schema: {
        operationId: 'claimThread',
        summary: 'Claim a thread',
        description:
          'Claims a thread, so that only one of several programs answers it. If the thread is claimed, the response is 409 with the holder and the time that the claim expires. Send replies with `claim_token`.',
        tags: ['Threads'],
        params: idInPath,
        body: z
          .object({
            holder: z
              .string()
              .meta({ description: `Name of the program or person, 1 to ${MAX_HOLDER_LENGTH} characters.` }),
            ttl,
          })
          .meta({ id: 'ClaimThread', 'x-examples': [{ holder: 'agent-7', ttl: 300 }] }),
        response: { 200: grantedClaim, 409: conflictBody, default: errorBody },
      },
    },
    async (request) => {
      const { holder, ttl: seconds } = request.body;
      return grantedBodyOf(
        await claimThread(contextOf(request), request.params.id, { holder, seconds: seconds ?? null }),
      );
    },
  );

  app.post(
    '/mail/threads/:id/claim/renew',
    {
      config: { access: access.send },
      schema: {
        operationId: 'renewThreadClaim',
        summary: 'Renew the claim of a thread',
        description: 'Lets a claim hold for `ttl` seconds from now. If it is lost, the response is 409.',
        tags: ['Threads'],
        params: idInPath,
        body: z.object({ token, ttl }).meta({ id: 'RenewThreadClaim', 'x-examples': [{ token: 'clm_…', ttl: 300 }] }),
        response: { 200: grantedClaim, 409: conflictBody, default: errorBody },
      },
    },
    async (request) => {
      const named = { threadId: request.params.id, token: request.body.token };
      return grantedBodyOf(await renewClaim(contextOf(request), named, request.body.ttl ?? null));
    },
  );

  app.post(
    '/mail/threads/:id/claim/release',
    {
      config: { access: access.send },
      schema: {
        operationId: 'releaseThreadClaim',
        summary: 'Release the claim of a thread',
        description: 'Ends a claim, so that the thread can be claimed again. If it is lost, the response is 409.',
        tags: ['Threads'],
        params: idInPath,
        body: z.object({ token }).meta({ id: 'ReleaseThreadClaim', 'x-examples': [{ token: 'clm_…' }] }),
        response: {
          200: z.object({ thread_id: z.string(), released: z.literal(true) }).meta({ id: 'ReleasedThreadClaim' }),
          409: conflictBody,
          default: errorBody,
        },
      },
    },
    async (request) => {
      const named = { threadId: request.params.id, token: request.body.token };
      return { thread_id: await releaseClaim(contextOf(request), named), released: true as const };
    },
  );
};

function grantedBodyOf(claim: GrantedClaim): z.infer<typeof grantedClaim> {
  const { token: granted, threadId, holder, claimedAt, expiresAt } = claim;
  return {
    token: granted,
    thread_id: threadId,
    holder,
    claimed_at: wireInstant(claimedAt),
    expires_at: wireInstant(expiresAt),
  };
}
