import type { FastifyInstance } from 'fastify';
import { deriveAuthSecret } from '../core/auth-secret.ts';
import type { Bus } from '../schema/messages.ts';
import { type AuthOptions, createAuth } from './auth.ts';
import { authRoutes } from './auth-routes.ts';
import { createAuthTries } from './auth-tries.ts';
import { openSessions, type Sessions } from './sessions.ts';

/** What people sign in by, and what their sessions open. */
export interface Accounts {
  sessions: Sessions;
  /** to be mounted at /api/auth */
  routes: (app: FastifyInstance) => Promise<void>;
}

export interface AccountsOptions extends Omit<AuthOptions, 'onSessionEnded' | 'mailResetLink' | 'mailPasswordChanged'> {
  bus: Bus;
  now: () => Date;
}

export function openAccounts(options: AccountsOptions): Accounts {
  const { database, bus, log, now, random, publicUrl, secretKey, isSignUpOpen } = options;
  const sessions = openSessions({ database, bus, now, publicUrl, secret: deriveAuthSecret(secretKey) });
  const auth = createAuth({
    database,
    log,
    random,
    publicUrl,
    secretKey,
    isSignUpOpen,
    onSessionEnded(userId) {
      sessions.forget(userId);
      bus.publish('credential.changed', { userId });
    },
    mailResetLink: async () => undefined,
    mailPasswordChanged: async () => undefined,
  });
  const tries = createAuthTries(database, secretKey);
  return { sessions, routes: (app) => authRoutes(app, { auth, tries, sessions, database, publicUrl, isSignUpOpen }) };
}
