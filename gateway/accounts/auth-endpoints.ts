import { z } from 'zod';
import type { TryKind } from './auth-tries.ts';

/** What `/api/auth` takes. Everything else of better-auth is not served. */
export interface AuthEndpoint {
  method: 'GET' | 'POST';
  /** below /api/auth, ours and better-auth's */
  path: string;
  /** null: none is read */
  body: z.ZodType<Record<string, unknown>> | null;
  /** what it is counted as, before anything is looked at; `byEmail`: at the account that the body names, too */
  counted?: { kind: TryKind; byEmail?: true; bySession?: true };
  /** whether it is answered at once, whatever comes of it */
  isUnwatched?: true;
  /** added to the body for better-auth */
  adds?: Record<string, unknown>;
}

/** RFC 5321 §4.5.3.1.3: a path of 256 bytes with its angle brackets. */
const email = z.email('must be an address such as you@example.com').max(254).toLowerCase();
/** Its length is looked at where a new one is set; nothing longer is worth hashing. */
const password = z.string().max(512);
const newPassword = z.string().min(8, 'must have 8 characters or more').max(128, 'must have 128 characters at most');
const name = z.string().trim().min(1, 'must not be empty').max(100, 'must have 100 characters at most');
const token = z.string().max(256);
const id = z.string().max(64);
/** What the browser's authenticator answered; looked at by @better-auth/passkey. */
const response = z.looseObject({ id: z.string().max(2_048) });
const nothing = z
  .object({})
  .nullish()
  .transform(() => ({}));

const post = (path: string, body: AuthEndpoint['body'], more: Partial<AuthEndpoint> = {}): AuthEndpoint => ({
  method: 'POST',
  path,
  body,
  ...more,
});
const get = (path: string, more: Partial<AuthEndpoint> = {}): AuthEndpoint => ({
  method: 'GET',
  path,
  body: null,
  ...more,
});

/** See docs/accounts.md. */
export const authEndpoints: readonly AuthEndpoint[] = [
  post('/sign-up/email', z.object({ name, email, password: newPassword }), { counted: { kind: 'sign-up' } }),
  post('/sign-in/email', z.object({ email, password }), { counted: { kind: 'sign-in', byEmail: true } }),
  post('/sign-in/link', z.object({ token }), { counted: { kind: 'sign-in-link' } }),
  post('/sign-out', nothing),
  get('/get-session'),
  get('/list-sessions'),
  post('/end-session', z.object({ id })),
  post('/revoke-other-sessions', nothing),
  post('/revoke-sessions', nothing),
  post('/update-user', z.object({ name })),
  get('/list-accounts'),
  post('/change-password', z.object({ currentPassword: password, newPassword }), {
    counted: { kind: 'password', bySession: true },
    adds: { revokeOtherSessions: true },
  }),
  post('/set-password', z.object({ newPassword })),
  post('/request-password-reset', z.object({ email }), {
    counted: { kind: 'reset-request', byEmail: true },
    isUnwatched: true,
  }),
  post('/reset-password', z.object({ token, newPassword }), { counted: { kind: 'reset' } }),
  get('/passkey/generate-register-options', { counted: { kind: 'passkey-options' } }),
  post('/passkey/verify-registration', z.object({ response, name: name.optional() })),
  get('/passkey/generate-authenticate-options', { counted: { kind: 'passkey-options' } }),
  post('/passkey/verify-authentication', z.object({ response }), { counted: { kind: 'passkey' } }),
  get('/passkey/list-user-passkeys'),
  post('/passkey/update-passkey', z.object({ id, name })),
  post('/passkey/delete-passkey', z.object({ id })),
];
