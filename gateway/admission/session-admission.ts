import { type IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { type FastifyRequest } from 'fastify';
import { OTHER_WORKSPACE, SECOND_FACTOR_REQUIRED, WORKSPACE_HEADER } from '../../core/accounts/session-refusals.ts';
import { UserError } from '../../core/shared/errors.ts';
import { type SessionCredential, type SessionLookup } from '../accounts/session-lookup.ts';

/** The session of a request, and a check whether it is still valid. */
export interface SessionEntry {
  session: SessionCredential;
  isAllowed: () => Promise<boolean>;
}

/**
 * Finds the session of a request by its cookie; null if there is none or the request has an Authorization header. Throws forbidden if the
 * request does not come from a page of this gateway, or the workspace requires a second factor that the session lacks.
 */
export async function findSession(
  request: FastifyRequest,
  sessions: SessionLookup,
  publicUrl: string,
): Promise<SessionEntry | null> {
  const entry = await findPerson(request, sessions, publicUrl);
  if (entry?.session.lacksSecondFactor === true) throw secondFactorRequired();
  return entry;
}

/**
 * Like findSession, also in a workspace that requires a second factor: for what a person does with the own sign-in, and between workspaces.
 * Throws conflict if the page shows another workspace than the session is in.
 */
export async function findPerson(
  request: FastifyRequest,
  sessions: SessionLookup,
  publicUrl: string,
): Promise<SessionEntry | null> {
  if (request.headers.authorization !== undefined) return null;
  const cookie = sessions.cookieOf(request.headers.cookie);
  if (cookie === null) return null;
  if (!isOwnPage(request, publicUrl)) throw foreignPage();
  const session = await sessions.find(cookie);
  if (session === null) return null;
  const shown = request.headers[WORKSPACE_HEADER];
  if (shown !== undefined && shown !== session.workspaceId) throw otherWorkspace();
  return { session, isAllowed: () => isStillAllowed(sessions, cookie, session) };
}

/** Returns whether the session is valid, and its person is in the same workspace with the same role. */
async function isStillAllowed(sessions: SessionLookup, cookie: string, before: SessionCredential): Promise<boolean> {
  const now = await sessions.find(cookie);
  return (
    now?.sessionId === before.sessionId &&
    now.workspaceId === before.workspaceId &&
    !now.lacksSecondFactor &&
    isDeepStrictEqual(now.rights, before.rights)
  );
}

function otherWorkspace(): UserError {
  return new UserError('conflict', 'This browser is in another workspace now. Load the page again.', {
    reason: OTHER_WORKSPACE,
    isFinal: true,
  });
}

function secondFactorRequired(): UserError {
  return new UserError(
    'forbidden',
    'This workspace requires a second factor. Set up an authenticator app under Settings, Sign-in, or sign in with a passkey.',
    { title: 'Forbidden', reason: SECOND_FACTOR_REQUIRED },
  );
}

/** Returns the error of a request with a session cookie that comes, or may come, from a page of another site. */
export function foreignPage(): UserError {
  return new UserError(
    'forbidden',
    'Sessions are valid for requests of the dashboard only: the Origin header must name this gateway. Use an API key instead.',
    { title: 'Forbidden', reason: 'INVALID_ORIGIN' },
  );
}

/** The parts of a request that show which page sent it. */
export interface RequestOrigin {
  method: string;
  headers: IncomingHttpHeaders;
}

/**
 * Returns whether a request with a session cookie comes from a page of this gateway: its Origin is that of PUBLIC_URL, or has the host of the
 * request. If PUBLIC_URL is https, pages over plain HTTP do not count, because anyone on the network could have written them. Without an
 * Origin, which browsers omit for GET requests of the same site, it must be a safe method and not come from another site (Fetch Metadata).
 */
export function isOwnPage({ method, headers }: RequestOrigin, publicUrl: string): boolean {
  const { origin } = headers;
  if (origin !== undefined) return isOwnOrigin(origin, headers.host, publicUrl);
  return (method === 'GET' || method === 'HEAD') && isOwnSite(headers);
}

/**
 * Returns whether a request may sign a user in: it comes from a page of this gateway, or not from a browser. A page of another site must not
 * sign its visitor in to another account.
 */
export function isOwnPageOrProgram({ headers }: RequestOrigin, publicUrl: string): boolean {
  const { origin } = headers;
  return origin === undefined ? isOwnSite(headers) : isOwnOrigin(origin, headers.host, publicUrl);
}

/** Returns whether the origin is that of PUBLIC_URL, or has the host of the request, which `refuseOtherHosts` has checked. */
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
