import { passkey } from '@better-auth/passkey';
import { betterAuth, type GenericEndpointContext } from 'better-auth';
import { APIError, createAuthEndpoint, sensitiveSessionMiddleware, sessionMiddleware } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import type { Logger } from 'pino';
import { z } from 'zod';
import { deriveAuthSecret, RESET_LINK_LIFE_MS, signInLinkIdentifier } from '../../core/accounts/auth-secret.ts';
import { PASSWORD_LENGTH } from '../../core/accounts/password.ts';
import type { SignInMethod } from '../../core/accounts/sign-in.ts';
import { IDENTIFIER_RANDOM_BYTES, type IdentifierKind, makeIdentifier } from '../../core/shared/identifiers.ts';
import { authPool } from '../../db/connection/auth-database.ts';
import type { Database } from '../../db/connection/database.ts';
import { findPasskeyOwner } from '../../db/queries/accounts/sign-in-link.ts';

export interface AuthOptions {
  /** role postroom_auth, used only here */
  database: Database;
  log: Logger;
  /** bytes from a cryptographic source */
  random: (bytes: number) => Uint8Array;
  publicUrl: string;
  secretKey: Uint8Array;
  /** whether anyone can create an account */
  isSignUpOpen: boolean;
  /** the header that passes the client's address */
  clientAddressField: string;
  /** Called when a session of the person was ended. */
  onSessionEnded: (personId: string) => void;
  /** Sends a link with the token by email. Resolves once the email is stored. */
  mailResetLink: (email: string, token: string) => Promise<void>;
  /** Called when the person set a new password by a mailed link. */
  onPasswordReset: (person: { id: string; email: string }) => Promise<void>;
}

/** better-auth, which manages accounts, sessions and passkeys. */
export type Auth = ReturnType<typeof createAuth>;

/** Time after its last use at which a session ends, and 30 days after sign-in in any case (trigger limit_session). Seconds. */
const SESSION_IDLE_SECONDS = 12 * 3_600;
/** Minimum interval between writes of the last use. Seconds. */
const SESSION_UPDATE_SECONDS = 300;

/** Creates better-auth. Connects to nothing before the first request. */
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
      onPasswordReset: ({ user }) => options.onPasswordReset(user),
    },
    user: authTables.user,
    account: { ...authTables.account, accountLinking: { enabled: false } },
    verification: { ...authTables.verification, storeIdentifier: 'hashed' },
    session: {
      ...authTables.session,
      expiresIn: SESSION_IDLE_SECONDS,
      updateAge: SESSION_UPDATE_SECONDS,
      // A session is valid for all its lifetime; only changing the password requires the password.
      freshAge: 0,
      additionalFields: {
        method: { type: 'string', required: false, input: false },
        providerId: { type: 'string', required: false, input: false, fieldName: 'provider_id' },
        secondFactorAt: { type: 'date', required: false, input: false, fieldName: 'second_factor_at' },
      },
    },
    databaseHooks: {
      session: {
        create: { before: async (session, context) => ({ data: { ...session, ...signedInBy(session, context) } }) },
        delete: { after: async (session) => options.onSessionEnded(session.userId) },
      },
    },
    // auth-attempts.ts also counts by account, and over all gateways.
    rateLimit: { enabled: false },
    advanced: {
      // With this prefix browsers require Secure, Path=/ and no Domain (RFC 6265bis §4.1.3.2). The default of better-auth is __Secure-.
      cookiePrefix: isSecure ? '__Host-postroom' : 'postroom',
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure },
      disableCSRFCheck: false,
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [options.clientAddressField], ipv6Subnet: 128 },
      database: {
        validateSchema: false,
        generateId: ({ model }) =>
          makeIdentifier(findIdentifierKind(model), new Date(), random(IDENTIFIER_RANDOM_BYTES)),
      },
    },
    plugins: [
      signInLinks,
      invitedSignUp,
      providerSignIn,
      passwordCheck,
      accountEndpoints,
      passkey({
        rpID: hostname,
        rpName: 'Postroom',
        origin,
        advanced: { webAuthnChallengeCookie: 'passkey' },
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        registration: {
          async afterVerification({ verification: { registrationInfo } }) {
            requireVerifiedUser(registrationInfo?.userVerified);
            // One without attestation chooses its ID itself: it must not take that of another person's passkey (WebAuthn §7.1).
            if ((await findPasskeyOwner(database, registrationInfo?.credential.id ?? '')) !== null)
              throw new APIError('BAD_REQUEST', {
                code: 'PASSKEY_EXISTS',
                message: 'This passkey was added before. Add another one, or remove it where it is.',
              });
          },
        },
        authentication: {
          afterVerification: async ({ verification }) =>
            requireVerifiedUser(verification.authenticationInfo.userVerified),
        },
        schema: { passkey: { modelName: authTables.passkey.modelName, fields: authColumns.passkey } },
      }),
    ],
  });
}

/** Refuses a passkey whose device did not check its user, because a passkey counts as two factors. Throws APIError. */
function requireVerifiedUser(isVerified: boolean | undefined): void {
  if (isVerified === true) return;
  throw new APIError('BAD_REQUEST', {
    code: 'USER_NOT_VERIFIED',
    message: 'Your device did not check a fingerprint, face or PIN. Set up a screen lock or PIN on it, and try again.',
  });
}

/** How sessions are started, by the path that starts them; `password` elsewhere. */
const METHODS: Readonly<Record<string, SignInMethod>> = {
  '/sign-in/link': 'link',
  '/sign-in/provider': 'provider',
  '/passkey/verify-authentication': 'passkey',
};

/** Returns what a new session says about its sign-in. One that replaces another, as a change of the password does, says the same as that. */
function signedInBy(
  { providerId = null }: Readonly<Record<string, unknown>>,
  context: GenericEndpointContext | null,
): Record<string, unknown> {
  const method = METHODS[context?.path ?? ''];
  const previous = context?.path === '/change-password' ? context.context.session?.session : undefined;
  if (previous === undefined) return { method: method ?? 'password', providerId };
  const { method: formerMethod, providerId: formerProvider, secondFactorAt } = previous as Record<string, unknown>;
  return { method: formerMethod, providerId: formerProvider, secondFactorAt };
}

const kinds: Record<string, IdentifierKind> = {
  user: 'user',
  session: 'session',
  account: 'credential',
  verification: 'verification',
  passkey: 'passkey',
};

function findIdentifierKind(model: string): IdentifierKind {
  const kind = kinds[model];
  if (kind === undefined) throw new Error(`better-auth asks for an id of ${model}`);
  return kind;
}

/** Logs mistakes of users at `debug` level; their texts may contain addresses. */
function logTo(log: Logger) {
  return (level: string, message: string, ...more: unknown[]) => {
    const error = more.find((item) => item instanceof Error);
    if (level === 'error')
      log.error({ ...(error === undefined ? {} : { err: error }), event: 'auth.failed' }, 'auth failed');
    log.debug({ event: 'auth.note' }, message);
  };
}

/** A better-auth plugin to end sessions and to set a first password without sending any session token to the client. */
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
            message: 'This account already has a password. Use the current one to change it.',
          });
        const hash = await password.hash(context.body.newPassword);
        await internalAdapter.createAccount({ userId, providerId: 'credential', accountId: userId, password: hash });
        return context.json({ status: true });
      },
    ),
  },
} as const;

/** A better-auth plugin that checks the password of the person of a session; second-factor-routes.ts counts the attempts. */
const passwordCheck = {
  id: 'password-check',
  endpoints: {
    checkPassword: createAuthEndpoint(
      '/check-password',
      { method: 'POST', body: z.object({ password: z.string() }), use: [sensitiveSessionMiddleware] },
      async (context) => {
        const { internalAdapter, session, password } = context.context;
        const held = await internalAdapter.findCredentialAccount(session.user.id);
        const isRight =
          held?.password != null && (await password.verify({ hash: held.password, password: context.body.password }));
        if (!isRight)
          throw new APIError('BAD_REQUEST', { code: 'INVALID_PASSWORD', message: 'The password is incorrect.' });
        return context.json({ status: true });
      },
    ),
  },
} as const;

/** 32 bytes in base64url, as bin/account.ts generates them. */
const token = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** A better-auth plugin for one-time sign-in links (created by db/queries/accounts/sign-in-link.ts). */
const signInLinks = {
  id: 'sign-in-link',
  endpoints: {
    signInLink: createAuthEndpoint('/sign-in/link', { method: 'POST', body: z.object({ token }) }, async (context) => {
      const { internalAdapter } = context.context;
      // At most one of several concurrent requests succeeds.
      const link = await internalAdapter.consumeVerificationValue(signInLinkIdentifier(context.body.token));
      const user = link === null ? null : await internalAdapter.findUserById(link.value);
      if (user === null)
        throw new APIError('BAD_REQUEST', {
          code: 'INVALID_TOKEN',
          message:
            'This link has been used or has expired. Create a new one: npx node bin/account.ts sign-in-link EMAIL',
        });
      const session = await internalAdapter.createSession(user.id);
      await setSessionCookie(context, { session, user });
      return context.json({ user });
    }),
  },
} as const;

/**
 * A better-auth plugin that starts the session of a person whom a provider named; provider-sign-in.ts has checked it. No route of ours passes a
 * request of a client to it.
 */
const providerSignIn = {
  id: 'provider-sign-in',
  endpoints: {
    signInProvider: createAuthEndpoint(
      '/sign-in/provider',
      { method: 'POST', body: z.object({ personId: z.string(), providerId: z.string().nullable() }) },
      async (context) => {
        const { internalAdapter } = context.context;
        const { personId, providerId } = context.body;
        const user = await internalAdapter.findUserById(personId);
        if (user === null) throw new APIError('BAD_REQUEST', { code: 'NO_PERSON', message: 'The person is gone' });
        const session = await internalAdapter.createSession(user.id, false, { providerId });
        await setSessionCookie(context, { session, user });
        return context.json({ sessionId: session.id });
      },
    ),
  },
} as const;

const invitedPerson = z.object({ email: z.string(), name: z.string(), password: z.string(), isProved: z.boolean() });

/**
 * A better-auth plugin that creates the sign-in of a person who was invited; invitation-routes.ts has checked the invitation to the address.
 * No route of ours passes a request of a client to it.
 */
const invitedSignUp = {
  id: 'invited-sign-up',
  endpoints: {
    signUpInvited: createAuthEndpoint('/sign-up/invited', { method: 'POST', body: invitedPerson }, async (context) => {
      const { internalAdapter, password } = context.context;
      const { email, name, password: secret, isProved: emailVerified } = context.body;
      const hash = await password.hash(secret);
      if ((await internalAdapter.findUserByEmail(email)) !== null)
        throw new APIError('UNPROCESSABLE_ENTITY', {
          code: 'USER_ALREADY_EXISTS',
          message: 'The address can sign in',
        });
      // Who holds a link that was mailed receives mail at the address. One that was handed over proves nothing.
      const user = await internalAdapter.createUser({ email, name, emailVerified }, { method: 'email-password' });
      await internalAdapter.linkAccount({
        userId: user.id,
        providerId: 'credential',
        accountId: user.id,
        password: hash,
      });
      const session = await internalAdapter.createSession(user.id);
      await setSessionCookie(context, { session, user });
      return context.json({ sessionId: session.id });
    }),
  },
} as const;

/** The columns of db/entities/accounts.ts by their names in better-auth. One-word names are the same. */
const authColumns = {
  user: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
  session: {
    userId: 'person_id',
    expiresAt: 'expires_at',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    ipAddress: 'ip_address',
    userAgent: 'user_agent',
  },
  account: {
    userId: 'person_id',
    accountId: 'account_id',
    providerId: 'provider_id',
    accessToken: 'access_token',
    refreshToken: 'refresh_token',
    idToken: 'id_token',
    accessTokenExpiresAt: 'access_token_expires_at',
    refreshTokenExpiresAt: 'refresh_token_expires_at',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
  verification: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
  passkey: {
    publicKey: 'public_key',
    userId: 'person_id',
    credentialID: 'credential_id',
    deviceType: 'device_type',
    backedUp: 'backed_up',
    createdAt: 'created_at',
  },
} as const;

/** The tables by their names in better-auth. */
const authTables = {
  user: { modelName: 'person', fields: authColumns.user },
  session: { modelName: 'auth_session', fields: authColumns.session },
  account: { modelName: 'auth_credential', fields: authColumns.account },
  verification: { modelName: 'auth_verification', fields: authColumns.verification },
  passkey: { modelName: 'auth_passkey', fields: authColumns.passkey },
} as const;
