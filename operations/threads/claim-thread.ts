import { UserError } from '../../core/shared/errors.ts';
import {
  CLAIM_TOKEN_BYTES,
  claimTokenSha256,
  DEFAULT_CLAIM_SECONDS,
  isClaimTime,
  MAX_CLAIM_SECONDS,
  MAX_HOLDER_LENGTH,
  MIN_CLAIM_SECONDS,
  makeClaimToken,
  normalizeHolder,
} from '../../core/threads/reply-claim.ts';
import * as claims from '../../db/queries/threads/reply-claim.ts';
import { invalid, type OperationContext } from '../context.ts';
import { changeReachedThread } from './thread-transaction.ts';

export type { ThreadClaim } from '../../db/queries/threads/reply-claim.ts';

/** A claim as its holder gets it. */
export interface GrantedClaim extends claims.ThreadClaim {
  threadId: string;
  /** shown to no one else; only its hash is stored */
  token: string;
}

/** How a holder names its claim: the thread, or one that was merged into it, and the token. */
export interface NamedClaim {
  threadId: string;
  token: string;
}

/**
 * Claims a thread, so that one holder answers it. Throws not_found, validation, and conflict (THREAD_CLAIMED) with the holder and the end
 * of the present claim while there is one.
 */
export async function claimThread(
  context: OperationContext,
  threadId: string,
  request: { holder: string; seconds: number | null },
): Promise<GrantedClaim> {
  const holder = normalizeHolder(request.holder);
  if (holder === null)
    throw invalid(`The holder has 1 to ${MAX_HOLDER_LENGTH} characters and no control characters`, 'holder');
  const seconds = readSeconds(request.seconds);
  return changeReachedThread(context, threadId, async (client, living) => {
    const { workspaceId } = context;
    const token = makeClaimToken(context.random(CLAIM_TOKEN_BYTES));
    const expired = await claims.removeExpiredClaim(client, workspaceId, living);
    const claim = await claims.insertClaim(client, workspaceId, {
      threadId: living,
      tokenSha256: claimTokenSha256(token),
      holder,
      seconds,
    });
    if (claim === null) throw claimed(await claims.readClaim(client, workspaceId, living));
    const ended = expired === null ? [] : [claims.releasedEvent(living, expired, 'expired')];
    const data = { holder, expiresAt: claim.expiresAt.toISOString() };
    return {
      result: { ...claim, threadId: living, token },
      events: [...ended, { kind: 'thread.claimed', threadId: living, data }],
    };
  });
}

/** Lets a claim hold for that long from now. Throws not_found, validation, and conflict (CLAIM_LOST). */
export async function renewClaim(
  context: OperationContext,
  { threadId, token }: NamedClaim,
  given: number | null,
): Promise<GrantedClaim> {
  const seconds = readSeconds(given);
  return changeReachedThread(context, threadId, async (client, living) => {
    const held = { threadId: living, tokenSha256: claimTokenSha256(token) };
    const claim = await claims.extendClaim(client, context.workspaceId, held, seconds);
    if (claim === null) throw claimLost(await claims.readClaim(client, context.workspaceId, living));
    return { result: { ...claim, threadId: living, token }, events: [] };
  });
}

/** Ends a claim; returns the thread. Throws not_found, and conflict (CLAIM_LOST). */
export async function releaseClaim(context: OperationContext, { threadId, token }: NamedClaim): Promise<string> {
  return changeReachedThread(context, threadId, async (client, living) => {
    const held = { threadId: living, tokenSha256: claimTokenSha256(token) };
    const holder = await claims.removeClaim(client, context.workspaceId, held);
    if (holder === null) throw claimLost(await claims.readClaim(client, context.workspaceId, living));
    return { result: living, events: [claims.releasedEvent(living, holder, 'released')] };
  });
}

/** The fields are named as in the REST interface. */
function readSeconds(given: number | null): number {
  const seconds = given ?? DEFAULT_CLAIM_SECONDS;
  if (!isClaimTime(seconds))
    throw invalid(`A claim holds for ${MIN_CLAIM_SECONDS} to ${MAX_CLAIM_SECONDS} seconds, as a whole number`, 'ttl');
  return seconds;
}

type PresentClaim = Awaited<ReturnType<typeof claims.readClaim>>;

function claimed(claim: PresentClaim): UserError {
  const message =
    claim === null
      ? 'Another holder has claimed this thread'
      : `${claim.holder} has claimed this thread until ${claim.expiresAt.toISOString()}`;
  return new UserError('conflict', message, {
    reason: 'THREAD_CLAIMED',
    members: toMembers(claim),
    ...(claim === null ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(claim.seconds)) }),
  });
}

/** Returns the error for a claim that holds no longer, with the present one. `field`: where the request names the claim. */
export function claimLost(present: PresentClaim, field = 'token'): UserError {
  const message =
    'This claim does not hold the thread: it expired, was released, or belongs to another thread. Claim the thread again before you answer.';
  return new UserError('conflict', message, {
    reason: 'CLAIM_LOST',
    details: [{ field, message }],
    members: toMembers(present),
    isFinal: true,
  });
}

function toMembers(claim: PresentClaim): Record<string, string> {
  return claim === null ? {} : { holder: claim.holder, expires_at: claim.expiresAt.toISOString() };
}
