import type { FastifyReply, FastifyRequest } from 'fastify';
import { FULL_RIGHTS } from '../../core/accounts/key-rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Sessions } from '../accounts/sessions.ts';
import { openCaller } from '../http/caller.ts';
import { requireRouteScope } from './access.ts';
import type { Credentials } from './credentials.ts';
import { limitHeaders, type RequestLimiter } from './request-limit.ts';
import { findSessionOf } from './session-admission.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** the user whose key or session the request bears; empty before admission */
    userId: string;
  }
}

export interface AdmissionOptions {
  credentials: Credentials;
  sessions: Sessions;
  publicUrl: string;
  /** null: no limit */
  limiter: RequestLimiter | null;
  now: () => Date;
}

/**
 * Lets a request in, in the order of interface.md "Authentication": the key, its user, the user's request limit, and then what the key is good
 * for. Of keys only the Authorization field counts: a key in a query string would stand in logs and histories. Without that field a
 * session's cookie opens all of its user, when a page of this gateway sends it. Throws unauthorized, rate_limited, forbidden,
 * RequestLimiterAway.
 */
export function admission(options: AdmissionOptions): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const { credentials, sessions, publicUrl } = options;
  return async (request, reply) => {
    const entry = await findSessionOf(request, sessions, publicUrl);
    if (entry !== null) {
      request.userId = entry.session.userId;
      request.rights = FULL_RIGHTS;
      request.caller = openCaller(reply, { via: 'session', isAllowed: entry.isAllowed });
      return await countRequest(options, entry.session.userId, reply);
    }
    const { authorization = '' } = request.headers;
    const key = /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
    const credential = key === undefined ? null : await credentials.find(key);
    if (credential === null) {
      const name = /^Bearer +\S/i.test(authorization) ? 'invalid_api_key' : 'missing_api_key';
      throw new UserError('unauthorized', 'Authentication required', { name });
    }
    request.userId = credential.userId;
    request.rights = credential;
    const isAllowed = async () => (await credentials.find(key ?? ''))?.keyId === credential.keyId;
    request.caller = openCaller(reply, { via: 'key', isAllowed });
    await countRequest(options, credential.userId, reply);
    requireRouteScope(request, credential);
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
