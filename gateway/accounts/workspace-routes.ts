import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';
import { listWorkspacesOfPerson, switchWorkspace } from '../../db/queries/accounts/session.ts';
import { findPerson } from '../admission/session-admission.ts';
import type { SessionCredential } from './session-lookup.ts';
import type { SignInParts } from './sign-in-parts.ts';

/**
 * Serves what a person does before and between workspaces: `GET /workspaces` lists them, `POST /switch-workspace` makes one the active one
 * of the session, for all its requests, downloads and subscriptions. Both need a session.
 */
export function workspaceRoutes(plain: FastifyInstance, options: SignInParts): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database } = options;
  app.get('/workspaces', { schema: { hide: true } }, async (request) => {
    const { personId, workspaceId, rights, providerId } = await requireSession(request, options);
    const all = await listWorkspacesOfPerson(database, personId);
    // A provider speaks for its own workspace only.
    const workspaces = providerId === null ? all : all.filter(({ id }) => id === providerId);
    return {
      person: { id: personId },
      active: { id: workspaceId, role: rights.role, isApprover: rights.isApprover },
      workspaces,
    };
  });
  app.post(
    '/switch-workspace',
    { schema: { hide: true, body: z.object({ workspaceId: z.string().max(64) }) } },
    async (request) => {
      const { sessionId, personId } = await requireSession(request, options);
      const { workspaceId } = request.body;
      const outcome = await switchWorkspace(database, sessionId, workspaceId);
      if (outcome === 'no member')
        throw new UserError('not_found', 'You are a member of no workspace with this ID', {
          reason: 'WORKSPACE_NOT_FOUND',
        });
      if (outcome === 'provider')
        throw new UserError(
          'forbidden',
          'You signed in by the single sign-on of this workspace, which opens no other one. Sign out, and sign in with your password or passkey.',
          { title: 'Forbidden', reason: 'OTHER_SIGN_IN_REQUIRED' },
        );
      if (outcome === 'single sign-on')
        throw new UserError(
          'forbidden',
          'This workspace requires single sign-on. Sign out, and choose single sign-on on the sign-in page.',
          { title: 'Forbidden', reason: 'SINGLE_SIGN_ON_REQUIRED' },
        );
      options.forgetSessions(personId);
      return { status: true };
    },
  );
}

/** Throws unauthorized. */
export async function requireSession(
  request: FastifyRequest,
  { sessions, publicUrl }: Pick<SignInParts, 'sessions' | 'publicUrl'>,
): Promise<SessionCredential> {
  const entry = await findPerson(request, sessions, publicUrl);
  if (entry === null) throw new UserError('unauthorized', 'Authentication required');
  return entry.session;
}
