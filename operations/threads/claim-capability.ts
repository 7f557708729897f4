import { z } from 'zod';
import { secret } from '../../core/accounts/secret-fields.ts';
import {
  graphqlOnly,
  linkTo,
  maybeGone,
  named,
  nameType,
  restLiteral,
  restOnly,
} from '../../core/shared/field-notes.ts';
import {
  DEFAULT_CLAIM_SECONDS,
  MAX_CLAIM_SECONDS,
  MAX_HOLDER_LENGTH,
  MIN_CLAIM_SECONDS,
} from '../../core/threads/reply-claim.ts';
import { type Capability, defineAction, OF_THREADS } from '../capability/capability.ts';
import { claimThread, type GrantedClaim, releaseClaim, renewClaim } from './claim-thread.ts';

const ttl = named(z.number().nullish(), { graphqlType: 'Int' }).meta({
  type: 'integer',
  minimum: MIN_CLAIM_SECONDS,
  maximum: MAX_CLAIM_SECONDS,
  description: `Seconds that the claim holds from now: ${MIN_CLAIM_SECONDS} to ${MAX_CLAIM_SECONDS}. The default is ${DEFAULT_CLAIM_SECONDS}.`,
});
const token = z.string().meta({ ...secret, description: 'Token of the claim.' });

/** Who has claimed a thread; without the token. */
export const threadClaim = nameType(
  z.object({
    holder: z.string().meta({ description: 'Name that the holder gave.' }),
    claimedAt: z.date().meta({ description: 'When the thread was claimed.' }),
    expiresAt: z.date().meta({ description: 'When the claim expires unless it is renewed.' }),
  }),
  {
    type: 'ThreadClaim',
    description: 'Who answers a thread at the moment. The token is shown to the holder only.',
  },
);

const granted = z
  .object({
    token: token.meta({
      description: 'Proves that you hold the claim; replies name it. It is shown to the holder only.',
    }),
    threadId: maybeGone(linkTo('Thread', z.string())).meta({
      description: 'The thread. Null if it was deleted in the meantime.',
    }),
    holder: restOnly(z.string()),
    claimedAt: restOnly(z.date()),
    expiresAt: restOnly(z.date()),
    claim: graphqlOnly(threadClaim).meta({ description: 'The claim.' }),
  })
  .meta({ id: 'GrantedThreadClaim', description: 'A claim that you hold.' });
const grant = (claim: GrantedClaim) => ({ ...claim, claim });

const target = { argument: 'threadId', argumentDescription: 'ID of the thread.' } as const;
const common = { access: 'send', method: 'POST', target, errors: [] } as const;

export const claimCapability: Capability = {
  feature: 'Threads',
  what: 'Claim a thread',
  byHand: { mcp: ['claim_thread', 'release_thread'] },
  ...OF_THREADS,
  operations: [
    defineAction({
      ...common,
      operationId: 'claimThread',
      field: 'claimThread',
      summary: 'Claim a thread',
      description:
        'Claims a thread, so that only one of several programs answers it. While another claim holds, this is a conflict (THREAD_CLAIMED) with the holder and the time that the claim expires. Send replies with the token.',
      path: '/:id/claim',
      input: z.object({
        holder: z
          .string()
          .meta({ description: `Name of the program or person, 1 to ${MAX_HOLDER_LENGTH} characters.` }),
        ttl,
      }),
      inputName: 'ClaimThread',
      example: { holder: 'agent-7', ttl: 300 },
      output: granted,
      shows: ['ClaimThreadPayload.token', 'ClaimThreadPayload.claim'],
      run: async (context, { holder, ttl: seconds = null }, id) =>
        grant(await claimThread(context, id, { holder, seconds })),
    }),
    defineAction({
      ...common,
      operationId: 'renewThreadClaim',
      field: 'renewThreadClaim',
      summary: 'Renew the claim of a thread',
      description: 'Lets a claim hold for `ttl` seconds from now. If it is lost, this is a conflict (CLAIM_LOST).',
      path: '/:id/claim/renew',
      input: z.object({ token, ttl }),
      inputName: 'RenewThreadClaim',
      example: { token: 'clm_…', ttl: 300 },
      output: granted,
      shows: ['RenewThreadClaimPayload.token', 'RenewThreadClaimPayload.claim'],
      run: async (context, { token: held, ttl: seconds = null }, threadId) =>
        grant(await renewClaim(context, { threadId, token: held }, seconds)),
    }),
    defineAction({
      ...common,
      operationId: 'releaseThreadClaim',
      field: 'releaseThreadClaim',
      summary: 'Release the claim of a thread',
      description:
        'Ends a claim, so that the thread can be claimed again. If it is lost, this is a conflict (CLAIM_LOST).',
      path: '/:id/claim/release',
      input: z.object({ token }),
      inputName: 'ReleaseThreadClaim',
      example: { token: 'clm_…' },
      output: z
        .object({ threadId: linkTo('Thread', z.string()), released: restLiteral(true) })
        .meta({ id: 'ReleasedThreadClaim' }),
      payloadField: 'thread',
      run: async (context, { token: held }, threadId) => ({
        threadId: await releaseClaim(context, { threadId, token: held }),
      }),
    }),
  ],
};
