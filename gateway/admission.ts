import type { FastifyReply, FastifyRequest } from 'fastify';
import { UserError } from '../core/errors.ts';
import { openCaller } from './caller.ts';
import type { Credentials } from './credentials.ts';
import { limitHeaders, type RequestLimiter } from './request-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** the user whose key the request bears; empty before admission */
    userId: string;
  }
}

export interface AdmissionOptions {
  credentials: Credentials;
  /** null: no limit */
  limiter: RequestLimiter | null;
  now: () => Date;
}

/**
 * Lets a request in, in the order of interface.md "Authentication": the key, its user, the user's request limit. Only the Authorization
 * field counts: a key in a query string would stand in logs and histories. Throws unauthorized, rate_limited, RequestLimiterAway.
 */
export function admission(options: AdmissionOptions): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const { credentials } = options;
  return async (request, reply) => {
    const key = /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    const credential = key === undefined ? null : await credentials.find(key);
    if (credential === null) throw new UserError('unauthorized', 'Authentication required');
    request.userId = credential.userId;
    request.caller = openCaller(reply, async () => (await credentials.find(key ?? ''))?.keyId === credential.keyId);
    await countRequest(options, credential.userId, reply);
  };
}

/** Counts a request in the name of that user and tells what is left. Throws rate_limited, RequestLimiterAway. */
export async function countRequest(
  { limiter, now }: Pick<AdmissionOptions, 'limiter' | 'now'>,
  userId: string,
  reply: FastifyReply,
): Promise<void> {
  if (limiter === null) return;
  const state = await limiter.take(userId);
  reply.headers(limitHeaders(state, now()));
  if (!state.isExceeded) return;
  const seconds = Math.ceil(state.resetMs / 1_000);
  throw new UserError(
    'rate_limited',
    `Rate limit exceeded. Maximum ${state.limit} requests per second. Retry after ${seconds} seconds.`,
  );
}
