import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { auditText } from '../../core/accounts/audit.ts';
import { newPasswordFault } from '../../core/accounts/password.ts';
import type { SignInNotice } from '../../core/accounts/system-account.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Database } from '../../db/connection/database.ts';
import { noteFailedSignIn } from '../../db/queries/accounts/audit-entry.ts';
import { keepPasskey, readPasswordMark } from '../../db/queries/accounts/password.ts';
import { endPasskeySessions, endSession } from '../../db/queries/accounts/session.ts';
import { findLinkOwner, findPasskeyOwner } from '../../db/queries/accounts/sign-in-link.ts';
import { requireFreshSignIn } from '../../operations/accounts/fresh-sign-in.ts';
import { isClosedFor } from '../admission/forwarded-requests.ts';
import { foreignPage, isOwnPage, isOwnPageOrProgram } from '../admission/session-admission.ts';
import type { ErrorBody } from '../http/error-response.ts';
import type { AttemptKind, AuthAttempt } from './auth-attempts.ts';
import { plainCookies, type SessionCredential, sessionCookieName } from './session-lookup.ts';
import type { SignInParts } from './sign-in-parts.ts';

/** An endpoint of `/api/auth`. No other endpoint of better-auth is served. */
interface AuthEndpoint {
  method: 'GET' | 'POST';
  /** path below /api/auth, the same as in better-auth */
  path: string;
  /** null if the body is not read */
  body: z.ZodType<Record<string, unknown>> | null;
  /** how an attempt is counted before it is checked; `byEmail`: also for the account that the body names */
  counted?: { kind: AttemptKind; byEmail?: true; bySession?: true };
  /** whether it responds at once, before the result is known */
  isUnwatched?: true;
  /** whether it computes the hash of a password */
  hashesPassword?: true;
  /** `sign-in`: it needs no session; `own`: one that is not of single sign-on; `fresh`: as `own`, by a person who signed in just now */
  needs: 'sign-in' | 'session' | 'own' | 'fresh';
  /** added to the body for better-auth */
  adds?: Record<string, unknown>;
}

/** RFC 5321 §4.5.3.1.3: a path of 256 bytes with its angle brackets. */
const email = z.email('must be an address such as you@example.com').max(254).toLowerCase();
/** Only new passwords are checked for their length; anything longer is not worth hashing. */
const password = z.string().max(512);
export const newPassword = z
  .string()
  .max(512)
  .superRefine((text, context) => {
    const fault = newPasswordFault(text);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault, input: undefined });
  });
export const personName = z.string().trim().min(1, 'must not be empty').max(100, 'must have 100 characters at most');
const token = z.string().max(256);
const id = z.string().max(64);
/** The response of the authenticator, checked by @better-auth/passkey. */
const response = z.looseObject({ id: z.string().max(2_048) });
const nothing = z
  .object({})
  .nullish()
  .transform(() => ({}));

const post = (path: string, body: AuthEndpoint['body'], more: Partial<AuthEndpoint> = {}): AuthEndpoint => ({
  method: 'POST',
  path,
  body,
  needs: 'session',
  ...more,
});
const get = (path: string, more: Partial<AuthEndpoint> = {}): AuthEndpoint => ({
  method: 'GET',
  path,
  body: null,
  needs: 'session',
  ...more,
});

/** See docs/accounts.md. */
const authEndpoints: readonly AuthEndpoint[] = [
  post('/sign-up/email', z.object({ name: personName, email, password: newPassword }), {
    counted: { kind: 'sign-up' },
    hashesPassword: true,
    needs: 'sign-in',
  }),
  post('/sign-in/email', z.object({ email, password }), {
    counted: { kind: 'sign-in', byEmail: true },
    hashesPassword: true,
    needs: 'sign-in',
  }),
  post('/sign-in/link', z.object({ token }), { counted: { kind: 'sign-in-link' }, needs: 'sign-in' }),
  post('/sign-out', nothing, { needs: 'sign-in' }),
  get('/get-session'),
  get('/list-sessions', { needs: 'own' }),
  post('/end-session', z.object({ id }), { needs: 'own' }),
  post('/revoke-other-sessions', nothing, { needs: 'own' }),
  post('/revoke-sessions', nothing, { needs: 'own' }),
  post('/update-user', z.object({ name: personName })),
  get('/list-accounts'),
  post('/change-password', z.object({ currentPassword: password, newPassword }), {
    counted: { kind: 'password', bySession: true },
    hashesPassword: true,
    adds: { revokeOtherSessions: true },
    needs: 'own',
  }),
  post('/set-password', z.object({ newPassword }), { hashesPassword: true, needs: 'fresh' }),
  post('/request-password-reset', z.object({ email }), {
    counted: { kind: 'reset-request', byEmail: true },
    isUnwatched: true,
    needs: 'sign-in',
  }),
  post('/reset-password', z.object({ token, newPassword }), {
    counted: { kind: 'reset' },
    hashesPassword: true,
    needs: 'sign-in',
  }),
  get('/passkey/generate-register-options', { counted: { kind: 'passkey-options' }, needs: 'fresh' }),
  post('/passkey/verify-registration', z.object({ response, name: personName.optional() }), { needs: 'fresh' }),
  get('/passkey/generate-authenticate-options', { counted: { kind: 'passkey-options' }, needs: 'sign-in' }),
  post('/passkey/verify-authentication', z.object({ response }), { counted: { kind: 'passkey' }, needs: 'sign-in' }),
  get('/passkey/list-user-passkeys'),
  post('/passkey/update-passkey', z.object({ id, name: personName }), { needs: 'own' }),
  post('/passkey/delete-passkey', z.object({ id }), { needs: 'fresh' }),
];

/** Mails about what a request has changed. */
const NOTICES: Readonly<Record<string, SignInNotice>> = {
  '/set-password': 'password',
  '/passkey/verify-registration': 'passkey',
  '/passkey/delete-passkey': 'passkey-removed',
};
/** What starts a session; the account may have a second factor. */
const SIGN_INS: ReadonlySet<string> = new Set([
  '/sign-up/email',
  '/sign-in/email',
  '/sign-in/link',
  '/passkey/verify-authentication',
]);
/** What the operator can close with OIDC_REQUIRED; links of the operator stay the way back in. */
const OWN_SIGN_INS: ReadonlySet<string> = new Set([
  '/sign-up/email',
  '/sign-in/email',
  '/request-password-reset',
  '/reset-password',
  '/passkey/verify-authentication',
]);

/** The header that passes the client's address to better-auth. The client's own headers are not passed on. */
export const CLIENT_ADDRESS_FIELD = 'x-postroom-client-address';
/** Maximum size of a body; bytes. Responses of authenticators are the largest. */
const BODY_LIMIT = 32_768;
/** Kinds that count even if they succeed, because they store something. */
const KEPT: ReadonlySet<AttemptKind> = new Set<AttemptKind>(['sign-up', 'passkey-options']);
/** Maximum stored length of a User-Agent header; characters. */
const MAX_USER_AGENT = 300;

/**
 * Mounts better-auth at `/api/auth`: without CORS, so that pages of other origins can read nothing, with validated bodies, responses without
 * tokens, and errors in our format.
 */
export async function authRoutes(app: FastifyInstance, options: SignInParts): Promise<void> {
  const { publicUrl, isSignUpOpen, openForLocal } = options;
  app.get('/settings', { schema: { hide: true } }, (request) => ({
    signUp: isSignUpOpen && options.oidc?.isRequired !== true && !isClosedFor(request, openForLocal, 'SIGN_UP'),
    passkeyHost: new URL(publicUrl).hostname,
    singleSignOn: options.oidc === null ? 'by address' : options.oidc.isRequired ? 'required' : 'service',
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

function requireOwnPage(request: FastifyRequest, { sessions, publicUrl }: SignInParts): void {
  const hasCookie = sessions.cookieOf(request.headers.cookie) !== null;
  const isOwn = hasCookie ? isOwnPage(request, publicUrl) : isOwnPageOrProgram(request, publicUrl);
  if (!isOwn) throw foreignPage();
}

async function serve(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: AuthEndpoint,
  options: SignInParts,
): Promise<FastifyReply> {
  const { openAuth, attempts, database, openForLocal } = options;
  if (endpoint.path === '/sign-up/email' && isClosedFor(request, openForLocal, 'SIGN_UP')) throw signUpForLocal();
  if (options.oidc?.isRequired === true && OWN_SIGN_INS.has(endpoint.path)) throw onlySingleSignOn();
  const isOfSession = endpoint.path === '/get-session';
  const found = await findCaller(request, options);
  const caller = found === 'pending' ? null : found;
  if (isOfSession && found === 'pending') return send(reply, 200, null);
  // better-auth knows neither second factors nor workspaces, and removes a session that has expired when it is asked for.
  if (caller === null && endpoint.needs !== 'sign-in' && !isOfSession)
    throw new UserError('unauthorized', 'Authentication required');
  if (endpoint.needs === 'own' || endpoint.needs === 'fresh') requireOwn(caller, endpoint.needs, options);
  const attempt = await readAttempt(request, endpoint, options);
  if (attempt !== null) await attempts.take(attempt);
  const account = attempt?.account ?? (await findAttempted(request, endpoint, database));
  const auth = await openAuth();
  const mark = await readMark(request, endpoint, database);
  const sent = { ...(request.body as Record<string, unknown> | undefined), ...endpoint.adds };
  const hidesSession = found === 'pending' && endpoint.path !== '/sign-out';
  const handle = () =>
    auth.handler(asOwnRequest(request, { ...endpoint, body: sent, hidesSession }, options.publicUrl));
  const responding = endpoint.hashesPassword === true ? options.passwords.run(request.ip, handle) : handle();
  if (endpoint.isUnwatched === true) {
    // The response time would reveal whether the account exists.
    responding.catch((error: unknown) => request.log.error({ err: error }, 'better-auth failed'));
    return send(reply, 200, { status: true });
  }
  const response = await responding;
  if (response.status >= 500) {
    // better-auth hides the cause. If PostgreSQL is unreachable, clients must learn that a retry helps.
    await database.pool.query('select');
    throw new Error(`better-auth responded ${response.status} to ${endpoint.path}`);
  }
  for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) {
    const refused = authRefusal(response.status, body);
    await noteFailure(request, endpoint, account, refused, database);
    return send(reply, response.status, refused);
  }
  if (endpoint.path === '/passkey/verify-registration' && caller !== null) {
    const added = { passkeyId: (body as { id: string }).id, sessionId: caller.sessionId };
    if (!(await keepPasskey(database, added))) throw sessionEnded();
  }
  if (endpoint.path === '/passkey/delete-passkey' && caller !== null) {
    // The device may be lost: who has it is signed out.
    await endPasskeySessions(database, caller);
    options.forgetSessions(caller.personId);
  }
  if (attempt !== null && !KEPT.has(attempt.kind)) await attempts.succeeded(attempt);
  const result = isOfSession && caller === null ? null : authResponse(endpoint.path, body);
  if (endpoint.path === '/change-password') await options.onPasswordChanged((result as SignedIn).user);
  const notice = NOTICES[endpoint.path];
  if (notice !== undefined && caller !== null) options.notices.tell(request, caller.personId, notice);
  if (!SIGN_INS.has(endpoint.path)) return send(reply, 200, result);
  const { user: person } = result as SignedIn;
  const started = await findStarted(response, options);
  // A password or passkey that was replaced or removed while it was compared opens nothing.
  if (started !== null && (await readMark(request, endpoint, database)) !== mark) {
    await endSession(database, started.sessionId);
    options.sessions.forget(person.id);
    throw signInChanged(endpoint);
  }
  if (started?.isPending === true) return send(reply, 200, { secondFactor: 'totp' });
  options.notices.noteDevice(request, reply, person.id);
  return send(reply, 200, result);
}

/** Returns the session of a request: null without one, `pending` while it waits for the second factor. */
async function findCaller(
  request: FastifyRequest,
  { sessions }: SignInParts,
): Promise<SessionCredential | 'pending' | null> {
  const cookie = sessions.cookieOf(request.headers.cookie);
  const session = cookie === null ? null : await sessions.findPending(cookie);
  return session?.isPending === true ? 'pending' : session;
}

/**
 * Requires a session that may change how its person signs in. One of single sign-on may not: its provider speaks for one workspace, and the
 * person's own sign-in opens all. Throws unauthorized, forbidden.
 */
export function requireOwn(
  session: SessionCredential | null,
  needs: 'own' | 'fresh',
  { now }: Pick<SignInParts, 'now'>,
): asserts session is SessionCredential {
  if (session === null) throw new UserError('unauthorized', 'Authentication required');
  if (session.providerId !== null)
    throw new UserError(
      'forbidden',
      'You signed in by the single sign-on of a workspace. To change your own sign-in, sign out and sign in by a link, your password or a passkey.',
      { title: 'Forbidden', reason: 'OTHER_SIGN_IN_REQUIRED' },
    );
  if (needs === 'fresh')
    requireFreshSignIn({ caller: { via: 'session', signedInAt: session.confirmedAt }, now }, 'change how you sign in');
}

/** Returns the session that a response starts; null: it starts none, or the session has ended meanwhile. */
async function findStarted(response: Response, { sessions }: SignInParts): Promise<SessionCredential | null> {
  const fields = response.headers.getSetCookie().map((field) => field.replace(/;.*$/s, ''));
  const cookie = sessions.cookieOf(fields.join('; '));
  return cookie === null ? null : sessions.findPending(cookie);
}

/** Returns what changes with the password or passkey that a sign-in is compared with; null: it is none with either. */
async function readMark({ body }: FastifyRequest, { path }: AuthEndpoint, database: Database): Promise<string | null> {
  if (path === '/sign-in/email') return readPasswordMark(database, (body as { email: string }).email);
  return path === '/passkey/verify-authentication' ? findAttempted({ body }, { path }, database) : null;
}

function signInChanged({ path }: AuthEndpoint): UserError {
  return path === '/sign-in/email'
    ? new UserError('conflict', 'The password was changed while you signed in. Sign in again with the new one.', {
        reason: 'PASSWORD_CHANGED',
      })
    : new UserError('conflict', 'The passkey was removed while you signed in.', { reason: 'PASSKEY_REMOVED' });
}

function sessionEnded(): UserError {
  return new UserError('unauthorized', 'Your session ended while the passkey was added. Sign in and add it again.');
}

function onlySingleSignOn(): UserError {
  return new UserError(
    'forbidden',
    'This service requires single sign-on. The operator can make a link: npx node bin/account.ts sign-in-link EMAIL',
    { title: 'Forbidden', reason: 'SINGLE_SIGN_ON_REQUIRED' },
  );
}

/** Returns the person whom a sign-in with a passkey or a link is of, before it is checked; null: it names no one. */
async function findAttempted(
  { body }: Pick<FastifyRequest, 'body'>,
  { path }: Pick<AuthEndpoint, 'path'>,
  database: Database,
): Promise<string | null> {
  if (path === '/passkey/verify-authentication')
    return findPasskeyOwner(database, (body as { response: { id: string } }).response.id);
  return path === '/sign-in/link' ? findLinkOwner(database, (body as { token: string }).token) : null;
}

/** What starts a session without a password. */
const WITHOUT_PASSWORD: ReadonlySet<string> = new Set(['/passkey/verify-authentication', '/sign-in/link']);

/** Stores a refused sign-in or password in the audit log of its account. Attempts are limited, so they cannot fill the disk. */
async function noteFailure(
  request: FastifyRequest,
  { path, hashesPassword }: AuthEndpoint,
  account: string | null,
  { message }: ErrorBody,
  database: Database,
): Promise<void> {
  const isSignIn = path === '/sign-in/email' || WITHOUT_PASSWORD.has(path);
  if ((hashesPassword !== true && !isSignIn) || account === null) return;
  const agent = request.headers['user-agent'];
  await noteFailedSignIn(database, {
    account,
    action: isSignIn ? 'session.denied' : 'password.denied',
    reason: message,
    address: request.ip,
    agent: agent === undefined ? null : auditText(agent),
  });
}

function signUpForLocal(): UserError {
  return new UserError(
    'forbidden',
    'Sign-up is closed, because this service is set up for its own machine only and a proxy forwarded the request. The operator can set PUBLIC_URL and TRUSTED_PROXIES, and SIGN_UP=on to let visitors sign up.',
    { title: 'Forbidden', reason: 'SIGN_UP_IS_LOCAL' },
  );
}

function send(reply: FastifyReply, statusCode: number, body: unknown): FastifyReply {
  return reply.code(statusCode).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** Returns the attempt to count for a request; null if it is not counted. */
async function readAttempt(
  request: FastifyRequest,
  { counted }: AuthEndpoint,
  { sessions }: SignInParts,
): Promise<AuthAttempt | null> {
  if (counted === undefined) return null;
  const { kind, byEmail, bySession } = counted;
  const { email } = (request.body ?? {}) as { email?: string };
  if (byEmail === true) return { kind, address: request.ip, account: email ?? null };
  const cookie = bySession === true ? sessions.cookieOf(request.headers.cookie) : null;
  const session = cookie === null ? null : await sessions.find(cookie);
  return { kind, address: request.ip, account: session?.personId ?? null };
}

/** A request to better-auth. */
interface OwnRequest extends Pick<AuthEndpoint, 'path' | 'method'> {
  body: Record<string, unknown>;
  /** whether better-auth does not see the session, which it would take for one that is open */
  hidesSession?: boolean;
}

/** Converts a request for better-auth: with our own origin, which has been checked, and the client's address. */
export function asOwnRequest(
  request: FastifyRequest,
  { path, method, body, hidesSession = false }: OwnRequest,
  publicUrl: string,
): Request {
  const { origin } = new URL(publicUrl);
  const headers = new Headers({ origin, [CLIENT_ADDRESS_FIELD]: request.ip });
  const { cookie, 'user-agent': agent } = request.headers;
  if (cookie !== undefined)
    headers.set('cookie', plainCookies(cookie, hidesSession ? [sessionCookieName(publicUrl)] : []));
  if (agent !== undefined) headers.set('user-agent', agent.slice(0, MAX_USER_AGENT));
  if (method === 'GET') return new Request(`${origin}/api/auth${path}`, { headers });
  headers.set('content-type', 'application/json');
  return new Request(`${origin}/api/auth${path}`, { method, headers, body: JSON.stringify(body) });
}

/** The fields that pages need. */
const user = z.object({ id: z.string(), email: z.string(), name: z.string(), createdAt: z.string() });
/** A session without its token. */
const session = z.object({
  id: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  expiresAt: z.string(),
  ipAddress: z.string().nullish(),
  userAgent: z.string().nullish(),
});
const passkey = z.object({
  id: z.string(),
  name: z.string().nullish(),
  createdAt: z.string().nullish(),
  deviceType: z.string(),
  backedUp: z.boolean(),
});
const status = z.object({ status: z.boolean() });
const signedIn = z.object({ user });
type SignedIn = z.infer<typeof signedIn>;

const shapes: Record<string, z.ZodType> = {
  '/sign-up/email': signedIn,
  '/sign-in/email': signedIn,
  '/sign-in/link': signedIn,
  '/sign-out': z.object({ success: z.boolean() }).transform(({ success }) => ({ status: success })),
  '/get-session': z.object({ user, session }).nullable(),
  '/list-sessions': z.array(session),
  '/list-accounts': z.array(z.object({ providerId: z.string() })).transform((credentials) => ({
    hasPassword: credentials.some(({ providerId }) => providerId === 'credential'),
  })),
  '/change-password': signedIn,
  '/passkey/generate-register-options': z.looseObject({}),
  '/passkey/generate-authenticate-options': z.looseObject({}),
  '/passkey/verify-registration': passkey,
  '/passkey/verify-authentication': signedIn,
  '/passkey/list-user-passkeys': z.array(passkey),
  '/passkey/update-passkey': z.object({ passkey }),
};

/** Returns the part of better-auth's response that pages need: no token and no hash. */
function authResponse(path: string, body: unknown): unknown {
  return (shapes[path] ?? status).parse(body);
}

const refusal = z.object({ code: z.string(), message: z.string() }).partial();

const titles: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  422: 'Unprocessable Entity',
};

/** Converts an error of better-auth to our format; `code` stays. Throws unauthorized if there is no session. */
function authRefusal(statusCode: number, body: unknown): ErrorBody {
  const { code = 'REFUSED', message = 'The request was refused.' } = refusal.safeParse(body).data ?? {};
  if (code === 'UNAUTHORIZED') throw new UserError('unauthorized', 'Authentication required');
  const name = statusCode === 404 ? 'not_found' : 'validation_error';
  return { error: titles[statusCode] ?? 'Bad Request', message, statusCode, name, code };
}
