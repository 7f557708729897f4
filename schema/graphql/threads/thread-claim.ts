import {
  DEFAULT_CLAIM_SECONDS,
  MAX_CLAIM_SECONDS,
  MAX_HOLDER_LENGTH,
  MIN_CLAIM_SECONDS,
} from '../../../core/threads/answerer-claim.ts';
import {
  claimThread,
  type GrantedClaim,
  releaseClaim,
  renewClaim,
  type ThreadClaim,
} from '../../../operations/threads/claim-thread.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { ThreadNode } from '../nodes.ts';
import { secret } from '../secret.ts';

/** Who has claimed a thread; without the token. */
export const ThreadClaimRef = builder.objectRef<ThreadClaim>('ThreadClaim').implement({
  description: 'Who answers a thread at the moment. The token is shown to the holder only.',
  isOfDomain: true,
  fields: (t) => ({
    holder: t.exposeString('holder', { description: 'Name that the holder gave.' }),
    claimedAt: t.expose('claimedAt', { type: 'DateTime', description: 'When the thread was claimed.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the claim expires unless it is renewed.' }),
  }),
});

/** A payload of the mutations that grant a claim; named after each of them, as its rights follow the name. */
function grantedPayload(name: 'ClaimThreadPayload' | 'RenewThreadClaimPayload') {
  return builder.objectRef<GrantedClaim>(name).implement({
    description: 'A claim that you hold.',
    fields: (t) => ({
      token: t.exposeString('token', {
        extensions: secret,
        description: 'Proves that you hold the claim. Use it as claimToken of replies.',
      }),
      claim: t.field({ type: ThreadClaimRef, description: 'The claim.', resolve: (granted) => granted }),
      thread: t.field({
        type: ThreadNode,
        nullable: true,
        description: 'The thread. Null if it was deleted in the meantime.',
        resolve: ({ threadId }) => threadId,
      }),
    }),
  });
}

const ClaimThreadPayload = grantedPayload('ClaimThreadPayload');
const RenewThreadClaimPayload = grantedPayload('RenewThreadClaimPayload');

const TTL = `Seconds that the claim holds from now: ${MIN_CLAIM_SECONDS} to ${MAX_CLAIM_SECONDS}. The default is ${DEFAULT_CLAIM_SECONDS}.`;

builder.mutationFields((t) => ({
  claimThread: t.fieldWithInput({
    type: ClaimThreadPayload,
    access: { ...access.send, shows: ['ClaimThreadPayload.token', 'ClaimThreadPayload.claim'] },
    description:
      'Claims a thread, so that only one of several programs answers it. Returns Conflict with the code THREAD_CLAIMED while another claim holds; its details name the holder and the end.',
    errors: { directResult: true },
    input: {
      threadId: t.input.id({ required: true, description: 'ID of the thread.' }),
      holder: t.input.string({
        required: true,
        description: `Name of the program or person, 1 to ${MAX_HOLDER_LENGTH} characters.`,
      }),
      ttl: t.input.int({ description: TTL }),
    },
    resolve: async (_root, { input: { threadId, holder, ttl } }, context) => {
      const granted = await claimThread(context.operations, threadId, { holder, seconds: ttl ?? null });
      forgetLoaded(context);
      return granted;
    },
  }),
  renewThreadClaim: t.fieldWithInput({
    type: RenewThreadClaimPayload,
    access: { ...access.send, shows: ['RenewThreadClaimPayload.token', 'RenewThreadClaimPayload.claim'] },
    description: 'Lets a claim hold for ttl seconds from now. Returns Conflict with the code CLAIM_LOST if it is lost.',
    errors: { directResult: true },
    input: {
      threadId: t.input.id({ required: true, description: 'ID of the thread.' }),
      token: t.input.string({ required: true, description: 'Token of the claim.', extensions: secret }),
      ttl: t.input.int({ description: TTL }),
    },
    resolve: async (_root, { input: { ttl, ...named } }, context) => {
      const granted = await renewClaim(context.operations, named, ttl ?? null);
      forgetLoaded(context);
      return granted;
    },
  }),
  releaseThreadClaim: t.fieldWithInput({
    type: ThreadNode,
    access: access.send,
    description:
      'Ends a claim, so that the thread can be claimed again. Returns Conflict with the code CLAIM_LOST if it is lost.',
    errors: { dataField: { name: 'thread' } },
    input: {
      threadId: t.input.id({ required: true, description: 'ID of the thread.' }),
      token: t.input.string({ required: true, description: 'Token of the claim.', extensions: secret }),
    },
    resolve: async (_root, { input }, context) => {
      const threadId = await releaseClaim(context.operations, input);
      forgetLoaded(context);
      return threadId;
    },
  }),
}));
