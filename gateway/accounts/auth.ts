import { passkey } from '@better-auth/passkey';
import { betterAuth } from 'better-auth';
import { APIError, createAuthEndpoint, sensitiveSessionMiddleware, sessionMiddleware } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { type Logger } from 'pino';
import { z } from 'zod';
import { deriveAuthSecret, RESET_LINK_LIFE_MS, signInLinkIdentifier } from '../../core/accounts/auth-secret.ts';
import { IDENTIFIER_RANDOM_BYTES, type IdentifierKind, makeIdentifier } from '../../core/shared/identifiers.ts';
import { authPool } from '../../db/connection/auth-database.ts';
import { type Database } from '../../db/connection/database.ts';
import { authColumns, authTables } from './auth-columns.ts';

export interface AuthOptions {
  /** role postroom_auth, for nothing else */
  database: Database;
  log: Logger;
  /** bytes from a cryptographic source */
  random: (bytes: number) => Uint8Array;
  publicUrl: string;
  secretKey: Uint8Array;
  /** whether anybody may make an account */
  isSignUpOpen: boolean;
  /** Told when a session of that user was ended. */
  onSessionEnded: (userId: string) => void;
  /** Mails a link that bears the token. Resolves when it is certain to go. */
  mailResetLink: (email: string, token: string) => Promise<void>;
  /** Told when the user has another password. */
  onPasswordChanged: (user: { id: string; email: string }) => Promise<void>;
}

/** Accounts, sessions and passkeys by better-auth. */
export type Auth = ReturnType<typeof createAuth>;

/** The header field in which better-auth is told the client's address; those that clients send are not passed on. */
export const CLIENT_ADDRESS_FIELD = 'x-postroom-client-address';
/** Characters of a password. */
const PASSWORD_LENGTH = { least: 8, most: 128 };
/** A session ends so long after it was last used, and 30 days after its sign-in in any case (trigger limit_session). Seconds. */
const SESSION_IDLE_SECONDS = 12 * 3_600;
/** A use is written at most this often. Seconds. */
const SESSION_UPDATE_SECONDS = 300;

/** Nothing connects before the first request. */
export function createAuth(options: AuthOptions) {
  const { database, random, publicUrl, secretKey } = options;
  const { origin, hostname, protocol } = new URL(publicUrl);
  const isSecure = protocol === 'https:';
  return betterAuth({
    appName: 'Postroom',
    baseURL: origin,
    basePath: '/api/auth',
    secret: deriveAuthSecret(secretKey),
    database: authPool(database),
    trustedOrigins: [origin],
    telemetry: { enabled: false },
    logger: { level: 'warn', disableColors: true, log: logTo(options.log) },
    emailAndPassword: {
      enabled: true,
      disableSignUp: !options.isSignUpOpen,
      minPasswordLength: PASSWORD_LENGTH.least,
      maxPasswordLength: PASSWORD_LENGTH.most,
      resetPasswordTokenExpiresIn: RESET_LINK_LIFE_MS / 1_000,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, token }) => options.mailResetLink(user.email, token),
      onPasswordReset: ({ user }) => options.onPasswordChanged(user),
    },
    user: authTables.user,
    account: { ...authTables.account, accountLinking: { enabled: false } },
    verification: { ...authTables.verification, storeIdentifier: 'hashed' },
    session: {
      ...authTables.session,
      expiresIn: SESSION_IDLE_SECONDS,
      updateAge: SESSION_UPDATE_SECONDS,
      // What is done with a session is bounded by its life; passwords are asked for where they are changed.
      freshAge: 0,
    },
    databaseHooks: { session: { delete: { after: async (session) => options.onSessionEnded(session.userId) } } },
    // Ours counts by account, too, and over all gateways (gateway/accounts/auth-tries.ts).
    rateLimit: { enabled: false },
    advanced: {
      // The prefix by which browsers hold a cookie to Secure, Path=/ and no Domain (RFC 6265bis §4.1.3.2). better-auth's own is __Secure-.
      cookiePrefix: isSecure ? '__Host-postroom' : 'postroom',
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure },
      disableCSRFCheck: false,
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_FIELD], ipv6Subnet: 128 },
      database: {
        validateSchema: false,
        generateId: ({ model }) => makeIdentifier(kindOf(model), new Date(), random(IDENTIFIER_RANDOM_BYTES)),
      },
    },
    plugins: [
      signInLinks,
      accountEndpoints,
      passkey({
        rpID: hostname,
        rpName: 'Postroom',
        origin,
        advanced: { webAuthnChallengeCookie: 'passkey' },
        authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
        schema: { passkey: { modelName: authTables.passkey.modelName, fields: authColumns.passkey } },
      }),
    ],
  });
}

const kinds: Record<string, IdentifierKind> = {
  user: 'user',
  session: 'session',
  account: 'credential',
  verification: 'verification',
  passkey: 'passkey',
};

function kindOf(model: string): IdentifierKind {
  const kind = kinds[model];
  if (kind === undefined) throw new Error(`better-auth asks for an id of ${model}`);
  return kind;
}

/** What people got wrong is for `debug`; the texts may name addresses. */
function logTo(log: Logger) {
  return (level: string, message: string, ...more: unknown[]) => {
    const error = more.find((item) => item instanceof Error);
    if (level === 'error')
      log.error({ ...(error === undefined ? {} : { err: error }), event: 'auth.failed' }, 'auth failed');
    log.debug({ event: 'auth.note' }, message);
  };
}

/** Adds to better-auth what people do with their sessions and their first password, so that no token of a session leaves the gateway. */
const accountEndpoints = {
  id: 'postroom-account',
  endpoints: {
    endSession: createAuthEndpoint(
      '/end-session',
      { method: 'POST', body: z.object({ id: z.string() }), use: [sessionMiddleware] },
      async (context) => {
        const { internalAdapter, session } = context.context;
        const all = await internalAdapter.listSessions(session.user.id);
        const ended = all.find((one) => one.id === context.body.id);
        if (ended === undefined)
          throw new APIError('NOT_FOUND', { code: 'SESSION_NOT_FOUND', message: 'Session not found' });
        await internalAdapter.deleteSession(ended.token);
        return context.json({ status: true });
      },
    ),
    setFirstPassword: createAuthEndpoint(
      '/set-password',
      { method: 'POST', body: z.object({ newPassword: z.string() }), use: [sensitiveSessionMiddleware] },
      async (context) => {
        const { internalAdapter, session, password } = context.context;
        const userId = session.user.id;
        if ((await internalAdapter.findCredentialAccount(userId)) !== null)
          throw new APIError('BAD_REQUEST', {
            code: 'PASSWORD_ALREADY_SET',
            message: 'This account has a password. Change it with the current one.',
          });
        const hash = await password.hash(context.body.newPassword);
        await internalAdapter.createAccount({ userId, providerId: 'credential', accountId: userId, password: hash });
        return context.json({ status: true });
      },
    ),
  },
} as const;

/** 32 bytes in base64url, as bin/account.ts draws them; nothing else is looked for. */
const token = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** Adds to better-auth the links that sign in once (db/queries/accounts/sign-in-link.ts makes them). */
const signInLinks = {
  id: 'sign-in-link',
  endpoints: {
    signInLink: createAuthEndpoint('/sign-in/link', { method: 'POST', body: z.object({ token }) }, async (context) => {
      const { internalAdapter } = context.context;
      // At most one of several at once gets it.
      const link = await internalAdapter.consumeVerificationValue(signInLinkIdentifier(context.body.token));
      const user = link === null ? null : await internalAdapter.findUserById(link.value);
      if (user === null)
        throw new APIError('BAD_REQUEST', {
          code: 'INVALID_TOKEN',
          message:
            'This link was used already, or its time is over. Ask for a new one: npx node bin/account.ts sign-in-link EMAIL',
        });
      const session = await internalAdapter.createSession(user.id);
      await setSessionCookie(context, { session, user });
      return context.json({ user });
    }),
  },
} as const;
