import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { requireRights } from '../../core/accounts/rights.ts';
import { FRESH_SIGN_IN_MINUTES } from '../../core/accounts/sign-in.ts';
import {
  findTotpStep,
  hashRecoveryCode,
  makeRecoveryCodes,
  makeTotpSecret,
  spellTotpSecret,
  totpUrl,
} from '../../core/accounts/totp.ts';
import { UserError } from '../../core/shared/errors.ts';
import { decryptSecret, encryptSecret, NONCE_BYTES } from '../../core/shared/secret-box.ts';
import { noteFailedSignIn } from '../../db/queries/accounts/audit-entry.ts';
import * as factors from '../../db/queries/accounts/second-factor.ts';
import { confirmSession } from '../../db/queries/accounts/session.ts';
import { requireFreshSignIn } from '../../operations/accounts/fresh-sign-in.ts';
import { readOrigin } from '../admission/audit-notes.ts';
import { findPerson, foreignPage, isOwnPage } from '../admission/session-admission.ts';
import { asOwnRequest, requireOwn } from './auth-routes.ts';
import type { SessionCredential } from './session-lookup.ts';
import type { SignInParts } from './sign-in-parts.ts';

const totp = z
  .string()
  .max(20)
  .transform((text) => text.replaceAll(/\s/g, ''))
  .pipe(z.string().regex(/^\d{6}$/, 'must be the 6 digits that the authenticator app shows'));
const nothing = z.object({}).nullish();

/**
 * Serves the second factor of a person: an authenticator app (RFC 6238) with recovery codes. `POST /second-factor/verify` is what a session can
 * do that waits for it; the rest needs a session that may change how its person signs in. `POST /confirm-sign-in` proves that the person is
 * there, which changes of what gives access need.
 */
export function secondFactorRoutes(plain: FastifyInstance, options: SignInParts): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database, random, now, secretKey, publicUrl, notices } = options;

  app.get('/second-factor', { schema: { hide: true } }, async (request) => {
    const session = await requirePerson(request, options);
    const factor = await factors.findSecondFactor(database, session.personId);
    const isOn = factor?.confirmedAt != null;
    return {
      isOn,
      recoveryCodesLeft: isOn ? await factors.countRecoveryCodes(database, session.personId) : 0,
      isRequired: await factors.isSecondFactorRequired(database, session.workspaceId),
      isMissing: session.lacksSecondFactor,
      isByProvider: session.providerId !== null,
      isFresh: now().getTime() - session.confirmedAt.getTime() <= FRESH_SIGN_IN_MINUTES * 60_000,
    };
  });

  app.post('/second-factor/set-up', { schema: { hide: true, body: nothing } }, async (request) => {
    const session = await requireChange(request, options);
    const person = await factors.findPersonName(database, session.personId);
    if (person === null) throw new UserError('unauthorized', 'Authentication required');
    const secret = makeTotpSecret(random);
    const ciphertext = encryptSecret(secretKey, 'totp-secret', secret, random(NONCE_BYTES));
    if (!(await factors.beginSecondFactor(database, session.personId, ciphertext))) throw isOnAlready();
    const url = totpUrl(secret, person.email);
    return { url, secret: spellTotpSecret(url) };
  });

  app.post('/second-factor/turn-on', { schema: { hide: true, body: z.object({ code: totp }) } }, async (request) => {
    const session = await requireChange(request, options);
    const { personId, sessionId } = session;
    await countCode(request, personId, options);
    const factor = await factors.findSecondFactor(database, personId);
    if (factor === null)
      throw new UserError('conflict', 'Set up an authenticator app first', {
        reason: 'NO_SECOND_FACTOR',
        isFinal: true,
      });
    if (factor.confirmedAt !== null) throw isOnAlready();
    const secret = decryptSecret(secretKey, 'totp-secret', factor.secretCiphertext);
    const step = await findTotpStep(secret, request.body.code, now());
    if (step === null) throw wrongCode();
    const codes = makeRecoveryCodes(random);
    const isOn = await factors.turnOnSecondFactor(database, personId, {
      sessionId,
      secretCiphertext: factor.secretCiphertext,
      step,
      codes: codes.map((code) => hashRecoveryCode(personId, code)),
      now: now(),
    });
    if (!isOn) throw isOnAlready();
    await forgiveCode(request, personId, options);
    options.forgetSessions(personId);
    notices.tell(request, personId, 'second-factor');
    return { recoveryCodes: codes };
  });

  app.post('/second-factor/recovery-codes', { schema: { hide: true, body: nothing } }, async (request) => {
    const { personId } = await requireChange(request, options);
    const codes = makeRecoveryCodes(random);
    const hashes = codes.map((code) => hashRecoveryCode(personId, code));
    if (!(await factors.replaceRecoveryCodes(database, personId, hashes)))
      throw new UserError('conflict', 'Set up an authenticator app first', {
        reason: 'NO_SECOND_FACTOR',
        isFinal: true,
      });
    return { recoveryCodes: codes };
  });

  app.post('/second-factor/remove', { schema: { hide: true, body: nothing } }, async (request) => {
    const { personId } = await requireChange(request, options);
    if (await factors.removeSecondFactor(database, personId)) notices.tell(request, personId, 'second-factor-removed');
    options.forgetSessions(personId);
    return { status: true };
  });

  app.post(
    '/second-factor/verify',
    {
      schema: {
        hide: true,
        body: z.union([z.object({ code: totp }), z.object({ recoveryCode: z.string().trim().min(1).max(64) })]),
      },
    },
    async (request, reply) => {
      const session = await requirePending(request, options);
      const { personId, sessionId } = session;
      await countCode(request, personId, options);
      const isRecovery = 'recoveryCode' in request.body;
      const isRight =
        'recoveryCode' in request.body
          ? await factors.takeRecoveryCode(database, personId, hashRecoveryCode(personId, request.body.recoveryCode))
          : await takeCode(personId, request.body.code, options);
      if (!isRight) {
        const { address, agent } = readOrigin(request);
        await noteFailedSignIn(database, {
          account: personId,
          action: 'session.denied',
          reason: 'The code of the second factor is wrong',
          address: address ?? request.ip,
          agent,
        });
        throw isRecovery ? wrongRecoveryCode() : wrongCode();
      }
      await factors.passSecondFactor(database, sessionId, now());
      await forgiveCode(request, personId, options);
      options.forgetSessions(personId);
      if (isRecovery) notices.tell(request, personId, 'recovery-code');
      notices.noteDevice(request, reply, personId);
      return { user: await factors.findPersonName(database, personId) };
    },
  );

  app.post(
    '/second-factor/require',
    { schema: { hide: true, body: z.object({ isRequired: z.boolean() }) } },
    async (request) => {
      const session = await requirePerson(request, options);
      requireRights(session.rights, 'The sign-in of members', ['members']);
      requireFreshSignIn(asCaller(session, now), 'change how members sign in');
      // The owner who requires it must not be locked out by it.
      if (
        session.lacksSecondFactor ||
        (request.body.isRequired && !(await factors.hasShownSecondFactor(database, session.sessionId)))
      )
        throw new UserError('conflict', 'Set up a second factor of your own first, or sign in with a passkey.', {
          reason: 'NO_SECOND_FACTOR',
          isFinal: true,
        });
      await factors.requireSecondFactor(database, session.workspaceId, request.body.isRequired, {
        ...readOrigin(request),
        kind: 'person',
        id: session.personId,
      });
      options.forgetSessions(session.workspaceId);
      return { status: true };
    },
  );

  app.post(
    '/confirm-sign-in',
    { schema: { hide: true, body: z.object({ password: z.string().max(512) }) } },
    async (request) => {
      const session = await requirePerson(request, options);
      if (session.providerId !== null)
        throw new UserError('forbidden', 'You signed in by single sign-on. Confirm by single sign-on, too.', {
          title: 'Forbidden',
          reason: 'SINGLE_SIGN_ON_REQUIRED',
        });
      const attempt = { kind: 'password', address: request.ip, account: session.personId } as const;
      await options.attempts.take(attempt);
      const auth = await options.openAuth();
      const check = asOwnRequest(request, { method: 'POST', path: '/check-password', body: request.body }, publicUrl);
      const response = await options.passwords.run(request.ip, () => auth.handler(check));
      if (response.status >= 500) throw new Error(`better-auth responded ${response.status} to a password check`);
      if (!response.ok) throw new UserError('validation', 'The password is incorrect.', { reason: 'INVALID_PASSWORD' });
      await options.attempts.succeeded(attempt);
      await confirmSession(database, session.sessionId, now());
      options.forgetSessions(session.personId);
      return { status: true };
    },
  );
}

const asCaller = ({ confirmedAt }: SessionCredential, now: () => Date) => ({
  caller: { via: 'session' as const, signedInAt: confirmedAt },
  now,
});

/** Throws unauthorized, also while the session waits for the second factor. */
async function requirePerson(
  request: FastifyRequest,
  { sessions, publicUrl }: SignInParts,
): Promise<SessionCredential> {
  const entry = await findPerson(request, sessions, publicUrl);
  if (entry === null) throw new UserError('unauthorized', 'Authentication required');
  return entry.session;
}

/** Returns the session of a person who may change the own sign-in now. Throws unauthorized, forbidden. */
async function requireChange(request: FastifyRequest, options: SignInParts): Promise<SessionCredential> {
  const session = await requirePerson(request, options);
  requireOwn(session, 'fresh', options);
  return session;
}

/** Returns the session that waits for the second factor. Throws unauthorized. */
async function requirePending(
  request: FastifyRequest,
  { sessions, publicUrl }: SignInParts,
): Promise<SessionCredential> {
  const cookie = sessions.cookieOf(request.headers.cookie);
  if (cookie !== null && !isOwnPage(request, publicUrl)) throw foreignPage();
  const session = cookie === null ? null : await sessions.findPending(cookie);
  if (session === null) throw new UserError('unauthorized', 'Authentication required');
  if (!session.isPending)
    throw new UserError('conflict', 'This session needs no code', { reason: 'SECOND_FACTOR_SHOWN', isFinal: true });
  return session;
}

/** Counts a code before it is checked. Its limit is for the person, from all clients: a million codes are soon tried. */
async function countCode(request: FastifyRequest, personId: string, { attempts }: SignInParts): Promise<void> {
  await attempts.take({ kind: 'second-factor', address: request.ip, account: personId });
}

async function forgiveCode(request: FastifyRequest, personId: string, { attempts }: SignInParts): Promise<void> {
  await attempts.succeeded({ kind: 'second-factor', address: request.ip, account: personId });
}

/** Returns whether a code of the authenticator app is right and was not used before. */
async function takeCode(personId: string, code: string, { database, secretKey, now }: SignInParts): Promise<boolean> {
  const factor = await factors.findSecondFactor(database, personId);
  if (factor?.confirmedAt == null) return false;
  const step = await findTotpStep(decryptSecret(secretKey, 'totp-secret', factor.secretCiphertext), code, now());
  return step !== null && (await factors.takeTotpStep(database, personId, step));
}

function wrongCode(): UserError {
  return new UserError(
    'validation',
    'The code is wrong, or was used before. Wait for the next one, and check the clock of your device.',
    { reason: 'WRONG_CODE' },
  );
}

function wrongRecoveryCode(): UserError {
  return new UserError('validation', 'The recovery code is wrong, or was used before.', { reason: 'WRONG_CODE' });
}

function isOnAlready(): UserError {
  return new UserError('conflict', 'An authenticator app is set up already. Remove it first.', {
    reason: 'SECOND_FACTOR_ON',
    isFinal: true,
  });
}
