import type { FastifyInstance } from 'fastify';
import { deriveAuthSecret, resetLinkUrl } from '../../core/accounts/auth-secret.ts';
import { passwordChangedMail, resetMail, type SystemMail } from '../../core/accounts/system-account.ts';
import { dropLinks } from '../../db/queries/accounts/sign-in-link.ts';
import type { Bus } from '../../schema/messages.ts';
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

export interface AccountsOptions extends Omit<AuthOptions, 'onSessionEnded' | 'mailResetLink' | 'onPasswordChanged'> {
  bus: Bus;
  now: () => Date;
  /** Resolves when the mail is certain to go. */
  mail: (mail: SystemMail) => Promise<void>;
}

export function openAccounts(options: AccountsOptions): Accounts {
  const { database, bus, log, now, random, publicUrl, secretKey, isSignUpOpen, mail } = options;
  const sessions = openSessions({ database, bus, now, publicUrl, secret: deriveAuthSecret(secretKey) });
  async function onPasswordChanged({ id, email }: { id: string; email: string }): Promise<void> {
    // Not awaited: that it cannot be told keeps nobody from having another password.
    mail(passwordChangedMail(email, publicUrl)).catch((error: unknown) =>
      log.warn({ err: error, userId: id }, 'a change of password could not be told by mail'),
    );
    await dropLinks(database, id);
  }
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
    mailResetLink: (email, token) => mail(resetMail(email, resetLinkUrl(publicUrl, token))),
    onPasswordChanged,
  });
  const tries = createAuthTries(database, secretKey);
  return {
    sessions,
    routes: (app) => authRoutes(app, { auth, tries, sessions, database, publicUrl, isSignUpOpen, onPasswordChanged }),
  };
}
