import { type IncomingHttpHeaders } from 'node:http';
import { type FastifyRequest } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';
import { type SessionCredential, type Sessions } from '../accounts/sessions.ts';

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

/** What a browser tells of where a request comes from. */
export interface RequestOrigin {
  method: string;
  headers: IncomingHttpHeaders;
}

/**
 * Whether a request that bears the cookie comes from a page of this gateway: its Origin is that of PUBLIC_URL, or has
 * the host that the request went to; where PUBLIC_URL is https, no page over plain HTTP is one, since anybody on the way may have written
 * it. Without an Origin, which browsers leave out of what they merely load, it must be one that changes
 * nothing, and not come from another site (Fetch Metadata).
 */
export function isOwnPage({ method, headers }: RequestOrigin, publicUrl: string): boolean {
  const { origin } = headers;
  if (origin !== undefined) return isOwnOrigin(origin, headers.host, publicUrl);
  return (method === 'GET' || method === 'HEAD') && isOwnSite(headers);
}

/**
 * Whether a request may sign somebody in: one of a page of this gateway, or of a program that is no browser. Another page must not sign
 * its visitor in as somebody else.
 */
export function isOwnPageOrProgram({ headers }: RequestOrigin, publicUrl: string): boolean {
  const { origin } = headers;
  return origin === undefined ? isOwnSite(headers) : isOwnOrigin(origin, headers.host, publicUrl);
}

/** Whether the origin is that of PUBLIC_URL, or of the request's own host, which `refuseOtherHosts` has found to be ours. */
function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  const url = URL.parse(origin);
  if (url === null) return false;
  const own = new URL(publicUrl);
  if (own.protocol === 'https:' && url.protocol !== 'https:') return false;
  return url.origin === own.origin || (host !== undefined && url.host === host.toLowerCase());
}

function isOwnSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none';
}
