import { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';
import type { ErrorBody } from '../http/error-response.ts';

/** As a page needs to know it. */
const user = z.object({ id: z.string(), email: z.string(), name: z.string(), createdAt: z.string() });
/** Without its token. */
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
export type SignedIn = z.infer<typeof signedIn>;

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

/** What is told of what better-auth answered: no token, no hash, no column that pages do not need. */
export function authAnswer(path: string, body: unknown): unknown {
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

/** What better-auth refused, in the form of our own errors; `code` is its own. Throws unauthorized where there is no session. */
export function authRefusal(statusCode: number, body: unknown): ErrorBody {
  const { code = 'REFUSED', message = 'The request was refused.' } = refusal.safeParse(body).data ?? {};
  if (code === 'UNAUTHORIZED') throw new UserError('unauthorized', 'Authentication required');
  const name = statusCode === 404 ? 'not_found' : 'validation_error';
  return { error: titles[statusCode] ?? 'Bad Request', message, statusCode, name, code };
}
