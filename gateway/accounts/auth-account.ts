import { APIError, createAuthEndpoint, sensitiveSessionMiddleware, sessionMiddleware } from 'better-auth/api';
import { z } from 'zod';

/** Adds to better-auth what people do with their sessions and their first password, so that no token of a session leaves the gateway. */
export const accountEndpoints = {
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
