import type { FastifyRequest } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';
import type { SessionCredential, Sessions } from '../accounts/sessions.ts';
import { isOwnPage } from './session-origin.ts';

/** A request that a session opens, and whether it still does. */
export interface SessionEntry {
  session: SessionCredential;
  isAllowed: () => Promise<boolean>;
}

/**
 * The session whose cookie a request bears that has no Authorization field; null when it has the cookie of none. Throws forbidden where
 * another page than one of this gateway sends it: then the cookie counts for nothing.
 */
export async function findSessionOf(
  request: FastifyRequest,
  sessions: Sessions,
  publicUrl: string,
): Promise<SessionEntry | null> {
  if (request.headers.authorization !== undefined) return null;
  const cookie = sessions.cookieOf(request.headers.cookie);
  if (cookie === null) return null;
  if (!isOwnPage(request, publicUrl)) throw foreignPage();
  const session = await sessions.find(cookie);
  if (session === null) return null;
  return { session, isAllowed: async () => (await sessions.find(cookie))?.sessionId === session.sessionId };
}

/** Of a request with the cookie of a session that another page has made, or seems to have. */
export function foreignPage(): UserError {
  return new UserError(
    'forbidden',
    'A session serves requests of the dashboard only: the field Origin must name this gateway. Programs send an API key instead.',
    { title: 'Forbidden', reason: 'INVALID_ORIGIN' },
  );
}
