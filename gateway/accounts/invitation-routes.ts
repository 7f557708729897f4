import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { hashInvitationToken } from '../../core/accounts/auth-secret.ts';
import { UserError } from '../../core/shared/errors.ts';
import {
  type AcceptOutcome,
  acceptInvitation,
  findPresentedInvitation,
  type PresentedInvitation,
} from '../../db/queries/accounts/invitation.ts';
import { foreignPage, isOwnPageOrProgram } from '../admission/session-admission.ts';
import { asOwnRequest, newPassword, personName } from './auth-routes.ts';
import type { SignInParts } from './sign-in-parts.ts';
import { requireSession } from './workspace-routes.ts';

/** 32 bytes in base64url. */
const token = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'is not the token of an invitation');

/**
 * Serves the page of an invitation: `POST /invitation` shows it to the holder of its link, `POST /accept-invitation` accepts it with the
 * session of the request, and `POST /sign-up/invitation` with a new sign-in for the address that is invited, also where sign-up is closed.
 * Where single sign-on is required, it makes the sign-in, and the last of the three is refused.
 */
export function invitationRoutes(plain: FastifyInstance, options: SignInParts): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database, now } = options;
  const onRequest = async (request: FastifyRequest) => {
    if (!isOwnPageOrProgram(request, options.publicUrl)) throw foreignPage();
    await options.attempts.take({ kind: 'invitation', address: request.ip, account: null });
  };
  const present = async (given: string): Promise<PresentedInvitation> => {
    const found = await findPresentedInvitation(database, hashInvitationToken(given), now());
    if (found === null) throw refused('no invitation');
    return found;
  };
  app.post('/invitation', { schema: { hide: true, body: z.object({ token }) }, onRequest }, async (request) => {
    const { workspaceId: _, isHanded: __, ...invitation } = await present(request.body.token);
    return invitation;
  });
  app.post('/accept-invitation', { schema: { hide: true, body: z.object({ token }) }, onRequest }, async (request) => {
    const { sessionId } = await requireSession(request, options);
    return accept(options, request.body.token, sessionId);
  });
  app.post(
    '/sign-up/invitation',
    { schema: { hide: true, body: z.object({ token, name: personName, newPassword }) }, onRequest },
    async (request, reply) => {
      const { email, state, hasAccount, isHanded } = await present(request.body.token);
      if (state !== 'open') throw refused(state);
      if (options.oidc?.isRequired === true) throw singleSignOnFirst(email);
      if (hasAccount) throw hasSignIn();
      const { name, newPassword: password } = request.body;
      const sessionId = await signUp(options, request, reply, { email, name, password, isProved: !isHanded });
      // Another request made the sign-in at the same time.
      if (sessionId === null) {
        if ((await present(request.body.token)).hasAccount) throw hasSignIn();
        throw new Error('better-auth made no sign-in for an invitation');
      }
      options.fault?.('invitations.signed-up');
      return accept(options, request.body.token, sessionId);
    },
  );
}

async function accept(
  { database, now, forgetSessions, fault }: SignInParts,
  given: string,
  sessionId: string,
): Promise<{ status: true; workspaceId: string }> {
  const tokenSha256 = hashInvitationToken(given);
  const { outcome, workspaceId, personId } = await acceptInvitation(database, { tokenSha256, sessionId, now: now() });
  if (outcome !== 'joined' && outcome !== 'member') throw refused(outcome);
  if (workspaceId === null || personId === null) throw new Error('an accepted invitation has a workspace and a person');
  fault?.('invitations.accepted');
  forgetSessions(personId);
  return { status: true, workspaceId };
}

const created = z.object({ sessionId: z.string() });

/** Creates the sign-in, and sets the cookie of its first session. Returns the ID of the session; null if none was made. */
async function signUp(
  { openAuth, passwords, publicUrl }: SignInParts,
  request: FastifyRequest,
  reply: FastifyReply,
  person: { email: string; name: string; password: string; isProved: boolean },
): Promise<string | null> {
  const auth = await openAuth();
  const signedUp = asOwnRequest(request, { method: 'POST', path: '/sign-up/invited', body: person }, publicUrl);
  const response = await passwords.run(request.ip, () => auth.handler(signedUp));
  if (!response.ok) return null;
  for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
  return created.parse(await response.json()).sessionId;
}

function hasSignIn(): UserError {
  return new UserError('conflict', 'The address can sign in already. Sign in, and open the link again.', {
    reason: 'SIGN_IN_FIRST',
    isFinal: true,
  });
}

function singleSignOnFirst(email: string): UserError {
  return new UserError(
    'forbidden',
    `This service requires single sign-on. Sign in by single sign-on as ${email}, and open the link again.`,
    { title: 'Forbidden', reason: 'SINGLE_SIGN_ON_REQUIRED' },
  );
}

/** Returns the error for an invitation that cannot be accepted. */
function refused(outcome: Exclude<AcceptOutcome, 'joined' | 'member'> | 'open'): UserError {
  const final = (reason: string) => ({ reason, isFinal: true });
  switch (outcome) {
    case 'accepted':
      return new UserError(
        'conflict',
        'This invitation was accepted already. Its link works once.',
        final('INVITATION_ACCEPTED'),
      );
    case 'revoked':
      return new UserError('gone', 'This invitation was revoked.', final('INVITATION_REVOKED'));
    case 'expired':
      return new UserError('gone', 'This invitation has expired. Ask for a new one.', final('INVITATION_EXPIRED'));
    case 'other address':
      return new UserError(
        'forbidden',
        'This invitation is for another address. Sign in with the address that the invitation was sent to.',
        { title: 'Forbidden', reason: 'INVITATION_FOR_OTHER_ADDRESS' },
      );
    case 'no session':
      return new UserError('unauthorized', 'Authentication required');
    case 'no invitation':
    case 'open':
      return new UserError('not_found', 'This is not the link of an invitation, or a newer link was sent.', {
        reason: 'INVITATION_NOT_FOUND',
      });
  }
}
