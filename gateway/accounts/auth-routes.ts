import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../db/connection/database.ts';
import { foreignPage, isOwnPage, isOwnPageOrProgram } from '../admission/session-admission.ts';
import { type Auth, CLIENT_ADDRESS_FIELD } from './auth.ts';
import { authAnswer, authRefusal, type SignedIn } from './auth-answers.ts';
import { type AuthEndpoint, authEndpoints } from './auth-endpoints.ts';
import type { AuthTries, Try, TryKind } from './auth-tries.ts';
import type { Sessions } from './sessions.ts';

export interface AuthRouteOptions {
  auth: Auth;
  tries: AuthTries;
  sessions: Sessions;
  /** role postroom_auth */
  database: Database;
  publicUrl: string;
  isSignUpOpen: boolean;
  /** Told when the user has another password. */
  onPasswordChanged: (user: { id: string; email: string }) => Promise<void>;
}

/** Bytes of a request body; answers of authenticators are the longest. */
const BODY_LIMIT = 32_768;
/** What counts although it was right: it leaves something behind. */
const KEPT: ReadonlySet<TryKind> = new Set<TryKind>(['sign-up', 'passkey-options']);
/** Characters that are kept of what a browser says of itself. */
const MAX_USER_AGENT = 300;

/**
 * Mounts better-auth at `/api/auth`: outside CORS, so that pages of other origins read nothing, with bodies of known shapes, answers
 * without tokens, and errors in our own form.
 */
export async function authRoutes(app: FastifyInstance, options: AuthRouteOptions): Promise<void> {
  const { publicUrl, isSignUpOpen } = options;
  app.get('/settings', { schema: { hide: true } }, () => ({
    signUp: isSignUpOpen,
    passkeyHost: new URL(publicUrl).hostname,
  }));
  for (const endpoint of authEndpoints)
    app.route({
      method: endpoint.method,
      url: endpoint.path,
      schema: { hide: true, ...(endpoint.body === null ? {} : { body: endpoint.body }) },
      bodyLimit: BODY_LIMIT,
      onRequest: async (request) => requireOwnPage(request, options),
      handler: (request, reply) => serve(request, reply, endpoint, options),
    });
}

function requireOwnPage(request: FastifyRequest, { sessions, publicUrl }: AuthRouteOptions): void {
  const hasCookie = sessions.cookieOf(request.headers.cookie) !== null;
  const isOwn = hasCookie ? isOwnPage(request, publicUrl) : isOwnPageOrProgram(request, publicUrl);
  if (!isOwn) throw foreignPage();
}

async function serve(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: AuthEndpoint,
  options: AuthRouteOptions,
): Promise<FastifyReply> {
  const { auth, tries, database } = options;
  const attempt = await attemptOf(request, endpoint, options);
  if (attempt !== null) await tries.take(attempt);
  const answered = auth.handler(asOwnRequest(request, endpoint, options.publicUrl));
  if (endpoint.isUnwatched === true) {
    // How long it takes would tell whether there is such an account.
    answered.catch((error: unknown) => request.log.error({ err: error }, 'what was asked of better-auth failed'));
    return send(reply, 200, { status: true });
  }
  const response = await answered;
  if (response.status >= 500) {
    // better-auth tells nothing of the cause; when it is that PostgreSQL is away, clients shall know that trying again helps.
    await database.pool.query('select');
    throw new Error(`better-auth answered ${response.status} to ${endpoint.path}`);
  }
  for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) return send(reply, response.status, authRefusal(response.status, body));
  if (attempt !== null && !KEPT.has(attempt.kind)) await tries.succeeded(attempt);
  const answer = authAnswer(endpoint.path, body);
  if (endpoint.path === '/change-password') await options.onPasswordChanged((answer as SignedIn).user);
  return send(reply, 200, answer);
}

function send(reply: FastifyReply, statusCode: number, body: unknown): FastifyReply {
  return reply.code(statusCode).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** What the request is counted as; null: it is not. */
async function attemptOf(
  request: FastifyRequest,
  { counted }: AuthEndpoint,
  { sessions }: AuthRouteOptions,
): Promise<Try | null> {
  if (counted === undefined) return null;
  const { kind, byEmail, bySession } = counted;
  const { email } = (request.body ?? {}) as { email?: string };
  if (byEmail === true) return { kind, address: request.ip, account: email ?? null };
  const cookie = bySession === true ? sessions.cookieOf(request.headers.cookie) : null;
  const session = cookie === null ? null : await sessions.find(cookie);
  return { kind, address: request.ip, account: session?.userId ?? null };
}

/** The request as better-auth gets it: from our own origin, which was looked at, and of the client that we see. */
function asOwnRequest(request: FastifyRequest, { path, method, adds }: AuthEndpoint, publicUrl: string): Request {
  const { origin } = new URL(publicUrl);
  const headers = new Headers({ origin, [CLIENT_ADDRESS_FIELD]: request.ip });
  for (const name of ['cookie', 'user-agent'] as const) {
    const value = request.headers[name];
    if (value !== undefined) headers.set(name, name === 'user-agent' ? value.slice(0, MAX_USER_AGENT) : value);
  }
  if (method === 'GET') return new Request(`${origin}/api/auth${path}`, { headers });
  headers.set('content-type', 'application/json');
  const body = JSON.stringify({ ...(request.body as Record<string, unknown>), ...adds });
  return new Request(`${origin}/api/auth${path}`, { method, headers, body });
}
