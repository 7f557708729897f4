import { APIError, createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { z } from 'zod';
import { signInLinkIdentifier } from '../../core/accounts/auth-secret.ts';

/** 32 octets in base64url, as bin/account.ts draws them; nothing else is looked for. */
const token = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** Adds to better-auth the links that sign in once (db/queries/accounts/sign-in-link.ts makes them). */
export const signInLinks = {
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
